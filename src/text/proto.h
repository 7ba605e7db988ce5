/* proto.h - reads a protocol-buffers message, field by field.
 *
 * A field is a varint (number << 3 | wire type) and a value. Wire type 0 is a
 * varint, 1 is eight bytes, 2 is a varint length and that many bytes, 5 is four
 * bytes. Numbers are little-endian. The cursor points to borrowed bytes. */
#ifndef TEXT_PROTO_H
#define TEXT_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto_cursor { const uint8_t *p, *end; };

struct proto_field {
    uint32_t number;
    int wire;
    uint64_t value;             /* wire types 0, 1 and 5 */
    struct proto_cursor bytes;  /* wire type 2 */
};

/* Reads the next field. Returns false at the end, and if the field is damaged;
 * *bad is set then. */
bool proto_next(struct proto_cursor *c, struct proto_field *f, bool *bad);

#endif
