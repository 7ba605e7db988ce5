/* elements.h - the bytes of numbers in the files of other projects, as floats.
 *
 * All of them are little-endian and have no alignment. Nothing here allocates
 * memory or fails. */
#ifndef CONVERT_ELEMENTS_H
#define CONVERT_ELEMENTS_H

#include <stddef.h>

#include "convert/tensor_file.h"

/* The bytes of one element; 0 for ELEMENT_OTHER. */
size_t element_bytes(enum element type);

/* Write n elements to out as floats. Numbers that a float cannot hold are
 * rounded; a double that is too large becomes infinite. The type is not
 * ELEMENT_OTHER. */
void elements_to_floats(enum element type, const void *bytes, size_t n,
                        float *out);

#endif
