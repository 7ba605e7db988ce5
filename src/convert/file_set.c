/* file_set.c - lists the files of a folder or of a zip archive.
 *
 * The names are sorted. Names that begin with a '.' are left out, also those of
 * folders, and so is the folder __MACOSX, which macOS adds to archives. A
 * folder is read to a depth of 32 subfolders; links to folders and whatever is
 * no regular file are left out. Links to files are followed: the cache of
 * Hugging Face consists of them. If it has one snapshot of a model, that is the
 * set. Beside a checkpoint, subfolders are not read: they need not belong to
 * the model. */
#include "convert/file_set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "convert/zip_archive.h"

#define FOLDER_DEPTH 32
#define FILES_MAX 100000

struct set_file {
    char *whole;                /* with the subfolder that is left out */
    uint64_t size;
    int entry;                  /* of the archive */
};

struct file_set {
    char *path;
    char *chosen;               /* a name, or NULL; then the set has no
                                   subfolders */
    struct zip_archive *archive;        /* NULL: a folder */
    struct set_file *files;     /* [n], sorted by name */
    size_t n, cap;
    size_t skip;                /* bytes at the start of all names, for the
                                   subfolder that is left out */
};

/* Add a file; the set owns `name` afterwards. */
static enum status set_add(struct file_set *s, char *name, uint64_t size,
                           int entry, struct err *e)
{
    if (!name || !mem_grow(&s->files, &s->cap, s->n + 1, sizeof *s->files)) {
        free(name);
        return err_nomem(e, s->path);
    }
    s->files[s->n++] = (struct set_file){ name, size, entry };
    return ST_OK;
}

/* ---- folders ---- */

static char *join_path(const char *folder, const char *name)
{
    size_t a = strlen(folder), b = strlen(name);
    char *path = malloc(a + b + 2);

    if (!path) return NULL;
    memcpy(path, folder, a);
    if (a && folder[a - 1] != '/') path[a++] = '/';
    memcpy(path + a, name, b + 1);
    return path;
}

static enum status list_folder(struct file_set *s, const char *inside,
                               int depth, struct err *e);

/* Add a file, or the files of a subfolder. `name` is relative to the set. */
static enum status list_item(struct file_set *s, const char *name, int depth,
                             struct err *e)
{
    char *path = join_path(s->path, name);
    struct stat sb;
    bool link, found;

    if (!path) return err_nomem(e, s->path);
    found = !lstat(path, &sb);
    link = found && S_ISLNK(sb.st_mode);
    if (link) found = !stat(path, &sb);
    free(path);
    if (found && S_ISDIR(sb.st_mode) && !link)
        return s->chosen ? ST_OK : list_folder(s, name, depth + 1, e);
    if (!found || !S_ISREG(sb.st_mode)) return ST_OK;
    if (s->n == FILES_MAX)
        return err_set(e, ST_LIMIT, "%s: has more than %d files; this is not "
                       "the folder of one model", s->path, FILES_MAX);
    return set_add(s, strdup(name), (uint64_t)sb.st_size, 0, e);
}

static enum status list_items(struct file_set *s, DIR *dir, const char *inside,
                              int depth, struct err *e)
{
    enum status st = ST_OK;
    struct dirent *d;

    while (!st && (errno = 0, d = readdir(dir))) {
        char *name;

        if (d->d_name[0] == '.') continue;
        name = join_path(inside, d->d_name);
        st = name ? list_item(s, name, depth, e) : err_nomem(e, s->path);
        free(name);
    }
    if (!st && errno)
        st = err_set(e, ST_IO, "%s: %s", s->path, strerror(errno));
    return st;
}

static enum status list_folder(struct file_set *s, const char *inside,
                               int depth, struct err *e)
{
    char *path = *inside ? join_path(s->path, inside) : strdup(s->path);
    enum status st;
    DIR *dir;

    if (!path) return err_nomem(e, s->path);
    dir = depth <= FOLDER_DEPTH ? opendir(path) : NULL;
    if (dir)
        st = list_items(s, dir, inside, depth, e);
    else if (depth > FOLDER_DEPTH)
        st = err_set(e, ST_LIMIT, "%s: folders are nested more than %d deep",
                     s->path, FOLDER_DEPTH);
    else
        st = err_set(e, ST_IO, "%s: %s", path, strerror(errno));
    if (dir) closedir(dir);
    free(path);
    return st;
}

/* ---- archives ---- */

static bool is_left_out(const char *name)
{
    return name[0] == '.' || strstr(name, "/.") ||
           !strncmp(name, "__MACOSX/", 9);
}

