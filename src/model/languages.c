/* languages.c - reads the list of languages in a model file, and finds codes in
 * it. */
#include "model/languages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "text/language.h"

#define CODE_SIZE (sizeof ((struct language_entry *)0)->code)

/* ---- reading ---- */

static enum status bad_list(const char *name, const char *why, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: the list of languages is damaged: %s",
                   name, why);
}

/* Read a line "CODE TAB ID" without its end. */
static bool read_language(struct language_entry *x, struct str line, int vocab)
{
    const char *tab = line.n ? memchr(line.p, '\t', line.n) : NULL;
    size_t n = tab ? (size_t)(tab - line.p) : 0;
    int64_t id = 0;

    if (!n || n >= CODE_SIZE || n + 1 == line.n || line.n - n > 9)
        return false;
    for (size_t i = 0; i < n; i++)
        if (line.p[i] <= ' ' || line.p[i] > '~') return false;
    for (size_t i = n + 1; i < line.n; i++) {
        if (line.p[i] < '0' || line.p[i] > '9') return false;
        id = id * 10 + (line.p[i] - '0');
    }
    memcpy(x->code, line.p, n);
    x->code[n] = 0;
    x->id = (int32_t)id;
    return id < vocab;
}

static const struct language_entry *find_exactly(const struct languages *l,
                                                 const char *code)
{
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->at[i].code, code)) return &l->at[i];
    return NULL;
}

static enum status read_lines(struct languages *l, struct str text, int vocab,
                              const char *name, struct err *e)
{
    while (text.n) {
        const char *nl = memchr(text.p, '\n', text.n);
        struct str line = { text.p, nl ? (size_t)(nl - text.p) : text.n };
        struct language_entry x;

        if (!nl || !read_language(&x, line, vocab))
            return bad_list(name, "a line is not a code and an id", e);
        if (find_exactly(l, x.code))
            return bad_list(name, "a language occurs twice", e);
        l->at[l->n++] = x;
        text.p = nl + 1;
        text.n -= line.n + 1;
    }
    return ST_OK;
}

enum status languages_parse(struct languages *l, struct str text, int vocab,
                            const char *name, struct err *e)
{
    enum { MOST = 5000 };       /* languages; finding one reads the list */
    size_t n = 0;
    enum status st;

    *l = (struct languages){ 0 };
    for (size_t i = 0; i < text.n && n <= MOST; i++) n += text.p[i] == '\n';
    if (n > MOST) return bad_list(name, "it is too long", e);
    l->at = calloc(n + 1, sizeof *l->at);
    if (!l->at) return err_nomem(e, name);
    st = read_lines(l, text, vocab, name, e);
    if (st) languages_release(l);
    return st;
}

enum status languages_read(struct languages *l, const struct mfile *f,
                           int vocab, struct err *e)
{
    const struct mtensor *t = mfile_find(f, "languages");

    *l = (struct languages){ 0 };
    if (!t) return ST_OK;
    if (t->type != DT_BYTES || t->shape[1] != 1)
        return bad_list(mfile_name(f), "it is not a text", e);
    return languages_parse(l, (struct str){ t->data, (size_t)t->bytes }, vocab,
                           mfile_name(f), e);
}

void languages_release(struct languages *l)
{
    free(l->at);
    *l = (struct languages){ 0 };
}

/* ---- finding ---- */

/* Whether a language of the model is what a code means. Without `strictly`, the
 * code may name a region ("de-AT") that the model's language does not. */
static bool language_is(const char *code, const char *have, bool strictly)
{
    struct language known;

    return strictly ? language_accepts(code, str_of(have))
                    : language_parse(str_of(have), &known) &&
                      language_fits(str_of(code), str_of(have));
}

/* Append a code to a list in a message, with commas. */
static void list_code(char *list, size_t size, const char *code)
{
    size_t n = strlen(list);

    snprintf(list + n, size - n, "%s%s", n ? ", " : "", code);
}

/* Which codes there are: all if they are few, else those that begin alike. */
static enum status unknown_language(const struct languages *l,
                                    const char *code, const char *option,
                                    struct err *e)
{
    enum { FEW = 20 };
    char list[300] = "";

    for (int i = 0; i < l->n; i++)
        if (l->n <= FEW || (*code && !strncmp(l->at[i].code, code, 2)))
            list_code(list, sizeof list, l->at[i].code);
    if (l->n <= FEW)
        return err_set(e, ST_ARGUMENT, "%s: the model does not have the "
                       "language \"%.40s\"; it has: %s", option, code, list);
    return err_set(e, ST_ARGUMENT, "%s: the model does not have the language "
                   "\"%.40s\"%s%s; skmt info lists all %d", option, code,
                   *list ? "; it has, among others: " : "", list, l->n);
}

