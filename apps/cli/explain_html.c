/* explain_html.c - writes the page of option --html.
 *
 * Ids of elements, for example in line 3, sentence 1: s3-1w7 is a word of the
 * translation, s3-1v7 the table of votes for it, s3-1p2 a pair and s3-1p2t5
 * the token at position 5 of its target. */
#include <errno.h>
#include <string.h>

#include "common/utf8_scan.h"
#include "explain_html.h"
#include "tm_print.h"

/* ---- beginning and end of the page ------------------------------------ */

/* The table of votes has a fixed position at the lower edge, where it does not
 * cover words. */
static const char *const style[] = {
"<style>\n"
":root{color-scheme:light dark;--ink:#1b1f24;--dim:#59636e;--paper:#fff;"
"--line:#d5dae0;--memory:0 138 112;--link:#0a5cc2}\n"
"@media(prefers-color-scheme:dark){:root{--ink:#e4e8ec;--dim:#9aa5b1;"
"--paper:#15191e;--line:#39424c;--memory:52 190 160;--link:#7db6ff}}\n"
"html{scroll-padding:2rem 0 16rem}\n"
"body{margin:0 auto;max-width:58rem;padding:1rem 1.2rem 16rem;"
"background:var(--paper);color:var(--ink);"
"font:1rem/1.6 system-ui,sans-serif}\n"
"h1{font-size:1.4rem;margin:.4rem 0}h2{font-size:1rem;margin:0;"
"color:var(--dim)}\n"
"article{border-top:1px solid var(--line);padding:1rem 0}\n"
".src,.note,.head,footer{color:var(--dim)}.src,.note,.head{margin:.2rem 0}\n"
".out{font-size:1.15rem;line-height:1.9;margin:.3rem 0 .6rem}\n"
".w{display:inline}a{color:var(--link)}\n"
".w>a,.m{color:inherit;text-decoration:none}\n",
".t{background:rgb(var(--memory)/calc(var(--t)*.45));padding:.12em 0;"
"border-bottom:2px solid transparent}\n"
".t1{border-bottom:2px dotted rgb(var(--memory))}\n"
".t2{border-bottom:2px solid rgb(var(--memory))}\n"
".t3{border-bottom:4px double rgb(var(--memory))}\n"
"a:focus-visible,:target{outline:2px solid var(--link);outline-offset:2px}\n"
".v{display:none;position:fixed;z-index:1;left:0;right:0;bottom:0;"
"max-height:14rem;overflow:auto;background:var(--paper);"
"border-top:2px solid rgb(var(--memory));padding:.5rem 1.2rem;"
"font-size:.9rem;line-height:1.4;box-shadow:0 -.3rem 1rem #0004}\n"
".w:focus-within>.v{display:block}"
".w:hover>.v{display:block;z-index:2}\n"
"table{border-collapse:collapse;margin:0 auto}"
"th,td{padding:.1rem .7rem;text-align:start;vertical-align:top}"
"th{color:var(--dim);font-weight:normal}\n"
"td.n{text-align:end;font-variant-numeric:tabular-nums}\n"
"ol{list-style:none;padding:0;margin:0}\n"
"li{border-inline-start:3px solid var(--line);padding:.1rem .8rem;"
"margin:.5rem 0}\n"
".tgt{margin:.2rem 0}.m{border-bottom:2px dashed var(--dim)}\n"
".h{background:rgb(var(--memory)/.2);"
"border-bottom:2px solid rgb(var(--memory))}\n"
"@media print{.v{display:none!important}body{padding-bottom:0}}\n"
"</style>\n"
};

/* Begin a span that is shaded and underlined by a weight. */
static void begin_shaded(struct textbuf *t, double weight)
{
    int line = weight >= 0.8 ? 3 : weight >= 0.5 ? 2 : weight >= 0.2;

    textbuf_addf(t, "<span class=\"t t%d\" style=\"--t:%.3f\">", line, weight);
}

