/* models.c - opens the models, starts their services, and finds them by
 * language pair. */
#include "models.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/findmodel.h"
#include "common/program.h"
#include "common/steering.h"
#include "settings.h"

/* ---- options ----------------------------------------------------------- */

/* The options of a service that are not defaults. A skmt_options serves one
 * thread at a time; this list serves all, and is fast to copy: parsing a
 * network takes long. */
struct changed_option { char *name, *value; };
struct changed_options { struct changed_option *list; int n; };

static void changed_release(struct changed_options *c)
{
    for (int i = 0; i < c->n; i++) {
        free(c->list[i].name);
        free(c->list[i].value);
    }
    free(c->list);
}

static bool changed_add(struct changed_options *c, const char *name,
                        const char *value)
{
    struct changed_option *list = realloc(c->list, (size_t)(c->n + 1)
                                                   * sizeof *list);

    if (!list) return false;
    c->list = list;
    list[c->n].name = strdup(name);
    list[c->n].value = strdup(value);
    c->n++;
    return list[c->n - 1].name && list[c->n - 1].value;
}

static bool changed_read(struct changed_options *c, skmt_options *o)
{
    skmt_option_info info = SKMT_INIT(skmt_option_info);

    for (int i = 0; steered_option_describe(i, &info); i++) {
        const char *value = skmt_options_get(o, info.name);

        if (value && strcmp(value, info.fallback)
            && !changed_add(c, info.name, value))
            return false;
    }
    return true;
}

static skmt_status changed_copy(const struct changed_options *c,
                                skmt_options **out, skmt_error *err)
{
    skmt_status st = skmt_options_new(out, err);

    for (int i = 0; !st && i < c->n; i++)
        st = skmt_options_set(*out, c->list[i].name, c->list[i].value, err);
    if (st) {
        skmt_options_free(*out);
        *out = NULL;
    }
    return st;
}

/* What only this file needs to know of a model. */
struct model_parts {
    struct served_model public;         /* the first member: see parts_of */
    struct changed_options changed;
    char *path;
    bool knn_eos;               /* what its keys were made for */
    char key_type[16];
};

static const struct model_parts *parts_of(const struct served_model *m)
{
    return (const struct model_parts *)(const void *)m;
}

skmt_status models_copy_options(const struct served_model *m,
                                skmt_options **out, skmt_error *err)
{
    return changed_copy(&parts_of(m)->changed, out, err);
}

static bool model_knn_eos(const struct served_model *m, skmt_options *o)
{
    const char *value = skmt_options_in_force(o, m->model, 1, "knn-eos");

    return value && strcmp(value, "0");
}

skmt_keys *models_keys_for(const struct served_model *m, skmt_options *o)
{
    const struct model_parts *p = parts_of(m);
    const char *type = skmt_options_get(o, "key-type");

    return type && !strcmp(type, p->key_type)
           && model_knn_eos(m, o) == p->knn_eos ? m->keys : NULL;
}

/* ---- opening ----------------------------------------------------------- */

struct models {
    struct model_parts *list;   /* [n] */
    int n;
    const char **languages;     /* [n_languages] */
    int n_languages;
    pthread_mutex_t lock;       /* skmt_keys_stat serves one thread */
};

/* A server without models has NULL for them. */
int models_count(const struct models *m) { return m ? m->n : 0; }

const struct served_model *models_get(const struct models *m, int i)
{
    return m && i >= 0 && i < m->n ? &m->list[i].public : NULL;
}

const struct served_model *models_find(const struct models *m,
                                       const char *source, const char *target)
{
    for (int i = 0; i < models_count(m); i++) {
        const struct served_model *s = &m->list[i].public;

        if ((!source || !strcmp(s->source, source))
            && (!target || !strcmp(s->target, target)))
            return s;
    }
    return NULL;
}

const char *const *models_languages(const struct models *m, int *n)
{
    *n = m ? m->n_languages : 0;
    return m ? m->languages : NULL;
}

static void models_add_language(struct models *m, const char *code)
{
    for (int i = 0; i < m->n_languages; i++)
        if (!strcmp(m->languages[i], code)) return;
    m->languages[m->n_languages++] = code;
}

