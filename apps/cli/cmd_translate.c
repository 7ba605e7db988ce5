/* cmd_translate.c - skmt translate: reads lines and writes their translations.
 *
 *     lines -> check -> skmt_stream_push ..workers.. writer_result -> fd
 *
 * The main thread reads and pushes lines; the stream makes it wait when enough
 * of them are in progress. The stream's thread writes. Whenever no input is
 * ready, the stream is flushed, so that a person at a terminal or a program at
 * the other end of a pipe gets all answers before it sends more. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "common/args.h"
#include "common/findmodel.h"
#include "common/interrupt.h"
#include "common/jput.h"
#include "common/lines.h"
#include "common/progress.h"
#include "common/record.h"
#include "common/steering.h"
#include "common/textbuf.h"
#include "common/utf8_scan.h"
#include "help.h"
#include "result_writer.h"

struct translate_job {          /* the parsed command line */
    const char *model, *output, *prefix, *prefix_file, *pairs, *html;
    const char *color;          /* NULL: auto */
    struct steering *steering;
    const char **files;         /* [n_files] */
    int n_files;
    bool json, stats, quiet, help;
    bool explain;               /* explain in the output, not only in --html */
    skmt_options *options;
    bool replace_invalid;       /* --invalid replace */
};

struct translate_run {          /* the state while it is carried out */
    const struct translate_job *job;
    struct lines in, prefixes;
    struct pair_lines pairs;
    struct result_writer out;
    struct html html;
    skmt_model *model;
    skmt_stream *stream;
    double load_seconds;
    uint64_t sentences, tokens;
    struct textbuf work_stats;  /* ,"passes":.. for --stats */
};

/* ---- command line ----------------------------------------------------- */

static int translate_argument(void *user, enum arg what, const struct args *a)
{
    struct translate_job *j = user;
    int status;

    if (what == ARG_OPERAND) j->files[j->n_files++] = a->value;
    else if (steering_option(j->steering, a, &status)) return status;
    else if (args_is(a, "model")) j->model = a->value;
    else if (args_is(a, "pairs")) j->pairs = a->value;
    else if (args_is(a, "output")) j->output = a->value;
    else if (args_is(a, "prefix")) j->prefix = a->value;
    else if (args_is(a, "prefix-file")) j->prefix_file = a->value;
    else if (args_is(a, "html")) j->html = a->value;
    else if (args_is(a, "color")) j->color = a->value;
    else if (args_is(a, "json")) j->json = true;
    else if (args_is(a, "stats")) j->stats = true;
    else if (args_is(a, "quiet")) j->quiet = true;
    else if (args_is(a, "help")) j->help = true;
    return EXIT_DONE;
}

static bool is_standard(const char *name)
{
    return !strcmp(name, "-");
}

/* Return the value of a library option. It is valid until the next call. */
static const char *engine_value(const struct translate_job *j,
                                const char *name)
{
    const char *value = skmt_options_get(j->options, name);

    return value ? value : "";
}

/* Set the options of --explain, --html and --color. --html alone also needs the
 * library's option "explain", but does not change the output. */
static int parse_explain(struct translate_job *j)
{
    const char *color = j->color ? j->color : "auto";
    skmt_error err;

    if (strcmp(color, "auto") && strcmp(color, "always")
        && strcmp(color, "never"))
        return complain(EXIT_USAGE, "--color: '%s' is not auto, always or "
                        "never", color);
    record_value("color", color);
    j->explain = !strcmp(engine_value(j, "explain"), "1");
    if (j->html && skmt_options_set(j->options, "explain", "true", &err))
        return complain(EXIT_USAGE, "--%s", err.message);
    return EXIT_DONE;
}

