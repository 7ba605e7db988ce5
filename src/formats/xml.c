/* xml.c - runs expat over an input and reports elements, text and positions.
 *
 * The input's buffer is the chunk that expat parses. It is consumed when expat
 * has parsed all of it. After a restart, expat first receives the start tags of
 * the open elements (the path), which are not in the file. Its positions on the
 * first line are therefore too large by the length of the path; xml_position()
 * corrects them.
 *
 * Invariants: 0 <= depth <= XML_DEPTH, and open[0..depth) are the open
 * elements. Once `refused` is set, no handler is called until xml_restart().
 * raw.len <= MAX_RAW. */
#include "formats/xml.h"

#include <errno.h>
#include <expat.h>
#include <iconv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/invariant.h"
#include "base/strbuf.h"
#include "formats/input.h"
#include "formats/reader.h"

#define NAME_BYTES 48
#define MAX_TOKEN ((uint64_t)32 << 20)
#define MAX_RAW ((size_t)64 << 10)
#define LOOK_AHEAD 128          /* enough for a prefix and a name */

struct xml_place { uint64_t byte, line, column; };  /* line, column from 1 */

struct open_element {
    char name[NAME_BYTES];      /* truncated if longer */
    uint64_t line, column;
};

struct xml {
    XML_Parser p;
    struct input *in;
    struct xml_events on;
    void *user;
    char encoding[NAME_BYTES];
    char prefix[NAME_BYTES];    /* of the root: "xliff:" or "" */
    size_t prefix_n;

    const char *chunk;          /* bytes of the input that expat parses */
    size_t chunk_n;
    struct xml_place chunk_at;  /* of its first byte; the line is maintained
                                   with keep_raw only */
    bool paused, ended;
    bool in_path;               /* expat is parsing the path */
    uint64_t bytes_since_event;

    struct xml_place base;      /* where the parser was started */
    uint64_t path_bytes;        /* length of the path; 0 before a restart */
    struct open_element open[XML_DEPTH];
    int depth;

    bool refused, nomem;
    uint64_t bad_byte;          /* position of the event that was refused */
    struct xml_problem problem;

    bool keep_raw, in_unit;
    uint64_t unit_byte;         /* where the unit begins */
    struct strbuf raw;          /* its bytes before the chunk */
};

/* ---- positions ----------------------------------------------------------- */

static struct xml_place xml_position(const struct xml *x)
{
    struct xml_place at = x->base;
    uint64_t line = XML_GetCurrentLineNumber(x->p);
    uint64_t column = XML_GetCurrentColumnNumber(x->p);
    XML_Index byte = XML_GetCurrentByteIndex(x->p);

    if (line == 1 && column >= x->path_bytes)
        at.column += column - x->path_bytes;
    else if (line > 1)
        at.column = column + 1;
    at.line += line - 1;
    if (byte >= 0 && (uint64_t)byte >= x->path_bytes)
        at.byte += (uint64_t)byte - x->path_bytes;
    return at;
}

uint64_t xml_line(const struct xml *x)
{
    return x->base.line + XML_GetCurrentLineNumber(x->p) - 1;
}

int xml_depth(const struct xml *x)
{
    return x->depth;
}

const char *xml_open_name(const struct xml *x, int depth)
{
    assert(depth >= 1 && depth <= x->depth);
    return x->open[depth - 1].name;
}

const struct xml_problem *xml_problem(const struct xml *x)
{
    return &x->problem;
}

/* ---- refusing a file ----------------------------------------------------- */

static void refuse_at(struct xml *x, uint64_t line, uint64_t column,
                      const char *fmt, va_list ap)
{
    if (x->refused) return;             /* the first reason counts */
    x->refused = true;
    /* Now, because expat still moves on to the end of the tag. */
    x->bad_byte = xml_position(x).byte;
    x->problem.line = line;
    x->problem.column = column;
    vsnprintf(x->problem.why, sizeof x->problem.why, fmt, ap);
    XML_StopParser(x->p, XML_FALSE);
}

