/* tm_help.c - the pages and options of "skmt tm"; see cmd_help.c. */
#include <string.h>

#include "help.h"

/* ---- options that several have ------------------------------------------ */

#define HELP { "help", 'h', NULL, "show this page" }, { NULL, 0, NULL, NULL }
#define JSON { "json", 'j', NULL, "answer as JSON" }
#define QUIET { "quiet", 'q', NULL, "no progress on a terminal" }
#define NAME { "name", 'n', "NAME", "the memory of the file; default its " \
               "only one, or main" }
#define LANGS { "source-lang", 's', "LANG", "language of the sources, as " \
                "de or de-AT" }, \
              { "target-lang", 't', "LANG", "language of the targets" }
#define RELAXED { "relaxed", 0, NULL, "do not wait for the disk: faster, " \
                  "but a power cut may lose the last seconds" }
#define MODEL { "model", 'm', "FILE", "count similarity in this model's " \
                "pieces; default $SKMT_MODEL, then the shipped de-en" }, \
              { "no-model", 0, NULL, "count it in words, as without a model" }
#define NAMES { "name", 'n', "NAME", "search this memory; may be given " \
                "several times; default all of the file" }
#define YES { "yes", 'y', NULL, "do not ask" }

static const struct opt create_options[] = {
    { "name", 'n', "NAME", "what to call the memory; default main" },
    LANGS,
    { "priority", 'p', "N", "higher wins where matches are equally similar; "
      "default 0" },
    { "keep-duplicates", 0, NULL, "store equal pairs apart instead of "
      "counting them" },
    JSON, HELP
};

static const struct opt import_options[] = {
    NAME,
    { "format", 'f', "FORMAT", "tmx, xliff, po, tsv, csv or text; default: "
      "what the file looks like" },
    { "source-lang", 's', "LANG", "take the sources in this language; de "
      "takes de-AT too; default: the file's" },
    { "target-lang", 't', "LANG", "take the targets in this language" },
    { "target-file", 0, "FILE", "text: the lines of the other language" },
    { "source-column", 0, "N", "tsv and csv: where sources are; default 1" },
    { "target-column", 0, "N", "tsv and csv: where targets are; default 2" },
    { "document-column", 0, "N", "tsv and csv: where document names are" },
    { "header", 0, NULL, "tsv and csv: the first line is no pair" },
    { "no-header", 0, NULL, "tsv and csv: the first line is a pair, even if it "
      "looks like a header" },
    { "fuzzy", 0, NULL, "also take what is marked fuzzy or not approved" },
    { "skip-bad", 0, NULL, "go on after what cannot be read" },
    { "rejects", 0, "FILE", "where --skip-bad writes what it left out, and "
      "why; default MEM.rejects" },
    { "origin", 0, "TEXT", "show this as where the pairs come from, not the "
      "file's name" },
    RELAXED, JSON, QUIET, HELP
};

static const struct opt search_options[] = {
    NAMES,
    MODEL,
    { "file", 'f', "FILE", "search every line of a file; - is standard "
      "input, as without a text" },
    { "color", 0, "WHEN", "mark differences by color: auto (on a "
      "terminal), always or never" },
    { "json", 'j', NULL, "one JSON object a text" },
    QUIET, HELP
};

static const struct opt add_options[] = {
    NAME,
    { "document", 'd', "TEXT", "the document the pair belongs to" },
    { "author", 'a', "TEXT", "who made it" },
    { "tagged", 0, NULL, "the texts are in the tagged form: inline tags, "
      "&lt; for <" },
    RELAXED, JSON, HELP
};

static const struct opt edit_options[] = {
    { "source", 's', "TEXT", "the new source" },
    { "target", 't', "TEXT", "the new target" },
    { "json", 'j', NULL, "answer with the pair as JSON" },
    HELP
};

static const struct opt delete_options[] = {
    { "name", 'n', "NAME", "only in this memory; default all of the file, "
      "with --all its only one, or main" },
    { "document", 'd', "TEXT", "pairs of this document" },
    { "origin", 0, "TEXT", "pairs imported from this file" },
    { "source", 's', "TEXT", "pairs with exactly this source" },
    { "target", 't', "TEXT", "pairs with exactly this target" },
    { "all", 0, NULL, "every pair of the memory" },
    { "yes", 'y', NULL, "with --all: do not ask" },
    JSON, QUIET, HELP
};

