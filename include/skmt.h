/* skmt.h - machine translation with a Transformer on the CPU, steered by
 * translation memories.
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
 * There are four ways to translate:
 *   1. skmt_translate()    One text in, one text out.
 *   2. skmt_session        Many texts, one after another. A session reuses
 *                          its buffers, and returns n-best lists, scores and
 *                          pieces. The beginning of a translation can be
 *                          forced.
 *   3. skmt_stream         A whole corpus. Texts are batched and shared among
 *                          threads, and the results come back in order.
 *   4. skmt_service        Requests from many threads, such as those of a
 *                          server. Each has its own options, memory, priority
 *                          and deadline, and is answered when it is finished.
 *
 * Objects. skmt_X_new makes an object of type skmt_X, and skmt_X_open one that
 * belongs to a file. They set *out, to NULL after an error. skmt_X_free or
 * skmt_X_close frees it; both accept NULL.
 *
 * Errors. A function that can fail returns a skmt_status (0 is success) or
 * NULL, and describes the error in the caller's skmt_error, unless that pointer
 * is NULL. The library never prints, exits or aborts on bad input or damaged
 * files, and installs no signal handlers. A failed internal assertion is a bug
 * in skmt and does abort; -DNDEBUG removes assertions.
 *
 * On a CPU with AMX the library asks Linux for permission to use tiles, unless
 * the environment variable SKMT_ISA selects other kernels; after that,
 * sigaltstack() requires at least getauxval(AT_MINSIGSTKSZ) bytes.
 *
 * Threads. A skmt_model never changes; any number of threads may use it at the
 * same time. A session, a result or an options object may be used by one thread
 * at a time. The same holds for a stream and a request; the exceptions are
 * described with their functions. Any number of threads may use a service at
 * the same time. The callback of a stream runs in a thread of the stream, or
 * inside skmt_stream_push, skmt_stream_push_with, skmt_stream_flush or
 * skmt_stream_use. It is called in input order and never runs concurrently with
 * itself. It must not call any skmt_stream_* function; to cancel, it returns
 * non-zero.
 *
 * Lifetime. A model may be closed at any time: sessions, streams, services,
 * results and keys that were made with it keep it as long as they need it, and
 * a memory file keeps what it needs of the models it was searched with. In all
 * other cases an object that is passed to a function must stay valid as long as
 * the description of the function says.
 *
 * Lists. skmt_model_fact and the functions skmt_X_stat list facts and counts:
 * they return the name of item i, counted from 0, and set *value. After the
 * last item they return NULL. Later versions may add items.
 *
 *     for (i = 0; (name = skmt_keys_stat(keys, i, &value)); i++) ..
 *
 * Text. Every string, also a file name, is UTF-8 and ends with a NUL: strings
 * that the caller passes, and strings that the library returns or passes to a
 * callback. So a text cannot contain a NUL byte. (`raw` of skmt_reject_fn has a
 * length, because it can contain any bytes.) Where a function accepts NULL, its
 * description says so.
 *
 * Structs. A struct that the caller allocates begins with its size, which the
 * caller sets; SKMT_INIT does that and sets the other members to 0:
 *
 *     skmt_pair pair = SKMT_INIT(skmt_pair);
 *
 * Later versions may add members at the end. The library writes no more than
 * `size` bytes, and takes members that do not fit into them for 0. So a program
 * that was compiled with an older skmt.h works with a newer library. A size
 * that no version has, such as 0, is SKMT_ERR_ARGUMENT; a function without a
 * status then writes nothing.
 *
 * ABI. Handles are opaque, and every function is a plain C function, so that
 * foreign-function interfaces can use all of them. */
#ifndef SKMT_H
#define SKMT_H

#include <stddef.h>
#include <stdint.h>

/* The initial value of a struct that begins with its size. */
#ifdef __cplusplus
extern "C++" {
template <class T> inline T skmt_init()
{
    T t = T();

    t.size = sizeof t;
    return t;
}
}
#define SKMT_INIT(type) (skmt_init<type>())
#else
#define SKMT_INIT(type) ((type){ .size = sizeof(type) })
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SKMT_API __attribute__((visibility("default")))
#else
#define SKMT_API
#endif

/* ---- version --------------------------------------------------------- */

/* The version of this header, also as a number that can be compared: 10203 is
 * version 1.2.3. */
#define SKMT_VERSION "0.1.0"
#define SKMT_VERSION_MAJOR 0
#define SKMT_VERSION_MINOR 1
#define SKMT_VERSION_PATCH 0
#define SKMT_VERSION_NUMBER \
    (SKMT_VERSION_MAJOR * 10000 + SKMT_VERSION_MINOR * 100 + SKMT_VERSION_PATCH)

/* The version of the library that the program runs with. */
SKMT_API const char *skmt_version(void);
SKMT_API int skmt_version_number(void);

/* ---- errors ---------------------------------------------------------- */

/* Later versions may add constants, so a program should treat an unknown status
 * as an error. */
typedef enum skmt_status {
    SKMT_OK = 0,
    SKMT_ERR_NOMEM = 1,         /* out of memory */
    SKMT_ERR_IO = 2,            /* a file could not be read or written */
    SKMT_ERR_FORMAT = 3,        /* a file is damaged or has the wrong format */
    SKMT_ERR_VERSION = 4,       /* a file was made for another version of
                                   skmt */
    SKMT_ERR_ARGUMENT = 5,      /* an argument or option is invalid */
    SKMT_ERR_TEXT = 6,          /* a text is not valid UTF-8 */
    SKMT_ERR_LIMIT = 7,         /* a limit was exceeded */
    SKMT_ERR_CANCELED = 8,      /* canceled by the caller or a callback */
    SKMT_ERR_DEADLINE = 9,      /* the deadline of a request has passed */
    SKMT_ERR_DEVICE = 10        /* the device that runs the model failed */
} skmt_status;

/* An error. The library fills it in, so the caller need not initialize it. It
 * has no `size`: it always has 512 bytes. */
typedef struct skmt_error {
    int32_t status;             /* a skmt_status */
    char message[500];          /* what is wrong, without a final period */
    int32_t reserved[2];        /* 0; for later versions */
} skmt_error;

/* A few words for a status, such as "out of memory". */
SKMT_API const char *skmt_status_text(skmt_status status);

/* ---- options --------------------------------------------------------- */

typedef struct skmt_model skmt_model;
typedef struct skmt_options skmt_options;

/* Make an options object with all defaults. */
SKMT_API skmt_status skmt_options_new(skmt_options **out, skmt_error *err);
SKMT_API void skmt_options_free(skmt_options *o);

/* Set an option by name. Names and values are those of the command line,
 * without the dashes:
 *     skmt_options_set(o, "beam", "1", &err);
 * The error message names the option and its valid values. */
SKMT_API skmt_status skmt_options_set(skmt_options *o, const char *name,
                                      const char *value, skmt_error *err);
/* Get the value of an option as text. Returns NULL when there is no such
 * option. The text is valid until the next call of skmt_options_get or
 * skmt_options_in_force with the same object. */
