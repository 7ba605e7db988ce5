/* knn_help.c - the help pages and the options of "skmt knn" and its
 * subcommands. cmd_help.c prints them. */
#include "common/steering.h"
#include "help.h"
#include "pair_options.h"

#define KNN_HELP_AND_END HELP_OPTION, NO_MORE_OPTIONS
#define KNN_JSON { "json", 'j', NULL, "print the result as JSON" }
#define KNN_NAMES { "name", 'n', "NAME", "only this memory of the file; may " \
                    "be given several times; default: all memories of the " \
                    "model's languages" }, \
                  { "any-language", 0, NULL, "also use memories whose " \
                    "languages are not those of the model" }
#define KNN_THREADS { "threads", 0, "N", "number of CPU threads; default 1; " \
                      "the result is the same" }
#define KNN_BLOCK { "block", 0, "N", "write to the disk each time there are " \
                    "N new entries; default 16384" }
#define KNN_ALIGNMENT { "alignment", 'a', "FILE", "alignment parameters for " \
                        "the pieces of the model, as written by 'skmt align " \
                        "--pieces MODEL --save FILE'" }

static const struct opt knn_build_options[] = {
    { "memory", 'M', "FILE", "the translation memory (skmt tm)" },
    KNN_NAMES,
    { "output", 'o', "STORE", "the datastore to write" },
    MODEL_OPTION, MODEL_PAIR_OPTIONS,
    { "type", 't', "TYPE", "how states are stored: int8, or f16 in twice the "
      "space; default int8" },
    { "key", 'k', "STATE", "which states are stored: final: those from which "
      "the next token is predicted; ffn: the input of the last feed-forward "
      "block, as in the first kNN-MT paper; default final" },
    { "no-eos", 0, NULL, "store no state for the end (EOS) of a translation" },
    { "limit", 'l', "N", "use a random sample of N pairs" },
    { "seed", 0, "N", "another seed gives another sample; default 1" },
    { "sources", 0, NULL, "also store the states of the source tokens, and "
      "which target tokens they are aligned to, for --system fast; needs "
      "--alignment" },
    KNN_ALIGNMENT,
    KNN_THREADS, KNN_BLOCK, KNN_JSON, QUIET_OPTION, KNN_HELP_AND_END
};

static const struct opt knn_add_options[] = {
    { "memory", 'M', "FILE", "add the pairs of this memory" },
    KNN_NAMES,
    { "format", 'f', "FORMAT", "format of the files: tmx, xliff, po, tsv, csv "
      "or text; default: detected from the contents" },
    PAIR_LANGUAGE_AND_COLUMN_OPTIONS,
    PAIR_HEADER_OPTIONS,
    { "fuzzy", 0, NULL, "also add units marked as fuzzy or not approved" },
    MODEL_OPTION, MODEL_PAIR_OPTIONS,
    KNN_ALIGNMENT,
    KNN_THREADS, KNN_BLOCK, KNN_JSON, QUIET_OPTION, KNN_HELP_AND_END
};

static const struct opt knn_index_options[] = {
    { "datastore", 0, "STORE", "the datastore" },
    { "output", 'o', "FILE", "the index to write; it replaces an old file "
      "when it is complete; default: STORE.index" },
    { "lists", 'l', "N", "how many lists the entries are divided into; "
      "default 4096, fewer for a small datastore" },
    { "subvectors", 0, "N", "bytes of a code; must divide the numbers of a "
      "key; default 64, or the largest divisor below" },
    { "probes", 0, "N", "lists that a search reads, unless 'skmt translate "
      "--probes' says how many; default 32" },
    { "train-sample", 0, "N", "keys that the lists and codes are trained "
      "with; default 64 for each list, and at least 65536" },
    { "seed", 0, "N", "another seed gives another sample; default 1" },
    KNN_THREADS, KNN_JSON, QUIET_OPTION, KNN_HELP_AND_END
};

