/* store_memory.c - creates, lists, changes and drops the named memories of a
 * store, and counts their pairs and texts. The rows of a dropped memory are
 * deleted in store_maintain.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/utf8.h"
#include "tm/store_internal.h"

/* ---- names --------------------------------------------------------------- */

static bool store_memory_printable(const char *s, size_t n)
{
    int len;

    if (utf8_check(s, n) != n) return false;
    for (size_t i = 0; i < n; i += (size_t)len) {
        uint32_t cp = utf8_next(s + i, n - i, &len);
        if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) return false;
    }
    return true;
}

static enum status check_settings(const struct memory_info *m, struct err *e)
{
    size_t n = strnlen(m->name, sizeof m->name);
    size_t src = strnlen(m->source_lang, sizeof m->source_lang);
    size_t tgt = strnlen(m->target_lang, sizeof m->target_lang);

    if (!n)
        return err_set(e, ST_ARGUMENT, "a memory needs a name");
    if (n == sizeof m->name)
        return err_set(e, ST_ARGUMENT, "the name of a memory may have at most "
                       "%zu bytes", sizeof m->name - 1);
    if (!store_memory_printable(m->name, n))
        return err_set(e, ST_ARGUMENT, "the name of a memory must consist of "
                       "printable characters in UTF-8");
    if (src == sizeof m->source_lang || tgt == sizeof m->target_lang ||
        !store_memory_printable(m->source_lang, src) ||
        !store_memory_printable(m->target_lang, tgt))
        return err_set(e, ST_ARGUMENT,
                       "a language must be a code such as de or pt-BR, with "
                       "at most %zu bytes",
                       sizeof m->source_lang - 1);
    return ST_OK;
}

/* ST_ARGUMENT when another memory than `id` has the name. */
static enum status check_name_free(struct store *s, const char *name,
                                   int64_t id, struct err *e)
{
    int64_t other;
    enum status st = query_int(s, Q_MEMORY_NAMED, SQL(name), &other, e);

    if (!st && other && other != id)
        st = err_set(e, ST_ARGUMENT, "%s: a memory named \"%s\" exists "
                     "already", s->path, name);
    return st;
}

/* ---- reading ------------------------------------------------------------- */

static void copy_column(char *to, size_t size, sqlite3_stmt *st, int column)
{
    struct str v = column_str(st, column);

    snprintf(to, size, "%.*s", (int)v.n, v.p ? v.p : "");
}

static void read_memory_row(sqlite3_stmt *st, struct memory_info *m)
{
    assert(sqlite3_column_count(st) == 7);
    memset(m, 0, sizeof *m);
    m->id = sqlite3_column_int64(st, 0);
    copy_column(m->name, sizeof m->name, st, 1);
    copy_column(m->source_lang, sizeof m->source_lang, st, 2);
    copy_column(m->target_lang, sizeof m->target_lang, st, 3);
    m->priority = sqlite3_column_int(st, 4);
    m->keep_duplicates = sqlite3_column_int(st, 5) != 0;
    m->created = sqlite3_column_int64(st, 6);
}

enum status memory_get(struct store *s, int64_t id, struct memory_info *out,
                       struct err *e)
{
    bool found;
    enum status st = query_first(s, Q_MEMORY, SQL(id), &found, e);

    if (st) return st;
    if (!found)
        return err_set(e, ST_ARGUMENT, "%s: there is no memory with the "
                       "number %lld", s->path, (long long)id);
    read_memory_row(s->stmt[Q_MEMORY], out);
    query_end(s, Q_MEMORY);
    return ST_OK;
}

enum status store_memory_list(struct store *s, struct memory_info **list,
                              size_t *n, struct err *e)
{
    size_t cap = 0;
    bool found;
    enum status st = query_first(s, Q_MEMORIES, SQL_NONE, &found, e);

    *list = NULL;
    *n = 0;
    while (!st && found) {
        if (!mem_grow(list, &cap, *n + 1, sizeof **list)) {
            query_end(s, Q_MEMORIES);
            st = err_nomem(e, "list of memories");
            break;
        }
        read_memory_row(s->stmt[Q_MEMORIES], &(*list)[(*n)++]);
        st = query_next(s, Q_MEMORIES, &found, e);
    }
    if (st) {
        free(*list);
        *list = NULL;
        *n = 0;
    }
    return st;
}

