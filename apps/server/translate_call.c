/* translate_call.c - translates the texts of a call: checks what is wanted,
 * cuts the texts into lines, and joins their translations. answer_run.c does
 * the rest. */
#include "translate_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "account.h"
#include "answer_internal.h"
#include "languages.h"
#include "line_cut.h"
#include "server.h"

skmt_status answer_no_memory(skmt_error *err)
{
    *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                         .message = "out of memory" };
    return SKMT_ERR_NOMEM;
}

void answer_fail(struct answering *x, const struct answer_part *p,
                 const skmt_error *err)
{
    skmt_error e = *err;
    int i = (int)(p - x->parts) + 1;

    if (x->n > 1)
        snprintf(e.message, sizeof e.message, "text %d of %d: %.400s", i, x->n,
                 err->message);
    call_fail_error(x->call, &e);
}

static bool answer_fail_memory(struct answering *x)
{
    skmt_error err;

    answer_no_memory(&err);
    call_fail_error(x->call, &err);
    return false;
}

/* ---- limits ------------------------------------------------------------ */

static bool fail_limit(struct answering *x, const char *fmt, long long have,
                       long long most, int text)
{
    struct failure f = { .kind = FAIL_TEXT_LIMIT };
    size_t n = 0;

    if (text && x->n > 1)
        n = (size_t)snprintf(f.message, sizeof f.message, "text %d of %d: ",
                             text, x->n);
    snprintf(f.message + n, sizeof f.message - n, fmt, have, most);
    snprintf(f.field, sizeof f.field, "%s", x->n > 1 ? "texts" : "text");
    call_fail_with(x->call, &f);
    return false;
}

static bool check_text_limits(struct answering *x)
{
    const struct work_limits *l = work_get_limits(x->work);

    if (x->n > l->max_texts)
        return fail_limit(x, "%lld texts are too many; at most %lld are "
                          "allowed", x->n, l->max_texts, 0);
    for (int i = 0; i < x->n; i++) {
        size_t len = strlen(x->parts[i].text);

        if (len > (size_t)l->max_text)
            return fail_limit(x, "%lld bytes are too many; at most %lld are "
                              "allowed", (long long)len,
                              (long long)l->max_text, i + 1);
    }
    return true;
}

/* ---- languages --------------------------------------------------------- */

static bool fail_language(struct answering *x, const char *field,
                          const char *written)
{
    struct failure f = { .kind = FAIL_LANGUAGE };

    snprintf(f.field, sizeof f.field, "%s", field);
    if (written && *written)
        snprintf(f.message, sizeof f.message, "%.35s is not supported",
                 written);
    else
        snprintf(f.message, sizeof f.message, "%s language is missing", field);
    call_fail_with(x->call, &f);
    return false;
}

static bool fail_pair(struct answering *x, const char *source,
                      const char *target)
{
    struct failure f = { .kind = FAIL_LANGUAGE, .field = "target" };

    snprintf(f.message, sizeof f.message, "translating from %s to %s is not "
             "supported", source, target);
    call_fail_with(x->call, &f);
    return false;
}

/* The only language into which the models translate from this one, or from any
 * if source is NULL; NULL if there are several. */
static const char *only_target(const struct models *m, const char *source)
{
    const char *target = NULL;

    for (int i = 0; i < models_count(m); i++) {
        const struct served_model *s = models_get(m, i);

        if (source && strcmp(s->source, source)) continue;
        if (target && strcmp(target, s->target)) return NULL;
        target = s->target;
    }
    return target;
}

/* The model for a text whose language is not given: the only one with this
 * target, or else that of the language of the text. A language that is not
 * served is taken for the first that is, as with one model. */
static const struct served_model *detect_model(const struct server *s,
                                               struct answer_part *p,
                                               const char *target)
{
    const struct served_model *m = NULL;
    const char *language = language_detect(s, p->text, &p->confidence);

    p->detected = true;
    if (language) m = models_find(s->models, language, target);
    if (!m) {
        m = models_find(s->models, NULL, target);
        p->confidence = 0;
    }
    return m;
}

