/* store_pairs.c - adds, replaces, deletes and reads single pairs, and iterates
 * over many (pair_cursor).
 *
 * A text is created with its first pair and deleted with its last. Both go to
 * the change log in the same transaction, so functions that change rows assert
 * store_in_write(). */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/utf8.h"
#include "tm/store_internal.h"

#define MAX_TEXTS 0xffffffff    /* of one batch */

/* ---- checking ------------------------------------------------------------ */

/* Valid UTF-8 without NUL. Most texts begin with a long stretch of ASCII, which
 * is checked eight bytes at a time. */
static bool is_valid_text(struct str v)
{
    size_t i = 0;
    uint64_t word;

    if (!v.n) return true;
    if (memchr(v.p, '\0', v.n)) return false;
    for (; i + 8 <= v.n; i += 8) {
        memcpy(&word, v.p + i, 8);
        if (word & 0x8080808080808080u) break;
    }
    return utf8_check(v.p + i, v.n - i) == v.n - i;
}

static enum status check_side(struct str v, const char *side, struct err *e)
{
    if (!v.n) return err_set(e, ST_TEXT, "the %s text is empty", side);
    if (!is_valid_text(v))
        return err_set(e, ST_TEXT, "the %s text is not valid UTF-8 (or has a "
                       "NUL in it)", side);
    return ST_OK;
}

enum status unit_check(const struct unit *u, struct err *e)
{
    const struct str rest[] = { u->source_lang, u->target_lang, u->id,
                                u->document, u->author, u->extra };
    enum status st = check_side(u->source, "source", e);

    if (!st) st = check_side(u->target, "target", e);
    for (size_t i = 0; !st && i < sizeof rest / sizeof *rest; i++)
        if (!is_valid_text(rest[i]))
            st = err_set(e, ST_TEXT, "the language, id, document, author or "
                         "extra data of the pair is not valid UTF-8");
    return st;
}

static enum status limit_bytes(struct str v, const char *what, struct err *e)
{
    if (v.n <= UNIT_TEXT_MAX) return ST_OK;
    return err_set(e, ST_LIMIT, "the %s has %zu bytes; the limit is %zu bytes "
                   "(%d MiB)", what, v.n, UNIT_TEXT_MAX, UNIT_TEXT_MAX_MIB);
}

enum status unit_accept(const struct unit *u, struct err *e)
{
    const struct { struct str text; const char *what; } part[] = {
        { u->source, "source text" }, { u->target, "target text" },
        { u->source_lang, "source language" },
        { u->target_lang, "target language" }, { u->id, "unit's id" },
        { u->document, "document's name" }, { u->author, "author's name" }
    };
    enum status st = ST_OK;

    for (size_t i = 0; !st && i < sizeof part / sizeof *part; i++)
        st = limit_bytes(part[i].text, part[i].what, e);
    return st ? st : unit_check(u, e);
}

/* ---- texts --------------------------------------------------------------- */

int64_t text_hash(int64_t memory, const struct unit *u)
{
    uint64_t h = (uint64_t)memory << 1 | u->tagged;

    h = XXH64(u->source.p, u->source.n, h);
    return (int64_t)XXH64(u->target.p, u->target.n, h);
}

bool text_row_sound(sqlite3_stmt *row, int source)
{
    struct unit u = { .source = column_str(row, source),
                      .target = column_str(row, source + 1),
                      .tagged = sqlite3_column_int(row, source + 2) != 0 };

    assert(source >= 0 && sqlite3_column_count(row) >= source + 5);
    return sqlite3_column_int64(row, source + 4) ==
           text_hash(sqlite3_column_int64(row, source + 3), &u);
}

static enum status report_damaged_pair(const char *path, int64_t id,
                                       struct err *e)
{
    char why[80];

    snprintf(why, sizeof why, "the text of pair %lld does not match its hash",
             (long long)id);
    return store_damaged(path, why, e);
}

enum status report_damaged_text(struct store *s, int64_t text, struct err *e)
{
    int64_t pair = 0;
    char why[80];

