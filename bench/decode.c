/* decode.c - measures the speed of translation through the public API.
 *
 *     decode MODEL FILE [--beam N] [--batch N] [--threads N] [--reps N]
 *                       [--sentences N] [--set OPTION=VALUE] ...
 *     decode MODEL FILE --pieces      print the source pieces of each line
 *     decode --isa                    print the instruction set in use
 *     decode --cpu                    print the name of the processor
 *
 * Prints one line of JSON with the same keys as ct2bench, the program that
 * measures CTranslate2 (../shared/peers/ct2bench), and cpu_seconds, the least
 * CPU time of a repetition. As there, opening the model is not timed, each
 * worker first translates one batch untimed, and EOS is not counted as an
 * output token. Unlike there, tokenization and detokenization are timed. Lines
 * are not split into sentences. bench/run makes the tables. */
#include <skmt.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_LINES = 10000, MAX_REPS = 100 };

struct bench {
    const char *model_path, *text_path;
    int reps, batch, threads, beam;
    size_t n_sentences;                 /* limit; 0 for all lines */
    skmt_options *options;
    char *lines[MAX_LINES];
    size_t n_lines;
    skmt_model *model;
    skmt_stream *stream;
    double load_seconds;
    double seconds[MAX_REPS];           /* sorted after the measurement */
    double cpu_seconds;                 /* the least of the repetitions */
    long tokens;                        /* of the current repetition */
    bool print_pieces;                  /* print pieces, measure nothing */
};

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "decode: %s\n", what);
    exit(2);
}

static void check(skmt_status st, const skmt_error *e)
{
    if (st) die(e->message);
}

static double clock_now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return clock_now(CLOCK_MONOTONIC); }

/* Returns the peak resident memory of this process, as the system counts it.
 * It includes the pages of the mapped model. */
static double peak_rss_mb(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kb = 0;

    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6)) kb = atof(line + 6);
    if (f) fclose(f);
    return kb / 1024;
}

/* ---- command line and text -------------------------------------------- */

static int number(const char *s)
{
    int n = atoi(s);

    if (n < 1) die("the numbers must be positive");
    return n;
}

static void set(struct bench *b, const char *name, const char *value)
{
    skmt_error e;

    check(skmt_options_set(b->options, name, value, &e), &e);
}

static void set_pair(struct bench *b, char *pair)
{
    char *equals = strchr(pair, '=');

    if (!equals) die("the value of --set must be OPTION=VALUE");
    *equals = '\0';
    set(b, pair, equals + 1);
}

static void option(struct bench *b, const char *name, char *value)
{
    if (!value) die("the last option has no value");
    if (!strcmp(name, "--beam")) b->beam = number(value);
    else if (!strcmp(name, "--batch")) b->batch = number(value);
    else if (!strcmp(name, "--threads")) b->threads = number(value);
    else if (!strcmp(name, "--reps")) b->reps = number(value);
    else if (!strcmp(name, "--sentences"))
        b->n_sentences = (size_t)number(value);
    else if (!strcmp(name, "--set")) { set_pair(b, value); return; }
    else die("unknown option; the first comment of bench/decode.c lists them");
    if (b->reps > MAX_REPS) die("--reps is 100 at most");
    /* the others are options of the engine too */
    if (strcmp(name, "--reps") && strcmp(name, "--sentences"))
        set(b, name + 2, value);
}

static void parse(struct bench *b, int argc, char **argv)
{
    const char **files[] = { &b->model_path, &b->text_path };
    size_t n = 0;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--isa")) { puts(skmt_isa()); exit(0); }
        if (!strcmp(argv[i], "--cpu")) { puts(skmt_cpu()); exit(0); }
        if (!strcmp(argv[i], "--pieces")) b->print_pieces = true;
        else if (argv[i][0] == '-') {
            option(b, argv[i], argv[i + 1]);
            i++;
        } else if (n < 2) *files[n++] = argv[i];
        else die("too many files");
    }
    if (n < 2) die("usage: decode MODEL FILE [options]");
}

