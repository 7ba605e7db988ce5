/* family.c - finds the family of a model, lets it make a plan, and completes
 * and checks the plan. It knows nothing of any one family. */
#include "convert/family.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/json_config.h"
#include "convert/license.h"
#include "convert/plan_report.h"
#include "convert/tensor_step.h"
#include "text/subword.h"

static const struct family *const families[] = {
#define F(name) &family_##name,
    FAMILY_LIST(F)
#undef F
};
enum { N_FAMILIES = sizeof families / sizeof *families };

const struct family *family_at(int i)
{
    return i >= 0 && i < N_FAMILIES ? families[i] : NULL;
}

/* ---- help for families ---- */

/* The "model_type" of config.json, which the caller frees; NULL if there is
 * none. */
static char *read_model_type(struct file_set *s)
{
    struct json_config *j;
    const char *type;
    char *copy = NULL;

    if (!file_set_has(s, "config.json", NULL) ||
        json_config_open(&j, s, "config.json", NULL))
        return NULL;
    type = json_config_string(j, "model_type", NULL);
    if (type) copy = strdup(type);
    json_config_close(j);
    return copy;
}

bool family_model_type_is(struct file_set *s, const char *type)
{
    char *have = read_model_type(s);
    bool same = have && !strcmp(have, type);

    free(have);
    return same;
}

bool family_file_name(struct strbuf *out, const struct file_set *s,
                      const char *name)
{
    const char *path = file_set_path(s);
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/') n--;
    return strbuf_add(out, path, n) && strbuf_addf(out, "/%s", name);
}

static bool add_line(struct model_plan *p, const char *what, const char *fmt,
                     va_list ap)
{
    char line[1000];

    vsnprintf(line, sizeof line, fmt, ap);
    return strbuf_addf(&p->report, "%s: %s\n", what, line);
}

bool family_note(struct model_plan *p, const char *fmt, ...)
{
    va_list ap;
    bool ok;

    va_start(ap, fmt);
    ok = add_line(p, "note", fmt, ap);
    va_end(ap);
    return ok;
}

bool family_warn(struct model_plan *p, const char *fmt, ...)
{
    va_list ap;
    bool ok;

    va_start(ap, fmt);
    ok = add_line(p, "warning", fmt, ap);
    va_end(ap);
    return ok;
}

/* ---- finding the family ---- */

static enum status unknown_name(const char *name, struct err *e)
{
    char list[300] = "";
    size_t n = 0;

    for (int i = 0; i < N_FAMILIES && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
                              i ? ", " : "", families[i]->name);
    return err_set(e, ST_ARGUMENT, "family: there is no family \"%.40s\"; the "
                   "families are: %s", name, list);
}

/* Whether the set is a file of PyTorch, which is a zip archive too. */
static bool is_torch_archive(const struct file_set *s)
{
    return file_set_has(s, "data.pkl", NULL);
}

/* Say what is there, so that the user sees what is wrong. A config.json that
 * cannot be read is what is wrong: no family recognizes it. */
static enum status unknown_files(struct file_set *s, struct err *e)
{
    struct json_config *j = NULL;
    char *type = read_model_type(s);
    char list[300] = "";
    size_t n = 0;
    int count = file_set_count(s), i;

    if (!type && file_set_has(s, "config.json", NULL)) {
        enum status st = json_config_open(&j, s, "config.json", e);

        json_config_close(j);
        if (st) return st;
    }
    for (i = 0; i < count && i < 8 && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%.50s",
                              i ? ", " : "", file_set_name(s, i));
    if (is_torch_archive(s))
        err_set(e, ST_FORMAT, "%s: these are only weights; name the folder "
                "with all files of the model", file_set_path(s));
    else if (type)
        err_set(e, ST_FORMAT, "%s: models whose config.json says "
                "\"model_type\": \"%.40s\" cannot be converted",
                file_set_path(s), type);
    else if (!count)
        err_set(e, ST_FORMAT, "%s: there are no files", file_set_path(s));
    else
        err_set(e, ST_FORMAT, "%s: these are not the files of a model that can "
                "be converted: %s%s", file_set_path(s), list,
                i < count ? ", .." : "");
    free(type);
    return ST_FORMAT;
}

