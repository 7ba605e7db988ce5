/* amx.c - int8 products with AMX tiles. All other operations of the AMX table
 * are in avx512.c.
 *
 * One instruction multiplies 16 rows of 64 inputs by 64 inputs of 16 outputs.
 * The bytes of a panel already have the order of a tile, with rows 256 bytes
 * apart. Two tiles of rows and two of outputs fill the 8 registers, with as
 * many loads as multiplications. A single tile of rows is multiplied by all 64
 * outputs instead.
 *
 * Rows are divided evenly among tiles. Every tile has the same number of rows:
 * if they do not divide evenly, the last tile starts earlier and computes some
 * rows of the previous tile again. So one tile shape serves the whole product.
 *
 * Meanwhile, each tile of rows prefetches its share of the next panel. A pair
 * of tiles also prefetches the lines that it will write: with many rows, the
 * outputs are no longer in the L1 and L2 caches. */
#include <immintrin.h>

#include "tensor/cpu/tables.h"

#define TILE 16                 /* rows, and outputs */
#define TILE_K 64               /* inputs */
#define STRIDE (4 * PANEL)      /* bytes from one group of four inputs to the
                                   next, and from one row of sums to the next */

/* Below this number of rows, the product waits for weights from main memory
 * whether it uses tiles or vectors (8 rows on Sapphire Rapids: 190 GMAC/s with
 * both), and vectors need no tile configuration. */
#define MIN_ROWS 8

/* The operand of LDTILECFG. Tiles 0 to 3 hold sums, 4 and 5 rows of inputs, 6
 * and 7 weights. */
struct tile_shapes {
    uint8_t palette, start;
    uint8_t reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
};

static void shape_tiles(int rows)
{
    struct tile_shapes s = { .palette = 1 };

    assert(rows > 0 && rows <= TILE);
    for (int i = 0; i < 8; i++) {
        s.bytes[i] = TILE_K;
        s.rows[i] = i < 6 ? (uint8_t)rows : TILE;
    }
    /* Not _tile_loadconfig(): in gcc 12, that tells the compiler about the
     * first 8 bytes of the operand only. */
    __asm__ volatile("ldtilecfg %0" :: "m"(s));
}

/* What a pass prefetches with each tile of inputs: some bytes of the next
 * panel, and for writing, the outputs of some rows. */
struct tile_fetch {
    const char *at;             /* the next bytes of weights */
    size_t bytes;               /* of weights, for each tile of inputs */
    const float *y;             /* the outputs of the next row */
    size_t ldy;
    int rows, rows_left;        /* for each tile of inputs; in total */
};

static inline void fetch_lines(struct tile_fetch *f)
{
    const char *end = f->at + f->bytes;

    for (; f->at < end; f->at += 64) _mm_prefetch(f->at, _MM_HINT_T1);
    for (int r = 0; r < f->rows && f->rows_left > 0; r++, f->rows_left--) {
        for (int o = 0; o < PANEL; o += 16) __builtin_prefetch(f->y + o, 1, 3);
        f->y += f->ldy;
    }
}

/* Multiply two tiles of rows, x0 and x1, by 32 outputs, starting at w. */
static void pass_two(const uint8_t *x0, const uint8_t *x1, size_t kp,
                     const int8_t *w, struct tile_fetch *f,
                     int32_t (*sum0)[PANEL], int32_t (*sum1)[PANEL])
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t i = 0; i < kp; i += TILE_K) {
        _tile_loadd(6, w + i * PANEL, STRIDE);
        _tile_loadd(4, x0 + i, kp);
        _tile_dpbusd(0, 4, 6);
        fetch_lines(f);
        _tile_loadd(7, w + i * PANEL + 4 * TILE, STRIDE);
        _tile_dpbusd(1, 4, 7);
        _tile_loadd(5, x1 + i, kp);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    _tile_stored(0, sum0[0], STRIDE);
    _tile_stored(1, sum0[0] + TILE, STRIDE);
    _tile_stored(2, sum1[0], STRIDE);
    _tile_stored(3, sum1[0] + TILE, STRIDE);
}