void xml_refuse(struct xml *x, int up, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (up > 0 && up <= x->depth) {
        struct open_element *el = &x->open[x->depth - up];
        refuse_at(x, el->line, el->column, fmt, ap);
    } else {
        struct xml_place at = xml_position(x);
        refuse_at(x, at.line, at.column, fmt, ap);
    }
    va_end(ap);
}

void xml_nomem(struct xml *x)
{
    x->nomem = true;
    xml_refuse(x, 0, "out of memory");
}

void xml_pause(struct xml *x)
{
    if (!x->refused) XML_StopParser(x->p, XML_TRUE);
}

/* ---- expat's events ------------------------------------------------------ */

static const char *local_name(const struct xml *x, const char *name)
{
    if (x->prefix_n && !strncmp(name, x->prefix, x->prefix_n))
        return name + x->prefix_n;
    return name;
}

static void learn_prefix(struct xml *x, const char *root)
{
    const char *colon = strchr(root, ':');
    size_t n = colon ? (size_t)(colon - root) + 1 : 0;

    if (n >= sizeof x->prefix) n = 0;
    memcpy(x->prefix, root, n);
    x->prefix[n] = '\0';
    x->prefix_n = n;
}

static void xml_on_start(void *user, const XML_Char *name,
                         const XML_Char **attrs)
{
    struct xml *x = user;
    struct open_element *el;
    struct xml_place at;
    size_t n;

    x->bytes_since_event = 0;
    if (x->refused) return;
    if (!x->depth && !x->in_path) learn_prefix(x, name);
    if (x->depth == XML_DEPTH) {
        xml_refuse(x, 0, "elements are nested more than %d deep", XML_DEPTH);
        return;
    }
    assert(x->depth >= 0 && x->depth < XML_DEPTH);
    at = xml_position(x);
    name = local_name(x, name);
    el = &x->open[x->depth++];
    n = strnlen(name, sizeof el->name - 1);
    memcpy(el->name, name, n);
    el->name[n] = '\0';
    el->line = at.line;
    el->column = at.column;
    if (!x->in_path) x->on.start(x->user, name, attrs);
}

static void xml_on_end(void *user, const XML_Char *name)
{
    struct xml *x = user;

    x->bytes_since_event = 0;
    if (x->refused) return;
    assert(x->depth > 0);
    x->on.end(x->user, local_name(x, name));
    x->depth--;
}

static void xml_on_text(void *user, const XML_Char *s, int n)
{
    struct xml *x = user;

    x->bytes_since_event = 0;
    if (!x->refused) x->on.text(x->user, s, (size_t)n);
}

static void xml_on_comment(void *user, const XML_Char *s)
{
    (void)s;
    ((struct xml *)user)->bytes_since_event = 0;
}

static void xml_on_entity(void *user, const XML_Char *name, int is_parameter,
                          const XML_Char *value, int n, const XML_Char *base,
                          const XML_Char *system, const XML_Char *public,
                          const XML_Char *notation)
{
    (void)is_parameter, (void)value, (void)n, (void)base, (void)system;
    (void)public, (void)notation;
    xml_refuse(user, 0, "the DOCTYPE declares the entity %.60s; entity "
               "declarations are not supported", name);
}

static void xml_on_attlist(void *user, const XML_Char *element,
                           const XML_Char *name, const XML_Char *type,
                           const XML_Char *value, int required)
{
    (void)type, (void)required;
    if (value) xml_refuse(user, 0, "the DOCTYPE declares a default value for "
                          "%.60s of <%.60s>; such declarations are not "
                          "supported", name, element);
}

static void xml_on_skipped(void *user, const XML_Char *name, int is_parameter)
{
    xml_refuse(user, 0, "%c%.60s; is not declared in this file, and external "
               "declarations are not read", is_parameter ? '%' : '&', name);
}

/* Sets *character to the character that a byte stands for, or -1 if it is not
 * valid. Returns false if the meaning of the byte depends on others: it is the
 * first of several bytes, or it changes the state of the decoder ('+' in UTF-7,
 * ESC in ISO-2022). */
