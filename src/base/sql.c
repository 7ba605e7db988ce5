/* sql.c - binds values to the parameters of an SQL statement. It runs no
 * statements. */
#include "base/sql.h"

#include "base/invariant.h"

static int bind_value(sqlite3_stmt *st, int i, const struct sql_value *v)
{
    switch (v->kind) {
    case SQL_NULL:
        return sqlite3_bind_null(st, i);
    case SQL_INT:
        return sqlite3_bind_int64(st, i, v->integer);
    case SQL_REAL:
        return sqlite3_bind_double(st, i, v->real);
    case SQL_TEXT:
        return sqlite3_bind_text64(st, i, v->bytes.p, v->bytes.n,
                                   SQLITE_STATIC, SQLITE_UTF8);
    case SQL_BLOB:
        return sqlite3_bind_blob64(st, i, v->bytes.p, v->bytes.n,
                                   SQLITE_STATIC);
    case SQL_ID:
        return sqlite3_bind_blob(st, i, v->id, SQL_ID_BYTES, SQLITE_TRANSIENT);
    }
    assert(!"a kind of value");
    return SQLITE_MISUSE;
}

int sql_bind(sqlite3_stmt *st, struct sql_values values)
{
    int rc = SQLITE_OK;

    assert(sqlite3_bind_parameter_count(st) == (int)values.n);
    for (size_t i = 0; !rc && i < values.n; i++)
        rc = bind_value(st, (int)i + 1, &values.v[i]);
    return rc;
}
