/* cmd_help.c - pages that teach by example.
 *
 * Option lists come from where the options are defined: the tables below for
 * the commands' own, what the library describes for the rest. "skmt help
 * options" prints both as tab-separated text; the man page is checked
 * against it. The pages of "skmt tm" are in tm_help.c, that of "skmt learn" in
 * learn_help.c. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "help.h"
#include "record.h"
#include "steering.h"

#define WIDTH 78
#define INDENT 26

const struct opt translate_options[] = {
    { "model", 'm', "FILE", "the model: a file, or a name to look for; "
      "default $SKMT_MODEL, then the shipped de-en" },
    { "output", 'o', "FILE", "write there, not to standard output; complete "
      "lines appear as they are translated" },
    { "prefix", 0, "TEXT", "the beginning every translation must have; "
      "such a line is translated whole" },
    { "prefix-file", 0, "FILE", "the same line by line; a blank line asks "
      "for nothing" },
    STEERING_OPTIONS,
    { "pairs", 0, "FILE", "steer by these pairs, the first 2 (sk1) or 16 (sk2) "
      "of a line or as many as --matches says: for each line of text a line of "
      "JSON, {\"tm\": [[\"source\", \"target\", 0.8], ..]}" },
    { "html", 0, "FILE", "write what --explain tells as a page for a browser, "
      "too" },
    { "color", 0, "WHEN", "show by color what --explain tells: auto (on a "
      "terminal), always or never" },
    { "json", 'j', NULL, "one JSON object a line: text, score, sentences "
      "and their pieces with scores and byte spans" },
    { "stats", 0, NULL, "at the end a JSON line on standard error: counts, "
      "seconds, memory, processor" },
    { "quiet", 'q', NULL, "no progress on a terminal" },
    { "help", 'h', NULL, "show this page" },
    { NULL, 0, NULL, NULL }
};

const struct opt score_options[] = {
    { "ref", 'r', "FILE", "the references, one a line" },
    { "docs", 'd', "TSV", "the references with their documents: columns "
      "between tabs, the document's name, the source, the reference; lines of "
      "a document stand together" },
    { "column", 'c', "N", "the references are in this column of FILE, between "
      "tabs; default: the whole line, with --docs the third" },
    { "metrics", 0, "LIST", "some of bleu, chrf, ter, chrf-eps (chrF2 "
      "averaged the older way), r (R-indicator) and r-all (with stop words); "
      "default bleu,chrf,ter, with --docs also r" },
    { "buckets", 0, "LIST", "with --docs: the most lines a document of each "
      "bucket has; default 50,100,200,500,1000" },
    { "r-stopwords", 0, "on|off", "on, the default: leave English stop words "
      "out of r; off: r counts them, as r-all does" },
    { "words", 0, NULL, "also how well words come through, by how often the "
      "references have them" },
    { "freq-corpus", 0, "FILE", "the same by how often this text has them, "
      "such as what a system was trained on" },
    { "resamples", 0, "N", "times the lines are drawn again for intervals and "
      "comparisons; default 1000, 0: neither" },
    { "seed", 0, "N", "where drawing begins: the same gives the same figures; "
      "default 12345" },
    { "json", 'j', NULL, "one JSON object a file, with the counts behind each "
      "score" },
    { "help", 'h', NULL, "show this page" },
    { NULL, 0, NULL, NULL }
};

const struct opt tune_options[] = {
    { "model", 'm', "FILE", "the model: a file, or a name to look for; "
      "default $SKMT_MODEL, then the shipped de-en" },
    STEERING_OPTIONS,
    { "dev", 'd', "FILE", "the lines to tune on: source, tab, translation; "
      "default: pairs of the memory, each translated without itself" },
    { "limit", 0, "N", "lines to tune on, spread evenly over all there are; "
      "default 200, 0: all" },
    { "m", 0, "LIST", "pairs for each sentence; default 1,2,4,8,16" },
    { "k", 0, "LIST", "stored states asked at each step; default 1,2,3,4" },
    { "tau", 0, "LIST", "squared distances at which a stored state is not "
      "trusted any more; default 5,10,20,50,100,150,200" },
    { "lambda", 0, "LIST", "trust in the memory, with --adapter fixed; "
      "default 0.1,0.2 .. 0.9" },
    { "metric", 0, "bleu|chrf", "what decides; default bleu" },
    { "full", 0, NULL, "try all of them together, not one after the other" },
    { "output", 'o', "FILE", "write the best settings there, for --settings; "
      "replaced in one step when all is done" },
    { "svg", 0, "FILE", "draw the tables there as heat maps" },
    { "json", 'j', NULL, "one JSON object: every setting with its scores" },
    { "quiet", 'q', NULL, "no progress on a terminal" },
    { "help", 'h', NULL, "show this page" },
    { NULL, 0, NULL, NULL }
};

const struct opt info_options[] = {
    { "model", 'm', "FILE", "the same as the operand" },
    { "json", 'j', NULL, "one JSON object" },
    { "tensors", 0, NULL, "also name, type, shape, size and checksum of "
      "every tensor" },
    { "help", 'h', NULL, "show this page" },
    { NULL, 0, NULL, NULL }
};

const struct opt convert_options[] = {
    { "from", 0, "DIR", "a folder with model.safetensors, config.json and "
      "spm.model" },
    { "type", 0, "TYPE", "how weights are kept: f32, bf16 or int8 (the "
      "default)" },
    { "output", 'o', "FILE", "the model file to make; replaced in one step "
      "when complete" },
    { "quiet", 'q', NULL, "no progress on a terminal" },
    { "help", 'h', NULL, "show this page" },
    { NULL, 0, NULL, NULL }
};

static const char overview[] =
"Usage: skmt COMMAND [OPTIONS] ...\n"
"\n"
"Translate text on this machine's processor.\n"
"\n"
"  echo 'Guten Morgen!' | skmt translate\n"
"  skmt translate letter.de.txt -o letter.en.txt\n"
"  skmt tm search my.tm 'Guten Morgen!'\n"
"\n"
"Commands:\n";

static const char overview_end[] =
"\n"
"  skmt help COMMAND   a command's options, with examples\n"
"  skmt --version      version, kernels in use, processor\n"
"  --record FILE       with any command: keep as JSON what was run\n"
"\n"
"Exit status: 0 done, 1 an input or output failed, 2 the command line makes\n"
"no sense, 3 no usable model file, 128 + n ended by signal n (130 Ctrl-C; 135\n"
"a model, index or key file was cut short while it was in use).\n";

static const char translate_page[] =
"Usage: skmt translate [OPTIONS] [FILE ...]\n"
"\n"
"Translate each line of the files, or of standard input ('-'), and write as\n"
"many lines in the same order. Blank lines stay blank; a line of several\n"
"sentences is translated sentence by sentence and joined again.\n"
"\n"
"Examples:\n"
"  echo 'Guten Morgen!' | skmt translate\n"
"  skmt translate a.txt b.txt -o both.txt --threads 2\n"
"  skmt translate --beam 1 < big.txt > fast.txt      greedy: faster, rougher\n"
"  skmt translate --nbest 3 ideas.txt                three ways to say it\n"
"  skmt translate --json doc.txt | jq .score         scores, pieces, spans\n"
"  skmt translate --prefix 'Dear Sir' < letter.txt   fix how it begins\n"
"  skmt translate --invalid=replace < latin1.txt     damaged text goes on\n"
"  skmt translate --memory my.tm < letter.txt        steered by stored pairs\n"
"  skmt translate --memory my.tm --explain a.txt     which, and how much\n"
"  skmt translate --memory my.tm --html why.html a.txt    the same as a page\n"
"\n"
"With --nbest N greater than 1 each translation is a line of four fields\n"
"between tabs: number of the input line, rank, score, text.\n";

static const char score_page[] =
"Usage: skmt score --ref REF [OPTIONS] FILE ...\n"
"       skmt score --docs TSV [OPTIONS] FILE ...\n"
"\n"
"Score translations line by line against their references: BLEU, chrF2 and\n"
"TER (edits with shifts; lower is better), as sacrebleu counts them. Beside\n"
"each score stands the range that holds 95 of 100 resamples; from the second\n"
"file on also p, how likely its difference to the first is chance. Files may\n"
"be packed with gzip, xz or zstd.\n"
"\n"
"With --docs the scores are given by the length of documents too, and R: how\n"
"many words of the references are found, by how many references of the same\n"
"document had the word before (0, 1, 2-5, 6-9, 10 and more). Without --docs\n"
"all lines are one document. For R and --words text is cut as Moses does for\n"
"English, case kept; R leaves out numbers and single marks.\n"
"\n"
"Examples:\n"
"  skmt score --ref letter.en.txt mine.txt\n"
"  skmt translate a.de | skmt score --ref a.en -\n"
"  skmt score --ref test.tsv --column 2 old.txt new.txt\n"
"  skmt score --docs docs.tsv.xz old.txt new.txt\n"
"  skmt score --ref a.en --freq-corpus train.en.gz mine.txt\n"
"  skmt score --ref a.en --metrics bleu --json mine.txt | jq .scores[0].bp\n";

static const char tune_page[] =
"Usage: skmt tune -M MEM [--dev FILE] [OPTIONS] [-o FILE]\n"
"\n"
"Find how many pairs (m) and stored states (k) to ask for, and how far to\n"
"trust them (tau; or lambda with --adapter fixed), by translating lines whose\n"
"translations are known. Without --dev these are pairs of the memory itself,\n"
"each left out while it is translated, and with it all of the same source.\n"
"\n"
"Examples:\n"
"  skmt tune -M my.tm --dev dev.tsv -o my.settings\n"
"  skmt translate -M my.tm --settings my.settings new.txt\n"
"  skmt tune -M my.tm -o my.settings --svg grid.svg   no dev set at hand\n"
"  skmt tune -M my.tm --dev dev.tsv --limit 0 --threads 8 --full\n"
"  skmt tune -M my.tm --m 8,16 --k 1,2 --tau 50,100,200 --metric chrf\n"
"  skmt tune -M my.tm --adapter fixed --lambda 0.3,0.5,0.7 --tau 100\n"
"\n"
"m and k are tried first, with the tau nearest to the model's own; then\n"
"lambda, then tau, with the best of what came before. A sentence that is\n"
"stored word for word is steered like any other here. Of equal scores the\n"
"smaller setting wins. After Ctrl-C nothing has been written.\n";

static const char info_page[] =
"Usage: skmt info [OPTIONS] [MODEL]\n"
"\n"
"Print what a model is: languages, type, sizes. MODEL is a file, or a name\n"
"such as de-en; without one the default model is shown.\n"
"\n"
"Examples:\n"
"  skmt info\n"
"  skmt info --json de-en.skmt | jq -r .type\n"
"  skmt info --tensors de-en.skmt\n";

static const char convert_page[] =
"Usage: skmt convert --from DIR [--type f32|bf16|int8] -o FILE\n"
"\n"
"Make one model file from trained weights in the standard form. int8 is a\n"
"quarter of f32 and the fastest; f32 is exact; bf16 lies between.\n"
"\n"
"Examples:\n"
"  skmt convert --from model/ -o de-en.skmt\n"
"  skmt convert --from model/ --type f32 -o de-en.f32.skmt\n";

static const char help_page[] =
"Usage: skmt help [COMMAND]\n"
"\n"
"Explain a command. 'skmt help options' lists every option of every command\n"
"as lines of tab-separated fields, for completion scripts: command (tm-add\n"
"for 'tm add'), name, letter, value, default, help.\n"
"\n"
"Examples:\n"
"  skmt help translate\n"
"  skmt help tm import\n";

static const struct page pages[] = {
    { "translate", translate_page, translate_options,
      steered_option_describe },
    { "learn", learn_page, learn_options, steered_option_describe },
    { "score", score_page, score_options, NULL },
    { "tune", tune_page, tune_options, tune_option_describe },
    { "info", info_page, info_options, NULL },
    { "convert", convert_page, convert_options, NULL },
    { "help", help_page, NULL, NULL },
    { NULL, NULL, NULL, NULL }
};

/* Both lists in one count; NULL after the last. */
static const struct page *page_at(size_t i)
{
    const size_t n = sizeof pages / sizeof *pages - 1;
    const struct page *p = i < n ? &pages[i] : &tm_pages[i - n];

    return p->command ? p : NULL;
}

