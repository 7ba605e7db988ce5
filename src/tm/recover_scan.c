/* recover_scan.c - finds rows of the table `text` in the bytes of a file.
 *
 * Nothing in the file is trusted: every byte of every page is tried as the
 * beginning of a row. Few places look like a row of seven columns with the
 * right types, and of those only rows that match their own 64-bit hash are
 * reported. So damage to page headers, cell pointers or interior pages of the
 * B-trees does not matter. The layout of rows is SQLite's (fileformat2.html,
 * "B-tree Cell Format" and "Record Format").
 *
 * scan_shape() checks all lengths of a row against each other before anything
 * else uses them; the asserts below state what it has established. */
#include <stdlib.h>
#include <string.h>

#include "base/sqlpage.h"
#include "base/strbuf.h"
#include "tm/recover.h"
#include "tm/store_internal.h"

enum { SCAN_PAGE = 8192, TEXT_COLUMNS = 7 };
/* The columns of `text`, in order. */
enum { COL_ID, COL_MEMORY, COL_HASH, COL_TAGGED, COL_HIDDEN, COL_SOURCE,
       COL_TARGET };

struct row_shape {
    uint64_t payload;           /* bytes of the record */
    int64_t id;
    size_t header;              /* bytes of the record's header */
    uint64_t types[TEXT_COLUMNS];       /* serial types of SQLite */
};

struct scanning {
    sqlite3_file *file;
    int64_t bytes;
    scan_fn *fn;
    void *user;
    uint8_t page[SCAN_PAGE];    /* the page that is searched */
    uint8_t next[SCAN_PAGE];    /* an overflow page */
    struct strbuf record;       /* of the present row */
};

/* ---- numbers ------------------------------------------------------------- */

static bool scan_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t v = 0;

    for (int i = 0; i < 9 && *at < end; i++) {
        uint8_t byte = *(*at)++;

        if (i == 8) v = v << 8 | byte;
        else v = v << 7 | (byte & 0x7f);
        if (i == 8 || !(byte & 0x80)) {
            *out = v;
            return true;
        }
    }
    return false;
}

static uint64_t type_bytes(uint64_t type)
{
    static const uint8_t fixed[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0 };

    return type < 10 ? fixed[type] : type < 12 ? UINT32_MAX : (type - 12) / 2;
}

static bool is_integer_type(uint64_t type)
{
    return (type >= 1 && type <= 6) || type == 8 || type == 9;
}

static bool is_text_type(uint64_t type)
{
    return type >= 13 && type % 2;
}

static int64_t read_integer(const uint8_t *at, uint64_t type)
{
    uint64_t n = type_bytes(type);
    int64_t v = n && at[0] & 0x80 ? -1 : 0;

    if (type == 8 || type == 9) return (int64_t)type - 8;
    for (uint64_t i = 0; i < n; i++)
        v = (int64_t)((uint64_t)v << 8 | at[i]);
    return v;
}

/* ---- rows ---------------------------------------------------------------- */

/* Hidden texts are left out: they have no visible pair. */
static bool types_fit(const struct row_shape *r)
{
    const uint64_t *t = r->types;

    return t[COL_ID] == 0 && is_integer_type(t[COL_MEMORY]) &&
           is_integer_type(t[COL_HASH]) && (t[COL_TAGGED] == 8 ||
                                            t[COL_TAGGED] == 9) &&
           t[COL_HIDDEN] == 0 && is_text_type(t[COL_SOURCE]) &&
           is_text_type(t[COL_TARGET]);
}

/* Whether a row begins at *at. If so, *at is moved to its record. */
static bool scan_shape(const struct scanning *s, const uint8_t **at,
                       const uint8_t *end, struct row_shape *r)
{
    const uint8_t *record;
    uint64_t id, header, sum = 0;

    if (!scan_varint(at, end, &r->payload) || r->payload < TEXT_COLUMNS ||
        r->payload > (uint64_t)s->bytes || !scan_varint(at, end, &id) ||
        id >> 63 || !(id >> 32) || !(uint32_t)id)
        return false;
    r->id = (int64_t)id;
    record = *at;
    if (!scan_varint(at, end, &header) || header < TEXT_COLUMNS) return false;
    for (int i = 0; i < TEXT_COLUMNS; i++) {
        if (!scan_varint(at, end, &r->types[i])) return false;
        if (type_bytes(r->types[i]) > r->payload) return false;
        sum += type_bytes(r->types[i]);
    }
    r->header = (size_t)header;
    if ((uint64_t)(*at - record) != header || header + sum != r->payload)
        return false;
    *at = record;
    return types_fit(r);
}

/* How many bytes of a record are in the page itself, by SQLite's rule. The
 * others are in overflow pages. */