static enum status list_archive(struct file_set *s, struct err *e)
{
    enum status st = ST_OK;

    for (int i = 0; i < zip_archive_count(s->archive) && !st; i++) {
        const char *name = zip_archive_entry_name(s->archive, i);

        if (!is_left_out(name))
            st = set_add(s, strdup(name),
                         zip_archive_entry_size(s->archive, i), i, e);
    }
    return st;
}

/* ---- the set ---- */

static int compare_files(const void *x, const void *y)
{
    const struct set_file *a = x, *b = y;

    return strcmp(a->whole, b->whole);
}

static void sort_files(struct file_set *s)
{
    if (s->n) qsort(s->files, s->n, sizeof *s->files, compare_files);
}

/* As long as all names begin with the same folder, leave it out. The names are
 * sorted, so that the first and the last one tell. */
static void skip_folders(struct file_set *s)
{
    while (s->n) {
        const char *first = s->files[0].whole + s->skip;
        const char *last = s->files[s->n - 1].whole + s->skip;
        const char *slash = strchr(first, '/');
        size_t k = slash ? (size_t)(slash - first) + 1 : 0;

        if (!k || strncmp(first, last, k)) return;
        s->skip += k;
    }
}

static bool is_in(const struct set_file *f, const char *folder)
{
    return !strncmp(f->whole, folder, strlen(folder));
}

/* Whether the files are the cache of Hugging Face for one model: the folders
 * "blobs", "refs" and "snapshots", of which the last one has links to the
 * first. */
static bool is_cache(const struct file_set *s)
{
    static const char *const folders[] = { "blobs/", "refs/", "snapshots/" };
    bool found[3] = { false };

    for (size_t i = 0; i < s->n; i++) {
        int k = 0;

        while (k < 3 && !is_in(&s->files[i], folders[k])) k++;
        if (k == 3) return false;
        found[k] = true;
    }
    return found[0] && found[1] && found[2];
}

/* Drop the files of a cache that have no names of their own. */
static void keep_snapshots(struct file_set *s)
{
    size_t n = 0;

    if (!is_cache(s)) return;
    for (size_t i = 0; i < s->n; i++)
        if (is_in(&s->files[i], "snapshots/")) s->files[n++] = s->files[i];
        else free(s->files[i].whole);
    s->n = n;
}

static enum status set_new(struct file_set **out, const char *path,
                           struct err *e)
{
    *out = calloc(1, sizeof **out);
    if (*out && ((*out)->path = strdup(path))) return ST_OK;
    free(*out);
    *out = NULL;
    return err_nomem(e, path);
}

/* The stream belongs to the set, also on failure. */
static enum status open_archive(struct file_set **out, struct file_stream *in,
                                struct err *e)
{
    enum status st = set_new(out, file_stream_name(in), e);

    if (st) {
        file_stream_close(in);
        return st;
    }
    st = zip_archive_open(&(*out)->archive, in, e);
    return st ? st : list_archive(*out, e);
}

enum status file_set_open_stream(struct file_set **out, struct file_stream *in,
                                 struct err *e)
{
    enum status st = open_archive(out, in, e);

    if (!st) {
        sort_files(*out);
        return ST_OK;
    }
    file_set_close(*out);
    *out = NULL;
    return st;
}

static enum status open_file(struct file_set **out, const char *path,
                             struct err *e)
{
    struct file_stream *in;
    bool is_zip;
    enum status st = file_stream_open_path(&in, path, e);

    if (st) return st;
    st = zip_archive_recognize(&is_zip, in, e);
    if (!st && is_zip) return open_archive(out, in, e);
    file_stream_close(in);
    if (st) return st;
    return err_set(e, ST_FORMAT, "%s: neither a folder nor a zip archive; name "
                   "the folder with all files of the model, and unpack other "
                   "kinds of archives first", path);
}

/* A checkpoint of PyTorch may be a zip archive too, but what belongs to it is
 * beside it. */
static bool is_checkpoint_path(const char *path)
{
    size_t n = strlen(path);

    return n > 3 && !strcmp(path + n - 3, ".pt");
}

static enum status open_beside(struct file_set **out, const char *path,
                               struct err *e)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *folder = !slash ? strdup(".")
                 : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    enum status st = folder ? set_new(out, folder, e) : err_nomem(e, path);

    free(folder);
    if (!st && !((*out)->chosen = strdup(name))) st = err_nomem(e, path);
    return st ? st : list_folder(*out, "", 0, e);
}

enum status file_set_open(struct file_set **out, const char *path,
                          struct err *e)
{
    enum status st;
    struct stat sb;

