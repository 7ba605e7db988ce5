/* record.c - collects what is known about this run and writes it as JSON at
 * the end. There is one run per process, so the state is static; only the main
 * thread uses it.
 *
 * The calls come in this order: record_start(); record_parse_begin(),
 * record_argument() for each argument and record_parse_end(), possibly twice;
 * the reports of the command; record_finish(). */
#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/jput.h"
#include "common/program.h"
#include "common/progress.h"
#include "common/record.h"
#include "common/sha256.h"
#include "common/textbuf.h"
#include "common/wholefile.h"

const struct opt record_option = {
    "record", 0, "FILE", "describe this run in FILE as JSON: version, all "
    "options, checksums of model, memory and output, processor, time, exit "
    "status"
};

struct record_value { const char *name, *value; };     /* value NULL: a flag */

static struct {
    const char *path;           /* NULL: no --record */
    bool may_write;             /* path was checked; it can be written */
    int path_error;             /* exit status if path cannot be used */
    int argc;
    char **argv;
    time_t start_time;
    double start_seconds;

    const char *command;        /* "tm add"; owned */
    const struct opt *own;
    struct record_value *typed_options; /* [n_typed] own options, in order */
    const char **operands;      /* [n_operands] */
    struct record_value *in_force;      /* [n_in_force] owns its strings */
    int n_typed, n_operands, n_in_force;
    int cap_args;               /* of typed_options and of operands */

    describe_fn *describe;      /* may be NULL */
    skmt_options *options;
    struct textbuf engine;      /* the library's options: {"beam":4, ..} */
    struct textbuf model;       /* {"path":.., ..}; empty if no model */
    struct textbuf memory;      /* "path":..,"at_start":{..} */
    struct textbuf memory_end;  /* {..} */
    struct textbuf datastore;   /* {..} */
    struct textbuf index;       /* {..} */
    int threads;
    bool failed;                /* out of memory */
} record;

static bool is_recording(void) { return record.path && !record.failed; }

/* ---- arguments ----------------------------------------------------------- */

void record_start(int argc, char **argv)
{
    record.argc = argc;
    record.argv = argv;
    record.start_time = time(NULL);
    record.start_seconds = wall_seconds();
    record.threads = 1;
}

/* Discard the arguments of an earlier pass: if a command parses its arguments
 * twice, the second pass is recorded. */
void record_parse_begin(const struct args *a)
{
    free((void *)(uintptr_t)record.command);
    free(record.typed_options);
    free(record.operands);
    record.command = strdup(a->command ? a->command : "");
    record.own = a->own;
    record.cap_args = a->argc + 1;
    record.typed_options = calloc((size_t)record.cap_args,
                                  sizeof *record.typed_options);
    record.operands = calloc((size_t)record.cap_args,
                             sizeof *record.operands);
    record.n_typed = record.n_operands = 0;
    record.failed = !record.command || !record.typed_options
                    || !record.operands;
}

void record_set_path(const char *path) { record.path = path; }

void record_argument(enum arg what, const struct args *a)
{
    if (record.failed) return;
    assert(record.n_typed + record.n_operands < record.cap_args);
    if (what == ARG_OPERAND)
        record.operands[record.n_operands++] = a->value;
    if (what == ARG_OWN)
        record.typed_options[record.n_typed++] =
            (struct record_value){ a->name, a->value };
}

/* Writes the path that a file will have when it is created: its folder with
 * symbolic links resolved, and its name. Returns false if there is no such
 * folder, or if the path is too long or names no file. */