    if (!query_int(s, Q_PAIR_FIRST, SQL(text), &pair, NULL) && pair)
        return report_damaged_pair(s->path, pair, e);
    snprintf(why, sizeof why, "text %lld does not match its hash",
             (long long)text);
    return store_damaged(s->path, why, e);
}

static bool same_text(sqlite3_stmt *row, int source, const struct unit *u)
{
    return str_eq(column_str(row, source), u->source) &&
           str_eq(column_str(row, source + 1), u->target);
}

/* Whether the texts of a batch are visible: its import has finished, or it is
 * current_batch, the batch that the caller is writing. */
static enum status batch_visible(struct store *s, int64_t batch,
                                 int64_t current_batch, bool *visible,
                                 struct err *e)
{
    int64_t state = BATCH_DONE;
    enum status st = ST_OK;

    if (batch != current_batch)
        st = query_int(s, Q_BATCH_STATE, SQL(batch), &state, e);
    *visible = state == BATCH_DONE;
    return st;
}

enum status text_find(struct store *s, int64_t memory, const struct unit *u,
                      int64_t hash, int64_t current_batch, int64_t *id,
                      struct err *e)
{
    sqlite3_stmt *row;
    int64_t at;
    bool found, visible = false;
    enum status st = query_first(s, Q_TEXT_FIND, SQL(hash, memory, u->tagged),
                                 &found, e);

    *id = 0;
    while (!st && found) {
        row = s->stmt[Q_TEXT_FIND];
        at = sqlite3_column_int64(row, 0);
        if (same_text(row, 1, u))
            st = batch_visible(s, at >> 32, current_batch, &visible, e);
        if (st || visible) {
            query_end(s, Q_TEXT_FIND);
            if (!st) *id = at;
            break;
        }
        st = query_next(s, Q_TEXT_FIND, &found, e);
    }
    return st;
}

enum status text_insert(struct store *s, int64_t id, int64_t memory,
                        const struct unit *u, int64_t hash, struct err *e)
{
    assert(store_in_write(s));
    return query_run(s, Q_TEXT_ADD,
                     SQL(id, memory, hash, u->tagged, u->source, u->target), e);
}

enum status hash_insert(struct store *s, int64_t hash, int64_t text,
                        struct err *e)
{
    assert(store_in_write(s));
    return query_run(s, Q_HASH_ADD, SQL(hash, text), e);
}

enum status text_equals(struct store *s, int64_t id, const struct unit *u,
                        bool *equal, struct err *e)
{
    bool found;
    enum status st = query_first(s, Q_TEXT_ROW, SQL(id, u->tagged), &found, e);

    *equal = !st && found && same_text(s->stmt[Q_TEXT_ROW], 1, u);
    if (!st && found) query_end(s, Q_TEXT_ROW);
    return st;
}

enum status text_delete(struct store *s, int64_t text, struct err *e)
{
    enum status st = query_run(s, Q_HASH_DELETE, SQL(text), e);

    assert(store_in_write(s));
    return st ? st : query_run(s, Q_TEXT_DELETE, SQL(text), e);
}

/* The batch for a single add: the newest batch of the memory if that is not an
 * import, else a new one. So texts that are added after an import have higher
 * ids than those of the import. */
static enum status batch_for_single_adds(struct store *s, int64_t memory,
                                         int64_t *batch, struct err *e)
{
    sqlite3_stmt *row;
    bool found;
    enum status st = query_first(s, Q_BATCH_NEWEST, SQL(memory), &found, e);

    assert(store_in_write(s));
    *batch = 0;
    if (!st && found) {
        row = s->stmt[Q_BATCH_NEWEST];
        if (!sqlite3_column_int(row, 1) &&
            sqlite3_column_int(row, 2) == BATCH_DONE &&
            sqlite3_column_int64(row, 3) < MAX_TEXTS)
            *batch = sqlite3_column_int64(row, 0);
        query_end(s, Q_BATCH_NEWEST);
    }
    if (!st && !*batch)
        st = query_int(s, Q_BATCH_ADD,
                       SQL(memory, 0, BATCH_DONE, sql_null(), now_seconds()),
                       batch, e);
    return st;
}