static int translate_parse(struct translate_job *j, int argc, char **argv)
{
    struct args a = { .command = "translate", .own = translate_options,
                      .describe = steered_option_describe, .argc = argc,
                      .argv = argv };
    int status = args_parse_own(a, translate_argument, j);

    if (status || j->help) return status;
    status = steering_settings(j->steering, j->options);
    if (!status) status = args_set_engine(a, j->options);
    if (!status) status = steering_choose_system(j->steering, j->options);
    if (status) return status;
    if (j->pairs && steering_has_memory(j->steering))
        return complain(EXIT_USAGE,
                        "--memory and --pairs cannot be used together");
    if (j->prefix && j->prefix_file)
        return complain(EXIT_USAGE,
                        "--prefix and --prefix-file cannot be used together");
    if ((j->output && !j->output[0]) || (j->html && !j->html[0]))
        return complain(EXIT_USAGE, "--%s needs the name of a file",
                        j->html && !j->html[0] ? "html" : "output");
    if ((status = parse_explain(j))) return status;
    if (j->n_files == 0) j->files[j->n_files++] = "-";
    for (int i = 0; i < j->n_files && j->prefix_file; i++)
        if (is_standard(j->files[i]) && is_standard(j->prefix_file))
            return complain(EXIT_USAGE, "standard input cannot be both the "
                            "input and the prefix file");
    j->replace_invalid = !strcmp(engine_value(j, "invalid"), "replace");
    return EXIT_DONE;
}

/* ---- files ------------------------------------------------------------ */

/* Whether an output file is the file that `in` describes. */
static bool output_is_file(const char *output, const struct stat *in)
{
    struct stat out;

    return output && !is_standard(output) && !stat(output, &out)
           && S_ISREG(in->st_mode) && in->st_dev == out.st_dev
           && in->st_ino == out.st_ino;
}

/* Check that a file to be read is not the output or the --html page, because
 * opening those empties them. role: what the file is, for the message. */
static int check_not_output(const struct translate_job *j,
                            const struct stat *in, const char *role)
{
    bool output = output_is_file(j->output, in);

    if (!output && !output_is_file(j->html, in)) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s: cannot be both the %s and the %s",
                    output ? j->output : j->html, role,
                    output ? "output" : "--html page");
}

/* Check that no steering file that exists is an output, and that the output is
 * not the --html page. */
static int check_steering_files(const struct translate_job *j)
{
    const char *const files[][2] = {
        { j->steering->memory, "memory" },
        { j->steering->key_file, "key file" },
        { j->steering->settings, "settings file" },
        { j->steering->datastore, "datastore" },
        { j->steering->index, "index" },
        { j->steering->alignment, "alignment" },
    };
    struct stat st;
    int status;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i][0] && !stat(files[i][0], &st) &&
            (status = check_not_output(j, &st, files[i][1])))
            return status;
    if (j->html && j->output && !is_standard(j->output)
        && (!strcmp(j->html, j->output)
            || (!stat(j->html, &st) && output_is_file(j->output, &st))))
        return complain(EXIT_TROUBLE, "%s: cannot be both the output and the "
                        "--html page", j->html);
    return EXIT_DONE;
}

/* Check that an input file can be read. *bytes gets its size, -1 if unknown. */
static int translate_check_file(const struct translate_job *j,
                                const char *name, const char *role,
                                int64_t *bytes)
{
    bool standard = is_standard(name);
    struct stat in;

    *bytes = -1;
    if (!standard && access(name, R_OK))
        return complain(EXIT_TROUBLE, "%s: %s", name, strerror(errno));
    if (standard ? fstat(STDIN_FILENO, &in) : stat(name, &in))
        return EXIT_DONE;
    if (S_ISDIR(in.st_mode))
        return complain(EXIT_TROUBLE, "%s: is a directory",
                        standard ? "standard input" : name);
    if (S_ISREG(in.st_mode)) *bytes = in.st_size;
    return check_not_output(j, &in, role);
}

/* Check all files before the work begins, so that the user does not see the
 * error only after an hour of translating. *total gets the bytes of input, 0 if
 * unknown. */
static int translate_check_files(const struct translate_job *j,
                                 uint64_t *total)
{
    bool known = true;
    int64_t bytes;
    int status;

    *total = 0;
    for (int i = 0; i < j->n_files; i++) {
        if ((status = translate_check_file(j, j->files[i], "input", &bytes)))
            return status;
        if (bytes < 0) known = false;
        else *total += (uint64_t)bytes;
    }
    if (!known) *total = 0;
    if (j->prefix_file
        && (status = translate_check_file(j, j->prefix_file, "prefix file",
                                          &bytes)))
        return status;
    if ((status = check_steering_files(j))) return status;
    return j->pairs ? translate_check_file(j, j->pairs, "--pairs file", &bytes)
                    : EXIT_DONE;
}

