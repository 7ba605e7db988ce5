/* family_argos.c - packages of Argos Translate and LibreTranslate: a zip
 * archive, or the folder that it is unpacked to, with metadata.json, a
 * CTranslate2 model in model/, and one tokenizer for both languages: a
 * SentencePiece model, or merges of BPE for words split by Moses. */
#include <stdio.h>
#include <string.h>

#include "convert/ct2_model.h"
#include "convert/json_config.h"
#include "convert/plan_languages.h"

static const char metadata[] = "metadata.json";
static const char spm[] = "sentencepiece.model";
static const char bpe[] = "bpe.model";

static bool argos_recognize(struct file_set *s)
{
    return file_set_has(s, metadata, NULL) &&
           file_set_has(s, "model/model.bin", NULL);
}

/* ---- metadata.json ---- */

/* Append the text of a key to a fixed-size string, if it fits. */
static void add_text(char *out, size_t size, const char *between,
                     const char *text)
{
    size_t n = strlen(out);

    if (text && *text && n + strlen(between) + strlen(text) < size)
        snprintf(out + n, size - n, "%s%s", *out ? between : "", text);
}

/* "German-English", and "Argos translate-de_en 1.9". */
static void describe_package(struct config *c, struct json_config *j)
{
    const char *version = json_config_string(j, "package_version", NULL);

    add_text(c->name, sizeof c->name, "",
             json_config_string(j, "from_name", NULL));
    add_text(c->name, sizeof c->name, "-",
             json_config_string(j, "to_name", NULL));
    if (strlen(c->source_lang) && strlen(c->target_lang))
        snprintf(c->origin, sizeof c->origin, "Argos translate-%s_%s",
                 c->source_lang, c->target_lang);
    add_text(c->origin, sizeof c->origin, " ", version);
    add_text(c->license, sizeof c->license, "",
             json_config_string(j, "license", NULL));
}

static enum status check_kind(struct json_config *j, struct file_set *s,
                              struct err *e)
{
    const char *kind = json_config_string(j, "type", "translate");

    if (!strcmp(kind, "translate")) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: %s: the package is for \"%.40s\", not "
                   "for translation", file_set_path(s), metadata, kind);
}

static enum status read_metadata(struct model_plan *p, struct json_config *j,
                                 struct file_set *s,
                                 const struct family_options *o,
                                 struct err *e)
{
    enum status st = check_kind(j, s, e);

    if (!st)
        st = plan_pair(p, o, json_config_string(j, "from_code", NULL),
                       json_config_string(j, "to_code", NULL), e);
    if (st) return st;
    describe_package(&p->cfg, j);
    return json_config_check(j, e);
}

/* ---- the tokenizer ---- */

/* Either *codes or *t is set. */
static enum status find_package_tokenizer(struct tokenizer_files *t,
                                          const char **codes,
                                          struct file_set *s,
                                          const struct family_options *o,
                                          struct err *e)
{
    *t = (struct tokenizer_files){ 0 };
    if (o->tokenizer || file_set_has(s, spm, NULL) ||
        !file_set_has(s, bpe, NULL))
        return tokenizer_files_find(t, s, "", o, e);
    *codes = bpe;
    return ST_OK;
}

static enum status plan_package(struct model_plan *p, struct json_config *j,
                                struct file_set *s,
                                const struct family_options *o, struct err *e)
{
    struct tokenizer_files tokenizers;
    struct ct2_model m = {
        .files = s, .folder = "model/", .tokenizers = &tokenizers,
        .target_prefix = json_config_string(j, "target_prefix", ""),
        .options = o,
    };
    enum status st = read_metadata(p, j, s, o, e);

    if (!st) st = find_package_tokenizer(&tokenizers, &m.codes, s, o, e);
    if (st) return st;
    /* What Argos Translate tells CTranslate2 to do. */
    p->cfg.beam = 4;
    p->cfg.length_penalty = 0.2;
    st = ct2_model_plan(p, &m, e);
    tokenizer_files_release(&tokenizers);
    return st;
}

static enum status argos_plan(struct model_plan *p, struct file_set *s,
                              const struct family_options *o, struct err *e)
{
    struct json_config *j;
    enum status st = json_config_open(&j, s, metadata, e);

    if (st) return st;
    p->described_by = metadata;
    st = plan_package(p, j, s, o, e);
    json_config_close(j);
    return st;
}

const struct family family_argos = {
    .name = "argos", .title = "Argos Translate", .recognize = argos_recognize,
    .plan = argos_plan,
};
