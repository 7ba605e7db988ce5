/* model_store_fix.h - makes small model files that only have a card, in folders
 * of a test. All functions are static. */
#ifndef MODEL_STORE_FIX_H
#define MODEL_STORE_FIX_H

#include <sys/stat.h>

#include "base/strbuf.h"
#include "model/config.h"
#include "model/mfile_write.h"
#include "scratch_dir.h"

struct fix_model {
    const char *source, *target;        /* NULL: not said */
    const char *languages;              /* lines "CODE\tID\n"; NULL: none */
    enum language_tokens tokens;
};

static inline void fix_config(struct config *c, const struct fix_model *m)
{
    config_defaults(c);
    c->vocab_size = 8;
    c->d_model = 4;
    c->heads = 1;
    c->ffn = 4;
    c->encoder_layers = c->decoder_layers = 1;
    c->eos_id = 1;
    c->start_id = 2;
    c->language_tokens = m->tokens;
    snprintf(c->source_lang, sizeof c->source_lang, "%s",
             m->source ? m->source : "");
    snprintf(c->target_lang, sizeof c->target_lang, "%s",
             m->target ? m->target : "");
    strcpy(c->license, "CC-BY-4.0");
}

/* Write the file `path` of the folder. */
static inline bool fix_model_write(const struct scratch *s, const char *path,
                                   const struct fix_model *m)
{
    static const float table[8 * 4];
    struct mfile_writer *w;
    struct strbuf text;
    struct config c;
    struct err e;
    enum status st;

    fix_config(&c, m);
    strbuf_init(&text, 0);
    st = config_format(&c, &text)
             ? mfile_writer_new(&w, scratch_path(s, path), text.data, text.len,
                                &e)
             : err_nomem(&e, "config");
    strbuf_release(&text);
    if (!CHECK_OK(st, &e)) return false;
    st = mfile_writer_add(w, "emb", DT_F32, 8, 4, table, sizeof table, &e);
    if (!st && m->languages)
        st = mfile_writer_add(w, "languages", DT_BYTES,
                              (int64_t)strlen(m->languages), 1, m->languages,
                              strlen(m->languages), &e);
    if (!st) st = mfile_writer_commit(w, &e);
    mfile_writer_free(w);
    return CHECK_OK(st, &e);
}

/* A model of one pair: "de-en" in the folder becomes FOLDER/de-en.skmt. */
static inline bool fix_pair(const struct scratch *s, const char *path,
                            const char *source, const char *target)
{
    return fix_model_write(s, path, &(struct fix_model){ source, target,
                                                         NULL, 0 });
}

#endif
