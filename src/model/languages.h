/* languages.h - the languages of a multilingual model: the list in its file,
 * and the language that a user means by a code.
 *
 * The list is a text with a line "CODE TAB ID" for each language, where the id
 * is that of its token. Codes are written in the way of the model: "de",
 * "deu_Latn", "cmn_Hans". */
#ifndef MODEL_LANGUAGES_H
#define MODEL_LANGUAGES_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "model/config.h"
#include "model/mfile.h"

struct language_entry {
    char code[sizeof ((struct config *)0)->target_lang];
    int32_t id;
};

struct languages {
    struct language_entry *at;  /* [n] */
    int n;
};

/* Read the list; n is 0 if the file has none. The ids are below `vocab`. Fails
 * with ST_FORMAT if the list is damaged. */
enum status languages_read(struct languages *l, const struct mfile *f,
                           int vocab, struct err *e);
/* The same for a list that is not in a file yet. Errors begin with `name`. */
enum status languages_parse(struct languages *l, struct str text, int vocab,
                            const char *name, struct err *e);
void languages_release(struct languages *l);

/* Find the language that a code means: the same code, or the only one, or the
 * best one, that it fits (text/language.h): "de" is deu_Latn. Fails with
 * ST_ARGUMENT and says which codes there are. The message begins with `option`
 * and a colon. */
enum status languages_find(const struct language_entry **out,
                           const struct languages *l, const char *code,
                           const char *option, struct err *e);

/* Give a model the languages that were chosen, by setting prefix_id,
 * target_prefix_id, source_lang and target_lang of its config. `from` and `to`
 * may be "": then those of the config are used. A model of one pair is only
 * checked. A multilingual model whose languages are not known yet stays as it
 * is (languages_chosen). Fails with ST_ARGUMENT if the model does not translate
 * between these languages; `name` is that of its file. */
enum status languages_choose(struct config *c, const struct languages *l,
                             const char *from, const char *to,
                             const char *name, struct err *e);

/* Whether the model has the language tokens that it needs. */
bool languages_chosen(const struct config *c);

#endif