static const struct opt knn_delete_options[] = {
    { "id", 'i', "N", "delete the pair that has this id in the memory; may be "
      "given several times" },
    { "source", 's', "TEXT", "delete the pairs with exactly this source" },
    { "target", 't', "TEXT", "delete the pairs with exactly this target" },
    { "missing-from", 0, "FILE", "delete the pairs that are not in this "
      "memory (any more)" },
    { "name", 'n', "NAME", "with --missing-from: only this memory of the "
      "file; may be given several times" },
    KNN_JSON, KNN_HELP_AND_END
};

static const struct opt knn_check_options[] = {
    KNN_JSON, QUIET_OPTION, KNN_HELP_AND_END
};

static const struct opt knn_info_options[] = { KNN_JSON, KNN_HELP_AND_END };

static const struct opt knn_sample_options[] = {
    { "number", 'n', "N", "how many entries; default 10" },
    { "seed", 0, "N", "another seed gives other entries; default 1" },
    { "model", 'm', "FILE", "the model of the datastore, to show tokens as "
      "text; default $SKMT_MODEL, then de-en" },
    KNN_JSON, KNN_HELP_AND_END
};

static const struct opt knn_compact_options[] = {
    { "output", 'o', "NEW", "the datastore to write; it replaces an old file "
      "when it is complete" },
    KNN_JSON, QUIET_OPTION, KNN_HELP_AND_END
};

static const struct opt knn_reduce_options[] = {
    { "dims", 'd', "N", "numbers of a state in the copy; default 256" },
    { "output", 'o', "NEW", "the datastore to write; it replaces an old file "
      "when it is complete" },
    { "sample", 0, "N", "compute the map from N random states; default "
      "100000" },
    { "seed", 0, "N", "another seed gives another sample; default 1" },
    KNN_THREADS, KNN_JSON, QUIET_OPTION, KNN_HELP_AND_END
};

static const struct opt knn_merge_options[] = {
    { "k", 'k', "N", "compare each entry with the N nearest ones, itself "
      "included; a larger N merges more; default 2" },
    { "index", 0, "FILE", "find the nearest entries by this index (skmt knn "
      "index): much faster, and nearly the same result" },
    { "probes", 0, "N", "lists of the index that a search reads; default as in "
      "the index; fewer lists take less time and merge less" },
    { "output", 'o', "NEW", "the datastore to write; it replaces an old file "
      "when it is complete" },
    { "seed", 0, "N", "another seed visits the entries in another order; "
      "default 1" },
    KNN_THREADS, KNN_JSON, QUIET_OPTION, KNN_HELP_AND_END
};

static const struct opt knn_train_options[] = {
    { "system", 's', "NAME", "adaptive: train the network of this system; "
      "vanilla: find fixed settings (k, tau, lambda) for systems vanilla and "
      "efficient; default adaptive" },
    { "datastore", 'D', "STORE", "the datastore that will be searched" },
    { "dev", 'd', "FILE", "pairs with good translations, which should not be "
      "in the datastore; '-' is standard input" },
    { "output", 'o', "FILE", "write a settings file, for 'skmt translate "
      "--settings FILE'" },
    { "k", 'k', "N", "neighbors of the network: 1, 2, 4, 8, 16 or 32; default "
      "32" },
    { "tau", 0, "X", "temperature of the network; 0: that of the best fixed "
      "settings; default 0" },
    { "limit", 'l', "N", "use only N of the pairs, evenly spaced" },
    { "seed", 0, "N", "another seed gives another network; default 1" },
    { "updates", 0, "N", "train for at most N updates; default 5000" },
    { "format", 'f', "FORMAT", "format of the pairs: tmx, xliff, po, tsv, csv "
      "or text; default: detected from the contents" },
    { "source-lang", 0, "LANG", "take the sources in this language" },
    { "target-lang", 0, "LANG", "take the targets in this language" },
    { "target-file", 0, "FILE", "the file with the target lines (format "
      "text)" },
    { "source-column", 0, "N", "column of the sources (tsv, csv); default 1" },
    { "target-column", 0, "N", "column of the targets (tsv, csv); default 2" },
    PAIR_HEADER_OPTIONS,
    MODEL_OPTION, MODEL_PAIR_OPTIONS,
    KNN_THREADS, KNN_JSON, QUIET_OPTION, KNN_HELP_AND_END
};

