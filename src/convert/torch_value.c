/* torch_value.c - recognizes the classes and functions of PyTorch by their
 * names in a pickle, and checks their arguments. Nothing is called.
 *
 * All arithmetic on offsets, shapes and strides is checked for overflow. A view
 * may show elements several times (expand()), but a shape that would make
 * REPEATED_MOST elements of a smaller storage is refused, so that a small file
 * cannot ask for any amount of memory. */
#include "convert/torch_value.h"

#include <string.h>

#include "base/invariant.h"

#define DIMS_MOST 1000
#define WRAPPED_MOST 8          /* calls around the call that makes a tensor */
#define REPEATED_MOST (UINT64_C(1) << 26)

static const struct { const char *type; enum element element; unsigned bytes; }
torch_types[] = {
    { "torch.FloatStorage", ELEMENT_F32, 4 },
    { "torch.HalfStorage", ELEMENT_F16, 2 },
    { "torch.BFloat16Storage", ELEMENT_BF16, 2 },
    { "torch.DoubleStorage", ELEMENT_F64, 8 },
    { "torch.CharStorage", ELEMENT_I8, 1 },
    { "torch.ByteStorage", ELEMENT_U8, 1 },
    { "torch.BoolStorage", ELEMENT_U8, 1 },
    { "torch.ShortStorage", ELEMENT_I16, 2 },
    { "torch.IntStorage", ELEMENT_I32, 4 },
    { "torch.LongStorage", ELEMENT_I64, 8 },
    { "torch.ComplexFloatStorage", ELEMENT_OTHER, 8 },
    { "torch.ComplexDoubleStorage", ELEMENT_OTHER, 16 },
    { "torch.QInt8Storage", ELEMENT_OTHER, 1 },
    { "torch.QUInt8Storage", ELEMENT_OTHER, 1 },
    { "torch.QInt32Storage", ELEMENT_OTHER, 4 },
    { "torch.UntypedStorage", ELEMENT_OTHER, 1 },
    { "torch.storage.UntypedStorage", ELEMENT_OTHER, 1 },
};

static bool read_count(const struct pickle_value *v, uint64_t *out)
{
    int64_t n;

    if (!pickle_int(v, &n) || n < 0) return false;
    *out = (uint64_t)n;
    return true;
}

/* ---- storages ---- */

/* The id is ('storage', class, key, device, elements); in the older form of
 * files, None or the part that is shown follows. */
bool torch_storage_read(struct torch_storage *s,
                        const struct pickle_value *external)
{
    const struct pickle_value *id = pickle_id(external);
    const char *what = pickle_string(pickle_at(id, 0));

    *s = (struct torch_storage){ .element = ELEMENT_OTHER };
    s->type = pickle_global(pickle_at(id, 1));
    s->key = pickle_string(pickle_at(id, 2));
    if (!what || strcmp(what, "storage") || !s->type || !s->key ||
        !read_count(pickle_at(id, 4), &s->n))
        return false;
    for (size_t i = 0; i < sizeof torch_types / sizeof *torch_types; i++)
        if (!strcmp(torch_types[i].type, s->type)) {
            s->element = torch_types[i].element;
            s->bytes = torch_types[i].bytes;
        }
    return true;
}

/* A part of a storage: (its own key, first element, elements). */
struct torch_part { uint64_t first, n; };

static bool read_part(struct torch_part *part, const struct torch_storage *s,
                      const struct pickle_value *external)
{
    const struct pickle_value *v = pickle_at(pickle_id(external), 5);

    *part = (struct torch_part){ 0, s->n };
    if (pickle_type(v) == PICKLE_NONE) return true;
    return read_count(pickle_at(v, 1), &part->first) &&
           read_count(pickle_at(v, 2), &part->n) &&
           part->first <= s->n && part->n <= s->n - part->first;
}

/* ---- shapes ---- */

/* Read the shape into t and the strides into view. *last becomes the offset of
 * the last element from the first one, and *count the number of elements. */
