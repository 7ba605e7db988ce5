/* learn_simulate.c - learning from corrections, played with references.
 *
 * The protocol of the paper's online experiments: a document begins with an
 * empty memory; each of its sentences is translated with what is there, then
 * its reference is added as if a translator had put it right.
 *
 * What is found for a sentence depends on the references alone, and a stream
 * searches when a text is pushed: so the next sentences are looked up while
 * those before are still being translated, many together, and the outcome is
 * that of one after the other.
 *
 * The memories, one for each document, and the lines to be scored lie in a
 * folder that is removed at the end. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"
#include "learn_call.h"
#include "result_writer.h"

/* Files of the folder. Those of lines name the rows of the table. */
#define MEMORY_FILE "memory.tm"
#define DOCS_FILE "docs.tsv"
#define LEARNED_FILE "learned"
#define ALONE_FILE "model"

struct pair_line { size_t source, reference; };         /* offsets in text */
struct doc { size_t name, first; };                     /* offset; a line */

struct simulation {
    struct learn_call *c;
    struct textbuf text;        /* all columns, with a NUL each */
    struct pair_line *lines;    /* [n_lines] */
    struct doc *docs;           /* [n_docs] */
    size_t n_lines, cap_lines, n_docs, cap_docs;
    uint64_t done;              /* lines translated, of both rounds */

    char *folder;               /* NULL: none yet */
    skmt_tm *tm;
    skmt_stream *stream;
    struct result_writer scored;  /* to a file of the folder */
    struct result_writer out;   /* what --output asks for */
    bool to_output;
    char message[700];          /* of a failure while the stream works */
};

static int learn_simulate_no_memory(void)
{
    return complain(EXIT_TROUBLE, "out of memory");
}

/* ---- the table ---------------------------------------------------------- */

/* Room for one more; false: no memory. */
static bool learn_simulate_make_room(void *items, size_t n, size_t *cap,
                                     size_t size)
{
    void **p = items;
    size_t more = *cap ? *cap * 2 : 1024;
    void *grown;

    if (n < *cap) return true;
    grown = more > SIZE_MAX / size ? NULL : realloc(*p, more * size);
    if (!grown) return false;
    *p = grown;
    *cap = more;
    return true;
}

static size_t learn_simulate_keep(struct simulation *s, const char *text,
                                  size_t len)
{
    size_t at = s->text.len;

    textbuf_add(&s->text, text, len);
    textbuf_add(&s->text, "", 1);
    return at;
}

static const char *kept(const struct simulation *s, size_t at)
{
    return s->text.data + at;
}

static bool learn_simulate_same_document(const struct simulation *s,
                                         const char *name, size_t len)
{
    const char *last = s->n_docs
                           ? kept(s, s->docs[s->n_docs - 1].name) : NULL;

    return last && strlen(last) == len && !memcmp(last, name, len);
}

static int keep_line(struct simulation *s, const struct input_line *line,
                     const char *source, const char *reference)
{
    size_t name_len = (size_t)(source - 1 - line->text);
    size_t source_len = (size_t)(reference - 1 - source);
    const char *end = memchr(reference, '\t', line->len
                             - (size_t)(reference - line->text));

    if (!end) end = line->text + line->len;
    if (!learn_simulate_same_document(s, line->text, name_len)) {
        if (!learn_simulate_make_room(&s->docs, s->n_docs, &s->cap_docs,
                                      sizeof *s->docs))
            return learn_simulate_no_memory();
        s->docs[s->n_docs++] = (struct doc){
            learn_simulate_keep(s, line->text, name_len), s->n_lines };
    }
    if (!learn_simulate_make_room(&s->lines, s->n_lines, &s->cap_lines,
                                  sizeof *s->lines))
        return learn_simulate_no_memory();
    s->lines[s->n_lines++] = (struct pair_line){
        learn_simulate_keep(s, source, source_len),
        learn_simulate_keep(s, reference, (size_t)(end - reference)) };
    if (!s->text.failed) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s", textbuf_why(&s->text));
}

