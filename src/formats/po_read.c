/* po_read.c - pairs out of a gettext PO file.
 *
 * An entry is a pair of msgid and msgstr. One with plural forms is several:
 * msgid with msgstr[0], msgid_plural with each of the others; and only
 * msgid_plural with msgstr[0] where a language has no other form. What a
 * writer needs to put them together again is in each unit's extra ("po"):
 *
 *     context, comments (of all kinds, as they are), obsolete, domain
 *     form, forms             of a plural entry: which, of how many
 *     msgid or msgid_plural   the one that is not in the unit
 *
 * Fuzzy and obsolete entries are taken with options.fuzzy only, and counted as
 * unfinished otherwise.
 *
 * A file says in which language its msgstr are, but not its msgid (English by
 * custom; X-Source-Language when there is such a field). When the languages
 * asked for fit the other way round only, source and target are exchanged, and
 * extra of the file says so ("swapped"). */
#include <ctype.h>
#include <iconv.h>
#include <stdlib.h>
#include <strings.h>

#include "base/strbuf.h"
#include "formats/extra.h"
#include "formats/input.h"
#include "formats/linescan.h"
#include "formats/po.h"
#include "formats/reader.h"

#define LOOK_BYTES ((size_t)64 << 10)   /* the header is in these */

enum direction { UNDECIDED, STRAIGHT, SWAPPED, OTHER };

struct po_reader {
    struct reader r;
    struct linescan lines;
    bool begun;
    iconv_t convert;            /* to UTF-8; NO_ICONV: it is UTF-8 */
    char charset[64];
    struct strbuf converted;    /* the line in UTF-8 */
    struct str line;            /* not empty: from line_at on not used yet */
    size_t line_at;
    bool damaged, damaged_id;   /* the line before it; it began with msgid */
    struct po_entry en;
    uint64_t en_line;           /* of its first line behind the comments */
    size_t form;                /* of en, the next to be handed out */
    enum direction direction;
    bool has_header;
    struct strbuf lang_id, lang_str;
    struct strbuf head, extra;  /* JSON of the file, of the unit */
    struct unit unit;
};

#define NO_ICONV ((iconv_t)-1)

/* ---- lines in UTF-8 ----------------------------------------------------- */

/* The first entry of a file, from its msgid to the next one's. */
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

/* Where a field of the header begins, in a file's bytes: after the quote, or
 * after the line before it in the same quotes. */
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

/* The charset has to be known before the first line: a translator's name may
 * stand above the header. So look for it in the bytes as they are. */
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
        "CHARSET"               /* of a template nobody has filled in */
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(charset, names[i])) return true;
    return false;
}

/* To iconv the backslash is a yen sign in Shift_JIS, in its superset not. */
static const char *iconv_name(const char *charset)
{
    return !strcasecmp(charset, "SHIFT_JIS") || !strcasecmp(charset, "SJIS")
           ? "CP932" : charset;
}

/* The header was found by reading its bytes as ASCII. So a charset in which
 * these bytes mean something else (UTF-16, EBCDIC) is not the file's. */
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
                       "which is not known here; msgconv -t UTF-8 may "
                       "convert the file", name,
                       (int)(charset.n < 100 ? charset.n : 100), charset.p);
    if (!agrees_with_ascii(p->convert))
        return err_set(e, ST_FORMAT, "%s: the header says charset=%s, but "
                       "the file is not in this encoding; correct the header",
                       name, p->charset);
    return ST_OK;
}

static enum status po_read_begin(struct po_reader *p, struct err *e)
{
    enum status st = linescan_init(&p->lines, p->r.in, 4 * p->r.o.max_text,
                                   e);

    if (!st) st = linescan_more(&p->lines, LOOK_BYTES, e);
    /* A byte order mark knows better than the header. */
    if (!st && !input_marked(p->r.in))
        st = open_charset(p, find_charset(linescan_rest(&p->lines)), e);
    if (st) return st;
    po_entry_release(&p->en);
    po_entry_init(&p->en, p->r.o.max_text);
    p->begun = true;
    return ST_OK;
}

