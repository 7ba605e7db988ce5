/* align_call.h - the state of one call of "skmt align".
 *
 *     pairs -> aligner -> parameters -> links -> lines of output
 *
 * cmd_align.c parses the options and opens the files. align_pairs.c reads the
 * pairs, trains and aligns. align_print.c prints links and reports. */
#ifndef ALIGN_CALL_H
#define ALIGN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/progress.h"
#include "common/textbuf.h"
#include "skmt_tools.h"

enum align_print { ALIGN_PRINT_NUMBERS, ALIGN_PRINT_WORDS, ALIGN_PRINT_TOKENS,
                   ALIGN_PRINT_NONE, ALIGN_PRINT_JSON };

/* The texts of a pair. The strings have no terminating NUL. */
struct align_texts {
    const char *source, *target;
    size_t source_len, target_len;
};

/* An option that the library handles. */
struct align_setting { const char *name, *value; };

struct align_call {
    const char *output, *save, *load, *evaluate, *memory, *memory_name;
    const char *model_name;     /* --pieces; NULL: words */
    const char **files;         /* [n_files] */
    int n_files;
    enum align_print print;
    bool tokenized, keep_case, json, quiet, help;
    struct align_setting *settings;     /* [n_settings] of aligner and import */
    int n_settings;

    skmt_model *model;
    skmt_aligner *aligner;
    skmt_import *import;        /* settings for reading files */
    skmt_tm *tm;
    skmt_gold *gold;            /* NULL without --evaluate */
    skmt_output *out;           /* NULL: links are not printed */
    struct progress progress;
    char stage[32];             /* what progress shows */
    bool reported;              /* the head of the report was printed */
    uint64_t n_pairs;           /* read so far */
    struct textbuf kept;        /* the texts of all pairs, if they are printed
                                   after the training */
    size_t kept_at;             /* the next of them */
    struct textbuf line;        /* of the output */
};

/* All functions that return int return an exit status. */

/* Reads all pairs and writes their links (align_pairs.c). */
int align_pairs(struct align_call *c);

/* ---- align_print.c */

/* Writes the words of a pair: "source words ||| target words". */
int align_put_tokens(struct align_call *c, const struct align_texts *t);
/* Writes the links of a pair as --print asks for. t may be NULL for numbers. */
int align_put_links(struct align_call *c, const skmt_link *links, size_t n,
                    const struct align_texts *t);
/* Prints the result of --evaluate on standard output. */
int align_put_scores(struct align_call *c);
/* Prints the result of an iteration on standard error. */
skmt_aligner_fn align_report;
/* A statistic of the aligner by its name; 0 if unknown. */
int64_t align_stat(const struct align_call *c, const char *wanted);
/* Prints notes about pairs without links on standard error. */
void align_notes(struct align_call *c);

/* Shows progress. Returns non-zero after a signal. */
skmt_tm_progress_fn align_show_progress;
/* Prints the error of the library. Returns the exit status for it. */
int align_failed(struct align_call *c, const skmt_error *err);

#endif
