/* card.c - reads the card of a model file, and compares its languages with
 * those that are asked for. It reads no weights.
 *
 * The source languages of a multilingual model are those of its list, unless
 * its config names one: the models that write only the target language before
 * the source may translate from a single language, or from any. */
#include "model/card.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "text/language.h"

/* ---- reading ------------------------------------------------------------- */

static enum status card_read_languages(struct card *c, const struct mfile *f,
                                       struct err *e)
{
    const struct mtensor *t = mfile_find(f, "languages");
    enum status st = t ? mfile_check_tensor(f, t, e) : ST_OK;

    return st ? st : languages_read(&c->languages, f, c->cfg.vocab_size, e);
}

/* The type of the target table stands for the whole model. */
static void card_set_type(struct card *c, const struct mfile *f)
{
    const struct mtensor *t = mfile_find(f, "emb.w");

    if (!t) t = mfile_find(f, "emb.tgt.w");
    snprintf(c->type, sizeof c->type, "%s", t ? dtype_name(t->type) : "");
}

static enum status card_read(struct card *c, const struct mfile *f,
                             struct err *e)
{
    struct err why;
    size_t len;
    const char *text = mfile_config(f, &len);
    enum status st = config_parse(&c->cfg, text, len, &why);

    if (st) return err_set(e, st, "%s: %s", mfile_name(f), why.msg);
    c->bytes = mfile_size(f);
    c->id = mfile_id(f);
    card_set_type(c, f);
    return card_read_languages(c, f, e);
}

enum status card_from(struct card **out, const struct mfile *f, struct err *e)
{
    struct card *c = calloc(1, sizeof *c);
    enum status st;

    *out = NULL;
    if (!c) return err_nomem(e, "model card");
    st = card_read(c, f, e);
    if (st) card_close(c);
    else *out = c;
    return st;
}

enum status card_open(struct card **out, const char *path, struct err *e)
{
    struct mfile *f;
    enum status st = mfile_open_unchecked(&f, path, e);

    *out = NULL;
    if (!st) st = card_from(out, f, e);
    mfile_close(f);
    return st;
}

void card_close(struct card *c)
{
    if (!c) return;
    languages_release(&c->languages);
    free(c);
}

/* ---- languages ----------------------------------------------------------- */

/* language_rank() is at most 7. A language that includes the wanted one, or
 * has no region where one is wanted, is worse than one that is accepted. */
enum { RANK_RELATED = 1, RANK_ACCEPTED = 9, RANK_BEST = 16 };

/* How well a language is the one that is wanted; 0: not at all. */
static int rank_language(const char *wanted, struct str has)
{
    struct language l;

    if (!wanted || !*wanted) return RANK_BEST;
    if (language_accepts(wanted, has))
        return str_eq(str_of(wanted), has)
                   ? RANK_BEST : RANK_ACCEPTED + language_rank(wanted, has);
    if (!language_parse(str_of(wanted), &l) || !language_parse(has, &l) ||
        !language_fits(str_of(wanted), has))
        return 0;
    return RANK_RELATED + language_rank(wanted, has);
}

/* The best of the list. */
static int rank_listed(const struct languages *l, const char *wanted)
{
    int best = 0;

    for (int i = 0; i < l->n; i++) {
        int rank = rank_language(wanted, str_of(l->at[i].code));

        if (rank > best) best = rank;
    }
    return best;
}

int card_fit(const struct card *c, const char *from, const char *to)
{
    const struct config *cfg = &c->cfg;
    bool many = c->languages.n > 0;
    bool one_source = !many || (*cfg->source_lang && cfg->language_tokens ==
                                LANGUAGE_TOKENS_TARGET_FIRST);
    int source = one_source ? rank_language(from, str_of(cfg->source_lang))
                            : rank_listed(&c->languages, from);
    int target = many ? rank_listed(&c->languages, to)
                      : rank_language(to, str_of(cfg->target_lang));

    return source && target ? 2 * (source + target) + !many : 0;
}

static bool card_is_open(const char *code)
{
    struct language l;

    return !language_parse(str_of(code), &l);
}

bool card_may_fit(const struct card *c, const char *from, const char *to)
{
    bool many = c->languages.n > 0;

    if (!many && card_is_open(c->cfg.source_lang)) from = NULL;
    if (!many && card_is_open(c->cfg.target_lang)) to = NULL;
    return card_fit(c, from, to) > 0;
}