static bool decode_byte(iconv_t cd, int value, int *character)
{
    char byte = (char)value, *from = &byte;
    unsigned char to[8], *out = to;
    size_t n_from = 1, n_to = sizeof to;

    *character = -1;
    iconv(cd, NULL, NULL, NULL, NULL);
    if (iconv(cd, &from, &n_from, (char **)&out, &n_to) == (size_t)-1)
        return errno != EINVAL;
    /* Some converters hold a letter back, because an accent might follow. */
    iconv(cd, NULL, NULL, (char **)&out, &n_to);
    if (n_to == sizeof to) return false;
    if (n_to == sizeof to - 4 && !to[2] && !to[3])
        *character = to[0] | to[1] << 8;
    return true;
}

/* Supports encodings with one byte per character, using iconv's tables. */
static int xml_on_encoding(void *user, const XML_Char *name, XML_Encoding *info)
{
    iconv_t cd = iconv_open("UTF-32LE", name);
    bool ok = true;

    (void)user;
    if (cd == (iconv_t)-1) return XML_STATUS_ERROR;
    for (int i = 0; i < 256; i++)
        ok = decode_byte(cd, i, &info->map[i]) && ok;
    iconv_close(cd);
    info->data = NULL;
    info->convert = NULL;
    info->release = NULL;
    return ok ? XML_STATUS_OK : XML_STATUS_ERROR;
}

static void set_handlers(struct xml *x)
{
    XML_SetUserData(x->p, x);
    XML_SetElementHandler(x->p, xml_on_start, xml_on_end);
    XML_SetCharacterDataHandler(x->p, xml_on_text);
    XML_SetCommentHandler(x->p, xml_on_comment);
    XML_SetEntityDeclHandler(x->p, xml_on_entity);
    XML_SetAttlistDeclHandler(x->p, xml_on_attlist);
    XML_SetSkippedEntityHandler(x->p, xml_on_skipped);
    XML_SetUnknownEncodingHandler(x->p, xml_on_encoding, NULL);
}

/* ---- opening ------------------------------------------------------------- */

/* Returns whether the name means UTF-8 here. It may also be the name of an
 * encoding in which the declaration could not have been read byte by byte: the
 * file was converted to UTF-8 but still declares its old encoding. Other names
 * that begin with UTF are encodings of their own: UTF-7, UTF-EBCDIC. */
static bool is_utf8_declaration(const char *name)
{
    static const char *const names[] = {
        "UTF-8", "UTF8", "UTF_8", "UTF-16", "UTF16", "UTF-16LE", "UTF-16BE",
        "UTF-32", "UTF32", "UTF-32LE", "UTF-32BE"
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(name, names[i])) return true;
    return false;
}

/* Finds the encoding that the XML declaration names. UTF-16 was already
 * converted, and a byte order mark overrides the declaration. An unknown name
 * becomes an error when the parser starts. */
static void find_encoding(struct xml *x, const char *s, size_t n)
{
    const char *end = n ? memchr(s, '>', n) : NULL;
    const char *at = end && n > 5 && !memcmp(s, "<?xml", 5)
                     ? memmem(s, (size_t)(end - s), "encoding", 8) : NULL;
    size_t k = 0;

    snprintf(x->encoding, sizeof x->encoding, "UTF-8");
    if (!at || input_marked(x->in)) return;
    for (at += 8; at < end && strchr(" \t\r\n=", *at); at++) {}
    if (at == end || (*at != '"' && *at != '\'')) return;
    for (at++; at < end && *at != '"' && *at != '\'' &&
         k + 1 < sizeof x->encoding; at++) x->encoding[k++] = *at;
    x->encoding[k] = '\0';
    if (!k || is_utf8_declaration(x->encoding))
        snprintf(x->encoding, sizeof x->encoding, "UTF-8");
}

