/* learn_call.h - one call of "skmt learn", from the options to the last line.
 *
 *     source line -> translation -> correction -> stored -> next source line
 *
 * cmd_learn.c fills the first part and opens the rest; learn_lines.c goes
 * through lines that come with their corrections, learn_ask.c asks a person
 * for them, learn_store.c stores them, learn_simulate.c plays it all with
 * references. */
#ifndef LEARN_CALL_H
#define LEARN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "lines.h"
#include "progress.h"
#include "skmt.h"
#include "steering.h"
#include "textbuf.h"

struct learn_outcome {          /* of storing a correction */
    int64_t id;                 /* of its pair; 0: none */
    bool added;                 /* the pair was not there before */
    int replaced;               /* other translations of the source */
};
struct stored_pair {            /* and what it takes to undo it */
    struct learn_outcome is;
    char *source, *target;
    skmt_matches *before;       /* what was like the source; may be NULL */
};
void stored_release(struct stored_pair *s);     /* zeroed struct is fine */

struct learn_call {
    const char *model_name, *output, *corrections, *simulate;
    const char *document, *author;      /* of what is stored; may be NULL */
    const char **files;         /* [n_files] */
    int n_files;
    bool keep;                  /* what the memory has for the source, too */
    bool baseline, json, quiet, help;
    struct steering steering;
    skmt_options *options;

    skmt_model *model;
    skmt_session *session;
    char *memory;               /* name of the one that is learned to */
    skmt_options *finding;      /* of what a correction replaces */
    struct learn_outcome outcome;  /* of the last correction */
    struct stored_pair last;    /* the last one that changed anything */
    int fd;                     /* where translations go; -1: nowhere */
    const char *fd_name;        /* for messages */
    struct progress progress;
    uint64_t lines, stored;

    skmt_result *result;        /* of the source below; NULL: none */
    struct textbuf source;
    struct textbuf text;        /* the translation, on one line, and a NUL */
    struct textbuf alternatives;        /* to it, as a JSON array; empty when
                                           there is none */
    struct textbuf out;         /* the line to be written */
};

/* ---- one line (learn_lines.c) */

/* Translate a source: c->result and c->text have it. What was translated last
 * is not translated again unless something was stored meanwhile. */
skmt_status learn_translate(struct learn_call *c, const char *source,
                            size_t len, skmt_error *err);
/* How similar the best pair of the memory is to a sentence of the source, 0 to
 * 1; *exact: some sentence was taken from there as it stands. */
double learn_similarity(const struct learn_call *c, bool *exact);
/* When this returns SKMT_OK the pair is on the disk; c->outcome tells more
 * (learn_store.c). */
skmt_status learn_store(struct learn_call *c, const char *source,
                        const char *target, skmt_error *err);
/* Take c->last back: what it replaced is there again. */
skmt_status learn_undo(struct learn_call *c, skmt_error *err);
/* Cut a line "source TAB correction"; *correction is NULL when there is none.
 * An exit status. */
int learn_split(struct learn_call *c, struct input_line *line,
                char **correction);
/* A text and a line end to the output, in one go. An exit status. */
int learn_write(struct learn_call *c, const char *text, bool cr);
/* The same for lines that are complete. */
int learn_write_bytes(struct learn_call *c, const struct textbuf *bytes);

/* What --output names, emptied; without one --simulate has none. An exit
 * status. */
int learn_open_output(struct learn_call *c);

/* "file:line: what" on stderr; the exit status for it. */
int learn_bad_line(struct learn_call *c, const struct input_line *line,
                   const char *what);
/* Says what failed; the exit status for it. */
int learn_failed(struct learn_call *c, const skmt_error *err);

/* ---- all lines; an exit status each */

int learn_lines(struct learn_call *c);
int learn_ask(struct learn_call *c);
int learn_simulate(struct learn_call *c);

#endif
