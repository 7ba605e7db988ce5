/* sinusoid.c - computes positions as the programs do that trained the models.
 * They differ in the order of the elements, in the frequencies, and in whether
 * they compute with 32 or with 64 bits. */
#include "model/sinusoid.h"

#include <math.h>

#include "base/invariant.h"

/* [sin | cos], with the frequencies of the original paper. Computed in f64, as
 * Hugging Face does. */
static void sinusoid_row_hf(float *row, int p, int d)
{
    int half = d / 2;

    for (int i = 0; i < half; i++) {
        double angle = p / pow(10000, (double)i / half);
        row[i] = (float)sin(angle);
        row[half + i] = (float)cos(angle);
    }
}

/* [sin | cos] (fairseq, Tensor2Tensor, Marian) or sin, cos, sin, cos, ... (the
 * original paper). Computed in f32. */
void sinusoid_row(float *row, int p, int d, enum positions kind)
{
    int half = d / 2;

    assert(p >= 0 && d >= 4 && d % 2 == 0 && kind != POS_LEARNED);
    if (kind == POS_HALVES_HF) {
        sinusoid_row_hf(row, p, d);
        return;
    }
    for (int i = 0; i < half; i++) {
        float step = kind == POS_HALVES ? (float)i / (float)(half - 1)
                                        : (float)(2 * i) / (float)d;
        float angle = (float)p * expf(-logf(10000.0f) * step);
        row[kind == POS_HALVES ? i : 2 * i] = sinf(angle);
        row[kind == POS_HALVES ? half + i : 2 * i + 1] = cosf(angle);
    }
}