static enum status no_such_memory(struct store *s, const char *name,
                                  struct err *e)
{
    char names[300] = "";
    struct memory_info *list;
    size_t n, at = 0;
    enum status st = store_memory_list(s, &list, &n, e);

    if (st) return st;
    for (size_t i = 0; i < n && at < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s",
                               i ? ", " : "", list[i].name);
    free(list);
    if (!n)
        return err_set(e, ST_ARGUMENT, "%s: there is no memory \"%s\"; the "
                       "file has no memories yet", s->path, name);
    return err_set(e, ST_ARGUMENT, "%s: there is no memory \"%s\"; the file "
                   "has %s%s", s->path, name, names,
                   at >= sizeof names ? " ..." : "");
}

enum status store_memory_find(struct store *s, const char *name,
                              struct memory_info *out, struct err *e)
{
    int64_t id;
    enum status st = query_int(s, Q_MEMORY_NAMED, SQL(name), &id, e);

    if (st) return st;
    return id ? memory_get(s, id, out, e) : no_such_memory(s, name, e);
}

enum status store_memory_counts(struct store *s, int64_t memory,
                                struct memory_counts *out, struct err *e)
{
    sqlite3_stmt *row;
    bool found;
    enum status st, end;

    memset(out, 0, sizeof *out);
    st = store_begin_read(s, e);
    if (st) return st;
    st = query_first(s, Q_COUNT_TEXTS, SQL(memory), &found, e);
    if (!st && found) {
        row = s->stmt[Q_COUNT_TEXTS];
        out->texts = sqlite3_column_int64(row, 0);
        out->source_bytes = sqlite3_column_int64(row, 1);
        out->target_bytes = sqlite3_column_int64(row, 2);
        query_end(s, Q_COUNT_TEXTS);
    }
    if (!st) st = query_int(s, Q_COUNT_PAIRS, SQL(memory), &out->pairs, e);
    end = store_commit(s, st ? NULL : e);
    return st ? st : end;
}

/* ---- changing ------------------------------------------------------------ */

enum status store_memory_create(struct store *s,
                                const struct memory_info *settings,
                                int64_t *id, struct err *e)
{
    const struct memory_info *m = settings;
    enum status st = check_settings(m, e);

    *id = 0;
    if (!st) st = op_begin(s, e);
    if (st) return st;
    st = check_name_free(s, m->name, 0, e);
    if (!st)
        st = query_int(s, Q_MEMORY_ADD,
                       SQL(m->name, sql_text_or_null(str_of(m->source_lang)),
                           sql_text_or_null(str_of(m->target_lang)),
                           m->priority, m->keep_duplicates,
                           now_seconds()), id, e);
    return op_end(s, st, e);
}

enum status store_memory_update(struct store *s, const struct memory_info *m,
                                struct err *e)
{
    struct memory_info old;
    enum status st = check_settings(m, e);

    if (!st) st = op_begin(s, e);
    if (st) return st;
    st = memory_get(s, m->id, &old, e);
    if (!st) st = check_name_free(s, m->name, m->id, e);
    if (!st)
        st = query_run(s, Q_MEMORY_SET,
                       SQL(m->id, m->name,
                           sql_text_or_null(str_of(m->source_lang)),
                           sql_text_or_null(str_of(m->target_lang)),
                           m->priority), e);
    return op_end(s, st, e);
}

/* Marks the batches of the memory as well, because batch.state alone decides
 * whether a row is visible. */
static enum status mark_dropped(struct store *s, int64_t memory,
                                struct err *e)
{
    struct memory_info old;
    enum status st = memory_get(s, memory, &old, e);

    assert(store_in_write(s));
    if (!st) st = query_run(s, Q_MEMORY_DROP, SQL(memory), e);
    if (!st) st = query_run(s, Q_MEMORY_DROP_BATCHES, SQL(memory), e);
    if (!st) st = query_run(s, Q_MANIFEST_DROP, SQL(memory), e);
    if (!st) st = query_run(s, Q_SEGMENT_DROP, SQL(memory), e);
    return st;
}

enum status store_memory_drop(struct store *s, int64_t memory, struct err *e)
{
    enum status st = op_begin(s, e);

    if (st) return st;
    st = op_end(s, mark_dropped(s, memory, e), e);
    /* The memory is dropped now, whatever the sweep returns: the next writer
     * deletes rows that it leaves. Inside a larger transaction there is no
     * sweep, because a rollback may restore the memory. */
    if (!st && !s->depth) store_sweep(s, SWEEP_SECONDS, NULL);
    return st;
}
