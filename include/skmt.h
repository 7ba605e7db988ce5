/* skmt.h - machine translation with a Transformer, on the CPU.
 *
 *     skmt_error err;
 *     skmt_model *model;
 *     if (skmt_model_open(&model, "de-en.skmt", &err)) {
 *         fprintf(stderr, "%s\n", err.message);
 *         return 1;
 *     }
 *     char *english = skmt_translate(model, "Guten Morgen!", &err);
 *     if (english) puts(english);
 *     skmt_free(english);
 *     skmt_model_close(model);
 *
 * Three tiers, each with its own needs in mind:
 *   1. skmt_translate()            one text in, one text out;
 *   2. skmt_session                many texts one after the other: scratch
 *                                  memory is kept, n-best, scores, pieces,
 *                                  a forced beginning of the translation;
 *   3. skmt_stream                 a whole corpus: texts are batched, shared
 *                                  among threads, and come back in order.
 *
 * Errors are values: what can fail returns skmt_status (0 is good) or NULL,
 * and fills the caller's skmt_error (may be NULL) with a sentence. The library
 * never prints, exits or aborts, and installs no signal handlers. With AMX it
 * asks Linux for the use of tiles (unless SKMT_ISA says otherwise), after which
 * sigaltstack() wants at least getauxval(AT_MINSIGSTKSZ) bytes.
 *
 * Threads: a skmt_model is immutable; any number of threads and sessions may
 * use one. A session, a result and an options object belong to one thread at
 * a time. A stream is fed by one thread; its callback comes from a thread of
 * the stream or from inside push and flush (one call at a time, in input
 * order) and must not call the stream.
 * Close a model only after the last session and stream that use it, and after
 * memory files that were searched with it.
 *
 * All text is UTF-8. Strings passed with a length need no NUL; those returned
 * have one. Handles are opaque, structs given by value never change size, and
 * every call is a plain C function, so foreign-function interfaces can use
 * all of it. */
#ifndef SKMT_H
#define SKMT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SKMT_API __attribute__((visibility("default")))
#else
#define SKMT_API
#endif

/* ---- errors ---------------------------------------------------------- */

typedef enum skmt_status {
    SKMT_OK = 0,
    SKMT_NOMEM,         /* out of memory */
    SKMT_IO,            /* a file could not be read or written */
    SKMT_FORMAT,        /* a file is damaged or of another kind */
    SKMT_VERSION,       /* a file was made for another version */
    SKMT_ARGUMENT,      /* an argument or option is not usable */
    SKMT_TEXT,          /* the text is not valid UTF-8 */
    SKMT_LIMIT,         /* a limit was exceeded */
    SKMT_CANCELED       /* stopped before the end */
} skmt_status;

typedef struct skmt_error {
    int32_t status;             /* a skmt_status */
    char message[500];          /* a sentence without the final period */
} skmt_error;

SKMT_API const char *skmt_status_text(skmt_status status);
SKMT_API const char *skmt_version(void);            /* "0.1.0" */

/* ---- model ----------------------------------------------------------- */

typedef struct skmt_model skmt_model;

/* Map a .skmt file and check it whole. The weights are shared with every
 * other process that opened the same file. */
SKMT_API skmt_status skmt_model_open(skmt_model **out, const char *path,
                                     skmt_error *err);
SKMT_API void skmt_model_close(skmt_model *model);  /* NULL is fine */

/* Facts: "name", "source_lang", "target_lang", "type" ("int8"..), "checksum"
 * (16 hexadecimal digits that cover the whole file), "d_model",
 * "encoder_layers", .. one per line of `skmt info`. NULL: no such fact.
 * skmt_model_fact_name counts them through: NULL after the last. The strings
 * live as long as the model. */
SKMT_API const char *skmt_model_fact(const skmt_model *model,
                                     const char *name);
SKMT_API const char *skmt_model_fact_name(const skmt_model *model, int i);

/* The kernels in use: "amx", "avx512", "avx2" or "ref"; and the processor's
 * name. */
SKMT_API const char *skmt_isa(void);
SKMT_API const char *skmt_cpu(void);

/* ---- options --------------------------------------------------------- */

typedef struct skmt_options skmt_options;

SKMT_API skmt_options *skmt_options_new(void);      /* NULL: no memory */
SKMT_API void skmt_options_free(skmt_options *o);   /* NULL is fine */

/* Set by name, as on the command line without the dashes:
 *     skmt_options_set(o, "beam", "1", &err);
 * The error names the option and what it takes. */
SKMT_API skmt_status skmt_options_set(skmt_options *o, const char *name,
                                      const char *value, skmt_error *err);
