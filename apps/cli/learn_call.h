/* learn_call.h - the state of one call of "skmt learn".
 *
 *     source line -> translation -> correction -> stored -> next source line
 *
 * cmd_learn.c parses the options and opens the files. learn_lines.c processes
 * lines that come with their corrections, learn_ask.c asks a person for them,
 * learn_store.c stores them, learn_corrections.c keeps them for systems that
 * search all of them, learn_adapt.c trains the network again after some of
 * them, and learn_simulate.c simulates the whole process with references. */
#ifndef LEARN_CALL_H
#define LEARN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "adapt.h"
#include "common/lines.h"
#include "common/progress.h"
#include "common/steering.h"
#include "common/textbuf.h"
#include "skmt_tools.h"

struct learn_outcome {          /* the result of storing a correction */
    int64_t id;                 /* of its pair; 0: none */
    bool added;                 /* a pair was added */
    int n_replaced;             /* other translations that were deleted */
};
struct stored_pair {            /* a stored correction, and how to undo it */
    struct learn_outcome outcome;
    char *source, *target;
    skmt_matches *before;       /* the pairs similar to the source before it
                                   was stored; may be NULL */
    skmt_pair *deleted;         /* [n_deleted] every pair that it replaced;
                                   owns its strings */
    size_t n_deleted;
};
void stored_release(struct stored_pair *s);     /* s may be zeroed */

struct learn_call {
    const char *model_name, *output, *corrections, *simulate;
    const char *document, *author;      /* of stored pairs; may be NULL */
    const char **files;         /* [n_files] */
    int n_files;
    bool keep_alternatives;     /* --keep: do not delete other translations */
    bool baseline, json, quiet, help;
    bool wants_adapt;           /* --adapt */
    long adapt_every;           /* --adapt-every; 0: not given */
    struct steering steering;
    skmt_options *options;

    skmt_model *model;
    skmt_session *session;
    char *memory;               /* name of the memory for corrections */
    skmt_options *alternative_options;  /* to search for what a
                                           correction replaces */
    struct learn_outcome outcome;       /* of the last correction */
    struct stored_pair last;    /* the last one that changed the memory */
    int fd;                     /* output for translations; -1: none */
    const char *fd_name;        /* for messages */
    struct progress progress;
    uint64_t n_lines, n_stored;
    struct adapt *adapt;        /* NULL without --adapt */
    uint64_t n_stored_before;   /* n_stored at the last training */
    uint64_t n_trainings;       /* so far */
    skmt_corrections *online;   /* of this call; NULL: the system does not
                                   search them */
    struct given_pair *given;   /* [n_given] the texts of online */
    size_t n_given;

    skmt_result *result;        /* the translation of source; NULL: none */
    struct textbuf source;
    struct textbuf text;        /* the translation as one line, with a NUL */
    struct textbuf alternatives;        /* JSON array of other stored
                                           translations; empty if none */
    struct textbuf out;         /* the line to be written */
};

/* ---- one line (learn_lines.c) */

/* Translates a source, which has len bytes and a NUL, into c->result and
 * c->text. The previous source is not translated again unless the memory has
 * changed since. */
skmt_status learn_translate(struct learn_call *c, const char *source,
                            size_t len, skmt_error *err);
/* Returns the highest similarity, from 0 to 1, of a pair to a sentence of the
 * source. *exact is set if the stored translation of a sentence was reused. */
double learn_similarity(const struct learn_call *c, bool *exact);
/* Stores a correction and sets c->outcome. When this returns SKMT_OK, the pair
 * is on disk (learn_store.c). */
skmt_status learn_store(struct learn_call *c, const char *source,
                        const char *target, skmt_error *err);
/* Undoes c->last: deletes its pair and restores what it replaced. */
skmt_status learn_undo(struct learn_call *c, skmt_error *err);
/* Splits a line "source TAB correction". *correction is NULL if there is none.
 * Returns an exit status. */
int learn_split(struct learn_call *c, struct input_line *line,
                char **correction);
/* Writes a text and a line end ("\r\n" if cr). Returns an exit status. */
int learn_write(struct learn_call *c, const char *text, bool cr);
/* Writes complete lines. Returns an exit status. */
int learn_write_bytes(struct learn_call *c, const struct textbuf *bytes);

/* Opens and empties the --output file. The default is standard output; with
 * --simulate it is no output. Returns an exit status. */
int learn_open_output(struct learn_call *c);

/* Prints "file:line: what" on stderr. Returns EXIT_TROUBLE. */
int learn_bad_line(struct learn_call *c, const struct input_line *line,
                   const char *what);
/* Prints an error of the library. Returns the exit status for it. */
int learn_failed(struct learn_call *c, const skmt_error *err);

/* ---- systems that search all corrections (learn_corrections.c) */

/* Whether the system of the options is one of them. */
bool learn_uses_corrections(const struct learn_call *c);
/* Makes c->online if the system needs it. Call it when the model is open. */
skmt_status learn_corrections_begin(struct learn_call *c, skmt_error *err);
/* These do nothing if there is no c->online. */
skmt_status learn_corrections_add(struct learn_call *c, const char *source,
                                  const char *target, skmt_error *err);
skmt_status learn_corrections_remove(struct learn_call *c, const char *source,
                                     const char *target, skmt_error *err);
/* Call this after freeing sessions and streams. */
void learn_corrections_end(struct learn_call *c);

/* ---- training again (learn_adapt.c) */

/* Checks the options of --adapt. file_network: option "trust" of the settings
 * file. Returns an exit status. */
int learn_adapt_check(struct learn_call *c, const char *file_network);
/* Creates the settings file, if it does not exist, and prepares for trainings.
 * Call it when the memory is open. Returns an exit status. */
int learn_adapt_begin(struct learn_call *c);
/* Trains if enough corrections were stored. Call it after each. Does nothing
 * without --adapt. */
void learn_adapt_stored(struct learn_call *c);
/* Reports the result of a training that has ended. If there is a new network,
 * all later translations use it. Does nothing without --adapt. */
skmt_status learn_adapt_poll(struct learn_call *c, skmt_error *err);
/* Reports the result of a training that has ended, or cancels it. */
void learn_adapt_end(struct learn_call *c);
/* Makes c->options choose a network. */
skmt_status learn_adapt_use(struct learn_call *c, const char *network,
                            skmt_error *err);

/* ---- all lines; each returns an exit status */

int learn_lines(struct learn_call *c);
int learn_ask(struct learn_call *c);
int learn_simulate(struct learn_call *c);

#endif
