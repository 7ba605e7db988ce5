/* tail.c - the index of the newest texts: adds documents, marks them dead and
 * finds posting lists. It never removes a posting. */
#include "tm/tail.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "tm/length_byte.h"

void tail_release(struct tail *t)
{
    free(t->docs);
    free(t->posts);
    map64_release(&t->by_text);
    map64_release(&t->heads);
    map64_release(&t->counts);
    memset(t, 0, sizeof *t);
}

void tail_reset(struct tail *t)
{
    map64_clear(&t->by_text);
    map64_clear(&t->heads);
    map64_clear(&t->counts);
    t->n_docs = t->n_posts = 0;
    t->words = t->n_live = 0;
}

static bool tail_add_term(struct tail *t, uint64_t hash, uint32_t doc)
{
    bool fresh;
    uint32_t *head = map64_put(&t->heads, hash, &fresh);
    uint32_t *count;

    if (!head) return false;
    assert(*head <= t->n_posts);
    assert(!*head || t->posts[*head - 1].doc <= doc);
    if (*head && t->posts[*head - 1].doc == doc) {
        t->posts[*head - 1].tf++;
        return true;
    }
    if (!mem_grow(&t->posts, &t->cap_posts, t->n_posts + 1, sizeof *t->posts))
        return false;
    count = map64_put(&t->counts, hash, &fresh);
    if (!count) return false;
    ++*count;
    t->posts[t->n_posts++] = (struct tail_post){ doc, 1, *head };
    *head = (uint32_t)t->n_posts;
    return true;
}

enum status tail_add(struct tail *t, int64_t text, const struct terms *terms,
                     struct err *e)
{
    uint32_t doc = (uint32_t)t->n_docs;
    uint32_t *place;
    bool fresh;

    assert(!tail_find(t, text, &(uint32_t){ 0 }));
    assert(t->n_docs < UINT32_MAX && t->n_live <= t->n_docs);
    if (!mem_grow(&t->docs, &t->cap_docs, t->n_docs + 1, sizeof *t->docs))
        return err_nomem(e, "index");
    place = map64_put(&t->by_text, (uint64_t)text, &fresh);
    if (!place) return err_nomem(e, "index");
    for (size_t i = 0; i < terms->n; i++)
        if (!tail_add_term(t, terms->at[i], doc)) return err_nomem(e, "index");
    *place = doc;
    t->docs[t->n_docs++] = (struct tail_doc){
        text, (uint32_t)terms->n, length_to_byte((uint32_t)terms->n), false };
    t->words += terms->n;
    t->n_live++;
    return ST_OK;
}

bool tail_find(const struct tail *t, int64_t text, uint32_t *doc)
{
    const uint32_t *d = map64_find(&t->by_text, (uint64_t)text);

    if (!d || *d >= t->n_docs || t->docs[*d].dead) return false;
    *doc = *d;
    return true;
}

static int tail_by_value(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return a < b ? -1 : a > b;
}

/* The postings stay in the chains: finding them there would take long. */
void tail_mark_deleted(struct tail *t, uint32_t doc, struct terms *terms)
{
    assert(doc < t->n_docs && !t->docs[doc].dead);
    assert(t->n_live > 0 && t->words >= t->docs[doc].words);
    qsort(terms->at, terms->n, sizeof *terms->at, tail_by_value);
    for (size_t i = 0; i < terms->n; i++) {
        uint32_t *count = map64_find(&t->counts, terms->at[i]);

        if (i && terms->at[i] == terms->at[i - 1]) continue;
        if (count && *count) --*count;
    }
    t->docs[doc].dead = true;
    t->words -= t->docs[doc].words;
    t->n_live--;
}

uint32_t tail_df(const struct tail *t, uint64_t hash)
{
    const uint32_t *n = map64_find(&t->counts, hash);

    return n ? *n : 0;
}

const struct tail_post *tail_list(const struct tail *t, uint64_t hash)
{
    const uint32_t *head = map64_find(&t->heads, hash);

    return head && *head ? &t->posts[*head - 1] : NULL;
}

/* Whether the documents of a chain fall, and how many of them are live. */
static bool tail_chain_sound(const struct tail *t, uint32_t head,
                             uint32_t *n_live)
{
    size_t before = t->n_docs;

    *n_live = 0;
    for (uint32_t at = head; at; at = t->posts[at - 1].next) {
        const struct tail_post *p = &t->posts[at - 1];

        if (at > t->n_posts || p->doc >= before || !p->tf) return false;
        before = p->doc;
        *n_live += !t->docs[p->doc].dead;
    }
    return true;
}

bool tail_sound(const struct tail *t)
{
    uint64_t words = 0;
    uint32_t n_live = 0, found;

    for (uint32_t d = 0; d < t->n_docs; d++) {
        if (t->docs[d].dead) continue;
        words += t->docs[d].words;
        n_live++;
        if (!tail_find(t, t->docs[d].text, &found) || found != d) return false;
    }
    if (words != t->words || n_live != t->n_live) return false;
    for (size_t i = 0; t->heads.slots && i <= t->heads.mask; i++) {
        const struct map64_slot *slot = &t->heads.slots[i];

        if (slot->used && (!tail_chain_sound(t, slot->value, &n_live)
                           || tail_df(t, slot->key) != n_live))
            return false;
    }
    return true;
}
