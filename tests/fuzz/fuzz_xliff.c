/* fuzz_xliff.c - any bytes as XLIFF, packed or not, UTF-16 included. */
#include <stdint.h>

#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    round_trip(FORMAT_XLIFF, data, size);
    return 0;
}