/* The value as text, until the next get on the same object; NULL: unknown. */
SKMT_API const char *skmt_options_get(skmt_options *o, const char *name);
/* The same, but where an option leaves the choice to the library (0, -1), what
 * is chosen with this model (NULL: as far as that is known without one).
 * steered: for a translation with a memory; 0: without, or a search. */
SKMT_API const char *skmt_options_in_force(skmt_options *o,
                                           const skmt_model *model,
                                           int steered, const char *name);

/* The list of all options, for help pages and forms: false after the last. */
typedef struct skmt_option_info {
    const char *name;           /* "beam" */
    const char *kind;           /* "int", "float", "bool", "size" (256M) or
                                   "auto|none".. */
    const char *fallback;       /* the default, as text */
    const char *help;           /* a sentence */
} skmt_option_info;
SKMT_API int skmt_option_describe(int i, skmt_option_info *out);

/* ---- tier 1: one text ------------------------------------------------ */

/* Translate with the default options. NULL on error; free with skmt_free. */
SKMT_API char *skmt_translate(const skmt_model *model, const char *text,
                              skmt_error *err);
SKMT_API void skmt_free(void *p);                   /* NULL is fine */

/* ---- results --------------------------------------------------------- */

/* What became of one input text. The text may have been several sentences
 * (option "split"); `hyp` counts translations of the whole text, best first,
 * `seg` its sentences in order. Pointers live as long as the result. An index
 * that does not exist gives 0, "" or a piece with id -1.
 *
 * Spans count bytes of the text as it was translated: with option "invalid"
 * set to "replace" a byte that was not UTF-8 counts as the three of U+FFFD. */
typedef struct skmt_result skmt_result;

SKMT_API void skmt_result_free(skmt_result *r);     /* NULL is fine */
SKMT_API int skmt_result_hyps(const skmt_result *r);
SKMT_API const char *skmt_result_text(const skmt_result *r, int hyp,
                                      size_t *len);     /* len may be NULL */
/* Sum over the sentences: score is log-probability / length penalty. */
SKMT_API double skmt_result_score(const skmt_result *r, int hyp);
SKMT_API double skmt_result_logprob(const skmt_result *r, int hyp);

SKMT_API int skmt_result_segs(const skmt_result *r);
/* Bytes [begin, end) of the input that sentence came from. */
SKMT_API void skmt_result_seg_span(const skmt_result *r, int seg,
                                   size_t *begin, size_t *end);
SKMT_API double skmt_result_seg_score(const skmt_result *r, int hyp, int seg);

/* One piece of a text. For source pieces [begin, end) is the span of the
 * input it stands for; for target pieces it is the span of the translation
 * (skmt_result_text) it wrote. */
typedef struct skmt_piece {
    int32_t id;
    float logprob;              /* of a target piece; 0 for source pieces */
    size_t begin, end;
    const char *text;           /* as in the vocabulary, NUL-terminated */
} skmt_piece;

SKMT_API int skmt_result_source_pieces(const skmt_result *r, int seg);
SKMT_API void skmt_result_source_piece(const skmt_result *r, int seg, int i,
                                       skmt_piece *out);
/* Target pieces of a sentence; the last one is the end of sentence when the
 * search found one (its span is empty). */
SKMT_API int skmt_result_target_pieces(const skmt_result *r, int hyp, int seg);
SKMT_API void skmt_result_target_piece(const skmt_result *r, int hyp, int seg,
                                       int i, skmt_piece *out);
/* With option "attention": the cross-attention of the last layer, averaged
 * over heads, of target piece i over the source pieces of its sentence, and
 * over the marks the model puts before and after them (for most models an end
 * mark, last). NULL without the option. n, when not NULL, gets the count. */
SKMT_API const float *skmt_result_attention(const skmt_result *r, int hyp,
                                            int seg, int i, int *n);

/* ---- tier 2: a session ----------------------------------------------- */

typedef struct skmt_session skmt_session;

/* options may be NULL; they are copied. */
SKMT_API skmt_status skmt_session_new(skmt_session **out,
                                      const skmt_model *model,
                                      const skmt_options *options,
                                      skmt_error *err);
SKMT_API void skmt_session_free(skmt_session *s);   /* NULL is fine */

/* Translate one text. prefix, when not NULL, is the beginning the translation
 * must have. The result is the caller's. */
SKMT_API skmt_status skmt_session_translate(skmt_session *s, const char *text,
                                            size_t len, const char *prefix,
                                            skmt_result **out,
                                            skmt_error *err);
/* Several at once, batched. results[i] is NULL where texts[i] failed, and the
 * first failure is returned. prefixes may be NULL, or hold NULLs. */
