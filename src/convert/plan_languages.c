/* plan_languages.c - looks for the tokens of languages in a vocabulary, and
 * writes the list of the model file: a line CODE TAB ID for each. */
#include "convert/plan_languages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/language_list.h"
#include "convert/plan_rows.h"
#include "model/languages.h"

#define CODE_SIZE (sizeof ((struct config *)0)->source_lang)

/* ">>xxx<<", with visible ASCII characters. */
static bool opus_code(const char *piece, char *code, size_t size)
{
    size_t n = strlen(piece);

    if (n < 5 || strncmp(piece, ">>", 2) || strcmp(piece + n - 2, "<<"))
        return false;
    if (n - 4 >= size) return false;
    for (size_t i = 2; i < n - 2; i++)
        if (piece[i] <= ' ' || piece[i] > '~') return false;
    snprintf(code, size, "%.*s", (int)(n - 4), piece + 2);
    return true;
}

bool plan_language_code(enum language_marks marks, const char *piece,
                        char *code, size_t size)
{
    if (marks == LANGUAGE_MARKS_NONE) return false;
    if (marks == LANGUAGE_MARKS_OPUS) return opus_code(piece, code, size);
    return language_list_is_token(marks == LANGUAGE_MARKS_NLLB ? LANGUAGES_NLLB
                                                               : LANGUAGES_M2M,
                                  piece, code, size);
}

static int count_marks(const struct vocabulary *v, enum language_marks marks)
{
    char code[CODE_SIZE];
    int n = 0;

    for (int32_t id = 0; id < vocabulary_size(v); id++)
        n += plan_language_code(marks, vocabulary_piece(v, id), code,
                                sizeof code);
    return n;
}

enum language_marks plan_language_marks(const struct vocabulary *v)
{
    if (count_marks(v, LANGUAGE_MARKS_M2M) >= 2) return LANGUAGE_MARKS_M2M;
    if (count_marks(v, LANGUAGE_MARKS_NLLB) >= 2) return LANGUAGE_MARKS_NLLB;
    return LANGUAGE_MARKS_NONE;
}

/* The list of a plan, as that of a model file will be. */
static enum status read_list(struct languages *l, const struct model_plan *p,
                             struct err *e)
{
    const char *line = p->languages.data, *tab;
    size_t n = 0;

    for (size_t i = 0; i < p->languages.len; i++) n += line[i] == '\n';
    *l = (struct languages){ .at = calloc(n + 1, sizeof *l->at) };
    if (!l->at) return err_nomem(e, "languages");
    for (; (size_t)l->n < n; line = strchr(tab, '\n') + 1) {
        struct language_entry *x = &l->at[l->n++];

        tab = strchr(line, '\t');
        snprintf(x->code, sizeof x->code, "%.*s", (int)(tab - line), line);
        x->id = (int32_t)strtol(tab + 1, NULL, 10);
    }
    return ST_OK;
}

/* `code` may be NULL. out is [CODE_SIZE]; it gets the code of the model. */
static enum status choose_language(const struct languages *l, char *out,
                                   const char *code, const char *option,
                                   struct err *e)
{
    const struct language_entry *x;
    enum status st = code ? languages_find(&x, l, code, option, e) : ST_OK;

    if (!st && code) strcpy(out, x->code);
    return st;
}

/* The source of a model with only one token may be in any language. */
static enum status choose_languages(struct model_plan *p,
                                    const struct family_options *o,
                                    struct err *e)
{
    struct languages l;
    enum status st = read_list(&l, p, e);

    if (!st)
        st = choose_language(&l, p->cfg.target_lang, o->target_lang,
                             "target-lang", e);
    if (!st && p->cfg.language_tokens == LANGUAGE_TOKENS_BOTH)
        st = choose_language(&l, p->cfg.source_lang, o->source_lang,
                             "source-lang", e);
    languages_release(&l);
    return st;
}

static void bar_languages(struct model_plan *p, const struct vocabulary *target,
                          enum language_marks marks)
{
    char code[CODE_SIZE];

    for (int32_t id = 0; id < vocabulary_size(target); id++)
        if (plan_language_code(marks, vocabulary_piece(target, id), code,
                               sizeof code))
            plan_bar(p, id);
}

enum status plan_languages(struct model_plan *p, const struct vocabulary *v,
                           const struct vocabulary *target,
                           enum language_marks marks,
                           enum language_tokens where,
                           const struct family_options *o, struct err *e)
{
    char code[CODE_SIZE];

    bar_languages(p, target, marks);
    for (int32_t id = 0; id < vocabulary_size(v); id++) {
        if (!plan_language_code(marks, vocabulary_piece(v, id), code,
                                sizeof code))
            continue;
        if (!strbuf_addf(&p->languages, "%s\t%d\n", code, (int)id))
            return err_nomem(e, "languages");
    }
    if (!p->languages.len) return ST_OK;
    p->cfg.language_tokens = where;
    return choose_languages(p, o, e);
}

bool plan_languages_warn(struct model_plan *p, enum language_marks marks)
{
    return marks != LANGUAGE_MARKS_NLLB ||
           family_warn(p, "the published NLLB-200 models are under the license "
                       "CC-BY-NC 4.0, which does not allow commercial use");
}

/* ---- one pair ---- */

static bool is_code(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

    return n && n < CODE_SIZE && !s[n];
}

static enum status set_code(char *out, const char *option, const char *given,
                            const char *found, struct err *e)
{
    const char *code = given ? given : found;

    if (!code || !*code) return ST_OK;
    if (!is_code(code))
        return err_set(e, given ? ST_ARGUMENT : ST_FORMAT, "%s: \"%.40s\" is "
                       "not a language code", option, code);
    strcpy(out, code);
    return ST_OK;
}

enum status plan_pair(struct model_plan *p, const struct family_options *o,
                      const char *source, const char *target, struct err *e)
{
    enum status st = set_code(p->cfg.source_lang, "source-lang",
                              o->source_lang, source, e);

    return st ? st : set_code(p->cfg.target_lang, "target-lang",
                              o->target_lang, target, e);
}
