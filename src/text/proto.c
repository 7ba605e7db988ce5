/* proto.c - reads the fields of a protocol-buffers message.
 *
 * It refuses groups (wire types 3 and 4), which SentencePiece does not use,
 * field number 0, varints of more than ten bytes, and lengths that exceed the
 * message. */
#include "text/proto.h"

#include <string.h>

static bool read_varint(struct proto_cursor *c, uint64_t *out)
{
    uint64_t v = 0;

    for (int shift = 0; shift < 64 && c->p < c->end; shift += 7) {
        uint8_t b = *c->p++;

        v |= (uint64_t)(b & 0x7F) << shift;
        if (!(b & 0x80)) {
            *out = v;
            return true;
        }
    }
    return false;
}

static bool read_fixed(struct proto_cursor *c, int n, uint64_t *out)
{
    if (c->end - c->p < n) return false;
    *out = 0;
    for (int i = 0; i < n; i++) *out |= (uint64_t)*c->p++ << 8 * i;
    return true;
}

static bool read_bytes(struct proto_cursor *c, struct proto_cursor *out)
{
    uint64_t n;

    if (!read_varint(c, &n) || n > (uint64_t)(c->end - c->p)) return false;
    out->p = c->p;
    out->end = c->p += n;
    return true;
}

bool proto_next(struct proto_cursor *c, struct proto_field *f, bool *bad)
{
    uint64_t key;
    bool ok;

    if (c->p == c->end) return false;
    memset(f, 0, sizeof *f);
    ok = read_varint(c, &key) && key >> 3 != 0 && key >> 3 <= 0x1FFFFFFF;
    if (ok) {
        f->number = (uint32_t)(key >> 3);
        f->wire = (int)(key & 7);
        switch (f->wire) {
        case 0: ok = read_varint(c, &f->value); break;
        case 1: ok = read_fixed(c, 8, &f->value); break;
        case 2: ok = read_bytes(c, &f->bytes); break;
        case 5: ok = read_fixed(c, 4, &f->value); break;
        default: ok = false;
        }
    }
    if (!ok) *bad = true;
    return ok;
}
