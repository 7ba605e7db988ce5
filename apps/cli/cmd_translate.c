/* cmd_translate.c - lines in, translated lines out.
 *
 *     lines -> check -> skmt_stream_push ..workers.. writer_result -> fd
 *
 * This thread reads and pushes (the stream makes it wait when enough is on
 * its way); the stream's thread writes. Whenever the input has nothing ready
 * the stream is flushed, so that a person at a terminal or a program at the
 * other end of a pipe gets its answer before asking again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "cli.h"
#include "findmodel.h"
#include "help.h"
#include "interrupt.h"
#include "lines.h"
#include "progress.h"
#include "record.h"
#include "steering.h"
#include "textbuf.h"
#include "result_writer.h"

struct translate_job {          /* what the command line asked for */
    const char *model, *output, *prefix, *prefix_file, *pairs, *html;
    const char *color;          /* NULL: auto */
    struct steering *steering;
    const char **files;         /* [n_files] */
    int n_files;
    bool json, stats, quiet, help;
    bool explain;               /* in the output, not only on a page */
    skmt_options *options;
    bool replace;               /* option "invalid" */
};

struct run {                    /* and what became of it */
    const struct translate_job *job;
    struct lines in, prefixes;
    struct pair_lines pairs;
    struct result_writer out;
    struct html html;
    skmt_model *model;
    skmt_stream *stream;
    double load_seconds;
    uint64_t sentences, tokens;
    struct textbuf work;        /* ,"passes":.. for the statistics */
};

/* ---- command line ----------------------------------------------------- */

static int cmd_translate_take(void *user, enum arg what, const struct args *a)
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

/* Lives until the next call. */
static const char *option(const struct translate_job *j, const char *name)
{
    const char *value = skmt_options_get(j->options, name);

    return value ? value : "";
}

/* What the output has is asked for by --explain; a page needs the notes of the
 * library too. */
static int parse_explain(struct translate_job *j)
{
    const char *color = j->color ? j->color : "auto";
    skmt_error err;

    if (strcmp(color, "auto") && strcmp(color, "always")
        && strcmp(color, "never"))
        return complain(EXIT_USAGE, "--color is auto, always or never, not "
                        "'%s'", color);
    record_value("color", color);
    j->explain = !strcmp(option(j, "explain"), "1");
    if (j->html && skmt_options_set(j->options, "explain", "true", &err))
        return complain(EXIT_USAGE, "--%s", err.message);
    return EXIT_DONE;
}

static int cmd_translate_parse(struct translate_job *j, int argc, char **argv)
{
    struct args a = { .command = "translate", .own = translate_options,
                      .describe = steered_option_describe, .argc = argc,
                      .argv = argv };
    int status = args_take_own(a, cmd_translate_take, j);

    if (status || j->help) return status;
    status = steering_settings(j->steering, j->options);
    if (!status) status = args_set_engine(a, j->options);
    if (status) return status;
    if (j->pairs && steering_wanted(j->steering))
        return complain(EXIT_USAGE,
                        "--memory and --pairs exclude each other");
    if (j->prefix && j->prefix_file)
        return complain(EXIT_USAGE,
                        "--prefix and --prefix-file exclude each other");
    if ((j->output && !j->output[0]) || (j->html && !j->html[0]))
        return complain(EXIT_USAGE, "--%s needs the name of a file",
                        j->html && !j->html[0] ? "html" : "output");
    if ((status = parse_explain(j))) return status;
    if (j->n_files == 0) j->files[j->n_files++] = "-";
    for (int i = 0; i < j->n_files && j->prefix_file; i++)
        if (is_standard(j->files[i]) && is_standard(j->prefix_file))
            return complain(EXIT_USAGE, "standard input cannot be both the "
                            "text and the prefix file");
    j->replace = !strcmp(option(j, "invalid"), "replace");
    return EXIT_DONE;
}

/* ---- files ------------------------------------------------------------ */

static bool is_same(const char *output, const struct stat *in)
{
    struct stat out;

    return output && !is_standard(output) && !stat(output, &out)
           && S_ISREG(in->st_mode) && in->st_dev == out.st_dev
           && in->st_ino == out.st_ino;
}

/* A file to be read, the input or the model or what `role` says, must not be
 * the output or the page, which are emptied when they are opened. */