/* Adds a visible text and its entry in the change log. */
static enum status add_visible_text(struct store *s, int64_t memory,
                                    int64_t batch, const struct unit *u,
                                    int64_t hash, int64_t *id, struct err *e)
{
    int64_t count, seq;
    enum status st = query_int(s, Q_BATCH_TEXT, SQL(batch), &count, e);

    *id = batch << 32 | count;
    if (!st) st = text_insert(s, *id, memory, u, hash, e);
    if (!st) st = hash_insert(s, hash, *id, e);
    if (!st) st = query_int(s, Q_CHANGE_ADD, SQL(memory, *id, *id), &seq, e);
    return st;
}

/* The text for a pair that is added now: an equal visible one, or a new one. */
static enum status find_or_add_text(struct store *s,
                                    const struct memory_info *m,
                                    int64_t batch, const struct unit *u,
                                    int64_t *id, struct err *e)
{
    int64_t hash = text_hash(m->id, u);
    enum status st = ST_OK;

    *id = 0;
    if (!m->keep_duplicates) st = text_find(s, m->id, u, hash, 0, id, e);
    if (!st && !*id) st = add_visible_text(s, m->id, batch, u, hash, id, e);
    return st;
}

/* Call this after a pair of the text was deleted or got another text. If the
 * text has no visible pair left, its removal is written to the change log and
 * its row is deleted. If an unfinished import still refers to the row, the row
 * is hidden instead, and deleted later. */
static enum status text_lost_pair(struct store *s, int64_t text,
                                  struct err *e)
{
    int64_t visible;
    enum status st = query_int(s, Q_TEXT_SEEN, SQL(text), &visible, e);

    assert(store_in_write(s));
    if (st || visible) return st;
    st = query_run(s, Q_CHANGE_REMOVE, SQL(text), e);
    if (!st) st = text_delete(s, text, e);
    if (st || sqlite3_changes(s->db)) return st;
    st = query_run(s, Q_TEXT_HIDE, SQL(text), e);
    if (!st) st = query_run(s, Q_HIDDEN_ADD, SQL(text), e);
    return st;
}

/* ---- pairs --------------------------------------------------------------- */

static struct str null_if_equal(struct str v, const char *usual)
{
    return str_eq(v, str_of(usual)) ? (struct str){ NULL, 0 } : v;
}

/* The column of a language: NULL if it is that of the memory. */
static struct sql_value lang_value(struct str lang, const char *of_memory)
{
    return sql_text_or_null(null_if_equal(lang, of_memory));
}

/* Whether all columns with metadata are NULL. */
static bool is_plain_pair(const struct pair_row *r,
                          const struct memory_info *m, const struct unit *u)
{
    return !u->document.n && !u->id.n && !u->author.n && !u->created &&
           !u->changed && !u->extra.n && !r->origin && !(r->now > 0) &&
           !null_if_equal(u->source_lang, m->source_lang).n &&
           !null_if_equal(u->target_lang, m->target_lang).n;
}

/* Times are stored in seconds: whole ones if the time came with the pair, and
 * with a fraction if it is that of our clock. The fraction distinguishes pairs
 * that were stored within one second; a reader that asks SQLite for an integer
 * gets whole seconds. */
static struct sql_value clock_value(double now)
{
    return now > 0 ? sql_real(now) : sql_null();
}

/* The column `created`. A pair that comes without a time of creation gets the
 * present time if it is added on its own (r->now), else NULL. NULL stands for
 * the time of the batch; it is also stored if the two times are equal. */
static struct sql_value created_value(const struct pair_row *r,
                                      const struct unit *u)
{
    if (!u->created) return clock_value(r->now);
    return u->created != r->batch_created ? sql_int(u->created) : sql_null();
}

