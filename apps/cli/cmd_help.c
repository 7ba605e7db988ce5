/* cmd_help.c - prints the help pages, each with examples.
 *
 * The option lists of the pages come from where the options are defined: the
 * tables below for the commands' own options, and the library's descriptions
 * for the rest. "skmt help options" prints both as tab-separated text; "make
 * man" and a test use it to keep the man page up to date. The pages of "skmt
 * tm", "skmt knn", "skmt model", "skmt learn", "skmt align" and "skmt serve"
 * are in tm_help.c, knn_help.c, model_help.c, learn_help.c, align_help.c and
 * serve_help.c. */

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/nearest.h"
#include "common/option_help.h"
#include "common/steering.h"
#include "conversion.h"
#include "help.h"
#include "server/server.h"

const struct opt translate_options[] = {
    MODEL_OPTION,
    { "output", 'o', "FILE", "write to FILE instead of standard output; each "
      "line is written as soon as it is translated" },
    { "prefix", 0, "TEXT", "make every translation begin with TEXT; lines are "
      "then not split into sentences" },
    { "prefix-file", 0, "FILE", "like --prefix, but line N of FILE is the "
      "prefix of input line N; a blank line means no prefix" },
    STEERING_OPTIONS,
    DATASTORE_OPTIONS,
    ALIGNMENT_OPTION,
    { "pairs", 0, "FILE", "take the similar pairs from FILE instead of a "
      "memory: one line of JSON for each input line, {\"tm\": [[\"source\", "
      "\"target\", 0.8], ..]}; as many pairs of a line are used, from the "
      "first on, as the preset says (learned: 4, sk1: 2, sk2: 16), or "
      "--matches" },
    { "html", 0, "FILE", "also write the explanation of --explain to FILE as "
      "a web page" },
    { "color", 0, "WHEN", "use color in the output of --explain: auto (if it "
      "goes to a terminal), always or never" },
    { "json", 'j', NULL, "print one JSON object per line: text, score, "
      "sentences and their tokens with scores and byte positions" },
    { "stats", 0, NULL, "at the end, print statistics as one line of JSON on "
      "standard error: counts, times, memory use, processor" },
    QUIET_OPTION,
    HELP_OPTION,
    NO_MORE_OPTIONS
};

const struct opt score_options[] = {
    { "ref", 'r', "FILE", "the file of reference translations, one per line" },
    { "docs", 'd', "TSV", "the references as a table that also names "
      "documents: document, source and reference, separated by tabs; the "
      "lines of a document must be consecutive" },
    { "column", 'c', "N", "read the references from column N of a "
      "tab-separated file; default: the whole line, with --docs column 3" },
    { "metrics", 0, "LIST", "comma-separated list of bleu, chrf, ter, "
      "chrf-eps (chrF2 with the older averaging), r (R-indicator) and r-all "
      "(R-indicator with stop words); default bleu,chrf,ter, with --docs "
      "also r" },
    { "buckets", 0, "LIST", "with --docs: group documents by length; LIST has "
      "the largest number of lines of each group; default "
      "50,100,200,500,1000" },
    { "r-stopwords", 0, "on|off", "on: leave English stop words out of metric "
      "r; off: count them, as r-all does; default on" },
    { "words", 0, NULL, "also print how many words were translated correctly, "
      "grouped by their frequency in the references" },
    { "freq-corpus", 0, "FILE", "like --words, but take the frequencies from "
      "FILE, for example the training data of a system" },
    { "resamples", 0, "N", "number of bootstrap samples for confidence "
      "intervals and comparisons; 0 turns both off; default 1000" },
    { "seed", 0, "N", "seed of the bootstrap sampling; the same seed gives the "
      "same numbers; default 12345" },
    { "json", 'j', NULL, "print one JSON object per file, with the counts "
      "behind each score" },
    HELP_OPTION,
    NO_MORE_OPTIONS
};

