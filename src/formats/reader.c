/* reader.c - opens a file, recognizes its format and creates the reader of that
 * format; also what all readers share: counts and errors. It does
 * not parse any format itself. */
#include "formats/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/invariant.h"
#include "formats/csv.h"
#include "formats/input.h"

#define LOOK_BYTES INPUT_PEEK_MAX       /* read to recognize the format */
#define MAX_RAW ((size_t)64 << 10)      /* shown of a rejected unit */

/* ---- formats by name ---------------------------------------------------- */

static const struct {
    const char *name, *ending;
} known_formats[FORMAT_COUNT] = {
    [FORMAT_AUTO] = { "auto", "" },
#define F(id, name, ending) [FORMAT_##id] = { name, ending },
    FORMAT_LIST(F)
#undef F
};

/* Other extensions in use. */
static const struct {
    const char *ending;
    enum format format;
} other_endings[] = {
    { ".xliff", FORMAT_XLIFF }, { ".mxliff", FORMAT_XLIFF },
    { ".sdlxliff", FORMAT_XLIFF }, { ".mqxliff", FORMAT_XLIFF },
    { ".pot", FORMAT_PO }, { ".tab", FORMAT_TSV },
};

const char *format_name(enum format f)
{
    return (unsigned)f < FORMAT_COUNT ? known_formats[f].name : "unknown";
}

bool format_parse(const char *name, enum format *out)
{
    for (int f = FORMAT_AUTO; f < FORMAT_COUNT; f++)
        if (!strcasecmp(name, known_formats[f].name)) {
            *out = (enum format)f;
            return true;
        }
    return false;
}

static bool ends_in(const char *path, size_t n, const char *ending)
{
    size_t k = strlen(ending);

    return n > k && !strncasecmp(path + n - k, ending, k);
}

enum format format_of_path(const char *path)
{
    size_t n = strlen(path);

    if (ends_in(path, n, ".gz") || ends_in(path, n, ".xz")) n -= 3;
    else if (ends_in(path, n, ".zst")) n -= 4;
    for (int f = FORMAT_AUTO + 1; f < FORMAT_COUNT; f++)
        if (ends_in(path, n, known_formats[f].ending)) return (enum format)f;
    for (size_t i = 0; i < sizeof other_endings / sizeof *other_endings; i++)
        if (ends_in(path, n, other_endings[i].ending))
            return other_endings[i].format;
    return FORMAT_AUTO;
}

/* ---- formats by content ------------------------------------------------- */

static bool reader_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct str reader_skip_space(struct str s)
{
    while (s.n && reader_is_space(*s.p)) s.p++, s.n--;
    return s;
}

/* Returns what follows the next `mark`; empty if there is none. */
static struct str reader_after(struct str s, const char *mark)
{
    size_t k = strlen(mark);
    const char *at = s.n ? memmem(s.p, s.n, mark, k) : NULL;

    if (!at) return (struct str){ NULL, 0 };
    return (struct str){ at + k, s.n - (size_t)(at - s.p) - k };
}

static bool reader_begins(struct str s, const char *with)
{
    size_t k = strlen(with);

    return s.n >= k && !memcmp(s.p, with, k);
}

/* Skips everything that may precede the first element of an XML file. */
static struct str skip_prolog(struct str s)
{
    for (s = reader_skip_space(s); s.n; s = reader_skip_space(s)) {
        if (reader_begins(s, "<?")) s = reader_after(s, "?>");
        else if (reader_begins(s, "<!--")) s = reader_after(s, "-->");
        else if (reader_begins(s, "<!") &&
                 reader_after(s, "[").n > reader_after(s, ">").n)
            s = reader_after(reader_after(s, "]"), ">");
        else if (reader_begins(s, "<!")) s = reader_after(s, ">");
        else break;
    }
    return s;
}

/* Returns the name of the first element of an XML file, without prefix. */
static struct str root_element(struct str s)
{
    struct str name = { NULL, 0 };

    s = skip_prolog(s);
    if (!reader_begins(s, "<")) return name;
    name.p = s.p + 1;
    while (name.n + 1 < s.n && !reader_is_space(name.p[name.n]) &&
           name.p[name.n] != '>' && name.p[name.n] != '/') {
        bool prefix = name.p[name.n++] == ':';
        if (!prefix) continue;
        s.n -= name.n;
        name = (struct str){ name.p + name.n, 0 };
    }
    return name;
}

/* Removes the first line from *rest and returns it. */
static struct str first_line(struct str *rest)
{
    const char *nl = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    struct str line = { rest->p, nl ? (size_t)(nl - rest->p) : rest->n };

    rest->p += line.n + (nl != NULL);
    rest->n -= line.n + (nl != NULL);
    return line;
}

/* Recognizes PO or TSV by the first line that is neither empty nor a PO
 * comment. */
static enum format recognize_lines(struct str s)
{
    enum format format = FORMAT_AUTO;

