/* align_pairs.c - the work of skmt align: reads the pairs of files and of a
 * memory, trains, and writes the links of each pair.
 *
 * With --load, a pair is aligned as soon as it is read. Otherwise all pairs are
 * read first, because they are what the parameters are learned from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align_call.h"
#include "common/interrupt.h"
#include "common/program.h"

/* Pairs between two reports of progress. */
#define PROGRESS_EVERY 256

/* ---- one pair ----------------------------------------------------------- */

/* Whether the texts are needed after the training. */
static bool keeps_texts(const struct align_call *c)
{
    return c->print == ALIGN_PRINT_WORDS || c->print == ALIGN_PRINT_JSON;
}

static void put_size(struct textbuf *t, size_t n)
{
    textbuf_add(t, (const char *)&n, sizeof n);
}

static int keep_texts(struct align_call *c, const struct align_texts *t)
{
    put_size(&c->kept, t->source_len);
    put_size(&c->kept, t->target_len);
    textbuf_add(&c->kept, t->source, t->source_len);
    textbuf_add(&c->kept, t->target, t->target_len);
    if (!c->kept.failed) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "the texts of the pairs: %s",
                    textbuf_why(&c->kept));
}

/* The texts of the next pair, in the order in which they were kept. */
static struct align_texts next_kept(struct align_call *c)
{
    struct align_texts t;
    const char *at = c->kept.data + c->kept_at;

    memcpy(&t.source_len, at, sizeof t.source_len);
    memcpy(&t.target_len, at + sizeof t.source_len, sizeof t.target_len);
    t.source = at + 2 * sizeof(size_t);
    t.target = t.source + t.source_len;
    c->kept_at += 2 * sizeof(size_t) + t.source_len + t.target_len;
    return t;
}

/* Print or compare the links that the aligner has just returned. */
static int align_use_links(struct align_call *c, const skmt_link *links,
                           size_t n, const struct align_texts *t)
{
    skmt_error err;

    if (c->gold && skmt_gold_compare(c->gold, c->aligner, &err))
        return align_failed(c, &err);
    return c->out ? align_put_links(c, links, n, t) : EXIT_DONE;
}

static int align_one(struct align_call *c, const struct align_texts *t)
{
    const skmt_link *links;
    skmt_error err;
    size_t n;

    if (skmt_aligner_align(c->aligner, t->source, t->source_len, t->target,
                           t->target_len, &links, &n, &err))
        return align_failed(c, &err);
    return align_use_links(c, links, n, t);
}

/* Do with a pair what has to be done when it is read. */
static int take_pair(struct align_call *c, const struct align_texts *t)
{
    skmt_error err;

    c->n_pairs++;
    if (c->print == ALIGN_PRINT_TOKENS) return align_put_tokens(c, t);
    if (c->load) return align_one(c, t);
    if (skmt_aligner_add(c->aligner, t->source, t->source_len, t->target,
                         t->target_len, &err))
        return align_failed(c, &err);
    return keeps_texts(c) ? keep_texts(c, t) : EXIT_DONE;
}

/* ---- reading ------------------------------------------------------------ */

static const char *reading_stage(const struct align_call *c)
{
    return c->load ? "aligning" : "reading";
}

static int align_stopped(void) { return EXIT_SIGNAL + interrupt_signal(); }

static int report_reading(struct align_call *c, const skmt_pairs *p)
{
    uint64_t total, done;

    if (c->n_pairs % PROGRESS_EVERY) return EXIT_DONE;
    done = skmt_pairs_done(p, &total);
    return align_show_progress(c, reading_stage(c), done, total, c->n_pairs)
               ? align_stopped() : EXIT_DONE;
}

static int read_pairs_of(struct align_call *c, skmt_pairs *p)
{
    int status = EXIT_DONE;
    skmt_error err;

    while (!status) {
        struct align_texts t;

        if (skmt_pairs_next(p, &t.source, &t.source_len, &t.target,
                            &t.target_len, &err))
            return align_failed(c, &err);
        if (!t.source) break;
        status = take_pair(c, &t);
        if (!status) status = report_reading(c, p);
    }
    return status;
}

/* Reading standard input may block, and it does not poll for signals. So let a
 * signal end the program at once. */
static int read_align_file(struct align_call *c, const char *file)
{
    bool polled = strcmp(file, "-") != 0;
    skmt_pairs *p;
    skmt_error err;
    int status;

    interrupt_set_polled(polled);
    if (skmt_pairs_open(&p, file, c->import, &err))
        status = align_failed(c, &err);
    else status = read_pairs_of(c, p);
    interrupt_set_polled(true);
    skmt_pairs_close(p);
    return status;
}

