/* zip_archive.c - opens a zip archive with libzip, which reads it through a
 * stream of ours, and checks its entries.
 *
 * zip_archive_open() tests all that the directory of the archive says, so that
 * nothing that it returns has a size that the archive cannot contain. */
#include "convert/zip_archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/invariant.h"
#include "convert/zip_archive_internal.h"

#define ENTRIES_MAX 1000000
#define LOCAL_HEADER 30         /* bytes before the name of an entry */
#define DEFLATE_RATIO 1032      /* no byte stands for more than this */

/* ---- the stream as libzip sees it ---- */

static zip_int64_t source_read(struct zip_archive *a, void *data,
                               uint64_t len)
{
    uint64_t left = a->in->size - a->at;
    size_t n = (size_t)(len < left ? len : left);
    enum status st;

    assert(a->at <= a->in->size);
    st = file_stream_read(a->in, a->at, data, n, &a->why);
    if (st) {
        zip_error_set(&a->error, st == ST_NOMEM ? ZIP_ER_MEMORY : ZIP_ER_READ,
                      EIO);
        return -1;
    }
    a->at += n;
    return (zip_int64_t)n;
}

static zip_int64_t source_seek(struct zip_archive *a, void *data,
                               uint64_t len)
{
    zip_int64_t to = zip_source_seek_compute_offset(a->at, a->in->size, data,
                                                    len, &a->error);

    if (to < 0) return -1;
    a->at = (uint64_t)to;
    return 0;
}

static zip_int64_t source_stat(struct zip_archive *a, struct zip_stat *out,
                               uint64_t len)
{
    if (len < sizeof *out) return -1;
    zip_stat_init(out);
    out->valid = ZIP_STAT_SIZE;
    out->size = a->in->size;
    return sizeof *out;
}

