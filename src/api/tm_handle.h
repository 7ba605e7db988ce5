/* tm_handle.h - the struct behind skmt_tm: an open memory file, and the memory
 * of the strings that the API returns. */
#ifndef API_TM_HANDLE_H
#define API_TM_HANDLE_H

#include "api/handles.h"
#include "base/strbuf.h"
#include "tm/retrieve.h"
#include "tm/tmfile.h"

struct skmt_tm {
    struct tmfile *f;
    struct retriever *retriever;        /* NULL: no search yet */
    struct memory_info *list;   /* [n_list] memories, read by list_memories */
    size_t n_list;
    struct strbuf text;         /* the strings that skmt_tm_get returned */
    struct strbuf scratch[2];
    int64_t stats[8];           /* the values that skmt_tm_stat returns */
};

#endif
