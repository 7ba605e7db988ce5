/* shuffled_spm.h - makes a vocabulary from the pieces of a SentencePiece model,
 * for tests of spm_rewrite().
 *
 * The vocabulary has the pieces in another order. Some of the model's pieces
 * are missing. It has pieces that the model lacks: unions of two pieces, which
 * would change the segmentation if they were used, and language tokens. */
#ifndef SHUFFLED_SPM_H
#define SHUFFLED_SPM_H

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "convert/spm_rewrite.h"
#include "convert/vocabulary.h"
#include "script_lines.h"
#include "text/subword.h"

static const char *const shuffled_control[] = {
    ">>deu<<", "__en__", "eng_Latn", "<pad>"
};
#define N_SHUFFLED_CONTROL 4
#define N_SHUFFLED_NEW 60

/* Appends a piece unless the object has it. */
static inline void add_once(json_t *seen, json_t *list, const char *s, size_t n)
{
    char *text = strndup(s, n);

    if (!json_object_get(seen, text)) {
        json_object_set_new(seen, text, json_true());
        json_array_append_new(list, json_string(text));
    }
    free(text);
}

/* Returns the vocabulary as a JSON array. */
static inline char *shuffled_pieces(const struct subword *sw,
                                    struct line_maker *m)
{
    json_t *seen = json_object(), *list = json_array();
    uint32_t size = (uint32_t)subword_size(sw);
    char *text;

    for (uint32_t id = 0; id < size; id++) {
        size_t len;
        const char *s = subword_piece(sw, (int32_t)id, &len);

        if (line_random(m, 40) == 0 && (int32_t)id != subword_unk(sw)) continue;
        add_once(seen, list, s, len);
    }
    for (int i = 0; i < N_SHUFFLED_NEW; i++) {
        struct strbuf both;
        size_t len;
        const char *s;

        strbuf_init(&both, 0);
        for (int k = 0; k < 2; k++) {
            s = subword_piece(sw, (int32_t)line_random(m, size), &len);
            strbuf_add(&both, s, len);
        }
        if (subword_find(sw, both.data, both.len) < 0)
            add_once(seen, list, both.data, both.len);
        strbuf_release(&both);
    }
    for (int i = 0; i < N_SHUFFLED_CONTROL; i++)
        add_once(seen, list, shuffled_control[i], strlen(shuffled_control[i]));
    for (size_t i = json_array_size(list); i > 1; i--) {
        size_t k = line_random(m, (uint32_t)i);
        json_t *a = json_incref(json_array_get(list, i - 1));
        json_t *b = json_incref(json_array_get(list, k));

        json_array_set_new(list, i - 1, b);
        json_array_set_new(list, k, a);
    }
    text = json_dumps(list, 0);
    json_decref(seen);
    json_decref(list);
    return text;
}

/* Rewrites a model for a vocabulary that is made with this seed. */
static inline enum status shuffle_spm(struct spm_rewrite *r,
                                      struct vocabulary **v, const void *spm,
                                      size_t size, uint64_t seed, struct err *e)
{
    struct line_maker m = { seed };
    struct subword *sw;
    enum status st = subword_open(&sw, spm, size, e);
    char *text, unk[100];
    const char *s;
    size_t len;

    *v = NULL;
    if (st) return st;
    text = shuffled_pieces(sw, &m);
    s = subword_piece(sw, subword_unk(sw), &len);
    snprintf(unk, sizeof unk, "%.*s", (int)len, s);
    st = vocabulary_read(v, VOCABULARY_JSON_ARRAY, text, strlen(text), "v", e);
    if (!st)
        st = spm_rewrite(r, spm, size, *v, unk, shuffled_control,
                         N_SHUFFLED_CONTROL, "model", e);
    free(text);
    subword_close(sw);
    return st;
}

#endif
