/* po_read.c - reads pairs from a gettext PO file.
 *
 * An entry is a pair of msgid and msgstr. An entry with plural forms gives
 * several pairs: msgid with msgstr[0], and msgid_plural with each of the other
 * forms. If the language has only one form, the pair is msgid_plural with
 * msgstr[0]. Each unit's extra data ("po") contains what the writer needs to
 * restore the entry:
 *
 *     context, comments (of all kinds, verbatim), obsolete, domain
 *     form, forms             of a plural entry: index and number of forms
 *     msgid or msgid_plural   the one that is not in the unit
 *
 * Fuzzy and obsolete entries are returned only with options.fuzzy; otherwise
 * they are counted as unfinished.
 *
 * A file states the language of its msgstr but not of its msgid, which is
 * English by convention, unless there is a field X-Source-Language. If the
 * requested languages only fit the other way round, source and target are
 * swapped, and the extra data of the file says so ("swapped"). */
#include <ctype.h>
#include <iconv.h>
#include <stdlib.h>
#include <strings.h>

#include "base/invariant.h"
#include "base/strbuf.h"
#include "formats/extra.h"
#include "formats/input.h"
#include "formats/linescan.h"
#include "formats/po.h"
#include "formats/reader.h"
#include "text/language.h"

#define LOOK_BYTES ((size_t)64 << 10)   /* contain the header */

enum direction {
    UNDECIDED,                  /* no header or entry was read yet */
    STRAIGHT,                   /* msgid is the source */
    SWAPPED,                    /* msgstr is the source */
    OTHER                       /* the file has other languages */
};

struct po_reader {
    struct reader r;
    struct linescan lines;
    bool lines_open;            /* `lines` is initialized */
    iconv_t convert;            /* to UTF-8; NO_ICONV if it is UTF-8 */
    char charset[64];
    struct strbuf converted;    /* the line in UTF-8 */
    struct str line;            /* unless empty, line_at.. is not parsed yet */
    size_t line_at;
    bool damaged;               /* the previous line was not valid text */
    bool damaged_id;            /* and began with msgid */
    struct po_entry en;
    uint64_t en_line;           /* number of its first line after comments */
    size_t form;                /* next plural form of en to return */
    enum direction direction;
    bool has_header;
    struct strbuf lang_id, lang_str;
    struct strbuf head, extra;  /* extra data of the file, of the unit */
    struct unit unit;
};

#define NO_ICONV ((iconv_t)-1)

/* ---- lines in UTF-8 ----------------------------------------------------- */

/* Returns the first entry of a file, from its msgid to the next msgid. */
static struct str first_entry(struct str s)
{
    static const char id[] = "\nmsgid";
    size_t k = sizeof id - 1;
    const char *p = memmem(s.p, s.n, id, k), *end;

    if (s.n >= k - 1 && !memcmp(s.p, id + 1, k - 1)) p = s.p;
    if (!p) return (struct str){ NULL, 0 };
    s.n -= (size_t)(p + 1 - s.p);
    s.p = p + 1;
    end = memmem(s.p, s.n, id, k);
    return (struct str){ s.p, end ? (size_t)(end - s.p) : s.n };
}

/* Returns where a header field begins in the raw bytes of a file: after a
 * quote, or after the \n of the preceding field in the same string. */
static const char *find_field(struct str s, const char *name)
{
    size_t len = strlen(name);
    const char *p = s.p, *end;

    if (!s.n) return NULL;
    end = s.p + s.n;
    while (p < end && (p = memmem(p, (size_t)(end - p), name, len))) {
        if (p > s.p && p[-1] == '"') return p;
        if (p > s.p + 1 && p[-2] == '\\' && p[-1] == 'n') return p;
        p += len;
    }
    return NULL;
}

/* Finds the charset in the raw bytes of a file. It must be known before the
 * first line is read, because comments above the header may already need it
 * (a translator's name). */
static struct str find_charset(struct str s)
{
    static const char mark[] = "charset=";
    const char *p, *end;
    size_t n = 0;

    s = first_entry(s);
    p = find_field(s, "Content-Type:");
    if (!p) return (struct str){ NULL, 0 };
    end = memchr(p, '\n', s.n - (size_t)(p - s.p));
    if (!end) end = s.p + s.n;
    p = memmem(p, (size_t)(end - p), mark, sizeof mark - 1);
    if (!p) return (struct str){ NULL, 0 };
    p += sizeof mark - 1;
    while (p + n < end && (isalnum((unsigned char)p[n]) ||
                           (p[n] && strchr("-_.:+", p[n]))))
        n++;
    return (struct str){ p, n };
}