    while (s.n) {
        struct str line = first_line(&s), text = reader_skip_space(line);
        bool tab = line.n && memchr(line.p, '\t', line.n);

        if (!text.n) continue;
        if ((reader_begins(text, "msgid") && !reader_begins(text, "msgid,") &&
             !reader_begins(text, "msgid;")) ||
            reader_begins(text, "msgctxt") || reader_begins(text, "#~ msg") ||
            reader_begins(text, "domain \""))
            return FORMAT_PO;
        if (tab) format = FORMAT_TSV;
        if (text.p[0] != '#') break;
    }
    return format;
}

static enum status reader_unknown_format(const char *name, struct str root,
                                         struct err *e)
{
    int n = root.n < 40 ? (int)root.n : 40;

    if (n) return err_set(e, ST_FORMAT, "%s: expected an XML file with <tmx> "
                          "or <xliff>, found <%.*s>", name, n, root.p);
    return err_set(e, ST_FORMAT, "%s: the format was not recognized (TMX, "
                   "XLIFF, PO, TSV or CSV); name it with --format",
                   name);
}

static size_t columns_wanted(const struct reader_options *o)
{
    int column[] = { o->source_column, o->target_column, o->document_column };
    size_t most = 2;

    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        if (column[i] > 0 && (size_t)column[i] > most)
            most = (size_t)column[i];
    return most;
}

/* Recognizes PO, TSV or CSV. A file whose name indicates another format is not
 * taken for CSV. */
static enum format recognize_text(struct str s, enum format by_name,
                                  const struct reader_options *o)
{
    enum format format = recognize_lines(s);

    if (format == FORMAT_PO) return format;
    if (by_name != FORMAT_AUTO && by_name != FORMAT_PARALLEL) return format;
    return csv_recognize(s, s.n < LOOK_BYTES, columns_wanted(o)) ? FORMAT_CSV
                                                                 : format;
}

/* Recognizes a format by content; by name only if the content is unclear. */
static enum status recognize_format(struct input *in, const char *path,
                                    const struct reader_options *o,
                                    enum format *out, struct err *e)
{
    enum format by_name = format_of_path(path), format = FORMAT_AUTO;
    struct str s, root = { NULL, 0 };
    enum status st = input_peek_more(in, LOOK_BYTES, &s.p, &s.n, e);

    if (st) return st;
    if (reader_begins(reader_skip_space(s), "<")) {
        root = root_element(s);
        if (str_eq(root, str_of("tmx"))) format = FORMAT_TMX;
        else if (str_eq(root, str_of("xliff"))) format = FORMAT_XLIFF;
        else if (root.n) by_name = by_name == FORMAT_TSV ||
                                   by_name == FORMAT_CSV ? by_name
                                                         : FORMAT_AUTO;
    }
    if (!format && by_name == FORMAT_CSV) format = FORMAT_CSV;
    if (!format && !root.n && s.n && !memchr(s.p, '\0', s.n))
        format = recognize_text(s, by_name, o);
    if (!format && by_name != FORMAT_PARALLEL) format = by_name;
    *out = format;
    return format ? ST_OK : reader_unknown_format(input_name(in), root, e);
}

/* ---- opening ------------------------------------------------------------ */

static enum status reader_of_format(struct reader **out, enum format f,
                                    struct err *e)
{
    switch (f) {
    case FORMAT_TMX: return tmx_reader_new(out, e);
    case FORMAT_XLIFF: return xliff_reader_new(out, e);
    case FORMAT_PO: return po_reader_new(out, e);
    case FORMAT_TSV:
    case FORMAT_CSV: return tsv_reader_new(out, e);
    case FORMAT_PARALLEL: return parallel_reader_new(out, e);
    default: return err_set(e, ST_ARGUMENT, "unknown format number %d", (int)f);
    }
}

/* Creates the reader. Takes ownership of both inputs, also on failure. */
static enum status reader_new(struct reader **out, struct input *in,
                              struct input *in_target, enum format f,
                              const struct reader_options *o, struct err *e)
{
    struct reader *r = NULL;
    char *source = o->source_lang ? strdup(o->source_lang) : NULL;
    char *target = o->target_lang ? strdup(o->target_lang) : NULL;
    enum status st = ST_OK;

    *out = NULL;
    if ((o->source_lang && !source) || (o->target_lang && !target))
        st = err_nomem(e, "languages");
    if (!st) st = reader_of_format(&r, f, e);
    if (st) {
        free(source);
        free(target);
        input_close(in);
        input_close(in_target);
        return st;
    }
    assert(r && f > FORMAT_AUTO && f < FORMAT_COUNT);
    r->format = f;
    r->in = in;
    r->in_target = in_target;
    r->o = *o;
    r->o.format = f;
    r->o.source_lang = source;
    r->o.target_lang = target;
    r->o.target_path = NULL;
    if (!r->o.max_text) r->o.max_text = UNIT_TEXT_MAX;
    *out = r;
    return ST_OK;
}

