/* moses_tool.c - makes BPE tokenizers with Moses rules from files, for
 * moses_oracle.sh. spm_tool encodes and decodes with them.
 *
 *     moses_tool make LANGUAGE STEPS FORM MARKS CODES PIECES [TRUECASER] > FILE
 *
 * STEPS are names of steps divided by commas. FORM is fastbpe, subword-nmt or
 * merges, MARKS is at or word-end. PIECES has a piece per line: <unk> is the
 * unknown piece, and <s>, </s>, <pad> are control pieces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "text/moses_bpe.h"

static void die(const char *why)
{
    fprintf(stderr, "moses_tool: %s\n", why);
    exit(2);
}

static unsigned steps_of(const char *names)
{
    static const char *const known[] = {
#define STEP(constant, name) name,
        MOSES_STEPS(STEP)
#undef STEP
    };
    unsigned steps = 0;

    while (*names) {
        size_t n = strcspn(names, ",");
        unsigned step = 0;

        for (int i = 0; i < MOSES_STEP_COUNT; i++)
            if (strlen(known[i]) == n && !memcmp(known[i], names, n))
                step = 1u << i;
        if (!step) die("a step is not known");
        steps |= step;
        names += n + (names[n] == ',');
    }
    return steps;
}

static enum bpe_codes form_of(const char *name)
{
    if (!strcmp(name, "fastbpe")) return BPE_CODES_FASTBPE;
    if (!strcmp(name, "subword-nmt")) return BPE_CODES_SUBWORD_NMT;
    if (strcmp(name, "merges")) die("the form is not known");
    return BPE_CODES_MERGES;
}

static void map_file(struct mapping *map, const char *path)
{
    struct err e;

    if (mapping_open(map, path, &e)) die(e.msg);
}

struct piece_list {
    char *text;                 /* all pieces, each with a NUL */
    const char **at;            /* [n] */
    int32_t n, unk, control[3];
    size_t n_control;
};

static void read_piece_list(struct piece_list *p, const char *path)
{
    struct mapping map;

    map_file(&map, path);
    *p = (struct piece_list){ .text = strndup((const char *)map.data,
                                              map.size), .unk = -1 };
    p->at = calloc(map.size + 1, sizeof *p->at);
    mapping_close(&map);
    for (char *s = p->text; *s; p->n++) {
        size_t n = strcspn(s, "\n");
        bool more = s[n] == '\n';

        s[n] = '\0';
        p->at[p->n] = s;
        if (!strcmp(s, "<unk>")) p->unk = p->n;
        if (p->n_control < 3
            && (!strcmp(s, "<s>") || !strcmp(s, "</s>") || !strcmp(s, "<pad>")))
            p->control[p->n_control++] = p->n;
        s += n + more;
    }
}

static void make(char **arg, const char *truecaser)
{
    struct mapping codes, cases = { 0 };
    struct piece_list pieces;
    struct moses_bpe_spec s;
    struct strbuf out;
    struct err e;

    map_file(&codes, arg[4]);
    if (truecaser) map_file(&cases, truecaser);
    read_piece_list(&pieces, arg[5]);
    s = (struct moses_bpe_spec){
        .language = arg[0], .steps = steps_of(arg[1]),
        .codes_form = form_of(arg[2]), .codes = (const char *)codes.data,
        .codes_size = codes.size, .codes_name = arg[4],
        .marks = strcmp(arg[3], "at") ? BPE_MARKS_WORD_END : BPE_MARKS_AT,
        .pieces = pieces.at, .n_pieces = pieces.n, .unk = pieces.unk,
        .control = pieces.control, .n_control = pieces.n_control,
        .truecaser = truecaser ? (const char *)cases.data : NULL,
        .truecaser_size = cases.size, .truecaser_name = truecaser
    };
    strbuf_init(&out, 0);
    if (moses_bpe_write(&out, &s, &e)) die(e.msg);
    fwrite(out.data, 1, out.len, stdout);
    strbuf_release(&out);
    free(pieces.at);
    free(pieces.text);
    mapping_close(&codes);
    if (truecaser) mapping_close(&cases);
}

int main(int argc, char **argv)
{
    if ((argc == 8 || argc == 9) && !strcmp(argv[1], "make"))
        make(argv + 2, argc == 9 ? argv[8] : NULL);
    else
        die("usage: make LANGUAGE STEPS FORM MARKS CODES PIECES [TRUECASER]");
    return 0;
}