const struct opt tune_options[] = {
    MODEL_OPTION,
    STEERING_OPTIONS,
    DATASTORE_OPTIONS,
    ALIGNMENT_OPTION,
    { "dev", 'd', "FILE", "the lines to tune on: source, tab, translation; "
      "default: pairs of the memory, each left out while it is translated" },
    { "limit", 0, "N", "tune on N lines, spread evenly over the file or "
      "memory; 0 for all; default 200" },
    { "m", 0, "LIST", "numbers of pairs per sentence to try; default "
      "1,2,4,8,16" },
    { "k", 0, "LIST", "numbers of neighbors per step to try; default 1,2,3,4 "
      "with system sk, 1,2,4,8 with learned, 2,4,8,16 with others" },
    { "tau", 0, "LIST", "squared distances to try at which the weight of the "
      "memory becomes 0 (system sk), or softmax temperatures (other systems); "
      "default 5,10,20,50,100,150,200; with system fast 0.01,0.02 .. 0.5" },
    { "lambda", 0, "LIST", "weights of the memory to try, with --adapter "
      "fixed, or with a system that has a fixed weight; default 0.1,0.2 .. "
      "0.9" },
    { "cache", 0, "LIST", "values of option cache to try (skmt systems "
      "efficient); default 2,4,6,8 with system efficient, none with others" },
    { "chunk-lambda", 0, "LIST", "weights between two searches to try with "
      "system chunk; default 0.1,0.2 .. 0.9" },
    { "chunk-tau", 0, "LIST", "temperatures between two searches to try with "
      "system chunk; default 1,2,5,10,20" },
    { "occurrences", 0, "LIST", "values of option occurrences to try with "
      "system fast; default none" },
    { "pieces-weight", 0, "LIST", "weights of the rewards to try with system "
      "pieces; default 0.25,0.5 .. 4" },
    { "metric", 0, "bleu|chrf", "the score that decides which setting is best; "
      "default bleu" },
    { "full", 0, NULL, "try all combinations, instead of one option after the "
      "other" },
    { "learn", 0, NULL, "train the network of preset learned instead of trying "
      "settings; pairs of the memory are then chosen at random" },
    { "seed", 0, "N", "with --learn: seed of the random numbers; default 1" },
    { "anew", 0, NULL, "with --learn: do not begin with the network of the "
      "model, and keep the result even if it is not better" },
    { "drop", 0, "FEATURE", "with --learn: hide a feature from the network, to "
      "find out what it is worth; may be repeated" },
    { "ablation", 0, NULL, "with --learn: also train a network without each "
      "feature, and print its loss" },
    { "steps", 0, NULL, "with --learn: also print every step with its features "
      "as JSON" },
    { "output", 'o', "FILE", "write the best settings to FILE, for use with "
      "--settings; an existing file is replaced only when tuning is done" },
    { "svg", 0, "FILE", "also draw the tables as heat maps in FILE" },
    { "json", 'j', NULL, "print one JSON object with the scores of every "
      "setting" },
    QUIET_OPTION,
    HELP_OPTION,
    NO_MORE_OPTIONS
};

const struct opt systems_options[] = {
    { "json", 'j', NULL, "print one JSON object for each system" },
    HELP_OPTION,
    NO_MORE_OPTIONS
};

const struct opt info_options[] = {
    { "model", 'm', "FILE", "the model to show; the same as the operand" },
    MODEL_PAIR_OPTIONS,
    { "json", 'j', NULL, "print one JSON object" },
    { "tensors", 0, NULL, "also list the name, type, shape, size and checksum "
      "of every tensor" },
    { "license", 0, NULL, "print only the text of the license that came with "
      "the model" },
    HELP_OPTION,
    NO_MORE_OPTIONS
};

const struct opt convert_options[] = {
    { "from", 0, "PATH", "the folder or zip archive of the model, or a "
      "checkpoint of fairseq in its folder" },
    { "output", 'o', "FILE", "the model file to write; an existing file is "
      "replaced only when the new one is complete; without it, only say what "
      "is at PATH" },
    CONVERSION_OPTIONS,
    { "quiet", 'q', NULL, "print only warnings and errors" },
    HELP_OPTION,
    NO_MORE_OPTIONS
};

