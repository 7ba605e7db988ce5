/* stream_elements.c - reads a block of a stream, turns it into floats, and goes
 * on. Allocates nothing. */
#include "convert/stream_elements.h"

#include "base/invariant.h"

#define BLOCK 32768

enum status stream_elements_read(struct file_stream *in, uint64_t at,
                                 enum element type, size_t n, float *out,
                                 struct err *e)
{
    uint8_t block[BLOCK];
    size_t size = element_bytes(type);

    assert(size);
    while (n) {
        size_t k = n < BLOCK / size ? n : BLOCK / size;
        enum status st = file_stream_read(in, at, block, k * size, e);

        if (st) return st;
        elements_to_floats(type, block, k, out);
        at += k * size;
        out += k;
        n -= k;
    }
    return ST_OK;
}