SKMT_API skmt_status skmt_session_translate_many(skmt_session *s,
                                                 const char *const *texts,
                                                 const char *const *prefixes,
                                                 size_t n,
                                                 skmt_result **results,
                                                 skmt_error *err);

/* ---- tier 3: a stream ------------------------------------------------ */

typedef struct skmt_stream skmt_stream;

/* Called once per pushed text, in the order they were pushed. The result is
 * the stream's and gone after the call; it is NULL when that text failed, and
 * err then says why. Return non-zero to cancel the stream. */
typedef int skmt_stream_fn(void *user, uint64_t number, skmt_result *result,
                           const skmt_error *err);

/* Starts as many workers as option "threads" says. */
SKMT_API skmt_status skmt_stream_new(skmt_stream **out,
                                     const skmt_model *model,
                                     const skmt_options *options,
                                     skmt_stream_fn *fn, void *user,
                                     skmt_error *err);
/* Hand in the next text (copied). Waits while enough is on its way. */
SKMT_API skmt_status skmt_stream_push(skmt_stream *s, const char *text,
                                      size_t len, const char *prefix,
                                      skmt_error *err);
/* Wait until all that was pushed has been delivered; more may follow. When it
 * returns no callback is running. */
SKMT_API skmt_status skmt_stream_flush(skmt_stream *s, skmt_error *err);
/* Stop soon: texts not yet delivered are dropped. Safe from any thread, but
 * not from a signal handler. */
SKMT_API void skmt_stream_cancel(skmt_stream *s);
/* Totals so far: texts, sentences, target pieces delivered. */
SKMT_API void skmt_stream_counts(const skmt_stream *s, uint64_t *texts,
                                 uint64_t *sentences, uint64_t *tokens);
SKMT_API void skmt_stream_free(skmt_stream *s);     /* cancels, waits */

/* ---- translation memory ----------------------------------------------- */

/* A memory file holds pairs of texts for good, in any number of named
 * memories; equal pairs are kept once in the index and every occurrence on
 * record. What a call has stored is on the disk when it returns, and the next
 * search of any thread or process finds it.
 *
 *     skmt_tm *tm;
 *     skmt_tm_open(&tm, "my.tm", SKMT_TM_CREATE, &err);
 *     skmt_tm_add(tm, NULL, "Guten Tag", "Good day", &id, &err);
 *     skmt_tm_search(tm, "Guten Tag!", 10, NULL, NULL, &matches, &err);
 *
 * A skmt_tm belongs to one thread at a time. Open the file once per thread (and
 * process): one writes while all others read, readers wait for nobody, writers
 * for each other. A memory's name may be NULL where one is asked for: then it
 * is the only one of the file, or "main". */
typedef struct skmt_tm skmt_tm;

typedef enum skmt_tm_mode {
    SKMT_TM_READ = 0,           /* must exist; may lie on a read-only disk */
    SKMT_TM_WRITE = 1,          /* must exist */
    SKMT_TM_CREATE = 2          /* is made when it does not exist */
} skmt_tm_mode;

SKMT_API skmt_status skmt_tm_open(skmt_tm **out, const char *path,
                                  skmt_tm_mode mode, skmt_error *err);
SKMT_API void skmt_tm_close(skmt_tm *tm);           /* NULL is fine */

/* Do not wait for the disk at each change: a power cut may lose the last
 * seconds, a killed process nothing. */
SKMT_API void skmt_tm_relaxed(skmt_tm *tm, int relaxed);

/* Work that takes longer calls this now and then: what is being done, how much
 * of how much (0: not known), and units so far ("pairs"). Non-zero stops it. */
typedef int skmt_tm_progress_fn(void *user, const char *what, uint64_t done,
                                uint64_t total, uint64_t units);
SKMT_API void skmt_tm_progress(skmt_tm *tm, skmt_tm_progress_fn *fn,
                               void *user);

/* Memories of the file. Strings live until the next call on tm. */
typedef struct skmt_tm_info {
    const char *name;
    const char *source_lang, *target_lang;      /* "" when not known */
    int32_t priority;           /* higher wins among equal matches */
    int32_t keep_duplicates;
    int64_t created;            /* seconds since 1970, UTC */
    int64_t pairs;              /* occurrences */
    int64_t texts;              /* distinct pairs: what is searched */
    int64_t source_bytes, target_bytes;         /* of the texts */
} skmt_tm_info;
SKMT_API skmt_status skmt_tm_count(skmt_tm *tm, int *n, skmt_error *err);
SKMT_API skmt_status skmt_tm_get_info(skmt_tm *tm, int i, skmt_tm_info *out,
                                      skmt_error *err);