enum status xml_new(struct xml **out, struct input *in,
                    const struct xml_events *events, void *user,
                    bool keep_raw, struct err *e)
{
    struct xml *x = calloc(1, sizeof *x);
    const char *s;
    enum status st;
    size_t n;

    *out = NULL;
    if (!x) return err_nomem(e, "XML");
    strbuf_init(&x->raw, MAX_RAW);
    x->in = in;
    x->on = *events;
    x->user = user;
    x->keep_raw = keep_raw;
    x->base = x->chunk_at = (struct xml_place){ 0, 1, 1 };
    st = input_peek_more(in, 256, &s, &n, e);
    if (!st) {
        find_encoding(x, s, n);
        x->p = XML_ParserCreate(x->encoding);
        if (!x->p) st = err_nomem(e, "XML");
    }
    if (!st) set_handlers(x);
    if (st) xml_free(x);
    else *out = x;
    return st;
}

void xml_free(struct xml *x)
{
    if (!x) return;
    if (x->p) XML_ParserFree(x->p);
    strbuf_release(&x->raw);
    free(x);
}

/* ---- running ------------------------------------------------------------- */

/* Advances a position over n bytes. */
static void advance_place(struct xml_place *at, const char *s, size_t n)
{
    const char *end = s + n, *nl, *line = NULL;

    for (const char *p = s; p < end && (nl = memchr(p, '\n',
         (size_t)(end - p))); p = nl + 1) {
        at->line++;
        line = nl + 1;
    }
    if (line) at->column = 1;
    at->column += (uint64_t)(end - (line ? line : s));
    at->byte += n;
}

static void xml_keep_raw(struct xml *x, const char *s, size_t n)
{
    size_t room = MAX_RAW - x->raw.len;

    assert(x->raw.len <= MAX_RAW);
    if (!strbuf_add(&x->raw, s, n < room ? n : room)) x->nomem = true;
}

/* Consumes n bytes of the chunk, and forgets the chunk. */
static void leave_chunk(struct xml *x, size_t n)
{
    assert(n <= x->chunk_n);
    if (x->keep_raw && x->in_unit) {
        size_t skip = x->unit_byte > x->chunk_at.byte
                      ? (size_t)(x->unit_byte - x->chunk_at.byte) : 0;
        if (skip < n) xml_keep_raw(x, x->chunk + skip, n - skip);
    }
    if (x->keep_raw) advance_place(&x->chunk_at, x->chunk, n);
    else x->chunk_at.byte += n;
    input_take(x->in, n);
    x->chunk_n = 0;
}

void xml_unit_begins(struct xml *x)
{
    if (!x->keep_raw) return;
    x->in_unit = true;
    x->unit_byte = xml_position(x).byte;
    strbuf_reset(&x->raw);
}

void xml_unit_ends(struct xml *x)
{
    x->in_unit = false;
}

/* Returns whether an element of this name is open. */
static bool is_open(const struct xml *x, const char *name)
{
    for (int i = x->depth; i-- > 0;)
        if (!strcmp(x->open[i].name, name)) return true;
    return false;
}

/* Copies the name of the end tag at the error; "" if it is not in the chunk. */
static void end_tag_name(const struct xml *x, char *out, size_t size)
{
    uint64_t at = xml_position(x).byte;
    const char *s, *end = x->chunk + x->chunk_n;
    size_t n = 0;

    out[0] = '\0';
    if (at < x->chunk_at.byte || at - x->chunk_at.byte >= x->chunk_n) return;
    s = x->chunk + (at - x->chunk_at.byte);     /* after the "</" */
    for (; s < end && n + 1 < size && !strchr(" \t\r\n>", *s); s++)
        out[n++] = *s;
    out[n] = '\0';
}

static void explain_mismatch(struct xml *x)
{
    char name[NAME_BYTES];
    const char *top = xml_open_name(x, x->depth);

    end_tag_name(x, name, sizeof name);
    if (!name[0] || is_open(x, local_name(x, name)))
        xml_refuse(x, 1, "<%s> is never closed", top);
    else
        xml_refuse(x, 0, "expected </%s>, found </%s>", top, name);
}

static void explain_end(struct xml *x)
{
    if (x->depth)
        xml_refuse(x, 0, "the file is not complete: it ends inside <%s> of "
                   "line %llu", x->open[x->depth - 1].name,
                   (unsigned long long)x->open[x->depth - 1].line);
    else
        xml_refuse(x, 0, "the file ends before its first element");
}

