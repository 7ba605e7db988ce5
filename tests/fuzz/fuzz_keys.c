/* fuzz_keys.c - any bytes as a file of keys must be refused or used safely.
 *
 * The first byte of an input says what the rest is:
 *
 *     bits 0-1   0: a file, as it is
 *                1: bytes changed in a good file: records of 8
 *                   { position, 16 bits; how many, 1 to 4; 0; what to }
 *                2, 3: values changed in a good file, by SQL: records
 *                   { where, type, length, that many bytes }
 *     bit 2      keys are f32, not 8 bits
 *     bit 3      the limit is so small that pairs must go
 *     bit 4      (values) sums are made right after
 *     bit 5      (values) they change while the file is in use
 *
 * Sums would stop a fuzzer at the door of our own reading; SQLite's pages are
 * what it would never get right by chance. The good files have pages of 512
 * bytes, so that a change hits something. Whatever opens is asked for all it
 * has, changed, and opened once more. Where only values were changed SQLite has
 * nothing to complain about, and so neither may we.
 *
 * Of the seeds file-* are whole files, some of them with other tables than
 * ours; the others are named after what they change. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "knn/key_file.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MAKER = 77,
    D = 5,
    PAIRS = 4,                  /* in a good file, of 0, 1, .. keys */
    ROOM = 1 << 20,
    LITTLE = 200,               /* for two of them, or three */
    VOCAB = 1000
};

static char folder[64], path[80];
static struct { char *bytes; size_t size; } good[2];    /* by enum key_type */

static void must(int ok)
{
    if (!ok) abort();
}

/* ---- files ---- */

static void remove_files(void)
{
    static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
    char name[100];

    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static void remove_folder(void)
{
    remove_files();
    rmdir(folder);
}

static void write_file(const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !close(fd));
}

static void read_file(enum key_type type)
{
    FILE *f = fopen(path, "rb");
    struct stat sb;

    must(f && !fstat(fileno(f), &sb));
    good[type].size = (size_t)sb.st_size;
    good[type].bytes = malloc(good[type].size);
    must(good[type].bytes &&
         fread(good[type].bytes, 1, good[type].size, f) == good[type].size);
    fclose(f);
}

/* ---- pairs ---- */

/* hi XOR lo is another for each. */
static struct key_id id_of(int number)
{
    return (struct key_id){ (uint64_t)(number % 2), (uint64_t)number * 3 };
}

static struct pair_keys *block_of(enum key_type type, int number)
{
    struct pair_keys *b = NULL;
    float key[D];

    must(!pair_keys_new(&b, type, number, D, NULL));
    for (int i = 0; i < number; i++) {
        for (int j = 0; j < D; j++) key[j] = (float)(number + i * D + j);
        pair_keys_put(b, i, key, i);
        pair_keys_put_from(b, i, UINT16_MAX - i);
    }
    return b;
}

static enum status put(struct key_file *f, enum key_type type, int number,
                       struct err *e)
{
    struct pair_keys *b = block_of(type, number);
    struct key_id id = id_of(number);
    enum status st = key_file_put(f, &id, &b, 1, e);

    pair_keys_drop(b);
    return st;
}

static volatile unsigned sink;

/* Read through; padding is zero. */
static void read_block(const struct pair_keys *b)
{
    float key[D];

    must(b->n >= 0 && b->d == D);
    for (int i = 0; i < b->n; i++) {
        size_t number = b->type == KEY_INT8 ? 1 : sizeof(float);
        const char *row = (char *)b->keys + (size_t)i * b->ld * number;

        must(b->token[i] >= 0 && b->token[i] < VOCAB);
        pair_keys_get(b, i, key);
        sink += (unsigned)b->token[i];
        for (size_t k = D * number; k < b->ld * number; k++) must(!row[k]);
    }
}

/* ---- using a file ---- */

struct use {
    struct key_file *f;
    enum key_type type;
    uint64_t limit;
    bool sound;                 /* as SQLite sees it */
    bool keeps;                 /* and what is put stays */
};

/* An error has its sentence; a file that is sound has none. */
static bool fine(const struct use *u, enum status st, const struct err *e)
{
    must(!st || (!u->sound && e->status == st && e->msg[0]));
    return !st;
}

static void get_one(struct use *u, struct key_id id)
{
    struct pair_keys *b = (struct pair_keys *)u;
    uint32_t told = 0;
    struct err e;

    if (!fine(u, key_file_get(u->f, id, &b, &e), &e)) must(!b);
    if (b) read_block(b);
    pair_keys_drop(b);
    key_file_touch(u->f, id, &told);
}

static void get_all(struct use *u)
{
    struct key_file_stats s;
    struct err e;

    for (int i = 0; i < PAIRS; i++) get_one(u, id_of(i));
    if (fine(u, key_file_stats(u->f, &s, &e), &e)) must(s.limit == u->limit);
}

/* What is not kept is not found, and a second time there is nothing left to
 * remove. (In a damaged tree a pair may be twice, and is removed once.) */
