/* score_call.h - the state of one call of "skmt score".
 *
 * cmd_score.c parses the options, score_read.c reads the files and computes the
 * scores, score_text.c and score_json.c print them. A group is the documents
 * of a range of lengths. The last group has all lines; without documents it is
 * the only one. */
#ifndef SCORE_CALL_H
#define SCORE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/textbuf.h"
#include "skmt_tools.h"

#define BOUNDS_MAX 16
#define GROUPS_MAX (BOUNDS_MAX + 2)     /* plus above the last bound, and all */
#define FREQUENCIES_MAX 16

struct score_group {
    char label[48];             /* "51-100", "all" */
    size_t min_lines, max_lines;        /* of a document; SIZE_MAX: no limit */
    size_t lines, documents;
};

struct score_result {           /* one metric of one group of a file */
    const char *metric, *title, *signature;
    double score, low, high, p;
    bool has_interval;          /* low and high are set */
    bool has_p;                 /* p is set */
};

struct score_file {
    const char *name;
    skmt_score *scores[GROUPS_MAX];
    struct score_result *results;       /* [n_groups][n_metrics] */
    skmt_words_info words[FREQUENCIES_MAX];     /* [n_frequencies] */
};

struct document { size_t first, id, id_len; };  /* first line; offset in ids */

struct score_call {
    const char *ref;            /* the file of references */
    bool docs;                  /* its first column names the document */
    long column;                /* of the references, from 1; 0: whole lines */
    char *metrics;              /* comma-separated */
    size_t bounds[BOUNDS_MAX];  /* [n_bounds], ascending */
    int n_bounds;
    bool words;                 /* also show the accuracy of words by
                                   frequency */
    const char *freq_corpus;    /* NULL: frequencies in the references */
    long resamples;             /* 0: no intervals */
    long seed;
    bool json;
    struct score_file *files;   /* [n_files] */
    int n_files;
    size_t name_width;          /* of the longest file name, at least 4 */

    struct textbuf refs;        /* the references, concatenated */
    size_t *ends;               /* [n_refs] end of each in refs; ascending */
    size_t n_refs, cap_refs;
    struct textbuf ids;         /* the names of the documents, concatenated */
    struct document *documents; /* [n_documents], first ascending */
    size_t n_documents, cap_documents;
    struct score_group groups[GROUPS_MAX];
    int n_groups, n_metrics, n_frequencies;
    struct textbuf out;
};

/* Reads all files and computes the results. Returns an exit status. */
int score_read(struct score_call *c);

/* Append the tables or the JSON to c->out. */
void score_text(struct score_call *c);
void score_json(struct score_call *c);

static inline const struct score_result *
result_at(const struct score_call *c, int file, int group, int metric)
{
    return &c->files[file].results[group * c->n_metrics + metric];
}

/* Besides its score, the R-indicator has a value for each of five classes of
 * words: its first five details (see skmt_tools.h). */
#define R_CLASSES 5
bool is_r_indicator(const char *metric);

#endif