static bool is_utf8(const char *charset)
{
    static const char *const names[] = {
        "", "UTF-8", "UTF8", "ASCII", "US-ASCII",
        "CHARSET"               /* of a template that is not filled in */
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(charset, names[i])) return true;
    return false;
}

/* iconv reads the backslash as a yen sign in SHIFT_JIS, but not in its superset
 * CP932. */
static const char *iconv_name(const char *charset)
{
    return !strcasecmp(charset, "SHIFT_JIS") || !strcasecmp(charset, "SJIS")
           ? "CP932" : charset;
}

/* The header was found by reading the bytes as ASCII. A charset in which these
 * bytes mean something else (UTF-16, EBCDIC) cannot be that of the file. */
static bool agrees_with_ascii(iconv_t convert)
{
    static const char ascii[] = "msgid \"Content-Type: text/plain\"";
    char room[4 * sizeof ascii], *to = room;
    char *from = (char *)(uintptr_t)ascii;
    size_t left = sizeof ascii - 1, room_left = sizeof room;

    iconv(convert, NULL, NULL, NULL, NULL);
    return iconv(convert, &from, &left, &to, &room_left) != (size_t)-1 &&
           (size_t)(to - room) == sizeof ascii - 1 &&
           !memcmp(room, ascii, sizeof ascii - 1);
}

static enum status open_charset(struct po_reader *p, struct str charset,
                                struct err *e)
{
    const char *name = input_name(p->r.in);
    bool po_read_fits = charset.n < sizeof p->charset;

    if (po_read_fits && charset.n) memcpy(p->charset, charset.p, charset.n);
    if (po_read_fits && is_utf8(p->charset)) return ST_OK;
    if (po_read_fits) p->convert = iconv_open("UTF-8", iconv_name(p->charset));
    if (p->convert == NO_ICONV)
        return err_set(e, ST_FORMAT, "%s: the header says charset=%.*s, "
                       "which this system does not know; try to convert the "
                       "file with msgconv -t UTF-8", name,
                       (int)(charset.n < 100 ? charset.n : 100), charset.p);
    if (!agrees_with_ascii(p->convert))
        return err_set(e, ST_FORMAT, "%s: the header says charset=%s, but "
                       "the file is not in this encoding; correct the header",
                       name, p->charset);
    return ST_OK;
}

static enum status po_open_lines(struct po_reader *p, struct err *e)
{
    enum status st = linescan_init(&p->lines, p->r.in, 4 * p->r.o.max_text,
                                   e);

    if (!st) st = linescan_more(&p->lines, LOOK_BYTES, e);
    /* A byte order mark overrides the header. */
    if (!st && !input_marked(p->r.in))
        st = open_charset(p, find_charset(linescan_rest(&p->lines)), e);
    if (st) return st;
    po_entry_release(&p->en);
    po_entry_init(&p->en, p->r.o.max_text);
    p->lines_open = true;
    return ST_OK;
}

/* Converts a line into p->converted. *at is the offset of the first invalid
 * byte, or raw.n. Returns false when out of memory. */
static bool to_utf8(struct po_reader *p, struct str raw, size_t *at)
{
    char *from = (char *)(uintptr_t)raw.p;
    size_t left = raw.n, room;

    strbuf_reset(&p->converted);
    iconv(p->convert, NULL, NULL, NULL, NULL);
    /* One byte of any charset gives at most four bytes of UTF-8. */
    if (!strbuf_reserve(&p->converted, 4 * raw.n + 16)) return false;
    char *to = p->converted.data;
    room = 4 * raw.n + 16;
    iconv(p->convert, &from, &left, &to, &room);
    iconv(p->convert, NULL, NULL, &to, &room);
    p->converted.len = (size_t)(to - p->converted.data);
    assert(p->converted.len <= 4 * raw.n + 16);
    *to = '\0';
    *at = raw.n - left;
    return true;
}

/* Reads the next line into p->line. *more is false at the end of the file. *ok
 * is false if the line is damaged; it was reported then, and p->line has its
 * raw bytes. */
static enum status po_next_line(struct po_reader *p, bool *more, bool *ok,
                                struct err *e)
{
    struct scanned_line line;
    enum status st = linescan_next(&p->lines, &line, e);
    const char *fault = NULL;
    size_t at = 0;

