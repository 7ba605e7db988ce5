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
 * for each. Returns false if out of memory. */
static bool model_key_file(const struct settings *s,
                           const struct model_parts *p, char **out)
{
    const char *sum = skmt_model_get(p->public.model, "checksum");

    *out = NULL;
    if (!s->key_file) return true;
    if (s->models.n < 2 || !sum) *out = strdup(s->key_file);
    else if (asprintf(out, "%s.%s", s->key_file, sum) < 0) *out = NULL;
    return *out != NULL;
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

static int model_open_one(struct models *m, const char *name,
                          const struct settings *s)
{
    struct model_parts *p = &m->list[m->n];
    const char *path;
    int status = model_find(&p->public.model, name, s->options, &path);

    if (status) return status;
    m->n++;
    p->path = strdup(path);
    if (!p->path) return complain(EXIT_TROUBLE, "out of memory");
    p->public.path = p->path;
    status = model_read_pair(m, p);
    return status ? status : model_start(p, s);
}

int models_open(struct models **out, const struct settings *s)
{
    int n = s->models.n ? s->models.n : 1, status = EXIT_DONE;
    struct models *m = calloc(1, sizeof *m);

    *out = NULL;
    if (m) {
        pthread_mutex_init(&m->lock, NULL);
        m->list = calloc((size_t)n, sizeof *m->list);
    }
    if (!m || !m->list) status = complain(EXIT_TROUBLE, "out of memory");
    for (int i = 0; !status && i < n; i++)
        status = model_open_one(m, s->models.n ? s->models.list[i] : NULL, s);
    if (!status && !models_list_languages(m))
        status = complain(EXIT_TROUBLE, "out of memory");
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
