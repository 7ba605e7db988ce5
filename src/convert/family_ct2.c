/* family_ct2.c - folders of CTranslate2: model.bin, vocabularies and, since
 * version 6, config.json. They have no tokenizer, but many have one beside the
 * model, where the program that uses it looks for it. */
#include "convert/ct2_model.h"
#include "convert/plan_languages.h"

static bool ct2_recognize(struct file_set *s)
{
    return file_set_has(s, "model.bin", NULL);
}

static enum status ct2_plan(struct model_plan *p, struct file_set *s,
                            const struct family_options *o, struct err *e)
{
    struct tokenizer_files tokenizers;
    struct ct2_model m = {
        .files = s, .folder = "", .tokenizers = &tokenizers,
        .target_prefix = "", .options = o,
    };
    enum status st = tokenizer_files_find(&tokenizers, s, "", o, e);

    if (st) return st;
    p->described_by = "model.bin";
    /* What CTranslate2 does unless it is told otherwise. */
    p->cfg.beam = 2;
    p->cfg.length_penalty = 1;
    st = plan_pair(p, o, NULL, NULL, e);
    if (!st) st = ct2_model_plan(p, &m, e);
    tokenizer_files_release(&tokenizers);
    return st;
}

const struct family family_ct2 = {
    .name = "ctranslate2", .title = "CTranslate2", .recognize = ct2_recognize,
    .plan = ct2_plan,
};