/* *at: the first byte that is not of the charset; raw.n: there is none. */
static bool to_utf8(struct po_reader *p, struct str raw, size_t *at)
{
    char *from = (char *)(uintptr_t)raw.p;
    size_t left = raw.n, room;

    strbuf_reset(&p->converted);
    iconv(p->convert, NULL, NULL, NULL, NULL);
    /* No charset needs more than four bytes for one of its own. */
    if (!strbuf_reserve(&p->converted, 4 * raw.n + 16)) return false;
    char *to = p->converted.data;
    room = 4 * raw.n + 16;
    iconv(p->convert, &from, &left, &to, &room);
    iconv(p->convert, NULL, NULL, &to, &room);
    p->converted.len = (size_t)(to - p->converted.data);
    *to = '\0';
    *at = raw.n - left;
    return true;
}

/* The next line into p->line. *more: there was one; *ok: it can be used, else
 * p->line is as it is in the file. */
static enum status po_read_next_line(struct po_reader *p, bool *more, bool *ok,
                                     struct err *e)
{
    struct line line;
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

    while (i < p->line.n && strchr(" \t", p->line.p[i])) i++;
    if (!n) return i == p->line.n;
    return p->line.n - i >= n && !memcmp(p->line.p + i, with, n);
}

static bool begins_id(const struct po_reader *p)
{
    return line_begins(p, "msgid") && !line_begins(p, "msgid_");
}

/* Behind an error: drop the entry and go on where surely another begins.
 * had_id: the next msgid is not the entry's own. */
static enum status po_read_recover(struct po_reader *p, bool had_id,
                                   struct err *e)
{
    bool more = true, ok = true;
    enum status st = ST_OK;

    po_entry_reset(&p->en);
    p->damaged = false;
    do {
        st = po_read_next_line(p, &more, &ok, e);
    } while (!st && more && !(ok && (line_begins(p, "") ||
             line_begins(p, "#") || line_begins(p, "msgctxt") ||
             (had_id && begins_id(p)))));
    return st;
}

/* A line that is no text: it ends the entry before it, or belongs to it and
 * takes it along. */
static enum status damaged_line(struct po_reader *p, bool *complete,
                                struct err *e)
{
    bool id = begins_id(p);
    bool other = p->line.n && !line_begins(p, "\"") &&
                 !line_begins(p, "#~") && (id || !line_begins(p, "msg") ||
                                           line_begins(p, "msgctxt"));

    if (!other || p->en.state != PO_STR || po_entry_lacks(&p->en))
        return po_read_recover(p, id || p->en.state >= PO_ID, e);
    *complete = p->damaged = true;
    p->damaged_id = id;
    return ST_OK;
}

/* Use the line at hand. *complete: the entry is, and good. */
static enum status use_line(struct po_reader *p, bool *complete,
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
        return st ? st : po_read_recover(p, p->en.state >= PO_ID, e);
    case PO_NOMEM:
        return err_nomem(e, "an entry");
    case PO_COMPLETE:
        break;
    }
    why = po_entry_lacks(&p->en);
    *complete = !why;
    if (!why) return ST_OK;
    po_entry_reset(&p->en);     /* the line at hand begins another one */
    return reader_bad(&p->r, e, p->en_line, 0, (struct str){ NULL, 0 }, "%s",
                      why);
}

/* The next entry that can be used; *found is false at the end. */
static enum status next_entry(struct po_reader *p, bool *found, struct err *e)
{
    bool more = true, ok;
    enum status st = ST_OK;
    const char *why;

    *found = false;
    po_entry_reset(&p->en);
    if (p->damaged) st = po_read_recover(p, p->damaged_id, e);
    while (!st && !*found) {
        if (!p->line.n) {
            st = po_read_next_line(p, &more, &ok, e);
            if (st || !more) break;
            if (!ok) st = damaged_line(p, found, e);
        }
        if (!st && !*found && p->line.n) st = use_line(p, found, e);
    }
    if (st || *found || p->en.state == PO_NOTHING) return st;
    why = po_entry_lacks(&p->en);
    if (why) return reader_bad(&p->r, e, p->lines.line + 1, 1, p->line,
                               "%s, found the end of the file", why);
    *found = p->en.state > PO_DOMAIN;
    return ST_OK;
}

/* ---- the header and the languages --------------------------------------- */

static bool po_read_fits(struct str lang, const char *wanted)
{
    return !lang.n || lang_matches(lang, wanted);
}

