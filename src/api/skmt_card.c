/* skmt_card.c - the public functions that tell what a model file is without
 * loading it, as texts. model/card.c reads the file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "base/strbuf.h"
#include "model/card.h"
#include "skmt_tools.h"

enum { CARD_FACTS = 10 };

struct skmt_card {
    struct card *card;
    struct strbuf languages;
    char bytes[24], checksum[24];
    struct { const char *name, *value; } fact[CARD_FACTS];
};

/* Write the codes with commas between. */
static enum status card_list_languages(skmt_card *c, struct err *e)
{
    const struct languages *l = &c->card->languages;

    for (int i = 0; i < l->n; i++)
        if (!strbuf_addf(&c->languages, "%s%s", i ? "," : "", l->at[i].code))
            return err_nomem(e, "model card");
    return ST_OK;
}

static void card_list_facts(skmt_card *c)
{
    const struct config *cfg = &c->card->cfg;
    const char *const facts[CARD_FACTS][2] = {
        { "name", cfg->name }, { "family", cfg->family },
        { "license", cfg->license }, { "origin", cfg->origin },
        { "source_lang", cfg->source_lang },
        { "target_lang", cfg->target_lang },
        { "languages", c->languages.data },
        { "type", c->card->type }, { "bytes", c->bytes },
        { "checksum", c->checksum },
    };

    snprintf(c->bytes, sizeof c->bytes, "%" PRIu64, c->card->bytes);
    snprintf(c->checksum, sizeof c->checksum, "%016" PRIx64, c->card->id);
    for (int i = 0; i < CARD_FACTS; i++) {
        c->fact[i].name = facts[i][0];
        c->fact[i].value = facts[i][1];
    }
}

skmt_status skmt_card_open(skmt_card **out, const char *path, skmt_error *err)
{
    struct err *e = err_of(err);
    skmt_card *c = calloc(1, sizeof *c);
    enum status st;

    err_clear(e);
    *out = NULL;
    if (!c) return (skmt_status)err_nomem(e, "model card");
    strbuf_init(&c->languages, 0);
    st = path ? card_open(&c->card, path, e)
              : err_set(e, ST_ARGUMENT, "the name of the model file is "
                        "missing");
    if (!st) st = card_list_languages(c, e);
    if (st) {
        skmt_card_close(c);
        return (skmt_status)st;
    }
    card_list_facts(c);
    *out = c;
    return SKMT_OK;
}

void skmt_card_close(skmt_card *card)
{
    if (!card) return;
    card_close(card->card);
    strbuf_release(&card->languages);
    free(card);
}

int skmt_card_fit(const skmt_card *card, const char *from, const char *to)
{
    return card_fit(card->card, from, to);
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
