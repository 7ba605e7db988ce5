/* str.h - a view of a text that the caller does not own. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *p;              /* not NUL-terminated; may be NULL when n = 0 */
    size_t n;
};

static inline struct str str_of(const char *s)  /* NULL gives an empty view */
{
    return (struct str){ s, s ? strlen(s) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

/* Without spaces, tabs and line ends at either end. */
static inline struct str str_trim(struct str s)
{
    while (s.n && memchr(" \t\r\n", s.p[0], 4)) s.p++, s.n--;
    while (s.n && memchr(" \t\r\n", s.p[s.n - 1], 4)) s.n--;
    return s;
}

#endif
