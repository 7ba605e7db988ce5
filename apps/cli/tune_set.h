/* tune_set.h - texts with known translations, to tune settings or to train a
 * network on, and the stored pairs that are similar to their sentences.
 *
 *     tune_set_pick()          picks pairs of a memory; or
 *     tune_set_add_line()      adds any line
 *     tune_set_add_sentence()  for each sentence of each line, in order
 *     tune_set_search()        finds the similar pairs of each sentence
 *
 * The functions print nothing and share nothing but the memory file, so several
 * threads may each use a set of their own. */
#ifndef TUNE_SET_H
#define TUNE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/textbuf.h"
#include "skmt_tools.h"

/* Long work reports its progress and asks whether to go on. */
enum tune_work { WORK_PICK, WORK_SEARCH, WORK_ADD, WORK_TRAIN };
struct tune_watch {
    /* Reports that `done` of `total` is done. Returns false to stop. */
    bool (*go_on)(void *user, enum tune_work work, size_t done, size_t total);
    void *user;
};

/* The memory, and how pairs are picked and searched for. */
struct tune_source {
    skmt_tm *tm;
    const char *const *names;   /* [n_names] memories to pick from; if n_names
                                   is 0, all that fit the model */
    int n_names;
    const skmt_model *model;
    skmt_options *options;      /* of the search; "matches" is changed */
    size_t limit;               /* pairs to pick; 0: all */
    bool at_random;             /* pick pairs at random; otherwise evenly
                                   spaced ones */
    uint64_t seed;              /* of the random numbers */
    const char *newest_of;      /* a memory whose newest pairs are all picked,
                                   n_newest of them; may be NULL */
    size_t n_newest;
    int max_pairs;              /* similar pairs of a sentence */
};

struct tune_line {
    uint64_t number;            /* of the line in its file, or of the pair */
    size_t source, source_len;  /* offset in the text of the set; a NUL follows
                                   the source */
    size_t target, target_len;
    size_t n_sentences;
};

struct tune_sentence {
    const char *text, *gap;     /* [len]; [gap_len] blanks before it */
    char *query;                /* a copy of the text, with a NUL at the end */
    size_t len, gap_len;
    size_t line;                /* index in the lines of the set */
    skmt_similar *pairs;        /* [n_pairs] best first; one block of memory
                                   with their texts */
    int n_pairs;
};

struct tune_set {
    bool from_memory;           /* the lines are pairs of the memory */
    bool leave_out;             /* pairs with the source of a line are left out
                                   of the memory while it is translated
                                   (leave-one-out). A network is always trained
                                   like this: in use, a stored sentence is not
                                   steered. */
    struct textbuf text;        /* of all lines; does not move once read */
    struct tune_line *lines;    /* [n] selected from n_all */
    size_t n, cap, n_all;
    struct tune_sentence *sentences;    /* [n_sentences], in order */
    size_t n_sentences, cap_sentences;
    double similarity;          /* mean similarity of the best pairs */
    size_t n_same;              /* sentences stored word for word */
};

void tune_set_release(struct tune_set *s);

/* Adds a line. Returns false if out of memory. */
bool tune_set_add_line(struct tune_set *s, uint64_t number, const char *source,
                       size_t source_len, const char *target,
                       size_t target_len);
/* Adds the sentence [begin, end) of a line. Returns false if out of memory. */
bool tune_set_add_sentence(struct tune_set *s, size_t line, size_t begin,
                           size_t end);
/* Makes each line one sentence. Returns false if out of memory. */
bool tune_set_add_whole_lines(struct tune_set *s);

/* Index i of n indices spread evenly over 0 .. n_all-1. */
size_t tune_set_spread(size_t i, size_t n, size_t n_all);

/* These two fail with SKMT_ERR_CANCELED if `watch` says so. */

/* Picks pairs of the memory and adds them as lines. They are left out of the
 * memory while their similar pairs are searched for. */
skmt_status tune_set_pick(struct tune_set *s, const struct tune_source *from,
                          const struct tune_watch *watch, skmt_error *err);
/* Finds the similar pairs of each sentence. */
skmt_status tune_set_search(struct tune_set *s, const struct tune_source *from,
                            const struct tune_watch *watch, skmt_error *err);

#endif
