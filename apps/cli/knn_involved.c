/* knn_involved.c - skmt knn involved: finds the few pairs of a datastore that a
 * translation needs, and writes them as a list for "skmt translate --pairs".
 *
 * Lines are read in groups. A group is pushed to a stream when it is complete,
 * so the callback may look at its texts without a lock. The pairs of a step are
 * those of its neighbors as the explanation of the translation reports them.
 * common/cover.h chooses among them. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cover.h"
#include "common/findmodel.h"
#include "common/interrupt.h"
#include "common/jput.h"
#include "common/lines.h"
#include "common/utf8_scan.h"
#include "help.h"
#include "knn_call.h"

enum { GROUP_LINES = 256 };

struct involved_line { char *text, *file; uint64_t number, bytes; };

struct involved {
    struct knn_call *c;
    skmt_stream *stream;
    struct lines in;
    struct involved_line lines[GROUP_LINES];    /* [n_lines] of the group */
    int n_lines, at;            /* at: the next one to be written */
    int status;                 /* of the callback: an exit status */
    char message[700];          /* its error */
    FILE *out;

    /* The line that is being looked at. */
    skmt_found_pair *pairs;     /* [n_pairs] all different */
    int n_pairs;
    struct cover_use *uses;     /* [n_uses] */
    int n_uses;
    int n_steps;
    int *names;                 /* by pair of a sentence: index in `pairs` */
    int *chosen;
    size_t cap_pairs, cap_uses, cap_names, cap_chosen;

    uint64_t *seen;             /* [n_seen] hashes of pairs of all sets */
    size_t n_seen, cap_seen;
    uint64_t done_lines, done_bytes;
    int64_t steps, covered, neighbors, neighbor_pairs, set_pairs, entries;
    int most;                   /* pairs of the largest set */
};

/* Describe the library's options, except those without effect here. */
int involved_option_describe(int i, skmt_option_info *out)
{
    static const char *const hidden[] = { "explain", "nbest", "attention" };

    for (int k = 0; steered_option_describe(k, out); k++) {
        bool shown = true;

        for (size_t h = 0; h < sizeof hidden / sizeof *hidden; h++)
            if (!strcmp(out->name, hidden[h])) shown = false;
        if (shown && !i--) return 1;
    }
    return 0;
}

/* Make room for n items of `size` bytes in *list. */
static bool involved_reserve(void *list, size_t *cap, size_t n, size_t size)
{
    void *old, *grown;
    size_t want = 2 * *cap + 64;

    if (n <= *cap) return true;
    if (want < n) want = n;
    memcpy(&old, list, sizeof old);
    grown = realloc(old, want * size);
    if (!grown) return false;
    memcpy(list, &grown, sizeof grown);
    *cap = want;
    return true;
}

/* ---- the neighbors of a line -------------------------------------------- */

/* Set names[] of a sentence. A pair may have another index in each sentence of
 * the line; a datastore has each text once. */
static bool name_pairs(struct involved *v, const skmt_result *r, int sentence)
{
    int n = skmt_result_pairs(r, sentence), before = v->n_pairs;

    if (!involved_reserve(&v->names, &v->cap_names, (size_t)n,
                          sizeof *v->names) ||
        !involved_reserve(&v->pairs, &v->cap_pairs, (size_t)(before + n),
                          sizeof *v->pairs))
        return false;
    for (int i = 0; i < n; i++) {
        skmt_found_pair *p = &v->pairs[v->n_pairs];
        int at = 0;

        *p = SKMT_INIT(skmt_found_pair);
        skmt_result_pair(r, sentence, i, p);
        while (at < before && (v->pairs[at].id != p->id ||
                               strcmp(v->pairs[at].source, p->source) ||
                               strcmp(v->pairs[at].target, p->target))) at++;
        v->names[i] = at < before ? at : v->n_pairs++;
    }
    return true;
}

