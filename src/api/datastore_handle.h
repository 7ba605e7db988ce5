/* datastore_handle.h - the struct behind skmt_datastore, for the files of
 * api/. */
#ifndef API_DATASTORE_HANDLE_H
#define API_DATASTORE_HANDLE_H

#include "engine/engine.h"
#include "knn/entries.h"
#include "skmt_tools.h"
#include "text/subword.h"

struct skmt_datastore {
    struct entries *s;          /* held */
    const struct engine *en;    /* held; NULL: opened without a model */
    struct pieces pieces;       /* of the target of the last entry */
    char fact[24];              /* the text that skmt_datastore_fact returned */
};

#endif