/* What the file holds, in a few numbers, to recognize it again: two states of
 * one file with the same last_change and counts have the same texts. */
typedef struct skmt_tm_state {
    uint64_t identity;          /* drawn at random when the file was made */
    int64_t last_change;        /* number of the newest change of its texts */
    int64_t pairs, texts;       /* of all its memories */
} skmt_tm_state;
SKMT_API skmt_status skmt_tm_get_state(skmt_tm *tm, skmt_tm_state *out,
                                       skmt_error *err);
/* settings: name, languages, priority and keep_duplicates are read; languages
 * may be NULL. A file's first memory is made by the first add or import when
 * this was not called. */
SKMT_API skmt_status skmt_tm_create(skmt_tm *tm, const skmt_tm_info *settings,
                                    skmt_error *err);
/* key: "name", "priority", "source-lang" or "target-lang". */
SKMT_API skmt_status skmt_tm_set(skmt_tm *tm, const char *memory,
                                 const char *key, const char *value,
                                 skmt_error *err);
SKMT_API skmt_status skmt_tm_drop(skmt_tm *tm, const char *memory,
                                  skmt_error *err);

/* ---- pairs of a memory */

/* Strings are NUL-terminated and never NULL when the library gives them; those
 * the caller gives may be NULL. Texts given in the tagged form (XML escapes
 * and inline elements) say so by tagged; what comes back has both forms. */
typedef struct skmt_pair {
    int64_t id;
    const char *memory;
    const char *source, *target;                /* plain: tags stripped */
    const char *source_tagged, *target_tagged;  /* as stored; NULL: no tags */
    const char *source_lang, *target_lang;
    const char *origin;         /* file it was imported from, or "" */
    const char *document;
    const char *unit;           /* its own name in that file, or "" */
    const char *author;
    const char *extra;          /* JSON: what only its format knows, or "" */
    int64_t position;           /* in that file, from 1; 0: added by hand */
    int64_t created, changed;   /* seconds since 1970, UTC */
} skmt_pair;

/* A source or a target may have 16 MiB (SKMT_LIMIT otherwise), whether it is
 * added, replaced or imported. */
SKMT_API skmt_status skmt_tm_add(skmt_tm *tm, const char *memory,
                                 const char *source, const char *target,
                                 int64_t *id, skmt_error *err);
/* With all a pair can have; id, memory and origin are not read. Where
 * source_tagged is not NULL it and target_tagged are stored. */
SKMT_API skmt_status skmt_tm_add_pair(skmt_tm *tm, const char *memory,
                                      const skmt_pair *pair, int64_t *id,
                                      skmt_error *err);
/* NULL leaves a side as it is. The id stays. */
SKMT_API skmt_status skmt_tm_replace(skmt_tm *tm, int64_t id,
                                     const char *source, const char *target,
                                     skmt_error *err);
SKMT_API skmt_status skmt_tm_delete(skmt_tm *tm, int64_t id, skmt_error *err);
/* All that match what is given (NULL: any; not all four texts), in one step;
 * *n counts. */
SKMT_API skmt_status skmt_tm_delete_where(skmt_tm *tm, const char *memory,
                                          const char *origin,
                                          const char *document,
                                          const char *source,
                                          const char *target, int64_t *n,
                                          skmt_error *err);
/* Several changes as one: nobody else sees them, and nothing is safe, before
 * the commit; searches of tm itself do. Begins may nest: the last commit
 * counts. Imports, rebuild and compact are steps of their own and refuse. */
SKMT_API skmt_status skmt_tm_begin(skmt_tm *tm, skmt_error *err);
SKMT_API skmt_status skmt_tm_commit(skmt_tm *tm, skmt_error *err);
SKMT_API void skmt_tm_rollback(skmt_tm *tm);

/* out's strings live until the next call on tm. */
SKMT_API skmt_status skmt_tm_get(skmt_tm *tm, int64_t id, skmt_pair *out,
                                 skmt_error *err);

/* Every pair of a memory, by ascending id, as of now. */
typedef struct skmt_tm_cursor skmt_tm_cursor;
SKMT_API skmt_status skmt_tm_cursor_open(skmt_tm_cursor **out, skmt_tm *tm,
                                         const char *memory, skmt_error *err);
/* *found is 0 at the end; strings live until the next call. */
SKMT_API skmt_status skmt_tm_cursor_next(skmt_tm_cursor *c, skmt_pair *out,
                                         int *found, skmt_error *err);
SKMT_API void skmt_tm_cursor_close(skmt_tm_cursor *c);

/* ---- finding */

/* Search these memories only, instead of all of the file (n = 0). */
SKMT_API skmt_status skmt_tm_use(skmt_tm *tm, const char *const *memories,
                                 int n, skmt_error *err);