/* The column `changed`. NULL stands for the time of creation; it is stored if
 * the two times are equal, or if the pair comes without a time of change. One
 * exception: a pair that is added on its own with a time of creation only gets
 * the present time. */
static struct sql_value changed_value(const struct pair_row *r,
                                      const struct unit *u)
{
    int64_t created = u->created || r->now > 0 ? u->created
                                               : r->batch_created;

    if (!u->changed) return u->created ? clock_value(r->now) : sql_null();
    return u->changed != created ? sql_int(u->changed) : sql_null();
}

enum status pair_insert(struct store *s, const struct pair_row *r,
                        const struct memory_info *m, const struct unit *u,
                        struct err *e)
{
    assert(store_in_write(s));
    if (is_plain_pair(r, m, u))
        return query_run(s, Q_PAIR_ADD_PLAIN,
                         SQL(r->id, r->text, r->batch,
                             sql_int_or_null(r->position)), e);
    return query_run(s, Q_PAIR_ADD,
                     SQL(r->id, r->text, r->batch, sql_int_or_null(r->position),
                         sql_text_or_null(u->document), sql_text_or_null(u->id),
                         sql_text_or_null(u->author),
                         created_value(r, u), changed_value(r, u),
                         lang_value(u->source_lang, m->source_lang),
                         lang_value(u->target_lang, m->target_lang),
                         sql_text_or_null(u->extra),
                         sql_text_or_null(str_of(r->origin))), e);
}

static enum status add_pair(struct store *s, int64_t memory,
                            const struct unit *u, int64_t *id,
                            struct err *e)
{
    struct memory_info m;
    struct pair_row r = { .now = now_exact() };
    enum status st = memory_get(s, memory, &m, e);

    if (!st) st = batch_for_single_adds(s, memory, &r.batch, e);
    if (!st) st = find_or_add_text(s, &m, r.batch, u, &r.text, e);
    if (!st) st = query_int(s, Q_PAIR_ID, SQL_NONE, &r.id, e);
    if (!st) st = pair_insert(s, &r, &m, u, e);
    *id = r.id;
    return st;
}

enum status store_add(struct store *s, int64_t memory, const struct unit *u,
                      int64_t *id, struct err *e)
{
    enum status st = unit_accept(u, e);

    *id = 0;
    if (!st) st = op_begin(s, e);
    if (st) return st;
    return op_end(s, add_pair(s, memory, u, id, e), e);
}

static enum status find_pair(struct store *s, int64_t id, int64_t *text,
                             int64_t *memory, struct err *e)
{
    bool found;
    enum status st = query_first(s, Q_PAIR_TEXT, SQL(id), &found, e);

    if (st) return st;
    if (!found)
        return err_set(e, ST_ARGUMENT, "%s: there is no pair with the number "
                       "%lld", s->path, (long long)id);
    *text = sqlite3_column_int64(s->stmt[Q_PAIR_TEXT], 0);
    *memory = sqlite3_column_int64(s->stmt[Q_PAIR_TEXT], 1);
    query_end(s, Q_PAIR_TEXT);
    return ST_OK;
}

enum status store_pair_memory(struct store *s, int64_t id, int64_t *memory,
                              struct err *e)
{
    int64_t text;

    *memory = 0;
    return find_pair(s, id, &text, memory, e);
}

enum status store_find_unit(struct store *s, int64_t memory, struct str unit,
                            int64_t after, int64_t *id, struct err *e)
{
    return query_int(s, Q_PAIR_UNIT, SQL(memory, unit, after), id, e);
}

enum status store_index_units(struct store *s, struct err *e)
{
    int64_t there;
    int rc;
    enum status st = query_int(s, Q_UNIT_INDEX, SQL_NONE, &there, e);

    if (st || there) return st;
    st = op_begin(s, e);
    if (st) return st;
    rc = sqlite3_exec(s->db, "CREATE INDEX IF NOT EXISTS pair_unit"
                      " ON pair(unit) WHERE unit IS NOT NULL", NULL, NULL,
                      NULL);
    return op_end(s, rc ? store_error(s->db, s->path, rc, e) : ST_OK,
                  e);
}

