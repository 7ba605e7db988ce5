/* amx.c - int8 products in AMX tiles; all else is avx512.c's.
 *
 * One instruction multiplies 16 rows of 64 inputs by 64 inputs of 16 outputs.
 * A panel's bytes are in a tile's order already, its rows 256 bytes apart. Two
 * tiles of rows with two of outputs fill the 8 registers and load as often as
 * they multiply; a single tile of rows passes all 64 outputs instead. Rows are
 * shared evenly among tiles; what is over is the last tile reaching back over
 * rows that are done, so that one shape serves the whole product. Meanwhile
 * each tile of rows fetches its share of the next panel, and two tiles the
 * lines that they will write: many rows of outputs have left the near caches. */
#include <immintrin.h>

#include "tensor/cpu/tables.h"

#define TILE 16                 /* rows, and outputs */
#define TILE_K 64               /* inputs */
#define STRIDE (4 * PANEL)      /* bytes from four inputs to the next four, and
                                   from a row of sums to the next */

/* With fewer rows weights from far memory are waited for either way (8 rows,
 * Sapphire Rapids: 190 GMAC/s both), and vectors need no shapes. */
#define ROWS_MIN 8

/* What LDTILECFG reads: sums in 0 to 3, rows in 4 and 5, weights in 6 and 7. */
struct tile_shapes {
    uint8_t palette, start;
    uint8_t reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
};

static void shape_tiles(int rows)
{
    struct tile_shapes s = { .palette = 1 };

    for (int i = 0; i < 8; i++) {
        s.bytes[i] = TILE_K;
        s.rows[i] = i < 6 ? (uint8_t)rows : TILE;
    }
    /* gcc 12's _tile_loadconfig() tells of the first 8 bytes only. */
    __asm__ volatile("ldtilecfg %0" :: "m"(s));
}

/* What a pass fetches with every tile of inputs: so much of the weights, and
 * the outputs of so many rows, to be written. */
struct amx_fetch {
    const char *at;
    size_t bytes;
    const float *y;
    size_t ldy;
    int rows, rows_left;
};

static inline void fetch_some(struct amx_fetch *f)
{
    const char *end = f->at + f->bytes;

    for (; f->at < end; f->at += 64) _mm_prefetch(f->at, _MM_HINT_T1);
    for (int r = 0; r < f->rows && f->rows_left > 0; r++, f->rows_left--) {
        for (int o = 0; o < PANEL; o += 16) __builtin_prefetch(f->y + o, 1, 3);
        f->y += f->ldy;
    }
}

/* Two tiles of rows, x0 and x1, with 32 outputs from w on. */
static void pass_two(const uint8_t *x0, const uint8_t *x1, size_t kp,
                     const int8_t *w, struct amx_fetch *f,
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
        fetch_some(f);
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

/* One tile of rows with all 64 outputs. */
static void pass_one(const uint8_t *x, size_t kp, const int8_t *w,
                     struct amx_fetch *f, int32_t (*sum)[PANEL])
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
        fetch_some(f);
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

/* How the rows of a product are shared: n tiles of `rows` rows. */
struct share { int n, rows; };

static int tile_start(const struct share *s, const struct gemm *g, int t)
{
    return t < s->n - 1 ? t * s->rows : g->rows - s->rows;
}

/* Tile t's sums, but for rows that the tile before had already. */
static void finish_tile(const struct share *s, const struct gemm *g, int t,
                        int panel, int32_t (*sum)[PANEL])
{
    int skip = t * s->rows - tile_start(s, g, t);

    finish_i8_avx512(g, t * s->rows, s->rows - skip, panel, sum + skip);
}

static void panel_product(const struct share *s, const struct gemm *g,
                          int panel)
{
    size_t kp = (size_t)pad_to(g->l->k, 4);
    const int8_t *w = (const int8_t *)g->l->w + (size_t)panel * kp * PANEL;
    int32_t sum[2][TILE][PANEL] __attribute__((aligned(64)));
    int steps = (int)(2 * kp / TILE_K);         /* of two tiles with a panel */
    struct amx_fetch f = {
        .at = (const char *)w + kp * PANEL,
        .bytes = (size_t)TILE_K * PANEL / (size_t)s->n,
        .ldy = g->ldy, .rows = (2 * s->rows + steps - 1) / steps,
    };
    int t = 0;

    for (; t + 2 <= s->n; t += 2) {
        const uint8_t *x0 = g->xq + (size_t)tile_start(s, g, t) * kp;
        const uint8_t *x1 = g->xq + (size_t)tile_start(s, g, t + 1) * kp;

        f.y = g->y + (size_t)t * (size_t)s->rows * g->ldy + panel * PANEL;
        f.rows_left = g->rows - t * s->rows < 2 * s->rows
                    ? g->rows - t * s->rows : 2 * s->rows;
        pass_two(x0, x1, kp, w, &f, sum[0], sum[1]);
        pass_two(x0, x1, kp, w + 8 * TILE, &f,
                 (int32_t (*)[PANEL])(sum[0][0] + 2 * TILE),
                 (int32_t (*)[PANEL])(sum[1][0] + 2 * TILE));
        finish_tile(s, g, t, panel, sum[0]);
        finish_tile(s, g, t + 1, panel, sum[1]);
    }
    if (t < s->n) {
        pass_one(g->xq + (size_t)tile_start(s, g, t) * kp, kp, w, &f, sum[0]);
        finish_tile(s, g, t, panel, sum[0]);
    }
}

void gemm_i8_amx(const struct gemm *g, int p0, int p1)
{
    struct share s = { .n = (g->rows + TILE - 1) / TILE };

    if (g->rows < ROWS_MIN || pad_to(g->l->k, 4) % TILE_K) {
        kernels_avx512.gemm_i8(g, p0, p1);
        return;
    }
    s.rows = (g->rows + s.n - 1) / s.n;
    shape_tiles(s.rows);
    for (int p = p0; p < p1; p++) panel_product(&s, g, p);
    _tile_release();
}
