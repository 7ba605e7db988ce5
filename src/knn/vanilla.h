/* vanilla.h - the steering system kNN-MT (Khandelwal et al., ICLR 2021), and
 * what other systems share with it that search all pairs: those of a datastore
 * (system_options.entries), or the corrections so far (online). */
#ifndef KNN_VANILLA_H
#define KNN_VANILLA_H

#include "knn/weighed.h"

extern const struct steering_system vanilla_system;
extern const char *const vanilla_option_names[];

enum status vanilla_new(struct mixer **out, const struct system_options *o,
                        const struct system_sentence *s, struct err *e);

/* The options without what only the pairs of a sentence can have. */
struct system_options vanilla_options(const struct system_options *o);
/* weighed_init for such a system. Fails with ST_ARGUMENT if there is neither a
 * datastore nor a place for corrections. */
enum status vanilla_init(struct weighed *w, weighed_fn *fn,
                         const struct system_options *o,
                         const struct system_sentence *s, struct err *e);
/* The prepare of such a system. Its worker is a struct worker_search, or NULL
 * if it never has a datastore. */
enum status vanilla_prepare(struct mixer *m, void *worker,
                            const struct system_pair *pairs, int n,
                            struct err *e);

#endif