/* total: the number of pairs at the end of this memory; 0 if not known. */
static int read_cursor(struct align_call *c, skmt_tm_cursor *cursor,
                       uint64_t total)
{
    skmt_pair pair = SKMT_INIT(skmt_pair);
    int status = EXIT_DONE, found;
    skmt_error err;

    while (!status) {
        struct align_texts t;

        if (skmt_tm_cursor_next(cursor, &pair, &found, &err))
            return align_failed(c, &err);
        if (!found) break;
        t = (struct align_texts){ pair.source, pair.target,
                                  strlen(pair.source), strlen(pair.target) };
        status = take_pair(c, &t);
        if (!status && c->n_pairs % PROGRESS_EVERY == 0 &&
            align_show_progress(c, reading_stage(c), c->n_pairs, total,
                                c->n_pairs))
            status = align_stopped();
    }
    return status;
}

static int read_one_memory(struct align_call *c, const char *name,
                           int64_t pairs)
{
    uint64_t total = pairs > 0 ? c->n_pairs + (uint64_t)pairs : 0;
    skmt_tm_cursor *cursor;
    skmt_error err;
    int status;

    if (skmt_tm_cursor_open(&cursor, c->tm, name, &err))
        return align_failed(c, &err);
    status = read_cursor(c, cursor, total);
    skmt_tm_cursor_close(cursor);
    return status;
}

/* Read the memory of --name, or all memories of the file. */
static int read_align_memory(struct align_call *c)
{
    int n, status = EXIT_DONE;
    skmt_error err;

    if (c->memory_name) return read_one_memory(c, c->memory_name, 0);
    if (skmt_tm_count(c->tm, &n, &err)) return align_failed(c, &err);
    for (int i = 0; !status && i < n; i++) {
        skmt_tm_info info = SKMT_INIT(skmt_tm_info);
        char *name;

        if (skmt_tm_get_info(c->tm, i, &info, &err))
            return align_failed(c, &err);
        name = strdup(info.name);
        status = name ? read_one_memory(c, name, info.pairs)
                      : complain(EXIT_TROUBLE, "out of memory");
        free(name);
    }
    return status;
}

static int read_all_pairs(struct align_call *c)
{
    int status = EXIT_DONE;

    for (int i = 0; !status && i < c->n_files; i++)
        status = read_align_file(c, c->files[i]);
    if (!status && c->tm) status = read_align_memory(c);
    if (!status && !c->n_pairs)
        status = complain(EXIT_TROUBLE, "there are no pairs to align");
    return status;
}

/* ---- training ----------------------------------------------------------- */

static int align_added(struct align_call *c)
{
    size_t n_pairs = skmt_aligner_size(c->aligner), n;
    int status = EXIT_DONE;
    const skmt_link *links;
    skmt_error err;

    for (size_t i = 0; !status && i < n_pairs; i++) {
        struct align_texts t = { 0 };

        if (keeps_texts(c)) t = next_kept(c);
        if (skmt_aligner_links(c->aligner, i, &links, &n, &err))
            return align_failed(c, &err);
        status = align_use_links(c, links, n, &t);
        if (!status && i % PROGRESS_EVERY == 0 &&
            align_show_progress(c, "aligning", i, n_pairs, i))
            status = align_stopped();
    }
    return status;
}

static int train_and_align(struct align_call *c)
{
    skmt_error err;

    if (align_stat(c, "pairs") ==
        align_stat(c, "empty") + align_stat(c, "long"))
        return complain(EXIT_TROUBLE, "there is no pair to learn from: each "
                        "has an empty text or more than 1000 words in a text");
    if (skmt_aligner_train(c->aligner, &err)) return align_failed(c, &err);
    if (c->save && skmt_aligner_save(c->aligner, c->save, &err))
        return align_failed(c, &err);
    return c->out || c->gold ? align_added(c) : EXIT_DONE;
}

/* ---- the output --------------------------------------------------------- */

static int open_align_output(struct align_call *c)
{
    skmt_error err;

    if (c->print == ALIGN_PRINT_NONE || (c->evaluate && !c->output))
        return EXIT_DONE;
    if (!skmt_output_open(&c->out, c->output ? c->output : "-", &err))
        return EXIT_DONE;
    return align_failed(c, &err);
}

/* Complete the output. After a failure a file is left as it was, but what was
 * printed before is passed on. */
static int finish_align_output(struct align_call *c, int status)
{
    bool to_file = c->output && strcmp(c->output, "-");
    skmt_error err;

    progress_end(&c->progress);
    if (!c->out || (status && to_file)) return status;
    if (!skmt_output_commit(c->out, &err) || status) return status;
    return align_failed(c, &err);
}

/* The output of a training is opened after the pairs are read: a signal may end
 * the program while it waits for standard input, and would leave a temporary
 * file. */
int align_pairs(struct align_call *c)
{
    bool trains = !c->load && c->print != ALIGN_PRINT_TOKENS;
    int status = trains ? EXIT_DONE : open_align_output(c);
    skmt_error err;

    if (!status) status = read_all_pairs(c);
    if (!status && trains) status = open_align_output(c);
    if (!status && trains) status = train_and_align(c);
    if (!status && c->gold && skmt_gold_finish(c->gold, &err))
        status = align_failed(c, &err);
    status = finish_align_output(c, status);
    if (status) return status;
    align_notes(c);
    return c->gold ? align_put_scores(c) : EXIT_DONE;
}