/* Add the neighbors of a step. */
static bool add_step(struct involved *v, const skmt_result *r, int sentence,
                     int step)
{
    int n, n_names = skmt_result_pairs(r, sentence);

    skmt_result_weight(r, 0, sentence, step, &n);
    if (!involved_reserve(&v->uses, &v->cap_uses, (size_t)(v->n_uses + n),
                          sizeof *v->uses))
        return false;
    v->covered += n > 0;
    for (int k = 0; k < n; k++) {
        skmt_vote vote = SKMT_INIT(skmt_vote);

        skmt_result_vote(r, 0, sentence, step, k, &vote);
        if (vote.pair < 0 || vote.pair >= n_names) continue;
        v->uses[v->n_uses++] = (struct cover_use){ v->n_steps,
                                                   v->names[vote.pair] };
    }
    v->n_steps++;
    return true;
}

static bool add_neighbors(struct involved *v, const skmt_result *r)
{
    v->n_pairs = v->n_uses = v->n_steps = 0;
    for (int s = 0; s < skmt_result_sentences(r); s++) {
        int n = skmt_result_target_pieces(r, 0, s);

        if (!name_pairs(v, r, s)) return false;
        for (int i = 0; i < n; i++)
            if (!add_step(v, r, s, i)) return false;
    }
    v->steps += v->n_steps;
    v->neighbors += v->n_uses;
    v->neighbor_pairs += v->n_pairs;
    return involved_reserve(&v->chosen, &v->cap_chosen, (size_t)v->n_pairs,
                            sizeof *v->chosen);
}

/* ---- writing ------------------------------------------------------------ */

static uint64_t involved_hash(uint64_t h, const char *s)        /* FNV-1a */
{
    do h = (h ^ (unsigned char)*s) * 0x100000001b3;
    while (*s++);
    return h;
}

static bool count_pair(struct involved *v, const skmt_found_pair *p)
{
    if (!involved_reserve(&v->seen, &v->cap_seen, v->n_seen + 1,
                          sizeof *v->seen))
        return false;
    v->seen[v->n_seen++] = involved_hash(involved_hash(0xcbf29ce484222325,
                                                       p->source), p->target);
    v->set_pairs++;
    v->entries += p->entries;
    return true;
}

/* Write {"src": .., "tm": [["source", "target"], ..]}. */
static bool write_set(struct involved *v, const char *src, int n)
{
    struct textbuf *t = &v->c->out;
    bool ok = true;

    textbuf_reset(t);
    jput_object(t);
    jput_text_field(t, "src", src);
    jput_key(t, "tm");
    jput_array(t);
    for (int i = 0; ok && i < n; i++) {
        const skmt_found_pair *p = &v->pairs[v->chosen[i]];

        ok = count_pair(v, p);
        jput_array(t);
        jput_text(t, p->source);
        jput_text(t, p->target);
        jput_array_end(t);
    }
    jput_array_end(t);
    jput_line_end(t);
    if (n > v->most) v->most = n;
    if (!ok || t->failed) return false;
    fwrite(t->data, 1, t->len, v->out);
    return true;
}

/* This is a skmt_stream_fn. */
static int involved_result(void *user, uint64_t number, skmt_result *r,
                           const skmt_error *err)
{
    struct involved *v = user;
    const struct involved_line *line = &v->lines[v->at++];
    bool ok = r != NULL;
    int n = 0;

    (void)number;
    assert(v->at <= v->n_lines);
    if (!r) {
        v->status = EXIT_TROUBLE;
        if (err->status != SKMT_ERR_CANCELED)
            snprintf(v->message, sizeof v->message, "%s:%" PRIu64 ": %s",
                     line->file, line->number, err->message);
        return 1;
    }
    ok = add_neighbors(v, r);
    if (ok) n = cover_greedy(v->uses, v->n_uses, v->n_steps, v->n_pairs,
                             v->chosen);
    ok = ok && n >= 0 && write_set(v, line->text, n);
    if (!ok) snprintf(v->message, sizeof v->message, "skmt: out of memory");
    if (!ok) v->status = EXIT_TROUBLE;
    v->done_bytes += line->bytes;
    progress_update(&v->c->progress, v->done_bytes, ++v->done_lines);
    return !ok;
}

/* ---- reading ------------------------------------------------------------ */

static void involved_forget_lines(struct involved *v)
{
    while (v->n_lines) {
        free(v->lines[--v->n_lines].text);
        free(v->lines[v->n_lines].file);
    }
    v->at = 0;
}

