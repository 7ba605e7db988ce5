/* score_call.h - one call of "skmt score", from the options to the figures.
 *
 * cmd_score.c fills the first part, score_read.c the second; score_text.c and
 * score_json.c print it. A group is a choice of documents by their length; the
 * last one has all lines, and without documents it is the only one. */
#ifndef SCORE_CALL_H
#define SCORE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "skmt.h"
#include "textbuf.h"

#define BOUNDS_MAX 16
#define GROUPS_MAX (BOUNDS_MAX + 2)     /* those above the last bound; all */
#define FREQUENCIES_MAX 16

struct score_group {
    char label[48];             /* "51-100", "all" */
    size_t from, to;            /* lines of a document; SIZE_MAX: no end */
    size_t lines, documents;
};

struct figure {
    const char *metric, *title, *signature;
    double score, low, high, p;
    bool sampled, compared;     /* low and high; p */
};

struct score_file {
    const char *name;
    skmt_score *scores[GROUPS_MAX];
    struct figure *figures;     /* [n_groups][n_metrics] */
    skmt_words_info words[FREQUENCIES_MAX];     /* [n_frequencies] */
};

struct document { size_t first, id, id_len; };  /* id: offset in ids */

struct score_call {
    const char *ref;            /* the file that has the references */
    bool docs;                  /* its first column names the document */
    long column;                /* of the references, from 1; 0: whole lines */
    char *metrics;
    size_t bounds[BOUNDS_MAX];  /* [n_bounds], ascending */
    int n_bounds;
    bool words;                 /* accuracy by frequency too */
    const char *freq_corpus;    /* NULL: frequencies of the references */
    long resamples;             /* 0: no intervals */
    long seed;
    bool json;
    struct score_file *files;   /* [n_files] */
    int n_files;
    size_t name_width;          /* of the longest, at least "file" */

    struct textbuf refs;        /* one after the other */
    size_t *ends;               /* [n_refs] of each in refs */
    size_t n_refs, cap_refs;
    struct textbuf ids;
    struct document *documents; /* [n_documents] */
    size_t n_documents, cap_documents;
    struct score_group groups[GROUPS_MAX];
    int n_groups, n_metrics, n_frequencies;
    struct textbuf out;
};

/* Reads everything and works the figures out; returns an exit status. */
int score_read(struct score_call *c);

/* Into c->out. */
void score_text(struct score_call *c);
void score_json(struct score_call *c);

static inline const struct figure *figure_at(const struct score_call *c,
                                             int file, int group, int metric)
{
    return &c->files[file].figures[group * c->n_metrics + metric];
}

/* The R-indicator has figures of its own beside the score: its first five
 * details (see skmt.h). */
#define R_CLASSES 5
bool is_r(const char *metric);

#endif
