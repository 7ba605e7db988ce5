/* stream_elements.h - numbers in a stream, as floats. */
#ifndef CONVERT_STREAM_ELEMENTS_H
#define CONVERT_STREAM_ELEMENTS_H

#include "convert/elements.h"
#include "convert/file_stream.h"

/* Read n elements from `at` on, which lie one after another, in blocks. type is
 * not ELEMENT_OTHER. */
enum status stream_elements_read(struct file_stream *in, uint64_t at,
                                 enum element type, size_t n, float *out,
                                 struct err *e);

#endif
