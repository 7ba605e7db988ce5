/* length_byte.h - the length of a document in one byte, in Lucene's encoding.
 *
 * Lengths up to 39 are exact. Longer ones are rounded down to a multiple of 2,
 * then 4, 8 and so on: length - 24 keeps its four most significant bits. The
 * byte grows with the length, and length_to_byte(length_of_byte(b)) == b. */
#ifndef TM_LENGTH_BYTE_H
#define TM_LENGTH_BYTE_H

#include <stdint.h>

#define LENGTH_FREE 24          /* a shorter length is its own byte */

static inline uint8_t length_to_byte(uint32_t length)
{
    uint32_t v = length < INT32_MAX ? length : INT32_MAX;
    int shift;

    if (v < LENGTH_FREE) return (uint8_t)v;
    v -= LENGTH_FREE;
    if (v < 8) return (uint8_t)(LENGTH_FREE + v);
    shift = 28 - __builtin_clz(v);              /* v >> shift has 4 bits */
    return (uint8_t)(LENGTH_FREE + ((v >> shift & 7)
                                    | (uint32_t)(shift + 1) << 3));
}

static inline uint32_t length_of_byte(uint8_t byte)
{
    uint32_t v = byte;

    if (v < LENGTH_FREE) return v;
    v -= LENGTH_FREE;
    if (v < 8) return LENGTH_FREE + v;
    return LENGTH_FREE + (((v & 7) | 8) << ((v >> 3) - 1));
}

#endif