/* Whether the text equals that of u already. */
static enum status text_unchanged(struct store *s, int64_t text,
                                  const struct unit *u, bool *same,
                                  struct err *e)
{
    sqlite3_stmt *row;
    bool found;
    enum status st = query_first(s, Q_TEXT_GET, SQL(text), &found, e);

    *same = false;
    if (st || !found) return st;
    row = s->stmt[Q_TEXT_GET];
    *same = same_text(row, 0, u) &&
            (sqlite3_column_int(row, 2) != 0) == u->tagged;
    query_end(s, Q_TEXT_GET);
    return ST_OK;
}

static enum status replace_pair(struct store *s, int64_t id,
                                const struct unit *u, struct err *e)
{
    int64_t old = 0, text, memory = 0, batch;
    struct memory_info m;
    bool same = false;
    enum status st = find_pair(s, id, &old, &memory, e);

    if (!st) st = memory_get(s, memory, &m, e);
    if (!st) st = text_unchanged(s, old, u, &same, e);
    text = old;
    if (!st && !same) st = batch_for_single_adds(s, memory, &batch, e);
    if (!st && !same) st = find_or_add_text(s, &m, batch, u, &text, e);
    if (!st)
        st = query_run(s, Q_PAIR_SET,
                       SQL(id, text, now_exact(), u->source_lang.n != 0,
                           lang_value(u->source_lang, m.source_lang),
                           u->target_lang.n != 0,
                           lang_value(u->target_lang, m.target_lang),
                           sql_text_or_null(u->id),
                           sql_text_or_null(u->document),
                           sql_text_or_null(u->author),
                           sql_text_or_null(u->extra)), e);
    if (!st && text != old) st = text_lost_pair(s, old, e);
    return st;
}

enum status store_replace(struct store *s, int64_t id, const struct unit *u,
                          struct err *e)
{
    enum status st = unit_accept(u, e);

    if (!st) st = op_begin(s, e);
    if (st) return st;
    return op_end(s, replace_pair(s, id, u, e), e);
}

static enum status delete_pair(struct store *s, int64_t id, struct err *e)
{
    int64_t text = 0, memory;
    enum status st = find_pair(s, id, &text, &memory, e);

    if (!st) st = query_run(s, Q_PAIR_DELETE, SQL(id), e);
    if (!st) st = text_lost_pair(s, text, e);
    return st;
}

enum status store_delete(struct store *s, int64_t id, struct err *e)
{
    enum status st = op_begin(s, e);

    if (st) return st;
    return op_end(s, delete_pair(s, id, e), e);
}

/* ---- several pairs ------------------------------------------------------- */

#define FILTERS \
    " WHERE (?1 = 0 OR b.memory = ?1)" \
    " AND (?2 IS NULL OR coalesce(p.origin, b.origin, '') = ?2)" \
    " AND (?3 IS NULL OR ifnull(p.document, '') = ?3)" \
    " AND (?4 IS NULL OR t.source = ?4) AND (?5 IS NULL OR t.target = ?5)"

/* Walks over the pairs in order of id. */
#define BY_PAIR(columns) \
    "SELECT " columns " FROM pair p" PAIR_JOINS FILTERS " AND p.id > ?6" \
    " ORDER BY p.id"
/* Looks the pairs up by hash; needs the memory and both texts. */
#define BY_TEXT(columns) \
    "SELECT " columns " FROM by_hash h CROSS JOIN text t ON t.id = h.text" \
    " CROSS JOIN pair p ON p.text = t.id" \
    " CROSS JOIN batch b ON b.id = p.batch AND b.state = 1" \
    " CROSS JOIN memory m ON m.id = t.memory" FILTERS \
    " AND h.hash IN (?6, ?7) ORDER BY p.id"

static bool filter_has_hash(const struct pair_filter *f)
{
    return f->memory && f->source && f->target;
}

