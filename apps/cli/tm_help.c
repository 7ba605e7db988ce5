/* tm_help.c - the help pages and the options of "skmt tm" and its
 * subcommands. cmd_help.c prints them. */
#include <string.h>

#include "help.h"
#include "pair_options.h"

/* ---- options that several subcommands have ------------------------------ */

/* The end of every list of options. */
#define HELP_AND_END HELP_OPTION, NO_MORE_OPTIONS
#define JSON { "json", 'j', NULL, "print the result as JSON" }
#define NAME { "name", 'n', "NAME", "which memory in the file to use; " \
               "default: the only one, or \"main\" if there are several" }
#define LANGS { "source-lang", 's', "LANG", "language of the sources, such " \
                "as de or de-AT" }, \
              { "target-lang", 't', "LANG", "language of the targets" }
#define RELAXED { "relaxed", 0, NULL, "do not wait for the disk: faster, but " \
                  "a power failure may lose the changes of the last seconds" }
#define MODEL { "model", 'm', "FILE", "measure similarity in the subword " \
                "pieces of this model; default $SKMT_MODEL, then de-en" }, \
              { "no-model", 0, NULL, "measure similarity in words; the " \
                "default if there is no model" }
#define NAMES { "name", 'n', "NAME", "search only this memory; may be given " \
                "several times; default: all memories of the file" }
#define YES { "yes", 'y', NULL, "do not ask for confirmation" }

static const struct opt create_options[] = {
    { "name", 'n', "NAME", "name of the new memory; default main" },
    LANGS,
    { "priority", 'p', "N", "among equally similar matches, those of the "
      "memory with the higher priority come first; default 0" },
    { "keep-duplicates", 0, NULL, "store equal pairs separately instead of "
      "counting them" },
    JSON, HELP_AND_END
};

static const struct opt import_options[] = {
    NAME,
    { "format", 'f', "FORMAT", "tmx, xliff, po, tsv, csv or text; default: "
      "detected from the contents" },
    PAIR_LANGUAGE_AND_COLUMN_OPTIONS,
    { "document-column", 0, "N", "column of the document names (tsv, csv)" },
    PAIR_HEADER_OPTIONS,
    { "fuzzy", 0, NULL, "also import units marked as fuzzy or not approved" },
    { "skip-bad", 0, NULL, "skip units that cannot be read instead of "
      "stopping" },
    { "rejects", 0, "FILE", "with --skip-bad: write the skipped units and the "
      "reasons to FILE; default MEM.rejects" },
    { "origin", 0, "TEXT", "store TEXT as the origin of the pairs instead of "
      "the file name" },
    RELAXED, JSON, QUIET_OPTION, HELP_AND_END
};

static const struct opt search_options[] = {
    NAMES,
    MODEL,
    { "file", 'f', "FILE", "search for every line of FILE; - is standard "
      "input, the default if there is no TEXT" },
    { "color", 0, "WHEN", "mark differences by color: auto (if the output is a "
      "terminal), always or never" },
    { "json", 'j', NULL, "print one JSON object per text" },
    QUIET_OPTION, HELP_AND_END
};

static const struct opt add_options[] = {
    NAME,
    { "document", 'd', "TEXT", "name of the document that the pair belongs "
      "to" },
    { "author", 'a', "TEXT", "author of the pair" },
    { "tagged", 0, NULL, "the texts contain inline tags; a literal < is "
      "written as &lt;" },
    RELAXED, JSON, HELP_AND_END
};

static const struct opt edit_options[] = {
    { "source", 's', "TEXT", "the new source" },
    { "target", 't', "TEXT", "the new target" },
    { "json", 'j', NULL, "print the changed pair as JSON" },
    HELP_AND_END
};

static const struct opt delete_options[] = {
    { "name", 'n', "NAME", "delete only from this memory; default: all "
      "memories of the file; with --all: the only one, or \"main\" if there "
      "are several" },
    { "document", 'd', "TEXT", "delete the pairs of this document" },
    { "origin", 0, "TEXT", "delete the pairs imported from this file" },
    { "source", 's', "TEXT", "delete the pairs with exactly this source" },
    { "target", 't', "TEXT", "delete the pairs with exactly this target" },
    { "all", 0, NULL, "delete every pair of the memory" },
    { "yes", 'y', NULL, "with --all: do not ask for confirmation" },
    JSON, QUIET_OPTION, HELP_AND_END
};

static const struct opt show_options[] = { JSON, HELP_AND_END };