static const struct opt show_options[] = { JSON, HELP };

static const struct opt export_options[] = {
    NAME,
    { "output", 'o', "FILE", "write there, not to standard output; replaced "
      "in one step when complete; .gz, .xz and .zst are compressed" },
    { "format", 'f', "FORMAT", "tmx, xliff, po, tsv, csv or text; default "
      "by the file's ending, tmx on standard output" },
    { "target-file", 0, "FILE", "text: where the targets go" },
    JSON, QUIET, HELP
};

static const struct opt stats_options[] = {
    NAMES,
    { "against", 'a', "FILE", "how similar each line (up to a tab) is to "
      "the most similar stored source; - is standard input" },
    MODEL,
    JSON, QUIET, HELP
};

static const struct opt list_options[] = { JSON, HELP };

static const struct opt set_options[] = {
    NAME,
    LANGS,
    { "priority", 'p', "N", "higher wins where matches are equally similar" },
    { "rename", 0, "NAME", "what to call it from now on" },
    JSON, HELP
};

static const struct opt drop_options[] = {
    { "name", 'n', "NAME", "the memory to drop" },
    YES, JSON, QUIET, HELP
};

static const struct opt work_options[] = { JSON, QUIET, HELP };

static const struct opt check_options[] = {
    { "contradictions", 0, NULL, "list the sources that have several different "
      "translations, instead of checking the file" },
    { "name", 'n', "NAME", "with --contradictions: only in this memory; may be "
      "given several times; default all of the file" },
    JSON, QUIET, HELP
};

static const struct opt warm_options[] = {
    { "key-file", 0, "FILE", "where they are kept; made when it does not "
      "exist" },
    { "drop-others", 0, NULL, "then remove the keys of all pairs that are not "
      "in these memories" },
    { "name", 'n', "NAME", "only this memory of the file; may be given "
      "several times" },
    { "model", 'm', "FILE", "the model that will translate; default "
      "$SKMT_MODEL, then the shipped de-en" },
    JSON, QUIET, HELP
};

/* ---- options of the library --------------------------------------------- */

/* A person reads fewer matches than a program. */
static int describe_search(int i, skmt_option_info *out)
{
    if (!skmt_search_option_describe(i, out)) return 0;
    if (!strcmp(out->name, "matches")) out->fallback = "5";
    return 1;
}

/* All but what chooses among several matches: only the best is looked at. */
static int describe_measure(int i, skmt_option_info *out)
{
    for (int k = 0; skmt_search_option_describe(k, out); k++) {
        if (!strcmp(out->name, "matches")
            || !strcmp(out->name, "min-similarity")) continue;
        if (i-- == 0) return 1;
    }
    return 0;
}

/* What the keys of a pair depend on, how many make them, and where they go. */
static int describe_keys(int i, skmt_option_info *out)
{
    static const char *const names[] = { "key-type", "preset", "knn-eos",
                                         "key-file-limit" };

    if (i > 0) {
        if (i > (int)(sizeof names / sizeof *names)) return 0;
        for (int k = 0; skmt_steer_option_describe(k, out); k++)
            if (!strcmp(out->name, names[i - 1])) return 1;
        return 0;
    }
    for (int k = 0; skmt_option_describe(k, out); k++)
        if (!strcmp(out->name, "threads")) return 1;
    return 0;
}

/* ---- pages -------------------------------------------------------------- */

