/* fairseq_pieces.c - special pieces, and tokenizers of BPE codes. */
#include "convert/fairseq_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "convert/family.h"
#include "text/language.h"

static const char filler[] = "madeupword";

/* fairseq adds pieces "madeupword0000" to a vocabulary so that its size is a
 * multiple of 8. In the files of FSMT, "</w>" follows. */
static bool is_filler(const char *piece)
{
    size_t n = sizeof filler - 1, digits;

    if (strncmp(piece, filler, n)) return false;
    digits = strspn(piece + n, "0123456789");
    return digits && (!piece[n + digits] || !strcmp(piece + n + digits,
                                                    "</w>"));
}

bool fairseq_pieces_control(void *user, const char *piece)
{
    (void)user;
    return !strcmp(piece, "<s>") || !strcmp(piece, "<pad>") ||
           !strcmp(piece, "</s>") || is_filler(piece);
}

void fairseq_pieces_bar(struct model_plan *p, const struct vocabulary *target)
{
    for (int32_t id = 0; id < vocabulary_size(target); id++)
        if (id != p->cfg.eos_id &&
            fairseq_pieces_control(NULL, vocabulary_piece(target, id)))
            plan_bar(p, id);
    plan_bar(p, p->cfg.unk_id);
    plan_bar(p, p->cfg.bos_id);
    plan_bar(p, p->cfg.pad_id);
}

const char *fairseq_pieces_language(const char *written)
{
    const char *code = language_code(str_of(written));

    return code ? code : written;
}

enum status fairseq_pieces_bpe(struct strbuf *out, struct plan_side *side,
                               const struct plan_bpe *b,
                               const struct vocabulary *v, struct file_set *s,
                               struct err *e)
{
    int32_t n = vocabulary_size(v);
    const char **control = malloc((size_t)n * sizeof *control);
    struct plan_bpe all = *b;
    enum status st;

    if (!control) return err_nomem(e, "control pieces");
    for (int32_t id = 0; id < n; id++) {
        const char *piece = vocabulary_piece(v, id);

        if (fairseq_pieces_control(NULL, piece))
            control[all.n_control++] = piece;
    }
    all.control = control;
    st = plan_bpe_write(out, &all, v, s, e);
    free(control);
    *side = (struct plan_side){ .rows = n, .pieces = n, .unk = all.unk };
    return st;
}

enum status fairseq_pieces_note(struct model_plan *p, struct err *e)
{
    const char *source = language_code(str_of(p->cfg.source_lang));
    const char *target = language_code(str_of(p->cfg.target_lang));
    bool ok = source && target
        ? family_note(p, "texts are split by the rules of Moses for %s and %s, "
                      "and by BPE codes", source, target)
        : family_warn(p, "texts are split by the rules of Moses, which differ "
                      "between languages, and the language \"%s\" is not "
                      "known; name the languages with --source-lang and "
                      "--target-lang",
                      source ? p->cfg.target_lang : p->cfg.source_lang);

    return ok ? ST_OK : err_nomem(e, "report");
}