static const char overview[] =
"Usage: skmt COMMAND [OPTIONS] ...\n"
"\n"
"Translate text on this computer, without a network. A translation memory of\n"
"earlier translations can steer the output.\n"
"\n"
"  echo 'Guten Morgen!' | skmt translate\n"
"  skmt translate letter.de.txt -o letter.en.txt\n"
"  skmt tm search my.tm 'Guten Morgen!'\n"
"\n"
"Commands:\n";

static const char overview_end[] =
"\n"
"  skmt help COMMAND   show the options and examples of a command\n"
"  skmt --version      show version, kernels in use and processor\n"
"  --record FILE       with any command: describe the run in a JSON file\n"
"\n"
"Exit status: 0 success, 1 input or output error, 2 usage error, 3 no usable\n"
"model file, 128 + n ended by signal n (130 after Ctrl-C; 135 if a model,\n"
"index or key file became shorter while it was in use).\n";

static const char translate_page[] =
"Usage: skmt translate [OPTIONS] [FILE ...]\n"
"\n"
"Translate each line of the files, or of standard input ('-'). The output has\n"
"one line for each input line, in the same order; blank lines stay blank. A\n"
"line of several sentences is translated sentence by sentence.\n"
"\n"
"Examples:\n"
"  echo 'Guten Morgen!' | skmt translate\n"
"  skmt translate a.txt b.txt -o both.txt --threads 2\n"
"  skmt translate --beam 1 < big.txt > fast.txt      greedy search: faster,\n"
"                                                    lower quality\n"
"  skmt translate --nbest 3 ideas.txt                three translations each\n"
"  skmt translate --json doc.txt | jq .score         scores and tokens\n"
"  skmt translate --prefix 'Dear Sir' < letter.txt   set the first words\n"
"  skmt translate --invalid=replace < latin1.txt     accept invalid UTF-8\n"
"  skmt translate --memory my.tm < letter.txt        use a translation memory\n"
"  skmt translate --memory my.tm --explain a.txt     show what the memory did\n"
"  skmt translate --memory my.tm --html why.html a.txt   the same as a page\n"
"\n"
"With --nbest N greater than 1, each translation is a line of four fields\n"
"separated by tabs: number of the input line, rank, score, text.\n";

