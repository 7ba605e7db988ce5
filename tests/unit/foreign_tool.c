/* foreign_tool.c - prints the logits of forced translations, for
 * tools/check_foreign.py.
 *
 *     foreign_tool MODEL < lines > logits
 *
 * A line has the ids of a source with its special tokens, a tab, and the ids of
 * a target: after the start token, without EOS. The ids are separated by
 * spaces. The output begins with a line "key=value .." of the ids in the
 * config. Then there are, for each line of the input, vocab floats for each
 * token of its target and for its end.
 *
 * A token that follows the start token without being printed
 * (target_prefix_id) is part of the target here, and its logits are written
 * too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/forced.h"

static void die(const char *why)
{
    fprintf(stderr, "foreign_tool: %s\n", why);
    exit(2);
}

/* Read ids up to the character `end`. Returns their number. */
static int read_ids(const char **at, char end, int32_t *out, int most)
{
    int n = 0;

    for (;;) {
        char *after;

        while (**at == ' ') ++*at;
        if (**at == end) break;
        if (n == most) die("too many ids");
        out[n++] = (int32_t)strtol(*at, &after, 10);
        if (after == *at) die("a line is not two lists of ids");
        *at = after;
    }
    return n;
}

static void check_ids(const struct net *net, const int32_t *id, int n)
{
    for (int i = 0; i < n; i++)
        if (id[i] < 0 || id[i] >= net->vocab) die("an id is out of range");
}

static void logits_out(void *user, int t, const float *x, struct row_stats s)
{
    const struct net *net = user;

    (void)t;
    (void)s;
    if (fwrite(x, sizeof *x, (size_t)net->vocab, stdout) !=
        (size_t)net->vocab)
        die("cannot write");
}

static void run_line(struct net *net, const char *line)
{
    enum { MOST = 1000 };
    int32_t src[MOST], tgt[MOST];
    struct forced f = { .src = src, .tgt = tgt, .user = net,
                        .logits = logits_out };
    struct err e;

    f.n_src = read_ids(&line, '\t', src, MOST);
    line++;
    f.n_tgt = read_ids(&line, '\n', tgt, MOST);
    check_ids(net, src, f.n_src);
    check_ids(net, tgt, f.n_tgt);
    if (!f.n_src) die("a source has no ids");
    if (forced_run(net, NULL, &f, &e)) die(e.msg);
}

int main(int argc, char **argv)
{
    struct weights *w;
    struct net *net;
    struct err e;
    char *line = NULL;
    size_t cap = 0;

    if (argc != 2) die("usage: foreign_tool MODEL < lines > logits");
    if (weights_open(&w, argv[1], &e)) die(e.msg);
    printf("vocab=%d eos=%d pad=%d bos=%d unk=%d start=%d prefix=%d suffix=%d "
           "target_prefix=%d\n", w->cfg.vocab_size, w->cfg.eos_id,
           w->cfg.pad_id, w->cfg.bos_id, w->cfg.unk_id, w->cfg.start_id,
           w->cfg.prefix_id, w->cfg.suffix_id, w->cfg.target_prefix_id);
    w->cfg.target_prefix_id = -1;
    if (net_open(&net, w, NULL, &e)) die(e.msg);
    while (getline(&line, &cap, stdin) > 0) run_line(net, line);
    free(line);
    net_close(net);
    weights_close(w);
    return 0;
}