static uint64_t local_bytes(uint64_t payload, uint64_t usable)
{
    uint64_t most = usable - 35, least = (usable - 12) * 32 / 255 - 23, n;

    if (payload <= most) return payload;
    assert(least < most && most < payload);
    n = least + (payload - least) % (usable - 4);
    return n <= most ? n : least;
}

static uint32_t page_number(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

/* The missing part of a page at the end of a truncated file reads as zeros. */
static bool read_page(struct scanning *s, int64_t number, uint8_t *to)
{
    int rc;

    if (number < 1 || (number - 1) * SCAN_PAGE >= s->bytes) return false;
    rc = s->file->pMethods->xRead(s->file, to, SCAN_PAGE,
                                  (number - 1) * SCAN_PAGE);
    return !rc || rc == SQLITE_IOERR_SHORT_READ;
}

/* Copies the record to s->record. It may continue in a chain of overflow
 * pages. *nomem is set when out of memory. */
static bool read_record(struct scanning *s, const uint8_t *at,
                        uint64_t payload, uint64_t usable, bool *nomem)
{
    uint64_t local = local_bytes(payload, usable), left = payload - local;
    uint64_t room = (uint64_t)(s->page + usable - at);
    uint32_t number;

    if (local + (left ? 4 : 0) > room) return false;
    strbuf_reset(&s->record);
    *nomem = !strbuf_add(&s->record, (const char *)at, local);
    number = left ? page_number(at + local) : 0;
    while (left && !*nomem) {
        uint64_t n = left < usable - 4 ? left : usable - 4;

        if (!read_page(s, number, s->next)) return false;
        *nomem = !strbuf_add(&s->record, (const char *)s->next + 4, n);
        number = page_number(s->next);
        left -= n;
    }
    assert(*nomem || s->record.len == payload);
    return !*nomem;
}

static bool read_columns(const struct scanning *s, const struct row_shape *r,
                         struct scanned_text *t)
{
    const uint8_t *at = (const uint8_t *)s->record.data + r->header;
    const uint8_t *column[TEXT_COLUMNS];

    for (int i = 0; i < TEXT_COLUMNS; i++) {
        column[i] = at;
        at += type_bytes(r->types[i]);
    }
    assert((const char *)at == s->record.data + r->payload);
    *t = (struct scanned_text){
        .id = r->id,
        .memory = read_integer(column[COL_MEMORY], r->types[COL_MEMORY]),
        .hash = read_integer(column[COL_HASH], r->types[COL_HASH]),
        .unit = { .tagged = r->types[COL_TAGGED] == 9,
                  .source = { (const char *)column[COL_SOURCE],
                              type_bytes(r->types[COL_SOURCE]) },
                  .target = { (const char *)column[COL_TARGET],
                              type_bytes(r->types[COL_TARGET]) } } };
    return t->hash == text_hash(t->memory, &t->unit) &&
           !unit_check(&t->unit, NULL);
}

/* In files with page checksums the pages have eight bytes less for data. Both
 * sizes are tried; the hash shows which one is right. */
static int try_row(struct scanning *s, size_t offset, bool *nomem)
{
    static const int reserved[] = { SQLPAGE_RESERVED, 0 };
    const uint8_t *at = s->page + offset;
    struct scanned_text t;
    struct row_shape r;

    assert(offset < SCAN_PAGE);
    if (!scan_shape(s, &at, s->page + SCAN_PAGE, &r)) return 0;
    for (int i = 0; i < 2 && !*nomem; i++)
        if (read_record(s, at, r.payload, (uint64_t)(SCAN_PAGE - reserved[i]),
                        nomem) && read_columns(s, &r, &t))
            return s->fn(s->user, &t);
    return 0;
}

enum status recover_scan(sqlite3_file *file, scan_fn *fn, void *user,
                         struct err *e)
{
    struct scanning *s = malloc(sizeof *s);
    sqlite3_int64 bytes = 0;
    bool nomem = !s;
    int stop = 0;

    if (nomem || file->pMethods->xFileSize(file, &bytes)) bytes = 0;
    if (s) {
        s->file = file;
        s->bytes = bytes;
        s->fn = fn;
        s->user = user;
        strbuf_init(&s->record, 0);
    }
    for (int64_t p = 1; !nomem && !stop && (p - 1) * SCAN_PAGE < bytes; p++) {
        if (!read_page(s, p, s->page)) continue;
        for (size_t i = 0; !nomem && !stop && i < SCAN_PAGE; i++)
            stop = try_row(s, i, &nomem);
    }
    if (s) strbuf_release(&s->record);
    free(s);
    if (nomem) return err_nomem(e, "reading a damaged file");
    return stop ? ST_CANCELED : ST_OK;
}
