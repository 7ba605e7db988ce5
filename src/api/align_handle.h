/* align_handle.h - the struct behind skmt_aligner, for the files of api/. */
#ifndef API_ALIGN_HANDLE_H
#define API_ALIGN_HANDLE_H

#include "align/aligner.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "skmt_tools.h"

struct skmt_aligner {
    const struct engine *en;    /* of pieces, held; NULL: words */
    struct word_splitter splitter;
    struct align_settings settings;
    enum align_method method;
    int threads;
    skmt_tm_progress_fn *progress;
    void *progress_user;
    skmt_aligner_fn *iteration;
    void *iteration_user;
    struct bitext bitext;       /* the pairs that were added */
    struct align_model *model;  /* NULL: not trained yet */
    struct aligner *aligner;    /* with the model */
    struct word_keys source, target;    /* of the last pair */
    uint32_t source_number[ALIGNER_WORDS_MAX];
    uint32_t target_number[ALIGNER_WORDS_MAX];
    struct word_links links;    /* that were returned last */
    size_t n_source, n_target;  /* words of their texts; 0: no links */
    struct word_keys shown[2];  /* of skmt_aligner_split */
    const char *shown_text[2];  /* borrowed */
    struct strbuf text;         /* of skmt_aligner_pharaoh */
    size_t n_aligned, n_empty, n_long;  /* pairs of skmt_aligner_align */
};

#endif
