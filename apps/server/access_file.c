/* access_file.c - reads and extends the key file (docs/formats/api-keys.md),
 * which has one JSON object a line.
 *
 * A key is "skmt-", its number, "-" and 43 characters that stand for 256 random
 * bits. The file has the SHA-256 hash of a salt and the key. A slow hash is not
 * needed: it protects short passwords, which can be guessed from a stolen
 * file, while 256 random bits cannot be guessed at any speed. Keys of another
 * form are refused, so there are no short ones. A slow hash would cost each
 * request its time, and give strangers a way to keep the server busy. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/jput.h"
#include "common/sha256.h"
#include "common/wholefile.h"
#include "server/access.h"
#include "server/account_internal.h"

enum { SECRET_CHARS = 43, MAX_KEYS = 100000, MAX_KEY_FILE = 64 << 20,
       MAX_RATE = 1000000000 };

/* ---- keys and hashes ----------------------------------------------------- */

int key_number(const char *key)
{
    long n = 0;

    if (strncmp(key, "skmt-", 5)) return 0;
    key += 5;
    if (*key < '1' || *key > '9') return 0;
    while (*key >= '0' && *key <= '9' && n < INT_MAX / 10 - 1)
        n = 10 * n + (*key++ - '0');
    if (*key++ != '-' || strnlen(key, SECRET_CHARS + 1) != SECRET_CHARS)
        return 0;
    return (int)n;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads 2n hexadecimal digits. */
static bool from_hex(const char *hex, unsigned char *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int high = hex_digit(hex[2 * i]);
        int low = high < 0 ? -1 : hex_digit(hex[2 * i + 1]);

        if (low < 0) return false;
        out[i] = (unsigned char)(16 * high + low);
    }
    return true;
}

void key_hash(const unsigned char *salt, const char *key,
              unsigned char hash[KEY_HASH_BYTES])
{
    char hex[SHA256_HEX_BYTES];
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, salt, KEY_SALT_BYTES);
    sha256_add(&h, key, strlen(key));
    sha256_hex(&h, hex);
    from_hex(hex, hash, KEY_HASH_BYTES);
}

/* "sha256:" SALT ":" HASH */
static bool parse_hash(const char *text, struct key_line *k)
{
    static const char prefix[] = "sha256:";
    size_t salt = sizeof prefix - 1, hash = salt + 2 * KEY_SALT_BYTES + 1;

    return !strncmp(text, prefix, salt)
           && strlen(text) == hash + 2 * KEY_HASH_BYTES
           && text[hash - 1] == ':'
           && from_hex(text + salt, k->salt, KEY_SALT_BYTES)
           && from_hex(text + hash, k->hash, KEY_HASH_BYTES);
}

/* ---- one line ------------------------------------------------------------ */

void key_line_release(struct key_line *k)
{
    free(k->name);
    free(k->memory);
    *k = (struct key_line){ 0 };
}

void key_lines_release(struct key_lines *k)
{
    for (int i = 0; i < k->n; i++) key_line_release(&k->list[i]);
    free(k->list);
    *k = (struct key_lines){ 0 };
}

/* Names are parts of file names and appear in logs. */
static bool is_key_name(const char *name)
{
    static const char chars[] = "abcdefghijklmnopqrstuvwxyz0123456789._-"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strlen(name);

    return n > 0 && n <= 64 && name[0] != '.' && name[0] != '-'
           && strspn(name, chars) == n;
}

/* The path of a memory; one without a folder is in `data`. NULL if out of
 * memory. */
static char *memory_path(const char *memory, const char *data)
{
    size_t size = strlen(memory) + strlen(data) + 2;
    char *path = malloc(size);

    if (!path) return NULL;
    if (strchr(memory, '/') || !data[0]) strcpy(path, memory);
    else snprintf(path, size, "%s/%s", data, memory);
    return path;
}

