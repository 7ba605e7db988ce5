/* fairseq_texts.c - finds the files of a model of fairseq that say how texts
 * become ids, by their names and by what the settings say.
 *
 * A dictionary dict.LANGUAGE.txt is needed for each side. Its ids are those of
 * the tables, whose sizes must be the same. */
#include "convert/fairseq_texts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/fairseq_pieces.h"
#include "convert/plan_languages.h"
#include "convert/tokenizer_files.h"
#include "convert/vocabulary_spm.h"

#define NAME_SIZE 300

enum { ID_BOS, ID_PAD, ID_EOS, ID_UNK };        /* of every dictionary */

struct text_side {
    const char *name;           /* "source" */
    const char *said, *option;  /* languages; may be NULL */
    const char *language;       /* the one of them that a dictionary has */
    struct vocabulary *v;
    char file[NAME_SIZE];       /* of codes, or a SentencePiece model */
    struct plan_side rows;
};

struct text_maker {
    struct model_plan *plan;
    struct file_set *files;
    const struct hf_names *names;
    const struct fairseq_config *config;
    const struct family_options *options;
    struct text_side source, target;
};

/* ---- names of files ---- */

static bool name_ends(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n > k && !strcmp(name + n - k, end);
}

/* Whether a name has a language as one of its words: "spm.de.model" has "de".
 */
static bool name_has_word(const char *name, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = name; n && (at = strstr(at, word)); at++)
        if ((at == name || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[n]))
            return true;
    return false;
}

/* A file of BPE codes: "ende30k.fastbpe.code", "bpecodes", "bpe.codes". */
static bool names_codes(const char *name)
{
    return strstr(name, "code") && !strchr(name, '/') &&
           strncmp(name, "dict.", 5) && !name_ends(name, ".pt") &&
           !name_ends(name, ".py") && !name_ends(name, ".md") &&
           !name_ends(name, ".json");
}

static bool names_spm(const char *name)
{
    return !strchr(name, '/') &&
           (name_ends(name, ".model") || name_ends(name, ".spm"));
}

typedef bool file_kind_fn(const char *name);

/* How many files of a kind there are; *file is the last one. With a language,
 * only those that have it in their names. */
static int count_files(struct file_set *s, file_kind_fn *kind,
                       const char *language, const char **file)
{
    int n = 0;

    for (int i = 0; i < file_set_count(s); i++) {
        const char *name = file_set_name(s, i);

        if (!kind(name) || (language && !name_has_word(name, language)))
            continue;
        *file = name;
        n++;
    }
    return n;
}

/* ---- dictionaries ---- */

static bool has_dictionary(struct file_set *s, const char *language,
                           char *file)
{
    return language && snprintf(file, NAME_SIZE, "dict.%s.txt", language) <
                           NAME_SIZE &&
           file_set_has(s, file, NULL);
}

static enum status no_dictionary(const struct text_maker *m,
                                 const struct text_side *side, struct err *e)
{
    if (!side->said && !side->option)
        return err_set(e, ST_FORMAT, "%s: the settings do not say which "
                       "dictionary is that of the %s; say the languages with "
                       "--source-lang and --target-lang",
                       file_set_path(m->files), side->name);
    return err_set(e, ST_FORMAT, "%s: there is no dictionary \"dict.%.60s.txt\""
                   " of the %s beside the checkpoint",
                   file_set_path(m->files),
                   side->said ? side->said : side->option, side->name);
}

static enum status check_dictionary(const struct text_maker *m,
                                    const struct text_side *side,
                                    const char *table, const char *file,
                                    struct err *e)
{
    const struct file_tensor *t = checkpoint_find(m->plan->tensors, table,
                                                  NULL);
    int n = vocabulary_size(side->v);

    assert(t);
    if (t->n_dims == 2 && t->shape[0] == n) return ST_OK;
    return err_set(e, ST_FORMAT, "%s/%s: has %d pieces with the special ones, "
                   "but the table \"%s\" has %lld rows",
                   file_set_path(m->files), file, n, table,
                   (long long)t->shape[0]);
}

static enum status read_dictionary(const struct text_maker *m,
                                   struct text_side *side, struct err *e)
{
    char file[NAME_SIZE];
    enum status st;

