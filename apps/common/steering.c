/* steering.c - opens the memory, key file, datastore and settings file that a
 * translating command was given, and reads the pairs of option --pairs. */
#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/interrupt.h"
#include "common/program.h"
#include "common/record.h"
#include "common/steering.h"

/* ---- options ---------------------------------------------------------- */

static int add_memory_name(struct steering *s, const char *name)
{
    if (s->n_names == s->cap_names) {
        int cap = 2 * s->cap_names + 4;
        const char **names = realloc(s->names, (size_t)cap * sizeof *names);

        if (!names) return complain(EXIT_TROUBLE, "out of memory");
        s->names = names;
        s->cap_names = cap;
    }
    assert(s->n_names < s->cap_names);
    s->names[s->n_names++] = name;
    return EXIT_DONE;
}

bool steering_option(struct steering *s, const struct args *a, int *status)
{
    *status = EXIT_DONE;
    if (args_is(a, "memory")) s->memory = a->value;
    else if (args_is(a, "key-file")) s->key_file = a->value;
    else if (args_is(a, "settings")) s->settings = a->value;
    else if (args_is(a, "datastore")) s->datastore = a->value;
    else if (args_is(a, "index")) s->index = a->value;
    else if (args_is(a, "probes")) s->probes = a->value;
    else if (args_is(a, "rerank")) s->rerank = a->value;
    else if (args_is(a, "alignment")) s->alignment = a->value;
    else if (args_is(a, "name")) *status = add_memory_name(s, a->value);
    else return false;
    return true;
}

bool steering_has_memory(const struct steering *s)
{
    return s->memory != NULL;
}

int steered_option_describe(int i, skmt_option_info *out)
{
    static const skmt_option_group groups[] = { SKMT_OPTIONS_TRANSLATE,
        SKMT_OPTIONS_STEER, SKMT_OPTIONS_SEARCH, SKMT_OPTIONS_MODEL };

    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
        int n = 0;

        if (skmt_option_describe(groups[k], i, out)) return 1;
        while (skmt_option_describe(groups[k], n, out)) n++;
        i -= n;
    }
    return 0;
}

/* Parse "name = value". Blank lines and lines that begin with '#' are
 * ignored. */
static int parse_setting(struct input_line *line, skmt_options *o)
{
    char *name = line->text + strspn(line->text, " \t"), *value, *end;
    skmt_error err;

    if (!*name || *name == '#') return EXIT_DONE;
    value = strchr(name, '=');
    if (!value) {
        fprintf(stderr, "%s:%llu: expected 'option = value'\n", line->file,
                (unsigned long long)line->number);
        return EXIT_USAGE;
    }
    for (end = value; end > name && strchr(" \t=", end[-1]);) end--;
    *end = 0;
    value += 1 + strspn(value + 1, " \t");
    for (end = value + strlen(value); end > value && strchr(" \t", end[-1]);)
        *--end = 0;
    if (!skmt_options_set(o, name, value, &err)) return EXIT_DONE;
    fprintf(stderr, "%s:%llu: %s\n", line->file,
            (unsigned long long)line->number, err.message);
    return EXIT_USAGE;
}

int steering_settings(const struct steering *s, skmt_options *o)
{
    struct lines in;
    struct input_line line;
    int status = EXIT_DONE;
    enum lines_state st;

    if (!s->settings) return EXIT_DONE;
    lines_open(&in, &s->settings, 1, -1);
    while (!status && (st = lines_next(&in, true, &line)) == LINES_LINE)
        status = parse_setting(&line, o);
    if (in.message[0]) status = complain(EXIT_TROUBLE, "%s", in.message);
    lines_close(&in);
    return status;
}

int steering_choose_system(const struct steering *s, skmt_options *o)
{
    skmt_error err;

    if (!s->datastore || s->memory) return EXIT_DONE;
    if (strcmp(skmt_options_get(o, "system"), "auto") ||
        strcmp(skmt_options_get(o, "preset"), "auto"))
        return EXIT_DONE;
    if (!skmt_options_set(o, "system", "vanilla", &err)) return EXIT_DONE;
    return complain(EXIT_USAGE, "%s", err.message);
}

/* ---- opening ---------------------------------------------------------- */

static int steering_failed(struct steering *s, const skmt_error *err)
{
    progress_end(&s->progress);
    if (err->status == SKMT_ERR_CANCELED && interrupt_signal())
        return EXIT_SIGNAL + interrupt_signal();
    return complain(err->status == SKMT_ERR_ARGUMENT ? EXIT_USAGE
                                                     : EXIT_TROUBLE,
                    "%s", err->message);
}

