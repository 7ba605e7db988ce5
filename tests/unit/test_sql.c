/* test_sql.c - tests sql.c: the conversion that SQL() selects for each type of
 * value, and what SQLite stores. */
#include <stdlib.h>
#include <string.h>

#include "base/sql.h"
#include "test.h"

/* Check that quote() of the parameter gives this text. */
static void check_quoted(struct sql_values values, const char *want)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    const char *got;

    CHECK(!sqlite3_open(":memory:", &db));
    CHECK(!sqlite3_prepare_v2(db, "SELECT quote(?)", -1, &st, NULL));
    if (CHECK(!sql_bind(st, values)) &&
        CHECK(sqlite3_step(st) == SQLITE_ROW)) {
        got = (const char *)sqlite3_column_text(st, 0);
        CHECK_STR(got ? got : "nothing", want);
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
}

TEST(sql_selects_the_conversion_by_type)
{
    static const unsigned char id[SQL_ID_BYTES] = { 1, 2, [15] = 0xff };
    char buffer[] = "it's";
    const char *missing = NULL;
    struct str view = { "abc", 2 }, empty = { NULL, 0 };
    uint64_t most = UINT64_MAX;
    bool yes = true;
    uint32_t wide = 4000000000u;

    check_quoted(SQL(-5), "-5");
    check_quoted(SQL(INT64_MIN), "-9223372036854775808");
    check_quoted(SQL(most), "-1");
    check_quoted(SQL(yes), "1");
    check_quoted(SQL(wide), "4000000000");
    check_quoted(SQL(SQL_BLOB), "4");
    check_quoted(SQL(0.5), "0.5");
    check_quoted(SQL(buffer), "'it''s'");
    check_quoted(SQL((const char *)buffer), "'it''s'");
    check_quoted(SQL(missing), "NULL");
    check_quoted(SQL(view), "'ab'");
    check_quoted(SQL(empty), "''");
    check_quoted(SQL(sql_text_or_null(view)), "'ab'");
    check_quoted(SQL(sql_text_or_null(empty)), "NULL");
    check_quoted(SQL(sql_int_or_null(7)), "7");
    check_quoted(SQL(sql_int_or_null(0)), "NULL");
    check_quoted(SQL(sql_null()), "NULL");
    check_quoted(SQL(sql_blob("\0\1", 2)), "X'0001'");
    check_quoted(SQL(sql_blob(NULL, 0)), "X''");
    check_quoted(SQL(sql_id(id)), "X'010200000000000000000000000000FF'");
}

TEST(sql_lists_keep_their_order)
{
    struct sql_values all = SQL(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
    int next = 0;
    struct sql_values once = SQL(next++, 9);

    CHECK_INT(SQL_NONE.n, 0);
    CHECK_INT(SQL(1).n, 1);
    CHECK_INT(all.n, 13);
    for (size_t i = 0; i < all.n; i++)
        CHECK_INT(all.v[i].integer, (int)i + 1);
    CHECK_INT(once.v[0].integer, 0);
    CHECK_INT(next, 1);         /* evaluated once */
}
