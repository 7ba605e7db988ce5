/* xliff_internal.h - what the files of the XLIFF reader share. */
#ifndef FORMATS_XLIFF_INNER_H
#define FORMATS_XLIFF_INNER_H

#include "formats/gather.h"
#include "formats/inline.h"
#include "formats/reader.h"
#include "formats/xliff.h"
#include "formats/xml.h"

/* Buffers of a part: texts as XML, attributes as members of JSON. */
#define PART_BUFFERS(B)                                                 \
    B(mid)                      /* by which the two sides are matched */ \
    B(attrs) B(target_attrs)    /* of <segment>, of the two <mrk> */    \
    B(source_attrs)             /* of <source> and <target> */          \
    B(aim_attrs)                                                        \
    B(pre) B(target_pre)        /* what stood before it */

struct xliff_part {
#define B(name) struct strbuf name;
    PART_BUFFERS(B)
#undef B
    struct inline_text source, target;
    bool has_source, has_target, wanted;
    uint64_t line;
};

#define XLIFF_BUFFERS(B)                                                \
    B(version) B(root)          /* attributes of <xliff> */             \
    B(files) B(file_extra)                                              \
    B(file_attrs) B(file_head)                                          \
    B(document) B(source_lang) B(target_lang)                           \
    B(id) B(unit_attrs) B(head) B(source_attrs) B(target_attrs)         \
    B(post) B(target_post)      /* what stood behind the last part */   \
    B(extra)

struct xliff_group { struct strbuf attrs, raw; bool frozen; };

struct xliff_reader {
    struct reader r;
    struct xml *x;
    struct unit u;
    bool done, two;                     /* version 2 */
#define B(name) struct strbuf name;
    XLIFF_BUFFERS(B)
#undef B
    bool in_file, in_unit, in_segment;
    uint64_t line;

    struct gather g;
    struct inline_text *sink[2];
    int sink_depth;                     /* of <source>, <target>, or 0 */
    bool in_target;                     /* of version 1, and its */
    int mrk_depth;                      /* segment's <mrk>, or 0 */

    struct inline_text source, target;  /* the whole, in version 1 */
    struct inline_text seg_source, between;
    bool has_source, has_seg_source, has_target;
    struct xliff_part *part;            /* [n_made], n_part in use */
    size_t n_part, n_made, cap_part;
    size_t n_segments, n_aims;          /* <mrk> in seg-source, in target */
    size_t at;                          /* the next part to hand out */
    bool ready, more;

    struct xliff_group group[XML_DEPTH];
    int n_groups;
    char *fixed_source, *fixed_target;
};

/* The next part, empty; those of earlier units are used again. NULL: refused.
 * What points at parts is void after it. */
struct xliff_part *xliff_add_part(struct xliff_reader *t);

/* The unit is complete. True: there is something to hand out. */
bool xliff_finish_unit(struct xliff_reader *t);
/* While t->ready. */
enum status xliff_hand_out(struct xliff_reader *t, const struct unit **u,
                           struct err *e);

/* {"a":{attributes},"x":"children"} */
bool xliff_put_holder(struct strbuf *out, const struct strbuf *attrs,
                      const struct strbuf *raw);

#endif