static const char score_page[] =
"Usage: skmt score --ref REF [OPTIONS] FILE ...\n"
"       skmt score --docs TSV [OPTIONS] FILE ...\n"
"\n"
"Compare translations with reference translations, line by line. The scores\n"
"are BLEU, chrF2 and TER (edits including shifts; lower is better), computed\n"
"as sacrebleu does. Each score has a 95% confidence interval from bootstrap\n"
"resampling. The second and later files are compared with the first: p is the\n"
"probability of such a difference by chance. Files may be compressed with\n"
"gzip, xz or zstd.\n"
"\n"
"With --docs, scores are also given by document length, together with R (the\n"
"R-indicator): the share of reference words that the translation contains, by\n"
"the number of earlier references of the same document that had the word (0,\n"
"1, 2-5, 6-9, 10 or more). Without --docs, all lines are one document. For R\n"
"and --words, text is split into words as the Moses tokenizer does for\n"
"English and case is kept; R ignores numbers and single punctuation marks.\n"
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
"       skmt tune --datastore FILE --dev FILE [OPTIONS] [-o FILE]\n"
"\n"
"Find the settings that give the best translations with a memory: the number\n"
"of similar pairs per sentence (m), the number of neighbors per step (k), and\n"
"the distance at which the memory loses its weight (tau) or, with --adapter\n"
"fixed, the weight itself (lambda). Lines with known translations are\n"
"translated with each setting and scored. Without --dev, pairs of the memory\n"
"are used: while a pair is translated, it and all pairs with the same source\n"
"are left out of the memory.\n"
"\n"
"With --system, the options of that system are tuned. Systems that search a\n"
"datastore (skmt systems) need --dev.\n"
"\n"
"With --learn, a small network is trained instead. It decides at each step\n"
"how far the memory is trusted (preset learned). The model reads the lines\n"
"together with their translations. The network learns from three of four\n"
"lines; the others decide when to stop. The negative log-likelihood per token\n"
"is printed; lower is better. A network that is not better than the default\n"
"of the model is not kept. Pairs with the source of a line are left out of\n"
"the memory, also with --dev.\n"
"\n"
"Examples:\n"
"  skmt tune -M my.tm --learn -o my.settings\n"
"  skmt tune -M my.tm --dev dev.tsv -o my.settings\n"
"  skmt translate -M my.tm --settings my.settings new.txt\n"
"  skmt tune -M my.tm -o my.settings --svg grid.svg   without a dev set\n"
"  skmt tune -M my.tm --dev dev.tsv --limit 0 --threads 8 --full\n"
"  skmt tune -M my.tm --m 8,16 --k 1,2 --tau 50,100,200 --metric chrf\n"
"  skmt tune -M my.tm --adapter fixed --lambda 0.3,0.5,0.7 --tau 100\n"
"  skmt tune --datastore my.knn --system vanilla --dev dev.tsv\n"
"\n"
"m and k are tried first, with the tau nearest to the model's default. Then\n"
"lambda, tau and the other options are tried, each with the best values found\n"
"before. A system without m begins with k and lambda. If two settings score\n"
"the same, the one with the smaller values wins. A sentence that is stored\n"
"word for word is translated like any other. If the command is interrupted\n"
"(Ctrl-C), no file is written.\n";

static const char info_page[] =
"Usage: skmt info [OPTIONS] [MODEL]\n"
"\n"
"Show the properties of a model: languages, type and sizes. MODEL is a file,\n"
"or a name such as de-en. Without MODEL, the default model is shown.\n"
"\n"
"Examples:\n"
"  skmt info\n"
"  skmt info --json de-en.skmt | jq -r .type\n"
"  skmt info --tensors de-en.skmt\n";

static const char systems_page[] =
"Usage: skmt systems [OPTIONS] [SYSTEM ...]\n"
"\n"
"List the systems: the methods by which stored pairs change translations.\n"
"With names, also show the options of each and their defaults. Choose a\n"
"system with --system NAME.\n"
"\n"
"Examples:\n"
"  skmt systems\n"
"  skmt systems vanilla adaptive\n"
"  skmt translate --system vanilla --datastore it.knn letter.txt\n";

static const char convert_page[] =
"Usage: skmt convert --from PATH [--type f32|bf16|int8] [-o FILE]\n"
"\n"
"Make one model file from the files of a trained model. PATH is a folder, or\n"
"a zip archive, which need not be unpacked. The kind of model is recognized\n"
"by its files. skmt convert says what it found and what you should know about\n"
"it; without -o FILE it does nothing else.\n"
"\n"
"Models of these projects can be converted: OPUS-MT (Marian, Hugging Face),\n"
"CTranslate2 and Argos Translate, M2M-100, NLLB-200 and SMaLL-100, fairseq\n"
"(a checkpoint beside dict.*.txt and BPE codes) and FSMT. docs/models.md says\n"
"for each where to get models, and which files they need.\n"
"\n"
"A model that would not be translated exactly as it was trained is refused:\n"
"the message names the file, and the setting or the tensor.\n"
"\n"
"int8 files are a quarter of the size of f32 files and the fastest; f32 keeps\n"
"the weights exactly; bf16 is in between. Weights that are stored as float16\n"
"or int8 may be converted to any type. Memory: less than 1 GB for any model.\n"
"\n"
"Examples:\n"
"  skmt convert --from model/                      # what is it?\n"
"  skmt convert --from model/ -o de-en.skmt\n"
"  skmt convert --from model.zip --type f32 -o de-en.f32.skmt\n"
"  skmt convert --from wmt19.de-en.ensemble/model4.pt -o de-en.skmt\n"
"  skmt info de-en.skmt\n"
"  skmt translate --model ./de-en.skmt letter.txt\n";

