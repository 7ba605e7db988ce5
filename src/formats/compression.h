/* compression.h - the compression formats that input.c reads and output.c
 * writes. */
#ifndef FORMATS_COMPRESSION_H
#define FORMATS_COMPRESSION_H

enum compression {
    COMPRESSION_NONE,
    COMPRESSION_GZIP,
    COMPRESSION_XZ,
    COMPRESSION_ZSTD
};

#endif
