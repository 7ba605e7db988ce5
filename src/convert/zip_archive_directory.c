/* zip_archive_directory.c - reads the directory of a zip archive: the list of
 * its entries, which is followed by the end record. A zip64 archive has a
 * second end record before that one, with numbers of 64 bits.
 *
 * Nothing in the archive is believed before it is tested: the directory lies
 * before its end records, the entries before the directory, no two entries
 * overlap, and no size is impossible for the packed bytes. The local headers
 * before the entries repeat what the directory says, and may leave it out, so
 * zip_archive_entry.c takes only the place of the bytes from them. Archives in
 * several parts are refused. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/invariant.h"
#include "base/load_le.h"
#include "convert/zip_archive_internal.h"

#define ENTRIES_MAX 1000000
#define DIRECTORY_MAX ((uint64_t)256 << 20)
#define DEFLATE_RATIO 1032      /* no byte stands for more than this */

#define END_SIGN 0x06054b50
#define END_SIZE 22
#define END_COMMENT_MAX 65535
#define LOCATOR_SIGN 0x07064b50
#define LOCATOR_SIZE 20
#define END64_SIGN 0x06064b50
#define END64_SIZE 56
#define ENTRY_SIGN 0x02014b50
#define ENTRY_SIZE 46
#define EXTRA_ZIP64 1

#define FLAGS_ENCRYPTED (1u << 0 | 1u << 6 | 1u << 13)
#define MADE_BY_UNIX 3

/* What the end records say. */
struct zip_end {
    uint64_t n;                 /* entries */
    uint64_t at, size;          /* of the directory */
    uint64_t limit;             /* where the end records begin */
};

/* One entry of the directory, as stored. */
struct raw_entry {
    const uint8_t *fixed;       /* [ENTRY_SIZE] */
    const uint8_t *name, *extra;
    size_t name_size, extra_size;
};

static enum status zip_bad(struct zip_archive *a, const char *what,
                           struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: damaged zip archive: %s", a->in->name,
                   what);
}

/* ---- the end records ---- */

/* Find the end record in the last n bytes: its comment fills the rest. */
static const uint8_t *find_end(const uint8_t *tail, size_t n)
{
    for (size_t i = n - END_SIZE + 1; i-- > 0;)
        if (load_u32(tail + i) == END_SIGN &&
            load_u16(tail + i + 20) == n - i - END_SIZE)
            return tail + i;
    return NULL;
}

/* Whether a number of the end record agrees with that of zip64. All bits set
 * says that only zip64 has it. */
static bool agrees(uint64_t number, uint64_t all_set, uint64_t number64)
{
    return number == all_set || number == number64;
}

static enum status read_end64(struct zip_archive *a, struct zip_end *end,
                              const uint8_t *locator, struct err *e)
{
    struct zip_end old = *end;
    uint64_t at = load_u64(locator + 8);
    uint8_t b[END64_SIZE];
    enum status st;

    if (load_u32(locator + 4) || load_u32(locator + 16) > 1)
        return zip_bad(a, "it has several parts", e);
    if (at > old.limit || old.limit - at < LOCATOR_SIZE + END64_SIZE)
        return zip_bad(a, "its zip64 end record lies outside of it", e);
    st = file_stream_read(a->in, at, b, sizeof b, e);
    if (st) return st;
    if (load_u32(b) != END64_SIGN)
        return zip_bad(a, "its zip64 end record is missing", e);
    *end = (struct zip_end){ load_u64(b + 32), load_u64(b + 48),
                             load_u64(b + 40), at };
    if (load_u32(b + 16) || load_u32(b + 20) || load_u64(b + 24) != end->n)
        return zip_bad(a, "it has several parts", e);
    if (!agrees(old.n, 0xffff, end->n) ||
        !agrees(old.at, 0xffffffff, end->at) ||
        !agrees(old.size, 0xffffffff, end->size))
        return zip_bad(a, "its two end records differ", e);
    return ST_OK;
}

/* The end record is at file offset `at`. */
static enum status parse_end(struct zip_archive *a, struct zip_end *end,
                             const uint8_t *b, uint64_t at, struct err *e)
{
    uint8_t locator[LOCATOR_SIZE];
    enum status st;

    *end = (struct zip_end){ load_u16(b + 10), load_u32(b + 16),
                             load_u32(b + 12), at };
    if (at >= LOCATOR_SIZE) {
        st = file_stream_read(a->in, at - LOCATOR_SIZE, locator,
                              sizeof locator, e);
        if (st) return st;
        if (load_u32(locator) == LOCATOR_SIGN)
            return read_end64(a, end, locator, e);
    }
    if (load_u16(b + 4) || load_u16(b + 6) || load_u16(b + 8) != end->n)
        return zip_bad(a, "it has several parts", e);
    return ST_OK;
}