static bool resolve_new_file(const char *path, char full[static PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char folder[PATH_MAX];
    size_t len = (size_t)(name - path);

    if (!name[0] || len >= sizeof folder) return false;
    memcpy(folder, path, len);
    folder[len] = '\0';
    if (!realpath(len ? folder : ".", full)) return false;
    len = strlen(full);
    return snprintf(full + len, PATH_MAX - len, "/%s", name)
           < (int)(PATH_MAX - len);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat stat_a, stat_b;
    char full_a[PATH_MAX], full_b[PATH_MAX];
    bool a_exists = !stat(a, &stat_a), b_exists = !stat(b, &stat_b);

    if (!strcmp(a, b)) return true;
    if (a_exists && b_exists)
        return S_ISREG(stat_a.st_mode) && stat_a.st_dev == stat_b.st_dev
               && stat_a.st_ino == stat_b.st_ino;
    if (a_exists || b_exists) return false;
    return resolve_new_file(a, full_a) && resolve_new_file(b, full_b)
           && !strcmp(full_a, full_b);
}

static int check_not_record(const char *file)
{
    if (!file || !is_same_file(record.path, file)) return EXIT_DONE;
    return complain(EXIT_USAGE, "%s: --record names a file that this command "
                    "reads or writes", record.path);
}

/* Checks that no argument of the command names the file of the record. */
static int check_arguments(void)
{
    int status = EXIT_DONE;

    for (int i = 0; !status && i < record.n_operands; i++)
        status = check_not_record(record.operands[i]);
    for (int i = 0; !status && i < record.n_typed; i++)
        status = check_not_record(record.typed_options[i].value);
    return status;
}

static int check_record_path(void)
{
    int status;

    if (record.failed) return complain(EXIT_TROUBLE, "out of memory");
    if (!record.path[0] || !strcmp(record.path, "-"))
        return complain(EXIT_USAGE, "--record needs the name of a file");
    status = check_arguments();
    return status ? status : whole_file_check(record.path);
}

bool record_parse_end(void)
{
    if (!record.path || record.may_write) return true;
    record.path_error = check_record_path();
    record.may_write = !record.path_error;
    return record.may_write;
}

/* ---- options ------------------------------------------------------------- */

void record_value(const char *option, const char *value)
{
    struct record_value *v;

    if (!is_recording()) return;
    v = realloc(record.in_force, ((size_t)record.n_in_force + 1) * sizeof *v);
    if (v) {
        record.in_force = v;
        v += record.n_in_force;
        v->name = strdup(option);
        v->value = strdup(value);
        record.n_in_force++;
    }
    record.failed = !v || !v->name || !v->value;
}

void record_valuef(const char *option, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    record_value(option, text);
}

static const struct record_value *record_last_typed(const char *option)
{
    for (int i = record.n_typed; i-- > 0;)
        if (!strcmp(record.typed_options[i].name, option))
            return &record.typed_options[i];
    return NULL;
}

static bool is_steered(void)
{
    return record_last_typed("memory") || record_last_typed("pairs")
           || record_last_typed("simulate") || record_last_typed("datastore");
}

static void put_engine_option(struct textbuf *t, const skmt_option_info *info,
                              const char *value)
{
    jput_key(t, info->name);
    if (!value) jput_null(t);
    else if (!strcmp(info->kind, "bool"))
        jput_bool(t, strcmp(value, "0") != 0);
    else if (!strcmp(info->kind, "int") || !strcmp(info->kind, "float"))
        jput_raw(t, value, strlen(value));
    else jput_text(t, value);
}

/* Write the library's options as they will apply with this model (may be
 * NULL) to record.engine. */
static void read_engine_options(const skmt_model *model)
{
    skmt_option_info info = SKMT_INIT(skmt_option_info);

    if (!record.describe) return;
    textbuf_reset(&record.engine);
    jput_object(&record.engine);
    for (int i = 0; record.describe(i, &info); i++) {
        const char *value = skmt_options_in_force(record.options, model,
                                                  is_steered(), info.name);

        put_engine_option(&record.engine, &info, value);
        if (value && !strcmp(info.name, "threads"))
            record.threads = atoi(value);
    }
    jput_object_end(&record.engine);
}

void record_options(describe_fn *describe, skmt_options *o)
{
    if (!is_recording()) return;
    record.describe = describe;
    record.options = o;
    read_engine_options(NULL);
}

/* ---- files -------------------------------------------------------------- */

static void put_path(struct textbuf *t, const char *path)
{
    char full[PATH_MAX];

    jput_text_field(t, "path", realpath(path, full) ? full : path);
}

/* Append "bytes" and "sha256" of a file. */
static void put_checksum(struct textbuf *t, const char *path)
{
    char hex[SHA256_HEX_BYTES];
    uint64_t bytes;

    if (!sha256_file(path, hex, &bytes)) {
        jput_text_field(t, "error", strerror(errno));
        return;
    }
    jput_int_field(t, "bytes", (int64_t)bytes);
    jput_text_field(t, "sha256", hex);
}

int record_model(const char *path, const skmt_model *model)
{
    static const char *const facts[] = { "name", "type", "checksum" };
    struct textbuf *t = &record.model;

    if (!is_recording()) return EXIT_DONE;
    if ((record.path_error = check_not_record(path))) {
        record.may_write = false;
        return record.path_error;
    }
    read_engine_options(model);
    textbuf_reset(t);
    jput_object(t);
    put_path(t, path);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *value = skmt_model_get(model, facts[i]);

        jput_key(t, facts[i]);
        if (value) jput_text(t, value);
        else jput_null(t);
    }
    put_checksum(t, path);
    jput_object_end(t);
    return EXIT_DONE;
}