/* Words of text from column `at` on, wrapped at WIDTH and indented. */
static void print_wrapped(const char *text, int at)
{
    if (at >= INDENT - 1) {
        putchar('\n');
        at = 0;
    }
    printf("%*s", INDENT - at, "");
    at = INDENT;
    while (*text) {
        int len = (int)strcspn(text, " ");

        if (at > INDENT && at + 1 + len > WIDTH) {
            printf("\n%*s", INDENT, "");
            at = INDENT;
        }
        if (at > INDENT) at += printf(" ");
        at += printf("%.*s", len, text);
        text += len + (text[len] == ' ');
    }
    putchar('\n');
}

static void print_option(const struct opt *o)
{
    int at = o->letter ? printf("  -%c, --%s", o->letter, o->name)
                       : printf("      --%s", o->name);

    if (o->value) at += printf(" %s", o->value);
    print_wrapped(o->help, at);
}

/* --record, which every command has, comes before the last one, --help. */
static void print_own(const struct opt *list)
{
    for (const struct opt *o = list; o->name; o++) {
        if (!o[1].name) print_option(&record_option);
        print_option(o);
    }
}

/* What stands for the value of a library option: N, X, a list of words. */
static const char *placeholder(const skmt_option_info *info)
{
    if (!strcmp(info->kind, "int")) return "N";
    if (!strcmp(info->kind, "float")) return "X";
    if (!strcmp(info->kind, "bool")) return "";
    return info->kind;
}