static const struct opt knn_involved_options[] = {
    DATASTORE_OPTIONS,
    MODEL_OPTION,
    { "settings", 0, "FILE", "read options from FILE, as written by skmt tune "
      "or skmt knn train; options on the command line override them" },
    { "output", 'o', "FILE", "write the list to FILE instead of standard "
      "output" },
    { "stats", 0, NULL, "at the end, print statistics as one line of JSON on "
      "standard error" },
    QUIET_OPTION, KNN_HELP_AND_END
};

/* ---- pages -------------------------------------------------------------- */

static const char knn_page[] =
"Usage: skmt knn COMMAND [OPTIONS] ...\n"
"\n"
"Make a datastore: a file, STORE, with the decoder states of all pairs of a\n"
"memory, each with the token that followed it (an entry). The kNN-MT systems\n"
"that search a whole memory at each step read it; SK-MT and learned trust do\n"
"not need one. A datastore belongs to one model.\n"
"\n"
"  skmt knn build --memory my.tm -o my.knn\n"
"  skmt knn info my.knn\n"
"  skmt translate --datastore my.knn letter.txt\n"
"\n"
"Commands:\n"
"  build        make a datastore from a memory\n"
"  add          add pairs that it does not have yet\n"
"  index        make an index, for faster and approximate search\n"
"  delete       delete pairs\n"
"  check        check it for damage\n"
"  info         print its properties, or those of an index\n"
"  sample       print random entries\n"
"  compact      write a copy without deleted pairs\n"
"  reduce       write a copy with shorter states\n"
"  merge        write a copy with fewer entries\n"
"  train        find settings, or train a network, for translating with it\n"
"  involved     list the few pairs that a translation needs\n"
"\n"
"  skmt help knn COMMAND   show the options and examples of a command\n"
"\n"
"Any number of programs may read a datastore while one writes. What a command\n"
"has stored survives kill -9 and power failures.\n";

static const char knn_build_page[] =
"Usage: skmt knn build --memory FILE -o STORE [OPTIONS]\n"
"\n"
"Run every pair of a memory through the model, and store the states of the\n"
"decoder with the tokens that follow them. Each distinct pair is stored\n"
"once. The progress line shows rate, size and time left. A token takes\n"
"0.5 KB with the shipped model, so 100,000 pairs of 30 tokens take 1.6 GB.\n"
"\n"
"If the command is stopped, by Ctrl-C, kill -9 or a full disk, the same\n"
"command continues it. An unfinished datastore cannot be used to translate.\n"
"A finished one is not overwritten.\n"
"\n"
"Examples:\n"
"  skmt knn build --memory my.tm -o my.knn --threads 2\n"
"  skmt knn build --memory my.tm -o few.knn --limit 200000   a random sample\n"
"  skmt knn build --memory my.tm -n legal -o legal.knn --type f16\n"
"\n"
"For --system fast, the source tokens are stored, too. First align the pieces\n"
"of the pairs:\n"
"  skmt align --pieces de-en --memory my.tm --save my.align --print none\n"
"  skmt knn build --memory my.tm -o my.knn --sources --alignment my.align\n";

static const char knn_add_page[] =
"Usage: skmt knn add STORE FILE ... [OPTIONS]\n"
"       skmt knn add STORE --memory FILE [OPTIONS]\n"
"\n"
"Add the pairs of files or of a memory that the datastore does not have yet.\n"
"The files may have any format that 'skmt tm import' reads; '-' is standard\n"
"input. If the command is stopped, the pairs stored so far are kept, and the\n"
"same command adds the rest.\n"
"\n"
"Examples:\n"
"  skmt knn add my.knn new.tmx\n"
"  skmt knn add my.knn --memory my.tm         what was added to the memory\n"
"  skmt knn add my.knn --memory my.tm && skmt knn delete my.knn \\\n"
"      --missing-from my.tm                   follow all its changes\n";