/* Turns expat's error code into a message for the user. */
static void explain_error(struct xml *x)
{
    enum XML_Error code = XML_GetErrorCode(x->p);

    if (x->refused) return;
    switch (code) {
    case XML_ERROR_NO_MEMORY:
        xml_nomem(x);
        break;
    case XML_ERROR_TAG_MISMATCH:
        if (x->depth) explain_mismatch(x);
        else xml_refuse(x, 0, "an end tag without a start tag");
        break;
    case XML_ERROR_NO_ELEMENTS:
    case XML_ERROR_UNCLOSED_TOKEN:
    case XML_ERROR_PARTIAL_CHAR:
    case XML_ERROR_UNCLOSED_CDATA_SECTION:
        explain_end(x);
        break;
    case XML_ERROR_INVALID_TOKEN:
        xml_refuse(x, 0, "not well-formed: a character that is not allowed "
                   "here (a bare & or <, or bytes that are not %s)",
                   x->encoding);
        break;
    case XML_ERROR_UNDEFINED_ENTITY:
        xml_refuse(x, 0, "an unknown entity; only &amp; &lt; &gt; &quot; "
                   "&apos; and character numbers are supported");
        break;
    case XML_ERROR_UNKNOWN_ENCODING:
        xml_refuse(x, 0, "the encoding %s is not supported; convert the file "
                   "to UTF-8", x->encoding);
        break;
    default:
        xml_refuse(x, 0, "not well-formed XML: %s", XML_ErrorString(code));
    }
}

/* Passes the next chunk to expat, or the end of the file. */
static enum status xml_feed(struct xml *x, enum XML_Status *ret, struct err *e)
{
    enum status st;

    if (x->chunk_n) leave_chunk(x, x->chunk_n);
    st = input_peek(x->in, &x->chunk, &x->chunk_n, e);
    if (st) return st;
    x->ended = x->chunk_n == 0;
    x->bytes_since_event += x->chunk_n;
    *ret = XML_Parse(x->p, x->chunk, (int)x->chunk_n, x->ended);
    return ST_OK;
}

enum status xml_run(struct xml *x, enum xml_stop *why, struct err *e)
{
    enum XML_Status ret = XML_STATUS_OK;
    enum status st = ST_OK;

    *why = XML_BROKEN;
    if (x->refused) return ST_OK;
    *why = XML_ENDED;
    do {
        if (x->paused) ret = XML_ResumeParser(x->p);
        else if (x->ended) return ST_OK;
        else st = xml_feed(x, &ret, e);
        if (st) return st;
        x->paused = ret == XML_STATUS_SUSPENDED;
        if (ret == XML_STATUS_OK && x->bytes_since_event > MAX_TOKEN) {
            xml_refuse(x, 0, "a tag or comment of more than %llu MiB",
                       (unsigned long long)(MAX_TOKEN >> 20));
            ret = XML_STATUS_ERROR;
        }
    } while (ret == XML_STATUS_OK);
    if (ret == XML_STATUS_ERROR) explain_error(x);
    if (x->nomem) return err_nomem(e, input_name(x->in));
    *why = ret == XML_STATUS_ERROR ? XML_BROKEN : XML_PAUSED;
    return ST_OK;
}

/* ---- recovery ------------------------------------------------------------ */

/* Returns which of the names the start tag at s has, or -1. */
static int match_name(const struct xml *x, const char *s, size_t n,
                      const char *const *names)
{
    if (n <= x->prefix_n + 1 || memcmp(s + 1, x->prefix, x->prefix_n))
        return -1;
    s += 1 + x->prefix_n;
    n -= 1 + x->prefix_n;
    for (int i = 0; names[i]; i++) {
        size_t k = strlen(names[i]);
        if (n > k && !memcmp(s, names[i], k) && strchr(" \t\r\n/>", s[k]) &&
            s[k])
            return i;
    }
    return -1;
}

/* Returns the offset of the first such tag at or after `from`. If there is
 * none, *which is -1 and the result is where to continue with more input. */
