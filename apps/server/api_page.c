/* api_page.c - serves the web page, and translates its form without JavaScript.
 *
 * The files of apps/server/page/ are part of the program. The page itself is
 * checked for changes at each visit (ETag). Its other files have addresses that
 * contain a hash of all files, so browsers keep them forever, and modules of
 * two versions are never mixed.
 *
 * The page has these marks, which are replaced:
 *
 *     @VERSION@  the hash of all files
 *     @PAIRS@    the language pairs, as options of a select element
 *     @TEXT@     the text that was sent with the form
 *     @RESULT@   its translation, or an error */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/textbuf.h"
#include "languages.h"
#include "page_files.h"
#include "route.h"
#include "translate_call.h"

/* Translations and stored pairs are texts of others. With this policy, markup
 * in them could not do anything even if it became part of the page. */
#define PAGE_POLICY \
    "default-src 'none'; script-src 'self'; style-src 'self'; " \
    "img-src 'self' data:; connect-src 'self'; font-src 'self'; " \
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " \
    "require-trusted-types-for 'script'; trusted-types 'none'"

static void page_headers(struct call *c, const char *caching)
{
    static const char *const headers[][2] = {
        { "Content-Security-Policy", PAGE_POLICY },
        { "X-Frame-Options", "DENY" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Referrer-Policy", "no-referrer" },
        { "Permissions-Policy", "camera=(), microphone=(), geolocation=(), "
                                "clipboard-write=(self)" },
    };

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        call_set_header(c, headers[i][0], headers[i][1]);
    call_set_header(c, "Cache-Control", caching);
}

/* ---- hashes ----------------------------------------------------------- */

#define PAGE_HASH_LEN 17        /* 16 digits and the NUL */

static uint64_t page_hash(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 1099511628211u;
    return hash;
}

static const uint64_t page_hash_start = 14695981039346656037u;

/* The hash of all files. */
static void page_version(char out[PAGE_HASH_LEN])
{
    uint64_t hash = page_hash_start;

    for (const struct page_file *f = page_files; f->name; f++)
        hash = page_hash(hash, f->hash, strlen(f->hash));
    snprintf(out, PAGE_HASH_LEN, "%016llx", (unsigned long long)hash);
}

static const struct page_file *page_find(const char *name)
{
    for (const struct page_file *f = page_files; f->name; f++)
        if (!strcmp(f->name, name)) return f;
    return NULL;
}

/* Whether the client has the version with this ETag already. If so, answers
 * that it is unchanged. */
static bool page_unchanged(struct call *c, const char *etag)
{
    const char *have = call_header(c, "If-None-Match");

    call_set_header(c, "ETag", etag);
    if (!have || !strstr(have, etag)) return false;
    call_reply_empty(c, 304);
    return true;
}

/* ---- the page --------------------------------------------------------- */

/* What fills the marks of the page. */
struct page_fill {
    const char *pair;           /* the chosen pair, such as "de-en"; NULL */
    const char *text, *result, *problem;        /* NULL: none */
};

static void page_escape(struct textbuf *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '&') textbuf_adds(t, "&amp;");
        else if (*s == '<') textbuf_adds(t, "&lt;");
        else if (*s == '>') textbuf_adds(t, "&gt;");
        else if (*s == '"') textbuf_adds(t, "&quot;");
        else textbuf_add(t, s, 1);
    }
}

static void page_put_pairs(struct textbuf *t, const struct server *s,
                           const char *chosen)
{
    for (int i = 0; i < language_pairs(s); i++) {
        const char *source, *target;
        char value[64];

        language_pair(s, i, &source, &target);
        snprintf(value, sizeof value, "%s-%s", source, target);
        textbuf_addf(t, "<option value=\"%s\"%s>", value,
                     chosen && !strcmp(value, chosen) ? " selected" : "");
        page_escape(t, skmt_language_name(source));
        textbuf_adds(t, " \xE2\x86\x92 ");
        page_escape(t, skmt_language_name(target));
        textbuf_adds(t, "</option>");
    }
}

static void page_put_result(struct textbuf *t, const struct page_fill *fill)
{
    if (fill->problem) {
        textbuf_adds(t, "<p class=\"problem\" role=\"alert\">");
        page_escape(t, fill->problem);
        textbuf_adds(t, ".</p>");
    }
    if (!fill->result) return;
    textbuf_adds(t, "<p class=\"plain-result\">");
    page_escape(t, fill->result);
    textbuf_adds(t, "</p>");
}

/* Puts what a mark stands for. Returns the length of the mark; 0 if the text
 * does not begin with a mark. */
static size_t page_put_mark(struct textbuf *t, const char *s,
                            const struct server *server,
                            const struct page_fill *fill)
{
    char version[PAGE_HASH_LEN];

    if (!strncmp(s, "@VERSION@", 9)) {
        page_version(version);
        textbuf_adds(t, version);
        return 9;
    }
    if (!strncmp(s, "@PAIRS@", 7)) {
        page_put_pairs(t, server, fill->pair);
        return 7;
    }
    if (!strncmp(s, "@TEXT@", 6)) {
        page_escape(t, fill->text ? fill->text : "");
        return 6;
    }
    if (!strncmp(s, "@RESULT@", 8)) {
        page_put_result(t, fill);
        return 8;
    }
    return 0;
}