static bool models_list_languages(struct models *m)
{
    m->languages = calloc((size_t)m->n * 2 + 1, sizeof *m->languages);
    if (!m->languages) return false;
    for (int i = 0; i < m->n; i++)
        models_add_language(m, m->list[i].public.source);
    for (int i = 0; i < m->n; i++)
        models_add_language(m, m->list[i].public.target);
    return true;
}

/* Finds the pair of a model in its file. */
static int model_read_pair(struct models *m, struct model_parts *p)
{
    const char *source = skmt_model_get(p->public.model, "source_lang");
    const char *target = skmt_model_get(p->public.model, "target_lang");

    p->public.source = skmt_language_code(source ? source : "");
    p->public.target = skmt_language_code(target ? target : "");
    if (!p->public.source || !p->public.target)
        return complain(EXIT_MODEL, "%s: its languages '%s' and '%s' are not "
                        "codes of ISO 639", p->path, source ? source : "",
                        target ? target : "");
    for (int i = 0; i < m->n; i++)
        if (&m->list[i] != p
            && !strcmp(m->list[i].public.source, p->public.source)
            && !strcmp(m->list[i].public.target, p->public.target))
            return complain(EXIT_MODEL, "%s and %s both translate %s to %s",
                            m->list[i].path, p->path, p->public.source,
                            p->public.target);
    return EXIT_DONE;
}

/* The key file of a model: that of the settings, or, with several models, one
 * for each; a multilingual model has other keys for each pair. Returns false if
 * out of memory. */
static bool model_key_file(const struct settings *s,
                           const struct model_parts *p, char **out)
{
    const char *sum = skmt_model_get(p->public.model, "checksum");
    int n;

    *out = NULL;
    if (!s->key_file) return true;
    if (s->models.n + s->pairs.n < 2 || !sum)
        return (*out = strdup(s->key_file));
    n = skmt_model_get(p->public.model, "languages")
        ? asprintf(out, "%s.%s.%s-%s", s->key_file, sum, p->public.source,
                   p->public.target)
        : asprintf(out, "%s.%s", s->key_file, sum);
    if (n < 0) *out = NULL;
    return n >= 0;
}

static int models_failed(const skmt_error *err)
{
    return complain(err->status == SKMT_ERR_ARGUMENT ? EXIT_USAGE
                                                     : EXIT_TROUBLE,
                    "%s", err->message);
}

/* Starts the service of an open model, and makes its keys. */
static int model_start(struct model_parts *p, const struct settings *s)
{
    skmt_options *o = s->options;
    const char *type = skmt_options_get(o, "key-type");
    skmt_error err = { 0 };
    char *key_file;
    skmt_status st;

    snprintf(p->key_type, sizeof p->key_type, "%s", type ? type : "");
    p->knn_eos = model_knn_eos(&p->public, o);
    if (!changed_read(&p->changed, o) || !model_key_file(s, p, &key_file))
        return complain(EXIT_TROUBLE, "out of memory");
    st = skmt_service_new(&p->public.service, p->public.model, o, &err);
    if (!st)
        st = skmt_keys_new(&p->public.keys, p->public.model, o, key_file,
                           &err);
    if (!st && key_file) note_remade_keys(p->public.keys, key_file);
    free(key_file);
    return st ? models_failed(&err) : EXIT_DONE;
}

/* Takes an open model, which translates one pair, and starts it. */
static int model_take(struct models *m, skmt_model *model, const char *path,
                      const struct settings *s)
{
    struct model_parts *p = &m->list[m->n++];
    int status;

    p->public.model = model;
    p->path = strdup(path);
    if (!p->path) return complain(EXIT_TROUBLE, "out of memory");
    p->public.path = p->path;
    status = model_read_pair(m, p);
    return status ? status : model_start(p, s);
}

/* Whether the languages of an open model are known. */
static bool model_has_pair(const skmt_model *m)
{
    const char *source = skmt_model_get(m, "source_lang");
    const char *target = skmt_model_get(m, "target_lang");

    return source && *source && target && *target;
}

