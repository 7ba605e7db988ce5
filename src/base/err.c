/* err.c - fills in struct err and names the status codes. Messages longer than
 * the buffer are cut at a character boundary. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"

enum status err_set(struct err *e, enum status st, const char *fmt, ...)
{
    va_list ap;
    int n;

    assert((unsigned)st < ST_COUNT);
    if (!e) return st;
    e->status = st;
    va_start(ap, fmt);
    n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    if (n < 0) e->msg[0] = '\0';
    if (n >= (int)sizeof e->msg) {
        /* Do not leave half of a UTF-8 character before the "...". */
        size_t at = sizeof e->msg - 4;
        while (at > 0 && ((unsigned char)e->msg[at] & 0xC0) == 0x80) at--;
        memcpy(e->msg + at, "...", 4);
    }
    return st;
}

enum status err_nomem(struct err *e, const char *what)
{
    return err_set(e, ST_NOMEM, "out of memory (%s)", what);
}

void err_clear(struct err *e)
{
    if (!e) return;
    e->status = ST_OK;
    e->msg[0] = '\0';
    memset(e->reserved, 0, sizeof e->reserved);
}

const char *status_text(enum status st)
{
    static const char *const text[] = {
#define S(name, t) t,
        STATUS_LIST(S)
#undef S
    };
    return (unsigned)st < ST_COUNT ? text[st] : "unknown status";
}
