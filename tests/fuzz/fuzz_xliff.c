/* fuzz_xliff.c - reads any bytes as XLIFF, compressed or not, including UTF-16,
 * and writes the units back. */
#include <stdint.h>

#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    round_trip(FORMAT_XLIFF, data, size);
    return 0;
}
