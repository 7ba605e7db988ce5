/* elements.c - converts little-endian numbers of nine types to floats. It reads
 * byte by byte, because the numbers may lie at any address. It does not look
 * for NaN or infinity; readers of tensors do. */
#include "convert/elements.h"

#include <stdint.h>
#include <string.h>

#include "base/invariant.h"
#include "tensor/tensor.h"

size_t element_bytes(enum element type)
{
    switch (type) {
    case ELEMENT_I8: case ELEMENT_U8:
        return 1;
    case ELEMENT_F16: case ELEMENT_BF16: case ELEMENT_I16:
        return 2;
    case ELEMENT_F32: case ELEMENT_I32:
        return 4;
    case ELEMENT_F64: case ELEMENT_I64:
        return 8;
    case ELEMENT_OTHER:
        break;
    }
    return 0;
}

static uint64_t get_bytes(const uint8_t *p, size_t n)
{
    uint64_t u = 0;

    for (size_t i = 0; i < n; i++) u |= (uint64_t)p[i] << 8 * i;
    return u;
}

static float get_f32(const uint8_t *p)
{
    uint32_t u = (uint32_t)get_bytes(p, 4);
    float f;

    memcpy(&f, &u, sizeof f);
    return f;
}

static float get_f64(const uint8_t *p)
{
    uint64_t u = get_bytes(p, 8);
    double d;

    memcpy(&d, &u, sizeof d);
    return (float)d;
}

void elements_to_floats(enum element type, const void *bytes, size_t n,
                        float *out)
{
    const uint8_t *p = bytes;

#define EACH(size, value) \
    for (size_t i = 0; i < n; i++, p += (size)) out[i] = (value); \
    break
    switch (type) {
    case ELEMENT_F32: EACH(4, get_f32(p));
    case ELEMENT_F16: EACH(2, f16_to_f32((uint16_t)get_bytes(p, 2)));
    case ELEMENT_BF16: EACH(2, bf16_to_f32((uint16_t)get_bytes(p, 2)));
    case ELEMENT_F64: EACH(8, get_f64(p));
    case ELEMENT_I8: EACH(1, (int8_t)*p);
    case ELEMENT_U8: EACH(1, *p);
    case ELEMENT_I16: EACH(2, (int16_t)get_bytes(p, 2));
    case ELEMENT_I32: EACH(4, (float)(int32_t)get_bytes(p, 4));
    case ELEMENT_I64: EACH(8, (float)(int64_t)get_bytes(p, 8));
    case ELEMENT_OTHER:
        assert(!"a type that can be read");
    }
#undef EACH
}