    *out = NULL;
    if (stat(path, &sb) && strstr(path, "://"))
        return err_set(e, ST_IO, "%s: addresses cannot be opened; download the "
                       "files first", path);
    if (stat(path, &sb))
        return err_set(e, ST_IO, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(sb.st_mode) && is_checkpoint_path(path)) {
        st = open_beside(out, path, e);
    } else if (S_ISDIR(sb.st_mode)) {
        st = set_new(out, path, e);
        if (!st) st = list_folder(*out, "", 0, e);
        if (!st) keep_snapshots(*out);
    } else {
        st = open_file(out, path, e);
    }
    if (st) {
        file_set_close(*out);
        *out = NULL;
        return st;
    }
    sort_files(*out);
    if (!(*out)->chosen) skip_folders(*out);
    return ST_OK;
}

void file_set_close(struct file_set *s)
{
    if (!s) return;
    zip_archive_close(s->archive);
    for (size_t i = 0; i < s->n; i++) free(s->files[i].whole);
    free(s->files);
    free(s->chosen);
    free(s->path);
    free(s);
}

const char *file_set_path(const struct file_set *s) { return s->path; }
const char *file_set_chosen(const struct file_set *s) { return s->chosen; }
int file_set_count(const struct file_set *s) { return (int)s->n; }

const char *file_set_name(const struct file_set *s, int i)
{
    assert(i >= 0 && (size_t)i < s->n);
    return s->files[i].whole + s->skip;
}

static const struct set_file *set_find(const struct file_set *s,
                                       const char *name)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(name, s->files[mid].whole + s->skip);

        if (!order) return &s->files[mid];
        if (order < 0) high = mid;
        else low = mid + 1;
    }
    return NULL;
}

bool file_set_has(const struct file_set *s, const char *name, uint64_t *size)
{
    const struct set_file *f = set_find(s, name);

    if (f && size) *size = f->size;
    return f != NULL;
}

/* A copy that git made without Git LFS has small texts in place of the large
 * files. They would be refused anyway, but as damaged ones. */
static enum status refuse_pointer(struct file_stream *f, struct err *e)
{
    static const char begin[] = "version https://git-lfs.github.com/spec/";
    enum { N = sizeof begin - 1, POINTER_MOST = 1024 };
    char text[N];
    uint64_t size = file_stream_size(f);
    enum status st;

    if (size < N || size >= POINTER_MOST) return ST_OK;
    st = file_stream_read(f, 0, text, N, e);
    if (st || memcmp(text, begin, N)) return st;
    return err_set(e, ST_FORMAT, "%s: this is a pointer of Git LFS and not the "
                   "file itself; \"git lfs pull\" downloads it",
                   file_stream_name(f));
}

enum status file_stream_open(struct file_stream **out, struct file_set *s,
                             const char *name, struct err *e)
{
    const struct set_file *f = set_find(s, name);
    enum status st;
    char *path;

    *out = NULL;
    if (!f)
        return err_set(e, ST_FORMAT, "%s: there is no file \"%.200s\"",
                       s->path, name);
    if (s->archive) {
        st = zip_archive_entry_open(out, s->archive, f->entry, e);
    } else {
        path = join_path(s->path, f->whole);
        st = path ? file_stream_open_path(out, path, e) : err_nomem(e, s->path);
        free(path);
    }
    if (!st) st = refuse_pointer(*out, e);
    if (!st) return ST_OK;
    file_stream_close(*out);
    *out = NULL;
    return st;
}

static enum status read_whole(struct file_stream *f, size_t most, char **text,
                              size_t *size, struct err *e)
{
    uint64_t n = file_stream_size(f);
    enum status st;

    if (n > most || n >= SIZE_MAX)
        return err_set(e, ST_FORMAT, "%s: has %" PRIu64 " bytes; at most %zu "
                       "are expected", file_stream_name(f), n, most);
    *text = malloc((size_t)n + 1);
    if (!*text) return err_nomem(e, file_stream_name(f));
    st = file_stream_read(f, 0, *text, (size_t)n, e);
    (*text)[n] = 0;
    *size = (size_t)n;
    if (!st) return ST_OK;
    free(*text);
    *text = NULL;
    return st;
}

enum status file_set_read(struct file_set *s, const char *name, size_t most,
                          char **text, size_t *size, struct err *e)
{
    struct file_stream *f;
    enum status st = file_stream_open(&f, s, name, e);

    *text = NULL;
    *size = 0;
    if (st) return st;
    st = read_whole(f, most, text, size, e);
    file_stream_close(f);
    return st;
}