static int involved_add_line(struct involved *v, const struct input_line *in)
{
    struct involved_line *line = &v->lines[v->n_lines];
    size_t bad = utf8_first_bad(in->text, in->len);

    if (bad < in->len || memchr(in->text, 0, in->len)) {
        progress_end(&v->c->progress);
        fprintf(stderr, "%s:%" PRIu64 ": the line is not valid UTF-8\n",
                in->file, in->number);
        return EXIT_TROUBLE;
    }
    *line = (struct involved_line){ strdup(in->text), strdup(in->file),
                                    in->number, in->bytes };
    v->n_lines++;
    if (line->text && line->file) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "out of memory");
}

/* Read the next group. It is empty at the end. */
static int read_group(struct involved *v)
{
    enum lines_state st = LINES_LINE;
    int status = EXIT_DONE;

    involved_forget_lines(v);
    while (!status && v->n_lines < GROUP_LINES) {
        struct input_line line;

        st = lines_next(&v->in, true, &line);
        if (st != LINES_LINE) break;
        status = involved_add_line(v, &line);
    }
    if (!status && st == LINES_FAILED)
        status = complain(EXIT_TROUBLE, "%s", v->in.message);
    if (st == LINES_STOPPED) status = EXIT_SIGNAL + interrupt_signal();
    return status;
}

static int translate_group(struct involved *v)
{
    skmt_error err = { 0 };
    bool ok = true;

    for (int i = 0; ok && i < v->n_lines; i++)
        ok = !skmt_stream_push(v->stream, v->lines[i].text, NULL, &err);
    if (ok) ok = !skmt_stream_flush(v->stream, &err);
    if (ok && !v->status) return EXIT_DONE;
    progress_end(&v->c->progress);
    if (interrupt_signal()) return EXIT_SIGNAL + interrupt_signal();
    fprintf(stderr, "%s\n", v->message[0] ? v->message : err.message);
    return EXIT_TROUBLE;
}

/* ---- statistics --------------------------------------------------------- */

static int by_hash(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int64_t involved_stat(const struct involved *v, const char *wanted)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_datastore_stat(v->c->steering.ds, i, &n)); i++)
        if (!strcmp(name, wanted)) return n;
    return 0;
}

static int64_t count_different(struct involved *v)
{
    int64_t n = 0;

    if (v->n_seen) qsort(v->seen, v->n_seen, sizeof *v->seen, by_hash);
    for (size_t i = 0; i < v->n_seen; i++)
        n += !i || v->seen[i] != v->seen[i - 1];
    return n;
}

static void print_involved(struct involved *v)
{
    struct textbuf *t = &v->c->out;
    double lines = v->done_lines ? (double)v->done_lines : 1;
    int64_t all = involved_stat(v, "pairs"), different = count_different(v);
    double per_line = (double)v->entries / lines;

    textbuf_reset(t);
    jput_object(t);
    jput_int_field(t, "lines", (int64_t)v->done_lines);
    jput_int_field(t, "steps", v->steps);
    jput_int_field(t, "steps_with_neighbors", v->covered);
    jput_number_field(t, "neighbors_per_line", (double)v->neighbors / lines);
    jput_number_field(t, "neighbor_pairs_per_line",
                      (double)v->neighbor_pairs / lines);
    jput_number_field(t, "pairs_per_line", (double)v->set_pairs / lines);
    jput_int_field(t, "most_pairs", v->most);
    jput_number_field(t, "entries_per_line", per_line);
    jput_number_field(t, "f16_bytes_per_line",
                      per_line * 2 * (double)involved_stat(v, "d"));
    jput_int_field(t, "different_pairs", different);
    jput_number_field(t, "share", all ? (double)different / (double)all : 0);
    jput_line_end(t);
    if (!t->failed) fwrite(t->data, 1, t->len, stderr);
}

/* ---- the command -------------------------------------------------------- */

