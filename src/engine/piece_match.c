/* piece_match.c - the longest common subsequence of two lists of pieces, by
 * dynamic programming, and the words that it covers. */
#include "engine/piece_match.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/invariant.h"

void piece_match_release(struct piece_match *m)
{
    free(m->token);
    free(m->same_word);
    *m = (struct piece_match){ 0 };
}

/* Scratch memory of a comparison. */
struct match_work {
    uint16_t *len;              /* [(n + 1) * (n_tokens + 1)] length of the
                                   longest common subsequence of the rest */
    float *share;               /* [n_tokens] of the words of the sentence */
    bool *matched;              /* [n or n_tokens] */
};

static bool match_work_new(struct match_work *w, size_t n, size_t n_tokens)
{
    size_t most = n > n_tokens ? n : n_tokens;

    w->len = calloc((n + 1) * (n_tokens + 1), sizeof *w->len);
    w->share = calloc(n_tokens + 1, sizeof *w->share);
    w->matched = calloc(most + 1, sizeof *w->matched);
    return w->len && w->share && w->matched;
}

static void match_work_free(struct match_work *w)
{
    free(w->len);
    free(w->share);
    free(w->matched);
}

/* Find the longest common subsequence and set m->token. */
static void match_pieces(struct piece_match *m, const struct subword *sw,
                         const int32_t *stored, const int32_t *tokens,
                         int n_tokens, uint16_t *len)
{
    int32_t unknown = subword_unk(sw);  /* any two texts may have this id */
    size_t n = (size_t)m->n, k = (size_t)n_tokens, w = k + 1;

    for (size_t i = n; i-- > 0;)
        for (size_t j = k; j-- > 0;) {
            uint16_t down = len[(i + 1) * w + j], right = len[i * w + j + 1];

            len[i * w + j] = stored[i] == tokens[j] && stored[i] != unknown
                ? (uint16_t)(len[(i + 1) * w + j + 1] + 1)
                : down > right ? down : right;
        }
    for (size_t i = 0; i < n; i++) m->token[i] = -1;
    for (size_t i = 0, j = 0; i < n && j < k;) {
        if (stored[i] == tokens[j] && stored[i] != unknown)
            m->token[i++] = (int32_t)j++;
        else if (len[(i + 1) * w + j] >= len[i * w + j + 1]) i++;
        else j++;
    }
}

/* Whether a piece consists of punctuation: its first character tells. */
static bool is_punctuation(const struct subword *sw, int32_t id)
{
    size_t n;
    const char *text = subword_piece(sw, id, &n);

    return n && (unsigned char)*text < 0x80 && ispunct((unsigned char)*text);
}

/* The end of the word that begins with piece i. A special token is a word of
 * its own: the EOS after a period does not belong to it. */
static int word_end(const struct subword *sw, const int32_t *ids, int n, int i)
{
    bool mark = is_punctuation(sw, ids[i]);

    if (subword_is_control(sw, ids[i])) return i + 1;
    for (i++; i < n && !subword_begins_word(sw, ids[i - 1], ids[i]) &&
              !subword_is_control(sw, ids[i]) &&
              is_punctuation(sw, ids[i]) == mark;)
        i++;
    return i;
}

/* For each piece the share of the pieces of its word that are matched. */
static void share_words(const struct subword *sw, const int32_t *ids, int n,
                        const bool *matched, float *share)
{
    for (int i = 0, end; i < n; i = end) {
        int hits = 0;

        end = word_end(sw, ids, n, i);
        for (int k = i; k < end; k++) hits += matched[k];
        for (int k = i; k < end; k++)
            share[k] = (float)hits / (float)(end - i);
    }
}

static void match_words(struct piece_match *m, const struct subword *sw,
                        const int32_t *stored, const int32_t *tokens,
                        int n_tokens, struct match_work *w)
{
    for (int i = 0; i < m->n; i++)
        if (m->token[i] >= 0) w->matched[m->token[i]] = true;
    share_words(sw, tokens, n_tokens, w->matched, w->share);
    for (int i = 0; i < m->n; i++) w->matched[i] = m->token[i] >= 0;
    share_words(sw, stored, m->n, w->matched, m->same_word);
    for (int i = 0; i < m->n; i++) {
        float other = m->token[i] >= 0 ? w->share[m->token[i]] : 0;

        if (other < m->same_word[i]) m->same_word[i] = other;
    }
}

enum status piece_match_init(struct piece_match *m, const struct subword *sw,
                             const int32_t *stored, int n,
                             const int32_t *tokens, int n_tokens,
                             struct err *e)
{
    struct match_work w = { 0 };
    size_t room = (size_t)n + 1;
    bool ok;

    assert(n >= 0 && n_tokens >= 0);
    m->n = n;
    m->token = malloc(room * sizeof *m->token);
    m->same_word = calloc(room, sizeof *m->same_word);
    ok = match_work_new(&w, (size_t)n, (size_t)n_tokens) && m->token &&
         m->same_word;
    if (ok) {
        match_pieces(m, sw, stored, tokens, n_tokens, w.len);
        match_words(m, sw, stored, tokens, n_tokens, &w);
    } else {
        piece_match_release(m);
    }
    match_work_free(&w);
    return ok ? ST_OK : err_nomem(e, "translation memory search");
}
