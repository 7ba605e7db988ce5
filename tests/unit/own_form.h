/* own_form.h - the model of the full golden sets in the form of another
 * project: its tokenizer and vocabulary as files, and the comparison of the
 * outputs with the references. All functions are static. */
#ifndef OWN_FORM_H
#define OWN_FORM_H

#include "base/file.h"
#include "convert/convert.h"
#include "golden_beam.h"
#include "scratch_dir.h"
#include "text/subword.h"

/* A JSON object from the pieces of a SentencePiece model to their ids. */
static inline bool own_form_vocabulary(const char *path, const char *spm,
                                       size_t size)
{
    json_t *ids = json_object();
    struct subword *sw;
    struct err e;
    bool ok;

    if (!CHECK_OK(subword_open(&sw, spm, size, &e), &e)) return false;
    for (int32_t id = 0; id < subword_size(sw); id++) {
        size_t len;
        char *piece;
        const char *text = subword_piece(sw, id, &len);

        piece = strndup(text, len);
        json_object_set_new(ids, piece, json_integer(id));
        free(piece);
    }
    ok = CHECK(!json_dump_file(ids, path, 0));
    json_decref(ids);
    subword_close(sw);
    return ok;
}

/* Write source.spm, target.spm and the vocabulary. */
static inline bool own_form_text(const struct scratch *s,
                                 const char *vocabulary)
{
    static const char *const names[] = { "source.spm", "target.spm" };
    const char *from = test_shared("model/spm.model");
    char *spm;
    size_t size;
    struct err e;
    bool ok;

    if (!from || !CHECK_OK(file_read(&spm, &size, from, 1 << 24, &e), &e))
        return false;
    ok = own_form_vocabulary(scratch_path(s, vocabulary), spm, size);
    for (size_t i = 0; i < COUNT(names); i++) {
        FILE *f = fopen(scratch_path(s, names[i]), "wb");

        ok = ok && CHECK(f && fwrite(spm, 1, size, f) == size);
        if (f) fclose(f);
    }
    free(spm);
    return ok;
}

/* Whether the full sets are there. */
static inline bool own_form_possible(void)
{
    return test_shared("golden/beam.jsonl") &&
           test_shared("model/model.safetensors");
}

/* Write the file of a plan, and compare its outputs: all must be identical. */
static inline void own_form_compare(const struct scratch *s,
                                    struct model_plan *p, const char *what)
{
    struct comparison c = { .exact = true, .what = what };
    const char *model = scratch_path(s, "own.skmt");
    struct err e;

    snprintf(c.file, sizeof c.file, "%s", test_shared("golden/beam.jsonl"));
    c.model = model;
    if (CHECK_OK(convert_plan(p, DT_F32, model, NULL, NULL, &e), &e))
        golden_beam(&c, 100);
}

#endif
