/* fuzz_datastore.c - any bytes as a datastore file must be refused or used
 * safely.
 *
 * The first byte of an input says what the rest is:
 *
 *     0       a file, used as it is
 *     1       a file whose checksums are corrected
 *     others  changes to one of four good files, whose checksums are corrected
 *             afterwards: records of 8 bytes { number of bytes, unused, place
 *             (2 bytes), value (4 bytes) }. Places count only bytes that are
 *             not padding, so most changes hit numbers.
 *
 * The third kind needs no seeds. If the file opens, the fuzzer reads all
 * entries, keys, texts, source tokens and links, runs the check, copies the
 * pairs to another file, and opens that one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "knn/datastore_format.h"
#include "knn/datastore_read.h"
#include "tensor/tensor.h"

enum { D = 10, VOCAB = 40, GOOD = 4 };

struct good_file { uint8_t *bytes; size_t size; uint32_t *places; size_t n; };
static struct good_file good[GOOD];
static char folder[] = "/dev/shm/skmt-fuzz-XXXXXX";
static char path[64], copied[64];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void datastore_must(int ok)
{
    if (!ok) abort();
}

/* ---- good files ---------------------------------------------------------- */

static void add_pair(struct datastore_writer *w,
                     const struct datastore_kind *k, int number)
{
    int32_t token[9], src_token[] = { number, 3 };
    uint16_t pos[9];
    float log_weight[9], keys[9 * D], src[2 * D];
    struct datastore_link link[] = { { 0, 0 }, { 1, 0 } };
    int n = 1 + number % 9, d = k->map ? k->map->to : D;
    struct datastore_item it = {
        .source = str_of(number % 2 ? "ä" : "Quelle"),
        .target = str_of("target"), .id = number, .n = n, .token = token,
        .pos = pos, .log_weight = k->has_weights ? log_weight : NULL,
        .f32 = keys, .ld = (size_t)d };

    for (int i = 0; i < n; i++) {
        token[i] = (number + i) % VOCAB;
        pos[i] = (uint16_t)(2 * i);
        log_weight[i] = (float)i;
    }
    for (int i = 0; i < 9 * D; i++) keys[i] = (float)((i * 7 + number) % 13);
    for (int i = 0; i < 2 * D; i++) src[i] = (float)((i * 5 + number) % 11);
    if (k->has_sources) {
        it.n_src = it.n_links = 2;
        it.src_token = src_token;
        it.src_f32 = src;
        it.src_ld = D;
        it.link = link;
    }
    datastore_must(!datastore_writer_add(w, &it, NULL));
}

static void make_good(int which)
{
    static float mean[D], matrix[5 * D];
    struct entry_map map = { D, 5, mean, matrix };
    struct datastore_kind k = {
        .model = { 1, D, VOCAB }, .type = (enum entry_type)(which % 2),
        .kind = STATE_FINAL, .has_sources = which > 1,
        .has_weights = which == 3, .map = which == 3 ? &map : NULL };
    struct datastore_writer *w;
    struct good_file *g = &good[which];
    char *text;

    unlink(path);
    datastore_must(!datastore_writer_create(&w, path, &k, NULL, NULL));
    for (int i = 0; i < 4; i++) add_pair(w, &k, i);
    datastore_must(!datastore_writer_commit(w, 0, NULL));
    add_pair(w, &k, 5);
    datastore_must(!datastore_writer_delete(w, (int32_t[]){ 2 }, 1, NULL));
    datastore_must(!datastore_writer_finish(w, NULL));
    datastore_writer_close(w);
    datastore_must(!file_read(&text, &g->size, path, 1 << 20, NULL));
    g->bytes = (uint8_t *)text;
    g->places = malloc(g->size * sizeof *g->places);
    datastore_must(g->places != NULL);
    for (uint32_t i = 0; i + 8 < g->size; i++)  /* leave out pages of zeros */
        if (g->bytes[i] || g->bytes[i + 1] || g->bytes[i + 4])
            g->places[g->n++] = i;
}

static void remove_folder(void)
{
    unlink(path);
    unlink(copied);
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (!mkdtemp(folder)) {     /* the first one is in memory, and faster */
        snprintf(folder, sizeof folder, "/tmp/skmt-fuzz-XXXXXX");
        datastore_must(mkdtemp(folder) != NULL);
    }
    atexit(remove_folder);
    snprintf(path, sizeof path, "%s/a.knn", folder);
    snprintf(copied, sizeof copied, "%s/b.knn", folder);
    for (int i = 0; i < GOOD; i++) make_good(i);
    unlink(path);
    return 0;
}

/* ---- correcting checksums ------------------------------------------------ */

static void seal_slot(uint8_t *slot)
{
    uint64_t sum = datastore_slot_sum(slot);

    memcpy(slot + offsetof(struct datastore_header, sum), &sum, sizeof sum);
}