SKMT_API const char *skmt_options_get(skmt_options *o, const char *name);
/* Get the value that is actually used. This differs from skmt_options_get for
 * options whose value is automatic (0, -1 or auto): they get their value from
 * the preset or from the model. Pass 1 for `steered` to ask about a translation
 * with a memory, and 0 to ask about a translation without one or about a search
 * in a memory. `model` may be NULL; options that depend on the model are then
 * returned as they were set. */
SKMT_API const char *skmt_options_in_force(skmt_options *o,
                                           const skmt_model *model,
                                           int steered, const char *name);

/* A description of an option, for help pages and forms. */
typedef struct skmt_option_info {
    size_t size;                /* sizeof(skmt_option_info) */
    const char *name;           /* such as "beam" */
    const char *kind;           /* "int", "float", "bool", "size" (such as
                                   256M), "CODE" (of a language), "NETWORK"
                                   (skmt tune), or a list of the possible
                                   values, such as "auto|none" */
    const char *fallback;       /* the default, as text */
    const char *help;           /* a phrase in English */
} skmt_option_info;
/* The groups of options. An options object has the options of all groups. */
typedef enum skmt_option_group {
    SKMT_OPTIONS_TRANSLATE = 0, /* for translating */
    SKMT_OPTIONS_STEER = 1,     /* for steering a translation by a memory */
    SKMT_OPTIONS_SEARCH = 2,    /* for searching a memory */
    SKMT_OPTIONS_MODEL = 3      /* for opening a model */
} skmt_option_group;
/* Describe option i of a group, counted from 0. Returns 1, or 0 after the
 * last. */
SKMT_API int skmt_option_describe(skmt_option_group group, int i,
                                  skmt_option_info *out);

/* A description of a system: a method by which stored pairs change translations
 * (option "system"). */
typedef struct skmt_system_info {
    size_t size;                /* sizeof(skmt_system_info) */
    const char *name;           /* such as "sk" */
    const char *title;          /* a phrase in English */
    const char *paper;          /* authors, title, where and when; "-": none */
    const char *needs;          /* a phrase, such as "a memory"; "-": nothing */
    const char *const *options; /* the names of the options that it uses, then
                                   NULL */
} skmt_system_info;
/* Describe system i, counted from 0. Returns 1, or 0 after the last. */
SKMT_API int skmt_system_describe(int i, skmt_system_info *out);

/* ---- model ----------------------------------------------------------- */

/* Open a model: map a .skmt file and verify all of it. Processes that open the
 * same file share the memory of the weights. */
SKMT_API skmt_status skmt_model_open(skmt_model **out, const char *path,
                                     skmt_error *err);
/* The same with options: "device" is the device that runs the model. So far
 * there is only "cpu", the default. "from" and "to" are the languages that a
 * multilingual model translates; its fact "languages" has their codes. A code
 * may be written in another way: "de" or "de-AT" for "deu_Latn". Without them
 * such a model cannot translate, unless its file has defaults. A model of one
 * pair is refused with SKMT_ERR_ARGUMENT if it is for other languages. The
 * other options have no effect; NULL means the defaults. */
SKMT_API skmt_status skmt_model_open_with(skmt_model **out, const char *path,
                                          const skmt_options *options,
                                          skmt_error *err);
SKMT_API void skmt_model_close(skmt_model *model);

/* Get fact i about the model: returns its name and sets *value. The names are
 * "name", "source_lang", "target_lang" (those that were chosen), "languages"
 * (codes with commas between; only of a multilingual model), "type" ("int8",
 * ..), "checksum" (16 hexadecimal digits for the whole file), "d_model",
 * "encoder_layers" and others, as printed by `skmt info`. Returns NULL after
 * the last. The strings
 * are valid until the model is closed. */
SKMT_API const char *skmt_model_fact(const skmt_model *model, int i,
                                     const char **value);
/* Get a fact by its name. Returns NULL when there is no such fact. */
SKMT_API const char *skmt_model_get(const skmt_model *model,
                                    const char *name);

/* The kernels in use ("amx", "avx512", "avx2" or "ref"), and the name of the
 * processor. */
SKMT_API const char *skmt_isa(void);
SKMT_API const char *skmt_cpu(void);

/* ---- codes of languages ---------------------------------------------- */

/* Models, memories and files write the code of a language in many ways. These
 * functions read all of them: "de", "DE", "de-AT", "de_DE.UTF-8", "deu", "ger",
 * "deu_Latn" and ">>deu<<" are German. A code of several languages or none,
 * such as "mul", "und" or "", is an unknown language. */

/* Whether two codes may mean the same language. Regions do not count. Scripts
 * do: "zh-Hans" does not fit "zh-TW". A language that includes another fits it:
 * "no" and "nb". An unknown language fits every other. */
SKMT_API int skmt_language_fits(const char *a, const char *b);
/* The code of ISO 639-1, or 639-3 if there is none: "deu_Latn": "de". NULL if
 * the library does not know the language. The string is static. */
SKMT_API const char *skmt_language_code(const char *written);
/* The English name, such as "German"; `written` itself if the library does not
 * know the language. */
SKMT_API const char *skmt_language_name(const char *written);
/* Write the code as other programs expect it (BCP 47): "deu_Latn": "de",
 * "pt_br": "pt-BR", "zho_Hant": "zh-Hant". Needs at most 16 bytes. Returns 0,
 * with "" or a part of the code in `out`, if the language is unknown or the
 * code does not fit; else 1. */
SKMT_API int skmt_language_tag(const char *written, char *out, size_t size);

/* ---- translating one text -------------------------------------------- */

/* Translate a text with the default options. Returns NULL on error. Free the
 * translation with skmt_free. */
SKMT_API char *skmt_translate(const skmt_model *model, const char *text,
                              skmt_error *err);
SKMT_API void skmt_free(void *p);

/* ---- results --------------------------------------------------------- */

/* The translations of one input text. A text may have several sentences (option
 * "split"). `hyp` is the index of a translation of the whole text, best first;
 * `sentence` is the index of a sentence, in the order of the text. All indices
 * begin at 0. For an index out of range, the functions return 0, "", or a piece
 * with id -1. Pointers are valid until the result is freed.
 *
 * Spans [begin, end) in the input are byte offsets into the input text after
 * any replacement of invalid bytes: with option "invalid" set to "replace",
 * each byte that is not valid UTF-8 is replaced by the three bytes of
 * U+FFFD. */
typedef struct skmt_result skmt_result;

SKMT_API void skmt_result_free(skmt_result *r);
/* The number of translations of the text: at least 1, at most option
 * "nbest". */
SKMT_API int skmt_result_hyps(const skmt_result *r);
/* A translation of the whole text. A NUL that the model produces is replaced by
 * a space. */
SKMT_API const char *skmt_result_text(const skmt_result *r, int hyp);
/* The score of a translation: the sum of the scores of its sentences. The score
 * of a sentence is its log-probability divided by the length penalty. */
