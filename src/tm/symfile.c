/* symfile.c - reads and writes files of subword ids. The contents of a file are
 * checked before they are used; a damaged one is reported, not repaired. */
#include "tm/symfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "pair/tags.h"

#define SYMFILE_MAGIC "SKMTSYM"
#define SYMFILE_VERSION 1
#define PROGRESS_STEP 1024

enum { SYM32_DOCS, SYM32_WIDTH };
enum { SYM_UUID, SYM_SEGMENT, SYM_SEGMENT_SUM, SYM_TOKENIZER, SYM_IDS };

struct symfile {
    struct pagefile file;
    uint32_t n_docs;
    uint32_t width;             /* bytes of an id: 2 or 4 */
    uint64_t n_ids;
    uint64_t at_ids;            /* where the ids begin in the data */
};

static uint64_t begins_bytes(uint32_t n_docs)
{
    return ((uint64_t)n_docs + 1) * sizeof (uint32_t);
}

/* Read the head's numbers. False: it is the file of another segment or
 * tokenizer, or its sizes are impossible. */
static bool symfile_fits(struct symfile *f, const struct segment *seg,
                         uint64_t tokenizer)
{
    const struct pagefile_head *h = &f->file.head;

    f->n_docs = h->user32[SYM32_DOCS];
    f->width = h->user32[SYM32_WIDTH];
    f->n_ids = h->user[SYM_IDS];
    f->at_ids = begins_bytes(f->n_docs);
    return h->user[SYM_UUID] == seg->file.head.user[SEG_UUID]
           && h->user[SYM_SEGMENT] == (uint64_t)seg->number
           && h->user[SYM_SEGMENT_SUM] == seg->file.head.sum
           && h->user[SYM_TOKENIZER] == tokenizer
           && f->n_docs == seg->n_docs && (f->width == 2 || f->width == 4)
           && f->n_ids <= UINT32_MAX
           && h->data_bytes == f->at_ids + f->n_ids * f->width;
}

enum status symfile_open(struct symfile **out, const char *path,
                         const struct segment *seg, uint64_t tokenizer,
                         struct err *e)
{
    struct symfile *f = calloc(1, sizeof *f);
    enum status st;

    *out = NULL;
    if (!f) return err_nomem(e, "subword ids");
    st = pagefile_open(&f->file, path, SYMFILE_MAGIC, SYMFILE_VERSION, e);
    if (st == ST_IO || st == ST_VERSION) st = ST_FORMAT;
    if (!st && !symfile_fits(f, seg, tokenizer))
        st = err_set(e, ST_FORMAT, "%s belongs to another segment", path);
    if (st) symfile_close(f);
    else *out = f;
    return st;
}

void symfile_close(struct symfile *f)
{
    if (!f) return;
    pagefile_close(&f->file);
    free(f);
}

uint64_t symfile_bytes(const struct symfile *f)
{
    return pagefile_bytes(&f->file);
}

bool symfile_get(struct symfile *f, uint32_t doc, uint32_t **to, size_t *cap,
                 size_t *n)
{
    uint32_t begin, end;
    uint64_t at = (uint64_t)doc * sizeof begin;

    if (doc >= f->n_docs || !pagefile_has(&f->file, at, 2 * sizeof begin))
        return false;
    memcpy(&begin, f->file.data + at, sizeof begin);
    memcpy(&end, f->file.data + at + sizeof begin, sizeof end);
    if (begin > end || end > f->n_ids) return false;
    *n = end - begin;
    at = f->at_ids + (uint64_t)begin * f->width;
    if (!pagefile_has(&f->file, at, *n * f->width)
        || !mem_grow(to, cap, *n + 1, sizeof **to))
        return false;
    for (size_t i = 0; i < *n; i++) {
        const uint8_t *p = f->file.data + at + i * f->width;
        uint16_t narrow;

        if (f->width == 4) {
            memcpy(&(*to)[i], p, 4);
        } else {
            memcpy(&narrow, p, 2);
            (*to)[i] = narrow;
        }
    }
    return true;
}

bool symfile_sound(struct symfile *f)
{
    uint32_t before = 0, begin;

    if (!pagefile_has(&f->file, 0, f->file.head.data_bytes)) return false;
    for (uint32_t d = 0; d <= f->n_docs; d++) {
        memcpy(&begin, f->file.data + (uint64_t)d * sizeof begin,
               sizeof begin);
        if (begin < before || begin > f->n_ids) return false;
        before = begin;
    }
    return true;
}

/* ---- writing ------------------------------------------------------------- */

struct sym_writer {
    uint32_t *begins;           /* [n_docs + 1] positions, ascending */
    uint8_t *ids;
    size_t cap;
    uint64_t n_ids;
    uint32_t width;
};

static bool writer_begin(struct sym_writer *w, const struct segment *seg,
                         uint32_t width)
{
    memset(w, 0, sizeof *w);
    w->width = width;
    w->begins = calloc((size_t)seg->n_docs + 1, sizeof *w->begins);
    return w->begins;
}

static bool writer_add(struct sym_writer *w, uint32_t id)
{
    uint16_t narrow = (uint16_t)id;

    assert(w->width == 2 || w->width == 4);
    if (w->n_ids >= UINT32_MAX
        || !mem_grow(&w->ids, &w->cap, (w->n_ids + 1) * w->width, 1))
        return false;
    memcpy(w->ids + w->n_ids++ * w->width,
           w->width == 2 ? (const void *)&narrow : &id, w->width);
    return true;
}