static int cmd_translate_check_apart(const struct translate_job *j,
                                     const struct stat *in, const char *role)
{
    bool output = is_same(j->output, in);

    if (!output && !is_same(j->html, in)) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s: is %s and %s at once",
                    output ? j->output : j->html, role,
                    output ? "output" : "page");
}

/* Nor may what steers, where it is there already; nor one the other. */
static int check_steering(const struct translate_job *j)
{
    const char *const files[][2] = {
        { j->steering->memory, "memory" },
        { j->steering->key_file, "key file" },
        { j->steering->settings, "settings" },
    };
    struct stat st;
    int status;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i][0] && !stat(files[i][0], &st) &&
            (status = cmd_translate_check_apart(j, &st, files[i][1])))
            return status;
    if (j->html && j->output && !is_standard(j->output)
        && (!strcmp(j->html, j->output)
            || (!stat(j->html, &st) && is_same(j->output, &st))))
        return complain(EXIT_TROUBLE, "%s: is output and page at once",
                        j->html);
    return EXIT_DONE;
}

/* *bytes gets the size, -1 when it is not known. */
static int cmd_translate_check_file(const struct translate_job *j,
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
    return cmd_translate_check_apart(j, &in, role);
}

/* Everything can be read and is not the output: found out before an hour of
 * translating. *total gets the bytes of text, 0 when they are not known. */
static int cmd_translate_check_files(const struct translate_job *j,
                                     uint64_t *total)
{
    bool known = true;
    int64_t bytes;
    int status;

    *total = 0;
    for (int i = 0; i < j->n_files; i++) {
        if ((status =
                 cmd_translate_check_file(j, j->files[i], "input", &bytes)))
            return status;
        if (bytes < 0) known = false;
        else *total += (uint64_t)bytes;
    }
    if (!known) *total = 0;
    if (j->prefix_file && (status = cmd_translate_check_file(
                               j, j->prefix_file, "prefix file", &bytes)))
        return status;
    if ((status = check_steering(j))) return status;
    return j->pairs
               ? cmd_translate_check_file(j, j->pairs, "file of pairs", &bytes)
               : EXIT_DONE;
}

static int open_output(struct run *r)
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
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");

    if (j->color && strcmp(j->color, "auto"))
        return !strcmp(j->color, "always");
    return isatty(fd) && !(none && none[0]) && term && strcmp(term, "dumb");
}

