/* online_store.h - a datastore that grows with each corrected sentence, for
 * systems kok and vanilla with `skmt learn`.
 *
 * Adding a pair runs it through the model once: its states become token
 * entries, and what the store had found at each of its steps becomes policy
 * entries (method 6). Readers get a view (knn/online_view.h) that does not
 * change.
 *
 * Any number of threads may use an online_store at the same time; they add one
 * after another. */
#ifndef ENGINE_ONLINE_STORE_H
#define ENGINE_ONLINE_STORE_H

#include "base/str.h"
#include "engine/engine.h"
#include "knn/online_view.h"

struct online_store;

/* The options k and tau, key-type and knn-eos matter. Holds en. */
enum status online_store_new(struct online_store **out,
                             const struct engine *en, const struct options *o,
                             struct err *e);
void online_store_free(struct online_store *s);         /* NULL is fine */

/* Add a pair. One with an empty text, or with more pieces than the model can
 * read, is not added; that is no error. */
enum status online_store_add(struct online_store *s, struct str source,
                             struct str target, int64_t id, struct err *e);
/* Remove all pairs. */
enum status online_store_reset(struct online_store *s, struct err *e);
/* The pairs so far, held for the caller. */
struct online_view *online_store_view(struct online_store *s);
/* Whether the store was made with this model. */
bool online_store_fits(const struct online_store *s, const struct engine *en);

#endif