static enum status find_family(const struct family **out, struct file_set *s,
                               const struct family_options *o, struct err *e)
{
    for (int i = 0; i < N_FAMILIES; i++) {
        const struct family *f = families[i];

        *out = f;
        if (o->family ? !strcmp(f->name, o->family) : f->recognize(s))
            return ST_OK;
    }
    *out = NULL;
    return o->family ? unknown_name(o->family, e) : unknown_files(s, e);
}

/* ---- completing the plan ---- */

static const char *plan_source(const struct model_plan *p)
{
    return p->described_by ? p->described_by : "config.json";
}

/* Copy what fits of a string, up to a control character. */
static void copy_plain(char *out, size_t size, const char *s)
{
    size_t n = 0;

    while (n + 1 < size && (unsigned char)s[n] >= 0x20 && s[n] != 0x7f) n++;
    while (n && n + 1 >= size && ((unsigned char)s[n] & 0xc0) == 0x80) n--;
    memcpy(out, s, n);
    out[n] = 0;
}

/* The name of the folder or file that a path leads to. */
static void set_origin(struct config *c, const char *path)
{
    size_t n = strlen(path), begin;

    while (n > 1 && path[n - 1] == '/') n--;
    begin = n;
    while (begin && path[begin - 1] != '/') begin--;
    copy_plain(c->origin, n - begin + 1 < sizeof c->origin
                              ? n - begin + 1 : sizeof c->origin,
               path + begin);
}

static enum status set_provenance(struct model_plan *p, struct file_set *s,
                                  const struct family *f, struct err *e)
{
    struct config *c = &p->cfg;
    struct strbuf notice;
    char name[sizeof c->license];
    enum status st;

    if (!*c->family) copy_plain(c->family, sizeof c->family, f->name);
    if (!*c->origin) set_origin(c, file_set_path(s));
    strbuf_init(&notice, 0);
    st = license_find(&notice, name, sizeof name, s, e);
    if (!st && !p->notice.len &&
        !strbuf_add(&p->notice, notice.data, notice.len))
        st = err_nomem(e, "license");
    strbuf_release(&notice);
    if (!*c->license) strcpy(c->license, name);
    if (!st && !*c->license && !p->notice.len &&
        !family_note(p, "the files do not say under which license the model "
                     "is"))
        st = err_nomem(e, "license");
    return st;
}

/* What the user says counts more than the files. */
static enum status apply_options(struct model_plan *p,
                                 const struct family_options *o,
                                 struct err *e)
{
    static const struct { const char *word; enum positions kind; } kinds[] = {
        { "halves", POS_HALVES }, { "halves-hf", POS_HALVES_HF },
        { "in-turn", POS_INTERLEAVED },
    };

    if (o->heads) p->cfg.heads = o->heads;
    if (!o->positions) return ST_OK;
    if (p->cfg.positions == POS_LEARNED)
        return err_set(e, ST_ARGUMENT, "positions: those of this model are "
                       "learned and cannot be replaced");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].word, o->positions)) {
            p->cfg.positions = kinds[i].kind;
            return ST_OK;
        }
    return err_set(e, ST_ARGUMENT, "positions: \"%.40s\" is not halves, "
                   "halves-hf or in-turn", o->positions);
}

/* A model of one pair is called after it, others after their files. */
static void set_name(struct config *c)
{
    if (*c->name) return;
    if (*c->source_lang && *c->target_lang &&
        c->language_tokens == LANGUAGE_TOKENS_NONE)
        snprintf(c->name, sizeof c->name, "%s-%s", c->source_lang,
                 c->target_lang);
    else
        copy_plain(c->name, sizeof c->name, c->origin);
}

/* Check the config and fill in missing values, by writing it as text and
 * parsing that again: config_parse() knows the ranges. */