static int bind_filter(sqlite3_stmt *st, const struct pair_filter *f)
{
    const char *text[] = { f->origin, f->document, f->source, f->target };
    int rc = sqlite3_bind_int64(st, 1, f->memory);

    assert(sqlite3_bind_parameter_count(st) == (filter_has_hash(f) ? 7 : 6));

    for (int i = 0; !rc && i < 4; i++)
        rc = sqlite3_bind_text(st, i + 2, text[i], -1, SQLITE_TRANSIENT);
    if (!rc && !filter_has_hash(f)) rc = sqlite3_bind_int64(st, 6, f->after);
    for (int tagged = 0; !rc && filter_has_hash(f) && tagged < 2; tagged++) {
        struct unit u = { .source = str_of(f->source),
                          .target = str_of(f->target), .tagged = tagged };
        rc = sqlite3_bind_int64(st, 6 + tagged, text_hash(f->memory, &u));
    }
    return rc;
}

static int prepare_filter(sqlite3 *db, const char *sql,
                          const struct pair_filter *f, sqlite3_stmt **st)
{
    int rc = sqlite3_prepare_v2(db, sql, -1, st, NULL);

    return rc ? rc : bind_filter(*st, f);
}

static enum status matching_ids(struct store *s, const struct pair_filter *f,
                                int64_t **ids, size_t *n, struct err *e)
{
    sqlite3_stmt *row = NULL;
    size_t cap = 0;
    enum status st = ST_OK;
    int rc = prepare_filter(s->db, filter_has_hash(f) ? BY_TEXT("p.id")
                                                      : BY_PAIR("p.id"),
                            f, &row);

    while (!rc && !st && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        if (mem_grow(ids, &cap, *n + 1, sizeof **ids))
            (*ids)[(*n)++] = sqlite3_column_int64(row, 0);
        else
            st = err_nomem(e, "pairs to delete");
    }
    if (!st && rc != SQLITE_DONE) st = store_error(s->db, s->path, rc, e);
    sqlite3_finalize(row);
    return st;
}

enum status store_delete_where(struct store *s, const struct pair_filter *f,
                               int64_t *n, struct err *e)
{
    int64_t *ids = NULL;
    size_t found = 0;
    enum status st;

    *n = 0;
    if (!f->memory && !f->origin && !f->document && !f->source && !f->target)
        return err_set(e, ST_ARGUMENT, "no filter was given; specify which "
                       "pairs to delete");
    st = op_begin(s, e);
    if (st) return st;
    st = matching_ids(s, f, &ids, &found, e);
    for (size_t i = 0; !st && i < found; i++) st = delete_pair(s, ids[i], e);
    free(ids);
    st = op_end(s, st, e);
    if (!st) *n = (int64_t)found;
    return st;
}

/* ---- reading ------------------------------------------------------------- */

/* Returns false when the text does not match its hash. */
static bool read_pair(sqlite3_stmt *row, struct pair *out)
{
    struct unit *u = &out->unit;

    assert(sqlite3_column_count(row) == PAIR_COLUMN_COUNT);

    memset(out, 0, sizeof *out);
    out->id = sqlite3_column_int64(row, 0);
    out->memory = sqlite3_column_int64(row, 1);
    out->text = sqlite3_column_int64(row, 2);
    u->source = column_str(row, 3);
    u->target = column_str(row, 4);
    u->tagged = sqlite3_column_int(row, 5) != 0;
    u->source_lang = column_str(row, 6);
    u->target_lang = column_str(row, 7);
    u->id = column_str(row, 8);
    u->document = column_str(row, 9);
    u->author = column_str(row, 10);
    u->created = sqlite3_column_int64(row, 11);
    u->changed = sqlite3_column_int64(row, 12);
    u->extra = column_str(row, 13);
    out->origin = column_str(row, 14);
    out->position = sqlite3_column_int64(row, 15);
    return sqlite3_column_int64(row, 16) == text_hash(out->memory, u);
}

