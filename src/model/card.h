/* card.h - what a model file says about itself.
 *
 * Only the header, the config and the list of languages are read and checked,
 * so that a folder of large models is listed at once. A card does not need the
 * file any more once it is open, and never changes. */
#ifndef MODEL_CARD_H
#define MODEL_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/config.h"
#include "model/languages.h"
#include "model/mfile.h"

struct card {
    struct config cfg;
    struct languages languages; /* of a multilingual model */
    char type[8];               /* of the weights: "int8" */
    uint64_t bytes;             /* of the file */
    uint64_t id;                /* mfile_id() */
};

enum status card_open(struct card **out, const char *path, struct err *e);
/* The same of a file that is open, checked or not. */
enum status card_from(struct card **out, const struct mfile *f,
                      struct err *e);
void card_close(struct card *c);                /* NULL is fine */

/* How well the model translates from one language to another: 0 if it does
 * not, as far as its file says; a larger number is better. A language that is
 * NULL or "" may be any. Exact codes are better than related ones, and a model
 * of one pair is better than a multilingual one with the same codes. */
int card_fit(const struct card *c, const char *from, const char *to);
/* Whether it may translate them: card_fit() is not 0, or would not be if the
 * file named a language that it leaves open. */
bool card_may_fit(const struct card *c, const char *from, const char *to);

#endif
