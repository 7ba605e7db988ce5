/* sinusoid.h - the formulas of sinusoidal positions. */
#ifndef MODEL_SINUSOID_H
#define MODEL_SINUSOID_H

#include "model/config.h"

/* Write the row of position p >= 0 to row [d]. d is even and at least 4; kind
 * is not POS_LEARNED. */
void sinusoid_row(float *row, int p, int d, enum positions kind);

#endif