static int check_involved(struct knn_call *c)
{
    static const char *const without[] = { "auto", "nmt", "sk", "learned",
                                           "kok" };
    const char *system = skmt_options_get(c->options, "system");
    skmt_error err;

    if (!c->steering.datastore || !c->steering.datastore[0])
        return complain(EXIT_USAGE, "knn involved needs --datastore STORE; see "
                        "'skmt help knn involved'");
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (!strcmp(system, without[i]))
            return complain(EXIT_USAGE, "knn involved needs a --system that "
                            "searches a datastore, such as vanilla");
    if (skmt_options_set(c->options, "explain", "true", &err))
        return complain(EXIT_USAGE, "--%s", err.message);
    if (!c->n_operands) c->operands[c->n_operands++] = "-";
    return EXIT_DONE;
}

/* Opening the output empties it, so it must not be a file that is read. */
static int check_involved_output(const struct knn_call *c, const char *file,
                                 const char *role)
{
    const char *output = knn_value(c, "output");
    struct stat in, out;

    if (!output || !strcmp(output, "-") || stat(output, &out) ||
        stat(file, &in) || !S_ISREG(in.st_mode) || in.st_dev != out.st_dev ||
        in.st_ino != out.st_ino)
        return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s: cannot be both the %s and the output",
                    output, role);
}

/* *total gets the bytes of the input, 0 if unknown. */
static int check_involved_files(const struct knn_call *c, uint64_t *total)
{
    bool known = true;
    struct stat st;
    int status = check_involved_output(c, c->steering.datastore, "datastore");

    *total = 0;
    for (int i = 0; !status && i < c->n_operands; i++) {
        const char *file = c->operands[i];
        bool standard = !strcmp(file, "-");

        status = check_involved_output(c, file, "input");
        if (!standard && access(file, R_OK))
            return complain(EXIT_TROUBLE, "%s: %s", file, strerror(errno));
        if ((standard ? fstat(STDIN_FILENO, &st) : stat(file, &st)) ||
            !S_ISREG(st.st_mode)) known = false;
        else *total += (uint64_t)st.st_size;
    }
    if (!known) *total = 0;
    return status;
}

static int open_involved(struct involved *v)
{
    struct knn_call *c = v->c;
    const char *output = knn_value(c, "output");
    skmt_error err;
    int status = knn_start(c);

    if (!status)
        status = model_find(&c->model, knn_value(c, "model"), c->options, NULL);
    if (status) return status;
    check_isa();
    if (skmt_stream_new(&v->stream, c->model, c->options, involved_result, v,
                        &err))
        return knn_failed(c, &err);
    status = steering_open(&c->steering, c->model, c->options, SKMT_TM_READ,
                           c->quiet);
    if (status) return status;
    if (skmt_stream_use_datastore(v->stream, c->steering.ds, &err))
        return knn_failed(c, &err);
    v->out = output && strcmp(output, "-") ? fopen(output, "we") : stdout;
    if (v->out) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s: %s", output, strerror(errno));
}

static int run_involved(struct involved *v)
{
    struct knn_call *c = v->c;
    uint64_t total;
    int status = check_involved_files(c, &total);

    if (!status) status = open_involved(v);
    if (status) return status;
    progress_begin(&c->progress, "lines", total,
                   !c->quiet && !isatty(fileno(v->out)));
    lines_open(&v->in, c->operands, c->n_operands, interrupt_fd());
    interrupt_stream(v->stream);
    while (!status && !(status = read_group(v)) && v->n_lines)
        status = translate_group(v);
    progress_end(&c->progress);
    if (!status && (ferror(v->out) || fflush(v->out)))
        status = v->out == stdout       /* main() prints its error */
                 ? EXIT_TROUBLE
                 : complain(EXIT_TROUBLE, "%s: %s", knn_value(c, "output"),
                            strerror(errno));
    if (!status && knn_has_option(c, "stats")) print_involved(v);
    return status;
}

int cmd_knn_involved(struct knn_call *c)
{
    struct involved *v;
    int status = check_involved(c);

    if (status) return status;
    v = calloc(1, sizeof *v);
    if (!v) return complain(EXIT_TROUBLE, "out of memory");
    v->c = c;
    status = run_involved(v);
    interrupt_stream(NULL);
    skmt_stream_free(v->stream);
    lines_close(&v->in);
    involved_forget_lines(v);
    if (v->out && v->out != stdout) fclose(v->out);
    free(v->pairs);
    free(v->uses);
    free(v->names);
    free(v->chosen);
    free(v->seen);
    free(v);
    return status;
}