    *more = line.found;
    *ok = false;
    p->line = line.text;
    p->line_at = 0;
    if (st || !line.found) return st;
    if (line.too_long)
        return reader_bad(&p->r, e, p->lines.line, 0, line.text, "expected a "
                          "line of at most %zu bytes", p->lines.limit);
    if (p->convert != NO_ICONV) {
        if (!to_utf8(p, line.text, &at)) return err_nomem(e, "a line");
        if (at < line.text.n)
            return reader_bad(&p->r, e, p->lines.line, at + 1, line.text,
                              "expected text in %s, as the header says",
                              p->charset);
        line.text = strbuf_view(&p->converted);
    }
    fault = text_fault(line.text, &at);
    if (fault) return reader_bad(&p->r, e, p->lines.line, at + 1, line.text,
                                 "%s", fault);
    p->line = line.text;
    *ok = true;
    return ST_OK;
}

/* ---- entries ------------------------------------------------------------ */

static bool line_begins(const struct po_reader *p, const char *with)
{
    size_t n = strlen(with), i = p->line_at;

    assert(i <= p->line.n);
    while (i < p->line.n && strchr(" \t", p->line.p[i])) i++;
    if (!n) return i == p->line.n;
    return p->line.n - i >= n && !memcmp(p->line.p + i, with, n);
}

static bool begins_id(const struct po_reader *p)
{
    return line_begins(p, "msgid") && !line_begins(p, "msgid_");
}

/* After an error, drops the entry and skips to a line at which another entry
 * certainly begins. had_id means that the next msgid belongs to another
 * entry. */
static enum status po_recover(struct po_reader *p, bool had_id, struct err *e)
{
    bool more = true, ok = true;
    enum status st = ST_OK;

    po_entry_reset(&p->en);
    p->damaged = false;
    do {
        st = po_next_line(p, &more, &ok, e);
    } while (!st && more && !(ok && (line_begins(p, "") ||
             line_begins(p, "#") || line_begins(p, "msgctxt") ||
             (had_id && begins_id(p)))));
    return st;
}

/* Handles a line that is not valid text. It either begins a new entry, so the
 * current one is complete, or it is part of the current entry, which is then
 * dropped. */
static enum status damaged_line(struct po_reader *p, bool *complete,
                                struct err *e)
{
    bool id = begins_id(p);
    bool other = p->line.n && !line_begins(p, "\"") &&
                 !line_begins(p, "#~") && (id || !line_begins(p, "msg") ||
                                           line_begins(p, "msgctxt"));

    if (!other || p->en.state != PO_STR || po_entry_lacks(&p->en))
        return po_recover(p, id || p->en.state >= PO_ID, e);
    *complete = p->damaged = true;
    p->damaged_id = id;
    return ST_OK;
}

/* Parses the current line. *complete is set if this completes a valid entry. */
static enum status po_use_line(struct po_reader *p, bool *complete,
                               struct err *e)
{
    bool first = p->en.state <= PO_DOMAIN;
    const char *why = NULL;
    enum po_step step;
    enum status st;

    step = po_entry_line(&p->en, p->line, &p->line_at, &why);
    if (first && p->en.state > PO_DOMAIN) p->en_line = p->lines.line;
    switch (step) {
    case PO_TAKEN:
        p->line = (struct str){ NULL, 0 };
        return ST_OK;
    case PO_BAD:
        st = reader_bad(&p->r, e, p->lines.line, p->line_at + 1, p->line,
                        "%s", why);
        return st ? st : po_recover(p, p->en.state >= PO_ID, e);
    case PO_NOMEM:
        return err_nomem(e, "an entry");
    case PO_COMPLETE:
        break;
    }
    why = po_entry_lacks(&p->en);
    *complete = !why;
    if (!why) return ST_OK;
    po_entry_reset(&p->en);     /* the current line begins another entry */
    return reader_bad(&p->r, e, p->en_line, 0, (struct str){ NULL, 0 }, "%s",
                      why);
}

/* Reads the next valid entry. *found is false at the end. */
static enum status next_entry(struct po_reader *p, bool *found, struct err *e)
{
    bool more = true, ok;
    enum status st = ST_OK;
    const char *why;

    *found = false;
    po_entry_reset(&p->en);
    if (p->damaged) st = po_recover(p, p->damaged_id, e);
    while (!st && !*found) {
        if (!p->line.n) {
            st = po_next_line(p, &more, &ok, e);
            if (st || !more) break;
            if (!ok) st = damaged_line(p, found, e);
        }
        if (!st && !*found && p->line.n) st = po_use_line(p, found, e);
    }
    if (st || *found || p->en.state == PO_NOTHING) return st;
    why = po_entry_lacks(&p->en);
    if (why) return reader_bad(&p->r, e, p->lines.line + 1, 1, p->line,
                               "%s, found the end of the file", why);
    *found = p->en.state > PO_DOMAIN;
    return ST_OK;
}