static void seal(uint8_t *bytes, size_t size)
{
    struct datastore_header h;
    struct datastore_block b;
    struct datastore_layout l;

    if (size < DATASTORE_SLOTS) return;
    seal_slot(bytes);
    seal_slot(bytes + DATASTORE_PAGE);
    memcpy(&h, bytes, sizeof h);
    for (size_t at = DATASTORE_SLOTS; size - at >= sizeof b; at += l.total) {
        memcpy(&b, bytes + at, sizeof b);
        if (!h.d || !h.d_model || h.d > DATASTORE_DIM_MAX ||
            h.d_model > DATASTORE_DIM_MAX || h.type > ENTRY_F16 ||
            !datastore_layout_of(&h, &b, &l) || l.total > size - at)
            return;
        b.table_sum = datastore_sum(bytes + at + sizeof b,
                                    l.at[PART_KEYS] - sizeof b);
        b.key_sum = datastore_sum(bytes + at + l.at[PART_KEYS],
                                  l.total - l.at[PART_KEYS]);
        b.sum = datastore_block_sum(&b);
        memcpy(bytes + at, &b, sizeof b);
    }
}

/* ---- using a file -------------------------------------------------------- */

static volatile double sink;    /* what is read must not be optimized away */

static void read_block(const struct entries *s, const struct entry_block *b,
                       float *key)
{
    struct datastore_info info = datastore_file_info(s);
    double sum = 0;

    for (int i = 0; i < pad_to(b->n, ENTRY_PANEL); i++) {
        datastore_must(b->token[i] >= 0 && b->token[i] < info.vocab);
        datastore_must(b->pair[i] >= 0 && b->pair[i] < b->n_pairs);
        datastore_must(b->norm[i] >= 0);
        sum += b->pos[i] + (b->scale ? (double)b->scale[i] : 0) +
               (b->comp ? b->comp[i] : 0) +
               (b->log_weight ? (double)b->log_weight[i] : 0);
        if (i >= b->n) datastore_must(b->norm[i] == INFINITY);
        if (i < b->n) entries_key(s, b, i, key);
        for (int k = 0; i < b->n && k < s->d; k++) sum += (double)key[k];
    }
    for (int i = 0; i < b->n_src; i++) {
        const int8_t *src = b->src_keys + (size_t)i *
                            (size_t)pad_to(s->d_model, 64);

        datastore_must(b->src_token[i] >= 0 && b->src_token[i] < info.vocab);
        for (int k = 0; k < pad_to(s->d_model, 64); k++) sum += src[k];
        for (uint32_t k = b->link_begin[i]; k < b->link_begin[i + 1]; k++)
            datastore_must(b->link[k] < (uint32_t)b->n);
    }
    sink = sum;
}

static void read_pairs(const struct entries *s)
{
    int64_t found = 0;

    for (int32_t p = 0; p < s->n_pairs; p++) {
        struct entry_pair pair = s->ops->pair(s, p);
        int n;
        const int32_t *tokens = entries_tokens(s, p, &n);

        for (size_t i = 0; i <= pair.source.n; i++) sink = pair.source.p[i];
        for (size_t i = 0; i <= pair.target.n; i++) sink = pair.target.p[i];
        for (int i = 0; i < n; i++) sink = tokens[i];
        datastore_must(!pair.deleted || !n);
        sink = (double)datastore_file_pair_id(s, p).hi;
    }
    for (int i = 0; i < s->n_blocks; i++)
        for (int k = 0; k < s->blocks[i].n; k++)
            found += s->blocks[i].norm[k] < INFINITY;
    datastore_must(found == s->n);
}

static void copy_file(const struct entries *s)
{
    struct entries *c;

    datastore_must(!datastore_copy(s, copied, NULL, NULL, NULL));
    datastore_must(!datastore_file_open(&c, copied, NULL, false, NULL));
    datastore_must(c->n <= s->n);       /* fewer if norms are too large */
    entries_drop(c);
}

static void use_file(const uint8_t *bytes, size_t size)
{
    struct entries *s;
    struct err e = { 0 };
    enum status st = datastore_file_open_memory(&s, bytes, size, "fuzz", NULL,
                                                true, &e);
    float *key;
    int problems;

    if (st) {
        datastore_must((st == ST_FORMAT || st == ST_VERSION) && e.msg[0] &&
                       !s);
        return;
    }
    key = malloc((size_t)s->d * sizeof *key);
    datastore_must(key != NULL);
    for (int i = 0; i < s->n_blocks; i++) read_block(s, &s->blocks[i], key);
    free(key);
    read_pairs(s);
    datastore_must(!datastore_file_check(s, NULL, NULL, NULL, NULL, &problems,
                                         NULL));
    if (size < 1 << 17) copy_file(s);
    entries_drop(s);
}

static void change_file(uint8_t *file, const struct good_file *g,
                        const uint8_t r[8])
{
    size_t n = (size_t)1 << r[0] % 3;
    size_t at = g->places[((size_t)r[2] | (size_t)r[3] << 8) % g->n];

    memcpy(file + at, r + 4, n);
    /* The slots have the same contents. */
    if (at < DATASTORE_PAGE) memcpy(file + DATASTORE_PAGE + at, r + 4, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct good_file *g;
    size_t n;
    void *file;

    if (!size) return 0;
    g = &good[data[0] % GOOD];
    n = data[0] < 2 ? size - 1 : g->size;
    if (posix_memalign(&file, 64, n ? n : 1)) return 0;
    memcpy(file, data[0] < 2 ? data + 1 : g->bytes, n);
    for (size_t i = 1; data[0] >= 2 && i + 8 <= size; i += 8)
        change_file(file, g, data + i);
    if (data[0]) seal(file, n);
    use_file(file, n);
    free(file);
    return 0;
}
