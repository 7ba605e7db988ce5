/* tm_handle.h - the structs behind skmt_tm and skmt_keys: an open memory file
 * with the strings that the API returns, and the keys of pairs. */
#ifndef API_TM_HANDLE_H
#define API_TM_HANDLE_H

#include "api/handles.h"
#include "base/strbuf.h"
#include "engine/request.h"
#include "tm/retrieve.h"
#include "tm/tmfile.h"

struct skmt_tm {
    struct tmfile *f;
    pthread_mutex_t lock;       /* held while a request searches the file */
    struct retriever *retriever;        /* NULL: no search yet */
    struct memory_info *list;   /* [n_list] memories, read by list_memories */
    size_t n_list;
    uint32_t list_version;      /* of the file, when the list was read */
    struct strbuf text;         /* the strings that skmt_tm_get returned */
    struct strbuf scratch[2];   /* the source and target of a pair that is
                                   being stored, with escaped tags */
    int64_t stats[8];           /* the values that skmt_tm_stat returns */
};

struct skmt_keys {
    struct shared_keys *k;
    const struct engine *en;
    struct key_cache_stats stats;       /* the values of skmt_keys_stat */
};

/* tm and keys may be NULL. */
static inline struct request_memory memory_of(skmt_tm *tm, skmt_keys *keys)
{
    return (struct request_memory){
        .source = tm ? tmfile_source(tm->f) : NULL,
        .lock = tm ? &tm->lock : NULL, .keys = keys ? keys->k : NULL };
}

/* Convert and check the pairs of a caller. Free *out after use; its strings are
 * borrowed from the caller. */
enum status similar_pairs_of(const skmt_similar *pairs, int n,
                             struct similar_pair **out, struct err *e);

#endif