static void put_state(struct textbuf *t, skmt_tm *tm)
{
    skmt_tm_state s = SKMT_INIT(skmt_tm_state);

    if (skmt_tm_get_state(tm, &s, NULL)) {
        jput_null(t);
        return;
    }
    jput_object(t);
    jput_hex_field(t, "identity", s.identity);
    jput_int_field(t, "last_change", s.last_change);
    jput_int_field(t, "pairs", s.pairs);
    jput_int_field(t, "texts", s.texts);
    jput_object_end(t);
}

void record_memory(const char *path, skmt_tm *tm)
{
    if (!is_recording() || !path || !tm) return;
    if (!record.memory.len) {
        put_path(&record.memory, path);
        jput_key(&record.memory, "at_start");
        put_state(&record.memory, tm);
    }
    textbuf_reset(&record.memory_end);
    put_state(&record.memory_end, tm);
}

void record_datastore(const char *path, skmt_datastore *ds)
{
    const char *name, *text;
    int64_t value;

    if (!is_recording() || !path || !ds) return;
    textbuf_reset(&record.datastore);
    jput_object(&record.datastore);
    put_path(&record.datastore, path);
    for (int i = 0; (name = skmt_datastore_fact(ds, i, &text)); i++)
        jput_text_field(&record.datastore, name, text);
    for (int i = 0; (name = skmt_datastore_stat(ds, i, &value)); i++)
        jput_int_field(&record.datastore, name, value);
    jput_object_end(&record.datastore);
}

/* probes 0 is the number of the file. */
void record_index(const char *path, int probes, int rerank)
{
    struct textbuf *t = &record.index;
    const char *name, *text;
    skmt_index *ix;
    int64_t value;

    if (!is_recording() || skmt_index_open(&ix, path, NULL)) return;
    textbuf_reset(t);
    jput_object(t);
    put_path(t, path);
    for (int i = 0; (name = skmt_index_fact(ix, i, &text)); i++)
        jput_text_field(t, name, text);
    for (int i = 0; (name = skmt_index_stat(ix, i, &value)); i++)
        jput_int_field(t, name, !strcmp(name, "probes") && probes ? probes
                                                                  : value);
    jput_int_field(t, "rerank", rerank);
    jput_object_end(t);
    skmt_index_close(ix);
}

/* ---- writing ------------------------------------------------------------ */

static void put_text_list(struct textbuf *t, const char *key,
                          const char *const *list, int n)
{
    jput_key(t, key);
    jput_array(t);
    for (int i = 0; i < n; i++) {
        jput_text(t, list[i]);
    }
    jput_array_end(t);
}

/* Return the value that a command reported with record_value(), or NULL if
 * there is none. */
static const char *value_in_force(const char *option)
{
    for (int i = record.n_in_force; i-- > 0;)
        if (!strcmp(record.in_force[i].name, option))
            return record.in_force[i].value;
    return NULL;
}

/* Append the value of an option, or an array if the option was typed several
 * times. */
static void put_typed_values(struct textbuf *t, const char *option)
{
    int n = 0;

    for (int i = 0; i < record.n_typed; i++)
        n += !strcmp(record.typed_options[i].name, option);
    if (n > 1) jput_array(t);
    for (int i = 0; i < record.n_typed; i++) {
        if (strcmp(record.typed_options[i].name, option)) continue;
        jput_text(t, record.typed_options[i].value);
    }
    if (n > 1) jput_array_end(t);
}

static void put_own_option(struct textbuf *t, const struct opt *o)
{
    const char *value = value_in_force(o->name);
    bool typed = record_last_typed(o->name) != NULL;

    jput_key(t, o->name);
    if (!o->value) jput_bool(t, typed);
    else if (value) jput_text(t, value);
    else if (typed) put_typed_values(t, o->name);
    else jput_null(t);
}

/* Append the command's own options, then the library's. */
static void put_options(struct textbuf *t)
{
    jput_key(t, "options");
    jput_object(t);
    for (const struct opt *o = record.own; o && o->name; o++)
        if (strcmp(o->name, "help")) put_own_option(t, o);
    jput_text_field(t, record_option.name, record.path);
    if (record.engine.len > 2) {
        jput_raw(t, record.engine.data + 1, record.engine.len - 2);
    }
    jput_object_end(t);
}

static void put_object(struct textbuf *t, const char *key,
                       const struct textbuf *object)
{
    jput_key(t, key);
    if (object->len) jput_raw(t, object->data, object->len);
    else jput_null(t);
}