/* Multiply one tile of rows by all 64 outputs of a panel. */
static void pass_one(const uint8_t *x, size_t kp, const int8_t *w,
                     struct tile_fetch *f, int32_t (*sum)[PANEL])
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t i = 0; i < kp; i += TILE_K) {
        const int8_t *b = w + i * PANEL;

        _tile_loadd(4, x + i, kp);
        _tile_loadd(6, b, STRIDE);
        _tile_dpbusd(0, 4, 6);
        fetch_lines(f);
        _tile_loadd(7, b + 4 * TILE, STRIDE);
        _tile_dpbusd(1, 4, 7);
        _tile_loadd(6, b + 8 * TILE, STRIDE);
        _tile_dpbusd(2, 4, 6);
        _tile_loadd(7, b + 12 * TILE, STRIDE);
        _tile_dpbusd(3, 4, 7);
    }
    _tile_stored(0, sum[0], STRIDE);
    _tile_stored(1, sum[0] + TILE, STRIDE);
    _tile_stored(2, sum[0] + 2 * TILE, STRIDE);
    _tile_stored(3, sum[0] + 3 * TILE, STRIDE);
}

/* How the rows of a product are divided: n tiles of `rows` rows each. */
struct row_tiles { int n, rows; };

/* The first row of tile t. */
static int tile_start(const struct row_tiles *tiles, const struct gemm *g,
                      int t)
{
    return t < tiles->n - 1 ? t * tiles->rows : g->rows - tiles->rows;
}

/* Write the outputs of tile t, except for rows that the previous tile has
 * already written. */
static void finish_tile(const struct row_tiles *tiles, const struct gemm *g,
                        int t, int panel, int32_t (*sum)[PANEL])
{
    int skip = t * tiles->rows - tile_start(tiles, g, t);

    assert(skip >= 0 && skip < tiles->rows);
    finish_i8_avx512(g, t * tiles->rows, tiles->rows - skip, panel, sum + skip);
}

static void panel_product(const struct row_tiles *tiles, const struct gemm *g,
                          int panel)
{
    size_t kp = (size_t)pad_to(g->l->k, 4);
    const int8_t *w = (const int8_t *)g->l->w + (size_t)panel * kp * PANEL;
    int32_t sum[2][TILE][PANEL] __attribute__((aligned(64)));
    int steps = (int)(2 * kp / TILE_K);         /* of two tiles, per panel */
    struct tile_fetch f = {
        .at = (const char *)w + kp * PANEL,
        .bytes = (size_t)TILE_K * PANEL / (size_t)tiles->n,
        .ldy = g->ldy, .rows = (2 * tiles->rows + steps - 1) / steps,
    };
    int t = 0;

    for (; t + 2 <= tiles->n; t += 2) {
        const uint8_t *x0 = g->xq + (size_t)tile_start(tiles, g, t) * kp;
        const uint8_t *x1 = g->xq + (size_t)tile_start(tiles, g, t + 1) * kp;

        f.y = g->y + (size_t)t * (size_t)tiles->rows * g->ldy + panel * PANEL;
        f.rows_left = g->rows - t * tiles->rows < 2 * tiles->rows
                    ? g->rows - t * tiles->rows : 2 * tiles->rows;
        pass_two(x0, x1, kp, w, &f, sum[0], sum[1]);
        pass_two(x0, x1, kp, w + 8 * TILE, &f,
                 (int32_t (*)[PANEL])(sum[0][0] + 2 * TILE),
                 (int32_t (*)[PANEL])(sum[1][0] + 2 * TILE));
        finish_tile(tiles, g, t, panel, sum[0]);
        finish_tile(tiles, g, t + 1, panel, sum[1]);
    }
    if (t < tiles->n) {
        pass_one(g->xq + (size_t)tile_start(tiles, g, t) * kp, kp, w, &f,
                 sum[0]);
        finish_tile(tiles, g, t, panel, sum[0]);
    }
}

void gemm_i8_amx(const struct gemm *g, int p0, int p1)
{
    struct row_tiles tiles = { .n = (g->rows + TILE - 1) / TILE };

    require_gemm_i8(g, p0, p1);
    if (g->rows < MIN_ROWS || pad_to(g->l->k, 4) % TILE_K) {
        kernels_avx512.gemm_i8(g, p0, p1);
        return;
    }
    tiles.rows = (g->rows + tiles.n - 1) / tiles.n;
    assert(tiles.rows <= g->rows && tiles.n * tiles.rows >= g->rows);
    shape_tiles(tiles.rows);
    for (int p = p0; p < p1; p++) panel_product(&tiles, g, p);
    _tile_release();
}