static zip_int64_t source_command(void *user, void *data, zip_uint64_t len,
                                  zip_source_cmd_t command)
{
    struct zip_archive *a = user;

    switch (command) {
    case ZIP_SOURCE_OPEN: a->at = 0; return 0;
    case ZIP_SOURCE_READ: return source_read(a, data, len);
    case ZIP_SOURCE_CLOSE: return 0;
    case ZIP_SOURCE_STAT: return source_stat(a, data, len);
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&a->error, data, len);
    case ZIP_SOURCE_FREE: return 0;
    case ZIP_SOURCE_SEEK: return source_seek(a, data, len);
    case ZIP_SOURCE_TELL: return (zip_int64_t)a->at;
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_SEEKABLE;
    default: zip_error_set(&a->error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

enum status zip_archive_error(struct zip_archive *a, const char *name,
                              zip_error_t *error, struct err *e)
{
    int code = zip_error_code_zip(error);

    if (a->why.msg[0]) return err_set(e, a->why.status, "%s", a->why.msg);
    if (code == ZIP_ER_MEMORY) return err_nomem(e, name);
    if (code == ZIP_ER_NOZIP)
        return err_set(e, ST_FORMAT, "%s: not a zip archive, or truncated: "
                       "its directory is not there", name);
    return err_set(e, ST_FORMAT, "%s: damaged zip archive: %s", name,
                   zip_error_strerror(error));
}

static enum status open_with_libzip(struct zip_archive *a, struct err *e)
{
    const char *name = a->in->name;
    zip_error_t error;
    zip_source_t *source;
    enum status st = ST_OK;

    zip_error_init(&error);
    source = zip_source_function_create(source_command, a, &error);
    if (source) a->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (!a->zip) {
        st = zip_archive_error(a, name, &error, e);
        zip_source_free(source);
    }
    zip_error_fini(&error);
    return st;
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

/* What is wrong with a name; NULL if nothing is. */
static const char *bad_name(const char *name)
{
    if (!*name) return "has no name";
    if (*name == '/' || *name == '\\') return "has an absolute path";
    if (has_dots(name)) return "has \"..\" in its path";
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return "has a control character in its name";
    return NULL;
}

/* Text for a message, without control characters. */
static void show_name(const char *name, char *out, size_t size)
{
    size_t n = 0;

    for (; name[n] && n + 1 < size; n++)
        out[n] = (unsigned char)name[n] < 0x20 || name[n] == 0x7f ? '?'
                                                                  : name[n];
    out[n] = 0;
}

static enum status bad_entry(struct zip_archive *a, const char *name,
                             const char *what, struct err *e)
{
    char shown[120];

    show_name(name, shown, sizeof shown);
    return err_set(e, ST_FORMAT, "%s: entry \"%s\" %s", a->in->name, shown,
                   what);
}

/* Folders have a '/' at the end of their name. Symbolic links contain their
 * target. */
static bool is_regular(struct zip_archive *a, uint64_t index, const char *name)
{
    zip_uint8_t system = ZIP_OPSYS_DOS;
    zip_uint32_t attributes = 0;
    size_t n = strlen(name);

    if (n && name[n - 1] == '/') return false;
    if (zip_file_get_external_attributes(a->zip, index, 0, &system,
                                         &attributes))
        return true;
    return system != ZIP_OPSYS_UNIX || !S_ISLNK(attributes >> 16);
}

static const char *bad_sizes(const struct zip_stat *s)
{
    if (s->encryption_method != ZIP_EM_NONE) return "is encrypted";
    if (s->comp_method == ZIP_CM_STORE && s->size != s->comp_size)
        return "is stored, but has two sizes";
    if (s->comp_method == ZIP_CM_DEFLATE &&
        s->size / DEFLATE_RATIO > s->comp_size)
        return "cannot have the size that the archive says";
    return NULL;
}

static enum status add_entry(struct zip_archive *a, uint64_t index,
                             uint64_t *total, struct err *e)
{
    const zip_uint64_t need = ZIP_STAT_NAME | ZIP_STAT_SIZE |
                              ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC |
                              ZIP_STAT_COMP_METHOD |
                              ZIP_STAT_ENCRYPTION_METHOD;
    struct zip_entry *z = &a->entries[a->n];
    const char *wrong;
    struct zip_stat s;

    if (zip_stat_index(a->zip, index, ZIP_FL_ENC_RAW, &s))
        return zip_archive_error(a, a->in->name, zip_get_error(a->zip), e);
    if ((s.valid & need) != need)
        return err_set(e, ST_FORMAT, "%s: entry %" PRIu64 " is incomplete",
                       a->in->name, index);
    wrong = bad_name(s.name);
    if (!wrong) wrong = bad_sizes(&s);
    if (wrong) return bad_entry(a, s.name, wrong, e);
    if (s.comp_size > a->in->size - *total ||
        LOCAL_HEADER + strlen(s.name) > a->in->size - *total - s.comp_size)
        return bad_entry(a, s.name, "overlaps another one, or lies outside "
                         "of the archive", e);
    *total += s.comp_size + LOCAL_HEADER + strlen(s.name);
    if (!is_regular(a, index, s.name)) return ST_OK;
    *z = (struct zip_entry){ strdup(s.name), index, s.size, s.comp_size,
                             s.crc, s.comp_method };
    if (!z->name) return err_nomem(e, a->in->name);
    a->n++;
    return ST_OK;
}

static int compare_entry_names(const void *x, const void *y)
{
    const char *const *a = x, *const *b = y;

    return strcmp(*a, *b);
}

static enum status check_names_differ(struct zip_archive *a, struct err *e)
{
    const char **names = calloc((size_t)a->n + 1, sizeof *names);
    enum status st = ST_OK;

    if (!names) return err_nomem(e, a->in->name);
    for (int i = 0; i < a->n; i++) names[i] = a->entries[i].name;
    qsort(names, (size_t)a->n, sizeof *names, compare_entry_names);
    for (int i = 1; i < a->n && !st; i++)
        if (!strcmp(names[i - 1], names[i]))
            st = bad_entry(a, names[i], "occurs twice", e);
    free(names);
    return st;
}

static enum status add_entries(struct zip_archive *a, struct err *e)
{
    zip_int64_t n = zip_get_num_entries(a->zip, 0);
    uint64_t total = 0;
    enum status st = ST_OK;

    if (n > ENTRIES_MAX)
        return err_set(e, ST_LIMIT, "%s: has more than %d entries",
                       a->in->name, ENTRIES_MAX);
    a->entries = calloc((size_t)n + 1, sizeof *a->entries);
    if (!a->entries) return err_nomem(e, a->in->name);
    for (zip_int64_t i = 0; i < n && !st; i++)
        st = add_entry(a, (uint64_t)i, &total, e);
    return st ? st : check_names_differ(a, e);
}

enum status zip_archive_open(struct zip_archive **out, struct file_stream *in,
                             struct err *e)
{
    struct zip_archive *a = calloc(1, sizeof *a);
    enum status st;

    *out = NULL;
    if (!a) {
        st = err_nomem(e, in->name);
        file_stream_close(in);
        return st;
    }
    a->in = in;
    zip_error_init(&a->error);
    st = open_with_libzip(a, e);
    if (!st) st = add_entries(a, e);
    if (st) zip_archive_close(a);
    else *out = a;
    return st;
}

void zip_archive_close(struct zip_archive *a)
{
    if (!a) return;
    if (a->zip) zip_discard(a->zip);
    zip_error_fini(&a->error);
    file_stream_close(a->in);
    for (int i = 0; i < a->n; i++) free(a->entries[i].name);
    free(a->entries);
    free(a);
}

const char *zip_archive_name(const struct zip_archive *a)
{
    return a->in->name;
}

int zip_archive_count(const struct zip_archive *a) { return a->n; }

const char *zip_archive_entry_name(const struct zip_archive *a, int i)
{
    assert(i >= 0 && i < a->n);
    return a->entries[i].name;
}

uint64_t zip_archive_entry_size(const struct zip_archive *a, int i)
{
    assert(i >= 0 && i < a->n);
    return a->entries[i].size;
}

enum status zip_archive_recognize(bool *is_zip, struct file_stream *in,
                                  struct err *e)
{
    uint8_t b[4];
    enum status st;

    *is_zip = false;
    if (in->size < sizeof b) return ST_OK;
    st = file_stream_read(in, 0, b, sizeof b, e);
    if (st) return st;
    *is_zip = !memcmp(b, "PK\3\4", 4) || !memcmp(b, "PK\5\6", 4);
    return ST_OK;
}