/* Copies the strings into the buffer and lets them point there. Callers get
 * copies because a statement that has not ended would keep the connection at
 * an old version of the file. */
static bool copy_strings(struct strbuf *buf, struct str *const *v, size_t n)
{
    size_t total = 0, at = 0;

    for (size_t i = 0; i < n; i++) total += v[i]->n;
    strbuf_reset(buf);
    if (!strbuf_reserve(buf, total)) return false;
    for (size_t i = 0; i < n; i++) {
        strbuf_add(buf, v[i]->p, v[i]->n);
        v[i]->p = buf->data + at;
        at += v[i]->n;
    }
    assert(at == total && buf->len == total);
    return true;
}

static bool copy_pair_strings(struct store *s, struct pair *p)
{
    struct unit *u = &p->unit;
    struct str *const all[] = {
        &u->source, &u->target, &u->source_lang, &u->target_lang, &u->id,
        &u->document, &u->author, &u->extra, &p->origin
    };

    return copy_strings(&s->pair_buf, all, sizeof all / sizeof *all);
}

static enum status get_pair(struct store *s, int64_t id, struct pair *out,
                            bool *found, struct err *e)
{
    enum status st = query_first(s, Q_PAIR_GET, SQL(id), found, e);

    memset(out, 0, sizeof *out);
    if (st || !*found) return st;
    if (!read_pair(s->stmt[Q_PAIR_GET], out))
        st = report_damaged_pair(s->path, id, e);
    else if (!copy_pair_strings(s, out))
        st = err_nomem(e, "pair");
    query_end(s, Q_PAIR_GET);
    return st;
}

enum status store_get(struct store *s, int64_t id, struct pair *out,
                      struct err *e)
{
    bool found;
    enum status st = get_pair(s, id, out, &found, e);

    if (!st && !found)
        st = err_set(e, ST_ARGUMENT, "%s: there is no pair with the number "
                     "%lld", s->path, (long long)id);
    return st;
}

enum status store_text_pair(struct store *s, int64_t text, struct pair *out,
                            int64_t *n, struct err *e)
{
    int64_t id;
    bool found;
    enum status st = query_first(s, Q_PAIR_FIRST, SQL(text), &found, e);

    memset(out, 0, sizeof *out);
    *n = 0;
    if (st || !found) return st;
    id = sqlite3_column_int64(s->stmt[Q_PAIR_FIRST], 0);
    *n = sqlite3_column_int64(s->stmt[Q_PAIR_FIRST], 1);
    /* The first statement has not ended, so both see the same version. */
    if (*n) st = get_pair(s, id, out, &found, e);
    query_end(s, Q_PAIR_FIRST);
    return st;
}

enum status store_text_confirmed(struct store *s, int64_t text,
                                 struct confirmation *out, struct err *e)
{
    sqlite3_stmt *row;
    bool found;
    enum status st = query_first(s, Q_PAIR_CONFIRMED, SQL(text), &found, e);

    *out = (struct confirmation){ 0 };
    if (st || !found) return st;
    row = s->stmt[Q_PAIR_CONFIRMED];
    out->time = sqlite3_column_double(row, 0);
    out->pair = sqlite3_column_int64(row, 1);
    out->batch = sqlite3_column_int64(row, 2);
    out->occurrences = sqlite3_column_int64(row, 3);
    query_end(s, Q_PAIR_CONFIRMED);
    return ST_OK;
}

enum status store_text(struct store *s, int64_t text, struct str *source,
                       struct str *target, bool *tagged, bool *found,
                       struct err *e)
{
    struct str *const both[] = { source, target };
    enum status st = query_first(s, Q_TEXT_GET, SQL(text), found, e);

    if (st || !*found) return st;
    if (!text_row_sound(s->stmt[Q_TEXT_GET], 0)) {
        query_end(s, Q_TEXT_GET);
        return report_damaged_text(s, text, e);
    }
    *source = column_str(s->stmt[Q_TEXT_GET], 0);
    *target = column_str(s->stmt[Q_TEXT_GET], 1);
    *tagged = sqlite3_column_int(s->stmt[Q_TEXT_GET], 2) != 0;
    if (!copy_strings(&s->text_buf, both, 2)) st = err_nomem(e, "text");
    query_end(s, Q_TEXT_GET);
    return st;
}

