/* err.h - errors as values: a status for the program to test, and a message
 * for the user.
 *
 * A function that can fail returns enum status (ST_OK is 0) and, on failure,
 * fills in the caller's struct err. The public header repeats the list as
 * skmt_status; a test compares the two. Nothing here allocates memory, prints
 * or exits. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*  name      text shown when there is no more specific message */
#define STATUS_LIST(S)                                        \
    S(OK,       "no error")                                   \
    S(NOMEM,    "out of memory")                              \
    S(IO,       "a file could not be read or written")        \
    S(FORMAT,   "a file is damaged or has the wrong format")  \
    S(VERSION,  "a file was made for another version")        \
    S(ARGUMENT, "an argument or option is not valid")         \
    S(TEXT,     "the text is not valid UTF-8")                \
    S(LIMIT,    "a limit was exceeded")                       \
    S(CANCELED, "stopped before the end")                     \
    S(DEADLINE, "the deadline has passed")                    \
    S(DEVICE,   "the device failed")

enum status {
#define S(name, text) ST_##name,
    STATUS_LIST(S)
#undef S
    ST_COUNT
};

struct err {
    enum status status;
    char msg[500];
    int reserved[2];            /* makes it as large as skmt_error */
};

/* Fill in e (which may be NULL) and return st, so that reporting a failure
 * takes one line:
 *     return err_set(e, ST_IO, "%s: %s", path, strerror(errno));
 * A message that does not fit is cut and ends in "...". Messages have no final
 * period. */
__attribute__((format(printf, 3, 4)))
enum status err_set(struct err *e, enum status st, const char *fmt, ...);

/* Report that memory ran out. `what` says what the memory was for. */
enum status err_nomem(struct err *e, const char *what);

void err_clear(struct err *e);                  /* NULL is fine */
const char *status_text(enum status st);        /* never NULL */

#endif