static const struct opt export_options[] = {
    NAME,
    { "output", 'o', "FILE", "write to FILE instead of standard output; an "
      "existing file is replaced only when the new one is complete; a name "
      "that ends in .gz, .xz or .zst selects compression" },
    { "format", 'f', "FORMAT", "tmx, xliff, po, tsv, csv or text; default: "
      "chosen by the file name, tmx on standard output" },
    { "target-file", 0, "FILE", "the file for the targets (format text)" },
    JSON, QUIET_OPTION, HELP_AND_END
};

static const struct opt stats_options[] = {
    NAMES,
    { "against", 'a', "FILE", "also show how similar each line of FILE (up to "
      "its first tab) is to the most similar stored source; - is standard "
      "input" },
    MODEL,
    JSON, QUIET_OPTION, HELP_AND_END
};

static const struct opt list_options[] = { JSON, HELP_AND_END };

static const struct opt set_options[] = {
    NAME,
    LANGS,
    { "priority", 'p', "N", "among equally similar matches, those of the "
      "memory with the higher priority come first" },
    { "rename", 0, "NAME", "the new name of the memory" },
    JSON, HELP_AND_END
};

static const struct opt drop_options[] = {
    { "name", 'n', "NAME", "the memory to delete" },
    YES, JSON, QUIET_OPTION, HELP_AND_END
};

static const struct opt maintenance_options[] = {
    JSON, QUIET_OPTION, HELP_AND_END
};

static const struct opt check_options[] = {
    { "contradictions", 0, NULL, "list the sources that have several different "
      "translations, instead of checking the file" },
    { "name", 'n', "NAME", "with --contradictions: only in this memory; may be "
      "given several times; default: all memories of the file" },
    JSON, QUIET_OPTION, HELP_AND_END
};

static const struct opt warm_options[] = {
    { "key-file", 0, "FILE", "the file for the keys; created if it does not "
      "exist" },
    { "drop-others", 0, NULL, "afterwards, remove the keys of all pairs that "
      "are not in these memories" },
    { "name", 'n', "NAME", "only this memory of the file; may be given "
      "several times; default: all memories of the model's languages" },
    { "model", 'm', "FILE", "the model that will be used to translate; default "
      "$SKMT_MODEL, then de-en" },
    JSON, QUIET_OPTION, HELP_AND_END
};

/* ---- options of the library --------------------------------------------- */

/* Describe the search options and those of opening a model. The default number
 * of matches is lower than in the library, because a person reads them. */
static int describe_search(int i, skmt_option_info *out)
{
    for (int k = 0; skmt_option_describe(SKMT_OPTIONS_SEARCH, k, out); k++) {
        if (i-- > 0) continue;
        if (!strcmp(out->name, "matches")) out->fallback = "5";
        return 1;
    }
    return skmt_option_describe(SKMT_OPTIONS_MODEL, i, out);
}

/* Describe the options of "tm stats --against". It uses only the best match, so
 * the options that limit the number of matches are left out. */
static int describe_best_match(int i, skmt_option_info *out)
{
    for (int k = 0; skmt_option_describe(SKMT_OPTIONS_SEARCH, k, out); k++) {
        if (!strcmp(out->name, "matches")
            || !strcmp(out->name, "min-similarity")) continue;
        if (i-- == 0) return 1;
    }
    return skmt_option_describe(SKMT_OPTIONS_MODEL, i, out);
}

/* Describe the options of "tm warm": --threads, those that determine the keys
 * of a pair and the size of the key file, and those of opening a model. */
static int describe_keys(int i, skmt_option_info *out)
{
    static const char *const names[] = { "key-type", "preset", "knn-eos",
                                         "key-file-limit", "any-language" };
    int n = (int)(sizeof names / sizeof *names);

    if (i > n) return skmt_option_describe(SKMT_OPTIONS_MODEL, i - n - 1, out);
    if (i > 0) {
        for (int k = 0; skmt_option_describe(SKMT_OPTIONS_STEER, k, out); k++)
            if (!strcmp(out->name, names[i - 1])) return 1;
        return 0;
    }
    for (int k = 0; skmt_option_describe(SKMT_OPTIONS_TRANSLATE, k, out); k++)
        if (!strcmp(out->name, "threads")) return 1;
    return 0;
}

/* ---- pages -------------------------------------------------------------- */