static enum status reader_check_target(enum format f, bool target,
                                       struct err *e)
{
    if (f == FORMAT_PARALLEL && !target)
        return err_set(e, ST_ARGUMENT, "plain text needs two files; the one "
                       "with the translations is missing");
    if (f != FORMAT_PARALLEL && f != FORMAT_AUTO && target)
        return err_set(e, ST_ARGUMENT, "only plain text has a second file; a "
                       "%s file contains both languages", format_name(f));
    return ST_OK;
}

enum status reader_open(struct reader **out, const char *path,
                        const struct reader_options *o, struct err *e)
{
    struct input *in = NULL, *in_target = NULL;
    enum format f = o->format;
    enum status st = reader_check_target(f, o->target_path != NULL, e);

    *out = NULL;
    if (!st && o->target_path && !strcmp(path, "-") &&
        !strcmp(o->target_path, "-"))
        st = err_set(e, ST_ARGUMENT, "only one of the two files can be "
                     "standard input");
    if (!st) st = input_open(&in, path, e);
    if (!st && o->target_path) st = input_open(&in_target, o->target_path, e);
    if (!st && !f && o->target_path) f = FORMAT_PARALLEL;
    if (!st && !f) st = recognize_format(in, path, o, &f, e);
    if (!st) return reader_new(out, in, in_target, f, o, e);
    input_close(in);
    input_close(in_target);
    return st;
}

enum status reader_open_memory(struct reader **out, const char *name,
                               struct str bytes, struct str target,
                               const struct reader_options *o, struct err *e)
{
    struct input *in = NULL, *in_target = NULL;
    enum format f = o->format;
    enum status st = reader_check_target(f, target.p != NULL, e);

    *out = NULL;
    if (!st) st = input_open_memory(&in, name, bytes.p, bytes.n, e);
    if (!st && target.p)
        st = input_open_memory(&in_target, name, target.p, target.n, e);
    if (!st && !f && target.p) f = FORMAT_PARALLEL;
    if (!st && !f) st = recognize_format(in, name, o, &f, e);
    if (!st) return reader_new(out, in, in_target, f, o, e);
    input_close(in);
    input_close(in_target);
    return st;
}

void reader_close(struct reader *r)
{
    struct input *in, *in_target;
    char *source, *target;

    if (!r) return;
    in = r->in;
    in_target = r->in_target;
    source = (char *)(uintptr_t)r->o.source_lang;
    target = (char *)(uintptr_t)r->o.target_lang;
    r->ops->close(r);
    input_close(in);
    input_close(in_target);
    free(source);
    free(target);
}

/* ---- reading ------------------------------------------------------------ */

enum status reader_next(struct reader *r, const struct unit **u,
                        struct err *e)
{
    enum status st;

    *u = NULL;
    st = r->ops->next(r, u, e);
    if (st) *u = NULL;
    assert(!*u || ((*u)->source.n && (*u)->target.n));
    if (*u) r->counts.units++;
    return st;
}

void reader_counts(const struct reader *r, struct reader_counts *out)
{
    *out = r->counts;
}

enum format reader_format(const struct reader *r)
{
    return r->format;
}

struct str reader_extra(const struct reader *r)
{
    return r->extra;
}

bool reader_waits(const struct reader *r)
{
    return input_waits(r->in) || (r->in_target && input_waits(r->in_target));
}

uint64_t reader_done(const struct reader *r)
{
    return input_done(r->in) +
           (r->in_target ? input_done(r->in_target) : 0);
}

uint64_t reader_total(const struct reader *r)
{
    uint64_t n = input_total(r->in), m = 0;

    if (r->in_target) {
        m = input_total(r->in_target);
        if (!m) n = 0;
    }
    return n ? n + m : 0;
}

/* ---- for the formats ---------------------------------------------------- */

enum status reader_bad(struct reader *r, struct err *e, uint64_t line,
                       uint64_t column, struct str raw, const char *fmt, ...)
{
    const char *name = input_name(r->in);
    struct reject bad = { name, line, column, NULL, raw };
    char why[400];
    va_list ap;

    assert(line > 0);
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    if (!r->o.skip_bad && column)
        return err_set(e, ST_FORMAT, "%s:%llu:%llu: %s", name,
                       (unsigned long long)line, (unsigned long long)column,
                       why);
    if (!r->o.skip_bad)
        return err_set(e, ST_FORMAT, "%s:%llu: %s", name,
                       (unsigned long long)line, why);
    r->counts.bad++;
    bad.why = why;
    if (bad.raw.n > MAX_RAW) bad.raw.n = MAX_RAW;
    if (r->o.reject && r->o.reject(r->o.user, &bad))
        return err_set(e, ST_CANCELED, "%s: stopped at line %llu", name,
                       (unsigned long long)line);
    return ST_OK;
}