static bool is_on(const char *fallback)
{
    return strcmp(fallback, "0") && strcmp(fallback, "false")
           && strcmp(fallback, "no") && strcmp(fallback, "off");
}

/* A flag that follows another option unless it is given. */
static bool is_auto(const skmt_option_info *info)
{
    return !strcmp(info->kind, "bool") && !strcmp(info->fallback, "auto");
}

static const char *heading(const char *command)
{
    if (strncmp(command, "tm ", 3)) return "How to translate:";
    return strcmp(command, "tm warm") ? "How to search:" : "How to make them:";
}

static void print_engine(const char *command, describe_fn *describe)
{
    skmt_option_info info;

    printf("\n%s\n", heading(command));
    for (int i = 0; describe(i, &info); i++) {
        bool flag = !strcmp(info.kind, "bool");
        const char *value = placeholder(&info);
        char help[1000];
        int at = printf("      --%s%s%s%s",
                        is_auto(&info) ? "[no-]"
                        : flag && is_on(info.fallback) ? "no-" : "", info.name,
                        *value ? " " : "", value);

        if (flag)
            snprintf(help, sizeof help, "%s%s",
                     is_on(info.fallback) && !is_auto(&info)
                     ? "turn this off: " : "", info.help);
        else
            snprintf(help, sizeof help, "%s (default %s)", info.help,
                     info.fallback);
        print_wrapped(help, at);
    }
}

