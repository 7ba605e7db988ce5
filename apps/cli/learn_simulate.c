/* learn_simulate.c - skmt learn --simulate: measures how much learning from
 * corrections improves translations, with references as the corrections.
 *
 * This is the protocol of the paper's online experiments: a document begins
 * with an empty memory. Each of its sentences is translated with the memory,
 * then its reference is added, as if a translator had corrected the output.
 *
 * The matches of a sentence depend only on references, and a stream searches
 * when a text is pushed. Therefore the next sentences can be pushed while
 * earlier ones are still being translated, many at a time, and the result is
 * the same as for one after the other.
 *
 * With --adapt, a training takes place after every N lines of a document that
 * were stored, when all lines before are translated. It learns from the memory
 * of the document. The next document begins with the network of the options.
 *
 * With systems kok and vanilla there is no memory: the corrections so far
 * (skmt_corrections) are emptied before each document.
 *
 * The memories, one for each document, and the lines to be scored are in a
 * temporary folder, which is removed at the end. */
#include <assert.h>
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
#include "common/interrupt.h"
#include "common/utf8_scan.h"
#include "learn_call.h"
#include "result_writer.h"

/* Files in the folder. The printed table shows the last two names. */
#define MEMORY_FILE "memory.tm"
#define DOCS_FILE "docs.tsv"
#define LEARNED_FILE "learned"
#define MODEL_ONLY_FILE "model"

struct pair_line { size_t source, reference; };         /* offsets in text */
struct doc { size_t name, first; };     /* offset in text; first line */

struct simulation {
    struct learn_call *c;
    struct textbuf text;        /* all columns, each with a NUL */
    struct pair_line *lines;    /* [n_lines] */
    struct doc *docs;           /* [n_docs] with ascending first */
    size_t n_lines, cap_lines, n_docs, cap_docs;
    uint64_t n_translated;      /* lines, in both rounds */

    char *folder;               /* NULL if not created yet */
    skmt_tm *tm;
    skmt_keys *keys;            /* NULL without --adapt */
    skmt_stream *stream;
    char *memory_path;
    char *first_preset, *first_network; /* options at the beginning of each
                                           document */
    bool is_adapted;            /* the document uses a network of its own */
    uint64_t n_stored;          /* lines of the document stored so far */
    uint64_t n_new_networks;    /* of all c->n_trainings */
    struct result_writer scored;        /* writes to a file of the folder */
    struct result_writer out;   /* writes to --output */
    bool to_output;             /* in this round */
    char message[700];          /* an error that occurred during a stream */
};

static int simulate_out_of_memory(void)
{
    return complain(EXIT_TROUBLE, "out of memory");
}

/* ---- the table ---------------------------------------------------------- */

/* Make room for one more item. Returns false if out of memory. */
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

/* Copy a text to s->text and return its offset. */
static size_t simulate_copy(struct simulation *s, const char *text, size_t len)
{
    size_t at = s->text.len;

    textbuf_add(&s->text, text, len);
    textbuf_add(&s->text, "", 1);
    return at;
}

static const char *text_at(const struct simulation *s, size_t offset)
{
    assert(offset < s->text.len);
    return s->text.data + offset;
}

static bool learn_simulate_same_document(const struct simulation *s,
                                         const char *name, size_t len)
{
    const char *last = s->n_docs
                           ? text_at(s, s->docs[s->n_docs - 1].name) : NULL;

    return last && strlen(last) == len && !memcmp(last, name, len);
}

static int add_table_line(struct simulation *s, const struct input_line *line,
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
            return simulate_out_of_memory();
        s->docs[s->n_docs++] = (struct doc){
            simulate_copy(s, line->text, name_len), s->n_lines };
    }
    if (!learn_simulate_make_room(&s->lines, s->n_lines, &s->cap_lines,
                                  sizeof *s->lines))
        return simulate_out_of_memory();
    s->lines[s->n_lines++] = (struct pair_line){
        simulate_copy(s, source, source_len),
        simulate_copy(s, reference, (size_t)(end - reference)) };
    if (!s->text.failed) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s", textbuf_why(&s->text));
}