/* How the output is to look, and the page beside it. */
static int prepare_output(struct run *r)
{
    const struct translate_job *j = r->job;
    int status = open_output(r);
    skmt_error err;

    if (status) return status;
    r->out.json = j->json;
    r->out.ranked = atoi(option(j, "nbest")) > 1;
    r->out.explained = j->explain;
    r->out.color = wants_color(j, r->out.fd);
    explain_init(&r->out.explain, r->model);
    if (!j->html) return EXIT_DONE;
    if (!html_open(&r->html, j->html, r->model, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    r->out.html = &r->html;
    return EXIT_DONE;
}

/* ---- the loop --------------------------------------------------------- */

/* "file:line: what" with what was written before it safely out. */
static int cmd_translate_bad_line(struct run *r, const struct input_line *line,
                                  const char *what)
{
    skmt_stream_flush(r->stream, NULL);
    if (!interrupt_signal())
        writer_fail(&r->out, EXIT_TROUBLE, "%s:%llu: %s", line->file,
                    (unsigned long long)line->number, what);
    return EXIT_TROUBLE;
}

/* The library would find it too; here we know what precedes the text. */
static int cmd_translate_check_text(struct run *r,
                                    const struct input_line *line)
{
    size_t bad = utf8_first_bad(line->text, line->len);
    const char *nul = memchr(line->text, 0, line->len);
    char what[128];

    if (bad == line->len && !nul) return EXIT_DONE;
    if (nul && (size_t)(nul - line->text) < bad)
        snprintf(what, sizeof what, "byte %zu is NUL, not text "
                 "(try --invalid=replace)",
                 line->skipped + (size_t)(nul - line->text) + 1);
    else
        snprintf(what, sizeof what, "byte %zu is not valid UTF-8 "
                 "(try --invalid=replace)", line->skipped + bad + 1);
    return cmd_translate_bad_line(r, line, what);
}

/* The beginning wanted for the next line; NULL: none. */
static int next_prefix(struct run *r, const struct input_line *line,
                       const char **out)
{
    struct input_line p;
    enum lines_state st;
    char *nul;

    *out = r->job->prefix;
    if (!r->job->prefix_file) return EXIT_DONE;
    st = lines_next(&r->prefixes, true, &p);
    if (st == LINES_END)
        return cmd_translate_bad_line(
            r, line, "the prefix file has no line for this one");
    if (st == LINES_FAILED) {
        writer_fail(&r->out, EXIT_TROUBLE, "skmt: %s", r->prefixes.message);
        return EXIT_TROUBLE;
    }
    if (st == LINES_STOPPED) return EXIT_TROUBLE;
    if (!r->job->replace && cmd_translate_check_text(r, &p))
        return EXIT_TROUBLE;
    /* The library repairs the rest; a NUL would be the end to it. */
    while ((nul = memchr(p.text, 0, p.len))) *nul = '\xFF';
    *out = p.len ? p.text : NULL;
    return EXIT_DONE;
}

static int cmd_translate_push_line(struct run *r, struct input_line *line)
{
    const char *prefix;
    skmt_error err;

    if (!r->job->replace && cmd_translate_check_text(r, line))
        return EXIT_TROUBLE;
    if (next_prefix(r, line, &prefix)) return EXIT_TROUBLE;
    if (!writer_expect(&r->out, line))
        return cmd_translate_bad_line(r, line, "out of memory");
    if (r->job->pairs && !pair_lines_next(&r->pairs, line)) {
        skmt_stream_flush(r->stream, NULL);
        writer_fail(&r->out, EXIT_TROUBLE, "%s", r->pairs.message);
        return EXIT_TROUBLE;
    }
    if (!(r->job->pairs
          ? skmt_stream_push_with(r->stream, line->text, line->len, prefix,
                                  r->pairs.pairs, r->pairs.n, &err)
          : skmt_stream_push(r->stream, line->text, line->len, prefix, &err)))
        return EXIT_DONE;
    if (err.status != SKMT_CANCELED)
        cmd_translate_bad_line(r, line, err.message);
    return EXIT_TROUBLE;
}

static void read_and_push(struct run *r)
{
    bool wait = false;
    skmt_error err;

    for (;;) {
        struct input_line line;
        enum lines_state st = lines_next(&r->in, wait, &line);

        wait = st == LINES_WAIT;
        if (st == LINES_LINE && cmd_translate_push_line(r, &line)) return;
        if (st == LINES_WAIT && skmt_stream_flush(r->stream, &err)) return;
        if (st == LINES_STOPPED) return;
        if (st == LINES_END || st == LINES_FAILED) break;
    }
    if (skmt_stream_flush(r->stream, &err) && err.status != SKMT_CANCELED)
        writer_fail(&r->out, EXIT_TROUBLE, "skmt: %s", err.message);
    if (r->in.message[0])
        writer_fail(&r->out, EXIT_TROUBLE, "skmt: %s", r->in.message);
}

/* ---- statistics ------------------------------------------------------- */

/* The most memory this program had resident. The kernel's own count starts
 * anew with each program, that of getrusage() with the parent's. */
static double cmd_translate_peak_rss_mb(void)
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

static void print_stats(struct run *r)
{
    static const char *const shown[] = { "threads", "beam", "batch" };
    struct textbuf t = { 0 };

    textbuf_addf(&t, "{\"lines\":%llu,\"sentences\":%llu,\"tokens\":%llu",
                 (unsigned long long)r->out.lines,
                 (unsigned long long)r->sentences,
                 (unsigned long long)r->tokens);
    textbuf_addf(&t, ",\"load_seconds\":%.3f,\"decode_seconds\":%.3f",
                 r->load_seconds, writer_busy_seconds(&r->out));
    textbuf_addf(&t, ",\"peak_rss_mb\":%.1f", cmd_translate_peak_rss_mb());
    textbuf_add(&t, r->work.data, r->work.len);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        jput_key(&t, shown[i]);
        textbuf_adds(&t, option(r->job, shown[i]));
    }
    jput_key(&t, "isa");
    jput_text(&t, skmt_isa());
    jput_key(&t, "cpu");
    jput_text(&t, skmt_cpu());
    textbuf_adds(&t, "}\n");
    if (!t.failed) fwrite(t.data, 1, t.len, stderr);
    textbuf_release(&t);
}

/* While the stream is still there. */
static void note_work(struct run *r)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_stream_stat(r->stream, i, &n)); i++)
        textbuf_addf(&r->work, ",\"%s\":%lld", name, (long long)n);
    for (int i = 0; r->job->steering->keys
         && (name = skmt_keys_stat(r->job->steering->keys, i, &n)); i++)
        textbuf_addf(&r->work, ",\"keys_%s\":%lld", name, (long long)n);
}