    if (has_dictionary(m->files, side->said, file)) side->language = side->said;
    else if (has_dictionary(m->files, side->option, file))
        side->language = side->option;
    else return no_dictionary(m, side, e);
    st = vocabulary_of_file(&side->v, VOCABULARY_FAIRSEQ, m->files, file, e);
    if (st) return st;
    if (side == &m->source)
        return check_dictionary(m, side, m->names->source, file, e);
    st = check_dictionary(m, side, m->names->target, file, e);
    return st ? st : check_dictionary(m, side, m->names->project, file, e);
}

/* ---- BPE codes ---- */

static enum status find_codes(const struct text_maker *m,
                              struct text_side *side, struct err *e)
{
    static const char *const usual[] = { "bpecodes", "code", "codes",
                                         "bpe.codes" };
    const char *file = NULL, *other;
    int n = count_files(m->files, names_codes, NULL, &file);

    if (n > 1 &&
        count_files(m->files, names_codes, side->language, &other) == 1) {
        file = other;
        n = 1;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual && n > 1; i++)
        if (file_set_has(m->files, usual[i], NULL)) {
            file = usual[i];
            n = 1;
        }
    if (n == 1 && snprintf(side->file, NAME_SIZE, "%s", file) < NAME_SIZE)
        return ST_OK;
    if (!n)
        return err_set(e, ST_FORMAT, "%s: there are no BPE codes, such as "
                       "\"bpecodes\"", file_set_path(m->files));
    return err_set(e, ST_FORMAT, "%s: there are %d files of BPE codes, such as "
                   "\"%.60s\"; keep the one of the model, or call it "
                   "\"bpecodes\"", file_set_path(m->files), n, file);
}

static enum status make_bpe_side(struct text_maker *m, struct text_side *side,
                                 const char *language, struct strbuf *out,
                                 struct err *e)
{
    const struct fairseq_config *c = m->config;
    struct plan_bpe b = {
        .marks = BPE_MARKS_AT, .unk = ID_UNK,
        .language = fairseq_pieces_language(language),
        .steps = c->tokenizer == FAIRSEQ_SPACE ? 0
                                               : MOSES_FAIRSEQ & ~c->moses_off,
    };
    enum status st = find_codes(m, side, e);

    if (st) return st;
    b.file = side->file;
    st = plan_bpe_form(&b.form, m->files, side->file, e);
    return st ? st : fairseq_pieces_bpe(out, &side->rows, &b, side->v,
                                        m->files, e);
}

static enum status make_bpe(struct text_maker *m, struct err *e)
{
    struct model_plan *p = m->plan;
    enum status st = make_bpe_side(m, &m->source, p->cfg.source_lang,
                                   &p->source_tokenizer, e);

    if (!st)
        st = make_bpe_side(m, &m->target, p->cfg.target_lang,
                           &p->target_tokenizer, e);
    if (st || m->config->tokenizer == FAIRSEQ_SPACE) return st;
    return fairseq_pieces_note(p, e);
}

/* ---- SentencePiece ---- */

static enum status make_spm_side(const struct tokenizer_file *f,
                                 struct text_side *side, struct strbuf *out,
                                 struct err *e)
{
    return vocabulary_spm_bytes(out, &side->rows,
                                (struct str){ f->bytes, f->size }, f->name,
                                side->v, "<unk>", fairseq_pieces_control,
                                NULL, e);
}

static enum status make_found_spm(struct text_maker *m, struct err *e)
{
    struct model_plan *p = m->plan;
    struct tokenizer_files t;
    enum status st = tokenizer_files_find(&t, m->files, "", m->options, e);

    if (st) return st;
    st = make_spm_side(&t.source, &m->source, &p->source_tokenizer, e);
    if (!st)
        st = make_spm_side(t.target.bytes ? &t.target : &t.source, &m->target,
                           &p->target_tokenizer, e);
    tokenizer_files_release(&t);
    return st;
}

static enum status make_named_spm(struct text_maker *m, const char *source,
                                  const char *target, struct err *e)
{
    struct model_plan *p = m->plan;
    enum status st = vocabulary_spm(&p->source_tokenizer, &m->source.rows,
                                    m->files, source, m->source.v, "<unk>",
                                    fairseq_pieces_control, NULL, e);

    if (st) return st;
    return vocabulary_spm(&p->target_tokenizer, &m->target.rows, m->files,
                          target, m->target.v, "<unk>", fairseq_pieces_control,
                          NULL, e);
}