static int parse_table_line(struct simulation *s,
                            const struct input_line *line)
{
    const char *source = memchr(line->text, '\t', line->len);
    const char *reference = source
        ? memchr(source + 1, '\t',
                 line->len - (size_t)(source + 1 - line->text)) : NULL;

    if (memchr(line->text, 0, line->len))
        return learn_bad_line(s->c, line, "the line contains a NUL byte");
    if (utf8_first_bad(line->text, line->len) < line->len)
        return learn_bad_line(s->c, line, "the line is not valid UTF-8");
    if (!reference)
        return learn_bad_line(s->c, line, "expected three columns separated "
                              "by tabs: document, source, reference");
    if (source == line->text)
        return learn_bad_line(s->c, line, "the first column, the name of the "
                              "document, is empty");
    return add_table_line(s, line, source + 1, reference + 1);
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
        line.text = (char *)text;       /* not written to */
        line.number++;
        if ((status = parse_table_line(s, &line))) return status;
    }
}

static const char *sort_text;   /* for the comparison function of qsort */

static int learn_simulate_by_name(const void *a, const void *b)
{
    const struct doc *left = a, *right = b;
    int order = strcmp(sort_text + left->name, sort_text + right->name);

    if (order) return order;
    return (left->first > right->first) - (left->first < right->first);
}

/* Check that the lines of each document are consecutive. Otherwise the second
 * part of a document would begin with an empty memory. */
