/* sha256.h - the SHA-256 of a file, as sha256sum prints it (FIPS 180-4). */
#ifndef SHA256_H
#define SHA256_H

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
void sha256_hex(struct sha256 *h, char hex[SHA256_HEX_BYTES]);  /* ends it */

/* A whole file; *bytes gets its size. False: errno says why. */
bool sha256_file(const char *path, char hex[SHA256_HEX_BYTES],
                 uint64_t *bytes);

#endif