static const char tm_page[] =
"Usage: skmt tm COMMAND MEM [OPTIONS] ...\n"
"\n"
"Keep pairs of texts in a file, MEM, and find those most similar to a text.\n"
"What is stored is on the disk when the command ends, and found at once.\n"
"\n"
"  skmt tm create my.tm --source-lang de --target-lang en\n"
"  skmt tm import my.tm old.tmx site.po.gz glossary.tsv\n"
"  skmt tm search my.tm 'Die Datei wurde nicht gefunden.'\n"
"  skmt tm add my.tm 'Guten Tag' 'Good day'\n"
"  skmt tm export my.tm -o all.tmx\n"
"\n"
"Commands:\n"
"  create       make a file, or another memory in one\n"
"  import       read pairs from TMX, XLIFF, PO, TSV, CSV or two texts\n"
"  search       find the most similar pairs, with the differences marked\n"
"  add          store a pair, or one for each line of standard input\n"
"  edit         change a pair\n"
"  delete       delete pairs\n"
"  show         print all that is known of a pair\n"
"  export       write the pairs to a file\n"
"  stats        how much there is; how much of a text it covers\n"
"  list         the memories of a file\n"
"  set          change a memory's name, languages or priority\n"
"  drop         delete a memory with all its pairs\n"
"  check        is the file sound? which sources have several translations?\n"
"  rebuild      build the index again\n"
"  compact      give back the room of what was deleted\n"
"  recover      save what is readable of a damaged file\n"
"  warm         let a model read the pairs before they are needed\n"
"\n"
"  skmt help tm COMMAND   its options, with examples\n"
"\n"
"Any number of programs may read while one writes. All answers come as JSON\n"
"with --json.\n";

static const char create_page[] =
"Usage: skmt tm create MEM [OPTIONS]\n"
"\n"
"Make a file for pairs, with one memory in it. With --name a file that is\n"
"there gets another memory: one for each customer, say.\n"
"\n"
"Examples:\n"
"  skmt tm create my.tm\n"
"  skmt tm create my.tm --source-lang de --target-lang en\n"
"  skmt tm create my.tm --name legal --priority 5\n";

static const char import_page[] =
"Usage: skmt tm import MEM FILE ... [OPTIONS]\n"
"\n"
"Read pairs from files into a memory. Formats are recognized by content,\n"
"packed (gzip, xz, zstd) or not; '-' is standard input. All pairs of all\n"
"files appear at once; if anything is wrong, or at Ctrl-C, none does.\n"
"\n"
"Examples:\n"
"  skmt tm import my.tm old.tmx site.po.gz\n"
"  skmt tm import my.tm big.tmx -s de -t en          a file of many languages\n"
"  skmt tm import my.tm a.csv --header --target-column 3\n"
"  skmt tm import my.tm book.de --target-file book.en    line by line\n"
"  skmt tm import my.tm old.tmx --skip-bad           go on after bad units\n"
"  zcat pairs.gz | skmt tm import my.tm - --format tsv\n"
"\n"
"A unit that cannot be read stops the import with file:line:column. With\n"
"--skip-bad such units are written to MEM.rejects: where, why and the text.\n"
"\n"
"The first row of a table is a header when it has names such as source and\n"
"target or two language codes; --header and --no-header decide it. A text may\n"
"have 16 MiB, a line of a table 64 MiB. An import that stores nothing says\n"
"why; its exit status is 1 when all that the files hold was left out.\n";

static const char search_page[] =
"Usage: skmt tm search MEM [TEXT ...] [OPTIONS]\n"
"\n"
"Print the most similar pairs: how similar, the stored source, its\n"
"translation, where it comes from. In the source [-this-] is not in the text\n"
"and {+this+} is only there; on a terminal it is struck out and underlined.\n"
"Without TEXT every line of standard input is searched.\n"
"\n"
"Examples:\n"
"  skmt tm search my.tm 'Die Datei wurde nicht gefunden.'\n"
"  skmt tm search my.tm --file new.txt --min-similarity 0.7\n"
"  skmt tm search my.tm -n legal -n main 'Vertrag'    two of the memories\n"
"  skmt tm search my.tm --json 'Guten Tag' | jq '.matches[0].target'\n"
"\n"
"Similarity is 1 - edit distance / longer length, counted in the pieces of a\n"
"model, or in words where there is none.\n"
"\n"
"Several translations of one source are in this order: the memory with the\n"
"highest priority first, then the translation confirmed most recently.\n"
"Adding, importing or editing a pair confirms it, and so does adding it\n"
"again; dates in an imported file count as they are. Of equal times the later\n"
"import comes first; the pairs of one import keep the order of their file.\n"
"'skmt translate' and 'skmt learn' take the first and show the others as\n"
"alternatives.\n";

