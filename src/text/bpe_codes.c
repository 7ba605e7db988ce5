/* bpe_codes.c - reads lines of merges one after another, and then drops those
 * that occur twice. */
#include "text/bpe_codes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/string_ids.h"
#include "text/utf8.h"

struct code_reader {
    struct bpe_code_list *c;
    enum bpe_codes form;
    struct str text;            /* what was not read yet */
    const char *name;
    size_t line;
};

void bpe_code_list_release(struct bpe_code_list *c)
{
    free(c->at);
    *c = (struct bpe_code_list){ 0 };
}

/* The next line without its end. */
static struct str next_line(struct code_reader *r)
{
    const char *end = memchr(r->text.p, '\n', r->text.n);
    struct str line = { r->text.p, end ? (size_t)(end - r->text.p)
                                       : r->text.n };

    r->text.p += line.n + (end != NULL);
    r->text.n -= line.n + (end != NULL);
    r->line++;
    while (line.n && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == ' '))
        line.n--;
    return line;
}

/* Cut off what comes before the next space. */
static struct str next_field(struct str *line)
{
    const char *space = memchr(line->p, ' ', line->n);
    struct str field = { line->p, space ? (size_t)(space - line->p)
                                        : line->n };

    line->p += field.n + (space != NULL);
    line->n -= field.n + (space != NULL);
    return field;
}

static bool is_count(struct str s)
{
    if (s.n && *s.p == '-') s.p++, s.n--;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9') return false;
    return s.n > 0;
}

/* Whether what follows the two symbols is as it should be. */
static bool rest_fits(enum bpe_codes form, struct str rest)
{
    switch (form) {
    case BPE_CODES_FASTBPE: return is_count(rest);
    case BPE_CODES_SUBWORD_NMT: return !rest.n;
    case BPE_CODES_MERGES: return true;
    }
    return false;
}

static enum status read_code_line(struct code_reader *r, struct str line,
                                  struct err *e)
{
    static const char *const expected[] = {
        "\"SYMBOL SYMBOL COUNT\"", "\"SYMBOL SYMBOL\"", "\"SYMBOL SYMBOL\""
    };
    struct bpe_code_list *c = r->c;
    struct bpe_code_pair p;

    if (utf8_check(line.p, line.n) < line.n)
        return err_set(e, ST_FORMAT, "%s:%zu: not valid UTF-8", r->name,
                       r->line);
    p.left = next_field(&line);
    p.right = next_field(&line);
    if (!p.left.n || !p.right.n || !rest_fits(r->form, line)
        || memchr(p.left.p, 0, p.left.n) || memchr(p.right.p, 0, p.right.n))
        return err_set(e, ST_FORMAT, "%s:%zu: expected %s", r->name, r->line,
                       expected[r->form]);
    if (p.left.n + p.right.n > MOSES_BPE_TEXT_MAX)
        return err_set(e, ST_FORMAT, "%s:%zu: the symbols have over %d bytes",
                       r->name, r->line, MOSES_BPE_TEXT_MAX);
    if (c->n >= MOSES_BPE_MERGES_MAX)
        return err_set(e, ST_LIMIT, "%s: over %d merges", r->name,
                       MOSES_BPE_MERGES_MAX);
    if (!mem_grow(&c->at, &c->cap, c->n + 1, sizeof *c->at))
        return err_nomem(e, "the merges of a tokenizer");
    c->at[c->n++] = p;
    return ST_OK;
}

/* Read the line "#version: 0.2", if there is one. */
static enum status read_code_version(struct code_reader *r, struct err *e)
{
    static const char mark[] = "#version";
    struct str begin = r->text, line;

    if (r->form == BPE_CODES_FASTBPE) return ST_OK;
    r->c->apart = r->form == BPE_CODES_SUBWORD_NMT;
    if (begin.n < sizeof mark - 1 || memcmp(begin.p, mark, sizeof mark - 1))
        return ST_OK;
    line = next_line(r);
    if (r->form == BPE_CODES_MERGES) return ST_OK;
    next_field(&line);
    if (str_eq(line, str_of("0.2")) || str_eq(line, str_of("0.2.0")))
        r->c->apart = false;
    else if (!str_eq(line, str_of("0.1")))
        return err_set(e, ST_VERSION, "%s:1: version \"%.*s\" of subword-nmt "
                       "is not known; 0.1 and 0.2 are", r->name,
                       (int)(line.n < 20 ? line.n : 20), line.p);
    return ST_OK;
}

/* Keep one of the lines with the same pair. */
static enum status drop_repeated(struct code_reader *r, struct err *e)
{
    struct bpe_code_list *c = r->c;
    struct string_ids seen = { 0 };
    bool last_counts = r->form == BPE_CODES_MERGES;
    bool *drop = calloc(c->n + 1, sizeof *drop), ok = drop != NULL;
    size_t n = 0;

    for (size_t i = 0; ok && i < c->n; i++) {
        size_t k = last_counts ? c->n - 1 - i : i, before = seen.n;
        struct bpe_code_pair *p = &c->at[k];

        /* The two symbols and the space between them. */
        ok = string_ids_add(&seen, (struct str){
            p->left.p, (size_t)(p->right.p - p->left.p) + p->right.n }) >= 0;
        drop[k] = seen.n == before;
    }
    for (size_t i = 0; ok && i < c->n; i++)
        if (!drop[i]) c->at[n++] = c->at[i];
    if (ok) c->n = n;
    string_ids_release(&seen);
    free(drop);
    return ok ? ST_OK : err_nomem(e, "the merges of a tokenizer");
}

enum status bpe_codes_read(struct bpe_code_list *c, enum bpe_codes form,
                           struct str text, const char *name, struct err *e)
{
    struct code_reader r = { c, form, text, name, 0 };
    enum status st;

    c->n = 0;
    c->apart = false;
    /* Line ends at the end of the file are no lines. */
    while (r.text.n && strchr("\r\n", r.text.p[r.text.n - 1])
           && r.text.p[r.text.n - 1]) r.text.n--;
    st = read_code_version(&r, e);
    while (!st && r.text.n) st = read_code_line(&r, next_line(&r), e);
    if (!st && !c->n)
        st = err_set(e, ST_FORMAT, "%s: no merges", name);
    return st ? st : drop_repeated(&r, e);
}