static const char tm_page[] =
"Usage: skmt tm COMMAND MEM [OPTIONS] ...\n"
"\n"
"Manage a translation memory: a file, MEM, that stores pairs of a source text\n"
"and its translation and finds the pairs most similar to a text. Changes are\n"
"on disk when a command exits (unless --relaxed is given), and the next\n"
"search finds them.\n"
"\n"
"  skmt tm create my.tm --source-lang de --target-lang en\n"
"  skmt tm import my.tm old.tmx site.po.gz glossary.tsv\n"
"  skmt tm search my.tm 'Die Datei wurde nicht gefunden.'\n"
"  skmt tm add my.tm 'Guten Tag' 'Good day'\n"
"  skmt tm export my.tm -o all.tmx\n"
"\n"
"Commands:\n"
"  create       create a memory file, or another memory in a file\n"
"  import       read pairs from TMX, XLIFF, PO, TSV, CSV or two text files\n"
"  search       find the most similar pairs and mark the differences\n"
"  add          store one pair, or one for each line of standard input\n"
"  edit         change a pair\n"
"  delete       delete pairs\n"
"  show         print everything stored about a pair\n"
"  export       write the pairs to a file\n"
"  stats        print sizes, and how well the memory covers a text\n"
"  list         list the memories of a file\n"
"  set          change the name, languages or priority of a memory\n"
"  drop         delete a memory with all its pairs\n"
"  check        check the file for damage, or list contradictory translations\n"
"  rebuild      rebuild the index\n"
"  compact      free the disk space of deleted pairs\n"
"  recover      save the readable pairs of a damaged file\n"
"  warm         compute the keys of all pairs in advance\n"
"\n"
"  skmt help tm COMMAND   show the options and examples of a command\n"
"\n"
"Any number of programs may read a memory while one writes. Every command\n"
"prints JSON with --json.\n";

static const char create_page[] =
"Usage: skmt tm create MEM [OPTIONS]\n"
"\n"
"Create a memory file with one memory in it. If the file exists, --name adds\n"
"another memory to it, for example one for each customer.\n"
"\n"
"Examples:\n"
"  skmt tm create my.tm\n"
"  skmt tm create my.tm --source-lang de --target-lang en\n"
"  skmt tm create my.tm --name legal --priority 5\n";

static const char import_page[] =
"Usage: skmt tm import MEM FILE ... [OPTIONS]\n"
"\n"
"Read pairs from files into a memory. The format is detected from the\n"
"contents, also in files compressed with gzip, xz or zstd; '-' is standard\n"
"input. The pairs of all files become visible together. After an error or\n"
"Ctrl-C, the memory is unchanged.\n"
"\n"
"Examples:\n"
"  skmt tm import my.tm old.tmx site.po.gz\n"
"  skmt tm import my.tm big.tmx -s de -t en          a file of many languages\n"
"  skmt tm import my.tm a.csv --header --target-column 3\n"
"  skmt tm import my.tm book.de --target-file book.en    line by line\n"
"  skmt tm import my.tm old.tmx --skip-bad           skip unreadable units\n"
"  zcat pairs.gz | skmt tm import my.tm - --format tsv\n"
"\n"
"A unit is an entry of a file with a source and its target: a <tu> of TMX, a\n"
"<trans-unit> or <segment> of XLIFF, a message of PO, a row of TSV or CSV, or\n"
"a pair of lines. A unit that cannot be read stops the import with a message\n"
"that gives file, line and column. With --skip-bad, such units are written to\n"
"MEM.rejects with their position, the reason and the text.\n"
"\n"
"The first row of a table is taken as a header if it has names such as source\n"
"and target, or two language codes; --header and --no-header override this.\n"
"\n"
"Limits: 16 MiB for a source or a target, 64 MiB for a line of TSV or PO and\n"
"for a row of CSV. If nothing was imported, a message says why. The exit\n"
"status is 1 if every unit was skipped, and 0 if the files had no units.\n";

static const char search_page[] =
"Usage: skmt tm search MEM [TEXT ...] [OPTIONS]\n"
"\n"
"Print the most similar pairs: the similarity, the stored source, its\n"
"translation, and where the pair comes from. In the source, [-this-] is\n"
"missing from your text and {+this+} is only in your text; on a terminal\n"
"these are struck out and underlined. Without TEXT, each line of standard\n"
"input is searched for.\n"
"\n"
"Examples:\n"
"  skmt tm search my.tm 'Die Datei wurde nicht gefunden.'\n"
"  skmt tm search my.tm --file new.txt --min-similarity 0.7\n"
"  skmt tm search my.tm -n legal -n main 'Vertrag'    two of the memories\n"
"  skmt tm search my.tm --json 'Guten Tag' | jq '.matches[0].target'\n"
"\n"
"Similarity is 1 - edit distance / length of the longer text, counted in the\n"
"subword pieces of a model, or in words if there is no model.\n"
"\n"
"If a source has several translations, those of the memory with the highest\n"
"priority come first, then the one confirmed most recently. A pair is\n"
"confirmed when it is added (even if it was already stored), imported or\n"
"edited. If an imported file gives a date for a pair, that date counts\n"
"instead of the time of the import. If the times are equal, the later import\n"
"comes first; pairs of one import keep the order of their file. 'skmt\n"
"translate' and 'skmt learn' use the first translation and show the others\n"
"as alternatives.\n";

