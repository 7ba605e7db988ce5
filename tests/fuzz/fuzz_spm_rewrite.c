/* fuzz_spm_rewrite.c - rewrites any bytes as a SentencePiece model, for any
 * vocabulary.
 *
 * An input is a length of two bytes, a vocabulary of that many bytes (a piece
 * per line), and the model. A model that is written must have the pieces of the
 * vocabulary at their ids, and segment a few texts as the original does. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "convert/spm_rewrite.h"
#include "text/subword.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

/* A run of unknown characters is a piece of the new model if the vocabulary has
 * its text (docs/foreign.md), or one that has the row of the unknown piece. */
static void may_be_unknown(const struct vocabulary *v, int32_t id,
                           const char *piece, size_t n)
{
    char *text = strndup(piece, n);

    must(text && (id >= vocabulary_size(v) || vocabulary_find(v, text) == id));
    free(text);
}

static void same_pieces(const struct subword *old, const struct subword *new,
                        const struct vocabulary *v, const char *text,
                        size_t size)
{
    struct pieces a = { 0 }, b = { 0 };

    must(!subword_encode(old, text, size, &a, NULL));
    must(!subword_encode(new, text, size, &b, NULL));
    must(a.n == b.n);
    for (size_t i = 0; i < a.n; i++) {
        size_t n_old, n_new;
        const char *s_old = subword_piece(old, a.at[i].id, &n_old);
        const char *s_new = subword_piece(new, b.at[i].id, &n_new);
        int unk_old = a.at[i].id == subword_unk(old);
        int unk_new = b.at[i].id == subword_unk(new);

        must(unk_old || !unk_new);
        if (unk_old && !unk_new)
            may_be_unknown(v, b.at[i].id, s_new, n_new);
        must(unk_old || (n_old == n_new && !memcmp(s_old, s_new, n_old)));
        must(a.at[i].begin == b.at[i].begin && a.at[i].end == b.at[i].end);
    }
    pieces_release(&a);
    pieces_release(&b);
}

static void check_model(const struct spm_rewrite *r, const void *spm,
                        size_t size, const struct vocabulary *v)
{
    static const char text[] = "a \xE2\x96\x81 ab <unk> \xFF</s>aab";
    struct subword *old, *new;

    must(!subword_open(&old, spm, size, NULL));
    must(!subword_open(&new, r->model.data, r->model.len, NULL));
    must(subword_size(new) == r->n && subword_unk(new) == r->unk);
    must(r->n == vocabulary_size(v) + r->n_only_spm);
    same_pieces(old, new, v, text, sizeof text - 1);
    for (int32_t id = 0; id < vocabulary_size(v) && id < 100; id++) {
        const char *piece = vocabulary_piece(v, id);

        same_pieces(old, new, v, piece, strlen(piece));
    }
    subword_close(old);
    subword_close(new);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const control[] = { "</s>", "__en__", "a" };
    struct vocabulary *v;
    struct spm_rewrite r;
    struct err e = { 0 };
    size_t n;
    char *spm;

    if (size < 2) return 0;
    n = (size_t)(data[0] | data[1] << 8);
    data += 2;
    size -= 2;
    if (n > size) n = size;
    if (vocabulary_read(&v, VOCABULARY_LINES, (const char *)data, n, "v", NULL))
        return 0;
    /* A copy of the exact size, so that ASan detects reads past the end. */
    spm = malloc(size - n ? size - n : 1);
    memcpy(spm, data + n, size - n);
    strbuf_init(&r.model, 0);
    if (spm_rewrite(&r, spm, size - n, v, "<unk>", control, 3, "f", &e))
        must(!strncmp(e.msg, "f: ", 3) || e.status == ST_NOMEM);
    else
        check_model(&r, spm, size - n, v);
    strbuf_release(&r.model);
    vocabulary_free(v);
    free(spm);
    return 0;
}