static void explain_html_put_head(struct textbuf *t)
{
    static const double steps[] = { 0.1, 0.3, 0.6, 0.9 };

    textbuf_adds(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                 "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                 "content=\"width=device-width,initial-scale=1\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" "
                 "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                 "<title>How the memory influenced the translation</title>\n");
    for (size_t i = 0; i < sizeof style / sizeof *style; i++)
        textbuf_adds(t, style[i]);
    textbuf_adds(t, "</head>\n<body>\n<header>\n<h1>How the memory influenced "
                 "the translation</h1>\n<p>The shade and the underline of a "
                 "word show the weight of the memory in it: ");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        begin_shaded(t, steps[i]);
        textbuf_addf(t, "&nbsp;%.0f%%&nbsp;</span> ", 100 * steps[i]);
    }
    textbuf_adds(t, "Point at a word, or reach it with the Tab key, to see the "
                 "votes for it. Click it to go to the stored token that voted "
                 "for it.</p>\n</header>\n<main>\n");
}

static void explain_html_put_foot(struct textbuf *t, const struct html *h)
{
    textbuf_adds(t, "</main>\n<footer>\n<p>");
    put_noun(t, (int64_t)h->lines, "line", "lines");
    textbuf_adds(t, ", ");
    put_noun(t, (int64_t)h->sentences, "sentence", "sentences");
    textbuf_adds(t, ": ");
    put_count(t, (int64_t)h->exact);
    textbuf_adds(t, " reused, ");
    put_count(t, (int64_t)h->steered);
    textbuf_adds(t, " steered, ");
    put_count(t, (int64_t)(h->sentences - h->exact - h->steered));
    textbuf_addf(t, " by the model alone. Mean weight of the memory in a "
                 "translated token: %.0f%%.</p>\n</footer>\n</body>\n"
                 "</html>\n",
                 h->tokens ? 100 * h->weight_sum / (double)h->tokens : 0);
}

/* ---- text ------------------------------------------------------------- */

/* Append a character, escaped. Characters that HTML does not allow are
 * replaced: ASCII controls by their symbols from U+2400 on, C1 controls by
 * U+FFFD. */
static void explain_html_put_char(struct textbuf *t, const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];

    if (n == 1 && c == '&') textbuf_adds(t, "&amp;");
    else if (n == 1 && c == '<') textbuf_adds(t, "&lt;");
    else if (n == 1 && c == '>') textbuf_adds(t, "&gt;");
    else if (n == 1 && c == '"') textbuf_adds(t, "&quot;");
    else if (n == 1 && c == '\'') textbuf_adds(t, "&#39;");
    else if (n == 1 && c == 0x7F) textbuf_adds(t, "\xE2\x90\xA1");
    else if (n == 1 && c < 0x20 && c != '\t' && c != '\n')
        textbuf_addf(t, "\xE2\x90%c", 0x80 + c);
    else if (n == 2 && c == 0xC2 && (unsigned char)s[1] < 0xA0)
        textbuf_adds(t, "\xEF\xBF\xBD");
    else textbuf_add(t, s, n);
}

static void put_html(struct textbuf *t, const char *s, size_t n)
{
    while (n > 0) {
        size_t good = utf8_first_bad(s, n);

        for (size_t i = 0, len; i < good; i += len) {
            for (len = 1; i + len < good && (s[i + len] & 0xC0) == 0x80;)
                len++;
            explain_html_put_char(t, s + i, len);
        }
        if (good == n) break;
        textbuf_adds(t, "\xEF\xBF\xBD");
        s += good + 1;
        n -= good + 1;
    }
}

/* Replace invalid bytes and NULs as the library does: its byte positions refer
 * to that text. */
static void repair_line(struct textbuf *t, const char *s, size_t n)
{
    textbuf_reset(t);
    while (n > 0) {
        size_t good = utf8_first_bad(s, n);

        textbuf_add(t, s, good);
        if (good == n) break;
        textbuf_adds(t, "\xEF\xBF\xBD");
        s += good + 1;
        n -= good + 1;
    }
    for (size_t i = 0; i < t->len; i++)
        if (!t->data[i]) t->data[i] = ' ';
}