/* The options of a search, set by skmt_options_set like all others; false
 * after the last. */
SKMT_API int skmt_search_option_describe(int i, skmt_option_info *out);

typedef struct skmt_matches skmt_matches;
typedef struct skmt_match {
    skmt_pair pair;             /* the oldest occurrence */
    double similarity;          /* 0 .. 1 */
    double score;               /* BM25 */
    int64_t occurrences;
} skmt_match;
/* The most similar pairs, best first. Similarity is counted in the model's
 * pieces, or in words where model is NULL. options may be NULL. Among equally
 * similar pairs of several memories that of the higher priority comes first,
 * then the newer.
 *
 * Several translations of one source are in the order of precedence: first the
 * memory with the higher priority, then the translation confirmed last, that
 * is, the one whose occurrences have the latest `changed` time. An add, an
 * import, a replacement and a repeated add confirm a pair; dates in an imported
 * file count as they are. Of equal times the later import comes first, and
 * within an import the order of the file is kept. Inline tags and space at
 * either end of a source do not count. A session or stream that uses the
 * memory takes the first of them. */
SKMT_API skmt_status skmt_tm_search(skmt_tm *tm, const char *text, size_t len,
                                    const skmt_options *options,
                                    const skmt_model *model,
                                    skmt_matches **out, skmt_error *err);
SKMT_API int skmt_matches_count(const skmt_matches *m);
SKMT_API void skmt_matches_get(const skmt_matches *m, int i, skmt_match *out);
/* How match i's source differs from the text, word by word, in the order of
 * reading; false after the last. kind is '=' (both have it) or '-' (the match
 * alone), bytes of the match's source, or '+' (the text alone), bytes of the
 * text. */
SKMT_API int skmt_matches_edit(const skmt_matches *m, int i, int k,
                               char *kind, size_t *begin, size_t *end);
SKMT_API void skmt_matches_free(skmt_matches *m);   /* NULL is fine */

/* ---- steering a translation */

/* A session or stream that uses a memory finds for each sentence the pairs most
 * like it and lets them steer the model, token by token (options "preset", "k",
 * "tau" ..); a sentence that is stored word for word is taken as it stands
 * (option "exact"). Presets "sk1" and "sk2" are tuned for use, "paper-sk1" and
 * "paper-sk2" have exactly the settings of the SK-MT paper:
 *
 *     skmt_session_use(session, tm, NULL, &err);
 *     skmt_session_translate(session, text, len, NULL, &result, &err);
 *
 * What is added to tm between two calls steers the second. */

/* The options of this, set by skmt_options_set like all others; false after
 * the last. */
SKMT_API int skmt_steer_option_describe(int i, skmt_option_info *out);

/* Keys: what the model makes of a pair. Kept in memory as far as option
 * "key-cache" allows, and in a file when one is named (made when it does not
 * exist), so that they are not computed again. A pair is known by its texts:
 * the same pair has the same keys in every memory, and one file may serve
 * several memories. Sessions and streams of any threads may share keys; options
 * must agree in "key-type" and in "knn-eos", whose default depends on
 * "preset". A file of an older version is emptied
 * when it is opened, and "file_remade" is 1 then. */
typedef struct skmt_keys skmt_keys;
SKMT_API skmt_status skmt_keys_new(skmt_keys **out, const skmt_model *model,
                                   const skmt_options *options,
                                   const char *file, skmt_error *err);
/* After the sessions and streams that use them. */
SKMT_API void skmt_keys_free(skmt_keys *keys);      /* NULL is fine */
/* Numbers: "hits", "file_hits", "misses", "pairs", "bytes", "limit",
 * "file_pairs", "file_bytes", "file_limit", "file_remade" .. NULL after the
 * last. Counted when i is 0; one thread at a time asks. */
SKMT_API const char *skmt_keys_stat(skmt_keys *keys, int i, int64_t *value);
/* Make the keys of every pair of the memories tm uses, those that are not
 * there yet; *made, when not NULL, counts. Then a file is brought below its
 * limit, and space that it does not use is returned to the file system. tm's
 * progress function is called. */
SKMT_API skmt_status skmt_keys_warm(skmt_keys *keys, skmt_tm *tm,
                                    const skmt_options *options,
                                    int64_t *made, skmt_error *err);
/* Remove from the file the keys of all pairs that are not in the memories tm
 * uses: of pairs that were deleted or replaced, and those of other memories;
 * *removed, when not NULL, counts. They are overwritten, and their space is
 * returned to the file system. Without a file this does nothing. */