static int learn_simulate_take_line(struct simulation *s,
                                    const struct input_line *line)
{
    const char *source = memchr(line->text, '\t', line->len);
    const char *reference = source
        ? memchr(source + 1, '\t',
                 line->len - (size_t)(source + 1 - line->text)) : NULL;

    if (memchr(line->text, 0, line->len))
        return learn_bad_line(s->c, line, "has a NUL, which is no text");
    if (utf8_first_bad(line->text, line->len) < line->len)
        return learn_bad_line(s->c, line, "is not valid UTF-8");
    if (!reference)
        return learn_bad_line(s->c, line, "is not three columns between tabs: "
                              "document, source, reference");
    if (source == line->text)
        return learn_bad_line(s->c, line, "the first column, which names the "
                              "document, is empty");
    return keep_line(s, line, source + 1, reference + 1);
}

static int learn_simulate_read_lines(struct simulation *s, skmt_lines *in)
{
    const char *file = s->c->simulate, *text;
    struct input_line line = { .file = strcmp(file, "-") ? file
                                                   : "standard input" };
    skmt_error err;

    for (;;) {
        int status;

        if (skmt_lines_next(in, &text, &line.len, &err))
            return learn_failed(s->c, &err);
        if (!text) return EXIT_DONE;
        line.text = (char *)text;       /* only read from here on */
        line.number++;
        if ((status = learn_simulate_take_line(s, &line))) return status;
    }
}

static const char *sort_text;           /* qsort takes no argument */

static int learn_simulate_by_name(const void *a, const void *b)
{
    const struct doc *x = a, *y = b;
    int order = strcmp(sort_text + x->name, sort_text + y->name);

    return order ? order : (x->first > y->first) - (x->first < y->first);
}

/* A document that goes on after another one would begin with nothing. */
static int learn_simulate_check_documents(const struct simulation *s)
{
    struct doc *all = malloc(s->n_docs * sizeof *all);
    int status = EXIT_DONE;

    if (!all) return learn_simulate_no_memory();
    memcpy(all, s->docs, s->n_docs * sizeof *all);
    sort_text = s->text.data;
    qsort(all, s->n_docs, sizeof *all, learn_simulate_by_name);
    for (size_t i = 1; !status && i < s->n_docs; i++) {
        if (strcmp(kept(s, all[i].name), kept(s, all[i - 1].name))) continue;
        fprintf(stderr, "%s:%zu: the document of line %zu goes on here; the "
                "lines of a document must stand together\n", s->c->simulate,
                all[i].first + 1, all[i - 1].first + 1);
        status = EXIT_TROUBLE;
    }
    free(all);
    return status;
}

static int read_table(struct simulation *s)
{
    skmt_lines *in;
    skmt_error err;
    int status;

    if (skmt_lines_open(&in, s->c->simulate, &err))
        return learn_failed(s->c, &err);
    status = learn_simulate_read_lines(s, in);
    skmt_lines_close(in);
    if (!status && !s->n_lines)
        status = complain(EXIT_TROUBLE, "%s has no lines", s->c->simulate);
    return status ? status : learn_simulate_check_documents(s);
}

/* ---- the folder --------------------------------------------------------- */

static char *path_in(const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = malloc(n);

    if (path) snprintf(path, n, "%s/%s", folder, name);
    return path;
}

static int make_folder(struct simulation *s)
{
    const char *in = getenv("TMPDIR");
    char *full;

    if (!in || !*in) in = "/tmp";
    full = realpath(in, NULL);          /* we go there, for the scores */
    s->folder = full ? path_in(full, "skmt-learn-XXXXXX") : NULL;
    free(full);
    if (s->folder && mkdtemp(s->folder)) return EXIT_DONE;
    complain(0, "%s: %s", in, strerror(errno));
    free(s->folder);
    s->folder = NULL;
    return EXIT_TROUBLE;
}

/* All that is in it, folders too. What does not go away stays. */
static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        char *path;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        path = path_in(folder, entry->d_name);
        if (path && unlink(path) && (errno == EISDIR || errno == EPERM))
            remove_folder(path);
        free(path);
    }
    if (dir) closedir(dir);
    rmdir(folder);
}

/* A file of the folder; NULL: said why. */
static FILE *create_file(struct simulation *s, const char *name)
{
    char *path = path_in(s->folder, name);
    FILE *f = path ? fopen(path, "we") : NULL;

    if (!path) learn_simulate_no_memory();
    else if (!f) complain(0, "%s: %s", path, strerror(errno));
    free(path);
    return f;
}