static const char add_page[] =
"Usage: skmt tm add MEM [SOURCE TARGET] [OPTIONS]\n"
"\n"
"Store a pair and print its number. Without texts, or with '-', each line of\n"
"standard input is a source, a tab and a target; its number is printed when\n"
"it is safe on the disk, before the next line is read.\n"
"\n"
"Examples:\n"
"  skmt tm add my.tm 'Guten Tag' 'Good day'\n"
"  skmt tm add my.tm 'Kauf' 'purchase' --document contract-12 --author mk\n"
"  skmt tm add my.tm < pairs.tsv\n"
"\n"
"Many pairs at once are faster with 'skmt tm import my.tm pairs.tsv'.\n";

static const char edit_page[] =
"Usage: skmt tm edit MEM ID [--source TEXT] [--target TEXT]\n"
"\n"
"Change a pair; its number stays. 'skmt tm search' shows the numbers. Of\n"
"several translations of one source the one edited last is used.\n"
"\n"
"Examples:\n"
"  skmt tm edit my.tm 17 --target 'Good afternoon'\n";

static const char delete_page[] =
"Usage: skmt tm delete MEM ID ... [OPTIONS]\n"
"       skmt tm delete MEM --document D | --origin F | --source TEXT | --all\n"
"\n"
"Delete pairs by number, all of them or none; or those that have in common\n"
"what is given. --all asks first, unless there is --yes.\n"
"\n"
"Examples:\n"
"  skmt tm delete my.tm 17 18\n"
"  skmt tm delete my.tm --origin old.tmx              undo an import\n"
"  skmt tm delete my.tm --document contract-12 --source 'Kauf'\n"
"  skmt tm delete my.tm --all --yes\n";

static const char show_page[] =
"Usage: skmt tm show MEM ID\n"
"\n"
"Print all that is known of a pair.\n"
"\n"
"Examples:\n"
"  skmt tm show my.tm 17\n"
"  skmt tm show my.tm 17 --json | jq .extra\n";

static const char export_page[] =
"Usage: skmt tm export MEM [-o FILE] [OPTIONS]\n"
"\n"
"Write the pairs of a memory to a file. What a file of the same format knew\n"
"beyond the texts when it was imported is written back.\n"
"\n"
"Examples:\n"
"  skmt tm export my.tm -o all.tmx\n"
"  skmt tm export my.tm --format tsv | cut -f 1 | sort -u\n"
"  skmt tm export my.tm -n legal -o legal.xlf\n"
"  skmt tm export my.tm --format text -o all.de --target-file all.en\n";

static const char stats_page[] =
"Usage: skmt tm stats MEM [OPTIONS]\n"
"\n"
"Print counts, languages, sizes and facts about the index. With --against\n"
"also how well the memory covers a text: for each tenth of similarity the\n"
"number of lines whose best match lies there.\n"
"\n"
"Examples:\n"
"  skmt tm stats my.tm\n"
"  skmt tm stats my.tm --against new.txt\n"
"  skmt tm stats my.tm --against test.tsv --json | jq .similarity.mean\n";

static const char list_page[] =
"Usage: skmt tm list MEM\n"
"\n"
"Print the memories of a file: pairs stored, texts that differ, priority,\n"
"languages, name.\n"
"\n"
"Examples:\n"
"  skmt tm list my.tm\n"
"  skmt tm list my.tm --json | jq -r '.memories[].name'\n";

static const char set_page[] =
"Usage: skmt tm set MEM [--name NAME] [OPTIONS]\n"
"\n"
"Change a memory's priority, languages or name.\n"
"\n"
"Examples:\n"
"  skmt tm set my.tm --name legal --priority 5\n"
"  skmt tm set my.tm --name main --rename general\n";

static const char drop_page[] =
"Usage: skmt tm drop MEM --name NAME [--yes]\n"
"\n"
"Delete a memory with all its pairs. Asks first, unless there is --yes.\n"
"\n"
"Examples:\n"
"  skmt tm drop my.tm --name legal\n";