/* The function returns what is wrong with the line, or NULL. */
static const char *read_fields(const json_t *o, struct key_line *k,
                               const char **name, const char **memory)
{
    static const char *const known[] = { "key", "name", "hash", "write",
                                         "memory", "rate" };
    const json_t *v;
    const char *field;

    json_object_foreach((json_t *)o, field, v) {
        size_t i = 0;

        while (i < sizeof known / sizeof *known && strcmp(known[i], field)) i++;
        if (i == sizeof known / sizeof *known)
            return "there is a field other than key, name, hash, write, memory "
                   "and rate";
    }
    v = json_object_get(o, "key");
    if (!json_is_integer(v) || json_integer_value(v) < 1
        || json_integer_value(v) > INT_MAX / 100)
        return "\"key\" must be the number of the key";
    k->number = (int)json_integer_value(v);
    *name = json_string_value(json_object_get(o, "name"));
    if (!*name || !is_key_name(*name))
        return "\"name\" must have 1 to 64 letters, digits, '.', '_' or '-'";
    v = json_object_get(o, "hash");
    if (!json_is_string(v) || !parse_hash(json_string_value(v), k))
        return "\"hash\" must be \"sha256:SALT:HASH\", as written by "
               "skmt serve --new-key";
    v = json_object_get(o, "write");
    if (v && !json_is_boolean(v)) return "\"write\" must be true or false";
    k->write = !v || json_is_true(v);
    v = json_object_get(o, "memory");
    if (v && !json_is_string(v)) return "\"memory\" must be a file name";
    *memory = v ? json_string_value(v) : NULL;
    v = json_object_get(o, "rate");
    if (v && (!json_is_integer(v) || json_integer_value(v) < 0
              || json_integer_value(v) > MAX_RATE))
        return "\"rate\" must be a number of requests a minute";
    if (v) k->rate = (int)json_integer_value(v);
    return NULL;
}

/* Reads a line. Returns what is wrong with it, or NULL. */
static const char *read_line(const char *line, size_t n, const char *data,
                             struct key_line *k)
{
    json_t *o = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    const char *name, *memory, *why;
    char of_name[80];

    if (!json_is_object(o)) why = "the line is not a JSON object";
    else why = read_fields(o, k, &name, &memory);
    if (!why) {
        snprintf(of_name, sizeof of_name, "%s.tm", name);
        k->name = strdup(name);
        if (!memory) memory = of_name;
        if (memory[0]) k->memory = memory_path(memory, data);
        if (!k->name || (memory[0] && !k->memory)) why = "out of memory";
    }
    json_decref(o);
    return why;
}

/* ---- the whole file ------------------------------------------------------ */