/* ---- the header and the languages --------------------------------------- */

static bool po_lang_fits(struct str lang, const char *wanted)
{
    return !lang.n || language_accepts(wanted, lang);
}

/* en_GB must have been translated from English. */
static bool is_english_variant(struct str lang)
{
    return lang.n > 3 && language_accepts("en", lang);
}

/* Decides which side is the source. First by what the file states, assuming
 * that msgid is English; then, if it states nothing about msgid, assuming that
 * msgid is in whatever language was requested. */
static enum direction po_choose_direction(struct str id, struct str str,
                                          const char *source,
                                          const char *target)
{
    struct str guess = id.n ? id : str_of("en");

    if (po_lang_fits(guess, source) && po_lang_fits(str, target))
        return STRAIGHT;
    if (po_lang_fits(str, source) && po_lang_fits(guess, target))
        return SWAPPED;
    if (id.n || is_english_variant(str)) return OTHER;
    if (po_lang_fits(str, target)) return STRAIGHT;
    return po_lang_fits(str, source) ? SWAPPED : OTHER;
}

/* Sets the direction and the languages of the units: those that the file
 * states, else those that were requested. */
static enum status po_decide_languages(struct po_reader *p, struct str header,
                                       struct err *e)
{
    const char *source = p->r.o.source_lang, *target = p->r.o.target_lang;
    struct str id = po_header_field(header, "X-Source-Language");
    struct str str = po_header_field(header, "Language");
    bool swapped;

    p->direction = po_choose_direction(id, str, source, target);
    swapped = p->direction == SWAPPED;
    if (!id.n) id = str_of(swapped ? target : source);
    if (!id.n) id = str_of("en");
    if (!str.n) str = str_of(swapped ? source : target);
    strbuf_reset(&p->lang_id);
    strbuf_reset(&p->lang_str);
    if (!strbuf_add(&p->lang_id, id.p, id.n) ||
        !strbuf_add(&p->lang_str, str.p, str.n))
        return err_nomem(e, "languages");
    return ST_OK;
}

static bool po_put_literal(struct strbuf *out, const char *key,
                           const char *value)
{
    return extra_put_key(out, key) && strbuf_adds(out, value);
}

/* Builds the extra data of the file. Without a header entry it only states that
 * source and target are swapped; comments belong to the current entry then. */
static enum status make_head(struct po_reader *p, bool header, struct err *e)
{
    struct strbuf *out = &p->head;
    bool ok;

    assert(!header || p->en.n_str > 0);
    strbuf_reset(out);
    ok = strbuf_adds(out, "{\"po\":{") &&
         (!header || (extra_put_key(out, "header") &&
                      extra_put_string(out, p->en.str[0].data,
                                       p->en.str[0].len) &&
                      extra_put(out, "comments",
                                strbuf_view(&p->en.comments)))) &&
         (p->direction != SWAPPED || po_put_literal(out, "swapped", "true")) &&
         strbuf_adds(out, "}}");
    if (!ok) return err_nomem(e, "a header");
    p->has_header |= header;
    p->r.extra = strbuf_view(out);
    return ST_OK;
}

/* Handles a header entry. The first one is that of the file; further ones
 * belong to other domains. */
static enum status take_header(struct po_reader *p, struct err *e)
{
    enum status st;

    assert(p->en.n_str > 0);
    st = po_decide_languages(p, strbuf_view(&p->en.str[0]), e);
    return st || p->has_header ? st : make_head(p, true, e);
}

static enum status no_header(struct po_reader *p, struct err *e)
{
    enum status st = po_decide_languages(p, (struct str){ NULL, 0 }, e);

    return st || p->direction != SWAPPED ? st : make_head(p, false, e);
}

/* ---- units -------------------------------------------------------------- */

static bool is_header(const struct po_entry *en)
{
    return !en->id.len && !en->has_context && !en->obsolete;
}

/* In a plural entry, msgid goes with the first form, unless there is only one
 * form. */
static bool uses_plural(const struct po_entry *en, size_t form)
{
    return en->has_plural && (form > 0 || en->n_str == 1);
}

static bool put_forms(struct po_reader *p, struct strbuf *out)
{
    const struct po_entry *en = &p->en;

    if (!en->has_plural) return true;
    return extra_put_key(out, "form") && strbuf_addf(out, "%zu", p->form) &&
           extra_put_key(out, "forms") && strbuf_addf(out, "%zu", en->n_str) &&
           (uses_plural(en, p->form)
            ? extra_put(out, "msgid", strbuf_view(&en->id))
            : extra_put(out, "msgid_plural", strbuf_view(&en->plural)));
}

