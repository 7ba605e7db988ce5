/* pair_options.h - the options of all commands that read pairs from files, for
 * their tables of options (common/args.h). */
#ifndef PAIR_OPTIONS_H
#define PAIR_OPTIONS_H

#define PAIR_LANGUAGE_AND_COLUMN_OPTIONS                                    \
    { "source-lang", 's', "LANG", "take the sources in this language; de "  \
      "also matches de-AT; default: the source language of the file" },     \
    { "target-lang", 't', "LANG", "take the targets in this language" },    \
    { "target-file", 0, "FILE", "the file with the target lines (format "   \
      "text)" },                                                            \
    { "source-column", 0, "N", "column of the sources (tsv, csv); default " \
      "1" },                                                                \
    { "target-column", 0, "N", "column of the targets (tsv, csv); default " \
      "2" }

#define PAIR_HEADER_OPTIONS                                                 \
    { "header", 0, NULL, "the first line is a header (tsv, csv)" },         \
    { "no-header", 0, NULL, "the first line is a pair, even if it looks "   \
      "like a header (tsv, csv)" }

#endif