static void put_lang(struct textbuf *t, const char *lang)
{
    textbuf_adds(t, " dir=\"auto\"");
    if (!lang || !lang[0]) return;
    textbuf_adds(t, " lang=\"");
    put_html(t, lang, strlen(lang));
    textbuf_adds(t, "\"");
}

static void explain_html_put_piece(struct textbuf *t, const char *text)
{
    const char *plain = explain_piece(text);

    put_html(t, plain, strlen(plain));
}

/* ---- votes for a word ------------------------------------------------- */

/* Append the beginning of an id, which identifies the sentence. */
static void explain_html_put_id(struct html *h, const struct explain *x)
{
    textbuf_addf(&h->t, "s%llu-%d", (unsigned long long)h->lines, x->seg + 1);
}

/* Whether the table of votes has a column for similarities. */
static bool explain_html_with_similarity(const struct explain *x)
{
    return !x->n_pairs || explain_has_similarity(&x->pairs[0].match);
}

static void put_vote(struct html *h, const struct explain *x,
                     const skmt_vote *v)
{
    struct textbuf *t = &h->t;

    textbuf_adds(t, "<td><a href=\"#");
    explain_html_put_id(h, x);
    textbuf_addf(t, "p%dt%d\">pair %d</a></td>", v->pair + 1, v->position,
                 v->pair + 1);
    if (explain_html_with_similarity(x))
        textbuf_addf(t, "<td class=\"n\">%d%%</td>",
                     similarity_percent(x->pairs[v->pair].match.similarity));
    textbuf_addf(t, "<td class=\"n\">%d</td><td class=\"n\">%.4g</td>"
                 "<td class=\"n\">%.0f%%</td><td>", v->position, v->distance,
                 100 * v->share);
    explain_html_put_piece(t, v->text);
    textbuf_adds(t, "</td>");
}

/* Append the rows of one token. The first two cells span all of them. */
static void put_token(struct html *h, const struct explain *x, int i)
{
    struct textbuf *t = &h->t;
    skmt_piece p = SKMT_INIT(skmt_piece);
    int n;
    double lambda = skmt_result_weight(x->r, x->hyp, x->seg, i, &n);

    skmt_result_target_piece(x->r, x->hyp, x->seg, i, &p);
    for (int k = 0; k < n || k == 0; k++) {
        skmt_vote v = { .size = sizeof v, .pair = -1 };

        textbuf_adds(t, "<tr>");
        if (k == 0) {
            textbuf_addf(t, "<td rowspan=\"%d\">", n ? n : 1);
            explain_html_put_piece(t, p.text);
            textbuf_addf(t, "</td><td class=\"n\" rowspan=\"%d\">%.3f</td>",
                         n ? n : 1, lambda);
        }
        if (n) skmt_result_vote(x->r, x->hyp, x->seg, i, k, &v);
        if (v.pair >= 0 && v.pair < x->n_pairs) put_vote(h, x, &v);
        else textbuf_addf(t, "<td colspan=\"%d\">the model alone</td>",
                          5 + explain_html_with_similarity(x));
        textbuf_adds(t, "</tr>\n");
    }
}

/* Append a row with the reasons for the weight of a token, if there are any. */
static void put_reasons(struct html *h, const struct explain *x, int i)
{
    size_t from = h->t.len;

    textbuf_addf(&h->t, "<tr><td></td><td class=\"note\" colspan=\"%d\">",
                 6 + explain_html_with_similarity(x));
    if (explain_put_reasons(x, &h->t, i)) textbuf_adds(&h->t, "</td></tr>\n");
    else h->t.len = from;
}

static void put_votes(struct html *h, const struct explain *x, int word)
{
    const struct explain_word *w = &x->words[word];
    struct textbuf *t = &h->t;

    textbuf_adds(t, "<div class=\"v\" role=\"tooltip\" id=\"");
    explain_html_put_id(h, x);
    textbuf_addf(t, "v%d\">", word);
    textbuf_addf(t, "<table><tr><th>token</th><th>lambda</th><th>voted by</th>"
                 "%s<th>position</th><th>distance</th>"
                 "<th>share</th><th>for</th></tr>\n",
                 explain_html_with_similarity(x) ? "<th>similarity</th>" : "");
    for (int i = w->first; i < w->first + w->n; i++) {
        put_token(h, x, i);
        put_reasons(h, x, i);
    }
    textbuf_adds(t, "</table></div>");
}

