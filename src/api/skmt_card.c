/* skmt_card.c - the public functions that tell what a model file is without
 * loading it. Listing a folder of models opens each of them, so nothing but
 * header, config and the list of languages is read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "base/strbuf.h"
#include "model/config.h"
#include "model/languages.h"
#include "model/mfile.h"
#include "skmt_tools.h"

enum { CARD_FACTS = 10 };

struct skmt_card {
    struct config cfg;
    struct strbuf languages;
    char type[8], bytes[24], checksum[24];
    struct { const char *name, *value; } fact[CARD_FACTS];
};

/* Append the codes with commas between. */
static enum status card_read_languages(skmt_card *c, const struct mfile *f,
                                       struct err *e)
{
    const struct mtensor *t = mfile_find(f, "languages");
    enum status st = t ? mfile_check_tensor(f, t, e) : ST_OK;
    struct languages l = { 0 };

    if (!st) st = languages_read(&l, f, c->cfg.vocab_size, e);
    for (int i = 0; i < l.n && !st; i++)
        if (!strbuf_addf(&c->languages, "%s%s", i ? "," : "", l.at[i].code))
            st = err_nomem(e, mfile_name(f));
    languages_release(&l);
    return st;
}

/* The type of the target table stands for the whole model. */
static void card_set_type(skmt_card *c, const struct mfile *f)
{
    const struct mtensor *t = mfile_find(f, "emb.w");

    if (!t) t = mfile_find(f, "emb.tgt.w");
    snprintf(c->type, sizeof c->type, "%s", t ? dtype_name(t->type) : "");
}

static void card_list_facts(skmt_card *c)
{
    const char *const facts[CARD_FACTS][2] = {
        { "name", c->cfg.name }, { "family", c->cfg.family },
        { "license", c->cfg.license }, { "origin", c->cfg.origin },
        { "source_lang", c->cfg.source_lang },
        { "target_lang", c->cfg.target_lang },
        { "languages", c->languages.data ? c->languages.data : "" },
        { "type", c->type }, { "bytes", c->bytes },
        { "checksum", c->checksum },
    };

    for (int i = 0; i < CARD_FACTS; i++) {
        c->fact[i].name = facts[i][0];
        c->fact[i].value = facts[i][1];
    }
}

static enum status card_read(skmt_card *c, const struct mfile *f,
                             struct err *e)
{
    struct err why;
    size_t len;
    const char *text = mfile_config(f, &len);
    enum status st = config_parse(&c->cfg, text, len, &why);

    if (st) return err_set(e, st, "%s: %s", mfile_name(f), why.msg);
    st = card_read_languages(c, f, e);
    snprintf(c->bytes, sizeof c->bytes, "%" PRIu64, mfile_size(f));
    snprintf(c->checksum, sizeof c->checksum, "%016" PRIx64, mfile_id(f));
    card_set_type(c, f);
    if (!st) card_list_facts(c);
    return st;
}

skmt_status skmt_card_open(skmt_card **out, const char *path, skmt_error *err)
{
    struct err *e = err_of(err);
    skmt_card *c = calloc(1, sizeof *c);
    struct mfile *f = NULL;
    enum status st;

    err_clear(e);
    *out = NULL;
    if (!c) return (skmt_status)err_nomem(e, "model card");
    strbuf_init(&c->languages, 0);
    st = path ? mfile_open_unchecked(&f, path, e)
              : err_set(e, ST_ARGUMENT, "the name of the model file is "
                        "missing");
    if (!st) st = card_read(c, f, e);
    mfile_close(f);
    if (st) skmt_card_close(c);
    else *out = c;
    return (skmt_status)st;
}

void skmt_card_close(skmt_card *card)
{
    if (!card) return;
    strbuf_release(&card->languages);
    free(card);
}

const char *skmt_card_fact(const skmt_card *card, int i, const char **value)
{
    bool exists = i >= 0 && i < CARD_FACTS;

    *value = exists ? card->fact[i].value : NULL;
    return exists ? card->fact[i].name : NULL;
}

const char *skmt_card_get(const skmt_card *card, const char *name)
{
    for (int i = 0; i < CARD_FACTS; i++)
        if (!strcmp(card->fact[i].name, name)) return card->fact[i].value;
    return NULL;
}
