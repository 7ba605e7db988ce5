/* sized.c - copies the members of a struct that both the caller and the library
 * know, by the size that the caller has set. */
#include "api/sized.h"

#include <string.h>

/* No struct will be larger. A larger size was not initialized. */
enum { SIZED_LARGEST = 4096 };

const struct sized sized_types[SIZED_TYPES] = {
#define S(type, last)                                                       \
    [SIZED_##type] = { #type, offsetof(type, last) +                        \
                              sizeof ((type *)NULL)->last, sizeof(type) },
    SIZED_STRUCTS(S)
#undef S
};

#define S(type, last) \
    _Static_assert(offsetof(type, size) == 0, "the size comes first");
SIZED_STRUCTS(S)
#undef S

/* The elements of an array may be at any address. */
size_t sized_size(const void *p)
{
    size_t size;

    memcpy(&size, p, sizeof size);
    return size;
}

static enum status sized_check(enum sized_type type, const void *p,
                               struct err *e)
{
    const char *name = sized_types[type].name;
    size_t size = sized_size(p);

    if (size >= sized_types[type].first && size <= SIZED_LARGEST) return ST_OK;
    return err_set(e, ST_ARGUMENT, "the size of a %s is %zu; set it to "
                   "sizeof(%s)", name, size, name);
}

enum status sized_put(enum sized_type type, void *to, const void *from,
                      struct err *e)
{
    size_t size = sized_size(to), now = sized_types[type].now;
    size_t n = size < now ? size : now, skip = sizeof size;
    enum status st = sized_check(type, to, e);

    if (st) return st;
    memcpy((char *)to + skip, (const char *)from + skip, n - skip);
    memset((char *)to + n, 0, size - n);
    return ST_OK;
}

enum status sized_get(enum sized_type type, void *to, const void *from,
                      struct err *e)
{
    size_t size = sized_size(from), now = sized_types[type].now;
    size_t n = size < now ? size : now;
    enum status st = sized_check(type, from, e);

    if (st) return st;
    memcpy(to, from, n);
    memset((char *)to + n, 0, now - n);
    return ST_OK;
}
