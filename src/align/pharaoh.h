/* pharaoh.h - word alignments as text, in the format of the Pharaoh decoder.
 *
 * A line has the links of a pair, separated by blanks: "0-0 1-2 2-1". The first
 * number is that of the source word, the second that of the target word, both
 * from 0. In a reference made by people, "1?2" or "1p2" is a possible link, and
 * "1-2" is a sure one. */
#ifndef ALIGN_PHARAOH_H
#define ALIGN_PHARAOH_H

#include "align/aligner.h"
#include "base/strbuf.h"

/* The largest word number that is accepted. */
#define PHARAOH_WORD_MAX 999999

struct gold_link {
    uint32_t source, target;
    bool sure;
};

struct gold_links {             /* initialize with zeros */
    struct gold_link *at;       /* [n] by source, then by target; distinct */
    size_t n, cap;
};
void gold_links_release(struct gold_links *g);

/* Reads a line. Replaces the contents of g. A link that occurs twice counts
 * once; it is sure if it was sure once. On failure (ST_FORMAT) *column is the
 * place of the error in the line, from 1, and e does not name it. */
enum status pharaoh_read(struct str line, struct gold_links *g, size_t *column,
                         struct err *e);
/* Appends the links of a pair, without a line end. Returns false when out of
 * memory. */
bool pharaoh_write(struct word_links links, struct strbuf *out);

/* ---- how well links agree with a reference ------------------------------- */

struct link_counts {            /* initialize with zeros */
    uint64_t links;             /* of the alignments */
    uint64_t sure, possible;    /* of the references; sure links are possible */
    uint64_t hit_sure, hit_possible;    /* links that are sure, or possible */
};

/* Adds the counts of a pair. */
void link_counts_add(struct link_counts *c, struct word_links links,
                     const struct gold_links *gold);
/* From 0 to 1; NaN if they are not defined (method 4.5). */
double link_counts_precision(const struct link_counts *c);
double link_counts_recall(const struct link_counts *c);
double link_counts_aer(const struct link_counts *c);

#endif