static enum status complete_config(struct model_plan *p, struct file_set *s,
                                   struct err *e)
{
    struct config *c = &p->cfg;
    struct strbuf text;
    struct err why;
    enum status st;

    set_name(c);
    strbuf_init(&text, 0);
    if (!config_format(c, &text)) st = err_nomem(e, "config");
    else if ((st = config_parse(c, text.data, text.len, &why)))
        err_set(e, st, "%s/%s: %s", file_set_path(s), plan_source(p),
                why.msg);
    strbuf_release(&text);
    return st;
}

static enum status check_tokenizer(const struct model_plan *p,
                                   const struct strbuf *text, const char *side,
                                   struct err *e)
{
    struct subword *sw;
    struct err why;
    int n;
    enum status st = subword_open(&sw, text->data, text->len, &why);

    if (st)
        return err_set(e, st, "the tokenizer of the %s cannot be used: %s",
                       side, why.msg);
    n = subword_size(sw);
    subword_close(sw);
    if (n <= p->cfg.vocab_size) return ST_OK;
    return err_set(e, ST_FORMAT, "the tokenizer of the %s has %d pieces, but "
                   "the model has only %d", side, n, p->cfg.vocab_size);
}

static enum status complete_report(struct model_plan *p, struct err *e)
{
    struct strbuf all;
    bool ok;

    strbuf_init(&all, 0);
    ok = plan_report(p, &all) &&
         strbuf_add(&all, p->report.data, p->report.len);
    strbuf_release(&p->report);
    p->report = all;
    return ok ? ST_OK : err_nomem(e, "report");
}

/* Check that all tensors are there and no other ones. */
static enum status check_tensors(struct model_plan *p, struct err *e)
{
    struct step_list l = { 0 };
    enum status st = step_list_make(&l, p, e);

    step_list_release(&l);
    return st;
}

static enum status complete_plan(struct model_plan *p, struct file_set *s,
                                 const struct family *f,
                                 const struct family_options *o, struct err *e)
{
    enum status st = apply_options(p, o, e);

    assert(p->ops && p->tensors);
    if (!st && f != &family_own) st = set_provenance(p, s, f, e);
    if (!st) st = complete_config(p, s, e);
    if (!st) st = check_tokenizer(p, &p->source_tokenizer, "source", e);
    if (!st && p->target_tokenizer.len)
        st = check_tokenizer(p, &p->target_tokenizer, "target", e);
    if (!st) st = check_tensors(p, e);
    return st ? st : complete_report(p, e);
}

struct model_plan *model_plan_new(void)
{
    struct model_plan *p = calloc(1, sizeof *p);

    if (!p) return NULL;
    strbuf_init(&p->source_tokenizer, 0);
    strbuf_init(&p->target_tokenizer, 0);
    strbuf_init(&p->languages, 0);
    strbuf_init(&p->notice, 0);
    strbuf_init(&p->report, 0);
    config_defaults(&p->cfg);
    return p;
}

enum status model_plan_make(struct model_plan **out, struct file_set *s,
                            const struct family_options *o, struct err *e)
{
    struct model_plan *p = model_plan_new();
    const struct family *f;
    enum status st;

    *out = NULL;
    if (!p) return err_nomem(e, "plan");
    st = find_family(&f, s, o, e);
    if (!st) {
        p->family = f->title;
        st = f->plan(p, s, o, e);
    }
    if (!st) st = complete_plan(p, s, f, o, e);
    if (st) model_plan_free(p);
    else *out = p;
    return st;
}

void model_plan_free(struct model_plan *p)
{
    if (!p) return;
    if (p->ops && p->ops->free_own) p->ops->free_own(p->own);
    checkpoint_close(p->tensors);
    free(p->source_row);
    free(p->target_row);
    free(p->barred);
    strbuf_release(&p->source_tokenizer);
    strbuf_release(&p->target_tokenizer);
    strbuf_release(&p->languages);
    strbuf_release(&p->notice);
    strbuf_release(&p->report);
    free(p);
}