static enum status check_end_record(struct zip_archive *a,
                                    const struct zip_end *end, struct err *e)
{
    if (end->at > end->limit || end->size > end->limit - end->at)
        return zip_bad(a, "its directory lies outside of it", e);
    if (end->n > ENTRIES_MAX)
        return err_set(e, ST_LIMIT, "%s: has %" PRIu64 " entries; at most %d "
                       "can be read", a->in->name, end->n, ENTRIES_MAX);
    if (end->size > DIRECTORY_MAX)
        return err_set(e, ST_LIMIT, "%s: its directory has %" PRIu64 " bytes; "
                       "at most %" PRIu64 " can be read", a->in->name,
                       end->size, DIRECTORY_MAX);
    if (end->n * ENTRY_SIZE > end->size)
        return zip_bad(a, "its directory is too short", e);
    return ST_OK;
}

static enum status read_end(struct zip_archive *a, struct zip_end *end,
                            struct err *e)
{
    const size_t most = END_SIZE + END_COMMENT_MAX;
    size_t n = a->in->size < most ? (size_t)a->in->size : most;
    uint64_t from = a->in->size - n;
    uint8_t *tail = malloc(n + 1);
    const uint8_t *found;
    enum status st;

    if (!tail) return err_nomem(e, a->in->name);
    st = file_stream_read(a->in, from, tail, n, e);
    found = st || n < END_SIZE ? NULL : find_end(tail, n);
    if (found)
        st = parse_end(a, end, found, from + (uint64_t)(found - tail), e);
    else if (!st)
        st = err_set(e, ST_FORMAT, "%s: not a zip archive, or truncated: its "
                     "directory is not there", a->in->name);
    free(tail);
    return st ? st : check_end_record(a, end, e);
}

/* ---- entries ---- */

static bool has_dots(const char *name)
{
    for (const char *p = name;; p++) {
        size_t n = strcspn(p, "/\\");

        if (n == 2 && p[0] == '.' && p[1] == '.') return true;
        p += n;
        if (!*p) return false;
    }
}

/* What is wrong with a name of n bytes; NULL if nothing is. */
static const char *bad_name(const char *name, size_t n)
{
    if (!n) return "has no name";
    if (*name == '/' || *name == '\\') return "has an absolute path";
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return "has a control character in its name";
    if (has_dots(name)) return "has \"..\" in its path";
    return NULL;
}

static enum status bad_entry(struct zip_archive *a, const char *name,
                             const char *what, struct err *e)
{
    char shown[120];
    size_t n = 0;

    for (; name[n] && n + 1 < sizeof shown; n++)
        shown[n] = (unsigned char)name[n] < 0x20 || name[n] == 0x7f ? '?'
                                                                    : name[n];
    shown[n] = 0;
    return err_set(e, ST_FORMAT, "%s: entry \"%s\" %s", a->in->name, shown,
                   what);
}

/* The data of extra field `id`, or NULL. */
static const uint8_t *find_extra(const struct raw_entry *r, unsigned id,
                                 size_t *size)
{
    const uint8_t *p = r->extra;

    for (size_t left = r->extra_size; left >= 4;) {
        *size = load_u16(p + 2);
        if (*size > left - 4) return NULL;
        if (load_u16(p) == id) return p + 4;
        p += 4 + *size;
        left -= 4 + *size;
    }
    return NULL;
}

/* Replace the sizes and the offset that have all bits set by those of the zip64
 * field, which has only these, in this order. */
static bool widen(const struct raw_entry *r, struct zip_entry *z)
{
    uint64_t *number[] = { &z->size, &z->packed, &z->header };
    size_t left = 0;
    const uint8_t *p = find_extra(r, EXTRA_ZIP64, &left);

    for (int i = 0; i < 3; i++) {
        if (*number[i] != 0xffffffff) continue;
        if (!p || left < 8) return false;
        *number[i] = load_u64(p);
        p += 8;
        left -= 8;
    }
    return true;
}

/* Folders have a '/' at the end of their name. Symbolic links contain their
 * target. */
static bool is_regular(const struct raw_entry *r)
{
    if (r->name[r->name_size - 1] == '/') return false;
    return r->fixed[5] != MADE_BY_UNIX ||
           !S_ISLNK(load_u32(r->fixed + 38) >> 16);
}

static const char *bad_facts(const struct raw_entry *r,
                             const struct zip_entry *z)
{
    if (load_u16(r->fixed + 8) & FLAGS_ENCRYPTED) return "is encrypted";
    if (z->method == ZIP_STORED && z->size != z->packed)
        return "is stored, but has two sizes";
    if (z->method == ZIP_DEFLATED && z->size / DEFLATE_RATIO > z->packed)
        return "cannot have the size that the archive says";
    return NULL;
}