static const char help_page[] =
"Usage: skmt help [COMMAND]\n"
"\n"
"Show the help page of a command. 'skmt help options' lists every option of\n"
"every command, for shell completion scripts. Each line has these fields,\n"
"separated by tabs: command (tm-add for 'tm add'), option, letter, value,\n"
"default, description.\n"
"\n"
"Examples:\n"
"  skmt help translate\n"
"  skmt help tm import\n";

static const struct page pages[] = {
    { "translate", translate_page, translate_options,
      steered_option_describe },
    { "serve", serve_page, serve_options, serve_option_describe },
    { "learn", learn_page, learn_options, steered_option_describe },
    { "score", score_page, score_options, NULL },
    { "tune", tune_page, tune_options, tune_option_describe },
    { "align", align_page, align_options, NULL },
    { "systems", systems_page, systems_options, NULL },
    { "info", info_page, info_options, NULL },
    { "convert", convert_page, convert_options, NULL },
    { "help", help_page, NULL, NULL },
    { NULL, NULL, NULL, NULL }
};

/* Return page i of all lists together, or NULL after the last. */
static const struct page *page_at(size_t i)
{
    const struct page *const lists[] = { pages, tm_pages, knn_pages,
                                         model_pages };

    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (const struct page *p = lists[k]; p->command; p++)
            if (i-- == 0) return p;
    return NULL;
}

static const char *library_heading(const char *command)
{
    if (strncmp(command, "tm ", 3)) return "Translation options:";
    return strcmp(command, "tm warm") ? "Search options:"
                                      : "Options for computing keys:";
}

/* Print the options of a page; "tm import" is written as one word. */
static void list_page_options(const struct page *p)
{
    char command[64];

    snprintf(command, sizeof command, "%s", p->command);
    for (char *at = command; *at; at++)
        if (*at == ' ') *at = '-';
    option_help_table(command, p->own, p->describe);
}

static int list_all_options(void)
{
    const struct page *p;

    for (size_t i = 0; (p = page_at(i)); i++) list_page_options(p);
    return EXIT_DONE;
}

const struct page *help_find(const char *name)
{
    const struct page *p;

    for (size_t i = 0; (p = page_at(i)); i++)
        if (!strcmp(p->command, name)) return p;
    return NULL;
}

static int help_unknown(const char *name)
{
    struct nearest near;
    const struct page *p;
    const char *best;

    nearest_begin(&near, name);
    for (size_t i = 0; (p = page_at(i)); i++)
        nearest_offer(&near, p->command);
    best = nearest_end(&near);
    if (best)
        return complain(EXIT_USAGE, "no help page for '%s'; did you mean "
                        "'%s'?", name, best);
    return complain(EXIT_USAGE, "no help page for '%s'; 'skmt --help' lists "
                    "the commands", name);
}

int help_command(const char *name)
{
    const struct page *p = help_find(name);

    if (!strcmp(name, "options")) return list_all_options();
    if (!p) return help_unknown(name);
    fputs(p->text, stdout);
    if (p->own) {
        puts("\nOptions:");
        option_help_own(p->own);
    }
    if (p->describe) {
        printf("\n%s\n", library_heading(p->command));
        option_help_library(p->describe);
    }
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
    if (argc > 3 || (strcmp(argv[1], "tm") && strcmp(argv[1], "knn")
                     && strcmp(argv[1], "model")))
        return complain(EXIT_USAGE, "help takes one command; 'skmt --help' "
                        "lists the commands");
    snprintf(both, sizeof both, "%s %s", argv[1], argv[2]);
    return help_command(both);
}