static enum status writer_end(struct sym_writer *w, const char *path,
                              const struct segment *seg, uint64_t tokenizer,
                              struct err *e)
{
    struct pagefile_head h = { .version = SYMFILE_VERSION };
    uint64_t begins = begins_bytes(seg->n_docs);
    uint64_t n = begins + w->n_ids * w->width;
    uint8_t *data = malloc(n + 1);
    enum status st;

    assert(w->begins[0] == 0 && w->begins[seg->n_docs] == w->n_ids);
    if (!data) return err_nomem(e, "subword ids");
    memcpy(h.magic, SYMFILE_MAGIC, sizeof h.magic);
    h.user32[SYM32_DOCS] = seg->n_docs;
    h.user32[SYM32_WIDTH] = w->width;
    h.user[SYM_UUID] = seg->file.head.user[SEG_UUID];
    h.user[SYM_SEGMENT] = (uint64_t)seg->number;
    h.user[SYM_SEGMENT_SUM] = seg->file.head.sum;
    h.user[SYM_TOKENIZER] = tokenizer;
    h.user[SYM_IDS] = w->n_ids;
    memcpy(data, w->begins, begins);
    if (w->n_ids) memcpy(data + begins, w->ids, w->n_ids * w->width);
    st = pagefile_write(path, &h, data, n, e);
    free(data);
    return st;
}

static void symfile_writer_release(struct sym_writer *w)
{
    free(w->begins);
    free(w->ids);
}

struct symfile_encoding { struct strbuf plain; struct pieces pieces; };

/* Append the ids of a document. A text that was removed from the store gets no
 * ids: its document is dead. */
static enum status encode_doc(struct sym_writer *w, struct symfile_encoding *en,
                              struct store *s, const struct subword *sw,
                              int64_t text, struct err *e)
{
    struct str source, target;
    bool tagged, found;
    enum status st = store_text(s, text, &source, &target, &tagged, &found, e);

    if (st || !found) return st;
    if (tagged) {
        strbuf_reset(&en->plain);
        if (!tags_strip(source, &en->plain)) return err_nomem(e, "text");
        source = (struct str){ en->plain.data, en->plain.len };
    }
    en->pieces.n = 0;
    st = subword_encode(sw, source.p, source.n, &en->pieces, e);
    for (size_t i = 0; !st && i < en->pieces.n; i++) {
        assert(en->pieces.at[i].id >= 0);
        assert(w->width == 4 || en->pieces.at[i].id <= UINT16_MAX);
        if (!writer_add(w, (uint32_t)en->pieces.at[i].id))
            st = err_nomem(e, "subword ids");
    }
    return st;
}

static enum status encode_all(struct sym_writer *w, const struct segment *seg,
                              struct store *s, const struct subword *sw,
                              symfile_progress_fn *fn, void *user,
                              struct err *e)
{
    struct symfile_encoding en = { 0 };
    enum status st = ST_OK;

    strbuf_init(&en.plain, 0);
    for (uint32_t d = 0; !st && d < seg->n_docs; d++) {
        st = encode_doc(w, &en, s, sw, segment_text(seg, d), e);
        w->begins[d + 1] = (uint32_t)w->n_ids;
        if (!st && fn && d % PROGRESS_STEP == 0 && fn(user, d, seg->n_docs))
            st = err_set(e, ST_CANCELED, "stopped while encoding");
    }
    strbuf_release(&en.plain);
    pieces_release(&en.pieces);
    return st;
}

enum status symfile_make(const char *path, const struct segment *seg,
                         struct store *s, const struct subword *sw,
                         uint64_t tokenizer, symfile_progress_fn *fn,
                         void *user, struct err *e)
{
    struct sym_writer w;
    enum status st;

    if (!writer_begin(&w, seg, subword_size(sw) <= 65536 ? 2 : 4))
        return err_nomem(e, "subword ids");
    st = encode_all(&w, seg, s, sw, fn, user, e);
    if (!st) st = writer_end(&w, path, seg, tokenizer, e);
    symfile_writer_release(&w);
    return st;
}

enum status symfile_join(const char *path, const struct segment *seg,
                         struct segment *const *parts,
                         struct symfile *const *files, size_t n,
                         uint64_t tokenizer, struct err *e)
{
    struct sym_writer w;
    uint32_t *ids = NULL, old;
    size_t cap = 0, n_ids;
    enum status st = ST_OK;

    for (size_t i = 0; i < n; i++) assert(files[i]->n_docs == parts[i]->n_docs);
    if (!writer_begin(&w, seg, n ? files[0]->width : 4))
        return err_nomem(e, "subword ids");
    for (uint32_t d = 0; !st && d < seg->n_docs; d++) {
        int64_t text = segment_text(seg, d);
        size_t i = 0;

        while (i < n && !segment_doc(parts[i], text, &old)) i++;
        if (i == n || !symfile_get(files[i], old, &ids, &cap, &n_ids)) {
            st = err_set(e, ST_FORMAT, "%s: the subword ids of the merged "
                         "segments are incomplete", path);
            break;
        }
        for (size_t k = 0; !st && k < n_ids; k++)
            if (!writer_add(&w, ids[k])) st = err_nomem(e, "subword ids");
        w.begins[d + 1] = (uint32_t)w.n_ids;
    }
    if (!st) st = writer_end(&w, path, seg, tokenizer, e);
    free(ids);
    symfile_writer_release(&w);
    return st;
}