static void read_lines(struct bench *b)
{
    FILE *f = fopen(b->text_path, "r");
    size_t cap = 0;
    ssize_t len;

    if (!f) die("cannot open FILE");
    while (b->n_lines < MAX_LINES
           && (!b->n_sentences || b->n_lines < b->n_sentences)
           && (len = getline(&b->lines[b->n_lines], &cap, f)) > 0) {
        b->lines[b->n_lines][strcspn(b->lines[b->n_lines], "\n")] = '\0';
        b->n_lines++;
        cap = 0;
    }
    fclose(f);
    if (!b->n_lines) die("FILE is empty");
}

/* ---- running ---------------------------------------------------------- */

static void print_pieces(const skmt_result *r)
{
    skmt_piece p = SKMT_INIT(skmt_piece);

    for (int s = 0; s < skmt_result_sentences(r); s++)
        for (int i = 0; i < skmt_result_source_pieces(r, s); i++) {
            skmt_result_source_piece(r, s, i, &p);
            printf("%s%s", s + i ? " " : "", p.text);
        }
    putchar('\n');
}

static int delivered(void *user, uint64_t line, skmt_result *r,
                     const skmt_error *e)
{
    struct bench *b = user;
    skmt_piece p = SKMT_INIT(skmt_piece);

    (void)line;
    if (!r) die(e->message);
    if (b->print_pieces) print_pieces(r);
    for (int s = 0; s < skmt_result_sentences(r); s++) {
        int n = skmt_result_target_pieces(r, 0, s);

        b->tokens += n;
        if (!n) continue;
        skmt_result_target_piece(r, 0, s, n - 1, &p);
        b->tokens -= !strcmp(p.text, "</s>");
    }
    return 0;
}

static double translate(struct bench *b, size_t n)
{
    double begin = now();
    skmt_error e;

    b->tokens = 0;
    for (size_t i = 0; i < n; i++)
        check(skmt_stream_push(b->stream, b->lines[i], NULL, &e), &e);
    check(skmt_stream_flush(b->stream, &e), &e);
    return now() - begin;
}

static void open_all(struct bench *b)
{
    double begin = now();
    skmt_error e;

    check(skmt_model_open(&b->model, b->model_path, &e), &e);
    b->load_seconds = now() - begin;
    check(skmt_stream_new(&b->stream, b->model, b->options, delivered, b, &e),
          &e);
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static void measure(struct bench *b)
{
    size_t warm = (size_t)b->batch * (size_t)b->threads;

    translate(b, warm < b->n_lines ? warm : b->n_lines);
    for (int i = 0; i < b->reps; i++) {
        double cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);

        b->seconds[i] = translate(b, b->n_lines);
        cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        if (!i || cpu < b->cpu_seconds) b->cpu_seconds = cpu;
    }
    qsort(b->seconds, (size_t)b->reps, sizeof *b->seconds, by_value);
}

static void report(const struct bench *b)
{
    double best = b->seconds[0];
    double median = (b->seconds[(b->reps - 1) / 2]
                     + b->seconds[b->reps / 2]) / 2;

    printf("{\"engine\":\"skmt\",\"version\":\"%s\",\"isa\":\"%s\","
           "\"compute_type\":\"%s\",\"beam\":%d,\"batch\":%d,"
           "\"threads\":%d,\"sentences\":%zu,\"output_tokens\":%ld,"
           "\"seconds_best\":%.4f,\"seconds_median\":%.4f,"
           "\"cpu_seconds\":%.4f,\"tokens_per_second\":%.1f,"
           "\"load_seconds\":%.3f,\"max_rss_mb\":%.1f}\n",
           skmt_version(), skmt_isa(), skmt_model_get(b->model, "type"),
           b->beam, b->batch, b->threads, b->n_lines, b->tokens, best, median,
           b->cpu_seconds, (double)b->tokens / best, b->load_seconds,
           peak_rss_mb());
}

int main(int argc, char **argv)
{
    static struct bench b = { .reps = 3, .batch = 16, .threads = 1,
                              .beam = 1 };

    if (skmt_options_new(&b.options, NULL)) die("out of memory");
    set(&b, "beam", "1");
    set(&b, "split", "none");
    parse(&b, argc, argv);
    read_lines(&b);
    open_all(&b);
    if (b.print_pieces) {
        translate(&b, b.n_lines);
    } else {
        measure(&b);
        report(&b);
    }
    skmt_stream_free(b.stream);
    skmt_model_close(b.model);
    skmt_options_free(b.options);
    for (size_t i = 0; i < b.n_lines; i++) free(b.lines[i]);
    return 0;
}