/* ---- putting it together ---------------------------------------------- */

static int cmd_translate_finish(struct run *r)
{
    struct result_writer *w = &r->out;
    skmt_error err;
    uint64_t texts;

    if (writer_status(w) || interrupt_signal()) skmt_stream_cancel(r->stream);
    skmt_stream_counts(r->stream, &texts, &r->sentences, &r->tokens);
    /* While workers are being stopped they still count. */
    if (r->job->stats && !writer_status(w) && !interrupt_signal())
        note_work(r);
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

/* An explanation without a memory is asked for by mistake, most likely. */
static void warn_no_memory(const struct translate_job *j)
{
    if (!(j->explain || j->html) || j->steering->memory || j->pairs) return;
    complain(0, "%s: there is no memory to explain (see --memory); the model "
             "alone translates", j->explain ? "--explain" : "--html");
}

static int cmd_translate_translate(struct run *r)
{
    const struct translate_job *j = r->job;
    skmt_error err;
    const char *path;
    struct stat file;
    uint64_t total;
    double begin;
    int status;

    if ((status = cmd_translate_check_files(j, &total))) return status;
    if (!interrupt_start()) return complain(EXIT_TROUBLE, "no more threads");
    check_isa();
    begin = wall_seconds();
    if ((status = model_find(&r->model, j->model, &path))) return status;
    if (!stat(path, &file) &&
        (status = cmd_translate_check_apart(j, &file, "model")))
        return status;
    r->load_seconds = wall_seconds() - begin;
    if (skmt_stream_new(&r->stream, r->model, j->options, writer_result,
                        &r->out, &err))
        return complain(err.status == SKMT_ARGUMENT ? EXIT_USAGE
                                                    : EXIT_TROUBLE,
                        "%s%s", err.status == SKMT_ARGUMENT ? "--" : "",
                        err.message);
    if ((status = steering_open(j->steering, r->model, j->options,
                                SKMT_TM_READ, j->quiet)))
        return status;
    if ((j->steering->tm || j->steering->keys)
        && skmt_stream_use(r->stream, j->steering->tm, j->steering->keys,
                           &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    warn_no_memory(j);
    /* Only now: a mistake in the options must not empty an old output. */
    if ((status = prepare_output(r))) return status;

    progress_begin(&r->out.progress, "lines", total,
                   !j->quiet && !isatty(r->out.fd));
    lines_open(&r->in, j->files, j->n_files, interrupt_fd());
    lines_open(&r->prefixes, &j->prefix_file, 1, interrupt_fd());
    if (j->pairs) pair_lines_open(&r->pairs, &j->pairs, interrupt_fd());
    interrupt_stream(r->stream);
    read_and_push(r);
    return cmd_translate_finish(r);
}

static int run_job(const struct translate_job *j)
{
    struct run r = { .job = j };
    int status;

    writer_init(&r.out);
    r.out.fd = -1;
    status = cmd_translate_translate(&r);
    interrupt_stream(NULL);
    skmt_stream_free(r.stream);
    steering_close(j->steering);
    skmt_model_close(r.model);
    if (j->pairs) pair_lines_close(&r.pairs);
    lines_close(&r.in);
    lines_close(&r.prefixes);
    html_close(&r.html, &(skmt_error){ 0 });
    writer_release(&r.out);
    textbuf_release(&r.work);
    return status;
}

int cmd_translate(int argc, char **argv)
{
    struct steering steering = { 0 };
    struct translate_job j = { .steering = &steering };
    int status;

    j.files = calloc((size_t)argc + 1, sizeof *j.files);
    j.options = skmt_options_new();
    if (!j.files || !j.options)
        status = complain(EXIT_TROUBLE, "out of memory");
    else if (!(status = cmd_translate_parse(&j, argc, argv)))
        status = j.help ? help_command("translate") : run_job(&j);
    skmt_options_free(j.options);
    free(steering.names);
    free(j.files);
    return status;
}
