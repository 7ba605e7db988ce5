/* efficient.c - the steering system Efficient kNN-MT: kNN-MT with shorter keys,
 * merged entries and a cache of answers. The first two are properties of the
 * datastore (skmt knn reduce, skmt knn merge), and the cache is an option that
 * vanilla has, too. So only the defaults differ from vanilla. */
#include "knn/efficient.h"

#include "knn/vanilla.h"

const struct steering_system efficient_system = {
    .name = "efficient",
    .title = "all pairs; earlier answers of the sentence are used again",
    .paper = "Martins et al., Efficient Machine Translation Domain Adaptation, "
             "SPA-NLP 2022",
    .options = vanilla_option_names,
    .needs = NEEDS_ENTRIES,
    .worker_new = worker_search_make,
    .worker_free = worker_search_unmake,
    .sentence_new = vanilla_new,
    .prepare = vanilla_prepare,
};
