/* tm_handle.h - the struct behind skmt_tm: an open memory file, and the
 * buffers of the strings that the API returns. */
#ifndef API_TM_HANDLE_H
#define API_TM_HANDLE_H

#include "api/handles.h"
#include "base/strbuf.h"
#include "tm/tmfile.h"

struct skmt_tm {
    struct tmfile *f;
    struct memory_info *list;   /* [n_list] memories, read by list_memories */
    size_t n_list;
    struct strbuf text;         /* the strings that skmt_tm_get returned */
    struct strbuf scratch[2];   /* the source and target of a pair that is
                                   being stored, with escaped tags */
    int64_t stats[8];           /* the values that skmt_tm_stat returns */
};

#endif
