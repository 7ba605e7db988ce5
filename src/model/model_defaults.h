/* model_defaults.h - the models that a user prefers: one for everything, and
 * one for a pair of languages.
 *
 * They are kept in a small text file, with a line for each: "NAME", or
 * "FROM TO NAME" for a pair. Blank lines and lines that begin with '#' are
 * ignored. */
#ifndef MODEL_MODEL_DEFAULTS_H
#define MODEL_MODEL_DEFAULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct model_default {
    char *from, *to;            /* NULL: for everything */
    char *name;                 /* of a model */
};

struct model_defaults {
    struct model_default *list; /* [n] one for each pair, in malloc memory */
    size_t n, cap;
};

/* Read the file; one that does not exist has no defaults. On failure, d is
 * empty. */
enum status model_defaults_read(struct model_defaults *d, const char *path,
                                struct err *e);
/* The same for a text. `name` is used in messages. */
enum status model_defaults_parse(struct model_defaults *d, const char *text,
                                 size_t len, const char *name, struct err *e);
/* Replace the file. */
enum status model_defaults_write(const struct model_defaults *d,
                                 const char *path, struct err *e);
void model_defaults_release(struct model_defaults *d);

/* The model for a pair, or for everything if both languages are NULL. NULL if
 * there is none. "de" and "deu" are the same language, "de" and "de-AT" are
 * not. */
const char *model_defaults_find(const struct model_defaults *d,
                                const char *from, const char *to);
/* Set or replace it; name NULL: remove it. Fails only if out of memory. */
enum status model_defaults_set(struct model_defaults *d, const char *from,
                               const char *to, const char *name,
                               struct err *e);
/* Remove all that name this model. Returns how many there were. */
size_t model_defaults_drop(struct model_defaults *d, const char *name);

#endif