SKMT_API skmt_status skmt_keys_drop_others(skmt_keys *keys, skmt_tm *tm,
                                           int64_t *removed, skmt_error *err);

/* From now on. tm is borrowed, and searched by the thread that calls translate
 * or push; NULL: only pairs that are given. keys may be NULL: the session's or
 * stream's own then. */
SKMT_API skmt_status skmt_session_use(skmt_session *s, skmt_tm *tm,
                                      skmt_keys *keys, skmt_error *err);
SKMT_API skmt_status skmt_stream_use(skmt_stream *s, skmt_tm *tm,
                                     skmt_keys *keys, skmt_error *err);

/* Pairs the caller has found itself, best first, instead of a search; the
 * first ones are used, as many as a search would give. */
typedef struct skmt_similar {
    const char *source, *target;
    double similarity;          /* 0 .. 1, told again by results */
} skmt_similar;
SKMT_API skmt_status skmt_session_translate_with(
    skmt_session *s, const char *text, size_t len, const char *prefix,
    const skmt_similar *pairs, int n, skmt_result **out, skmt_error *err);
SKMT_API skmt_status skmt_stream_push_with(skmt_stream *s, const char *text,
                                           size_t len, const char *prefix,
                                           const skmt_similar *pairs, int n,
                                           skmt_error *err);

/* What a result owes to the memory. Pairs of a sentence, best first; texts are
 * "" and id is 0 unless option "explain" was set (the similarity always is
 * there).
 *
 * When a sentence is stored word for word and its translation was taken
 * (option "exact"), pair 0 is the one that was taken, and only its exact is 1:
 * ask pair 0 whether a sentence was taken. The pairs after it are the
 * alternatives: one for each other translation of the same sentence, in the
 * order of precedence (see skmt_tm_search). They have had no influence. All of
 * these pairs have their texts, whatever option "explain" says. */
typedef struct skmt_steering {
    const char *source, *target;
    const char *memory;         /* its name; "" for a given pair */
    int64_t id;                 /* of the pair, 0 for a given one */
    double similarity;
    int32_t exact;              /* the translation is this pair's target */
} skmt_steering;
SKMT_API int skmt_result_pairs(const skmt_result *r, int seg);
SKMT_API void skmt_result_pair(const skmt_result *r, int seg, int i,
                               skmt_steering *out);
/* With option "explain": how much of target piece i's probability was the
 * memory's to give (0 .. 1), and how many stored states spoke. */
SKMT_API double skmt_result_trust(const skmt_result *r, int hyp, int seg,
                                  int i, int *votes);
typedef struct skmt_vote {
    int32_t pair;               /* of skmt_result_pair */
    int32_t position;           /* of the token in that pair's target, from 0 */
    int32_t id;                 /* the token it spoke for */
    const char *text;           /* as in the vocabulary */
    double distance;            /* squared, between states */
    double share;               /* of the memory's part; all add up to 1 */
} skmt_vote;
SKMT_API void skmt_result_vote(const skmt_result *r, int hyp, int seg, int i,
                               int vote, skmt_vote *out);
/* Decoder passes a sentence took part in: with drafts fewer than its steps. */
SKMT_API int skmt_result_passes(const skmt_result *r, int seg);

/* Work done so far: decoder "passes", "rows" in them, "steps" of all sentences
 * (without drafts each is part of a pass), rows "drafted" ahead of time and how
 * many of those were "used". NULL after the last. */
SKMT_API const char *skmt_session_stat(skmt_session *s, int i,
                                       int64_t *value);
/* The same of all workers; after a flush. */
SKMT_API const char *skmt_stream_stat(skmt_stream *s, int i, int64_t *value);

/* ---- files in and out */

/* How to read, and what came of it. */
typedef struct skmt_import skmt_import;
SKMT_API skmt_import *skmt_import_new(void);        /* NULL: no memory */
SKMT_API void skmt_import_free(skmt_import *i);     /* NULL is fine */
/* "format" (tmx, xliff, po, tsv, csv, text; by content when not set),
 * "source-lang", "target-lang", "target-file" (text: the other language),
 * "source-column", "target-column", "document-column", "header" (the first
 * row of a table is no pair), "no-header" (it is one; when neither is set, a
 * row that looks like a header is none), "fuzzy", "skip-bad" (yes or no),
 * "origin" (shown instead of the file's name). */
SKMT_API skmt_status skmt_import_set(skmt_import *i, const char *key,
                                     const char *value, skmt_error *err);
/* With skip-bad: every unit left out. Non-zero stops the import. */
typedef int skmt_reject_fn(void *user, const char *file, uint64_t line,
                           uint64_t column, const char *why, const char *raw,
                           size_t raw_len);