SKMT_API double skmt_result_score(const skmt_result *r, int hyp);
/* The log-probability of a translation: the sum over its sentences. */
SKMT_API double skmt_result_logprob(const skmt_result *r, int hyp);

/* The number of sentences. */
SKMT_API int skmt_result_sentences(const skmt_result *r);
/* The span of a sentence in the input. */
SKMT_API void skmt_result_sentence_span(const skmt_result *r, int sentence,
                                        size_t *begin, size_t *end);
/* The score of the translation of a sentence. */
SKMT_API double skmt_result_sentence_score(const skmt_result *r, int hyp,
                                           int sentence);

/* A piece is a unit of the model's vocabulary. [begin, end) is the span of a
 * source piece in the input, or of a target piece in the translation of the
 * whole text (skmt_result_text). */
typedef struct skmt_piece {
    size_t size;                /* sizeof(skmt_piece) */
    int32_t id;
    float logprob;              /* of a target piece; 0 for source pieces */
    size_t begin, end;
    const char *text;           /* as in the vocabulary */
} skmt_piece;

/* The number of source pieces of a sentence. */
SKMT_API int skmt_result_source_pieces(const skmt_result *r, int sentence);
/* Get source piece i of a sentence. */
SKMT_API void skmt_result_source_piece(const skmt_result *r, int sentence,
                                       int i, skmt_piece *out);
/* The number of target pieces of a sentence. */
SKMT_API int skmt_result_target_pieces(const skmt_result *r, int hyp,
                                       int sentence);
/* Get target piece i of a sentence. The last piece is EOS, with an empty span,
 * unless the translation was cut off at its maximum length. */
SKMT_API void skmt_result_target_piece(const skmt_result *r, int hyp,
                                       int sentence, int i, skmt_piece *out);
/* The cross-attention weights of target piece i, averaged over the heads of one
 * decoder layer: the one that the model file names (attention_layer), or else
 * the middle one. They tell which source piece it translates. There is one
 * weight for each source piece of the sentence and for each special token that
 * the model adds (most models add EOS at the end). *n is the number of weights;
 * n may be NULL. Returns NULL without option "attention". */
SKMT_API const float *skmt_result_attention(const skmt_result *r, int hyp,
                                            int sentence, int i, int *n);

/* ---- sessions -------------------------------------------------------- */

typedef struct skmt_session skmt_session;

/* Make a session. The options are copied; NULL means the defaults. */
SKMT_API skmt_status skmt_session_new(skmt_session **out,
                                      const skmt_model *model,
                                      const skmt_options *options,
                                      skmt_error *err);
SKMT_API void skmt_session_free(skmt_session *s);

/* Translate one text. If `prefix` is not NULL, the translation begins with it.
 * The caller frees the result. */
SKMT_API skmt_status skmt_session_translate(skmt_session *s, const char *text,
                                            const char *prefix,
                                            skmt_result **out,
                                            skmt_error *err);
/* Translate n texts together. If a text cannot be translated,
 * its element of `results` is NULL, and the other texts are still translated;
 * the function then returns the error of the first text that failed. `prefixes`
 * may be NULL, and its elements may be NULL. */
SKMT_API skmt_status skmt_session_translate_many(skmt_session *s,
                                                 const char *const *texts,
                                                 const char *const *prefixes,
                                                 size_t n,
                                                 skmt_result **results,
                                                 skmt_error *err);

/* Make a translation that another thread has begun with this session return
 * soon. Its unfinished texts fail with SKMT_ERR_CANCELED. Does nothing when no
 * translation is running. May be called by any thread. */
SKMT_API void skmt_session_cancel(skmt_session *s);

/* ---- streams --------------------------------------------------------- */

typedef struct skmt_stream skmt_stream;

/* Called once for each text, in the order in which the texts were pushed.
 * `number` counts them from 0. The result belongs to the stream, which frees it
 * after the call. If the text could not be translated, `result` is NULL and
 * `err` says why. Return non-zero to cancel the stream. */
typedef int skmt_stream_fn(void *user, uint64_t number, skmt_result *result,
                           const skmt_error *err);

/* Make a stream and start its threads; option "threads" sets their number. The
 * options are copied; NULL means the defaults. */
SKMT_API skmt_status skmt_stream_new(skmt_stream **out,
                                     const skmt_model *model,
                                     const skmt_options *options,
                                     skmt_stream_fn *fn, void *user,
                                     skmt_error *err);
/* Submit the next text, which is copied. Waits while the queue is full. */
SKMT_API skmt_status skmt_stream_push(skmt_stream *s, const char *text,
                                      const char *prefix, skmt_error *err);
/* Wait until all texts that were pushed have been delivered. When it returns,
 * no callback is running. More texts may be pushed afterwards. */
SKMT_API skmt_status skmt_stream_flush(skmt_stream *s, skmt_error *err);
/* Cancel the stream: texts that are not delivered yet are dropped. May be
 * called by any thread, but not by a signal handler. */
SKMT_API void skmt_stream_cancel(skmt_stream *s);
/* Cancel the stream, wait for its threads, and free it. */
SKMT_API void skmt_stream_free(skmt_stream *s);

/* ---- translation memory ----------------------------------------------- */

/* A memory file contains any number of named memories. A memory contains pairs.
 * A pair is one stored occurrence of a source and its translation, the target.
 * Pairs of a memory with the same source and target share one text, unless the
 * memory keeps duplicates. Texts are indexed, and a search finds each text
 * once. When a function that changes the file returns, the change is on disk
 * (unless skmt_tm_set_relaxed was called), and the next search by any thread or
 * process finds it.
 *
 *     skmt_tm *tm;
 *     skmt_tm_open(&tm, "my.tm", SKMT_TM_CREATE, &err);
 *     skmt_tm_add(tm, NULL, "Guten Tag", "Good day", &id, &err);
 *     skmt_tm_search(tm, "Guten Tag!", NULL, NULL, &matches, &err);
 *
 * A skmt_tm may be used by one thread at a time. Several threads and processes
 * may open the same file: readers never wait, and writers wait for each other.
 * Where a function takes the name of a memory, NULL means the only memory of
 * the file; if it has none or several, NULL means "main". */
typedef struct skmt_tm skmt_tm;

typedef enum skmt_tm_mode {
    SKMT_TM_READ = 0,           /* must exist; the disk may be read-only */
    SKMT_TM_WRITE = 1,          /* must exist */
    SKMT_TM_CREATE = 2          /* is created when it does not exist */
} skmt_tm_mode;

SKMT_API skmt_status skmt_tm_open(skmt_tm **out, const char *path,
                                  skmt_tm_mode mode, skmt_error *err);
SKMT_API void skmt_tm_close(skmt_tm *tm);

/* If `relaxed` is not 0, do not wait for the disk after each change. A power
 * failure may then lose the changes of the last seconds; a killed process loses
 * none. */
SKMT_API void skmt_tm_set_relaxed(skmt_tm *tm, int relaxed);

