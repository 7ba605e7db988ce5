/* torch_value.h - what the objects in a pickle of PyTorch mean: tensors, and
 * the storages that they show.
 *
 * Nothing here reads the data. A storage is an array of elements outside of the
 * pickle. A tensor is a view of one: its element (i, j) is element
 * first + i * stride[0] + j * stride[1] of the storage. */
#ifndef CONVERT_TORCH_VALUE_H
#define CONVERT_TORCH_VALUE_H

#include "convert/pickle.h"
#include "convert/tensor_file.h"

struct torch_storage {
    const char *key;            /* its name in the file; owned by the pickle */
    const char *type;           /* "torch.FloatStorage" */
    enum element element;       /* ELEMENT_OTHER: cannot be read */
    unsigned bytes;             /* of one element; 0: not known */
    uint64_t n;                 /* elements */
};

struct torch_view {
    struct torch_storage of;    /* all zeros if the tensor is of a kind that
                                   cannot be read */
    uint64_t first;
    uint64_t stride[FILE_TENSOR_DIMS];  /* 0 for dimensions of one element and
                                           for missing ones */
};

/* Read the id of external data. Returns false if it is no storage. */
bool torch_storage_read(struct torch_storage *s,
                        const struct pickle_value *external);

/* Whether a value is a tensor, of any kind. */
bool torch_value_is_tensor(const struct pickle_value *v);

/* Read a tensor: its type, dimensions and shape, and what it shows. On success,
 * all of its elements lie inside its storage. A tensor of an unknown kind is
 * ELEMENT_OTHER and has no dimensions. Returns NULL, or what is wrong. */
const char *torch_value_read(struct file_tensor *t, struct torch_view *view,
                             const struct pickle_value *v);

#endif