SKMT_API void skmt_import_rejects(skmt_import *i, skmt_reject_fn *fn,
                                  void *user);
/* All pairs of the files become visible at once, or none does. "-" is standard
 * input. */
SKMT_API skmt_status skmt_tm_import(skmt_tm *tm, const char *memory,
                                    const char *const *paths, int n,
                                    skmt_import *how, skmt_error *err);
/* Of the last import: "pairs", "texts" (new ones), "empty",
 * "other-language", "unfinished", "bad", "headers" (first rows of tables that
 * were taken as headers because they look like one). -1: no such count. */
SKMT_API int64_t skmt_import_count(const skmt_import *i, const char *what);

/* Write a memory (NULL: as above) to a file, "-" for standard output. format
 * NULL: by the file's ending. target_path for format "text". *n may be NULL. */
SKMT_API skmt_status skmt_tm_export(skmt_tm *tm, const char *memory,
                                    const char *path, const char *format,
                                    const char *target_path, int64_t *n,
                                    skmt_error *err);

/* ---- care */

/* Is all sound: the store, the index's files as they lie on the disk, the one
 * against the other. fn is called for each problem. */
typedef void skmt_problem_fn(void *user, const char *sentence);
SKMT_API skmt_status skmt_tm_check(skmt_tm *tm, skmt_problem_fn *fn,
                                   void *user, int *n_problems,
                                   skmt_error *err);
/* One of several translations of a source. */
typedef struct skmt_translation {
    skmt_pair pair;             /* the occurrence that was confirmed last */
    int64_t confirmed;          /* when: its `changed` */
    int64_t occurrences;
    int32_t priority;           /* of its memory */
} skmt_translation;
/* Non-zero stops the listing. All strings live until the function returns;
 * it must not use the skmt_tm. */
typedef int skmt_contradiction_fn(void *user, const char *source,
                                  const skmt_translation *list, int n);
/* Call fn for each source that has several different translations in the
 * memories tm uses, with all of them in the order of precedence (see
 * skmt_tm_search): list[0] is the one that is taken. *n, when not NULL, counts
 * the sources. */
SKMT_API skmt_status skmt_tm_contradictions(skmt_tm *tm,
                                            skmt_contradiction_fn *fn,
                                            void *user, int64_t *n,
                                            skmt_error *err);
/* Build the index again; drop dead rows and join index files. Both check the
 * file first and refuse a damaged one with SKMT_FORMAT. */
SKMT_API skmt_status skmt_tm_rebuild(skmt_tm *tm, skmt_error *err);
SKMT_API skmt_status skmt_tm_compact(skmt_tm *tm, skmt_error *err);
/* Save what is readable of a damaged memory file in a new one, which must not
 * exist. The old file is only read. A pair is saved when its texts match their
 * hash. Pairs keep their numbers, except those that are found only by scanning
 * the raw bytes. An error only when the new file could not be
 * written, or when something was lost and nothing saved. fn and out may be
 * NULL. */
typedef struct skmt_recovery {
    int64_t pairs;              /* saved */
    int64_t doubtful;           /* of these: the texts are right; document,
                                   author, times and the like may be wrong or
                                   missing */
    int64_t lost;               /* numbers of pairs that could not be read,
                                   some of which may have been deleted before;
                                   -1: not known how many */
} skmt_recovery;
SKMT_API skmt_status skmt_tm_recover(const char *old_path,
                                     const char *new_path,
                                     skmt_tm_progress_fn *fn, void *user,
                                     skmt_recovery *out, skmt_error *err);
/* Numbers about the file: "store_bytes", "index_bytes", "symbol_bytes",
 * "segments", "tail", "dead", "terms", "words" .. NULL after the last. Counted
 * when i is 0; -1 where that failed. */
SKMT_API const char *skmt_tm_stat(skmt_tm *tm, int i, int64_t *value);

/* ---- scores ------------------------------------------------------------ */

/* How near translations come to a reference, counted as sacrebleu counts:
 *
 *     skmt_score *s;
 *     skmt_score_new(&s, "bleu,chrf,ter", &err);
 *     skmt_score_add(s, hyp, strlen(hyp), ref, strlen(ref), &err);  ..
 *     skmt_score_get(s, "bleu", &value, &err);
 *
 * "bleu" (13a tokens, order 4, exp smoothing), "chrf" (chrF2), "ter" (with
 * shifts; lower is better), all in percent, and "chrf-eps", chrF2 averaged
 * the older way. "r" is the R-indicator: the share of the references' words
 * that the translations have, told apart by how many references of the same
 * document had them before ("r-all": English stop words count too). What was
 * added is kept as counts, not as text. A skmt_score belongs to one thread at
 * a time. */