static void keep_one(struct use *u, int number)
{
    struct key_id id = id_of(number);
    struct pair_keys *b;
    uint64_t removed;
    struct err e;

    if (fine(u, key_file_keep_only(u->f, &id, 1, &removed, &e), &e) && u->sound)
        for (int i = 0; i <= PAIRS; i++) {
            must(!key_file_get(u->f, id_of(i), &b, &e));
            must(i == number || !b);
            pair_keys_drop(b);
        }
    if (fine(u, key_file_keep_only(u->f, &id, 1, &removed, &e), &e) && u->sound)
        must(!removed);
    fine(u, key_file_compact(u->f, &e), &e);
}

/* What is put is found, whatever there was before. */
static void put_one(struct use *u, int number)
{
    struct pair_keys *b;
    struct err e;

    if (!fine(u, put(u->f, u->type, number, &e), &e)) return;
    fine(u, key_file_get(u->f, id_of(number), &b, &e), &e);
    if (u->keeps) must(b != NULL);
    pair_keys_drop(b);
}

static void use_all(struct use *u)
{
    get_all(u);
    put_one(u, 2);
    keep_one(u, 2);
    put_one(u, 1);
    put_one(u, PAIRS);
    get_all(u);
    key_file_close(u->f);
}

/* Of what was changed, the head may be what refuses it. */
static bool open_file(struct use *u)
{
    struct err e = { 0 };
    struct key_file_kind kind = { MAKER, u->type, D, VOCAB };
    enum status st = key_file_open(&u->f, path, &kind, u->limit, &e);

    must((st == ST_OK) == (u->f != NULL) && (!st || e.msg[0]));
    return !st;
}

/* ---- changes ---- */

static void change_bytes(char *file, size_t size, const uint8_t *r, size_t n)
{
    for (; n >= 8; r += 8, n -= 8) {
        size_t at = (size_t)r[0] | (size_t)r[1] << 8;

        memcpy(file + at % (size - 4), r + 4, 1 + r[2] % 4);
    }
}

static void bind(sqlite3_stmt *st, int type, const uint8_t *p, int n)
{
    int64_t number = 0;
    double real;

    memcpy(&number, p, (size_t)n < sizeof number ? (size_t)n : sizeof number);
    memcpy(&real, &number, sizeof real);
    if (type == 0) sqlite3_bind_blob(st, 1, p, n, SQLITE_STATIC);
    else if (type == 1) sqlite3_bind_int64(st, 1, number);
    else if (type == 2) sqlite3_bind_int64(st, 1, ~number);
    else if (type == 3) sqlite3_bind_double(st, 1, real);
    else sqlite3_bind_text(st, 1, (const char *)p, n, SQLITE_STATIC);
}

/* One value, where the tables allow it. where: the column, and the row. */
static void change_value(sqlite3 *db, int where, int type, const uint8_t *p,
                         int n)
{
    static const char *const sql[] = {
        "UPDATE keys SET bytes = ?1 WHERE place = 1 + ?2",
        "UPDATE keys SET sum = ?1 WHERE place = 1 + ?2",
        "UPDATE keys SET place = ?1 WHERE place = 1 + ?2",
        "UPDATE block SET id = ?1 WHERE place = 1 + ?2",
        "UPDATE block SET place = ?1 WHERE place = 1 + ?2",
        "UPDATE block SET n = ?1 WHERE place = 1 + ?2",
        "UPDATE block SET used = ?1 WHERE place = 1 + ?2",
        "UPDATE head SET maker = ?1", "UPDATE head SET type = ?1",
        "UPDATE head SET d = ?1", "UPDATE head SET blocks = ?1",
        "UPDATE head SET keys = ?1",
    };
    int n_sql = sizeof sql / sizeof *sql;
    sqlite3_stmt *st;

    must(!sqlite3_prepare_v2(db, sql[where % n_sql], -1, &st, NULL));
    bind(st, type % 5, p, n);
    sqlite3_bind_int(st, 2, where / n_sql % PAIRS);
    sqlite3_step(st);
    sqlite3_finalize(st);
}

/* seal(id, bytes): the sum they should have. */
static void seal(sqlite3_context *c, int n, sqlite3_value **v)
{
    const void *id = sqlite3_value_blob(v[0]);
    const void *bytes = sqlite3_value_blob(v[1]);
    uint64_t half[2] = { 0 };

    (void)n;
    if (sqlite3_value_bytes(v[0]) == sizeof half)
        memcpy(half, id, sizeof half);
    sqlite3_result_int64(c, (int64_t)XXH3_64bits_withSeed(
        bytes, (size_t)sqlite3_value_bytes(v[1]),
        __builtin_bswap64(half[0] ^ half[1])));
}