static size_t find_tag(const struct xml *x, size_t from,
                       const char *const *names, int *which)
{
    const char *end = x->chunk + x->chunk_n, *p = x->chunk + from;

    assert(from <= x->chunk_n);
    *which = -1;
    while (p < end && (p = memchr(p, '<', (size_t)(end - p)))) {
        *which = match_name(x, p, (size_t)(end - p), names);
        if (*which >= 0) return (size_t)(p - x->chunk);
        if (end - p < LOOK_AHEAD) return (size_t)(p - x->chunk);
        p++;
    }
    return x->chunk_n;
}

/* Returns the offset at which to look for the next unit: at the error, but
 * after the start tag of the broken unit and after the tag at which the parser
 * was last restarted. Otherwise the same tag would be found forever. */
static size_t seek_from(const struct xml *x)
{
    uint64_t at = x->bad_byte;

    if (x->in_unit && at <= x->unit_byte) at = x->unit_byte + 1;
    if (x->path_bytes && at <= x->base.byte) at = x->base.byte + 1;
    if (at <= x->chunk_at.byte) return 0;
    at -= x->chunk_at.byte;
    return at < x->chunk_n ? (size_t)at : x->chunk_n;
}

enum status xml_seek(struct xml *x, const char *const *names, int *which,
                     struct err *e)
{
    size_t from = x->chunk_n ? seek_from(x) : 0, at, n;
    enum status st;

    assert(x->keep_raw && x->refused);
    *which = -1;
    if (!x->in_unit) {                  /* keep everything from the error on */
        strbuf_reset(&x->raw);
        x->in_unit = true;
        x->unit_byte = x->bad_byte;
    }
    while (*which < 0) {
        at = find_tag(x, from, names, which);
        n = x->chunk_n;
        leave_chunk(x, at);
        from = 0;
        if (x->nomem) return err_nomem(e, input_name(x->in));
        if (*which >= 0) break;
        st = input_peek_more(x->in, LOOK_AHEAD, &x->chunk, &x->chunk_n, e);
        if (st) return st;
        if (!x->chunk_n) break;
        /* Skip a '<' for which more input was needed but none came. */
        from = at < n && x->chunk_n < LOOK_AHEAD ? 1 : 0;
    }
    x->in_unit = false;
    return ST_OK;
}

struct str xml_raw(const struct xml *x)
{
    return (struct str){ x->raw.data, x->raw.len };
}

static bool path_tags(const struct xml *x, struct strbuf *out,
                      const char *const *path)
{
    bool ok = true;

    for (; *path; path++) ok = ok && strbuf_addf(out, "<%s%s>", x->prefix,
                                                 *path);
    return ok;
}

enum status xml_restart(struct xml *x, const char *const *path,
                        struct err *e)
{
    struct strbuf tags;
    bool ok;

    assert(x->keep_raw && x->refused && !x->chunk_n);
    strbuf_init(&tags, 0);
    ok = path_tags(x, &tags, path) && XML_ParserReset(x->p, x->encoding);
    if (ok) {
        set_handlers(x);
        x->refused = x->paused = x->ended = false;
        x->depth = 0;
        x->bytes_since_event = 0;
        x->base = x->chunk_at;
        x->path_bytes = 0;
        x->in_path = true;
        ok = XML_Parse(x->p, tags.data, (int)tags.len, 0) == XML_STATUS_OK;
        x->in_path = false;
        x->path_bytes = tags.len;
    }
    strbuf_release(&tags);
    if (!ok && XML_GetErrorCode(x->p) == XML_ERROR_UNKNOWN_ENCODING)
        return err_set(e, ST_FORMAT, "%s: the encoding %s is not "
                       "supported; convert the file to UTF-8",
                       input_name(x->in), x->encoding);
    return ok ? ST_OK : err_nomem(e, "XML");
}

enum status xml_report(struct xml *x, struct reader *r,
                       const char *const *names, int *which, struct err *e)
{
    const struct xml_problem *bad = &x->problem;
    enum status st = ST_OK;

    *which = -1;
    if (r->o.skip_bad) st = xml_seek(x, names, which, e);
    if (st) return st;
    return reader_bad(r, e, bad->line, bad->column, xml_raw(x), "%s",
                      bad->why);
}