/* The text of a file, which the caller frees; NULL on failure. */
static char *file_text(int fd, size_t *n, const char *path, skmt_error *err)
{
    struct stat sb;
    char *text;
    ssize_t got = 0;

    if (fstat(fd, &sb) || !S_ISREG(sb.st_mode) || sb.st_size > MAX_KEY_FILE) {
        account_error(err, SKMT_ERR_IO, "%s: this is not a key file", path);
        return NULL;
    }
    text = malloc((size_t)sb.st_size + 1);
    for (*n = 0; text && *n < (size_t)sb.st_size; *n += (size_t)got) {
        got = pread(fd, text + *n, (size_t)sb.st_size - *n, (off_t)*n);
        if (got < 0 && errno == EINTR) got = 0;
        else if (got <= 0) break;
    }
    if (!text) account_error(err, SKMT_ERR_NOMEM, "out of memory");
    else if (got < 0)
        account_error(err, SKMT_ERR_IO, "%s: %s", path, strerror(errno));
    else return text;
    free(text);
    return NULL;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The folder of a file. False if there is none. */
static bool stat_folder(const char *path, struct stat *out)
{
    char folder[PATH_MAX];
    int n = snprintf(folder, sizeof folder, "%.*s.",
                     (int)(file_name(path) - path), path);

    return n < (int)sizeof folder && !stat(folder, out);
}

/* Whether two lines mean the same file, which need not exist yet. */
static bool same_memory(const struct key_line *a, const struct key_line *b)
{
    struct stat x, y;

    if (!a->memory || !b->memory) return false;
    if (a->inode && b->inode)
        return a->inode == b->inode && a->device == b->device;
    if (strcmp(file_name(a->memory), file_name(b->memory))) return false;
    return !strcmp(a->memory, b->memory)
           || (stat_folder(a->memory, &x) && stat_folder(b->memory, &y)
               && x.st_ino == y.st_ino && x.st_dev == y.st_dev);
}

/* Two accounts with one memory file would read each other's texts. */
static const char *same_as_before(const struct key_lines *k,
                                  struct key_line *new)
{
    struct stat sb;

    if (new->memory && !stat(new->memory, &sb)) {
        new->device = sb.st_dev;
        new->inode = sb.st_ino;
    }
    for (int i = 0; i < k->n; i++) {
        const struct key_line *old = &k->list[i];

        if (old->number == new->number) return "its number occurs twice";
        if (!strcmp(old->name, new->name)) return "its name occurs twice";
        if (same_memory(old, new))
            return "another key has the same memory file";
    }
    return NULL;
}

static const char *add_line(struct key_lines *k, const char *line, size_t n,
                            const char *data, int default_rate)
{
    struct key_line new = { .rate = default_rate };
    struct key_line *list = k->list;
    const char *why = read_line(line, n, data, &new);

    if (!why) why = same_as_before(k, &new);
    if (!why && k->n >= MAX_KEYS) why = "there are too many keys";
    if (!why && !(k->n & (k->n + 1))) {         /* full at 0, 1, 3, 7, .. */
        list = realloc(list, (size_t)(2 * k->n + 1) * sizeof *list);
        if (list) k->list = list;
        else why = "out of memory";
    }
    if (why) key_line_release(&new);
    else k->list[k->n++] = new;
    return why;
}

static skmt_status parse_lines(struct key_lines *out, const char *text,
                               size_t n, const char *path, const char *data,
                               int default_rate, skmt_error *err)
{
    const char *at = text, *end = text + n;

    for (int number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *why = NULL;

        if (!stop) stop = end;
        while (at < stop && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
        if (at < stop && *at != '#')
            why = add_line(out, at, (size_t)(stop - at), data, default_rate);
        if (why)
            return account_error(err, SKMT_ERR_FORMAT, "%s:%d: %s", path,
                                 number, why);
        at = stop + 1;
    }
    return SKMT_OK;
}

/* The folder of memories: that of the key file, unless another is given. */
static void data_folder(const char *path, const char *data, char *out,
                        size_t size)
{
    const char *slash = strrchr(path, '/');

    if (data) snprintf(out, size, "%s", data);
    else snprintf(out, size, "%.*s", slash ? (int)(slash - path + !(slash
                  - path)) : 0, path);
}

skmt_status key_lines_read(struct key_lines *out, const char *path,
                           const char *data, int default_rate,
                           skmt_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char folder[PATH_MAX], *text;
    skmt_status st = SKMT_ERR_IO;
    size_t n;

    *out = (struct key_lines){ 0 };
    if (fd < 0)
        return account_error(err, SKMT_ERR_IO, "%s: %s%s", path,
                             strerror(errno), errno != ENOENT ? ""
                             : "; 'skmt serve --keys FILE --new-key NAME' "
                               "makes one");
    data_folder(path, data, folder, sizeof folder);
    text = file_text(fd, &n, path, err);
    close(fd);
    if (text)
        st = parse_lines(out, text, n, path, folder, default_rate, err);
    free(text);
    if (st) key_lines_release(out);
    return st;
}

/* ---- a new key ----------------------------------------------------------- */

/* 43 characters of base64url for 32 bytes. */
static void put_secret(const unsigned char bytes[32], char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
                                 "qrstuvwxyz0123456789-_";
    unsigned bits = 0;
    int n = 0;

    for (int i = 0; i < 32; i++) {
        bits = bits << 8 | bytes[i];
        for (n += 8; n >= 6; n -= 6) *out++ = digits[bits >> (n - 6) & 63];
        bits &= (1u << n) - 1;
    }
    *out++ = digits[bits << (6 - n) & 63];
    *out = '\0';
}

static void put_hex(struct textbuf *t, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) textbuf_addf(t, "%02x", bytes[i]);
}

static skmt_status make_key(int number, const char *name, char *key,
                            size_t size, struct textbuf *line,
                            skmt_error *err)
{
    unsigned char random[KEY_SALT_BYTES + 32], hash[KEY_HASH_BYTES];
    char secret[SECRET_CHARS + 1];

    if (getrandom(random, sizeof random, 0) != sizeof random)
        return account_error(err, SKMT_ERR_IO, "the system has no random "
                             "numbers: %s", strerror(errno));
    put_secret(random + KEY_SALT_BYTES, secret);
    if (snprintf(key, size, "skmt-%d-%s", number, secret) >= (int)size)
        return account_error(err, SKMT_ERR_ARGUMENT, "the buffer is too small "
                             "for a key");
    key_hash(random, key, hash);
    textbuf_addf(line, "{\"key\":%d,\"name\":\"%s\",\"hash\":\"sha256:", number,
                 name);
    put_hex(line, random, KEY_SALT_BYTES);
    textbuf_adds(line, ":");
    put_hex(line, hash, KEY_HASH_BYTES);
    textbuf_adds(line, "\"}\n");
    return SKMT_OK;
}

/* Opens the file with a lock, so that two programs can add a key at the same
 * time. Adding replaces the file, so the one that was opened may be an old one
 * when the lock is free. Returns -1 on failure. */
static int open_locked(const char *path, skmt_error *err)
{
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        struct stat mine, now;

        if (fd >= 0 && !flock(fd, LOCK_EX) && !fstat(fd, &mine)) {
            if (!stat(path, &now) && mine.st_ino == now.st_ino
                && mine.st_dev == now.st_dev) return fd;
        } else {
            account_error(err, SKMT_ERR_IO, "%s: %s", path, strerror(errno));
            if (fd >= 0) close(fd);
            return -1;
        }
        close(fd);
    }
}

