/* record.h - describes a run of the program in a JSON file (option --record;
 * docs/formats/record.md).
 *
 * Every command has the option without listing it: args.c handles it, and
 * reports all other arguments here while it parses them. Shared code reports
 * the rest: model_find() the model, the code that opens a memory the memory,
 * and main() the end of the run. A command itself only reports the defaults of
 * its own options.
 *
 * Without --record, all functions do nothing. Reported strings are copied,
 * except for strings of argv. */
#ifndef COMMON_RECORD_H
#define COMMON_RECORD_H

#include <stdbool.h>

#include "common/args.h"
#include "skmt_tools.h"

extern const struct opt record_option;  /* --record */

/* ---- for main() */

void record_start(int argc, char **argv);
/* Writes the record. status is the exit status of the command. Returns the
 * exit status of the program: status, or EXIT_TROUBLE if status is EXIT_DONE
 * and the record could not be written. */
int record_finish(int status);

/* ---- for args.c */

void record_parse_begin(const struct args *a);
void record_argument(enum arg what, const struct args *a);
void record_set_path(const char *path);
/* Call this after the last argument. Returns false, with the error on stderr,
 * if the record cannot be written or is one of the files that the command uses.
 * record_finish() returns the exit status of this error. */
bool record_parse_end(void);

/* ---- for commands */

/* Records the value that one of the command's own options has, which need not
 * be the one that was given. */
void record_value(const char *option, const char *value);
__attribute__((format(printf, 2, 3)))
void record_valuef(const char *option, const char *fmt, ...);
/* Records the library's options that the command accepts. o is read now and
 * again by record_model(), because a model can change what a default means. */
void record_options(describe_fn *describe, skmt_options *o);
/* Records the model. Returns EXIT_USAGE if the record would overwrite it. */
int record_model(const char *path, const skmt_model *model);
/* Records the state of the memory. Call this after opening it and again before
 * closing it. */
void record_memory(const char *path, skmt_tm *tm);
/* Records the datastore that is searched. */
void record_datastore(const char *path, skmt_datastore *ds);
/* Records the index that it is searched by, and how (skmt_datastore_use_index).
 */
void record_index(const char *path, int probes, int rerank);

#endif