/* Show the work that the library does on a memory before it can be searched.
 * This is a skmt_tm_progress_fn. */
static int show_steering_progress(void *user, const char *stage, uint64_t done,
                                  uint64_t total, uint64_t units)
{
    struct steering *s = user;

    (void)units;
    if (strcmp(s->stage, stage)) {
        progress_end(&s->progress);
        snprintf(s->stage, sizeof s->stage, "%s", stage);
        progress_begin(&s->progress, stage, total, isatty(STDERR_FILENO));
    }
    progress_update(&s->progress, done, done);
    if (total && done >= total) {
        progress_end(&s->progress);
        s->stage[0] = 0;
    }
    return interrupt_signal() != 0;
}

int memory_must_exist(const char *path)
{
    if (!access(path, F_OK) || errno != ENOENT) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s does not exist; create it with 'skmt tm "
                    "create %s'", path, path);
}

/* In mode SKMT_TM_READ, still open the file for writing if that is allowed:
 * index data that a search computes is then saved. */
static int steering_open_memory(struct steering *s, skmt_tm_mode mode)
{
    skmt_error err;

    if (mode != SKMT_TM_CREATE && memory_must_exist(s->memory))
        return EXIT_TROUBLE;
    if (mode == SKMT_TM_READ && !access(s->memory, W_OK)
        && !skmt_tm_open(&s->tm, s->memory, SKMT_TM_WRITE, NULL))
        return EXIT_DONE;
    if (skmt_tm_open(&s->tm, s->memory, mode, &err))
        return steering_failed(s, &err);
    return EXIT_DONE;
}

int64_t keys_stat(skmt_keys *keys, const char *wanted)
{
    int64_t value, found = 0;
    const char *name;

    for (int i = 0; (name = skmt_keys_stat(keys, i, &value)); i++)
        if (!strcmp(name, wanted)) found = value;
    return found;
}

void note_remade_keys(skmt_keys *keys, const char *file)
{
    if (keys_stat(keys, "file_remade"))
        complain(0, "%s was written by an older version; its keys were "
                 "removed and will be computed again", file);
}

/* Parse an option of the index. */
static int index_number(const char *option, const char *text, int low,
                        int high, int *out)
{
    char *end;
    long n;

    if (!text) return EXIT_DONE;
    errno = 0;
    n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < low || n > high)
        return complain(EXIT_USAGE, "--%s: '%s' is not a whole number from %d "
                        "to %d", option, text, low, high);
    *out = (int)n;
    return EXIT_DONE;
}

static int check_index_options(const struct steering *s, int *probes,
                               int *rerank)
{
    int status = index_number("probes", s->probes, 1, 1 << 20, probes);

    if (!status) status = index_number("rerank", s->rerank, 0, 64, rerank);
    if (!status && s->index && !s->datastore)
        status = complain(EXIT_USAGE, "--index needs --datastore");
    if (!status && !s->index && (s->probes || s->rerank))
        status = complain(EXIT_USAGE, "--%s needs --index",
                          s->probes ? "probes" : "rerank");
    return status;
}

static int steering_open_datastore(struct steering *s, const skmt_model *model)
{
    skmt_error err;
    int probes = 0, rerank = 4;
    int status = check_index_options(s, &probes, &rerank);

    if (status || !s->datastore) return status;
    if (skmt_datastore_open(&s->ds, s->datastore, model, &err))
        return steering_failed(s, &err);
    record_datastore(s->datastore, s->ds);
    if (!s->index) return EXIT_DONE;
    if (skmt_datastore_use_index(s->ds, s->index, probes, rerank, &err))
        return steering_failed(s, &err);
    record_index(s->index, probes, rerank);
    return EXIT_DONE;
}

static int steering_open_alignment(struct steering *s, const skmt_model *model)
{
    skmt_error err;

    if (!s->alignment) return EXIT_DONE;
    if (!skmt_aligner_new(&s->aligner, model, &err) &&
        !skmt_aligner_load(s->aligner, s->alignment, &err))
        return EXIT_DONE;
    if (err.status != SKMT_ERR_ARGUMENT) return steering_failed(s, &err);
    return complain(EXIT_USAGE, "%s; make them with 'skmt align --pieces "
                    "MODEL --memory FILE --save FILE'", err.message);
}

