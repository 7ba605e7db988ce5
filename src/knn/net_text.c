/* net_text.c - writes and reads the numbers and the checksum of a network that
 * is stored as text. What the numbers mean is up to the network. */
#include "knn/net_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"

char *net_text_put_floats(char *at, const float *values, int n)
{
    *at = 0;
    for (int i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        at += sprintf(at, "%08lx", (unsigned long)bits);
    }
    return at;
}

char *net_text_put_seal(const char *text, char *at)
{
    assert(at > text);
    return at + sprintf(at, " %016llx", (unsigned long long)XXH3_64bits(
                            text, (size_t)(at - text)));
}

bool net_text_number(const char *at, int digits, uint64_t *out)
{
    static const char all[] = "0123456789abcdef";

    *out = 0;
    for (int i = 0; i < digits; i++) {
        const char *d = at[i] ? strchr(all, at[i]) : NULL;

        if (!d) return false;
        *out = *out << 4 | (uint64_t)(d - all);
    }
    return true;
}

bool net_text_floats(const char *at, float *out, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t v;
        uint32_t bits;

        if (!net_text_number(at + 8 * i, 8, &v)) return false;
        bits = (uint32_t)v;
        memcpy(&out[i], &bits, sizeof bits);
        if (!isfinite(out[i])) return false;
    }
    return true;
}

bool net_text_sealed(const char *text, size_t n)
{
    uint64_t sum;

    return text[n] == ' ' && net_text_number(text + n + 1, 16, &sum) &&
           !text[n + NET_TEXT_SEAL] && sum == XXH3_64bits(text, n);
}