/* ---- cursors ------------------------------------------------------------- */

struct pair_cursor {
    sqlite3 *db;
    sqlite3_stmt *row;
    char *path;                 /* for errors */
    bool ended;
    bool has_sums;              /* the pages of the file have checksums */
    int64_t memory;             /* if the cursor returns all pairs of one
                                   memory, the id of that memory; else 0 */
    int64_t pairs_given;        /* returned so far */
};

enum status pair_cursor_open(struct pair_cursor **out, struct store *s,
                             const struct pair_filter *f, struct err *e)
{
    struct pair_cursor *c = calloc(1, sizeof *c);
    enum status st;
    int rc;

    *out = NULL;
    if (!c) return err_nomem(e, "cursor");
    c->path = strdup(s->path);
    c->has_sums = s->has_sums;
    if (!f->origin && !f->document && !f->source && !f->target && !f->after)
        c->memory = f->memory;
    st = c->path ? store_connect_again(s, &c->db, e)
                 : err_nomem(e, "file name");
    if (!st) {
        /* SQLite takes its snapshot of the file at the first read. */
        rc = sqlite3_exec(c->db, "BEGIN; SELECT uuid FROM head", NULL, NULL,
                          NULL);
        if (!rc)
            rc = prepare_filter(c->db, filter_has_hash(f)
                                ? BY_TEXT(PAIR_COLUMNS)
                                : BY_PAIR(PAIR_COLUMNS), f, &c->row);
        if (rc) st = store_error(c->db, s->path, rc, e);
    }
    if (st) pair_cursor_close(c);
    else *out = c;
    return st;
}

/* A B-tree whose interior pages are damaged can lack rows without any error.
 * The index pair_text is another tree, so its rows are counted. Files with
 * page checksums do not need this: every page that is read was verified. */
static enum status cursor_check_count(struct pair_cursor *c, struct err *e)
{
    sqlite3_stmt *row = NULL;
    int64_t n = -1;
    char why[100];
    int rc = sqlite3_prepare_v2(c->db, store_sql(Q_COUNT_PAIRS), -1, &row,
                                NULL);

    if (!rc) rc = sqlite3_bind_int64(row, 1, c->memory);
    if (!rc) rc = sqlite3_step(row);
    if (rc == SQLITE_ROW) n = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    if (rc == SQLITE_DONE)
        return store_damaged(c->path, "its pairs cannot be counted", e);
    if (rc != SQLITE_ROW) return store_error(c->db, c->path, rc, e);
    if (n == c->pairs_given) return ST_OK;
    snprintf(why, sizeof why, "%lld pairs were read from the table, but its "
             "index lists %lld", (long long)c->pairs_given, (long long)n);
    return store_damaged(c->path, why, e);
}

enum status pair_cursor_next(struct pair_cursor *c, struct pair *out,
                             bool *found, struct err *e)
{
    int rc = c->ended ? SQLITE_DONE : sqlite3_step(c->row);
    bool ends_now = !c->ended && rc == SQLITE_DONE;

    *found = rc == SQLITE_ROW;
    c->ended = !*found;
    if (!*found && rc != SQLITE_DONE)
        return store_error(c->db, c->path, rc, e);
    c->pairs_given += *found;
    if (ends_now && c->memory && !c->has_sums)
        return cursor_check_count(c, e);
    if (!*found || read_pair(c->row, out)) return ST_OK;
    *found = false;
    c->ended = true;
    return report_damaged_pair(c->path, out->id, e);
}

void pair_cursor_close(struct pair_cursor *c)
{
    if (!c) return;
    sqlite3_finalize(c->row);
    sqlite3_close(c->db);
    free(c->path);
    free(c);
}