/* The files that the user names, those with the languages in their names, or
 * files with usual names. */
static enum status make_spm(struct text_maker *m, struct err *e)
{
    const char *source, *target;

    if (m->config->tokenizer == FAIRSEQ_MOSES)
        return err_set(e, ST_FORMAT, "%s: \"tokenizer\" is \"moses\", but the "
                       "pieces are those of SentencePiece; a model with both "
                       "cannot be converted",
                       checkpoint_name(m->plan->tensors));
    if (!m->options->tokenizer && !m->options->target_tokenizer &&
        count_files(m->files, names_spm, m->source.language, &source) == 1 &&
        count_files(m->files, names_spm, m->target.language, &target) == 1)
        return make_named_spm(m, source, target, e);
    return make_found_spm(m, e);
}

/* ---- both kinds ---- */

/* What the user says counts more than the settings, and these more than the
 * files. */
static enum status uses_spm(bool *spm, const struct text_maker *m,
                            struct err *e)
{
    const char *file;
    enum fairseq_bpe bpe = m->config->bpe;
    int codes = count_files(m->files, names_codes, NULL, &file);
    int models = count_files(m->files, names_spm, NULL, &file);

    *spm = m->options->tokenizer || m->options->target_tokenizer ||
           bpe == FAIRSEQ_SENTENCEPIECE;
    if (*spm || bpe != FAIRSEQ_BPE_UNKNOWN || codes) return ST_OK;
    *spm = models > 0;
    if (*spm) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: there are neither BPE codes, such as "
                   "\"bpecodes\", nor a SentencePiece model, such as "
                   "\"sentencepiece.bpe.model\"", file_set_path(m->files));
}

/* A dictionary may give the name of the unknown piece to another one. */
static enum status check_shared(const struct text_maker *m, struct err *e)
{
    const struct plan_side *a = &m->source.rows, *b = &m->target.rows;

    if (!m->plan->shared_table || (a->rows == b->rows && a->unk == b->unk))
        return ST_OK;
    return err_set(e, ST_FORMAT, "%s: the dictionaries of %s and %s have "
                   "different sizes or unknown pieces, but source and target "
                   "have one table", file_set_path(m->files),
                   m->source.language, m->target.language);
}

/* One tokenizer serves both sides if they are the same. */
static enum status make_texts(struct text_maker *m, struct err *e)
{
    struct model_plan *p = m->plan;
    struct strbuf *a = &p->source_tokenizer, *b = &p->target_tokenizer;
    bool spm, one;
    enum status st = plan_pair(p, m->options, m->source.language,
                               m->target.language, e);

    if (!st) st = uses_spm(&spm, m, e);
    if (!st) st = spm ? make_spm(m, e) : make_bpe(m, e);
    if (!st) st = check_shared(m, e);
    if (st) return st;
    one = str_eq(strbuf_view(a), strbuf_view(b));
    if (one) strbuf_reset(b);
    return plan_rows(p, &m->source.rows, one ? NULL : &m->target.rows, false,
                     e);
}

static enum status plan_texts(struct text_maker *m, struct err *e)
{
    struct config *c = &m->plan->cfg;
    enum status st = read_dictionary(m, &m->source, e);

    if (!st) st = read_dictionary(m, &m->target, e);
    if (!st) st = make_texts(m, e);
    if (st) return st;
    c->bos_id = ID_BOS;
    c->pad_id = ID_PAD;
    c->eos_id = c->start_id = c->suffix_id = ID_EOS;
    fairseq_pieces_bar(m->plan, m->target.v);
    return ST_OK;
}

enum status fairseq_texts_plan(struct model_plan *p, struct file_set *s,
                               const struct hf_names *n,
                               const struct fairseq_config *c,
                               const struct family_options *o, struct err *e)
{
    struct text_maker m = {
        .plan = p, .files = s, .names = n, .config = c, .options = o,
        .source = { .name = "source", .said = c->source_lang,
                    .option = o->source_lang },
        .target = { .name = "target", .said = c->target_lang,
                    .option = o->target_lang },
    };
    enum status st = plan_texts(&m, e);

    vocabulary_free(m.source.v);
    vocabulary_free(m.target.v);
    return st;
}
