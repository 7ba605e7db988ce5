/* fuzz_moses_model.c - opens any bytes as a BPE tokenizer with Moses rules.
 *
 * An input is what follows the first line of a model. A model that opens must
 * split a few texts into pieces whose spans are in order, and decode them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/moses_bpe.h"
#include "text/subword.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

static void check_text(const struct subword *sw, const char *text, size_t n)
{
    struct pieces p = { 0 };
    struct strbuf out;
    uint32_t done = 0, *ends;
    int32_t *ids;

    strbuf_init(&out, 0);
    must(!subword_encode(sw, text, n, &p, NULL));
    ids = malloc((p.n + 1) * sizeof *ids);
    ends = malloc((p.n + 1) * sizeof *ends);
    for (size_t i = 0; i < p.n; i++) {
        must(p.at[i].begin >= done && p.at[i].end >= p.at[i].begin);
        must(p.at[i].id >= 0 && p.at[i].id < subword_size(sw));
        must(p.at[i].id == subword_unk(sw)
             || !subword_is_control(sw, p.at[i].id));
        done = p.at[i].end;
        ids[i] = p.at[i].id;
    }
    must(done <= n);
    must(!subword_decode_ends(sw, ids, p.n, &out, ends, NULL));
    for (size_t i = 0; i < p.n; i++)
        must(ends[i] <= out.len && (!i || ends[i] >= ends[i - 1]));
    must(!p.n || ends[p.n - 1] == out.len);
    strbuf_release(&out);
    pieces_release(&p);
    free(ids);
    free(ends);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] =
        "The \"house\", in-the can't \xFF\u00A0z.B. aab.";
    size_t n = sizeof MOSES_BPE_MAGIC - 1;
    struct err e = { 0 };
    struct subword *sw;
    char *model = malloc(n + size);

    memcpy(model, MOSES_BPE_MAGIC, n);
    if (size) memcpy(model + n, data, size);
    if (subword_open(&sw, model, n + size, &e)) {
        must(!strncmp(e.msg, "tokenizer: ", 11) || e.status == ST_NOMEM);
    } else {
        check_text(sw, text, sizeof text - 1);
        for (int32_t id = 0; id < subword_size(sw) && id < 50; id++) {
            size_t len;
            const char *piece = subword_piece(sw, id, &len);
            int32_t same = subword_find(sw, piece, len);

            must(same >= id);
            check_text(sw, piece, len);
        }
        subword_close(sw);
    }
    free(model);
    return 0;
}