static int model_without_pair(const skmt_model *m, const char *path)
{
    const char *several = skmt_model_get(m, "languages");

    return complain(EXIT_MODEL, several
                    ? "%s translates several languages; name those that are "
                      "wanted with --pair FROM-TO"
                    : "%s does not say which languages it translates; name "
                      "them with --pair FROM-TO", path);
}

/* Opens a model of the settings. One whose languages are not known is left to
 * the pairs of the settings: *left gets its path. */
static int model_open_one(struct models *m, const char *name,
                          const struct settings *s, char **left)
{
    skmt_model *model;
    const char *path;
    int status = model_find(&model, name, s->options, &path);

    if (status) return status;
    if (!s->pairs.n && !model_has_pair(model)) {
        status = model_without_pair(model, path);
        skmt_model_close(model);
        return status;
    }
    if (s->pairs.n && (!model_has_pair(model)
                       || skmt_model_get(model, "languages"))) {
        *left = strdup(path);
        skmt_model_close(model);
        return *left ? EXIT_DONE : complain(EXIT_TROUBLE, "out of memory");
    }
    return model_take(m, model, path, s);
}

/* ---- pairs -------------------------------------------------------------- */

bool models_split_pair(const char *pair, char *from, char *to)
{
    const char *dash = strchr(pair, '-');
    size_t n = dash ? (size_t)(dash - pair) : 0;

    if (!dash || n >= PAIR_CODE_BYTES || strlen(dash + 1) >= PAIR_CODE_BYTES)
        return false;
    memcpy(from, pair, n);
    from[n] = 0;
    strcpy(to, dash + 1);
    return skmt_language_code(from) && skmt_language_code(to);
}

static skmt_status set_languages(skmt_options *o, const char *from,
                                 const char *to, skmt_error *err)
{
    skmt_status st = skmt_options_set(o, "from", from, err);

    return st ? st : skmt_options_set(o, "to", to, err);
}

/* Opens the first of the models that were left which translates the languages
 * of the options. */
static int pair_open_left(struct models *m, char **left, const char *pair,
                          const struct settings *s)
{
    skmt_error err = { 0 };
    skmt_model *model;

    for (int i = 0; i < s->models.n; i++) {
        skmt_status st;

        if (!left[i]) continue;
        st = skmt_model_open_with(&model, left[i], s->options, &err);
        if (!st) return model_take(m, model, left[i], s);
        if (st != SKMT_ERR_ARGUMENT) return models_failed(&err);
    }
    return complain(EXIT_MODEL, "no model translates %s%s%s", pair,
                    *err.message ? ": --" : "", err.message);
}

static int pair_open(struct models *m, char **left, const char *pair,
                     const struct settings *s)
{
    char from[PAIR_CODE_BYTES], to[PAIR_CODE_BYTES];
    skmt_model *model;
    const char *path;
    skmt_error err;
    int status;

    if (!models_split_pair(pair, from, to)
        || models_find(m, skmt_language_code(from), skmt_language_code(to)))
        return EXIT_DONE;
    if (set_languages(s->options, from, to, &err)) return models_failed(&err);
    if (s->models.n) return pair_open_left(m, left, pair, s);
    status = model_find(&model, NULL, s->options, &path);
    return status ? status : model_take(m, model, path, s);
}

/* Opens the models of all pairs that are not served yet. The options get their
 * languages back. */
static int pairs_open(struct models *m, char **left, const struct settings *s)
{
    const char *value = skmt_options_get(s->options, "from");
    char *from = strdup(value ? value : ""), *to;
    int status = EXIT_DONE;
    skmt_error err;

    value = skmt_options_get(s->options, "to");
    to = strdup(value ? value : "");
    if (!from || !to) status = complain(EXIT_TROUBLE, "out of memory");
    for (int i = 0; !status && i < s->pairs.n; i++)
        status = pair_open(m, left, s->pairs.list[i], s);
    if (from && to && set_languages(s->options, from, to, &err) && !status)
        status = models_failed(&err);
    free(from);
    free(to);
    return status;
}

