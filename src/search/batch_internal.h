/* batch_internal.h - the data of a batch, for batch.c, batch_rows.c and
 * batch_tokens.c only. batch.c states the invariants. */
#ifndef SEARCH_BATCH_INTERNAL_H
#define SEARCH_BATCH_INTERNAL_H

#include "search/batch.h"
#include "search/beam.h"
#include "search/states.h"

struct lane {
    struct job *job;            /* borrowed; NULL: the lane is idle */
    struct beam beam;
    struct states states;
    int *hyp_state;             /* [max_beam] states of the live hypotheses */
    int *hyp_state_next;        /* [max_beam] the same after the current step */
    int32_t *path, *path_next;  /* [max_beam, max_len] slots */
    int row, n_rows;            /* its rows in the current pass */
};

struct batch {
    const struct backend *backend;
    struct executor *x;
    bool failed;                /* the device failed; x can only be freed */
    struct batch_limits limits;
    struct lane *lanes;         /* [limits.lanes] */
    int n_busy;                 /* lanes with a job */
    int n_taken;                /* rows reserved by their beams */
    struct source *sources;     /* [lanes] being encoded */
    int *source_lane;           /* [lanes] the lane of each */
    int n_rows, n_drafts;       /* of the current pass */
    int max_rows;               /* limits.rows + limits.drafts */
    struct pass_row *rows;      /* [max_rows]. The next eight arrays have an
                                   entry, or a row, for each: */
    struct state **row_state;   /* the state that the row computes */
    int *row_pos;               /* number of tokens before it */
    const int32_t **row_path;   /* slots of the hypothesis */
    struct mixture *mix;
    struct projection *projected;
    struct token_logit *best;   /* [most_best] */
    int32_t *listed;            /* [PROJECT_LISTED] */
    float *listed_logit;        /* [PROJECT_LISTED] */
    int most_best;              /* best tokens that a row needs at most */
    int32_t *slot_token;        /* [slots] the token that led to a slot */
    struct batch_counts counts;
};

/* The tokens that search never uses: padding, BOS, and EOS at the first
 * position. So many more of the best tokens are asked for. */
enum { BARRED_TOKENS = 3 };

static inline int lane_index(const struct batch *b, const struct lane *l)
{
    return (int)(l - b->lanes);
}

/* batch_rows.c: choose the rows of the next pass, hypotheses and drafts. */
void batch_add_rows(struct batch *b);

/* batch_tokens.c: run the pass, and store the continuations of each row in its
 * state, which is known then. */
enum status batch_run_pass(struct batch *b, struct err *e);

#endif
