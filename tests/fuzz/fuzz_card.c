/* fuzz_card.c - what the store of models reads: the cards of model files, and
 * the list of default models.
 *
 * The first byte of an input says what the rest is:
 *
 *     0   a list of defaults. What is read can be written, and is read as the
 *         same list again.
 *     1   a model file, used as it is
 *     2   a model file whose checksums are corrected
 *
 * The languages of a card are compared with each other and with others. */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/card.h"
#include "model/model_defaults.h"
#include "reseal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void card_must(int ok)
{
    if (!ok) abort();
}

/* ---- defaults ---- */

static void check_same(const struct model_defaults *a,
                       const struct model_defaults *b)
{
    card_must(a->n == b->n);
    for (size_t i = 0; i < a->n; i++) {
        const struct model_default *m = &a->list[i];
        const char *name = model_defaults_find(b, m->from, m->to);

        card_must(!m->from == !m->to);
        card_must(name && !strcmp(name, m->name));
    }
}

static void try_defaults(const char *text, size_t size)
{
    char path[] = "/tmp/skmt-fuzz-XXXXXX";
    struct model_defaults d, again;
    struct err e = { 0 };
    int fd;

    if (model_defaults_parse(&d, text, size, "fuzz", &e)) {
        card_must(!d.n && e.msg[0]);
        return;
    }
    fd = mkstemp(path);
    card_must(fd >= 0 && !close(fd));
    card_must(!model_defaults_write(&d, path, &e));
    card_must(!model_defaults_read(&again, path, &e));
    unlink(path);
    check_same(&d, &again);
    while (again.n) model_defaults_drop(&again, again.list[0].name);
    model_defaults_release(&again);
    model_defaults_release(&d);
}

/* ---- cards ---- */

static void compare_languages(const struct card *c)
{
    static const char *const codes[] = { "de", "en-US", "zho_Hant", "", NULL,
                                         "zz", "gem" };
    const char *source = c->cfg.source_lang, *target = c->cfg.target_lang;

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        card_fit(c, codes[i], source);
        card_fit(c, target, codes[i]);
        card_must(!card_fit(c, codes[i], codes[0]) ||
                  card_may_fit(c, codes[i], codes[0]));
    }
    if (!c->languages.n) card_must(card_fit(c, source, target) > 0);
    card_must(card_fit(c, NULL, NULL) > 0);
}

static void try_card(const uint8_t *bytes, size_t size, bool correct)
{
    struct mfile *f;
    struct card *c = NULL;
    struct err e = { 0 };
    void *block;

    /* Not mem_alloc(), which rounds up and would hide reads past the end. */
    if (posix_memalign(&block, MFILE_ALIGN, size ? size : 1)) return;
    memcpy(block, bytes, size);
    if (correct) reseal(block, size);
    if (!mfile_open_memory(&f, block, size, "fuzz", &e)) {
        if (!card_from(&c, f, &e)) compare_languages(c);
        card_close(c);
        mfile_close(f);
    }
    if (!c) card_must(e.msg[0] != 0);
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    if (!data[0]) try_defaults((const char *)data + 1, size - 1);
    else try_card(data + 1, size - 1, data[0] > 1);
    return 0;
}