static int learn_simulate_check_documents(const struct simulation *s)
{
    struct doc *all = malloc(s->n_docs * sizeof *all);
    int status = EXIT_DONE;

    if (!all) return simulate_out_of_memory();
    memcpy(all, s->docs, s->n_docs * sizeof *all);
    sort_text = s->text.data;
    qsort(all, s->n_docs, sizeof *all, learn_simulate_by_name);
    for (size_t i = 1; !status && i < s->n_docs; i++) {
        if (strcmp(text_at(s, all[i].name), text_at(s, all[i - 1].name)))
            continue;
        fprintf(stderr, "%s:%zu: this line belongs to the document of line "
                "%zu; the lines of a document must be consecutive\n",
                s->c->simulate, all[i].first + 1, all[i - 1].first + 1);
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
        status = complain(EXIT_TROUBLE, "%s is empty", s->c->simulate);
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
    full = realpath(in, NULL);          /* print_scores() changes directory */
    s->folder = full ? path_in(full, "skmt-learn-XXXXXX") : NULL;
    free(full);
    if (s->folder && mkdtemp(s->folder)) return EXIT_DONE;
    complain(0, "%s: %s", in, strerror(errno));
    free(s->folder);
    s->folder = NULL;
    return EXIT_TROUBLE;
}

/* Remove a folder and its contents. Errors are ignored. */
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

/* Create a file in the folder. Returns NULL on failure, after printing an
 * error. */
static FILE *create_file(struct simulation *s, const char *name)
{
    char *path = path_in(s->folder, name);
    FILE *f = path ? fopen(path, "we") : NULL;

    if (!path) simulate_out_of_memory();
    else if (!f) complain(0, "%s: %s", path, strerror(errno));
    free(path);
    return f;
}

/* Write the table for "skmt score": documents and references, no sources. */
static int write_docs(struct simulation *s)
{
    FILE *f = create_file(s, DOCS_FILE);
    size_t doc = 0;
    bool bad;

    if (!f) return EXIT_TROUBLE;
    for (size_t i = 0; i < s->n_lines; i++) {
        if (doc < s->n_docs && s->docs[doc].first == i) doc++;
        fprintf(f, "%zu\t\t%s\n", doc, text_at(s, s->lines[i].reference));
    }
    bad = ferror(f);
    if (fclose(f) || bad)
        return complain(EXIT_TROUBLE, "%s: %s", s->folder, strerror(errno));
    return EXIT_DONE;
}

static int learn_simulate_open_memory(struct simulation *s)
{
    skmt_error err;

    s->memory_path = path_in(s->folder, MEMORY_FILE);
    if (!s->memory_path) return simulate_out_of_memory();
    if (skmt_tm_open(&s->tm, s->memory_path, SKMT_TM_CREATE, &err))
        return learn_failed(s->c, &err);
    skmt_tm_set_relaxed(s->tm, 1);
    return EXIT_DONE;
}

/* ---- translating -------------------------------------------------------- */

/* The callback of the stream: write a result to the file to be scored and to
 * the output. */
static int simulate_result(void *user, uint64_t number, skmt_result *r,
                           const skmt_error *err)
{
    struct simulation *s = user;
    int stop = writer_result(&s->scored, number, r, err);

    if (!stop && s->to_output) stop = writer_result(&s->out, number, r, err);
    s->n_translated++;
    progress_update(&s->c->progress, s->n_translated, s->n_translated);
    return stop;
}

/* Keep an error until the stream's thread no longer writes. */
static int learn_simulate_failed(struct simulation *s, const skmt_error *err)
{
    /* After a cancel, the callback or a signal has the reason. */
    if (err->status != SKMT_ERR_CANCELED)
        snprintf(s->message, sizeof s->message, "skmt: %s", err->message);
    return err->status == SKMT_ERR_ARGUMENT ? EXIT_USAGE : EXIT_TROUBLE;
}

static int learn_simulate_line_failed(struct simulation *s,
                                      const struct input_line *line,
                                      const skmt_error *err)
{
    if (err->status != SKMT_ERR_TEXT && err->status != SKMT_ERR_LIMIT)
        return learn_simulate_failed(s, err);
    snprintf(s->message, sizeof s->message, "%s:%llu: %s", line->file,
             (unsigned long long)line->number, err->message);
    return EXIT_TROUBLE;
}

/* ---- streams ------------------------------------------------------------ */

static void close_stream(struct simulation *s)
{
    interrupt_stream(NULL);
    skmt_stream_free(s->stream);
    s->stream = NULL;
}

/* Begin a stream with the present options. If this fails, s->stream may be
 * NULL. */
static skmt_status open_stream(struct simulation *s, bool with_memory,
                               skmt_error *err)
{
    skmt_status st;

    if (s->stream) close_stream(s);
    st = skmt_stream_new(&s->stream, s->c->model, s->c->options,
                         simulate_result, s, err);
    if (st) return st;
    interrupt_stream(s->stream);
    if (!with_memory) return SKMT_OK;
    return s->c->online
               ? skmt_stream_use_corrections(s->stream, s->c->online, err)
               : skmt_stream_use(s->stream, s->tm, s->keys, err);
}

/* ---- training again ----------------------------------------------------- */

static int simulate_adapt_begin(struct simulation *s)
{
    struct learn_call *c = s->c;
    struct adapt_setup setup = { .model = c->model,
                                 .memory = s->memory_path };
    skmt_error err;

    if (!c->wants_adapt) return EXIT_DONE;
    s->first_preset = strdup(skmt_options_get(c->options, "preset"));
    s->first_network = strdup(skmt_options_get(c->options, "trust"));
    if (!s->first_preset || !s->first_network) return simulate_out_of_memory();
    if (skmt_keys_new(&s->keys, c->model, c->options, NULL, &err))
        return learn_failed(c, &err);
    setup.keys = s->keys;
    return adapt_new(&c->adapt, &setup, &err) ? learn_failed(c, &err)
                                              : EXIT_DONE;
}

static void simulate_adapt_end(struct simulation *s, int status)
{
    struct learn_call *c = s->c;

    if (!status && c->wants_adapt && !c->quiet)
        complain(0, "trainings: %llu, better networks: %llu",
                 (unsigned long long)c->n_trainings,
                 (unsigned long long)s->n_new_networks);
    adapt_free(c->adapt);
    c->adapt = NULL;
    skmt_keys_free(s->keys);
    s->keys = NULL;
}

/* Use the result of a training. */
static skmt_status simulate_use(struct simulation *s,
                                const struct adapt_result *r, skmt_error *err)
{
    skmt_status st;

    if (r->outcome == ADAPT_FAILED || r->outcome == ADAPT_CANCELED) {
        *err = r->error;
        return r->error.status;
    }
    if (!r->network) return SKMT_OK;
    s->n_new_networks++;
    s->is_adapted = true;
    st = learn_adapt_use(s->c, r->network, err);
    return st ? st : open_stream(s, true, err);
}

/* Wait for the lines before, and train. memory: that of the document. */
static int simulate_train(struct simulation *s, const char *memory)
{
    struct adapt_task task = { .options = s->c->options, .names = &memory,
                               .n_names = 1, .newest_of = memory,
                               .n_newest = (size_t)s->n_stored,
                               .seed = s->n_stored
                                       / (uint64_t)s->c->adapt_every };
    struct adapt_result r = { .network = NULL };
    skmt_error err;
    skmt_status st = skmt_stream_flush(s->stream, &err);

    if (!st) st = adapt_start(s->c->adapt, &task, &err);
    if (!st && adapt_take(s->c->adapt, &r)) st = simulate_use(s, &r, &err);
    adapt_result_release(&r);
    s->c->n_trainings++;
    return st ? learn_simulate_failed(s, &err) : EXIT_DONE;
}

static int simulate_stored(struct simulation *s, const char *memory)
{
    s->n_stored++;
    if (!s->c->adapt || s->n_stored % (uint64_t)s->c->adapt_every)
        return EXIT_DONE;
    return simulate_train(s, memory);
}

/* Go back to the network that each document begins with. */
static int forget_network(struct simulation *s)
{
    skmt_options *o = s->c->options;
    skmt_error err;
    skmt_status st = SKMT_OK;

    s->n_stored = 0;
    if (!s->is_adapted) return EXIT_DONE;
    s->is_adapted = false;
    st = skmt_stream_flush(s->stream, &err);
    if (!st) st = skmt_options_set(o, "trust", s->first_network, &err);
    if (!st) st = skmt_options_set(o, "preset", s->first_preset, &err);
    if (!st) st = open_stream(s, true, &err);
    return st ? learn_simulate_failed(s, &err) : EXIT_DONE;
}

/* ---- lines -------------------------------------------------------------- */

/* Push line i and then store its reference in a memory. memory: its name; NULL
 * to store nothing. */
static int learn_simulate_push_line(struct simulation *s, size_t i,
                                    const char *memory)
{
    const char *source = text_at(s, s->lines[i].source);
    const char *reference = text_at(s, s->lines[i].reference);
    struct input_line line = { .file = s->c->simulate,
                               .number = i + 1,
                               .bytes = 1 };
    skmt_error err = { .status = SKMT_ERR_NOMEM, .message = "out of memory" };

    if (!writer_expect(&s->scored, &line)
        || (s->to_output && !writer_expect(&s->out, &line))
        || skmt_stream_push(s->stream, source, NULL, &err))
        return learn_simulate_failed(s, &err);
    if (!memory || !*source || !*reference) return EXIT_DONE;
    if (s->c->online
            ? skmt_corrections_add(s->c->online, source, reference, &err)
            : skmt_tm_add(s->tm, memory, source, reference, NULL, &err))
        return learn_simulate_line_failed(s, &line, &err);
    return simulate_stored(s, memory);
}

/* Create an empty memory for a document and search only that one, or forget the
 * corrections so far. Lines that were pushed keep what they began with. */
static int begin_document(struct simulation *s, const char *memory)
{
    skmt_tm_info settings = { .size = sizeof settings, .name = memory };
    skmt_error err;

    if (s->c->online)
        return skmt_corrections_reset(s->c->online, &err)
                   ? learn_simulate_failed(s, &err) : EXIT_DONE;
    if (!skmt_tm_create(s->tm, &settings, &err)
        && !skmt_tm_use(s->tm, &memory, 1, &err)) return forget_network(s);
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

    if (open_stream(s, with_memory, &err))
        return learn_simulate_failed(s, &err);
    for (size_t d = 0; !status && d < s->n_docs; d++)
        status = push_document(s, d, with_memory);
    if (!status && skmt_stream_flush(s->stream, &err))
        status = learn_simulate_failed(s, &err);
    if (status && s->stream) skmt_stream_cancel(s->stream);
    if (s->stream) skmt_stream_flush(s->stream, NULL);
    return status;              /* no callback runs after this */
}

/* Print the error of a round. If there are several, they are consequences of
 * the first one, which the writers know. */
static int report_round(struct simulation *s, int status)
{
    const struct result_writer *w = s->scored.status ? &s->scored : &s->out;
    const char *message = w->status ? w->message : s->message;

    if (interrupt_signal()) return EXIT_SIGNAL + interrupt_signal();
    progress_end(&s->c->progress);
    if (message[0]) fprintf(stderr, "%s\n", message);
    return w->status ? w->status : status;
}

/* Translate every line once, with or without memories, into a file. */
static int run_round(struct simulation *s, const char *file, bool with_memory)
{
    FILE *f = create_file(s, file);
    int status;

    if (!f) return EXIT_TROUBLE;
    s->scored.fd = fileno(f);
    s->scored.name = s->folder;
    s->to_output = with_memory && s->c->fd >= 0;
    status = report_round(s, learn_simulate_push_all(s, with_memory));
    if (fclose(f) && !status)
        status = complain(EXIT_TROUBLE, "%s: %s", s->folder, strerror(errno));
    return status;
}

/* Translate every line by the model alone. A system that searches corrections
 * is not used for that: it would refuse to translate without them. */
static int run_baseline(struct simulation *s)
{
    skmt_options *o = s->c->options;
    char system[32];
    skmt_error err;
    int status;

    if (!learn_uses_corrections(s->c))
        return run_round(s, MODEL_ONLY_FILE, false);
    snprintf(system, sizeof system, "%s", skmt_options_get(o, "system"));
    if (skmt_options_set(o, "system", "nmt", &err))
        return learn_failed(s->c, &err);
    status = run_round(s, MODEL_ONLY_FILE, false);
    if (skmt_options_set(o, "system", system, &err) && !status)
        status = learn_failed(s->c, &err);
    return status;
}

static int learn_simulate_translate(struct simulation *s)
{
    struct learn_call *c = s->c;
    int status = simulate_adapt_begin(s);
    skmt_error err;

    if (status) return status;
    s->out.fd = c->fd;
    s->out.name = c->fd_name;
    progress_begin(&c->progress, "lines", s->n_lines * (c->baseline ? 2 : 1),
                   !c->quiet && !isatty(c->fd));
    status = c->baseline ? run_baseline(s) : EXIT_DONE;
    if (!status && learn_corrections_begin(c, &err))
        status = learn_failed(c, &err);
    if (!status) status = run_round(s, LEARNED_FILE, true);
    progress_end(&c->progress);
    close_stream(s);
    return status;
}

/* ---- scoring ------------------------------------------------------------ */

/* Run "skmt score" in the folder. Afterwards the directory is the old one
 * again, because --record FILE may be relative to it. */
static int score_in_folder(struct simulation *s, int argc, char **argv)
{
    int old = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), status;

    if (chdir(s->folder))
        status = complain(EXIT_TROUBLE, "%s: %s", s->folder, strerror(errno));
    else
        status = cmd_score(argc, argv);
    if (old >= 0 && fchdir(old) && !status)
        status = complain(EXIT_TROUBLE, "the current directory: %s",
                          strerror(errno));
    if (old >= 0) close(old);
    return status;
}

