/* xml.h - XML as it streams by: elements and text, with where they stand.
 *
 * A thin layer over expat. Element names come without the prefix that the root
 * element has; other prefixes stay, and are foreign to whoever reads. Nothing
 * outside the file is ever fetched: a DOCTYPE is passed over, one that
 * declares entities or default values is refused, and so is an entity that
 * only a DTD would know. Nesting is limited to XML_DEPTH, one token to 32 MiB;
 * limits of texts are the handlers' business.
 *
 * Handlers run inside xml_run(); after xml_pause() they are not called again
 * before the next xml_run(). One thread. */
#ifndef FORMATS_XML_H
#define FORMATS_XML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define XML_DEPTH 64

struct input;
struct reader;
struct xml;

struct xml_events {
    /* attrs: name, value, name, value, ..., NULL */
    void (*start)(void *user, const char *name, const char **attrs);
    void (*end)(void *user, const char *name);
    void (*text)(void *user, const char *s, size_t n);
};

struct xml_problem {
    uint64_t line, column;      /* from 1 */
    char why[300];
};

/* keep_raw: xml_seek is going to be used. The input is borrowed. */
enum status xml_new(struct xml **out, struct input *in,
                    const struct xml_events *events, void *user,
                    bool keep_raw, struct err *e);
void xml_free(struct xml *x);                   /* NULL is fine */

enum xml_stop {
    XML_PAUSED,                 /* a handler called xml_pause */
    XML_ENDED,                  /* the file is complete */
    XML_BROKEN                  /* see xml_problem */
};
/* ST_OK unless the input itself fails or memory does. */
enum status xml_run(struct xml *x, enum xml_stop *why, struct err *e);
const struct xml_problem *xml_problem(const struct xml *x);

/* ---- from within handlers ---- */

void xml_pause(struct xml *x);
/* Give up here: xml_run stops with XML_BROKEN. `up` 0 names the place of this
 * event, 1 that of the innermost open element's start, 2 its parent's ... */
__attribute__((format(printf, 3, 4)))
void xml_refuse(struct xml *x, int up, const char *fmt, ...);
void xml_nomem(struct xml *x);                  /* xml_run fails with it */
uint64_t xml_line(const struct xml *x);         /* of this event */
int xml_depth(const struct xml *x);             /* open elements, with the
                                                   one being started or ended */
const char *xml_open_name(const struct xml *x, int depth);  /* 1: the root */
void xml_unit_begins(struct xml *x);            /* raw bytes from here on */
void xml_unit_ends(struct xml *x);

/* ---- after XML_BROKEN, with keep_raw ---- */

/* Go to the next start tag with one of these names (NULL-terminated); *which
 * is its number, or -1 at the end of the file. xml_raw has the bytes from the
 * unit's beginning up to there, 64 KiB at most. */
enum status xml_seek(struct xml *x, const char *const *names, int *which,
                     struct err *e);
struct str xml_raw(const struct xml *x);
/* Read on from there as if these elements (NULL-terminated) were open. */
enum status xml_restart(struct xml *x, const char *const *path,
                        struct err *e);

/* Both for a reader (keep_raw is its skip_bad): say what is wrong, in its
 * error or to its reject function; then *which as xml_seek. */
enum status xml_report(struct xml *x, struct reader *r,
                       const char *const *names, int *which, struct err *e);

#endif
