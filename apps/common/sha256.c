/* sha256.c - computes SHA-256 (FIPS 180-4) of bytes and of files, for the
 * checksums of --record. It is written to be small, not fast. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/sha256.h"

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

void sha256_init(struct sha256 *h)
{
    static const uint32_t first[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
    };

    memset(h, 0, sizeof *h);
    memcpy(h->state, first, sizeof first);
}

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* Compute the message schedule: the 16 words of the block and 48 derived from
 * them. */
static void expand(const unsigned char *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16
               | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7]
               + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void sha256_add_block(struct sha256 *h, const unsigned char *block)
{
    uint32_t w[64], s[8];

    expand(block, w);
    memcpy(s, h->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25))
                     + ((e & s[5]) ^ (~e & s[6])) + round_constants[i] + w[i];
        uint32_t u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22))
                     + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t;
        s[0] = t + u;
    }
    for (int i = 0; i < 8; i++) h->state[i] += s[i];
}

void sha256_add(struct sha256 *h, const void *data, size_t n)
{
    const unsigned char *at = data;

    while (n > 0) {
        size_t filled = h->bytes % 64, part = 64 - filled;

        if (part > n) part = n;
        memcpy(h->block + filled, at, part);
        h->bytes += part;
        at += part;
        n -= part;
        if (filled + part == 64) sha256_add_block(h, h->block);
    }
}

void sha256_hex(struct sha256 *h, char hex[SHA256_HEX_BYTES])
{
    uint64_t bits = h->bytes * 8;
    unsigned char length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(h, "\x80", 1);
    while (h->bytes % 64 != 56) sha256_add(h, "", 1);
    sha256_add(h, length, sizeof length);
    assert(h->bytes % 64 == 0);         /* the last block is complete */
    for (int i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08lx", (unsigned long)h->state[i]);
}

bool sha256_file(const char *path, char hex[SHA256_HEX_BYTES],
                 uint64_t *bytes)
{
    static unsigned char buffer[1 << 16];
    struct sha256 h;
    int fd = open(path, O_RDONLY | O_CLOEXEC), why;
    ssize_t n;

    if (fd < 0) return false;
    sha256_init(&h);
    do {
        n = read(fd, buffer, sizeof buffer);
        if (n > 0) sha256_add(&h, buffer, (size_t)n);
    } while (n > 0 || (n < 0 && errno == EINTR));
    why = errno;
    *bytes = h.bytes;
    if (n == 0) sha256_hex(&h, hex);
    close(fd);
    errno = why;
    return n == 0;
}