/* What is scored against: the table again, without its sources. */
static int write_docs(struct simulation *s)
{
    FILE *f = create_file(s, DOCS_FILE);
    size_t doc = 0;
    bool bad;

    if (!f) return EXIT_TROUBLE;
    for (size_t i = 0; i < s->n_lines; i++) {
        if (doc < s->n_docs && s->docs[doc].first == i) doc++;
        fprintf(f, "%zu\t\t%s\n", doc, kept(s, s->lines[i].reference));
    }
    bad = ferror(f);
    if (fclose(f) || bad)
        return complain(EXIT_TROUBLE, "%s: %s", s->folder, strerror(errno));
    return EXIT_DONE;
}

static int learn_simulate_open_memory(struct simulation *s)
{
    char *path = path_in(s->folder, MEMORY_FILE);
    skmt_error err;
    int status = EXIT_DONE;

    if (!path) return learn_simulate_no_memory();
    if (skmt_tm_open(&s->tm, path, SKMT_TM_CREATE, &err))
        status = learn_failed(s->c, &err);
    else
        skmt_tm_relaxed(s->tm, 1);
    free(path);
    return status;
}

/* ---- translating -------------------------------------------------------- */

/* The callback of the stream: to be scored, and to the output. */
static int learn_simulate_take_result(void *user, uint64_t number,
                                      skmt_result *r, const skmt_error *err)
{
    struct simulation *s = user;
    int stop = writer_result(&s->scored, number, r, err);

    if (!stop && s->to_output) stop = writer_result(&s->out, number, r, err);
    s->done++;
    progress_update(&s->c->progress, s->done, s->done);
    return stop;
}

/* Said when nobody writes any more. */
static int learn_simulate_failed(struct simulation *s, const skmt_error *err)
{
    /* The callback, or a signal, knows why. */
    if (err->status != SKMT_CANCELED)
        snprintf(s->message, sizeof s->message, "skmt: %s", err->message);
    return EXIT_TROUBLE;
}

static int learn_simulate_line_failed(struct simulation *s,
                                      const struct input_line *line,
                                      const skmt_error *err)
{
    if (err->status != SKMT_TEXT && err->status != SKMT_LIMIT)
        return learn_simulate_failed(s, err);
    snprintf(s->message, sizeof s->message, "%s:%llu: %s", line->file,
             (unsigned long long)line->number, err->message);
    return EXIT_TROUBLE;
}

/* memory: where the reference goes; NULL: it is forgotten. */
static int learn_simulate_push_line(struct simulation *s, size_t i,
                                    const char *memory)
{
    const char *source = kept(s, s->lines[i].source);
    const char *reference = kept(s, s->lines[i].reference);
    struct input_line line = { .file = s->c->simulate,
                               .number = i + 1,
                               .bytes = 1 };
    skmt_error err = { SKMT_NOMEM, "out of memory" };

    if (!writer_expect(&s->scored, &line)
        || (s->to_output && !writer_expect(&s->out, &line))
        || skmt_stream_push(s->stream, source, strlen(source), NULL, &err))
        return learn_simulate_failed(s, &err);
    if (!memory || !*source || !*reference) return EXIT_DONE;
    if (skmt_tm_add(s->tm, memory, source, reference, NULL, &err))
        return learn_simulate_line_failed(s, &line, &err);
    return EXIT_DONE;
}

/* Its own memory, empty, is the only one that is searched. */
static int begin_document(struct simulation *s, const char *memory)
{
    skmt_tm_info settings = { .name = memory };
    skmt_error err;

    if (!skmt_tm_create(s->tm, &settings, &err)
        && !skmt_tm_use(s->tm, &memory, 1, &err)) return EXIT_DONE;
    return learn_simulate_failed(s, &err);
}

static int push_document(struct simulation *s, size_t doc, bool with_memory)
{
    size_t end = doc + 1 < s->n_docs ? s->docs[doc + 1].first : s->n_lines;
    char memory[32];
    int status;

    snprintf(memory, sizeof memory, "%zu", doc + 1);
    status = with_memory ? begin_document(s, memory) : EXIT_DONE;
    for (size_t i = s->docs[doc].first; !status && i < end; i++)
        status = learn_simulate_push_line(s, i, with_memory ? memory : NULL);
    return status;
}