/* en_GB: surely translated from English. */
static bool is_english_variant(struct str lang)
{
    return lang.n > 2 && lang_matches(lang, "en");
}

/* Which side is the source? First by what the file says, msgid taken to be
 * English; then, when it does not say, msgid is whatever was asked for. */
static enum direction po_read_choose(struct str id, struct str str,
                                     const char *source, const char *target)
{
    struct str guess = id.n ? id : str_of("en");

    if (po_read_fits(guess, source) && po_read_fits(str, target))
        return STRAIGHT;
    if (po_read_fits(str, source) && po_read_fits(guess, target))
        return SWAPPED;
    if (id.n || is_english_variant(str)) return OTHER;
    if (po_read_fits(str, target)) return STRAIGHT;
    return po_read_fits(str, source) ? SWAPPED : OTHER;
}

/* The languages units are said to be in: the file's word, else ours. */
static enum status po_read_decide(struct po_reader *p, struct str header,
                                  struct err *e)
{
    const char *source = p->r.o.source_lang, *target = p->r.o.target_lang;
    struct str id = po_header_field(header, "X-Source-Language");
    struct str str = po_header_field(header, "Language");
    bool swapped;

    p->direction = po_read_choose(id, str, source, target);
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

static bool po_read_put_plain(struct strbuf *out, const char *key,
                              const char *value)
{
    return extra_put_key(out, key) && strbuf_adds(out, value);
}

/* The extra of the file. Without a header it only has to say that sides were
 * exchanged; then comments are those of an entry and not kept here. */
static enum status make_head(struct po_reader *p, bool header, struct err *e)
{
    struct strbuf *out = &p->head;
    bool ok;

    strbuf_reset(out);
    ok = strbuf_adds(out, "{\"po\":{") &&
         (!header ||
          (extra_put_key(out, "header") &&
           extra_put_string(out, p->en.str[0].data, p->en.str[0].len) &&
           extra_put(out, "comments", strbuf_view(&p->en.comments)))) &&
         (p->direction != SWAPPED ||
          po_read_put_plain(out, "swapped", "true")) &&
         strbuf_adds(out, "}}");
    if (!ok) return err_nomem(e, "a header");
    p->has_header |= header;
    p->r.extra = strbuf_view(out);
    return ST_OK;
}

/* The first header is the file's; other domains may have their own. */
static enum status take_header(struct po_reader *p, struct err *e)
{
    enum status st = po_read_decide(p, strbuf_view(&p->en.str[0]), e);

    return st || p->has_header ? st : make_head(p, true, e);
}

static enum status no_header(struct po_reader *p, struct err *e)
{
    enum status st = po_read_decide(p, (struct str){ NULL, 0 }, e);

    return st || p->direction != SWAPPED ? st : make_head(p, false, e);
}

/* ---- units -------------------------------------------------------------- */

static bool is_header(const struct po_entry *en)
{
    return !en->id.len && !en->has_context && !en->obsolete;
}

/* Of a plural entry, msgid goes with the first form unless it is the only. */
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
         (!en->obsolete || po_read_put_plain(out, "obsolete", "true")) &&
         extra_put(out, "domain", strbuf_view(&en->domain)) &&
         put_forms(p, out) && strbuf_adds(out, "}}");
    if (!ok) return err_nomem(e, "an entry");
    p->unit.extra = strbuf_view(out);
    return ST_OK;
}

/* Form p->form of the entry, which is finished and in the right languages. */
static enum status make_unit(struct po_reader *p, const struct unit **u,
                             struct err *e)
{
    const struct po_entry *en = &p->en;
    struct str id = strbuf_view(uses_plural(en, p->form) ? &en->plural
                                                         : &en->id);
    struct str str = strbuf_view(&en->str[p->form]);
    bool swapped = p->direction == SWAPPED;
    enum status st;

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

/* Have an entry at hand whose forms are wanted, p->form the first of them. */
static enum status want_entry(struct po_reader *p, bool *more, struct err *e)
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
    enum status st = p->begun ? ST_OK : po_read_begin(p, e);
    bool more = true;

    while (!st && more && !*u) {
        if (p->form < p->en.n_str) {
            st = make_unit(p, u, e);
            p->form++;
        } else {
            st = want_entry(p, &more, e);
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