/* Check an entry and append it, if it is a file. z->end is set later. */
static enum status add_entry(struct zip_archive *a, const struct zip_end *end,
                             const struct raw_entry *r, struct err *e)
{
    const uint8_t *f = r->fixed;
    struct zip_entry z = { .method = load_u16(f + 10), .crc = load_u32(f + 16),
                           .packed = load_u32(f + 20),
                           .size = load_u32(f + 24),
                           .header = load_u32(f + 42) };
    char *name = strndup((const char *)r->name, r->name_size);
    const char *wrong;

    if (!name) return err_nomem(e, a->in->name);
    wrong = bad_name(name, r->name_size);
    if (!wrong && !widen(r, &z)) wrong = "has no zip64 sizes";
    if (!wrong) wrong = bad_facts(r, &z);
    if (!wrong && (z.header > end->at || z.packed > end->at - z.header ||
                   end->at - z.header - z.packed <
                       ZIP_LOCAL_HEADER + r->name_size))
        wrong = "lies outside of the archive";
    if (wrong) {
        enum status st = bad_entry(a, name, wrong, e);

        free(name);
        return st;
    }
    z.name = name;
    if (is_regular(r)) a->entries[a->n++] = z;
    else free(name);
    return ST_OK;
}

static enum status add_entries(struct zip_archive *a, const struct zip_end *end,
                               const uint8_t *p, struct err *e)
{
    size_t left = (size_t)end->size;
    enum status st = ST_OK;

    for (uint64_t i = 0; i < end->n && !st; i++) {
        struct raw_entry r = { .fixed = p };
        size_t n = ENTRY_SIZE;

        if (left < n || load_u32(p) != ENTRY_SIGN)
            return zip_bad(a, "its directory is not valid", e);
        r.name = p + n;
        r.name_size = load_u16(p + 28);
        r.extra = r.name + r.name_size;
        r.extra_size = load_u16(p + 30);
        n += r.name_size + r.extra_size + load_u16(p + 32);
        if (left < n) return zip_bad(a, "its directory is not valid", e);
        st = add_entry(a, end, &r, e);
        p += n;
        left -= n;
    }
    return st;
}

/* ---- all entries together ---- */

static int compare_entry_names(const void *x, const void *y)
{
    const struct zip_entry *const *a = x, *const *b = y;

    return strcmp((*a)->name, (*b)->name);
}

static int compare_headers(const void *x, const void *y)
{
    const struct zip_entry *const *a = x, *const *b = y;

    return (*a)->header < (*b)->header ? -1 : (*a)->header > (*b)->header;
}

static enum status check_names_differ(struct zip_archive *a,
                                      struct zip_entry **by, struct err *e)
{
    qsort(by, (size_t)a->n, sizeof *by, compare_entry_names);
    for (int i = 1; i < a->n; i++)
        if (!strcmp(by[i - 1]->name, by[i]->name))
            return bad_entry(a, by[i]->name, "occurs twice", e);
    return ST_OK;
}

/* Set where each entry ends. Folders and links between the entries do not
 * matter: they have few bytes, and nobody reads them. */
static enum status check_no_overlap(struct zip_archive *a,
                                    struct zip_entry **by, uint64_t limit,
                                    struct err *e)
{
    qsort(by, (size_t)a->n, sizeof *by, compare_headers);
    for (int i = 0; i < a->n; i++) {
        struct zip_entry *z = by[i];

        z->end = i + 1 < a->n ? by[i + 1]->header : limit;
        assert(z->header <= z->end);
        if (z->end - z->header < ZIP_LOCAL_HEADER + strlen(z->name) ||
            z->end - z->header - ZIP_LOCAL_HEADER - strlen(z->name) <
                z->packed)
            return bad_entry(a, z->name, "overlaps another one", e);
    }
    return ST_OK;
}

static enum status check_entries(struct zip_archive *a,
                                 const struct zip_end *end, struct err *e)
{
    struct zip_entry **by = malloc(((size_t)a->n + 1) * sizeof *by);
    enum status st;

    if (!by) return err_nomem(e, a->in->name);
    for (int i = 0; i < a->n; i++) by[i] = &a->entries[i];
    st = check_names_differ(a, by, e);
    if (!st) st = check_no_overlap(a, by, end->at, e);
    free(by);
    return st;
}

enum status zip_directory_read(struct zip_archive *a, struct err *e)
{
    struct zip_end end = { 0 };
    uint8_t *directory;
    enum status st = read_end(a, &end, e);

    if (st) return st;
    a->entries = calloc((size_t)end.n + 1, sizeof *a->entries);
    directory = malloc((size_t)end.size + 1);
    if (!a->entries || !directory) {
        free(directory);
        return err_nomem(e, a->in->name);
    }
    st = file_stream_read(a->in, end.at, directory, (size_t)end.size, e);
    if (!st) st = add_entries(a, &end, directory, e);
    free(directory);
    return st ? st : check_entries(a, &end, e);
}