/* Set a function that long operations call from time to time. `what` names the
 * operation. Its progress is `done` out of `total`; `total` is 0 if it is not
 * known. `units` is the number of items, such as pairs, processed so far.
 * Return non-zero to stop the operation. `fn` may be NULL. */
typedef int skmt_tm_progress_fn(void *user, const char *what, uint64_t done,
                                uint64_t total, uint64_t units);
SKMT_API void skmt_tm_on_progress(skmt_tm *tm, skmt_tm_progress_fn *fn,
                               void *user);

/* A description of a memory. The strings are valid until the next call with the
 * same skmt_tm. */
typedef struct skmt_tm_info {
    size_t size;                /* sizeof(skmt_tm_info) */
    const char *name;
    const char *source_lang, *target_lang;      /* "" when not known */
    int32_t priority;           /* among equally similar matches, those of the
                                   memory with the higher priority come first */
    int32_t keep_duplicates;    /* not 0: each pair has a text of its own */
    int64_t created;            /* seconds since 1970, UTC */
    int64_t pairs;              /* number of pairs */
    int64_t texts;              /* number of texts: distinct combinations of
                                   source and target, or all pairs if
                                   keep_duplicates is not 0 */
    int64_t source_bytes, target_bytes;         /* of all texts */
} skmt_tm_info;
/* Get the number of memories in the file. */
SKMT_API skmt_status skmt_tm_count(skmt_tm *tm, int *n, skmt_error *err);
/* Get a description of memory i, counted from 0. */
SKMT_API skmt_status skmt_tm_get_info(skmt_tm *tm, int i, skmt_tm_info *out,
                                      skmt_error *err);
/* The same without counting: pairs, texts and the bytes are -1. Counting reads
 * all texts of the memory, which takes about a second for a million. */
SKMT_API skmt_status skmt_tm_get_settings(skmt_tm *tm, int i,
                                          skmt_tm_info *out, skmt_error *err);
/* A few numbers that identify the content of a file. If none of them has
 * changed, the texts in the file have not changed. */
typedef struct skmt_tm_state {
    size_t size;                /* sizeof(skmt_tm_state) */
    uint64_t identity;          /* random, chosen when the file was created */
    int64_t last_change;        /* number of the latest change of its texts */
    int64_t pairs, texts;       /* of all its memories */
} skmt_tm_state;
SKMT_API skmt_status skmt_tm_get_state(skmt_tm *tm, skmt_tm_state *out,
                                       skmt_error *err);
/* The identity and the number of the latest change, without counting, which
 * takes microseconds. */
SKMT_API skmt_status skmt_tm_get_change(skmt_tm *tm, uint64_t *identity,
                                        int64_t *last_change,
                                        skmt_error *err);
/* Create a memory. `settings` gives its name, source_lang and target_lang (NULL
 * or "" when not known), priority and keep_duplicates; the other fields are
 * ignored. Calling this is optional: if the file has no memory, the first add
 * or import creates one. */
SKMT_API skmt_status skmt_tm_create(skmt_tm *tm, const skmt_tm_info *settings,
                                    skmt_error *err);
/* Change a property of a memory. `key` is "name", "priority", "source-lang" or
 * "target-lang". */
SKMT_API skmt_status skmt_tm_set(skmt_tm *tm, const char *memory,
                                 const char *key, const char *value,
                                 skmt_error *err);
/* Delete a memory with all its pairs. */
SKMT_API skmt_status skmt_tm_drop(skmt_tm *tm, const char *memory,
                                  skmt_error *err);

/* ---- pairs of a memory */

/* A pair.
 *
 * A source or target without inline tags has one form: plain text, in `source`
 * or `target`. One with inline tags also has a tagged form, in `source_tagged`
 * or `target_tagged`: an XML fragment that contains the tags as elements, with
 * &, < and > of the text escaped. The caller passes the tagged form if there
 * are tags, else the plain form. The library always returns both plain forms.
 * If the source or the target is stored with tags, it also returns both tagged
 * forms; otherwise both are NULL.
 *
 * The other strings that the library returns are never NULL. The other strings
 * that the caller passes may be NULL. */
typedef struct skmt_pair {
    size_t size;                /* sizeof(skmt_pair) */
    int64_t id;                 /* unique; not reused after the pair is
                                   deleted */
    const char *memory;         /* the name of its memory */
    const char *source, *target;                /* without tags */
    const char *source_tagged, *target_tagged;  /* with tags, or NULL */
    const char *source_lang, *target_lang;
    const char *origin;         /* the file it was imported from, or "" */
    const char *document;
    const char *unit;           /* the id of its unit in that file, or "" */
    const char *author;
    const char *extra;          /* JSON with properties that are specific to
                                   the file format, or "" */
    int64_t position;           /* in that file, from 1; 0: not imported */
    int64_t created, changed;   /* seconds since 1970, UTC */
} skmt_pair;

/* Add a pair. *id is set to its id; id may be NULL. A source or target of more
 * than 16 MiB is an error (SKMT_ERR_LIMIT), also when a pair is replaced or
 * imported. */
SKMT_API skmt_status skmt_tm_add(skmt_tm *tm, const char *memory,
                                 const char *source, const char *target,
                                 int64_t *id, skmt_error *err);
/* Add a pair with all its properties. The fields id, memory, origin and
 * position of *pair are ignored. If a source or target has a tagged form, that
 * form is stored and the plain form is ignored. */
SKMT_API skmt_status skmt_tm_add_pair(skmt_tm *tm, const char *memory,
                                      const skmt_pair *pair, int64_t *id,
                                      skmt_error *err);
/* Replace the source or the target of a pair, or both. NULL keeps the stored
 * one. The pair keeps its id. */
SKMT_API skmt_status skmt_tm_replace(skmt_tm *tm, int64_t id,
                                     const char *source, const char *target,
                                     skmt_error *err);
SKMT_API skmt_status skmt_tm_delete(skmt_tm *tm, int64_t id, skmt_error *err);
/* Delete all pairs that match the given strings, in one transaction. A NULL
 * string matches everything, and NULL for `memory` means all memories. At least
 * one of `origin`, `document`, `source` and `target` must be given. For a pair
 * stored with tags, `source` and `target` are compared with its tagged forms.
 * *n is the number of pairs deleted; n may be NULL. */
SKMT_API skmt_status skmt_tm_delete_where(skmt_tm *tm, const char *memory,
                                          const char *origin,
                                          const char *document,
                                          const char *source,
                                          const char *target, int64_t *n,
                                          skmt_error *err);
/* Make several changes as one transaction. Until the commit, the changes are
 * visible only through `tm`, and they are not on disk. Transactions may be
 * nested: the outermost commit stores the changes. Importing, rebuilding and
 * compacting are not possible inside a transaction. */
SKMT_API skmt_status skmt_tm_begin(skmt_tm *tm, skmt_error *err);
SKMT_API skmt_status skmt_tm_commit(skmt_tm *tm, skmt_error *err);
SKMT_API void skmt_tm_rollback(skmt_tm *tm);

/* Get a pair by its id. The strings are valid until the next call with the same
 * skmt_tm. */
