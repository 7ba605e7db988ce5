/* xliff_internal.h - the state that xliff_read.c and xliff_unit.c share.
 *
 * Invariants: n_part <= n_alloc <= cap_part; parts beyond n_part keep their
 * buffers for the next unit. 0 <= n_groups <= XML_DEPTH. sink_depth is the
 * depth of the open <source>, <seg-source> or <target>, and 0 outside of them;
 * mrk_depth is either 0 or sink_depth + 1. Version 2 never sets mrk_depth. */
#ifndef FORMATS_XLIFF_INTERNAL_H
#define FORMATS_XLIFF_INTERNAL_H

#include "formats/gather.h"
#include "formats/inline.h"
#include "formats/reader.h"
#include "formats/xliff.h"
#include "formats/xml.h"

/* Buffers of a part: texts as XML, attributes as members of JSON. */
#define PART_BUFFERS(B)                                                 \
    B(mid)                      /* matches the source with the target */ \
    B(attrs) B(target_attrs)    /* of <segment>, of the two <mrk> */    \
    B(source_attrs)             /* of <source>, in version 2 */         \
    B(target_el_attrs)          /* of <target>, in version 2 */         \
    B(pre) B(target_pre)        /* the XML before the part */

/* A segment of a unit, or the whole unit. */
struct xliff_part {
#define B(name) struct strbuf name;
    PART_BUFFERS(B)
#undef B
    struct inline_text source, target;
    bool has_source, has_target;
    bool wanted;                /* to be returned to the caller */
    uint64_t line;
};

#define XLIFF_BUFFERS(B)                                                \
    B(version) B(root)          /* attributes of <xliff> */             \
    B(files) B(file_extra)                                              \
    B(file_attrs) B(file_head)                                          \
    B(document) B(source_lang) B(target_lang)                           \
    B(id) B(unit_attrs) B(head) B(source_attrs) B(target_attrs)         \
    B(post) B(target_post)      /* the XML after the last part */       \
    B(extra)

struct xliff_group {
    struct strbuf attrs;
    struct strbuf raw;          /* children before the first unit, as XML */
    bool frozen;                /* a unit was read: drop further children */
};

struct xliff_reader {
    struct reader r;
    struct xml *x;
    struct unit u;
    bool finished;                      /* no more units will come */
    bool version2;
#define B(name) struct strbuf name;
    XLIFF_BUFFERS(B)
#undef B
    bool in_file, in_unit, in_segment;
    uint64_t line;                      /* of the unit's start tag */

    struct gather g;
    struct inline_text *sink[2];        /* where text goes; may be NULL */
    int sink_depth;
    bool in_target;                     /* version 1: the sink is <target> */
    int mrk_depth;                      /* version 1: of the segment's <mrk> */

    struct inline_text source, target;  /* version 1: the unsplit texts */
    struct inline_text seg_source;
    struct inline_text inter_segment;   /* XML between the last segment and
                                           the next one */
    bool has_source, has_seg_source, has_target;
    struct xliff_part *part;            /* [n_alloc], n_part in use */
    size_t n_part, n_alloc, cap_part;
    size_t n_segments;                  /* <mrk> elements in <seg-source> */
    size_t n_target_mrks;               /* <mrk> elements in <target> */
    size_t next_part;                   /* next candidate to return */
    bool has_wanted;                    /* a wanted part is at or after it */
    bool handed_out;                    /* a part of this unit was returned */

    struct xliff_group group[XML_DEPTH];
    int n_groups;                       /* open groups */
    char *fixed_source, *fixed_target;  /* the first languages in the file,
                                           if none were requested */
};

/* Adds an empty part; buffers of earlier units are reused. Returns NULL after
 * telling the parser to stop. Pointers to parts become invalid. */
struct xliff_part *xliff_add_part(struct xliff_reader *t);

/* Ends the current unit and decides which parts to return. Returns true if
 * there are any. */
bool xliff_finish_unit(struct xliff_reader *t);
/* Returns the next wanted part. Requires t->has_wanted. */
enum status xliff_hand_out(struct xliff_reader *t, const struct unit **u,
                           struct err *e);

/* Appends {"a":{attributes},"x":"children"}. */
bool xliff_put_holder(struct strbuf *out, const struct strbuf *attrs,
                      const struct strbuf *raw);

#endif