static bool is_auto(const char *written)
{
    return !written || !*written || !strcasecmp(written, "auto");
}

static bool find_models(struct answering *x)
{
    const struct server *s = x->server;
    const char *written = x->wish->source, *to = x->wish->target;
    const char *source = is_auto(written) ? NULL : skmt_language_code(written);
    const char *target = to && *to ? skmt_language_code(to)
                                   : only_target(s->models, source);

    if (!is_auto(written) && (!source || !language_is_source(s, source)))
        return fail_language(x, "source", written);
    if (!target || !language_is_target(s, target))
        return fail_language(x, "target", to);
    if (source && !language_is_served(s, source, target))
        return fail_pair(x, source, target);
    for (int i = 0; i < x->n; i++) {
        struct answer_part *p = &x->parts[i];

        p->model = source ? models_find(s->models, source, target)
                          : detect_model(s, p, target);
    }
    return true;
}

/* ---- options ----------------------------------------------------------- */

static bool fail_option(struct answering *x, const char *fmt, const char *name)
{
    struct failure f = { .kind = FAIL_ARGUMENT, .field = "options" };

    snprintf(f.message, sizeof f.message, fmt, name);
    call_fail_with(x->call, &f);
    return false;
}

/* Writes the value of an option as on the command line. Returns NULL if it is
 * no such value. buf [64] holds numbers. */