/* Score the files of the folder. Their names are printed, so the directory is
 * changed to keep them short. */
static int print_scores(struct simulation *s)
{
    char *argv[10] = { "score", "--docs", DOCS_FILE, "--metrics",
                       "bleu,chrf" };
    int argc = 5;

    if (s->c->json) argv[argc++] = "--json";
    if (s->c->baseline) argv[argc++] = MODEL_ONLY_FILE;
    argv[argc++] = LEARNED_FILE;
    if (s->c->fd == STDOUT_FILENO) {
        /* The translations are on standard output, so print on stderr. */
        fflush(stdout);
        if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            return complain(EXIT_TROUBLE, "standard error: %s",
                            strerror(errno));
    }
    return score_in_folder(s, argc, argv);
}

/* ---- the command -------------------------------------------------------- */

static int run_simulation(struct simulation *s)
{
    int status = make_folder(s);

    if (!status) status = write_docs(s);
    if (!status) status = learn_simulate_open_memory(s);
    if (!status) status = learn_simulate_translate(s);
    simulate_adapt_end(s, status);
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
    if (!status) status = run_simulation(&s);
    if (s.folder) remove_folder(s.folder);
    free(s.folder);
    free(s.memory_path);
    free(s.first_preset);
    free(s.first_network);
    writer_release(&s.scored);
    writer_release(&s.out);
    textbuf_release(&s.text);
    free(s.lines);
    free(s.docs);
    return status;
}
