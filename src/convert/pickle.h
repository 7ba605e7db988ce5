/* pickle.h - read what Python's pickle module wrote, without running anything.
 *
 * A pickle is a program for a stack machine that builds values. This machine
 * builds plain values and calls nothing: where a pickle would import a class
 * and call it, the result is an object that remembers the name of the class,
 * its arguments and its state, and does nothing. A pickle that would run
 * os.system() is therefore read like any other, and the object is harmless.
 * The one exception is collections.OrderedDict, which becomes an empty dict.
 *
 * Only the opcodes of protocols 2 to 4 that torch.save() and plain Python
 * values need are known; any other is an error that names its offset. Memory is
 * limited (ST_LIMIT), and reading never recurses. A list may contain itself, so
 * a caller that walks over values must limit its own depth.
 *
 * Values live as long as their struct pickle and do not change. All functions
 * on values accept NULL and values of every type, so that a path into nested
 * dicts can be written as one expression: pickle_get(pickle_get(v, "cfg"),
 * "model"). */
#ifndef CONVERT_PICKLE_H
#define CONVERT_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum pickle_type {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,                 /* of 64 bits; a larger one is an object
                                   "builtins.int" without arguments */
    PICKLE_FLOAT,
    PICKLE_STRING,              /* also of bytes */
    PICKLE_TUPLE, PICKLE_LIST, PICKLE_SET,
    PICKLE_DICT,
    PICKLE_GLOBAL,              /* a class or a function: only its name */
    PICKLE_OBJECT,              /* the result of calling one */
    PICKLE_EXTERNAL             /* data outside of the pickle, named by an id:
                                   the storages of PyTorch */
};

struct pickle;
struct pickle_value;            /* opaque */

/* Read the pickle that starts at bytes[*at] and set *at behind it. `name` and
 * the offset are in every message. The bytes are not needed afterwards. On
 * failure, *at is where reading stopped: `size` if the pickle is truncated. */
enum status pickle_read(struct pickle **out, const void *bytes, size_t size,
                        size_t *at, const char *name, struct err *e);
void pickle_free(struct pickle *p);                     /* NULL is fine */
const struct pickle_value *pickle_root(const struct pickle *p);
/* The external data number i, in the order in which the pickle mentions them,
 * also those that the root does not lead to. NULL if there are not so many. */
const struct pickle_value *pickle_external(const struct pickle *p, size_t i);

enum pickle_type pickle_type(const struct pickle_value *v);
const char *pickle_type_name(enum pickle_type t);       /* "a list" */

/* The value as a number; false if it is of another type. pickle_number() takes
 * integers too. */
bool pickle_bool(const struct pickle_value *v, bool *out);
bool pickle_int(const struct pickle_value *v, int64_t *out);
bool pickle_number(const struct pickle_value *v, double *out);

/* The text of a string; NULL if the value is no string, or contains NUL, or is
 * not UTF-8. */
const char *pickle_string(const struct pickle_value *v);

/* The number of elements of a tuple, list or set, or of entries of a dict; 0
 * for other values. */
size_t pickle_count(const struct pickle_value *v);
/* Element i; of a dict, the value of entry i. NULL if there is none. */
const struct pickle_value *pickle_at(const struct pickle_value *v, size_t i);
/* The key of entry i of a dict. */
const struct pickle_value *pickle_key(const struct pickle_value *v, size_t i);
/* The value of a string key of a dict (the last one if it occurs twice), or a
 * field of an object such as argparse.Namespace. NULL if there is none. */
const struct pickle_value *pickle_get(const struct pickle_value *v,
                                      const char *key);

/* "module.name" of a global or of the class or function that an object came
 * from, such as "argparse.Namespace"; NULL for other values. */
const char *pickle_global(const struct pickle_value *v);
/* The arguments of an object (a tuple), its state (mostly a dict of its
 * fields; an OrderedDict may have one too), and the id of external data. NULL
 * if there is none. The elements of an object whose class is a kind of list or
 * dict are not kept. */
const struct pickle_value *pickle_args(const struct pickle_value *v);
const struct pickle_value *pickle_state(const struct pickle_value *v);
const struct pickle_value *pickle_id(const struct pickle_value *v);

#endif
