/* err.h - errors as values: a status to branch on, a sentence for the user.
 *
 * Whatever can fail returns enum status (zero is good) and fills the caller's
 * struct err. The public header repeats this list as skmt_status; a test
 * compares the two. Nothing here allocates, prints or exits. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*  name      meaning, shown when there is no better sentence */
#define STATUS_LIST(S)                                        \
    S(OK,       "no error")                                   \
    S(NOMEM,    "out of memory")                              \
    S(IO,       "a file could not be read or written")        \
    S(FORMAT,   "a file is damaged or of another kind")       \
    S(VERSION,  "a file was made for another version")        \
    S(ARGUMENT, "an argument or option is not usable")        \
    S(TEXT,     "the text is not valid UTF-8")                \
    S(LIMIT,    "a limit was exceeded")                       \
    S(CANCELED, "stopped before the end")

enum status {
#define S(name, text) ST_##name,
    STATUS_LIST(S)
#undef S
    ST_COUNT
};

struct err {
    enum status status;
    char msg[500];
};

/* Fill e (may be NULL) and return st, so that a failure is one line:
 *     return err_set(e, ST_IO, "%s: %s", path, strerror(errno));
 * A message that does not fit is cut and ends in "...". */
__attribute__((format(printf, 3, 4)))
enum status err_set(struct err *e, enum status st, const char *fmt, ...);

/* The same for the one thing every module needs. `what` says what for. */
enum status err_nomem(struct err *e, const char *what);

void err_clear(struct err *e);                  /* NULL is fine */
const char *status_text(enum status st);        /* never NULL */

#endif
