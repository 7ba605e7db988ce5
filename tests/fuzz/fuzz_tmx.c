/* fuzz_tmx.c - any bytes as TMX, packed or not, UTF-16 included. */
#include <stdint.h>

#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    round_trip(FORMAT_TMX, data, size);
    return 0;
}
