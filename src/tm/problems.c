/* problems.c - formats the problems that a check finds and passes them to its
 * caller. */
#include "tm/problems.h"

#include <stdarg.h>
#include <stdio.h>

void problems_add(struct problems *p, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    p->n++;
    if (p->fn) p->fn(p->user, text);
}