static skmt_status append_key(const char *path, const char *old, size_t n,
                              const char *name, char *key, size_t size,
                              skmt_error *err)
{
    struct key_lines lines = { 0 };
    struct textbuf text = { 0 };
    char why[PATH_MAX + 200];
    int number = 1;
    skmt_status st = parse_lines(&lines, old, n, path, "", 0, err);

    for (int i = 0; !st && i < lines.n; i++) {
        if (lines.list[i].number >= number) number = lines.list[i].number + 1;
        if (!strcmp(lines.list[i].name, name))
            st = account_error(err, SKMT_ERR_ARGUMENT, "%s: there is a key "
                               "with the name '%s' already; choose another "
                               "name, or remove its line", path, name);
    }
    textbuf_add(&text, old, n);
    if (n && old[n - 1] != '\n') textbuf_adds(&text, "\n");
    if (!st) st = make_key(number, name, key, size, &text, err);
    if (!st && !whole_file_replace(path, &text, why, sizeof why))
        st = account_error(err, SKMT_ERR_IO, "%s", why);
    textbuf_release(&text);
    key_lines_release(&lines);
    return st;
}

skmt_status accounts_new_key(const char *path, const char *name, char *key,
                             size_t size, skmt_error *err)
{
    skmt_status st = SKMT_ERR_IO;
    char *old;
    size_t n;
    int fd;

    if (!is_key_name(name))
        return account_error(err, SKMT_ERR_ARGUMENT, "the name of a key must "
                             "have 1 to 64 letters, digits, '.', '_' or '-'");
    fd = open_locked(path, err);
    if (fd < 0) return SKMT_ERR_IO;
    old = file_text(fd, &n, path, err);
    if (old) st = append_key(path, old, n, name, key, size, err);
    free(old);
    close(fd);
    if (st && size) key[0] = '\0';
    return st;
}
