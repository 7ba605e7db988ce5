/* steering.h - the translation memory that steers a translation: its options,
 * opening it, pairs from a file in its place, and settings from a file.
 *
 * A command that translates lists STEERING_OPTIONS among its own options,
 * passes each option to steering_option(), and calls steering_open() once the
 * model is open. */
#ifndef COMMON_STEERING_H
#define COMMON_STEERING_H

#include "common/args.h"
#include "common/lines.h"
#include "common/progress.h"
#include "skmt_tools.h"

#define STEERING_OPTIONS                                                      \
    { "memory", 'M', "FILE",                                                  \
      "steer the translation by this translation memory (skmt tm): similar "  \
      "stored sentences influence the translation, an identical one is "      \
      "reused" },                                                             \
        { "name", 'n', "NAME",                                                \
          "use only this memory of the file; may be given several times; "    \
      "default: all memories of the model's languages" },                 \
        { "key-file", 0, "FILE",                                              \
          "store the keys of memory pairs in FILE, so that they are computed "\
          "only once; created if it does not exist (see skmt help tm warm)" },\
    {                                                                         \
        "settings", 0, "FILE",                                                \
            "read options from FILE, as written by skmt tune; options on the "\
            "command line override them"                                      \
    }

/* For commands that can search a datastore of all pairs. */
#define DATASTORE_OPTIONS                                                     \
    { "datastore", 0, "FILE",                                                 \
      "search all pairs of this datastore (skmt knn build) at each step; "    \
      "without --memory and --system, the system is vanilla" },               \
        { "index", 0, "FILE",                                                 \
          "search the datastore by this index (skmt knn index): faster and "  \
          "approximate" },                                                    \
        { "probes", 0, "N",                                                   \
          "lists of the index that a search reads; default: as it was built, "\
          "32" },                                                             \
    {                                                                         \
        "rerank", 0, "N",                                                     \
            "candidates of the index for each neighbor whose exact distances "\
            "are computed; 0: use the approximate distances; default 4"       \
    }

/* For commands that can use system pieces. */
#define ALIGNMENT_OPTION                                                      \
    { "alignment", 0, "FILE",                                                 \
      "system pieces: align similar pairs with these parameters (skmt align " \
      "--pieces MODEL --save FILE), which is faster; without it, the "        \
      "attention of the decoder aligns them" }

struct steering {
    const char *memory, *key_file, *settings, *datastore, *index, *alignment;
    const char *probes, *rerank;        /* as typed; NULL: the default */
    skmt_datastore *ds;         /* NULL: none */
    skmt_aligner *aligner;      /* NULL: none */
    const char **names;         /* [n_names] */
    int n_names, cap_names;
    skmt_tm *tm;
    skmt_keys *keys;            /* NULL: the session uses its own */
    struct progress progress;   /* of work on the memory before its first use */
    char stage[32];             /* what progress shows; "" if nothing */
};

/* Stores the value of option a if it is one of these options and sets
 * *status to an exit status. Returns false if it is another option. */
bool steering_option(struct steering *s, const struct args *a, int *status);
/* Prints an error if the memory file does not exist. Returns an exit status. */
int memory_must_exist(const char *path);
/* Sets the options of the settings file, if any, in o. Call this before the
 * options of the command line are set. Returns an exit status. */
int steering_settings(const struct steering *s, skmt_options *o);
/* Chooses a system if there is only a datastore. Call this after the options of
 * the command line were set. Returns an exit status. */
int steering_choose_system(const struct steering *s, skmt_options *o);
/* Opens the key file, the datastore, the alignment and the memory, as far as
 * they were given.
 * quiet: do not show progress. Returns an exit status. */
int steering_open(struct steering *s, const skmt_model *model,
                  const skmt_options *o, skmt_tm_mode mode, bool quiet);
/* Whether a memory is used with a model if no memory is named
 * (skmt_tm_use_with). */
bool memory_fits_model(const skmt_tm_info *m, const skmt_model *model,
                       skmt_options *o);
/* Whether --memory was given. */
bool steering_has_memory(const struct steering *s);
/* Call this after freeing sessions and streams, before closing the model. */
void steering_close(struct steering *s);

/* One of the numbers of skmt_keys_stat(), by its name; 0 if unknown. */
int64_t keys_stat(skmt_keys *keys, const char *wanted);
/* Prints a note if the key file had an older version and was emptied. */
void note_remade_keys(skmt_keys *keys, const char *file);

/* Describes every option of the library that affects translations. */
int steered_option_describe(int i, skmt_option_info *out);

/* ---- pairs from a file */

/* Reads option --pairs: one line of JSON for each text,
 * {"tm": [["source", "target", 0.8], ..]}. If the object has a member "src",
 * it must be equal to the text. */
struct pair_lines {
    struct lines in;
    const char *file;
    skmt_similar *pairs;        /* [n] of the last line */
    int n, cap;
    void *json;                 /* the last line, parsed; owns the strings of
                                   pairs */
    char message[600];          /* error: "file:line: reason" */
};
void pair_lines_open(struct pair_lines *p, const char *const *file,
                     int wake_fd);
/* Reads the pairs of the next text into p->pairs. Returns false on failure:
 * message has the error, or is empty after a signal. */
bool pair_lines_next(struct pair_lines *p, const struct input_line *text);
void pair_lines_close(struct pair_lines *p);

#endif