int steering_open(struct steering *s, const skmt_model *model,
                  const skmt_options *o, skmt_tm_mode mode, bool quiet)
{
    skmt_error err;
    int status;

    if (s->key_file && skmt_keys_new(&s->keys, model, o, s->key_file, &err))
        return steering_failed(s, &err);
    if (s->keys) note_remade_keys(s->keys, s->key_file);
    if ((status = steering_open_datastore(s, model))) return status;
    if ((status = steering_open_alignment(s, model))) return status;
    if (!s->memory) return EXIT_DONE;
    if ((status = steering_open_memory(s, mode))) return status;
    record_memory(s->memory, s->tm);
    if (!quiet) skmt_tm_on_progress(s->tm, show_steering_progress, s);
    if (skmt_tm_use_with(s->tm, model, s->names, s->n_names, o, &err))
        return steering_failed(s, &err);
    return EXIT_DONE;
}

bool memory_fits_model(const skmt_tm_info *m, const skmt_model *model,
                       skmt_options *o)
{
    const char *any = skmt_options_get(o, "any-language");

    if (any && strcmp(any, "0")) return true;
    return skmt_language_fits(m->source_lang,
                              skmt_model_get(model, "source_lang")) &&
           skmt_language_fits(m->target_lang,
                              skmt_model_get(model, "target_lang"));
}

void steering_close(struct steering *s)
{
    progress_end(&s->progress);
    record_memory(s->memory, s->tm);
    skmt_tm_close(s->tm);
    skmt_keys_free(s->keys);
    skmt_datastore_close(s->ds);
    skmt_aligner_free(s->aligner);
    free(s->names);
    memset(s, 0, sizeof *s);
}

/* ---- pairs from a file ------------------------------------------------ */

void pair_lines_open(struct pair_lines *p, const char *const *file,
                     int wake_fd)
{
    memset(p, 0, sizeof *p);
    p->file = *file;
    lines_open(&p->in, file, 1, wake_fd);
}

void pair_lines_close(struct pair_lines *p)
{
    json_decref(p->json);
    free(p->pairs);
    lines_close(&p->in);
    memset(p, 0, sizeof *p);
}

static bool pair_line_failed(struct pair_lines *p,
                             const struct input_line *line, const char *what)
{
    snprintf(p->message, sizeof p->message, "%s:%llu: %s", line->file,
             (unsigned long long)line->number, what);
    return false;
}

/* Append ["source", "target"] or ["source", "target", similarity]. */
static bool pair_lines_append(struct pair_lines *p, const json_t *pair)
{
    const char *source = json_string_value(json_array_get(pair, 0));
    const char *target = json_string_value(json_array_get(pair, 1));
    const json_t *similarity = json_array_get(pair, 2);

    if (!source || !target || (similarity && !json_is_number(similarity)))
        return false;
    assert(p->n < p->cap);
    p->pairs[p->n++] = (skmt_similar){
        .size = sizeof(skmt_similar), .source = source, .target = target,
        .similarity = json_number_value(similarity) };
    return true;
}

static bool pair_lines_append_all(struct pair_lines *p,
                                  const struct input_line *line,
                                  const struct input_line *text)
{
    const json_t *tm = json_object_get(p->json, "tm");
    const json_t *src = json_object_get(p->json, "src");
    int n = (int)json_array_size(tm);

    if (!json_is_array(tm))
        return pair_line_failed(p, line, "the object has no array \"tm\"");
    if (src && (json_string_length(src) != text->len
                || memcmp(json_string_value(src), text->text, text->len)))
        return pair_line_failed(p, line, "\"src\" is not the text of the input "
                                "line");
    if (n > p->cap) {
        skmt_similar *pairs = realloc(p->pairs, (size_t)n * sizeof *pairs);

        if (!pairs) return pair_line_failed(p, line, "out of memory");
        p->pairs = pairs;
        p->cap = n;
    }
    for (int i = 0; i < n; i++)
        if (!pair_lines_append(p, json_array_get(tm, (size_t)i)))
            return pair_line_failed(p, line, "a pair must be [\"source\", "
                                    "\"target\", similarity]");
    return true;
}

bool pair_lines_next(struct pair_lines *p, const struct input_line *text)
{
    json_error_t why;
    struct input_line line;
    enum lines_state st = lines_next(&p->in, true, &line);

    p->n = 0;
    json_decref(p->json);
    p->json = NULL;
    if (st == LINES_STOPPED) return false;
    if (st != LINES_LINE) {
        snprintf(p->message, sizeof p->message, "%s: %s", program_name(),
                 st == LINES_FAILED ? p->in.message : "the --pairs file has "
                 "fewer lines than the input");
        return false;
    }
    p->json = json_loadb(line.text, line.len, 0, &why);
    return p->json ? pair_lines_append_all(p, &line, text)
                   : pair_line_failed(p, &line, why.text);
}