static const char add_page[] =
"Usage: skmt tm add MEM [SOURCE TARGET] [OPTIONS]\n"
"\n"
"Store a pair and print its id. Without texts, or with '-', read pairs from\n"
"standard input: each line is a source, a tab and a target. The id of each\n"
"pair is printed once the pair is safely on disk, before the next\n"
"line is read.\n"
"\n"
"Examples:\n"
"  skmt tm add my.tm 'Guten Tag' 'Good day'\n"
"  skmt tm add my.tm 'Kauf' 'purchase' --document contract-12 --author mk\n"
"  skmt tm add my.tm < pairs.tsv\n"
"\n"
"For many pairs, 'skmt tm import my.tm pairs.tsv' is faster.\n";

static const char edit_page[] =
"Usage: skmt tm edit MEM ID [--source TEXT] [--target TEXT]\n"
"\n"
"Change the source or target of a pair. The pair keeps its id; 'skmt tm\n"
"search' shows the ids. Editing also confirms the pair, so it comes first\n"
"among the translations of its source in this memory (see 'skmt help tm\n"
"search').\n"
"\n"
"Examples:\n"
"  skmt tm edit my.tm 17 --target 'Good afternoon'\n";

static const char delete_page[] =
"Usage: skmt tm delete MEM ID ...\n"
"       skmt tm delete MEM [--document TEXT] [--origin TEXT] [--source TEXT]\n"
"                      [--target TEXT]\n"
"       skmt tm delete MEM --all\n"
"\n"
"Delete pairs by their ids, or all pairs that match every option given. If\n"
"one of the ids does not exist, nothing is deleted. --all asks for\n"
"confirmation, unless --yes is given.\n"
"\n"
"Examples:\n"
"  skmt tm delete my.tm 17 18\n"
"  skmt tm delete my.tm --origin old.tmx              undo an import\n"
"  skmt tm delete my.tm --document contract-12 --source 'Kauf'\n"
"  skmt tm delete my.tm --all --yes\n";

static const char show_page[] =
"Usage: skmt tm show MEM ID\n"
"\n"
"Print everything stored about a pair.\n"
"\n"
"Examples:\n"
"  skmt tm show my.tm 17\n"
"  skmt tm show my.tm 17 --json | jq .extra\n";

static const char export_page[] =
"Usage: skmt tm export MEM [-o FILE] [OPTIONS]\n"
"\n"
"Write the pairs of a memory to a file. Properties that were imported from a\n"
"file of the same format, such as notes and dates, are written back.\n"
"\n"
"Examples:\n"
"  skmt tm export my.tm -o all.tmx\n"
"  skmt tm export my.tm --format tsv | cut -f 1 | sort -u\n"
"  skmt tm export my.tm -n legal -o legal.xlf\n"
"  skmt tm export my.tm --format text -o all.de --target-file all.en\n";

static const char stats_page[] =
"Usage: skmt tm stats MEM [OPTIONS]\n"
"\n"
"Print counts, languages, sizes and properties of the index. With --against,\n"
"also show how well the memory covers a text: a histogram of the similarity\n"
"of each line to its best match, in steps of 0.1.\n"
"\n"
"Examples:\n"
"  skmt tm stats my.tm\n"
"  skmt tm stats my.tm --against new.txt\n"
"  skmt tm stats my.tm --against test.tsv --json | jq .similarity.mean\n";

static const char list_page[] =
"Usage: skmt tm list MEM\n"
"\n"
"List the memories of a file: number of stored pairs, number of distinct\n"
"texts, priority, languages and name.\n"
"\n"
"Examples:\n"
"  skmt tm list my.tm\n"
"  skmt tm list my.tm --json | jq -r '.memories[].name'\n";

static const char set_page[] =
"Usage: skmt tm set MEM [--name NAME] [OPTIONS]\n"
"\n"
"Change the priority, languages or name of a memory.\n"
"\n"
"Examples:\n"
"  skmt tm set my.tm --name legal --priority 5\n"
"  skmt tm set my.tm --name main --rename general\n";

