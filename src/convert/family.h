/* family.h - the families of models that can be converted.
 *
 * A family is a struct family_NAME in a file family_*.c. To add a family: write
 * its file, add it to the list below, describe it in docs/models.md. */
#ifndef CONVERT_FAMILY_H
#define CONVERT_FAMILY_H

#include "base/err.h"
#include "convert/file_set.h"
#include "convert/model_plan.h"

/* What a user may say about a model, where its files do not. Strings may be
 * NULL. */
struct family_options {
    const char *family;         /* the name of a family, instead of what the
                                   files look like */
    const char *source_lang, *target_lang;
    int heads;                  /* 0: as in the files */
    const char *positions;      /* "halves", "halves-hf", "in-turn" */
    const char *checkpoint;     /* the one to take of several in a folder */
    /* Paths of SentencePiece models, for models that come without. The second
     * one is for the target, if it has one of its own. */
    const char *tokenizer, *target_tokenizer;
};

struct family {
    const char *name;           /* "marian", for --family */
    const char *title;          /* "OPUS-MT (Marian)" */
    /* Whether the files look like a model of this family. Never fails; does
     * little. */
    bool (*recognize)(struct file_set *s);
    /* Fill in a plan that is all zeros but for initialized strbufs and the
     * defaults of the config. Refuses whatever would change the arithmetic and
     * is not known. On failure the caller frees what was filled in. */
    enum status (*plan)(struct model_plan *p, struct file_set *s,
                        const struct family_options *o, struct err *e);
};

/* The families, in the order in which they are tried. */
#define FAMILY_LIST(F) \
    F(marian) \
    F(argos) \
    F(ct2) \
    F(hf_marian) \
    F(m2m) \
    F(nllb) \
    F(small100) \
    F(fsmt) \
    F(fairseq) \
    F(own)

#define F(name) extern const struct family family_##name;
FAMILY_LIST(F)
#undef F

/* Family i of the list. NULL after the last. */
const struct family *family_at(int i);

/* For families. Whether config.json says "model_type": type. Never fails. */
bool family_model_type_is(struct file_set *s, const char *type);
/* The name of a file of the set, for messages: "FOLDER/config.json". false: out
 * of memory. */
bool family_file_name(struct strbuf *out, const struct file_set *s,
                      const char *name);
/* Append a line to p->report: "note: .." or "warning: ..". false: out of
 * memory. */
__attribute__((format(printf, 2, 3)))
bool family_note(struct model_plan *p, const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
bool family_warn(struct model_plan *p, const char *fmt, ...);

/* An empty plan, for a family to fill in. NULL: out of memory. */
struct model_plan *model_plan_new(void);
/* Recognize the files and make a plan. Its config is checked and complete: the
 * name of the family, the origin and the license are filled in where the family
 * has not done so (but not for our own models). The tokenizers can be opened,
 * and all tensors are there, have their shapes, and none is left over.
 * Fails with ST_FORMAT and says what was found if no family fits. */
enum status model_plan_make(struct model_plan **out, struct file_set *s,
                            const struct family_options *o, struct err *e);
void model_plan_free(struct model_plan *p);             /* NULL is fine */

#endif
