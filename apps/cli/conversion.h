/* conversion.h - what skmt convert and skmt model add have in common: the
 * options of a conversion, its report, and progress. */
#ifndef CONVERSION_H
#define CONVERSION_H

#include <stdbool.h>
#include <stdint.h>

/* The settings of skmt_conversion_set. */
#define CONVERSION_OPTIONS                                                    \
    { "type", 0, "TYPE", "number format of the weights: f32, bf16 or int8; "  \
      "default int8" },                                                       \
    { "family", 0, "NAME", "take the files for a model of this family, "      \
      "whatever they look like; a wrong name lists the families" },           \
    { "source-lang", 0, "CODE", "source language, if the files do not say "   \
      "it; of a multilingual model: the default for --from of the other "     \
      "commands" },                                                           \
    { "target-lang", 0, "CODE", "target language, likewise" },                \
    { "tokenizer", 0, "FILE", "the SentencePiece model, if it is not with "   \
      "the other files" },                                                    \
    { "target-tokenizer", 0, "FILE", "that of the target, if it has its "     \
      "own" },                                                                \
    { "heads", 0, "N", "number of attention heads, if the files do not say "  \
      "it" },                                                                 \
    { "positions", 0, "KIND", "compute positions in another way than usual "  \
      "for the family: halves (Marian, fairseq), halves-hf (Marian models in "\
      "Hugging Face), in-turn (OpenNMT)" },                                   \
    { "checkpoint", 0, "FILE", "of several checkpoints of fairseq in a "      \
      "folder, the one to convert" }

/* A skmt_conversion_fn; user is a struct progress. It stops when a signal has
 * arrived, so that the library removes its temporary file. */
int conversion_show_progress(void *user, uint64_t done, uint64_t total);

/* Print the report, or only its warnings. */
void conversion_print_report(const char *report, bool quiet);

/* Print a line with the size of a file: "written     FILE, 63 MB". */
void conversion_print_result(const char *what, const char *path);

#endif