static const char knn_index_page[] =
"Usage: skmt knn index --datastore STORE [-o FILE] [OPTIONS]\n"
"\n"
"Make an IVF-PQ index of a datastore. Without an index, each step of a\n"
"translation compares its state with all keys. With it, a step reads a few\n"
"lists of short codes, and computes the exact distances of the best\n"
"candidates only. Some neighbors are missed.\n"
"\n"
"The index belongs to this datastore. Pairs that are deleted later are not\n"
"found. Pairs that are added later are found, by comparing all of them; make\n"
"the index again when there are many. It needs the plug-in for Faiss, which\n"
"is built if Debian's libfaiss-dev is installed.\n"
"\n"
"Examples:\n"
"  skmt knn index --datastore my.knn --threads 2\n"
"  skmt translate --datastore my.knn --index my.knn.index letter.txt\n"
"  skmt translate --datastore my.knn --index my.knn.index --probes 64 \\\n"
"      --rerank 8 letter.txt                  slower, with fewer misses\n";

static const char knn_delete_page[] =
"Usage: skmt knn delete STORE [--id N] ... [--source TEXT] [--target TEXT]\n"
"       skmt knn delete STORE --missing-from FILE [--name NAME]\n"
"\n"
"Delete the pairs that match every option given, or those that a memory does\n"
"not have any more. They are not found from then on. Their texts and states\n"
"stay in the file until 'skmt knn compact' writes a new one.\n"
"\n"
"Examples:\n"
"  skmt knn delete my.knn --id 17 --id 18\n"
"  skmt knn delete my.knn --source 'Guten Tag'\n"
"  skmt knn delete my.knn --missing-from my.tm\n";

static const char knn_check_page[] =
"Usage: skmt knn check STORE\n"
"\n"
"Check the whole file. Every command that opens a datastore checks all but\n"
"the states, which are most of the file; this command also reads these.\n"
"Prints each problem; the exit status is 1 if there are any. A damaged\n"
"datastore must be built again.\n"
"\n"
"Examples:\n"
"  skmt knn check my.knn\n";

static const char knn_info_page[] =
"Usage: skmt knn info STORE|INDEX\n"
"\n"
"Print the properties of a datastore: what its states are, how many pairs and\n"
"entries it has, and its size. Or print those of an index (skmt knn index),\n"
"after checking all of it.\n"
"\n"
"Examples:\n"
"  skmt knn info my.knn\n"
"  skmt knn info my.knn --json | jq .entries\n";

static const char knn_sample_page[] =
"Usage: skmt knn sample STORE [-n N] [OPTIONS]\n"
"\n"
"Print random entries with their pairs. In the target, [brackets] mark the\n"
"token of the entry. Its state was computed from the source and the part of\n"
"the target before the brackets. norm is the norm of the state; weight is the\n"
"number of entries that were merged into this one.\n"
"\n"
"Examples:\n"
"  skmt knn sample my.knn -n 3\n"
"  skmt knn sample my.knn -n 1000 --json | jq -r .text | sort | uniq -c\n";

static const char knn_compact_page[] =
"Usage: skmt knn compact STORE -o NEW\n"
"\n"
"Write a copy of a datastore without its deleted pairs, and with large\n"
"blocks. Many small additions make a datastore slower to open and to search;\n"
"the copy is as fast as a new one. STORE is not changed.\n"
"\n"
"Examples:\n"
"  skmt knn compact my.knn -o new.knn && mv new.knn my.knn\n";

static const char knn_reduce_page[] =
"Usage: skmt knn reduce STORE -o NEW [--dims N] [OPTIONS]\n"
"\n"
"Write a copy of a datastore with shorter states: their principal components.\n"
"The copy is smaller, and searches are faster, but some nearest entries are\n"
"missed. The command prints how much of the variance of the states is kept.\n"
"Pairs can be deleted from it, but not added: add them to STORE, and reduce\n"
"it again. A datastore can be reduced once.\n"
"\n"
"Examples:\n"
"  skmt knn reduce my.knn --dims 128 -o short.knn\n"
"  skmt knn merge my.knn -o few.knn && skmt knn reduce few.knn -o small.knn\n";

