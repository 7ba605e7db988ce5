/* tm_handle.h - an open memory file as the public functions see it. */
#ifndef API_TM_HANDLE_H
#define API_TM_HANDLE_H

#include "api/handles.h"
#include "base/strbuf.h"
#include "tm/tmfile.h"

struct skmt_tm {
    struct tmfile *f;
    struct memory_info *list;   /* memories, as of the last look */
    size_t n_list;
    struct strbuf text;         /* what skmt_tm_get gave */
    struct strbuf scratch[2];
    int64_t stats[8];           /* what skmt_tm_stat counts through */
};

#endif
