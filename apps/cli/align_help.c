/* align_help.c - the help page and the options of "skmt align". */
#include "help.h"
#include "pair_options.h"

const struct opt align_options[] = {
    { "output", 'o', "FILE", "write the links to FILE instead of standard "
      "output; FILE appears, or replaces an old one, only when it is complete; "
      "compressed if its name ends in .gz, .xz or .zst" },
    { "method", 0, "METHOD", "which links to print: forward (each target "
      "word has at most one), reverse (each source word has at most one), or "
      "how both are joined: intersect, union, grow-diag or "
      "grow-diag-final-and; default grow-diag-final-and" },
    { "print", 'p', "WHAT", "numbers: links such as 0-0 1-2 (Pharaoh format); "
      "words: the linked words, to read; tokens: the words that the numbers "
      "count, without links and without training; none: nothing, for --save; "
      "default numbers" },
    { "evaluate", 'e', "GOLD", "compare the links with a reference in Pharaoh "
      "format and print precision, recall and alignment error rate instead of "
      "the links; 3?4 or 3p4 is a possible link; write the links with -o" },
    { "save", 0, "FILE", "write the learned parameters to FILE" },
    { "load", 0, "FILE", "align with parameters from FILE instead of learning "
      "them from the pairs" },
    { "pieces", 0, "MODEL", "align the pieces of a model instead of words; "
      "MODEL is a file or the name of an installed model" },
    { "tokenized", 0, NULL, "the texts are tokenized: words are what is "
      "between spaces" },
    { "keep-case", 0, NULL, "words that differ in case are different words; "
      "default: words are compared in lower case" },
    { "iterations", 'i', "N", "iterations of the training; default 5" },
    { "alpha", 0, "X", "strength of the prior that favors few translations "
      "for each word (variational Bayes); 0: none, maximum likelihood; default "
      "0.01" },
    { "null-prob", 0, "X", "probability that a word has no counterpart; "
      "default 0.08" },
    { "tension", 0, "X", "how much links near the diagonal are preferred when "
      "the training begins, 0.1 to 14; it is learned from the second "
      "iteration on; default 4" },
    { "threads", 0, "N", "threads for the training; the result is the same; "
      "default 1" },
    { "memory", 'M', "FILE", "also read the pairs of this memory file "
      "(skmt tm)" },
    { "name", 'n', "NAME", "only this memory of the file; default: all" },
    { "format", 'f', "FORMAT", "format of the PAIRS: tmx, xliff, po, tsv, csv "
      "or text; default: detected from the contents" },
    PAIR_LANGUAGE_AND_COLUMN_OPTIONS,
    PAIR_HEADER_OPTIONS,
    { "fuzzy", 0, NULL, "also use units marked as fuzzy or not approved" },
    { "json", 'j', NULL, "print one JSON object per pair with its words and "
      "links; with --evaluate: one object with the scores" },
    { "quiet", 'q', NULL, "do not show progress and the report of the "
      "training" },
    HELP_OPTION,
    NO_MORE_OPTIONS
};

const char align_page[] =
"Usage: skmt align [OPTIONS] PAIRS ...\n"
"       skmt align [OPTIONS] --memory FILE\n"
"\n"
"Find the words of each pair that are translations of each other. PAIRS are\n"
"files that 'skmt tm import' can read: TMX, XLIFF, PO, TSV, CSV or two plain\n"
"texts (--target-file), compressed or not; '-' is standard input. The output\n"
"has one line for each pair: links between word numbers that count from 0,\n"
"source first. A word may have several links or none.\n"
"\n"
"  $ printf 'Das Haus\\tthe house\\nDas Buch\\tthe book\\n' > a.tsv\n"
"  $ skmt align -q a.tsv\n"
"  0-0 1-1\n"
"  0-0 1-1\n"
"\n"
"A word is a word of Unicode in lower case or a punctuation mark; 'skmt align\n"
"--print tokens' shows them. The links are learned from the pairs themselves,\n"
"without a model, so many pairs give better links: a few thousand at least.\n"
"To align a few new pairs, learn from a large file once and keep what was\n"
"learned (--save, --load).\n"
"\n"
"While it learns, the command reports for both directions and each iteration\n"
"the log-likelihood of the texts, the perplexity per word (lower is better)\n"
"and the tension: how much links near the diagonal are preferred.\n"
"\n"
"A pair with an empty text, or with more than 1000 words in a text, gets an\n"
"empty line. So line N of the output belongs to line N of a TSV file that has\n"
"no header. Units in other languages and unfinished units get no line.\n"
"\n"
"Examples:\n"
"  skmt align law.tsv.xz -o law.links\n"
"  skmt align --print words law.tmx | head        look at the links\n"
"  skmt align law.tsv --save law.align --print none\n"
"  skmt align --load law.align new.tsv            no training\n"
"  skmt align --method intersect law.tsv          fewer, safer links\n"
"  skmt align --pieces de-en --memory my.tm       pieces of the model\n"
"  skmt align --tokenized -f text a.tok.de --target-file a.tok.en\n"
"  skmt align --load law.align --evaluate gold.pharaoh test.tsv\n";