SKMT_API skmt_status skmt_tm_get(skmt_tm *tm, int64_t id, skmt_pair *out,
                                 skmt_error *err);
/* Find a pair by the id of its unit (skmt_pair, `unit`): the one with the
 * smallest id above `after`. *id is 0 if there is none. The first call with a
 * handle that may write, and is not inside a transaction, makes an index of the
 * units, so that later calls need not read all pairs. */
SKMT_API skmt_status skmt_tm_find_unit(skmt_tm *tm, const char *memory,
                                       const char *unit, int64_t after,
                                       int64_t *id, skmt_error *err);

/* Iterate over all pairs of a memory by ascending id, as they were when the
 * cursor was opened. */
typedef struct skmt_tm_cursor skmt_tm_cursor;
SKMT_API skmt_status skmt_tm_cursor_open(skmt_tm_cursor **out, skmt_tm *tm,
                                         const char *memory, skmt_error *err);
/* Iterate over those pairs whose id is larger than `after`. */
SKMT_API skmt_status skmt_tm_cursor_open_after(skmt_tm_cursor **out,
                                               skmt_tm *tm,
                                               const char *memory,
                                               int64_t after,
                                               skmt_error *err);
/* Get the next pair. *found is 0 after the last one. The strings are valid
 * until the next call with the cursor. */
SKMT_API skmt_status skmt_tm_cursor_next(skmt_tm_cursor *c, skmt_pair *out,
                                         int *found, skmt_error *err);
SKMT_API void skmt_tm_cursor_close(skmt_tm_cursor *c);

/* ---- searching a memory */

/* Use only these n memories of the file from now on, for searching and for
 * steering. If n is 0, use all memories. */
SKMT_API skmt_status skmt_tm_use(skmt_tm *tm, const char *const *memories,
                                 int n, skmt_error *err);
/* The same for use with a model. If n is 0, use all memories that fit the
 * model: their languages are those of the model (skmt_language_fits). Fails
 * with SKMT_ERR_ARGUMENT, without a change, if one of the n memories does not
 * fit, or if the file has memories and none fits. With option "any-language"
 * this is skmt_tm_use. options may be NULL. */
SKMT_API skmt_status skmt_tm_use_with(skmt_tm *tm, const skmt_model *model,
                                      const char *const *memories, int n,
                                      const skmt_options *options,
                                      skmt_error *err);

typedef struct skmt_matches skmt_matches;
/* A match is a text that a search has found. */
typedef struct skmt_match {
    size_t size;                /* sizeof(skmt_match) */
    const skmt_pair *pair;      /* the oldest pair of the text; valid until the
                                   matches are freed */
    double similarity;          /* 0 to 1 */
    double score;               /* BM25 */
    int64_t occurrences;        /* number of pairs that share this text */
} skmt_match;
/* Find the texts whose sources are most similar to `text`. Similarity is
 * computed over the pieces of the model, or over words if `model` is NULL.
 * `options` may be NULL.
 *
 * Matches with different sources are ordered by similarity, best first (see
 * option "rerank"). Among equally similar matches from several memories, those
 * of the memory with the higher priority come first, then newer ones.
 *
 * Matches with the same source are several translations of it. They are in
 * order of precedence:
 *   1. The memory with the higher priority comes first.
 *   2. Then the translation that was confirmed most recently: the one whose
 *      pairs have the latest `changed` time. A pair is confirmed when it is
 *      added (even if already stored), replaced or imported. If an imported
 *      file has dates, those dates are used.
 *   3. For equal times, the later import comes first; pairs of one import keep
 *      the order of the file.
 * Two sources are the same if they differ only in inline tags or in white space
 * at the ends. If a sentence is stored word for word, a session or stream that
 * uses the memory takes the first translation (option "exact"). */
SKMT_API skmt_status skmt_tm_search(skmt_tm *tm, const char *text,
                                    const skmt_options *options,
                                    const skmt_model *model,
                                    skmt_matches **out, skmt_error *err);
SKMT_API int skmt_matches_count(const skmt_matches *m);
SKMT_API void skmt_matches_get(const skmt_matches *m, int i, skmt_match *out);
/* Get span k of the word-by-word comparison between the source of match i and
 * the text that was searched for. The spans are in reading order. *kind is '='
 * for words in both, '-' for words only in the source of the match, and '+' for
 * words only in the text. [begin, end) are byte offsets into the source of the
 * match, or, for '+', into the text. Returns 1, or 0 after the last span. */
SKMT_API int skmt_matches_edit(const skmt_matches *m, int i, int k,
                               char *kind, size_t *begin, size_t *end);
SKMT_API void skmt_matches_free(skmt_matches *m);
/* Compare two texts word by word, as skmt_matches_edit does with the source of
 * a match (`stored`) and the text that was searched for. `fn` is called for
 * each span, and returns non-zero to stop. */
typedef int skmt_edit_fn(void *user, char kind, size_t begin, size_t end);
SKMT_API skmt_status skmt_compare(const char *stored, const char *text,
                                  skmt_edit_fn *fn, void *user,
                                  skmt_error *err);

/* ---- steering a translation */

/* A session or stream that uses a memory finds the most similar stored pairs
 * for each sentence, and they can influence the choice of each token (options
 * "preset", "k", "tau" and others). A sentence that is stored word for word
 * gets the stored translation (option "exact"). By default, if the model has a
 * network for it, learned trust decides how much influence they have (preset
 * "learned"). Presets "sk1" and "sk2" are SK-MT, tuned for practical use;
 * "paper-sk1" and "paper-sk2" have the settings of the SK-MT paper.
 *
 *     skmt_session_use(session, tm, NULL, &err);
 *     skmt_session_translate(session, text, NULL, &result, &err);
 *
 * A pair that is added to `tm` takes effect immediately: the translation of the
 * next similar sentence can use it. */

/* A cache of the keys of stored pairs. Keys are decoder states that the model
 * computes from a pair. They are kept in RAM, up to the size of option
 * "key-cache", and in a key file if one is named, so that they are not computed
 * again. A key file is created when it does not exist.
 *
 * For a given model and options, keys depend only on the source and target of
 * a pair. So pairs with the same source and target share their keys, also
 * across memories, and one key file may serve several memories. Where pairs are
 * counted below, those with the same source and target count once.
 *
 * Any number of sessions, streams and threads may share a skmt_keys. Their
 * options must agree in "key-type" and in "knn-eos", whose default depends on
 * "preset". A key file of an older file format is emptied when it is opened;
 * the statistic "file_remade" is then 1. A key file that was created with
 * another model, "key-type" or "knn-eos" is refused. */
typedef struct skmt_keys skmt_keys;
/* Make a skmt_keys. `file` is the name of the key file, or NULL. */
SKMT_API skmt_status skmt_keys_new(skmt_keys **out, const skmt_model *model,
                                   const skmt_options *options,
                                   const char *file, skmt_error *err);
