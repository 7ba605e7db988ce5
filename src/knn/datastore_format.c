/* datastore_format.c - computes the layout and the checksums of a datastore
 * file, and reads its header. It opens no files; datastore_file.c and
 * datastore_write.c do. */
#include "knn/datastore_format.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "tensor/tensor.h"

/* ---- sums ---------------------------------------------------------------- */

uint64_t datastore_sum(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}

uint64_t datastore_slot_sum(const uint8_t slot[DATASTORE_PAGE])
{
    uint8_t copy[DATASTORE_PAGE];
    size_t at = offsetof(struct datastore_header, sum);

    memcpy(copy, slot, sizeof copy);
    memset(copy + at, 0, sizeof(uint64_t));
    return XXH3_64bits(copy, sizeof copy);
}

uint64_t datastore_block_sum(const struct datastore_block *b)
{
    struct datastore_block copy = *b;

    copy.sum = 0;
    return XXH3_64bits(&copy, sizeof copy);
}

/* ---- layout -------------------------------------------------------------- */

static uint64_t pad64(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

uint64_t datastore_key_bytes(const struct datastore_header *h, uint64_t n)
{
    assert(n % ENTRY_PANEL == 0);
    return h->type == ENTRY_INT8 ? n * pad64(h->d, 4)
                                 : n * pad64(h->d, 32) * sizeof(uint16_t);
}

uint64_t datastore_src_ld(const struct datastore_header *h)
{
    return pad64(h->d_model, 64);
}

static void size_entries(const struct datastore_header *h,
                         const struct datastore_block *b, uint64_t *bytes)
{
    uint64_t np = pad64(b->n, ENTRY_PANEL);

    bytes[PART_SPAN] = b->n_pairs * sizeof(struct entry_span);
    bytes[PART_PAIRS] = b->n_pairs * sizeof(struct datastore_pair);
    bytes[PART_TOKEN] = np * sizeof(int32_t);
    bytes[PART_PAIR] = np * sizeof(int32_t);
    bytes[PART_NORM] = np * sizeof(float);
    bytes[PART_POS] = np * sizeof(uint16_t);
    if (h->type == ENTRY_INT8) {
        bytes[PART_SCALE] = np * sizeof(float);
        bytes[PART_COMP] = np * sizeof(int32_t);
    }
    if (h->flags & DATASTORE_WEIGHTS)
        bytes[PART_LOG_WEIGHT] = np * sizeof(float);
    bytes[PART_TEXT] = b->text_bytes;
    bytes[PART_KEYS] = datastore_key_bytes(h, np);
    if (!(h->flags & DATASTORE_SOURCES)) return;
    bytes[PART_SRC_TOKEN] = b->n_src * sizeof(int32_t);
    bytes[PART_SRC_SCALE] = b->n_src * sizeof(float);
    bytes[PART_LINK_BEGIN] = ((uint64_t)b->n_src + 1) * sizeof(uint32_t);
    bytes[PART_LINK] = b->n_links * sizeof(uint32_t);
    bytes[PART_SRC_KEYS] = b->n_src * datastore_src_ld(h);
}

/* Whether the numbers of a block are in range and fit its kind. */
static bool counts_fit(const struct datastore_header *h,
                       const struct datastore_block *b)
{
    bool entries = b->kind == DATASTORE_ENTRIES;
    bool sources = entries && h->flags & DATASTORE_SOURCES;

    if (b->n > DATASTORE_COUNT_MAX || b->n_pairs > DATASTORE_COUNT_MAX ||
        b->n_src > DATASTORE_COUNT_MAX || b->n_links > DATASTORE_COUNT_MAX ||
        b->text_bytes > UINT32_MAX)
        return false;
    if (!entries && (b->n_pairs || b->text_bytes)) return false;
    if (!sources && (b->n_src || b->n_links)) return false;
    return b->kind != DATASTORE_MAPPING || !b->n;
}

bool datastore_layout_of(const struct datastore_header *h,
                         const struct datastore_block *b,
                         struct datastore_layout *out)
{
    uint64_t *bytes = out->bytes, at = sizeof *b;

    memset(out, 0, sizeof *out);
    if (!counts_fit(h, b)) return false;
    switch (b->kind) {
    case DATASTORE_ENTRIES:
        size_entries(h, b, bytes);
        break;
    case DATASTORE_DELETED:
        bytes[PART_LIST] = b->n * sizeof(uint32_t);
        break;
    case DATASTORE_MAPPING:
        bytes[PART_MEAN] = h->d_model * sizeof(float);
        bytes[PART_MATRIX] = (uint64_t)h->d * h->d_model * sizeof(float);
        break;
    default:
        return false;
    }
    for (int i = 0; i < PART_COUNT; i++) {
        at = pad64(at, i < PART_KEYS ? DATASTORE_ALIGN : DATASTORE_PAGE);
        out->at[i] = at;
        at += bytes[i];
    }
    out->total = pad64(at, DATASTORE_PAGE);
    return true;
}

/* ---- the header ---------------------------------------------------------- */

static bool header_in_range(const struct datastore_header *h)
{
    bool mapped = h->flags & DATASTORE_MAP;

    return h->sequence && h->store && h->size >= DATASTORE_SLOTS &&
           h->size <= INT64_MAX && h->size % DATASTORE_PAGE == 0 &&
           h->d_model > 0 && h->d_model <= DATASTORE_DIM_MAX && h->d > 0 &&
           (mapped ? h->d <= h->d_model : h->d == h->d_model) &&
           h->vocab > 0 && h->vocab <= INT32_MAX &&
           (h->type == ENTRY_INT8 || h->type == ENTRY_F16) &&
           (h->kind == STATE_FINAL || h->kind == STATE_FFN) &&
           !(h->flags & ~(uint32_t)DATASTORE_FLAGS) && !h->reserved &&
           h->pairs <= INT32_MAX && h->deleted <= h->pairs &&
           h->entries <= INT64_MAX;
}

static bool slot_read(const uint8_t *slot, struct datastore_header *h)
{
    memcpy(h, slot, sizeof *h);
    return !memcmp(h->magic, DATASTORE_MAGIC, sizeof h->magic) &&
           h->endian == DATASTORE_ENDIAN && h->version == DATASTORE_VERSION &&
           datastore_slot_sum(slot) == h->sum && header_in_range(h);
}

static bool is_zeros(const uint8_t *bytes, size_t n)
{
    return !n || (!bytes[0] && !memcmp(bytes, bytes + 1, n - 1));
}

bool datastore_is_blank(const uint8_t *bytes, uint64_t file_size)
{
    size_t n = (size_t)file_size, magic = sizeof DATASTORE_MAGIC - 1;
    struct datastore_header h;

    if (file_size > DATASTORE_SLOTS) return false;
    /* With one slot there is no commit yet, unless the rest is missing. */
    if (n >= DATASTORE_PAGE && slot_read(bytes, &h) &&
        (n == DATASTORE_SLOTS || h.size > DATASTORE_SLOTS))
        return false;
    if (n == DATASTORE_SLOTS && slot_read(bytes + DATASTORE_PAGE, &h))
        return false;
    return is_zeros(bytes, n) ||
           !memcmp(bytes, DATASTORE_MAGIC, n < magic ? n : magic);
}

/* Say why no slot is valid. */
static enum status header_error(const uint8_t *bytes, size_t n,
                                uint64_t file_size, const char *path,
                                struct err *e)
{
    struct datastore_header h = { .magic = "" };

    if (n) memcpy(&h, bytes, n < sizeof h ? n : sizeof h);
    if (datastore_is_blank(bytes, file_size))
        return err_set(e, ST_FORMAT, "%s is empty: creating the datastore was "
                       "interrupted; delete it, or build it again", path);
    if (memcmp(h.magic, DATASTORE_MAGIC, sizeof h.magic) &&
        !(n == DATASTORE_SLOTS &&
          !memcmp(bytes + DATASTORE_PAGE, DATASTORE_MAGIC, sizeof h.magic)))
        return err_set(e, ST_FORMAT, "%s is not a datastore; 'skmt knn build' "
                       "makes one", path);
    if (h.endian == __builtin_bswap32(DATASTORE_ENDIAN))
        return err_set(e, ST_VERSION, "%s was made on a machine with another "
                       "byte order; build it on this one", path);
    if (h.endian == DATASTORE_ENDIAN && h.version != DATASTORE_VERSION)
        return err_set(e, ST_VERSION, "%s is a datastore of version %u, and "
                       "this program reads version %u; build it again", path,
                       h.version, DATASTORE_VERSION);
    if (n < DATASTORE_SLOTS)
        return err_set(e, ST_FORMAT, "%s is truncated: it has only %zu bytes",
                       path, n);
    return err_set(e, ST_FORMAT, "%s is damaged: neither copy of its header "
                   "has the right checksum; build it again", path);
}

enum status datastore_header_read(const uint8_t *bytes, uint64_t file_size,
                                  const char *path,
                                  struct datastore_header *out, bool valid[2],
                                  struct err *e)
{
    size_t n = file_size < DATASTORE_SLOTS ? (size_t)file_size
                                           : DATASTORE_SLOTS;
    struct datastore_header h[2];
    int best = -1;

    valid[0] = valid[1] = false;
    for (int i = 0; i < 2; i++) {
        if (n < (size_t)(i + 1) * DATASTORE_PAGE) break;
        valid[i] = slot_read(bytes + i * DATASTORE_PAGE, &h[i]);
        if (valid[i] && (best < 0 || h[i].sequence > h[best].sequence))
            best = i;
    }
    if (best < 0 || datastore_is_blank(bytes, file_size))
        return header_error(bytes, n, file_size, path, e);
    *out = h[best];
    return ST_OK;
}

struct datastore_info datastore_info_of(const struct datastore_header *h)
{
    return (struct datastore_info){
        .store = h->store, .model = h->model, .memory = h->memory,
        .bytes = h->size, .entries = (int64_t)h->entries,
        .pairs = (int32_t)h->pairs, .deleted = (int32_t)h->deleted,
        .vocab = (int)h->vocab,
        .with_eos = h->flags & DATASTORE_EOS,
        .has_weights = h->flags & DATASTORE_WEIGHTS,
        .building = h->flags & DATASTORE_BUILDING,
        .request = h->request, .last = h->last };
}

/* ---- norms --------------------------------------------------------------- */

/* Where the first four numbers of a key are; four more follow in each row of
 * the panel. */
static size_t key_offset(int i, int padded)
{
    return (size_t)(i / ENTRY_PANEL) * (size_t)padded * ENTRY_PANEL +
           (size_t)(i % ENTRY_PANEL) * 4;
}

void datastore_key_unpack(const void *panels, int i, int padded, int8_t *key)
{
    const int8_t *at = (const int8_t *)panels + key_offset(i, padded);

    for (int k = 0; k < padded; k += 4, at += ENTRY_PANEL * 4)
        memcpy(key + k, at, 4);
}

void datastore_key_pack(void *panels, int i, int padded, const int8_t *key)
{
    int8_t *at = (int8_t *)panels + key_offset(i, padded);

    for (int k = 0; k < padded; k += 4, at += ENTRY_PANEL * 4)
        memcpy(at, key + k, 4);
}

static float norm_round_up(double x)
{
    float f = (float)x;

    if (!(x < INFINITY)) return INFINITY;       /* NaN too */
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

float datastore_norm_int8(const int8_t *key, int d, float scale)
{
    int64_t sum = 0;

    for (int i = 0; i < d; i++) sum += key[i] * key[i];
    return norm_round_up((double)scale * (double)scale * (double)sum);
}

float datastore_norm_f16(const uint16_t *key, int d)
{
    double sum = 0;

    for (int i = 0; i < d; i++) {
        double x = (double)f16_to_f32(key[i]);

        sum += x * x;
    }
    return norm_round_up(sum);
}