static const char *option_text(const json_t *value, char *buf)
{
    if (json_is_string(value)) return json_string_value(value);
    if (json_is_boolean(value)) return json_is_true(value) ? "true" : "false";
    if (json_is_integer(value))
        snprintf(buf, 64, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(buf, 64, "%.9g", json_real_value(value));
    else
        return NULL;
    return buf;
}

/* Sets the options that the client wants. */
static bool set_client_options(struct answering *x, skmt_options *o)
{
    const char *name;
    json_t *value;
    char buf[64];
    skmt_error err;

    json_object_foreach((json_t *)x->wish->options, name, value) {
        const char *text = option_text(value, buf);

        if (!wish_option_allowed(name))
            return fail_option(x, "option '%.60s' is unknown, or cannot be "
                               "set by a client", name);
        if (!text)
            return fail_option(x, "option '%.60s' must be a string, a number "
                               "or a boolean", name);
        if (skmt_options_set(o, name, text, &err)) {
            call_fail_field(x->call, "options", "%s", err.message);
            return false;
        }
    }
    return true;
}

/* Asks for several translations. The search keeps as many hypotheses as its
 * beam has, so the beam is made as wide as their number. */
static bool set_nbest(struct answering *x, skmt_options *o,
                      const struct served_model *m)
{
    const char *beam = skmt_options_in_force(o, m->model, 0, "beam");
    char nbest[16];
    skmt_error err;

    if (!x->wish->nbest) return true;
    snprintf(nbest, sizeof nbest, "%d", x->wish->nbest);
    if ((beam && atoi(beam) < x->wish->nbest
         && skmt_options_set(o, "beam", nbest, &err))
        || skmt_options_set(o, "nbest", nbest, &err)) {
        call_fail_field(x->call, "nbest", "%s", err.message);
        return false;
    }
    return true;
}

static bool set_wish_options(struct answering *x, skmt_options *o,
                             const struct served_model *m)
{
    skmt_error err;

    if (!set_nbest(x, o, m)) return false;
    if (x->wish->explain && skmt_options_set(o, "explain", "true", &err)) {
        call_fail_error(x->call, &err);
        return false;
    }
    if (x->wish->attention && skmt_options_set(o, "attention", "true", &err)) {
        call_fail_error(x->call, &err);
        return false;
    }
    return true;
}

/* Makes the options of a model. */
static bool make_options(struct answering *x, struct answer_options *o,
                         const struct served_model *m)
{
    skmt_error err;
    skmt_options **both[] = { &o->plain, &o->attention };

    o->model = m;
    for (int i = 0; i < 2; i++) {
        if (models_copy_options(m, both[i], &err)) {
            call_fail_error(x->call, &err);
            return false;
        }
        if (!set_client_options(x, *both[i])
            || !set_wish_options(x, *both[i], m))
            return false;
    }
    if (skmt_options_set(o->attention, "attention", "true", &err)) {
        call_fail_error(x->call, &err);
        return false;
    }
    o->keys = models_keys_for(m, o->plain);
    return true;
}

/* What the keys of flights say about the options. */
static bool make_signature(struct answering *x)
{
    char *options = x->wish->options ? json_dumps(x->wish->options,
                                                  JSON_SORT_KEYS | JSON_COMPACT)
                                     : strdup("");
    int n = options ? asprintf(&x->signature, "%d %s", x->wish->nbest, options)
                    : -1;

    free(options);
    if (n >= 0) return true;
    x->signature = NULL;
    return answer_fail_memory(x);
}

static bool find_options(struct answering *x)
{
    int n = models_count(x->server->models);

    x->options = calloc((size_t)n + 1, sizeof *x->options);
    if (!x->options) return answer_fail_memory(x);
    for (int i = 0; i < x->n; i++) {
        struct answer_part *p = &x->parts[i];
        int k = 0;

        while (models_get(x->server->models, k) != p->model) k++;
        p->options = &x->options[k];
        if (!p->options->model && !make_options(x, p->options, p->model))
            return false;
    }
    return make_signature(x);
}

/* ---- lines ------------------------------------------------------------- */

/* Appends a line. A text with a prefix is steered by hand, and its marks are
 * left alone. */
static bool part_add_line(struct answer_part *p, const struct cut_line *cut)
{
    const char *s = p->text + cut->begin;
    size_t n = cut->end - cut->begin;
    struct answer_line *l;
    bool letters;

    if (p->n == p->cap) {
        int cap = 2 * p->cap + 4;
        struct answer_line *lines = realloc(p->lines,
                                            (size_t)cap * sizeof *lines);

        if (!lines) return false;
        p->lines = lines;
        p->cap = cap;
    }
    l = &p->lines[p->n++];
    *l = (struct answer_line){ .begin = cut->begin, .end = cut->end };
    if (!p->prefix && !marks_find(&l->marks, s, n)) return false;
    letters = l->marks.n ? has_letters(l->marks.bare, strlen(l->marks.bare))
                         : has_letters(s, n);
    if (!letters) l->form = LINE_DONE;
    return true;
}

static bool cut_part(struct answer_part *p, int64_t *lines, int64_t most)
{
    size_t at = 0, len = strlen(p->text);
    struct cut_line cut;

    while (*lines <= most && line_cut(p->text, len, &at, &cut)) {
        if (!part_add_line(p, &cut)) return false;
        ++*lines;
    }
    return true;
}

static bool cut_parts(struct answering *x)
{
    int64_t lines = 0, most = work_get_limits(x->work)->queue_lines;

    for (int i = 0; i < x->n; i++) {
        struct answer_part *p = &x->parts[i];

        if (!cut_part(p, &lines, most)) return answer_fail_memory(x);
        if (lines > most)
            return fail_limit(x, "%lld or more lines are too many; at most "
                              "%lld are allowed", (long long)lines,
                              (long long)most, 0);
        if (!p->prefix || p->n < 2) continue;
        call_fail_field(x->call, "prefix",
                        "a text with a prefix must have one line only");
        return false;
    }
    return true;
}

/* ---- joining ----------------------------------------------------------- */

/* Writes a text with translation `choice` of line `other` and the best of all
 * other lines. spans may be NULL. Returns NULL if out of memory. */
static char *part_join(const struct answer_part *p, int other, int choice,
                       struct line_result *spans)
{
    struct textbuf t = { 0 };
    size_t at = 0;

    for (int i = 0; i < p->n; i++) {
        const struct answer_line *l = &p->lines[i];

        textbuf_add(&t, p->text + at, l->begin - at);
        at = l->end;
        if (spans) spans[i].out_begin = t.len;
        if (l->n) textbuf_adds(&t, l->list[i == other ? choice : 0].text);
        else textbuf_add(&t, p->text + l->begin, l->end - l->begin);
        if (spans) spans[i].out_end = t.len;
    }
    textbuf_adds(&t, p->text + at);
    textbuf_add(&t, "", 1);
    if (!t.failed) return t.data;
    textbuf_release(&t);
    return NULL;
}

struct line_choice { int line, choice; double loss; };

static int compare_choices(const void *a, const void *b)
{
    const struct line_choice *x = a, *y = b;

    if (x->loss != y->loss) return x->loss < y->loss ? -1 : 1;
    if (x->line != y->line) return x->line - y->line;
    return x->choice - y->choice;
}

/* Lists all ways to take another translation of one line, best first. Returns
 * NULL if out of memory. */
static struct line_choice *part_choices(const struct answer_part *p, int *n)
{
    struct line_choice *list;
    size_t most = 0;

    for (int i = 0; i < p->n; i++) most += (size_t)p->lines[i].n;
    list = malloc((most + 1) * sizeof *list);
    *n = 0;
    if (!list) return NULL;
    for (int i = 0; i < p->n; i++)
        for (int k = 1; k < p->lines[i].n; k++)
            list[(*n)++] = (struct line_choice){
                i, k, p->lines[i].list[0].score - p->lines[i].list[k].score };
    qsort(list, (size_t)*n, sizeof *list, compare_choices);
    return list;
}

static double part_score(const struct answer_part *p)
{
    double score = 0;

    for (int i = 0; i < p->n; i++)
        if (p->lines[i].n) score += p->lines[i].list[0].score;
    return score;
}

/* Appends an alternative unless it is there. Takes text. */
static bool add_alternative(struct text_answer *a, char *text, double score)
{
    bool is_new = text != NULL;

    for (int i = 0; i < a->n && is_new; i++)
        is_new = strcmp(a->alternatives[i].text, text) != 0;
    if (is_new)
        a->alternatives[a->n++] = (struct alternative){ text, score };
    else
        free(text);
    return text != NULL;
}

static bool join_alternatives(const struct answer_part *p, int nbest,
                              struct text_answer *a)
{
    double score = part_score(p);
    int n;
    struct line_choice *list = part_choices(p, &n);
    bool done;

    a->alternatives = calloc((size_t)nbest, sizeof *a->alternatives);
    done = list && a->alternatives
           && add_alternative(a, part_join(p, -1, 0, a->lines), score);
    for (int i = 0; done && i < n && a->n < nbest; i++)
        done = add_alternative(a, part_join(p, list[i].line, list[i].choice,
                                            NULL), score - list[i].loss);
    free(list);
    return done;
}

/* What the memory knew about a text. */
static void join_memory(const struct answer_part *p, struct text_answer *a)
{
    int exact = 0, n = 0;

    for (int i = 0; i < p->n; i++) {
        const struct answer_line *l = &p->lines[i];

        if (!l->n) continue;
        if (!n || l->similarity < a->similarity) a->similarity = l->similarity;
        exact += l->exact;
        n++;
    }
    a->exact = n ? (double)exact / n : 0;
}

/* Moves the results of the lines to the answer. */
static bool join_lines(struct answer_part *p, struct text_answer *a)
{
    a->lines = calloc((size_t)p->n + 1, sizeof *a->lines);
    if (!a->lines) return false;
    a->n_lines = p->n;
    for (int i = 0; i < p->n; i++) {
        const struct answer_line *l = &p->lines[i];

        a->lines[i].begin = l->begin;
        a->lines[i].end = l->end;
        if (!l->flight || l->last != LINE_AS_IS) continue;
        a->lines[i].request = flight_request(l->flight);
        a->lines[i].result = skmt_request_result(a->lines[i].request);
    }
    return true;
}

/* The flights whose results an answer shows. */
struct kept_flights { int n; struct flight *list[]; };

static bool keep_flights(struct answering *x, struct answer *out)
{
    struct kept_flights *k;
    size_t n = 0;

    if (!x->wish->explain) return true;
    for (int i = 0; i < x->n; i++) n += (size_t)x->parts[i].n;
    k = malloc(sizeof *k + n * sizeof *k->list);
    if (!k) return false;
    k->n = 0;
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->parts[i].n; j++) {
            struct answer_line *l = &x->parts[i].lines[j];

            if (l->flight) k->list[k->n++] = l->flight;
        }
    out->keep = k;
    return true;
}