/* Free the keys after all sessions and streams that use them. */
SKMT_API void skmt_keys_free(skmt_keys *keys);
/* Get statistic i: returns its name and sets *value. The names are:
 *     hits             lookups of a pair whose keys were in RAM
 *     file_hits        lookups of a pair whose keys were read from the key file
 *     misses           lookups of a pair whose keys had to be computed
 *     dropped          pairs whose keys were removed from RAM to make room
 *     pairs, bytes     pairs whose keys are in RAM, and the size of the keys
 *     limit            maximum of "bytes" (option "key-cache")
 *     file_pairs, file_bytes, file_limit      the same for the key file
 *     file_remade      1 if the key file had an older format and was emptied
 * Returns NULL after the last. All values are determined when i is 0. One
 * thread at a time may call this. */
SKMT_API const char *skmt_keys_stat(skmt_keys *keys, int i, int64_t *value);
/* Compute the missing keys of all pairs in the memories that `tm` uses. *made
 * is the number of pairs whose keys were computed; made may be NULL. If there
 * is a key file, it is then reduced to its limit, and its unused space is
 * returned to the file system. Calls the progress function of `tm`. */
SKMT_API skmt_status skmt_keys_warm(skmt_keys *keys, skmt_tm *tm,
                                    const skmt_options *options,
                                    int64_t *made, skmt_error *err);
/* Remove from the key file the keys of all pairs that are not in the memories
 * that `tm` uses: pairs that were deleted or replaced, and pairs of other
 * memories. Their keys are overwritten, and the space is returned to the file
 * system. *removed is the number of pairs whose keys were removed; removed may
 * be NULL. Does nothing without a key file. */
SKMT_API skmt_status skmt_keys_drop_others(skmt_keys *keys, skmt_tm *tm,
                                           int64_t *removed, skmt_error *err);

/* Use the memory file `tm` from now on. Keep it open while the session or
 * stream uses it. It is searched in the thread that calls a translate or push
 * function. `tm` may be NULL: then only pairs that the caller gives are used.
 * `keys` may be NULL: then the session or stream has a cache of its own.
 * skmt_stream_use first waits until all texts that were pushed have been
 * delivered.
 *
 * A memory for other languages does harm. So this fails with SKMT_ERR_ARGUMENT
 * if a memory in use does not fit the model (skmt_tm_use_with), unless option
 * "any-language" is set. The same holds for skmt_request_use, where it is the
 * answer of the request, and for skmt_keys_warm. */
SKMT_API skmt_status skmt_session_use(skmt_session *s, skmt_tm *tm,
                                      skmt_keys *keys, skmt_error *err);
SKMT_API skmt_status skmt_stream_use(skmt_stream *s, skmt_tm *tm,
                                     skmt_keys *keys, skmt_error *err);

/* Translate with n pairs that the caller has found, best first, instead of
 * searching a memory. If n is larger than the option "matches" (or the preset's
 * value), the rest are ignored. All elements of the array have the same
 * size. */
typedef struct skmt_similar {
    size_t size;                /* sizeof(skmt_similar) */
    const char *source, *target;
    double similarity;          /* 0 to 1; returned by skmt_result_pair */
} skmt_similar;
SKMT_API skmt_status skmt_session_translate_with(
    skmt_session *s, const char *text, const char *prefix,
    const skmt_similar *pairs, int n, skmt_result **out, skmt_error *err);
SKMT_API skmt_status skmt_stream_push_with(skmt_stream *s, const char *text,
                                           const char *prefix,
                                           const skmt_similar *pairs, int n,
                                           skmt_error *err);

/* ---- requests and services */

/* A request is one text to translate, with everything that belongs to it. A
 * service translates the requests of any number of threads together:
 *
 *     skmt_service_new(&service, model, NULL, &err);
 *     skmt_request_new(&q, text, &err);
 *     skmt_request_use(q, tm, NULL);
 *     skmt_request_set_deadline(q, 2000);
 *     if (!skmt_service_submit(service, q, 0, &err) &&
 *         !skmt_request_wait(q, &err))
 *         puts(skmt_result_text(skmt_request_result(q), 0));
 *     skmt_request_free(q);
 *
 * A request gets the same bytes as in a session with its options, whatever
 * other requests are translated at the same time. It is answered exactly once:
 * with a result, with an error, with SKMT_ERR_CANCELED or with
 * SKMT_ERR_DEADLINE.
 *
 * Threads. Until it is submitted, a request is used by one thread at a time.
 * After that any thread may call skmt_request_cancel, _wait, _result and
 * _error. */
typedef struct skmt_request skmt_request;
typedef struct skmt_service skmt_service;

/* Make a request. The text is copied. */
SKMT_API skmt_status skmt_request_new(skmt_request **out, const char *text,
                                      skmt_error *err);
/* Free a request with its result. A request without an answer is canceled
 * first. When this returns, its callback has returned or will never be called;
 * so do not call this with a lock that the callback needs. May be called by a
 * callback, also its own, and does not wait then. */
SKMT_API void skmt_request_free(skmt_request *q);

/* The following functions say what is wanted. They copy what they are given,
 * and have no effect after the request was submitted. */

/* Use these options instead of those of the service; NULL means the defaults.
 * Options "threads", "batch", "key-cache" and "key-file-limit" are always those
 * of the service. If "max-source", "max-len-a" or "max-len-b" need more room
 * than they do with the options of the service, the request fails. */
SKMT_API void skmt_request_set_options(skmt_request *q, const skmt_options *o);
/* Make the translation begin with this text. */
SKMT_API skmt_status skmt_request_set_prefix(skmt_request *q,
                                             const char *prefix,
                                             skmt_error *err);
/* Use n pairs, best first, instead of a search in a memory. */
SKMT_API skmt_status skmt_request_set_pairs(skmt_request *q,
                                            const skmt_similar *pairs, int n,
                                            skmt_error *err);
/* Use this memory. It is searched by the thread that submits the request; many
 * requests may be submitted with the same tm at the same time, but meanwhile no
 * thread may call another function with it. tm may be NULL. keys may be NULL:
 * then the service keeps keys of its own. Free the keys after the service. */
SKMT_API void skmt_request_use(skmt_request *q, skmt_tm *tm, skmt_keys *keys);
/* Requests with a higher priority are translated first. The default is 0. */
SKMT_API void skmt_request_set_priority(skmt_request *q, int priority);
/* Answer the request with SKMT_ERR_DEADLINE if it is not finished this many
 * milliseconds from now. A request that is late is answered at once if a thread
 * waits for it; otherwise after the pass of the decoder that is running, or a
 * part of the keys that are being computed, and the callbacks that are
 * running. */
SKMT_API void skmt_request_set_deadline(skmt_request *q, int64_t ms);
/* Set a function that is called when the request is answered. It runs in a
 * thread of the service, inside a call of skmt_service_submit,
 * skmt_request_cancel, skmt_request_wait or skmt_request_free for this request,
 * or inside skmt_service_free. It should be short. It may read the answer, free
 * the request, and submit or cancel other requests; those of the same service
 * are answered after it has returned. In a thread of a service, submitting
 * returns SKMT_ERR_LIMIT instead of waiting. It must not wait for requests or
 * free the service. */