/* ---- the translation -------------------------------------------------- */

/* Return the stored token to which a word links, preferably a token of the
 * word's pair whose vote won. Return NULL if none belongs to the word. */
static const struct explain_place *link_target(const struct explain *x,
                                               int word)
{
    const struct explain_word *w = &x->words[word];
    const struct explain_place *any = NULL;

    for (int i = 0; i < x->n_places; i++) {
        const struct explain_place *p = &x->places[i];

        if (p->word != word) continue;
        if (p->matches_output && p->pair == w->pair) return p;
        if (!any) any = p;
    }
    return any;
}

/* Begin the link of a word. If the tokens that voted for it belong to other
 * words, link to the first of them. */
static void put_link(struct html *h, const struct explain *x, int word)
{
    const struct explain_place *p = link_target(x, word);
    skmt_vote v = { .size = sizeof v, .pair = -1 };
    int n = 0, i = x->words[word].first;

    for (; !p && !n && i < x->words[word].first + x->words[word].n; i++) {
        skmt_result_weight(x->r, x->hyp, x->seg, i, &n);
        skmt_result_vote(x->r, x->hyp, x->seg, i, 0, &v);
    }
    textbuf_adds(&h->t, "<a href=\"#");
    explain_html_put_id(h, x);
    textbuf_addf(&h->t, "p%dt%d\" aria-describedby=\"",
                 (p ? p->pair : v.pair) + 1, p ? p->position : v.position);
    explain_html_put_id(h, x);
    textbuf_addf(&h->t, "v%d\">", word);
}

static void put_pieces(struct html *h, const struct explain *x,
                       const struct explain_word *w)
{
    struct textbuf *t = &h->t;

    for (int i = w->first; i < w->first + w->n; i++) {
        double weight = skmt_result_weight(x->r, x->hyp, x->seg, i, NULL);
        skmt_piece p = SKMT_INIT(skmt_piece);

        skmt_result_target_piece(x->r, x->hyp, x->seg, i, &p);
        if (p.begin < w->begin) p.begin = w->begin;
        if (p.end > w->end) p.end = w->end;
        if (p.end <= p.begin) continue;
        begin_shaded(t, weight);
        put_html(t, x->text + p.begin, p.end - p.begin);
        textbuf_adds(t, "</span>");
    }
    if (w->end > w->begin) return;
    textbuf_adds(t, " ");
    begin_shaded(t, w->high);
    textbuf_adds(t, "(end)</span>");
}

static bool has_votes(const struct explain *x, const struct explain_word *w)
{
    int n = 0;

    for (int i = w->first; !n && i < w->first + w->n; i++)
        skmt_result_weight(x->r, x->hyp, x->seg, i, &n);
    return n > 0;
}

static void explain_html_put_word(struct html *h, const struct explain *x,
                                  int word)
{
    const struct explain_word *w = &x->words[word];
    struct textbuf *t = &h->t;

    if (!has_votes(x, w)) {
        put_html(t, x->text + w->begin, w->end - w->begin);
        return;
    }
    textbuf_adds(t, "<div class=\"w\" id=\"");
    explain_html_put_id(h, x);
    textbuf_addf(t, "w%d\">", word);
    put_link(h, x, word);
    put_pieces(h, x, w);
    textbuf_adds(t, "</a>");
    put_votes(h, x, word);
    textbuf_adds(t, "</div>");
}

static void explain_html_put_translation(struct html *h,
                                         const struct explain *x)
{
    struct textbuf *t = &h->t;
    size_t at = x->begin;

    textbuf_adds(t, "<div class=\"out\"");
    put_lang(t, h->target_lang);
    textbuf_adds(t, ">");
    if (x->exact) {
        textbuf_adds(t, "<div class=\"w\"><a href=\"#");
        explain_html_put_id(h, x);
        textbuf_adds(t, "p1\">");
        begin_shaded(t, 1);
        put_html(t, x->text, x->end);
        textbuf_adds(t, "</span></a></div>");
    }
    for (int i = 0; i < x->n_words; i++) {
        if (x->words[i].begin > at)
            put_html(t, x->text + at, x->words[i].begin - at);
        explain_html_put_word(h, x, i);
        at = x->words[i].end;
    }
    textbuf_adds(t, "</div>\n");
}