/* The command as one word: "tm import" is tm-import. */
static void print_command(const char *command)
{
    for (; *command; command++) putchar(*command == ' ' ? '-' : *command);
}

static void print_option_line(const char *command, const struct opt *o)
{
    print_command(command);
    printf("\t%s\t%.1s\t%s\t\t%s\n", o->name, &o->letter,
           o->value ? o->value : "", o->help);
}

static void print_page_list(const struct page *p)
{
    skmt_option_info info;

    for (const struct opt *o = p->own; o && o->name; o++) {
        if (!o[1].name) print_option_line(p->command, &record_option);
        print_option_line(p->command, o);
    }
    for (int i = 0; p->describe && p->describe(i, &info); i++) {
        print_command(p->command);
        printf("\t%s\t\t%s\t%s\t%s\n", info.name, placeholder(&info),
               strcmp(info.kind, "bool") || is_auto(&info) ? info.fallback
               : is_on(info.fallback) ? "on" : "off", info.help);
    }
}

static int print_list(void)
{
    const struct page *p;

    for (size_t i = 0; (p = page_at(i)); i++) print_page_list(p);
    return EXIT_DONE;
}

const struct page *help_find(const char *name)
{
    const struct page *p;

    for (size_t i = 0; (p = page_at(i)); i++)
        if (!strcmp(p->command, name)) return p;
    return NULL;
}

static int no_page(const char *name)
{
    struct nearest near;
    const struct page *p;
    const char *best;

    nearest_begin(&near, name);
    for (size_t i = 0; (p = page_at(i)); i++)
        nearest_offer(&near, p->command);
    best = nearest_end(&near);
    if (best)
        return complain(EXIT_USAGE, "no help for '%s'; did you mean '%s'?",
                        name, best);
    return complain(EXIT_USAGE, "no help for '%s'; see 'skmt --help'", name);
}

int help_command(const char *name)
{
    const struct page *p = help_find(name);

    if (!strcmp(name, "options")) return print_list();
    if (!p) return no_page(name);
    fputs(p->text, stdout);
    if (p->own) {
        puts("\nOptions:");
        print_own(p->own);
    }
    if (p->describe) print_engine(p->command, p->describe);
    return EXIT_DONE;
}

static int help_overview(void)
{
    fputs(overview, stdout);
    for (const struct command *c = commands; c->name; c++)
        printf("  %-12s %s\n", c->name, c->summary);
    fputs(overview_end, stdout);
    return EXIT_DONE;
}

int cmd_help(int argc, char **argv)
{
    char both[128];

    if (argc == 1) return help_overview();
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help_command("help");
    if (argc == 2) return help_command(argv[1]);
    if (argc > 3 || strcmp(argv[1], "tm"))
        return complain(EXIT_USAGE, "help takes one command");
    snprintf(both, sizeof both, "%s %s", argv[1], argv[2]);
    return help_command(both);
}