typedef struct skmt_score skmt_score;

SKMT_API skmt_status skmt_score_new(skmt_score **out, const char *metrics,
                                    skmt_error *err);
SKMT_API void skmt_score_free(skmt_score *s);       /* NULL is fine */
/* One line of a translation, and what it should have been. */
SKMT_API skmt_status skmt_score_add(skmt_score *s, const char *hyp,
                                    size_t hyp_len, const char *ref,
                                    size_t ref_len, skmt_error *err);
/* The next line begins another document. */
SKMT_API void skmt_score_document(skmt_score *s);
/* Lines added so far, and how many documents they are of (may be NULL). */
SKMT_API size_t skmt_score_size(const skmt_score *s, size_t *documents);
/* A new handle with the lines of the documents that have min_lines to
 * max_lines of them, counted as they were; the same calls work on it. */
SKMT_API skmt_status skmt_score_select(skmt_score **out, const skmt_score *s,
                                       size_t min_lines, size_t max_lines,
                                       skmt_error *err);
/* Of all lines so far; 0 when there are none. */
SKMT_API skmt_status skmt_score_get(const skmt_score *s, const char *metric,
                                    double *value, skmt_error *err);
/* The i-th metric asked for, its title ("chrF2") and how it counts, as text to
 * print beside a figure ("nrefs:1|case:mixed|.."); NULL after the last. */
SKMT_API const char *skmt_score_metric(const skmt_score *s, int i,
                                       const char **title,
                                       const char **signature);
/* The numbers behind a score: for "bleu" "correct1" .. "precision4", "bp",
 * "hyp_len", "ref_len"; for "ter" "edits", "ref_len"; for "r" and "r-all"
 * first "r0", "r1", "r2_5", "r6_9", "r10" (NaN: no such words), then
 * "found_r0" .., "words_r0" ... NULL after the last. */
SKMT_API const char *skmt_score_detail(const skmt_score *s,
                                       const char *metric, int i,
                                       double *value);
/* The range that holds the score of 95 in 100 resamples of the lines, and
 * whether b differs from a (same lines, same references) by more than chance:
 * *p is small when it does. The same seed gives the same figures; 1000
 * resamples are usual. */
SKMT_API skmt_status skmt_score_interval(const skmt_score *s,
                                         const char *metric, int resamples,
                                         uint64_t seed, double *low,
                                         double *high, skmt_error *err);
SKMT_API skmt_status skmt_score_compare(const skmt_score *a,
                                        const skmt_score *b,
                                        const char *metric, int resamples,
                                        uint64_t seed, double *p,
                                        skmt_error *err);

/* ---- words by frequency */

/* How well words come through, by how often they are seen: learn the
 * frequencies (from the references, or what a system was trained on), then add
 * the lines. Text is cut as Moses does for English, case kept. In a line each
 * word of the reference is matched once at most. One thread at a time. */
typedef struct skmt_words skmt_words;

SKMT_API skmt_status skmt_words_new(skmt_words **out, skmt_error *err);
SKMT_API void skmt_words_free(skmt_words *w);       /* NULL is fine */
SKMT_API skmt_status skmt_words_learn(skmt_words *w, const char *text,
                                      size_t len, skmt_error *err);
SKMT_API skmt_status skmt_words_add(skmt_words *w, const char *hyp,
                                    size_t hyp_len, const char *ref,
                                    size_t ref_len, skmt_error *err);
/* Forget the lines, keep the frequencies. */
SKMT_API void skmt_words_reset(skmt_words *w);

typedef struct skmt_words_info {
    const char *frequency;      /* "<1", "1", .. "[5,10)" .. ">=1000" */
    int64_t matched, hyp_words, ref_words;
    double precision, recall, f1;       /* in percent */
} skmt_words_info;
/* The i-th bucket, rarest words first; 0 after the last. */
SKMT_API int skmt_words_get(const skmt_words *w, int i, skmt_words_info *out);
/* How words are counted, as text to print beside the figures. */
SKMT_API const char *skmt_words_signature(void);

/* ---- lines of a file */

/* The lines of a text file, also of one packed with gzip, xz or zstd or in
 * UTF-16; "-" is standard input. The text has no line end and lives until the
 * next call; *text is NULL after the last. */
typedef struct skmt_lines skmt_lines;

SKMT_API skmt_status skmt_lines_open(skmt_lines **out, const char *path,
                                     skmt_error *err);
SKMT_API skmt_status skmt_lines_next(skmt_lines *l, const char **text,
                                     size_t *len, skmt_error *err);
SKMT_API void skmt_lines_close(skmt_lines *l);      /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