static bool join_part(struct answering *x, struct answer_part *p,
                      struct text_answer *a)
{
    *a = (struct text_answer){
        .source = p->model->source, .target = p->model->target,
        .detected = p->detected, .confidence = p->confidence };
    if (x->wish->explain && !join_lines(p, a)) return false;
    join_memory(p, a);
    return join_alternatives(p, x->wish->nbest > 1 ? x->wish->nbest : 1, a);
}

/* If this fails, the flights still belong to the lines. */
static bool answer_join(struct answering *x, struct answer *out)
{
    bool done;

    out->texts = calloc((size_t)x->n + 1, sizeof *out->texts);
    out->n = out->texts ? x->n : 0;
    done = out->texts != NULL;
    for (int i = 0; done && i < x->n; i++)
        done = join_part(x, &x->parts[i], &out->texts[i]);
    if (done && keep_flights(x, out)) return true;
    answer_release(out);
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->parts[i].n; k++)
            if (x->parts[i].lines[k].flight)
                flight_leave(NULL, x->parts[i].lines[k].flight);
    return answer_fail_memory(x);
}

void answer_release(struct answer *a)
{
    struct kept_flights *k = a->keep;

    for (int i = 0; i < a->n; i++) {
        struct text_answer *t = &a->texts[i];

        for (int j = 0; j < t->n; j++) free(t->alternatives[j].text);
        free(t->alternatives);
        free(t->lines);
    }
    for (int i = 0; k && i < k->n; i++) flight_leave(NULL, k->list[i]);
    free(k);
    free(a->texts);
    *a = (struct answer){ 0 };
}