static void page_render(struct textbuf *t, const struct server *server,
                        const struct page_fill *fill)
{
    const struct page_file *index = page_find("index.html");
    const char *s = index ? (const char *)index->bytes : "";
    const char *end = s + (index ? index->n : 0);

    while (s < end) {
        size_t n = *s == '@' ? page_put_mark(t, s, server, fill) : 0;

        if (n == 0) {           /* text up to the next "@" */
            const char *next = memchr(s + 1, '@', (size_t)(end - s) - 1);

            n = (size_t)((next ? next : end) - s);
            textbuf_add(t, s, n);
        }
        s += n;
    }
}

static void page_reply(struct call *c, int status, const struct page_fill *fill)
{
    struct textbuf t = { 0 };

    page_render(&t, call_server(c), fill);
    if (t.failed) call_reply_bytes(c, 500, "text/plain", "out of memory\n", 14);
    else call_reply_bytes(c, status, "text/html; charset=utf-8", t.data, t.len);
    textbuf_release(&t);
}

static void page_show(struct call *c)
{
    const struct page_fill nothing = { .text = NULL };
    struct textbuf t = { 0 };
    char etag[PAGE_HASH_LEN + 2];

    page_render(&t, call_server(c), &nothing);
    if (t.failed) {
        textbuf_release(&t);
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return;
    }
    page_headers(c, "no-cache");
    snprintf(etag, sizeof etag, "\"%016llx\"",
             (unsigned long long)page_hash(page_hash_start, t.data, t.len));
    if (!page_unchanged(c, etag))
        call_reply_bytes(c, 200, "text/html; charset=utf-8", t.data, t.len);
    textbuf_release(&t);
}

static void page_send_file(struct call *c)
{
    const struct page_file *f = page_find(call_path_part(c, "file"));
    char version[PAGE_HASH_LEN], etag[PAGE_HASH_LEN + 2];

    page_version(version);
    if (!f || strcmp(version, call_path_part(c, "version"))) {
        call_fail(c, FAIL_PATH, "no such file; reload the page");
        return;
    }
    page_headers(c, "public, max-age=31536000, immutable");
    snprintf(etag, sizeof etag, "\"%s\"", f->hash);
    if (!page_unchanged(c, etag))
        call_reply_bytes(c, 200, f->type, f->bytes, f->n);
}

/* ---- the form --------------------------------------------------------- */

/* Cuts "de-en" into its languages. Both are NULL if there is no pair. */
static void page_languages(const char *pair, char *copy, size_t n,
                           struct wish *w)
{
    char *dash;

    snprintf(copy, n, "%s", pair ? pair : "");
    dash = strchr(copy, '-');
    if (!dash) return;
    *dash = '\0';
    w->source = copy;
    w->target = dash + 1;
}

static void page_translate(struct call *c)
{
    struct page_fill fill = { .text = call_arg(c, "text"),
                              .pair = call_arg(c, "pair") };
    struct wish w = { .nbest = 1 };
    struct answer a;
    char pair[64];

    if (!fill.text || !*fill.text) {
        call_fail_field(c, "text", "there is no text to translate");
        return;
    }
    page_languages(fill.pair, pair, sizeof pair, &w);
    if (!answer_texts(c, &w, &fill.text, 1, &a)) return;
    fill.result = a.texts[0].alternatives[0].text;
    page_headers(c, "no-store");
    page_reply(c, 200, &fill);
    answer_release(&a);
}

/* A failed form shows the page with the error, and keeps the text. */
static void page_fail(struct call *c, const struct failure *f)
{
    const struct route *r = call_route(c);
    struct page_fill fill = { .problem = f->message };
    int status = f->status ? f->status : fail_status(f->kind);
    char line[sizeof f->message + 8];

    page_headers(c, "no-store");
    if (r && r->run == page_translate) {
        fill.text = call_arg(c, "text");
        fill.pair = call_arg(c, "pair");
        page_reply(c, status, &fill);
        return;
    }
    snprintf(line, sizeof line, "%s\n", f->message);
    call_reply_bytes(c, status, "text/plain; charset=utf-8", line,
                     strlen(line));
}

static const struct route page_routes[] = {
    { "GET", "/", page_show, ROUTE_OPEN, "page" },
    { "POST", "/", page_translate, 0, "page_form" },
    { "GET", "/page/:version/:file", page_send_file, ROUTE_OPEN | ROUTE_QUIET,
      "page_file" },
    { .path = NULL }
};

const struct api api_page = {
    .name = "page", .prefix = "", .routes = page_routes, .fail = page_fail,
    .wait_ms = 15000,
};