static void record_put_memory(struct textbuf *t)
{
    jput_key(t, "memory");
    if (!record.memory.len) {
        jput_null(t);
        return;
    }
    jput_object(t);
    jput_raw(t, record.memory.data, record.memory.len);
    put_object(t, "at_end", &record.memory_end);
    jput_object_end(t);
}

/* Return whether the value of an option is a file that the command writes. */
static bool is_output_option(const char *option)
{
    static const char *const names[] = { "output", "html", "svg", "rejects",
                                         "save" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(option, names[i])) return true;
    return !strcmp(option, "target-file")
           && !strcmp(record.command, "tm export");
}

static void put_outputs(struct textbuf *t)
{
    jput_key(t, "outputs");
    jput_array(t);
    for (const struct opt *o = record.own; o && o->name; o++) {
        const struct record_value *typed = record_last_typed(o->name);
        const char *path = value_in_force(o->name);
        struct stat st;

        if (!path && typed) path = typed->value;
        if (!path || !is_output_option(o->name) || stat(path, &st)
            || !S_ISREG(st.st_mode)) continue;
        jput_object(t);
        jput_text_field(t, "option", o->name);
        put_path(t, path);
        put_checksum(t, path);
        jput_object_end(t);
    }
    jput_array_end(t);
}

static void put_processor(struct textbuf *t)
{
    jput_text_field(t, "processor", skmt_cpu());
    jput_text_field(t, "isa", skmt_isa());
    jput_int_field(t, "threads", record.threads);
}

static void put_times(struct textbuf *t)
{
    jput_time_field(t, "started", record.start_time);
    jput_fixed_field(t, "elapsed_seconds",
                     wall_seconds() - record.start_seconds, 3);
}

static void put_record(struct textbuf *t, int status)
{
    char folder[PATH_MAX];

    jput_object(t);
    jput_text_field(t, "skmt_version", skmt_version());
    jput_text_field(t, "command", record.command);
    put_text_list(t, "arguments", (const char *const *)record.argv,
                  record.argc);
    put_text_list(t, "operands", record.operands, record.n_operands);
    jput_text_field(t, "directory",
                    getcwd(folder, sizeof folder) ? folder : "");
    put_options(t);
    put_object(t, "model", &record.model);
    record_put_memory(t);
    put_object(t, "datastore", &record.datastore);
    put_object(t, "index", &record.index);
    put_outputs(t);
    put_processor(t);
    put_times(t);
    jput_int_field(t, "exit_status", status);
    jput_object_end(t);
}

/* Rewrite the JSON with one value per line, for people to read. */
static void indent_json(struct textbuf *t)
{
    json_t *all = json_loadb(t->data, t->len, 0, NULL);
    char *text = all ? json_dumps(all, JSON_INDENT(2) | JSON_PRESERVE_ORDER
                                     | JSON_REAL_PRECISION(15))
                     : NULL;

    textbuf_reset(t);
    if (text) {
        textbuf_adds(t, text);
        textbuf_adds(t, "\n");
    } else {
        t->failed = true;
    }
    free(text);
    json_decref(all);
}

static void record_release(void)
{
    for (int i = 0; i < record.n_in_force; i++) {
        free((void *)(uintptr_t)record.in_force[i].name);
        free((void *)(uintptr_t)record.in_force[i].value);
    }
    free((void *)(uintptr_t)record.command);
    free(record.typed_options);
    free(record.operands);
    free(record.in_force);
    textbuf_release(&record.engine);
    textbuf_release(&record.model);
    textbuf_release(&record.memory);
    textbuf_release(&record.memory_end);
    textbuf_release(&record.datastore);
    textbuf_release(&record.index);
    memset(&record, 0, sizeof record);
}

/* Writes the record, unless its file has become one of the command's files:
 * the command may have created its output through a symbolic link. */
static int record_write(const struct textbuf *t)
{
    int status = record.failed ? EXIT_DONE : check_arguments();

    return status ? status : whole_file_write(record.path, t);
}

int record_finish(int status)
{
    struct textbuf t = { 0 };
    int record_status = record.path_error;

    assert(!(record.may_write && record.path_error));
    /* The command failed only because of the error of --record, which is
     * record_status. */
    if (record.path_error) status = EXIT_DONE;
    if (record.path && record.may_write) {
        if (!record.failed) put_record(&t, status);
        if (!record.failed && !t.failed) indent_json(&t);
        t.failed |= record.failed || record.engine.failed
                    || record.model.failed || record.memory.failed
                    || record.memory_end.failed || record.datastore.failed
                    || record.index.failed;
        record_status = record_write(&t);
    }
    textbuf_release(&t);
    record_release();
    return status ? status : record_status;
}