static enum status several_languages(const struct languages *l,
                                     const char *code, bool strictly, int best,
                                     const char *option, struct err *e)
{
    char list[300] = "";

    for (int i = 0; i < l->n; i++) {
        const char *has = l->at[i].code;

        if (language_is(code, has, strictly) &&
            (!strictly || language_rank(code, str_of(has)) == best))
            list_code(list, sizeof list, has);
    }
    return err_set(e, ST_ARGUMENT, "%s: \"%.40s\" can be several languages of "
                   "the model: %s", option, code, list);
}

/* Count the best of the languages that a code means; *out is one of them. */
static int find_best(const struct language_entry **out, int *best,
                     const struct languages *l, const char *code,
                     bool strictly)
{
    int n = 0;

    for (int i = 0; i < l->n; i++) {
        int rank;

        if (!language_is(code, l->at[i].code, strictly)) continue;
        rank = strictly ? language_rank(code, str_of(l->at[i].code)) : 0;
        if (n && rank < *best) continue;
        n = n && rank == *best ? n + 1 : 1;
        *best = rank;
        *out = &l->at[i];
    }
    return n;
}

enum status languages_find(const struct language_entry **out,
                           const struct languages *l, const char *code,
                           const char *option, struct err *e)
{
    struct language written;
    bool strictly = true;
    int best = 0, n;

    *out = find_exactly(l, code);
    if (*out) return ST_OK;
    if (!language_parse(str_of(code), &written))
        return unknown_language(l, code, option, e);
    n = find_best(out, &best, l, code, strictly);
    if (!n) n = find_best(out, &best, l, code, strictly = false);
    if (n == 1) return ST_OK;
    *out = NULL;
    return n ? several_languages(l, code, strictly, best, option, e)
             : unknown_language(l, code, option, e);
}

/* ---- choosing ---- */

/* Check a language of a model of one pair, or take it for that of a model that
 * does not name its own. */
static enum status check_language(char *have, const char *wanted,
                                  const char *option, const char *name,
                                  struct err *e)
{
    if (!*wanted) return ST_OK;
    if (!*have && strlen(wanted) < CODE_SIZE) strcpy(have, wanted);
    if (!strcmp(have, wanted) ||
        language_fits(str_of(have), str_of(wanted)))
        return ST_OK;
    return err_set(e, ST_ARGUMENT, "%s: the model %s translates %s \"%s\", not "
                   "\"%.40s\"", option, name, option, have, wanted);
}

/* Set the token of one side. `lang` is the field of the config. */
static enum status choose_token(int *id, char *lang, const struct languages *l,
                                const char *wanted, const char *option,
                                struct err *e)
{
    const struct language_entry *x;
    enum status st;

    if (!*wanted) wanted = lang;
    if (!*wanted) return ST_OK;
    st = languages_find(&x, l, wanted, option, e);
    if (st) return st;
    *id = x->id;
    if (lang != x->code) strcpy(lang, x->code);
    return ST_OK;
}

enum status languages_choose(struct config *c, const struct languages *l,
                             const char *from, const char *to,
                             const char *name, struct err *e)
{
    bool both = c->language_tokens == LANGUAGE_TOKENS_BOTH;
    enum status st;

    if (c->language_tokens != LANGUAGE_TOKENS_NONE && !l->n)
        return err_set(e, ST_FORMAT, "%s: the model has tokens of languages, "
                       "but no list of them", name);
    st = both ? choose_token(&c->prefix_id, c->source_lang, l, from, "from", e)
              : check_language(c->source_lang, from, "from", name, e);
    if (st) return st;
    if (c->language_tokens == LANGUAGE_TOKENS_NONE)
        return check_language(c->target_lang, to, "to", name, e);
    return choose_token(both ? &c->target_prefix_id : &c->prefix_id,
                        c->target_lang, l, to, "to", e);
}

bool languages_chosen(const struct config *c)
{
    switch ((enum language_tokens)c->language_tokens) {
    case LANGUAGE_TOKENS_NONE: break;
    case LANGUAGE_TOKENS_TARGET_FIRST: return c->prefix_id >= 0;
    case LANGUAGE_TOKENS_BOTH:
        return c->prefix_id >= 0 && c->target_prefix_id >= 0;
    }
    return true;
}
