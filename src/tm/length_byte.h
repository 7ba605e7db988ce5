/* length_byte.h - a document's length in one byte, as Lucene keeps it.
 *
 * Lengths to 39 are exact, then steps of 2, 4, 8 .. rounded down: four
 * significant bits above 24. */
#ifndef TM_LENGTH_BYTE_H
#define TM_LENGTH_BYTE_H

#include <stdint.h>

#define LENGTH_FREE 24          /* lengths below it are bytes by themselves */

static inline uint8_t length_to_byte(uint32_t length)
{
    uint32_t v = length < INT32_MAX ? length : INT32_MAX;
    int shift;

    if (v < LENGTH_FREE) return (uint8_t)v;
    v -= LENGTH_FREE;
    if (v < 8) return (uint8_t)(LENGTH_FREE + v);
    shift = 28 - __builtin_clz(v);              /* leaves 4 bits */
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