/* ---- all of it --------------------------------------------------------- */

static void answering_release(struct answering *x)
{
    for (int i = 0; x->parts && i < x->n; i++) {
        for (int k = 0; k < x->parts[i].n; k++)
            line_release(&x->parts[i].lines[k]);
        free(x->parts[i].lines);
    }
    for (int i = 0; x->options && i < models_count(x->server->models); i++) {
        skmt_options_free(x->options[i].plain);
        skmt_options_free(x->options[i].attention);
    }
    free(x->parts);
    free(x->options);
    free(x->signature);
    textbuf_release(&x->key);
}

static bool answering_init(struct answering *x, const char *const *texts,
                           const char *const *prefixes)
{
    const struct wish *w = x->wish;
    int64_t ms = w->deadline_ms > 0 ? w->deadline_ms
                                    : work_get_limits(x->work)->deadline_ms;

    x->until = flight_clock() + 1e-3 * (double)ms;
    x->has_memory = account_has_memory(x->account)
                    && !w->without_memory;
    x->parts = calloc((size_t)x->n + 1, sizeof *x->parts);
    if (!x->parts) return answer_fail_memory(x);
    for (int i = 0; i < x->n; i++) {
        x->parts[i].text = texts[i];
        x->parts[i].prefix = prefixes ? prefixes[i] : w->prefix;
        if (x->parts[i].prefix && !x->parts[i].prefix[0])
            x->parts[i].prefix = NULL;
    }
    if (prefixes || !w->prefix || x->n < 2) return true;
    call_fail_field(x->call, "prefix", "only one text may have a prefix");
    return false;
}

bool answer_prefixes(struct call *c, const struct wish *w,
                     const char *const *texts, const char *const *prefixes,
                     int n, struct answer *out)
{
    struct answering x = { .call = c, .wish = w, .server = call_server(c),
                           .account = call_account(c), .n = n };
    bool done;

    *out = (struct answer){ 0 };
    x.work = x.server->work;
    done = answering_init(&x, texts, prefixes) && check_text_limits(&x)
           && find_models(&x) && find_options(&x) && cut_parts(&x)
           && answer_run(&x) && answer_join(&x, out);
    answering_release(&x);
    return done;
}

bool answer_texts(struct call *c, const struct wish *w,
                  const char *const *texts, int n, struct answer *out)
{
    return answer_prefixes(c, w, texts, NULL, n, out);
}
