/* sql.h - the values of the parameters of an SQL statement.
 *
 *     SQL(id, source, sql_text_or_null(author))
 *
 * lists one value for each parameter of a statement, in their order; SQL_NONE
 * is the list for a statement without parameters. The compiler selects the
 * conversion by the type of the value: integers, double, struct str, strings
 * that end with NUL (a NULL pointer becomes NULL), and struct sql_value, which
 * the functions below return. A value of another type does not compile.
 *
 * Texts and blobs are not copied: they must stay valid while the statement
 * runs. */
#ifndef BASE_SQL_H
#define BASE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

enum sql_kind { SQL_NULL, SQL_INT, SQL_REAL, SQL_TEXT, SQL_BLOB, SQL_ID };

enum { SQL_ID_BYTES = 16 };

struct sql_value {
    enum sql_kind kind;
    union {
        int64_t integer;
        double real;
        struct { const void *p; size_t n; } bytes;      /* p is not NULL */
        unsigned char id[SQL_ID_BYTES];
    };
};

struct sql_values {
    const struct sql_value *v;  /* [n] */
    size_t n;
};

static inline struct sql_value sql_null(void)
{
    return (struct sql_value){ .kind = SQL_NULL };
}

static inline struct sql_value sql_int(int64_t v)
{
    return (struct sql_value){ .kind = SQL_INT, .integer = v };
}

/* 0 becomes NULL. */
static inline struct sql_value sql_int_or_null(int64_t v)
{
    return v ? sql_int(v) : sql_null();
}

static inline struct sql_value sql_real(double v)
{
    return (struct sql_value){ .kind = SQL_REAL, .real = v };
}

static inline struct sql_value sql_text(struct str v)
{
    return (struct sql_value){ .kind = SQL_TEXT,
                               .bytes = { v.p ? v.p : "", v.n } };
}

/* An empty text becomes NULL. */
static inline struct sql_value sql_text_or_null(struct str v)
{
    return v.n ? sql_text(v) : sql_null();
}

static inline struct sql_value sql_string(const char *v)
{
    return v ? sql_text(str_of(v)) : sql_null();
}

static inline struct sql_value sql_blob(const void *p, size_t n)
{
    return (struct sql_value){ .kind = SQL_BLOB, .bytes = { p ? p : "", n } };
}

/* A blob of 16 bytes, which are copied. */
static inline struct sql_value sql_id(const unsigned char id[SQL_ID_BYTES])
{
    struct sql_value v = { .kind = SQL_ID };

    memcpy(v.id, id, SQL_ID_BYTES);
    return v;
}

static inline struct sql_value sql_same(struct sql_value v)
{
    return v;
}

#define SQL_VALUE(x)                                                        \
    _Generic((x), struct sql_value: sql_same, struct str: sql_text,         \
             char *: sql_string, const char *: sql_string,                  \
             double: sql_real, bool: sql_int, int: sql_int,                 \
             unsigned: sql_int, long: sql_int, unsigned long: sql_int,      \
             long long: sql_int, unsigned long long: sql_int)(x)

/* Expands to SQL_VALUE of each argument; at most 13. */
#define SQL_1(x) SQL_VALUE(x)
#define SQL_2(x, ...) SQL_VALUE(x), SQL_1(__VA_ARGS__)
#define SQL_3(x, ...) SQL_VALUE(x), SQL_2(__VA_ARGS__)
#define SQL_4(x, ...) SQL_VALUE(x), SQL_3(__VA_ARGS__)
#define SQL_5(x, ...) SQL_VALUE(x), SQL_4(__VA_ARGS__)
#define SQL_6(x, ...) SQL_VALUE(x), SQL_5(__VA_ARGS__)
#define SQL_7(x, ...) SQL_VALUE(x), SQL_6(__VA_ARGS__)
#define SQL_8(x, ...) SQL_VALUE(x), SQL_7(__VA_ARGS__)
#define SQL_9(x, ...) SQL_VALUE(x), SQL_8(__VA_ARGS__)
#define SQL_10(x, ...) SQL_VALUE(x), SQL_9(__VA_ARGS__)
#define SQL_11(x, ...) SQL_VALUE(x), SQL_10(__VA_ARGS__)
#define SQL_12(x, ...) SQL_VALUE(x), SQL_11(__VA_ARGS__)
#define SQL_13(x, ...) SQL_VALUE(x), SQL_12(__VA_ARGS__)
#define SQL_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, ...) n
#define SQL_COUNT(...)                                                      \
    SQL_PICK(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SQL_LIST(n, ...) SQL_LIST_(n, __VA_ARGS__)
#define SQL_LIST_(n, ...) SQL_##n(__VA_ARGS__)

#define SQL(...)                                                            \
    ((struct sql_values){                                                   \
        (const struct sql_value[]){                                         \
            SQL_LIST(SQL_COUNT(__VA_ARGS__), __VA_ARGS__) },                \
        SQL_COUNT(__VA_ARGS__) })
#define SQL_NONE ((struct sql_values){ NULL, 0 })

/* Bind all parameters of a statement. Returns a result code of SQLite. */
int sql_bind(sqlite3_stmt *st, struct sql_values values);

#endif
