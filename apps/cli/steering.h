/* steering.h - the memory a command translates with: its options, opening it,
 * pairs that come from a file instead, and settings kept in a file.
 *
 * Commands that translate list STEERING_OPTIONS among their own, hand each
 * one to steering_option(), and steering_open() it when there is a model. */
#ifndef STEERING_H
#define STEERING_H

#include "args.h"
#include "lines.h"
#include "progress.h"
#include "skmt.h"

#define STEERING_OPTIONS                                                      \
    { "memory", 'M', "FILE",                                                  \
      "steer the translation by this translation memory (skmt tm): similar "  \
      "stored sentences influence the translation, an identical one is "      \
      "reused" },                                                             \
        { "name", 'n', "NAME",                                                \
          "use only this memory of the file; may be given several times" },   \
        { "key-file", 0, "FILE",                                              \
          "store the keys of memory pairs in FILE, so that they are computed "\
          "only once; created if it does not exist (see skmt help tm warm)" },\
    {                                                                         \
        "settings", 0, "FILE",                                                \
            "read options from FILE, as written by skmt tune; options on the "\
            "command line override them"                                      \
    }

struct steering {
    const char *memory, *key_file, *settings;
    const char **names;         /* [n_names] */
    int n_names, cap_names;
    skmt_tm *tm;
    skmt_keys *keys;            /* NULL: the session's own */
    struct progress progress;   /* of what opening may take */
    char what[32];
};

/* One of ours? Then it is taken, and *status is an exit status. */
bool steering_option(struct steering *s, const struct args *a, int *status);
/* Says so when there is no file of that name. An exit status. */
int memory_must_exist(const char *path);
/* The settings file's options into o; call before those of the command line
 * are set. An exit status. */
int steering_settings(const struct steering *s, skmt_options *o);
/* Open what was asked for; nothing at all is fine. quiet: no progress. An exit
 * status. */
int steering_open(struct steering *s, const skmt_model *model,
                  const skmt_options *o, skmt_tm_mode mode, bool quiet);
bool steering_wanted(const struct steering *s);
/* Before the model is closed, after sessions and streams. */
void steering_close(struct steering *s);

/* One of skmt_keys_stat's numbers; 0: there is none of that name. */
int64_t keys_stat(skmt_keys *keys, const char *wanted);
/* Say so when the file was of an older version. */
void note_remade_keys(skmt_keys *keys, const char *file);

/* Every option of the library that has to do with translating. */
int steered_option_describe(int i, skmt_option_info *out);

/* ---- pairs from a file */

/* One line of JSON for each text: {"tm": [["source", "target", 0.8], ..]},
 * and, to be sure it is the right one, perhaps "src": the text. */
struct pair_lines {
    struct lines in;
    const char *file;
    skmt_similar *pairs;        /* [n] of the last line */
    int n, cap;
    void *json;                 /* that hold them */
    char message[600];          /* of a failure: "file:line: what" */
};
void pair_lines_open(struct pair_lines *p, const char *const *file,
                     int wake_fd);
/* The pairs of the next text. False: message says why, or is empty when a
 * signal came. */
bool pair_lines_next(struct pair_lines *p, const struct input_line *text);
void pair_lines_close(struct pair_lines *p);

#endif