static int open_output(struct translate_run *r)
{
    const struct translate_job *j = r->job;

    r->out.fd = STDOUT_FILENO;
    r->out.name = "standard output";
    if (!j->output || is_standard(j->output)) return EXIT_DONE;
    r->out.name = j->output;
    r->out.fd = open(j->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                     0666);
    if (r->out.fd >= 0) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s: %s", j->output, strerror(errno));
}

static bool wants_color(const struct translate_job *j, int fd)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

    if (j->color && strcmp(j->color, "auto"))
        return !strcmp(j->color, "always");
    return isatty(fd) && !(no_color && no_color[0]) && term
           && strcmp(term, "dumb");
}

/* Open the output and the --html page, and set the output format. */
static int prepare_output(struct translate_run *r)
{
    const struct translate_job *j = r->job;
    int status = open_output(r);
    skmt_error err;

    if (status) return status;
    r->out.json = j->json;
    r->out.ranked = atoi(engine_value(j, "nbest")) > 1;
    r->out.explained = j->explain;
    r->out.color = wants_color(j, r->out.fd);
    explain_init(&r->out.explain, r->model);
    if (!j->html) return EXIT_DONE;
    if (!html_open(&r->html, j->html, r->model, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    r->out.html = &r->html;
    return EXIT_DONE;
}

/* ---- reading and pushing ---------------------------------------------- */

/* Report an error in an input line, after the lines before it are written. */
static int translate_bad_line(struct translate_run *r,
                              const struct input_line *line, const char *what)
{
    skmt_stream_flush(r->stream, NULL);
    if (!interrupt_signal())
        writer_fail(&r->out, EXIT_TROUBLE, "%s:%llu: %s", line->file,
                    (unsigned long long)line->number, what);
    return EXIT_TROUBLE;
}

/* Check that a line is UTF-8 without NUL. The library checks this too, but it
 * cannot count the bytes of a byte order mark before the text. */
static int check_line_text(struct translate_run *r,
                           const struct input_line *line)
{
    size_t bad = utf8_first_bad(line->text, line->len);
    const char *nul = memchr(line->text, 0, line->len);
    char what[128];

    if (bad == line->len && !nul) return EXIT_DONE;
    if (nul && (size_t)(nul - line->text) < bad)
        snprintf(what, sizeof what, "byte %zu is a NUL byte "
                 "(try --invalid=replace)",
                 line->skipped + (size_t)(nul - line->text) + 1);
    else
        snprintf(what, sizeof what, "byte %zu is not valid UTF-8 "
                 "(try --invalid=replace)", line->skipped + bad + 1);
    return translate_bad_line(r, line, what);
}

/* Get the prefix for a line into *out; NULL if it has none. */
static int next_prefix(struct translate_run *r, const struct input_line *line,
                       const char **out)
{
    struct input_line p;
    enum lines_state st;
    char *nul;

    *out = r->job->prefix;
    if (!r->job->prefix_file) return EXIT_DONE;
    st = lines_next(&r->prefixes, true, &p);
    if (st == LINES_END)
        return translate_bad_line(r, line, "the prefix file has no line for "
                                  "this input line");
    if (st == LINES_FAILED) {
        writer_fail(&r->out, EXIT_TROUBLE, "skmt: %s", r->prefixes.message);
        return EXIT_TROUBLE;
    }
    if (st == LINES_STOPPED) return EXIT_TROUBLE;
    if (!r->job->replace_invalid && check_line_text(r, &p))
        return EXIT_TROUBLE;
    /* The library replaces invalid bytes, but a NUL would end the string. */
    while ((nul = memchr(p.text, 0, p.len))) *nul = '\xFF';
    *out = p.len ? p.text : NULL;
    return EXIT_DONE;
}

static int translate_push_line(struct translate_run *r,
                               struct input_line *line)
{
    const char *prefix;
    skmt_error err;
    char *nul;

    if (!r->job->replace_invalid && check_line_text(r, line))
        return EXIT_TROUBLE;
    if (next_prefix(r, line, &prefix)) return EXIT_TROUBLE;
    if (!writer_expect(&r->out, line))
        return translate_bad_line(r, line, "out of memory");
    if (r->job->pairs && !pair_lines_next(&r->pairs, line)) {
        skmt_stream_flush(r->stream, NULL);
        writer_fail(&r->out, EXIT_TROUBLE, "%s", r->pairs.message);
        return EXIT_TROUBLE;
    }
    /* The library would take a NUL for the end of the text. With --invalid
     * replace, which allows it, it becomes a space. */
    while ((nul = memchr(line->text, 0, line->len))) *nul = ' ';
    if (!(r->job->pairs
          ? skmt_stream_push_with(r->stream, line->text, prefix,
                                  r->pairs.pairs, r->pairs.n, &err)
          : skmt_stream_push(r->stream, line->text, prefix, &err)))
        return EXIT_DONE;
    if (err.status != SKMT_ERR_CANCELED)
        translate_bad_line(r, line, err.message);
    return EXIT_TROUBLE;
}

static void read_and_push(struct translate_run *r)
{
    bool wait = false;
    skmt_error err;

    for (;;) {
        struct input_line line;
        enum lines_state st = lines_next(&r->in, wait, &line);

        wait = st == LINES_WAIT;
        if (st == LINES_LINE && translate_push_line(r, &line)) return;
        if (st == LINES_WAIT && skmt_stream_flush(r->stream, &err)) return;
        if (st == LINES_STOPPED) return;
        if (st == LINES_END || st == LINES_FAILED) break;
    }
    if (skmt_stream_flush(r->stream, &err) && err.status != SKMT_ERR_CANCELED)
        writer_fail(&r->out, EXIT_TROUBLE, "skmt: %s", err.message);
    if (r->in.message[0])
        writer_fail(&r->out, EXIT_TROUBLE, "skmt: %s", r->in.message);
}

/* ---- statistics ------------------------------------------------------- */

/* Return the peak resident memory of this program. VmHWM is preferred because
 * the number of getrusage() includes the peak of the parent before exec. */
static double peak_rss_mb(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kb = 0;
    struct rusage use;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lf", &kb) == 1) break;
    if (f) fclose(f);
    if (kb == 0 && !getrusage(RUSAGE_SELF, &use)) kb = (double)use.ru_maxrss;
    return kb / 1024;
}

static void print_stats(struct translate_run *r)
{
    static const char *const shown[] = { "threads", "beam", "batch" };
    struct textbuf t = { 0 };

    jput_object(&t);
    jput_int_field(&t, "lines", (int64_t)r->out.lines);
    jput_int_field(&t, "sentences", (int64_t)r->sentences);
    jput_int_field(&t, "tokens", (int64_t)r->tokens);
    jput_fixed_field(&t, "load_seconds", r->load_seconds, 3);
    jput_fixed_field(&t, "decode_seconds", writer_busy_seconds(&r->out), 3);
    jput_fixed_field(&t, "peak_rss_mb", peak_rss_mb(), 1);
    if (r->work_stats.len)
        jput_raw(&t, r->work_stats.data, r->work_stats.len);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const char *value = skmt_options_in_force(r->job->options, r->model,
                                                  0, shown[i]);

        jput_key(&t, shown[i]);
        jput_raw(&t, value, strlen(value));
    }
    jput_text_field(&t, "isa", skmt_isa());
    jput_text_field(&t, "cpu", skmt_cpu());
    jput_line_end(&t);
    if (!t.failed) fwrite(t.data, 1, t.len, stderr);
    textbuf_release(&t);
}

/* Copy the statistics of the stream, which must still be open. with_work: also
 * those of its workers and keys. */
static void save_stats(struct translate_run *r, bool with_work)
{
    skmt_keys *keys = r->job->steering->keys;
    const char *name;
    char key[64];
    int64_t n;

    for (int i = 0; (name = skmt_stream_stat(r->stream, i, &n)); i++) {
        if (!strcmp(name, "sentences")) r->sentences = (uint64_t)n;
        else if (!strcmp(name, "tokens")) r->tokens = (uint64_t)n;
        else if (with_work && strcmp(name, "texts"))
            jput_int_field(&r->work_stats, name, n);
    }
    for (int i = 0; with_work && keys && (name = skmt_keys_stat(keys, i, &n));
         i++) {
        snprintf(key, sizeof key, "keys_%s", name);
        jput_int_field(&r->work_stats, key, n);
    }
}

/* ---- the command ------------------------------------------------------ */

static int translate_finish(struct translate_run *r)
{
    struct result_writer *w = &r->out;
    skmt_error err;

    if (writer_status(w) || interrupt_signal()) skmt_stream_cancel(r->stream);
    /* After a cancel, workers still change the statistics. */
    save_stats(r, r->job->stats && !writer_status(w) && !interrupt_signal());
    interrupt_stream(NULL);
    skmt_stream_free(r->stream);        /* no callback runs after this */
    r->stream = NULL;
    progress_end(&w->progress);
    if (w->fd > STDERR_FILENO && close(w->fd))
        writer_fail(w, EXIT_TROUBLE, "skmt: writing %s: %s", w->name,
                    strerror(errno));
    w->fd = -1;
    if (!html_close(&r->html, &err))
        writer_fail(w, EXIT_TROUBLE, "skmt: %s", err.message);
    if (w->message[0]) fprintf(stderr, "%s\n", w->message);
    if (r->job->stats) print_stats(r);
    if (interrupt_signal()) return EXIT_SIGNAL + interrupt_signal();
    return w->status;
}

/* Print a warning if an explanation is wanted without a memory, which is
 * probably a mistake. */
static void warn_no_memory(const struct translate_job *j)
{
    if (!(j->explain || j->html) || j->steering->memory || j->pairs ||
        j->steering->datastore)
        return;
    complain(0, "%s has nothing to explain without --memory, --pairs or "
             "--datastore",
             j->explain ? "--explain" : "--html");
}

static int translate_all(struct translate_run *r)
{
    const struct translate_job *j = r->job;
    skmt_error err;
    const char *path;
    struct stat file;
    uint64_t total;
    double begin;
    int status;

    if ((status = translate_check_files(j, &total))) return status;
    if (!interrupt_start())
        return complain(EXIT_TROUBLE, "cannot create a thread");
    check_isa();
    begin = wall_seconds();
    if ((status = model_find(&r->model, j->model, j->options, &path)))
        return status;
    if (!stat(path, &file) && (status = check_not_output(j, &file, "model")))
        return status;
    r->load_seconds = wall_seconds() - begin;
    if (skmt_stream_new(&r->stream, r->model, j->options, writer_result,
                        &r->out, &err))
        return complain(err.status == SKMT_ERR_ARGUMENT ? EXIT_USAGE
                                                        : EXIT_TROUBLE,
                        "%s%s", err.status == SKMT_ERR_ARGUMENT ? "--" : "",
                        err.message);
    if ((status = steering_open(j->steering, r->model, j->options,
                                SKMT_TM_READ, j->quiet)))
        return status;
    if ((j->steering->tm || j->steering->keys)
        && skmt_stream_use(r->stream, j->steering->tm, j->steering->keys,
                           &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    if (skmt_stream_use_datastore(r->stream, j->steering->ds, &err) ||
        skmt_stream_use_alignment(r->stream, j->steering->aligner, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    warn_no_memory(j);
    /* The output is opened this late, so that a usage error does not empty an
     * old output. */
    if ((status = prepare_output(r))) return status;

    progress_begin(&r->out.progress, "lines", total,
                   !j->quiet && !isatty(r->out.fd));
    lines_open(&r->in, j->files, j->n_files, interrupt_fd());
    lines_open(&r->prefixes, &j->prefix_file, 1, interrupt_fd());
    if (j->pairs) pair_lines_open(&r->pairs, &j->pairs, interrupt_fd());
    interrupt_stream(r->stream);
    read_and_push(r);
    return translate_finish(r);
}

static int run_translate_job(const struct translate_job *j)
{
    struct translate_run r = { .job = j };
    int status;

    writer_init(&r.out);
    r.out.fd = -1;
    status = translate_all(&r);
    interrupt_stream(NULL);
    skmt_stream_free(r.stream);
    steering_close(j->steering);
    skmt_model_close(r.model);
    if (j->pairs) pair_lines_close(&r.pairs);
    lines_close(&r.in);
    lines_close(&r.prefixes);
    html_close(&r.html, &(skmt_error){ 0 });
    writer_release(&r.out);
    textbuf_release(&r.work_stats);
    return status;
}

int cmd_translate(int argc, char **argv)
{
    struct steering steering = { 0 };
    struct translate_job j = { .steering = &steering };
    int status;

    j.files = calloc((size_t)argc + 1, sizeof *j.files);
    skmt_options_new(&j.options, NULL);
    if (!j.files || !j.options)
        status = complain(EXIT_TROUBLE, "out of memory");
    else if (!(status = translate_parse(&j, argc, argv)))
        status = j.help ? help_command("translate") : run_translate_job(&j);
    skmt_options_free(j.options);
    free(steering.names);
    free(j.files);
    return status;
}