static int learn_simulate_push_all(struct simulation *s, bool with_memory)
{
    skmt_error err;
    int status = EXIT_DONE;

    if (skmt_stream_use(s->stream, with_memory ? s->tm : NULL, NULL, &err))
        return learn_simulate_failed(s, &err);
    for (size_t d = 0; !status && d < s->n_docs; d++)
        status = push_document(s, d, with_memory);
    if (!status && skmt_stream_flush(s->stream, &err))
        status = learn_simulate_failed(s, &err);
    if (status) skmt_stream_cancel(s->stream);
    skmt_stream_flush(s->stream, NULL); /* no callback runs after this */
    return status;
}

/* One cause may have several consequences; the first tells the story. */
static int learn_simulate_settle(struct simulation *s, int status)
{
    const struct result_writer *w = s->scored.status ? &s->scored : &s->out;
    const char *message = w->status ? w->message : s->message;

    if (interrupt_signal()) return EXIT_SIGNAL + interrupt_signal();
    progress_end(&s->c->progress);
    if (message[0]) fprintf(stderr, "%s\n", message);
    return w->status ? w->status : status;
}

/* Every line once, into a file of the folder. */
static int run_round(struct simulation *s, const char *file, bool with_memory)
{
    FILE *f = create_file(s, file);
    int status;

    if (!f) return EXIT_TROUBLE;
    s->scored.fd = fileno(f);
    s->scored.name = s->folder;
    s->to_output = with_memory && s->c->fd >= 0;
    status = learn_simulate_settle(s, learn_simulate_push_all(s, with_memory));
    if (fclose(f) && !status)
        status = complain(EXIT_TROUBLE, "%s: %s", s->folder, strerror(errno));
    return status;
}

static int learn_simulate_translate(struct simulation *s)
{
    struct learn_call *c = s->c;
    skmt_error err;
    int status;

    if (skmt_stream_new(&s->stream, c->model, c->options,
                        learn_simulate_take_result, s, &err))
        return learn_failed(c, &err);
    interrupt_stream(s->stream);
    s->out.fd = c->fd;
    s->out.name = c->fd_name;
    progress_begin(&c->progress, "lines", s->n_lines * (c->baseline ? 2 : 1),
                   !c->quiet && !isatty(c->fd));
    status = c->baseline ? run_round(s, ALONE_FILE, false) : EXIT_DONE;
    if (!status) status = run_round(s, LEARNED_FILE, true);
    progress_end(&c->progress);
    interrupt_stream(NULL);
    skmt_stream_free(s->stream);
    s->stream = NULL;
    return status;
}

/* ---- scoring ------------------------------------------------------------ */

/* As skmt score does: what it prints of the files of the folder is what we
 * want to print. */
static int print_scores(struct simulation *s)
{
    char *argv[10] = { "score", "--docs", DOCS_FILE, "--metrics",
                       "bleu,chrf" };
    int argc = 5;

    if (s->c->json) argv[argc++] = "--json";
    if (s->c->baseline) argv[argc++] = ALONE_FILE;
    argv[argc++] = LEARNED_FILE;
    if (s->c->fd == STDOUT_FILENO) {
        /* The translations have standard output for themselves. */
        fflush(stdout);
        if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            return complain(EXIT_TROUBLE, "standard error: %s",
                            strerror(errno));
    }
    if (chdir(s->folder))
        return complain(EXIT_TROUBLE, "%s: %s", s->folder, strerror(errno));
    return cmd_score(argc, argv);
}

/* ---- putting it together ------------------------------------------------ */

static int simulate(struct simulation *s)
{
    int status = make_folder(s);

    if (!status) status = write_docs(s);
    if (!status) status = learn_simulate_open_memory(s);
    if (!status) status = learn_simulate_translate(s);
    skmt_tm_close(s->tm);
    s->tm = NULL;
    return status ? status : print_scores(s);
}

int learn_simulate(struct learn_call *c)
{
    struct simulation s = { .c = c };
    int status;

    writer_init(&s.scored);
    writer_init(&s.out);
    status = read_table(&s);
    if (!status) status = learn_open_output(c);
    if (!status) status = simulate(&s);
    if (s.folder) remove_folder(s.folder);
    free(s.folder);
    writer_release(&s.scored);
    writer_release(&s.out);
    textbuf_release(&s.text);
    free(s.lines);
    free(s.docs);
    return status;
}