static const char knn_merge_page[] =
"Usage: skmt knn merge STORE -o NEW [-k N] [OPTIONS]\n"
"\n"
"Write a copy of a datastore with fewer entries. If two entries are near each\n"
"other and have the same token, one of them is kept, and counts for both. The\n"
"nearest entries of each entry are searched. Without an index the time grows\n"
"with the square of the number of entries, and is long for more than some\n"
"100,000. Pairs can be deleted from the copy, but not added: add them to\n"
"STORE, and merge it again. A datastore can be merged once.\n"
"\n"
"Examples:\n"
"  skmt knn merge my.knn -o few.knn --threads 2\n"
"  skmt knn merge my.knn -k 8 -o fewer.knn\n"
"  skmt knn index --datastore my.knn -o my.index && \\\n"
"      skmt knn merge my.knn --index my.index -o few.knn\n";

static const char knn_train_page[] =
"Usage: skmt knn train --datastore STORE --dev FILE [-o FILE] [OPTIONS]\n"
"\n"
"Find out how far translations should follow a datastore. The pairs of the\n"
"dev file run through the model as if it had just written them, and at each\n"
"token the nearest entries are searched. Then values of k and tau are tried,\n"
"each with its best lambda, and the network of system adaptive is trained.\n"
"The table shows the negative log-likelihood of a token, in nats; lower is\n"
"better. A few hundred pairs are enough.\n"
"\n"
"Every fourth pair is held out: it only decides when the training stops.\n"
"Its losses tell how good the settings are for new texts. Pairs that are in\n"
"the datastore, too, make the memory look better than it is; the command\n"
"counts them.\n"
"\n"
"Examples:\n"
"  skmt knn train --datastore my.knn --dev dev.tsv -o my.settings\n"
"  skmt translate --datastore my.knn --settings my.settings letter.txt\n"
"  skmt knn train -s vanilla -D my.knn -d dev.tsv -o fixed.settings\n";

static const char knn_involved_page[] =
"Usage: skmt knn involved --datastore STORE [FILE ...] [OPTIONS]\n"
"\n"
"Translate each line with a datastore, and find a small set of pairs such\n"
"that every step of the translation has at least one neighbor of them. The\n"
"set is found greedily: first the pair that is a neighbor at the most steps,\n"
"then the one that adds most. A few pairs are enough for most sentences.\n"
"That is why SK-MT needs no datastore.\n"
"\n"
"The output is the list that 'skmt translate --pairs' reads. So SK-MT can\n"
"translate with just these pairs.\n"
"\n"
"Statistics (--stats): lines; steps, and steps that have neighbors; per line,\n"
"the neighbors, the pairs they are of, the pairs of the set, their entries,\n"
"and the size of these as 16-bit numbers; the different pairs of all sets,\n"
"and their share of the datastore.\n"
"\n"
"Examples:\n"
"  skmt knn involved --datastore my.knn --stats letter.txt > letter.pairs\n"
"  skmt translate --pairs letter.pairs --matches 100 --preset sk2 letter.txt\n";

const struct page knn_pages[] = {
    { "knn", knn_page, NULL, NULL },
    { "knn build", knn_build_page, knn_build_options, NULL },
    { "knn add", knn_add_page, knn_add_options, NULL },
    { "knn index", knn_index_page, knn_index_options, NULL },
    { "knn delete", knn_delete_page, knn_delete_options, NULL },
    { "knn check", knn_check_page, knn_check_options, NULL },
    { "knn info", knn_info_page, knn_info_options, NULL },
    { "knn sample", knn_sample_page, knn_sample_options, NULL },
    { "knn compact", knn_compact_page, knn_compact_options, NULL },
    { "knn reduce", knn_reduce_page, knn_reduce_options, NULL },
    { "knn merge", knn_merge_page, knn_merge_options, NULL },
    { "knn train", knn_train_page, knn_train_options, NULL },
    { "knn involved", knn_involved_page, knn_involved_options,
      involved_option_describe },
    { NULL, NULL, NULL, NULL }
};
