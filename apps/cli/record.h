/* record.h - what a command was asked to do and with what, as a file of JSON
 * (option --record; docs/formats/record.md).
 *
 * Every command has the option, without listing it: args.c takes it and reports
 * all other arguments here while it parses. The places that every command
 * shares report the rest: model_find() the model, whoever opens a memory the
 * memory, main() the end. A command only reports the defaults of its own
 * options.
 *
 * All calls do nothing when no record was asked for. What is reported is
 * copied, except for strings of argv. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>

#include "args.h"
#include "skmt.h"

extern const struct opt record_option;  /* of every command */

/* ---- for main() */

void record_start(int argc, char **argv);
/* Write the record; an exit status, that of the command unless writing failed
 * after it. */
int record_finish(int status);

/* ---- for args.c */

void record_parse_begin(const struct args *a);
void record_argument(enum arg what, const struct args *a);
void record_ask(const char *path);
/* All arguments were read. False, with the error on stderr: the record cannot
 * be written, or is one of the files that the command uses. record_finish()
 * gives the exit status for it. */
bool record_parse_end(void);

/* ---- for commands */

/* The value that an own option has in force, instead of what was given. */
void record_value(const char *option, const char *value);
__attribute__((format(printf, 2, 3)))
void record_valuef(const char *option, const char *fmt, ...);
/* The library's options that the command takes. o is looked at again when the
 * model is there, and not after the command has ended. */
void record_options(describe_fn *describe, skmt_options *o);
/* An exit status: the record must not replace the model. */
int record_model(const char *path, const skmt_model *model);
/* Call this when the memory was opened, and again before it is closed. */
void record_memory(const char *path, skmt_tm *tm);

#endif