typedef void skmt_request_fn(void *user, skmt_request *q);
SKMT_API skmt_status skmt_request_on_answer(skmt_request *q,
                                               skmt_request_fn *fn, void *user,
                                               skmt_error *err);

/* Answer the request with SKMT_ERR_CANCELED, unless it has an answer. A request
 * that is not submitted yet is answered when it is. */
SKMT_API void skmt_request_cancel(skmt_request *q);
/* Wait until a submitted request is answered and its callback has returned.
 * Returns the error of the answer, as skmt_request_error does. */
SKMT_API skmt_status skmt_request_wait(skmt_request *q, skmt_error *err);
/* The result, which belongs to the request. NULL when the request has no answer
 * yet, and when it failed. */
SKMT_API skmt_result *skmt_request_result(skmt_request *q);
/* Why the request failed; SKMT_OK if it has a result or no answer yet. */
SKMT_API skmt_status skmt_request_error(const skmt_request *q,
                                        skmt_error *err);

/* Make a service and start its threads, as many as option "threads" says. The
 * options are copied, and are those of requests that have none; NULL means the
 * defaults. A thread whose device fails is not replaced; when none is left, all
 * requests fail. */
SKMT_API skmt_status skmt_service_new(skmt_service **out,
                                      const skmt_model *model,
                                      const skmt_options *options,
                                      skmt_error *err);
/* Submit a request: cut it into sentences, search its memory, and put it
 * into the queue. While the queue is full, this waits; with SKMT_NO_WAIT in
 * flags it returns SKMT_ERR_LIMIT instead. A request with a higher priority
 * than some waiting sentence may enter until the queue has twice as many
 * sentences. If this returns SKMT_OK, the request is answered, maybe before
 * the function returns; what is wrong with its text or its options is an
 * answer, too. Otherwise it was not submitted, and the callback is not
 * called. A request can be submitted once. */
enum { SKMT_NO_WAIT = 1 };
SKMT_API skmt_status skmt_service_submit(skmt_service *s, skmt_request *q,
                                         int flags, skmt_error *err);
/* Get statistic i: returns its name and sets *value. The names are those of
 * skmt_session_stat, and:
 *     answered    requests with an answer
 *     failed      those of them that failed with an error
 *     canceled    those answered with SKMT_ERR_CANCELED
 *     late        those answered with SKMT_ERR_DEADLINE
 *     live        requests without an answer
 *     queued      sentences that wait
 *     decoding    sentences that are being translated
 * Returns NULL after the last. May be called by any thread. */
SKMT_API const char *skmt_service_stat(skmt_service *s, int i,
                                       int64_t *value);
/* Cancel all requests, wait for the threads and for running callbacks, and free
 * the service. Requests that were answered stay valid. No other thread may use
 * the service at this time. */
SKMT_API void skmt_service_free(skmt_service *s);

/* A pair that was found for a sentence. There are two cases:
 *
 * 1. The sentence was translated by the model. Its pairs are those that could
 *    influence the translation, best first. `exact` is 0. Source, target and
 *    memory are "" and id is 0, unless option "explain" was set.
 * 2. The sentence is stored word for word, and the stored translation was used
 *    (option "exact"). Pair 0 is the pair that was used; its `exact` is 1. The
 *    other pairs are the other stored translations of the same sentence, in
 *    order of precedence (see skmt_tm_search); they had no influence, and their
 *    `exact` is 0. All fields are set, with or without option "explain".
 *
 * The similarity is set in both cases, except for a pair of a datastore or of
 * corrections: it was found by its states, so its similarity is -1. */
typedef struct skmt_found_pair {
    size_t size;                /* sizeof(skmt_found_pair) */
    const char *source, *target;
    const char *memory;         /* its name; "" for a pair from the caller or
                                   of a datastore */
    int64_t id;                 /* 0 for a pair from the caller */
    double similarity;          /* 0 to 1, or -1 */
    int32_t exact;              /* 1: its target is the translation */
    int32_t entries;            /* of a pair of a datastore or of corrections:
                                   the number of its stored states; else 0 */
} skmt_found_pair;
/* The number of pairs that were found for a sentence. */
SKMT_API int skmt_result_pairs(const skmt_result *r, int sentence);
/* Get pair i of a sentence. */
SKMT_API void skmt_result_pair(const skmt_result *r, int sentence, int i,
                               skmt_found_pair *out);
/* The weight of the memory (lambda, 0 to 1) in the choice of target piece i.
 * *votes is the number of stored states that voted; votes may be NULL. Both are
 * 0 without option "explain". */
SKMT_API double skmt_result_weight(const skmt_result *r, int hyp, int sentence,
                                  int i, int *votes);
/* The vote of one stored state. */
typedef struct skmt_vote {
    size_t size;                /* sizeof(skmt_vote) */
    int32_t pair;               /* index for skmt_result_pair */
    int32_t position;           /* of the token in the pair's target, from 0 */
    int32_t id;                 /* the token that got the vote */
    const char *text;           /* that token, as in the vocabulary */
    double distance;            /* squared distance between the decoder state
                                   and the stored state */
    double share;               /* share of this vote; the shares of all votes
                                   sum to 1 */
} skmt_vote;
/* Get a vote on target piece i. Vote 0 is that of the nearest stored state. */
SKMT_API void skmt_result_vote(const skmt_result *r, int hyp, int sentence,
                               int i, int vote, skmt_vote *out);
/* Why the memory got its weight in the choice of target piece i: reason k,
 * strongest first. Returns 1, or 0 after the last. Preset "learned" gives
 * reasons if option "explain" was set; the presets of SK-MT give none, because
 * their weight depends on the distance alone. */
typedef struct skmt_reason {
    size_t size;                /* sizeof(skmt_reason) */
    const char *text;           /* a phrase, such as "close state" */
    double effect;              /* above 0: it raised the weight; below 0: it
                                   lowered it */
} skmt_reason;
SKMT_API int skmt_result_reason(const skmt_result *r, int hyp, int sentence,
                                int i, int k, skmt_reason *out);
/* The number of decoder passes that a sentence took part in. With drafts
 * (option "draft") it can be smaller than the number of its steps. */
SKMT_API int skmt_result_passes(const skmt_result *r, int sentence);

/* Get statistic i of the work done so far: returns its name and sets *value.
 * The names are:
 *     passes      runs of the decoder, each over a batch of rows
 *     rows        rows in all passes; a row is one token of a hypothesis or of
 *                 a draft
 *     steps       steps of the search, summed over all sentences
 *     drafted     rows of drafts, computed ahead of time (option "draft")
 *     used        rows of drafts that the search then needed
 * Returns NULL after the last. */
SKMT_API const char *skmt_session_stat(skmt_session *s, int i,
                                       int64_t *value);
/* The same for all threads of a stream, and:
 *     texts       texts delivered
 *     sentences   their sentences
 *     tokens      the target pieces of their best translations
 * May be called by any thread. Values of several calls belong together only
 * after a flush. */