/* ---- pairs ------------------------------------------------------------ */

static void put_place(struct html *h, const struct explain *x,
                      const struct explain_place *p, const char *target)
{
    struct textbuf *t = &h->t;

    textbuf_addf(t, "<a class=\"m%s\" id=\"", p->matches_output ? " h" : "");
    explain_html_put_id(h, x);
    textbuf_addf(t, "p%dt%d\" href=\"#", p->pair + 1, p->position);
    explain_html_put_id(h, x);
    textbuf_addf(t, "w%d\">", p->word);
    if (p->end > p->begin) put_html(t, target + p->begin, p->end - p->begin);
    else explain_html_put_piece(t, p->text);
    textbuf_adds(t, "</a>");
}

/* Append the target with links. Tokens without text, such as EOS, come
 * last. */
static void put_target(struct html *h, const struct explain *x,
                       const struct explain_pair *pair)
{
    const char *target = pair->match.target;
    const struct explain_place *p = x->places + pair->first;
    size_t at = 0, len = strlen(target);

    for (int i = 0; i < pair->n; i++) {
        if (p[i].end == p[i].begin) continue;
        put_html(&h->t, target + at, p[i].begin - at);
        put_place(h, x, &p[i], target);
        at = p[i].end;
    }
    put_html(&h->t, target + at, len - at);
    for (int i = 0; i < pair->n; i++)
        if (p[i].end == p[i].begin) put_place(h, x, &p[i], target);
}

static void explain_html_put_pair(struct html *h, const struct explain *x,
                                  int i)
{
    const struct explain_pair *p = &x->pairs[i];
    struct textbuf *t = &h->t;

    textbuf_adds(t, "<li id=\"");
    explain_html_put_id(h, x);
    textbuf_addf(t, "p%d\">", i + 1);
    textbuf_addf(t, "<p class=\"head\">Pair %d", i + 1);
    if (explain_has_similarity(&p->match))
        textbuf_addf(t, ": %d%% similar",
                     similarity_percent(p->match.similarity));
    if (p->match.id)
        textbuf_addf(t, ", id %lld%s", (long long)p->match.id,
                     p->match.memory[0] ? " of " : "");
    put_html(t, p->match.memory, strlen(p->match.memory));
    if (x->exact && i) textbuf_adds(t, ", an alternative that was not used");
    textbuf_adds(t, "</p>\n<p class=\"src\"");
    put_lang(t, h->source_lang);
    textbuf_adds(t, ">");
    put_html(t, p->match.source, strlen(p->match.source));
    textbuf_adds(t, "</p>\n<p class=\"tgt\"");
    put_lang(t, h->target_lang);
    textbuf_adds(t, ">");
    put_target(h, x, p);
    textbuf_adds(t, "</p></li>\n");
}

static void put_note(struct html *h, const struct explain *x)
{
    struct textbuf *t = &h->t;
    int n_nonvoting = x->n_pairs - explain_n_voting(x);

    if (x->exact) {
        textbuf_adds(t, "<p class=\"note\">This sentence is stored; its "
                     "translation was reused.");
        if (x->n_pairs > 1) {
            textbuf_adds(t, " ");
            put_noun(t, x->n_pairs - 1, "other translation of it is stored.",
                     "other translations of it are stored.");
        }
        textbuf_adds(t, "</p>\n");
    } else if (n_nonvoting == x->n_pairs) {
        textbuf_adds(t, "<p class=\"note\">");
        textbuf_adds(t, n_nonvoting ? "Similar pairs were found, but none of "
                                      "them voted"
                                    : "No similar pair is stored");
        textbuf_adds(t, "; translated by the model alone.</p>\n");
    } else if (n_nonvoting) {
        textbuf_adds(t, "<p class=\"note\">");
        put_noun(t, n_nonvoting, "more pair", "more pairs");
        textbuf_adds(t, " did not vote.</p>\n");
    }
}

