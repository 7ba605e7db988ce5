/* sha256.h - SHA-256 checksums, as sha256sum prints them (FIPS 180-4). */
#ifndef COMMON_SHA256_H
#define COMMON_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX_BYTES 65             /* 64 digits and a NUL */

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];            /* the first bytes % 64 are filled */
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t n);
/* Completes the computation; h cannot be used afterwards. */
void sha256_hex(struct sha256 *h, char hex[SHA256_HEX_BYTES]);

/* The checksum of a whole file; *bytes gets its size. Returns false on failure,
 * with the reason in errno. */
bool sha256_file(const char *path, char hex[SHA256_HEX_BYTES],
                 uint64_t *bytes);

#endif
