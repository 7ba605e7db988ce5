/* answer_internal.h - the texts of a call on their way to an answer.
 *
 * Also for: translate_call.
 *
 *     translate_call.c   checks the wish, cuts the texts, and joins the answer
 *     answer_run.c       queues the lines and waits for them
 *     answer_line.c      the forms of a line with marks, and its translations
 *
 * A line is translated in rounds: the first has all lines, the next ones have
 * those whose marks were not kept (marks.h), in their next form. */
#ifndef SERVER_ANSWER_INTERNAL_H
#define SERVER_ANSWER_INTERNAL_H

#include "common/textbuf.h"
#include "flight.h"
#include "marks.h"
#include "models.h"
#include "translate_call.h"
#include "work.h"

enum line_form { LINE_AS_IS, LINE_MASKED, LINE_BARE, LINE_DONE };

struct answer_line {
    size_t begin, end;          /* in the text */
    enum line_form form;
    enum line_form last;        /* the form that was kept, when it is done */
    struct marks marks;
    struct flight *flight;      /* NULL: not in a round */
    bool admitted;              /* counted in the ticket */
    int tries;                  /* canceled by another call */
    /* The outcome, when the form is LINE_DONE. n is 0 if the line is not
     * translated. */
    struct alternative *list;   /* [n] best first */
    int n;
    bool exact;
    double similarity;
    int source_tokens, target_tokens;
};

/* The options of the requests of one model. */
struct answer_options {
    const struct served_model *model;   /* NULL: not used by this call */
    skmt_options *plain, *attention;    /* attention: for bare lines */
    skmt_keys *keys;
};

struct answer_part {            /* a text */
    const char *text, *prefix;
    const struct served_model *model;
    struct answer_options *options;
    bool detected;
    double confidence;
    struct answer_line *lines;  /* [n] without blank lines */
    int n, cap;
};

struct answering {
    struct call *call;
    const struct wish *wish;
    struct server *server;
    struct work *work;
    struct account *account;
    struct answer_part *parts;  /* [n] */
    int n;
    struct answer_options *options;     /* [models_count] */
    char *signature;            /* what the keys of flights begin with */
    struct textbuf key;
    double until;               /* the deadline, by flight_clock */
    struct flight_party party;
    struct work_ticket ticket;
    skmt_tm *tm;                /* borrowed, or NULL */
    const struct served_model *tm_model;        /* what it was borrowed for */
    bool has_memory;
};

/* Translates all lines. Returns false after it has failed the call, or when the
 * call was canceled. */
bool answer_run(struct answering *x);

/* What is translated in the next round. It has n bytes. */
const char *line_text(const struct answer_part *p, const struct answer_line *l,
                      size_t *n);
/* Takes the translations of a line from its result, or moves it to its next
 * form. Returns false if out of memory. */
bool line_take(struct answer_line *l, const skmt_result *r);
void line_release(struct answer_line *l);

/* The error of text i of the call. */
void answer_fail(struct answering *x, const struct answer_part *p,
                 const skmt_error *err);
skmt_status answer_no_memory(skmt_error *err);

#endif