static enum status make_extra(struct po_reader *p, struct err *e)
{
    const struct po_entry *en = &p->en;
    struct strbuf *out = &p->extra;
    bool ok;

    if (!en->has_context && !en->comments.len && !en->obsolete &&
        !en->domain.len && !en->has_plural)
        return ST_OK;
    strbuf_reset(out);
    ok = strbuf_adds(out, "{\"po\":{") &&
         (!en->has_context || (extra_put_key(out, "context") &&
                               extra_put_string(out, en->context.data,
                                                en->context.len))) &&
         extra_put(out, "comments", strbuf_view(&en->comments)) &&
         (!en->obsolete || po_put_literal(out, "obsolete", "true")) &&
         extra_put(out, "domain", strbuf_view(&en->domain)) &&
         put_forms(p, out) && strbuf_adds(out, "}}");
    if (!ok) return err_nomem(e, "an entry");
    p->unit.extra = strbuf_view(out);
    return ST_OK;
}

/* Makes a unit from form p->form of the entry. *u stays NULL if it is empty. */
static enum status make_unit(struct po_reader *p, const struct unit **u,
                             struct err *e)
{
    const struct po_entry *en = &p->en;
    struct str id = strbuf_view(uses_plural(en, p->form) ? &en->plural
                                                         : &en->id);
    struct str str = strbuf_view(&en->str[p->form]);
    bool swapped = p->direction == SWAPPED;
    enum status st;

    assert(p->direction == STRAIGHT || swapped);
    if (!id.n || !str.n) {
        p->r.counts.empty++;
        return ST_OK;
    }
    p->unit = (struct unit){
        .source = swapped ? str : id, .target = swapped ? id : str,
        .source_lang = strbuf_view(swapped ? &p->lang_str : &p->lang_id),
        .target_lang = strbuf_view(swapped ? &p->lang_id : &p->lang_str),
        .line = p->en_line,
    };
    st = make_extra(p, e);
    if (!st) *u = &p->unit;
    return st;
}

/* Reads one entry and sets p->form to its first form if its forms are wanted,
 * else to en.n_str. *more is false at the end. */
static enum status po_next_wanted_entry(struct po_reader *p, bool *more,
                                        struct err *e)
{
    enum status st = next_entry(p, more, e);
    const struct po_entry *en = &p->en;

    p->form = en->n_str;
    if (st || !*more) return st;
    if (is_header(en)) return take_header(p, e);
    if (p->direction == UNDECIDED) st = no_header(p, e);
    if ((en->fuzzy || en->obsolete) && !p->r.o.fuzzy)
        p->r.counts.unfinished += en->n_str;
    else if (p->direction == OTHER)
        p->r.counts.other_language += en->n_str;
    else p->form = 0;
    return st;
}

static enum status po_next(struct reader *r, const struct unit **u,
                           struct err *e)
{
    struct po_reader *p = (struct po_reader *)r;
    enum status st = p->lines_open ? ST_OK : po_open_lines(p, e);
    bool more = true;

    while (!st && more && !*u) {
        if (p->form < p->en.n_str) {
            st = make_unit(p, u, e);
            p->form++;
        } else {
            st = po_next_wanted_entry(p, &more, e);
        }
    }
    return st;
}

static void po_close(struct reader *r)
{
    struct po_reader *p = (struct po_reader *)r;

    linescan_release(&p->lines);
    if (p->convert != NO_ICONV) iconv_close(p->convert);
    po_entry_release(&p->en);
    strbuf_release(&p->converted);
    strbuf_release(&p->lang_id);
    strbuf_release(&p->lang_str);
    strbuf_release(&p->head);
    strbuf_release(&p->extra);
    free(p);
}

enum status po_reader_new(struct reader **out, struct err *e)
{
    static const struct reader_ops ops = { po_next, po_close };
    struct po_reader *p = calloc(1, sizeof *p);

    *out = NULL;
    if (!p) return err_nomem(e, "a reader");
    p->r.ops = &ops;
    p->convert = NO_ICONV;
    po_entry_init(&p->en, 0);
    strbuf_init(&p->converted, 0);
    strbuf_init(&p->lang_id, 0);
    strbuf_init(&p->lang_str, 0);
    strbuf_init(&p->head, 0);
    strbuf_init(&p->extra, 0);
    *out = &p->r;
    return ST_OK;
}
