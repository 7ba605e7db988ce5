/* facts.h - what skmt info and skmt_model_fact() say about an open model. */
#ifndef ENGINE_FACTS_H
#define ENGINE_FACTS_H

#include "base/err.h"
#include "model/languages.h"
#include "model/weights.h"

struct fact { const char *name; char *value; };

struct facts {
    struct fact *at;            /* [n] */
    int n;
};

/* The list must be all zeros; release it on failure too. */
enum status facts_make(struct facts *f, const struct weights *w,
                       const struct languages *l, struct err *e);
void facts_release(struct facts *f);

#endif