static const char drop_page[] =
"Usage: skmt tm drop MEM --name NAME [--yes]\n"
"\n"
"Delete a memory with all its pairs. Asks for confirmation, unless --yes is\n"
"given.\n"
"\n"
"Examples:\n"
"  skmt tm drop my.tm --name legal\n";

static const char check_page[] =
"Usage: skmt tm check MEM [--contradictions]\n"
"\n"
"Check the stored pairs and the index files, and whether they agree. Prints\n"
"each problem; the exit status is 1 if there are any. 'skmt tm rebuild'\n"
"repairs a damaged index. 'skmt tm recover' saves the readable pairs of a\n"
"damaged file.\n"
"\n"
"With --contradictions, the file is not checked. Instead, every source with\n"
"several different translations is listed: each translation with its id,\n"
"its memory and the time it was last confirmed. The one that 'skmt translate'\n"
"uses comes first and is marked with *; 'skmt help tm search' explains the\n"
"order. The exit status is 1 if there are such sources and 0 if there are\n"
"none.\n"
"\n"
"Examples:\n"
"  skmt tm check my.tm\n"
"  skmt tm check my.tm --contradictions --name legal\n";

static const char rebuild_page[] =
"Usage: skmt tm rebuild MEM\n"
"\n"
"Rebuild the index from the stored pairs. The pairs are checked first; if\n"
"they are damaged, the command fails (see 'skmt help tm recover').\n"
"\n"
"Examples:\n"
"  skmt tm rebuild my.tm\n";

static const char compact_page[] =
"Usage: skmt tm compact MEM\n"
"\n"
"Free the disk space of deleted pairs and merge the index files. The pairs\n"
"are checked first; if they are damaged, the command fails (see 'skmt help tm\n"
"recover').\n"
"\n"
"Examples:\n"
"  skmt tm compact my.tm\n";

static const char recover_page[] =
"Usage: skmt tm recover OLD NEW\n"
"\n"
"Save the readable pairs of the damaged file OLD in the file NEW, which must\n"
"not exist. OLD is not changed. A pair is saved if its texts match their\n"
"stored hash. Pairs keep their ids, except those that are found only by\n"
"scanning the raw bytes of the file. Prints how many pairs were saved, how\n"
"many of them are doubtful (their document, author or times may be wrong or\n"
"missing) and how many could not be read. The exit status is 1 if nothing\n"
"could be saved or NEW could not be written.\n"
"\n"
"Examples:\n"
"  skmt tm recover my.tm saved.tm\n"
"  skmt tm recover my.tm saved.tm && skmt tm check saved.tm\n";

static const char warm_page[] =
"Usage: skmt tm warm MEM --key-file FILE [OPTIONS]\n"
"\n"
"Compute the keys of every pair now and store them in a file. Keys are the\n"
"decoder states that steer a translation. 'skmt translate --memory MEM\n"
"--key-file FILE' then reads them instead of computing them when a pair is\n"
"first used. Keys that are already in the file are not computed again. After\n"
"Ctrl-C, the keys computed so far are kept, and the same command continues\n"
"from there.\n"
"\n"
"The keys of a pair depend only on its texts, the model, --key-type and\n"
"--knn-eos, so a copy of the memory can use the same keys, and several\n"
"memories can use one key file. The keys of deleted or replaced pairs stay in\n"
"the file until it reaches its size limit, or until you use --drop-others:\n"
"this removes the keys of all pairs that are not in MEM (with --name: not in\n"
"the named memories) and makes the file smaller. Do not use it if other\n"
"memories also use the key file: their keys would be removed.\n"
"\n"
"Examples:\n"
"  skmt tm warm my.tm --key-file my.keys\n"
"  skmt tm warm my.tm --key-file my.keys --threads 8\n"
"  skmt tm warm my.tm --key-file my.keys --drop-others   after deleting pairs\n"
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
    { "tm stats", stats_page, stats_options, describe_best_match },
    { "tm list", list_page, list_options, NULL },
    { "tm set", set_page, set_options, NULL },
    { "tm drop", drop_page, drop_options, NULL },
    { "tm check", check_page, check_options, NULL },
    { "tm rebuild", rebuild_page, maintenance_options, NULL },
    { "tm compact", compact_page, maintenance_options, NULL },
    { "tm recover", recover_page, maintenance_options, NULL },
    { "tm warm", warm_page, warm_options, describe_keys },
    { NULL, NULL, NULL, NULL }
};