static const char check_page[] =
"Usage: skmt tm check MEM [--contradictions]\n"
"\n"
"Check the pairs, the files of the index, and whether the two agree. Prints\n"
"what is wrong; exit status 1 when something is. A damaged index is built\n"
"again by 'skmt tm rebuild'. What is readable of damaged pairs is saved by\n"
"'skmt tm recover'.\n"
"\n"
"With --contradictions the file is not checked. Instead every source with\n"
"several different translations is printed: each translation, its number,\n"
"its memory and when it was last confirmed. The one that 'skmt translate'\n"
"takes comes first and is marked with *; 'skmt help tm search' has the rule.\n"
"The exit status is 1 when there are such sources and 0 when there are none.\n"
"\n"
"Examples:\n"
"  skmt tm check my.tm\n"
"  skmt tm check my.tm --contradictions --name legal\n";

static const char rebuild_page[] =
"Usage: skmt tm rebuild MEM\n"
"\n"
"Build the index again from the stored pairs. The pairs are checked first; a\n"
"damaged file is refused.\n"
"\n"
"Examples:\n"
"  skmt tm rebuild my.tm\n";

static const char compact_page[] =
"Usage: skmt tm compact MEM\n"
"\n"
"Give back the room of what was deleted and join the files of the index. The\n"
"pairs are checked first; a damaged file is refused.\n"
"\n"
"Examples:\n"
"  skmt tm compact my.tm\n";

static const char recover_page[] =
"Usage: skmt tm recover OLD NEW\n"
"\n"
"Save what is readable of the damaged file OLD in the file NEW, which must\n"
"not exist. OLD is only read. A pair is saved when its texts match their\n"
"stored hash. Pairs keep their numbers, except those that are found only by\n"
"scanning the raw bytes of the file. Prints how many pairs were saved, how many\n"
"of them are doubtful (their document, author or times may be wrong or\n"
"missing) and how many could not be read. The exit status is 1 when nothing\n"
"could be saved or NEW could not be written.\n"
"\n"
"Examples:\n"
"  skmt tm recover my.tm saved.tm\n"
"  skmt tm recover my.tm saved.tm && skmt tm check saved.tm\n";

static const char warm_page[] =
"Usage: skmt tm warm MEM --key-file FILE [OPTIONS]\n"
"\n"
"Let the model read every pair now, and keep what it makes of them in a file:\n"
"'skmt translate --memory MEM --key-file FILE' then need not do it when such a\n"
"pair is found. What is there already is left alone. After Ctrl-C what was\n"
"made so far is kept; the same command goes on from there.\n"
"\n"
"A pair is known by its texts: a copy of the memory finds the same keys, and\n"
"one file may serve several memories. The keys of pairs that were deleted or\n"
"replaced stay in the file until the file has reached its limit, or until\n"
"--drop-others: it removes the keys of all pairs that are not in MEM (with\n"
"--name: not in the memories named), and the file becomes smaller. Do not use\n"
"it where the file serves other memories, too: their keys would go.\n"
"\n"
"Examples:\n"
"  skmt tm warm my.tm --key-file my.keys\n"
"  skmt tm warm my.tm --key-file my.keys --threads 8\n"
"  skmt tm warm my.tm --key-file my.keys --drop-others   after pairs were deleted\n"
"  skmt translate --memory my.tm --key-file my.keys letter.txt\n";

const struct page tm_pages[] = {
    { "tm", tm_page, NULL, NULL },
    { "tm create", create_page, create_options, NULL },
    { "tm import", import_page, import_options, NULL },
    { "tm search", search_page, search_options, describe_search },
    { "tm add", add_page, add_options, NULL },
    { "tm edit", edit_page, edit_options, NULL },
    { "tm delete", delete_page, delete_options, NULL },
    { "tm show", show_page, show_options, NULL },
    { "tm export", export_page, export_options, NULL },
    { "tm stats", stats_page, stats_options, describe_measure },
    { "tm list", list_page, list_options, NULL },
    { "tm set", set_page, set_options, NULL },
    { "tm drop", drop_page, drop_options, NULL },
    { "tm check", check_page, check_options, NULL },
    { "tm rebuild", rebuild_page, work_options, NULL },
    { "tm compact", compact_page, work_options, NULL },
    { "tm recover", recover_page, work_options, NULL },
    { "tm warm", warm_page, warm_options, describe_keys },
    { NULL, NULL, NULL, NULL }
};