SKMT_API const char *skmt_stream_stat(skmt_stream *s, int i, int64_t *value);

/* ---- import and export */

/* The settings of an import, and its counts. */
typedef struct skmt_import skmt_import;
SKMT_API skmt_status skmt_import_new(skmt_import **out, skmt_error *err);
SKMT_API void skmt_import_free(skmt_import *im);
/* Change a setting. The keys are:
 *     format             tmx, xliff, po, tsv, csv or text; detected from the
 *                        content when not set
 *     source-lang, target-lang
 *                        the languages to import
 *     target-file        with format text: the file with the targets
 *     source-column, target-column, document-column
 *                        with tables: the numbers of the columns, from 1
 *     header             yes: the first row of a table is a header
 *     no-header          yes: the first row of a table is a pair; if neither is
 *                        set, it is skipped if it looks like a header
 *     fuzzy              yes: also import units marked fuzzy or not approved
 *     skip-bad           yes: skip bad units instead of stopping
 *     origin             recorded instead of the name of the file */
SKMT_API skmt_status skmt_import_set(skmt_import *im, const char *key,
                                     const char *value, skmt_error *err);
/* Set a function that is called for every unit that is skipped because of the
 * setting "skip-bad". `raw` has the raw_len bytes of the unit, and then a
 * NUL; raw_len is 0 if they are not available. Return non-zero to stop the
 * import. */
typedef int skmt_reject_fn(void *user, const char *file, uint64_t line,
                           uint64_t column, const char *why, const char *raw,
                           size_t raw_len);
SKMT_API void skmt_import_on_reject(skmt_import *im, skmt_reject_fn *fn,
                                  void *user);
/* Import n files into a memory, atomically: all pairs become visible at once,
 * or none. "-" is standard input. `how` has the settings and receives the
 * counts; it may be NULL. */
SKMT_API skmt_status skmt_tm_import(skmt_tm *tm, const char *memory,
                                    const char *const *paths, int n,
                                    skmt_import *how, skmt_error *err);
/* Get count i of the last import: returns its name and sets *value. The names
 * are:
 *     pairs            pairs imported
 *     texts            new texts among them
 * and of units that were skipped:
 *     empty            their source or target is empty
 *     other_language   they are not in the languages to import
 *     unfinished       they are marked fuzzy or not approved
 *     bad              they cannot be read
 *     headers          first rows of tables that look like headers
 * Returns NULL after the last. */
SKMT_API const char *skmt_import_stat(const skmt_import *im, int i,
                                      int64_t *value);

/* Write a memory to a file; "-" is standard output. If `format` is NULL, the
 * ending of the file name decides. With format "text", the sources are written
 * to `path` and the targets to `target_path`. *n is the number of pairs
 * written; n may be NULL. */
SKMT_API skmt_status skmt_tm_export(skmt_tm *tm, const char *memory,
                                    const char *path, const char *format,
                                    const char *target_path, int64_t *n,
                                    skmt_error *err);

/* ---- maintenance */

/* Check the memory file and its index on disk, and compare them. `fn` is called
 * once for each problem, with a message that describes it. *n_problems is the
 * number of problems; n_problems may be NULL. */
typedef void skmt_problem_fn(void *user, const char *sentence);
SKMT_API skmt_status skmt_tm_check(skmt_tm *tm, skmt_problem_fn *fn,
                                   void *user, int *n_problems,
                                   skmt_error *err);
/* One of several translations of a source. */
typedef struct skmt_translation {
    size_t size;                /* sizeof(skmt_translation) */
    const skmt_pair *pair;      /* the pair that was confirmed last */
    int64_t confirmed;          /* its `changed` time */
    int64_t occurrences;        /* number of pairs that share this text */
    int32_t priority;           /* of its memory */
} skmt_translation;
/* Called by skmt_tm_contradictions with n translations of a source. All
 * pointers are valid until the function returns. It must not use the skmt_tm.
 * Return non-zero to stop. */
typedef int skmt_contradiction_fn(void *user, const char *source,
                                  const skmt_translation *const *list, int n);
/* Call `fn` for each source that has different translations in the memories
 * that `tm` uses. `list` has all of them in order of precedence (see
 * skmt_tm_search). A sentence that is equal to the source gets the translation
 * list[0] (option "exact"). *n is the number of sources; n may be NULL. */
SKMT_API skmt_status skmt_tm_contradictions(skmt_tm *tm,
                                            skmt_contradiction_fn *fn,
                                            void *user, int64_t *n,
                                            skmt_error *err);
/* Rebuild the index from the memory file. If the memory file is damaged, this
 * function changes nothing and returns SKMT_ERR_FORMAT. */
SKMT_API skmt_status skmt_tm_rebuild(skmt_tm *tm, skmt_error *err);
/* Make the memory file and its index smaller: remove what was deleted, and
 * merge the files of the index. If the memory file is damaged, this function
 * changes nothing and returns SKMT_ERR_FORMAT. */
SKMT_API skmt_status skmt_tm_compact(skmt_tm *tm, skmt_error *err);
/* Copy everything that is readable in a damaged memory file to a new file,
 * which must not exist. The old file is not changed. A pair is saved if its
 * source and target match their hash. Pairs keep their ids, except pairs that
 * are found only by scanning the raw bytes. Fails when the new file cannot be
 * written, or when pairs were lost and none was saved. `fn` and `out` may be
 * NULL. */
typedef struct skmt_recovery {
    size_t size;                /* sizeof(skmt_recovery) */
    int64_t pairs;              /* pairs saved */
    int64_t doubtful;           /* saved pairs whose source and target are
                                   right, but whose document, author, times or
                                   other properties may be wrong or missing */
    int64_t lost;               /* at most this many pairs could not be saved;
                                   the real number may be smaller, because
                                   unreadable ids may be those of deleted
                                   pairs; -1: unknown */
} skmt_recovery;
SKMT_API skmt_status skmt_tm_recover(const char *old_path,
                                     const char *new_path,
                                     skmt_tm_progress_fn *fn, void *user,
                                     skmt_recovery *out, skmt_error *err);
/* Get statistic i of the file: returns its name and sets *value. The names are:
 *     store_bytes      size of the memory file and its write-ahead log on disk
 *     index_bytes      size of the index segments
 *     symbol_bytes     size of the index files with the symbols of each source
 *     segments         number of index segments
 *     tail             indexed texts that are not in a segment yet
 *     dead             deleted texts that are still in a segment
 *     terms            distinct terms, summed over the segments
 *     words            terms of all sources, with repetitions
 * A term is the unit that BM25 counts: a word, or a piece if option "analyzer"
 * is "subword". A symbol is the unit that edit distance counts; in these files
 * it is a piece. The values of the index are sums over the memories that `tm`
 * uses. Returns NULL after the last. All values are determined when i is 0; a
 * value that could not be determined is -1. */
SKMT_API const char *skmt_tm_stat(skmt_tm *tm, int i, int64_t *value);

#ifdef __cplusplus
}
#endif
#endif