/* Returns how many. */
static int change_values(const uint8_t *r, size_t n, bool right_sums)
{
    int changed = 0;
    sqlite3 *db;

    must(!sqlite3_open(path, &db));
    must(!sqlite3_exec(db, "PRAGMA synchronous = OFF; BEGIN", 0, 0, 0));
    while (n >= 3) {
        size_t length = r[2] < n - 3 ? r[2] : n - 3;

        change_value(db, r[0], r[1], r + 3, (int)length);
        changed++;
        r += 3 + length;
        n -= 3 + length;
    }
    must(!sqlite3_create_function(db, "seal", 2, SQLITE_UTF8, NULL, seal, NULL,
                                  NULL));
    if (right_sums)
        must(!sqlite3_exec(db, "UPDATE keys SET sum = seal((SELECT id FROM"
                           " block b WHERE b.place = keys.place), bytes)", 0,
                           0, 0));
    must(!sqlite3_exec(db, "COMMIT", 0, 0, 0));
    must(!sqlite3_close(db));
    return changed;
}

/* ---- inputs ---- */

/* How many bytes a pair has, as SQL says. */
static int64_t bytes_of(sqlite3 *db, struct key_id id)
{
    uint64_t big[] = { __builtin_bswap64(id.hi), __builtin_bswap64(id.lo) };
    int64_t n = -1;
    sqlite3_stmt *st;

    must(!sqlite3_prepare_v2(db, "SELECT length(CAST(k.bytes AS BLOB)) FROM"
                             " block b JOIN keys k ON k.place = b.place"
                             " WHERE b.id = ?", -1, &st, NULL));
    sqlite3_bind_blob(st, 1, big, sizeof big, SQLITE_STATIC);
    if (sqlite3_step(st) == SQLITE_ROW) n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return n;
}

/* What is read has just the bytes it needs: a few too many would be read from
 * SQLite's own memory, where no sanitizer sees it. */
static void check_sizes(struct use *u)
{
    int number = u->type == KEY_INT8 ? 1 : sizeof(float);
    struct pair_keys *b;
    sqlite3 *db;

    must(!sqlite3_open(path, &db));
    for (int i = 0; i < PAIRS; i++) {
        must(!key_file_get(u->f, id_of(i), &b, NULL));
        if (b) must(bytes_of(db, id_of(i)) == b->n * (10 + D * number));
        pair_keys_drop(b);
    }
    must(!sqlite3_close(db));
}

/* Small pages, no log: what opens it makes one. */
static void make_good(enum key_type type)
{
    struct use u = { .type = type, .limit = ROOM, .sound = true };
    sqlite3 *db;

    must(open_file(&u));
    for (int i = 0; i < PAIRS; i++) must(!put(u.f, type, i, NULL));
    key_file_close(u.f);
    must(!sqlite3_open(path, &db));
    must(!sqlite3_exec(db, "PRAGMA journal_mode = DELETE;"
                       "PRAGMA page_size = 512; VACUUM", 0, 0, 0));
    must(!sqlite3_close(db));
    read_file(type);
    must(open_file(&u));
    for (int i = 0; i < PAIRS; i++) {
        struct pair_keys *b = NULL;

        must(!key_file_get(u.f, id_of(i), &b, NULL) && b && b->n == i);
        pair_keys_drop(b);
    }
    use_all(&u);
    remove_files();
}

/* On a memory disk where there is one. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    strcpy(folder, "/dev/shm/skmt-fuzz-XXXXXX");
    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/skmt-fuzz-XXXXXX");
        must(mkdtemp(folder) != NULL);
    }
    snprintf(path, sizeof path, "%s/k", folder);
    atexit(remove_folder);
    make_good(KEY_INT8);
    make_good(KEY_F32);
    return 0;
}

static void try_bytes(struct use *u, const uint8_t *r, size_t n)
{
    size_t size = good[u->type].size;
    char *file = malloc(size);

    must(file != NULL);
    memcpy(file, good[u->type].bytes, size);
    change_bytes(file, size, r, n);
    write_file(file, size);
    free(file);
    if (open_file(u)) use_all(u);
}

/* In use: there was a transaction, and what it counted is not counted again. */
static void try_values(struct use *u, const uint8_t *r, size_t n, int how)
{
    bool in_use = how & 32;
    struct err e;
    int changed;

    u->sound = true;
    write_file(good[u->type].bytes, good[u->type].size);
    if (in_use) {
        must(open_file(u));
        fine(u, put(u->f, u->type, 1, &e), &e);
    }
    changed = change_values(r, n, how & 16);
    /* Else totals may be wrong, or a pair nobody asks for fill the file and be
     * newer than what is put. */
    u->keeps = u->limit == ROOM && !in_use && changed < 2;
    if (!in_use && !open_file(u)) return;
    check_sizes(u);
    use_all(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct use u = { 0 };
    int how = size ? data[0] : 0;

    if (!size--) return 0;
    data++;
    u.type = how & 4 ? KEY_F32 : KEY_INT8;
    u.limit = how & 8 ? LITTLE : ROOM;
    if (how & 2) {
        try_values(&u, data, size, how);
    } else if (how & 1) {
        try_bytes(&u, data, size);
    } else {
        write_file(data, size);
        if (open_file(&u)) use_all(&u);
    }
    if (open_file(&u)) use_all(&u);     /* what that left */
    remove_files();
    return 0;
}
