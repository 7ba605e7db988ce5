/* xml.h - streaming XML events, with their positions in the file.
 *
 * A thin layer over expat. Element names are reported without the namespace
 * prefix of the root element. Other prefixes are kept; such elements are
 * foreign to the caller. Nothing outside the file is ever fetched: a DOCTYPE
 * is skipped, and a DOCTYPE that declares entities or default values is
 * refused, like an entity that only a DTD would define. Nesting is limited to
 * XML_DEPTH and one token to 32 MiB. The handlers limit the size of texts.
 *
 * Handlers run inside xml_run(). After xml_pause() they are not called again
 * before the next xml_run(). A struct xml belongs to one thread. */
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

/* Set keep_raw if xml_seek is going to be used. The input is borrowed. */
enum status xml_new(struct xml **out, struct input *in,
                    const struct xml_events *events, void *user,
                    bool keep_raw, struct err *e);
void xml_free(struct xml *x);                   /* NULL is allowed */

enum xml_stop {
    XML_PAUSED,                 /* a handler called xml_pause */
    XML_ENDED,                  /* the file is complete */
    XML_BROKEN                  /* xml_problem says why */
};
/* Parses until one of these happens. Returns an error only if reading the
 * input fails or memory runs out. */
enum status xml_run(struct xml *x, enum xml_stop *why, struct err *e);
const struct xml_problem *xml_problem(const struct xml *x);

/* ---- from within handlers ---- */

void xml_pause(struct xml *x);
/* Rejects the file here: xml_run stops with XML_BROKEN. `up` selects the
 * position that is reported: 0 is this event, 1 the start tag of the innermost
 * open element, 2 that of its parent, and so on. */
__attribute__((format(printf, 3, 4)))
void xml_refuse(struct xml *x, int up, const char *fmt, ...);
void xml_nomem(struct xml *x);          /* makes xml_run fail: out of memory */
uint64_t xml_line(const struct xml *x);         /* line of this event */
/* Returns the number of open elements, including the one that is being started
 * or ended. */
int xml_depth(const struct xml *x);
/* 1 <= depth <= xml_depth; 1 is the root. */
const char *xml_open_name(const struct xml *x, int depth);
/* Marks the beginning and end of the bytes that xml_raw returns. */
void xml_unit_begins(struct xml *x);
void xml_unit_ends(struct xml *x);

/* ---- after XML_BROKEN, with keep_raw ---- */

/* Skips to the next start tag with one of these names (NULL-terminated).
 * *which is the index of the name, or -1 at the end of the file. xml_raw then
 * returns the bytes from the beginning of the unit up to there, at most
 * 64 KiB. */
enum status xml_seek(struct xml *x, const char *const *names, int *which,
                     struct err *e);
struct str xml_raw(const struct xml *x);
/* Continues from there as if these elements (NULL-terminated) were open. */
enum status xml_restart(struct xml *x, const char *const *path,
                        struct err *e);

/* For a reader whose skip_bad equals keep_raw: reports the problem, as an error
 * or to the reader's reject function, and skips to the next start tag like
 * xml_seek. */
enum status xml_report(struct xml *x, struct reader *r,
                       const char *const *names, int *which, struct err *e);

#endif