static bool read_dims(struct file_tensor *t, struct torch_view *view,
                      const struct pickle_value *size,
                      const struct pickle_value *stride, uint64_t *last,
                      uint64_t *count)
{
    size_t n = pickle_count(size);
    bool fits = true;

    if (n > DIMS_MOST || pickle_count(stride) != n) return false;
    t->n_dims = (int)n;
    *last = 0;
    *count = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t dim, step, way;

        if (!read_count(pickle_at(size, i), &dim) ||
            !read_count(pickle_at(stride, i), &step) ||
            __builtin_mul_overflow(*count, dim, count))
            return false;
        if (dim < 2) step = 0;
        fits &= !__builtin_mul_overflow(step, dim - (dim > 0), &way) &&
                !__builtin_add_overflow(*last, way, last);
        if (i >= FILE_TENSOR_DIMS) continue;
        t->shape[i] = (int64_t)dim;
        view->stride[i] = step;
    }
    return fits || !*count;
}

static const char *check_inside(const struct torch_view *view,
                                const struct torch_part *part,
                                uint64_t offset, uint64_t last, uint64_t count)
{
    if (!count) return NULL;
    if (offset >= part->n || last >= part->n - offset)
        return "lies outside its storage";
    if (count > view->of.n && count > REPEATED_MOST)
        return "shows its elements too often";
    return NULL;
}

/* ---- tensors ---- */

/* The call that makes a tensor: the name of a function, and its arguments. */
struct torch_call { const char *name; const struct pickle_value *args; };

static bool starts_with(const char *s, const char *start)
{
    return s && !strncmp(s, start, strlen(start));
}

static bool is_wrapper(const struct torch_call *c)
{
    return starts_with(c->name, "torch._utils._rebuild_parameter");
}

static bool is_typed(const struct torch_call *c)
{
    return starts_with(c->name, "torch._tensor._rebuild_from_type");
}

/* Take off what is around the call that makes a tensor: a parameter has the
 * tensor as its first argument, and a tensor with a class or fields has a
 * function, a class, and the arguments of the function. */
static bool find_call(struct torch_call *c, const struct pickle_value *v)
{
    *c = (struct torch_call){ pickle_global(v), pickle_args(v) };
    for (int i = 0; i < WRAPPED_MOST; i++) {
        if (is_wrapper(c)) {
            v = pickle_at(c->args, 0);
            *c = (struct torch_call){ pickle_global(v), pickle_args(v) };
        } else if (is_typed(c)) {
            c->name = pickle_global(pickle_at(c->args, 0));
            c->args = pickle_at(c->args, 2);
        } else {
            break;
        }
    }
    return starts_with(c->name, "torch._utils._rebuild_");
}

bool torch_value_is_tensor(const struct pickle_value *v)
{
    struct torch_call c;

    return pickle_type(v) == PICKLE_OBJECT && find_call(&c, v);
}

/* The arguments are (storage, first element, shape, strides, ..). */
static const char *read_view(struct file_tensor *t, struct torch_view *view,
                             const struct pickle_value *args)
{
    const struct pickle_value *storage = pickle_at(args, 0);
    struct torch_part part;
    uint64_t offset, last, count;
    const char *wrong;

    if (!torch_storage_read(&view->of, storage))
        return "has no storage";
    if (!read_part(&part, &view->of, storage))
        return "shows a part that lies outside its storage";
    if (!read_count(pickle_at(args, 1), &offset) ||
        !read_dims(t, view, pickle_at(args, 2), pickle_at(args, 3), &last,
                   &count))
        return "has a shape that is not valid";
    wrong = check_inside(view, &part, offset, last, count);
    if (wrong) return wrong;
    t->type = view->of.element;
    view->first = count ? part.first + offset : 0;
    return NULL;
}

const char *torch_value_read(struct file_tensor *t, struct torch_view *view,
                             const struct pickle_value *v)
{
    struct torch_call c;

    *view = (struct torch_view){ 0 };
    t->type = ELEMENT_OTHER;
    t->n_dims = 0;
    for (int i = 0; i < FILE_TENSOR_DIMS; i++) t->shape[i] = 1;
    if (!find_call(&c, v)) return "is no tensor";
    if (strcmp(c.name, "torch._utils._rebuild_tensor_v2") &&
        strcmp(c.name, "torch._utils._rebuild_tensor"))
        return NULL;
    return read_view(t, view, c.args);
}