/* Opens all models. left [models] is for those that pairs choose. */
static int models_open_all(struct models *m, char **left,
                           const struct settings *s)
{
    int status = EXIT_DONE;

    if (!s->models.n && !s->pairs.n)
        status = model_open_one(m, NULL, s, left);
    for (int i = 0; !status && i < s->models.n; i++)
        status = model_open_one(m, s->models.list[i], s, &left[i]);
    if (!status) status = pairs_open(m, left, s);
    if (!status && !models_list_languages(m))
        status = complain(EXIT_TROUBLE, "out of memory");
    return status;
}

int models_open(struct models **out, const struct settings *s)
{
    int status = EXIT_TROUBLE;
    struct models *m = calloc(1, sizeof *m);
    char **left = calloc((size_t)s->models.n + 1, sizeof *left);

    *out = NULL;
    if (m) {
        pthread_mutex_init(&m->lock, NULL);
        m->list = calloc((size_t)(s->models.n + s->pairs.n) + 1,
                         sizeof *m->list);
    }
    if (!m || !m->list || !left) complain(EXIT_TROUBLE, "out of memory");
    else status = models_open_all(m, left, s);
    for (int i = 0; left && i < s->models.n; i++) free(left[i]);
    free(left);
    if (status) models_close(m);
    else *out = m;
    return status;
}

void models_close(struct models *m)
{
    if (!m) return;
    for (int i = 0; i < m->n; i++) {
        struct model_parts *p = &m->list[i];

        skmt_service_free(p->public.service);
        skmt_keys_free(p->public.keys);
        skmt_model_close(p->public.model);
        changed_release(&p->changed);
        free(p->path);
    }
    pthread_mutex_destroy(&m->lock);
    free(m->languages);
    free(m->list);
    free(m);
}

/* ---- what they tell ---------------------------------------------------- */

/* The model need not be good at this: it must answer. */
static skmt_status model_self_test(const struct served_model *m,
                                   skmt_error *err)
{
    skmt_request *q;
    skmt_status st = skmt_request_new(&q, "Test 1, 2, 3.", err);

    if (st) return st;
    st = skmt_service_submit(m->service, q, 0, err);
    if (!st) st = skmt_request_wait(q, err);
    if (!st && !skmt_result_text(skmt_request_result(q), 0)[0]) {
        st = SKMT_ERR_FORMAT;
        err->status = (int32_t)st;
        snprintf(err->message, sizeof err->message, "the model from %s to %s "
                 "gives no translation", m->source, m->target);
    }
    skmt_request_free(q);
    return st;
}

bool models_self_test(const struct models *m, skmt_error *err)
{
    for (int i = 0; i < models_count(m); i++)
        if (model_self_test(models_get(m, i), err)) return false;
    return true;
}

json_t *models_facts(const struct models *m)
{
    json_t *list = json_array();

    for (int i = 0; list && i < models_count(m); i++) {
        const struct served_model *s = models_get(m, i);
        json_t *facts = json_pack("{ssss}", "source", s->source, "target",
                                  s->target);
        const char *name, *value;

        for (int k = 0; (name = skmt_model_fact(s->model, k, &value)); k++)
            if (strcmp(name, "source_lang") && strcmp(name, "target_lang"))
                json_object_set_new(facts, name, json_string(value));
        json_array_append_new(list, facts);
    }
    return list;
}

int64_t models_service_stat(struct models *m, const char *name)
{
    int64_t sum = 0, value;
    const char *at;

    for (int i = 0; i < models_count(m); i++) {
        skmt_service *s = m->list[i].public.service;

        for (int k = 0; (at = skmt_service_stat(s, k, &value)); k++)
            if (!strcmp(at, name)) sum += value;
    }
    return sum;
}

int64_t models_keys_stat(struct models *m, const char *name)
{
    int64_t sum = 0;

    if (!m) return 0;
    pthread_mutex_lock(&m->lock);
    for (int i = 0; i < m->n; i++)
        sum += keys_stat(m->list[i].public.keys, name);
    pthread_mutex_unlock(&m->lock);
    return sum;
}