/* ---- sentences and lines ---------------------------------------------- */

static void explain_html_count(struct html *h, const struct explain *x)
{
    int n = skmt_result_target_pieces(x->r, x->hyp, x->seg);

    h->sentences++;
    h->exact += x->exact;
    h->steered += !x->exact && explain_n_voting(x) > 0;
    for (int i = 0; i < n; i++)
        h->weight_sum += skmt_result_weight(x->r, x->hyp, x->seg, i, NULL);
    h->tokens += (uint64_t)n;
}

static void explain_html_put_sentence(struct html *h, const struct explain *x)
{
    struct textbuf *t = &h->t;
    size_t begin = 0, end = 0;

    skmt_result_sentence_span(x->r, x->seg, &begin, &end);
    if (end > h->source.len) end = h->source.len;
    if (begin > end) begin = end;
    textbuf_adds(t, "<p class=\"src\"");
    put_lang(t, h->source_lang);
    textbuf_adds(t, ">");
    put_html(t, h->source.data + begin, end - begin);
    textbuf_adds(t, "</p>\n");
    explain_html_put_translation(h, x);
    textbuf_adds(t, "<ol>\n");
    for (int i = 0; i < x->n_pairs; i++)
        if (x->exact || x->pairs[i].n) explain_html_put_pair(h, x, i);
    textbuf_adds(t, "</ol>\n");
    put_note(h, x);
}

static bool explain_html_failed(const struct html *h, int why, skmt_error *err)
{
    err->status = SKMT_ERR_IO;
    snprintf(err->message, sizeof err->message, "writing %s: %s", h->path,
             strerror(why));
    return false;
}

/* Write to the file at once, so that the page can be read while it grows. */
static bool explain_html_flush(struct html *h, skmt_error *err)
{
    bool ok = !h->t.failed && !h->source.failed;

    if (!ok) return explain_html_failed(h, ENOMEM, err);
    if (fwrite(h->t.data, 1, h->t.len, h->file) != h->t.len
        || fflush(h->file)) return explain_html_failed(h, errno, err);
    textbuf_reset(&h->t);
    return true;
}

bool html_add(struct html *h, struct explain *x, const skmt_result *r,
              const char *source, size_t len, skmt_error *err)
{
    int n = skmt_result_sentences(r);

    h->lines++;
    if (n == 0) return true;            /* a blank line */
    repair_line(&h->source, source, len);
    textbuf_addf(&h->t, "<article>\n<h2>Line %llu</h2>\n",
                 (unsigned long long)h->lines);
    for (int sentence = 0; sentence < n; sentence++) {
        if (!explain_load(x, r, 0, sentence, err)) return false;
        explain_html_count(h, x);
        explain_html_put_sentence(h, x);
    }
    textbuf_adds(&h->t, "</article>\n");
    return explain_html_flush(h, err);
}

bool html_open(struct html *h, const char *path, const skmt_model *model,
               skmt_error *err)
{
    memset(h, 0, sizeof *h);
    h->path = path;
    h->source_lang = skmt_model_get(model, "source_lang");
    h->target_lang = skmt_model_get(model, "target_lang");
    h->file = fopen(path, "we");
    if (!h->file) {
        err->status = SKMT_ERR_IO;
        snprintf(err->message, sizeof err->message, "%s: %s", path,
                 strerror(errno));
        return false;
    }
    explain_html_put_head(&h->t);
    return explain_html_flush(h, err);
}

bool html_close(struct html *h, skmt_error *err)
{
    bool ok = true;

    if (h->file) {
        textbuf_reset(&h->t);
        explain_html_put_foot(&h->t, h);
        ok = explain_html_flush(h, err);
        if (fclose(h->file) && ok) ok = explain_html_failed(h, errno, err);
    }
    textbuf_release(&h->t);
    textbuf_release(&h->source);
    h->file = NULL;
    return ok;
}
