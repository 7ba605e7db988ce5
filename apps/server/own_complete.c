/* own_complete.c - interactive translation: translations that begin with what a
 * user has typed, and other words at a position of a translation. */
#include <stdlib.h>
#include <string.h>

#include "own.h"
#include "server.h"
#include "settings.h"

/* ---- completion ------------------------------------------------------- */

static json_t *own_completion_json(const struct alternative *a,
                                   const char *prefix)
{
    size_t n = strlen(prefix);
    const char *rest = a->text;

    /* A model may write the prefix with other spaces. */
    if (!strncmp(a->text, prefix, n)) rest += n;
    return json_pack("{s:o, s:o, s:f}", "text", own_string(a->text),
                     "completion", own_string(rest), "score", a->score);
}

/* The completions that were found so far. */
struct own_completions { json_t *list; int64_t n; const char *prefix; };

static bool own_is_known(const json_t *list, const char *text)
{
    size_t i;
    const json_t *one;

    json_array_foreach(list, i, one)
        if (!strcmp(json_string_value(json_object_get(one, "text")), text))
            return true;
    return false;
}

/* Takes the translations that are new. begun: only those that begin with the
 * prefix. */
static void own_take_completions(struct own_completions *x,
                                 const struct text_answer *a, bool begun)
{
    size_t n = strlen(x->prefix);

    for (int i = 0; i < a->n; i++) {
        const struct alternative *one = &a->alternatives[i];

        if ((int64_t)json_array_size(x->list) >= x->n) return;
        if ((begun && strncmp(one->text, x->prefix, n))
            || own_is_known(x->list, one->text)) continue;
        json_array_append_new(x->list, own_completion_json(one, x->prefix));
    }
}

/* The bytes of a prefix without the word that it may end in. */
static size_t whole_words(const char *prefix)
{
    size_t n = strlen(prefix);

    while (n > 0 && prefix[n - 1] != ' ' && prefix[n - 1] != '\t') n--;
    return n;
}

/* If the library is made to write a part of a word, such as "op", it takes it
 * for a word: "op the". So the whole words are forced first, and translations
 * that continue the part are chosen. Returns false when the call needs no
 * answer any more. */
static bool own_complete_word(struct call *c, struct own_wish *w,
                              const char *text, struct own_completions *x)
{
    struct wish some = w->wish;
    char *words = strndup(x->prefix, whole_words(x->prefix));
    struct answer a;
    bool ok = true;

    if (words && strlen(words) < strlen(x->prefix)) {
        some.prefix = *words ? words : NULL;
        some.nbest = OWN_MAX_NBEST;
        ok = answer_texts(c, &some, &text, 1, &a);
        /* Done; a newer call is not to be canceled. */
        w->wish.replaces = NULL;
        if (ok) {
            own_take_completions(x, &a.texts[0], true);
            answer_release(&a);
        }
    }
    free(words);
    return ok;
}

static bool own_complete_prefix(struct call *c, const struct own_wish *w,
                                const char *text, struct own_completions *x,
                                const char **source, const char **target)
{
    struct answer a;

    if (!answer_texts(c, &w->wish, &text, 1, &a)) return false;
    *source = a.texts[0].source;
    *target = a.texts[0].target;
    own_take_completions(x, &a.texts[0], false);
    answer_release(&a);
    return true;
}

/* A text of one line. NULL after it has failed the call. */
static const char *own_read_line(struct call *c, const char *name)
{
    const char *text = own_read_text(c, name);

    if (!text || !text[strcspn(text, "\r\n")]) return text;
    call_fail_field(c, name, "%s must have one line", name);
    return NULL;
}

static void own_complete_text(struct call *c, struct own_wish *w,
                              const char *text, const char *prefix, int64_t n)
{
    struct own_completions x = { json_array(), n, prefix ? prefix : "" };
    const char *source, *target;

    w->wish.nbest = (int)n;
    w->wish.priority = 1;
    w->wish.prefix = *x.prefix ? x.prefix : NULL;
    if (own_complete_word(c, w, text, &x)
        && own_complete_prefix(c, w, text, &x, &source, &target))
        call_reply_json(c, 200, json_pack(
            "{s:s, s:s, s:O}", "source", source, "target", target,
            "completions", x.list));
    json_decref(x.list);
}

void own_complete(struct call *c)
{
    struct own_wish w;
    int64_t n = 3;
    const char *text, *prefix;

    if (own_wish_read(c, &w) && (text = own_read_line(c, "text"))
        && own_read_int(c, "n", 1, OWN_MAX_NBEST, &n)
        && own_read_optional(c, "prefix", &prefix))
        own_complete_text(c, &w, text, prefix, n);
    own_wish_release(&w);
}

/* ---- words ------------------------------------------------------------ */

static bool own_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether the character at s is a mark that stands beside words, such as a
 * comma. One inside a word, as in "U.S.A." or "3.5", belongs to it. */
static bool own_is_mark(const char *s)
{
    return *s && strchr(".,;:!?()[]\"", *s)
           && (!s[1] || own_is_space(s[1]) || strchr(".,;:!?()[]\"", s[1]));
}

/* The word at a byte of the text: what is between spaces, without marks at its
 * end. If there is a mark at that byte, it is the word. At spaces, the word is
 * the next one; at the end of the text it is empty. */
static void own_word_at(const char *text, size_t at, size_t *begin,
                        size_t *end)
{
    size_t from;

    while (own_is_space(text[at])) at++;
    *begin = *end = at;
    if (!text[at]) return;
    for (from = at; from > 0 && !own_is_space(text[from - 1])
         && !own_is_mark(text + from); from--)
        if (own_is_mark(text + from - 1)) break;
    *begin = *end = from;
    if (own_is_mark(text + from)) {
        *end = from + 1;
        return;
    }
    if (strchr("([\"", text[from]) && text[from]) ++*begin;
    *end = *begin;
    while (text[*end] && !own_is_space(text[*end])
           && !own_is_mark(text + *end)) ++*end;
}

/* ---- alternatives ----------------------------------------------------- */

/* Other words that were found so far, each with the best translation that has
 * it. */
struct own_choice {
    char *word, *text;
    size_t begin, end;          /* of the word in the text */
    double score;
    int pass;                   /* of the search that found it first */
};
struct own_choices {
    struct own_choice *list;
    int n, cap;
    const char *word;           /* the word to be replaced */
    size_t begin;               /* in the translation */
    int pass;
    bool failed;                /* out of memory */
};

static struct own_choice *own_find_choice(struct own_choices *x,
                                          const char *word)
{
    for (int i = 0; i < x->n; i++)
        if (!strcmp(x->list[i].word, word)) return &x->list[i];
    if (x->n == x->cap) {
        int cap = 2 * x->cap + 16;
        struct own_choice *list = realloc(x->list,
                                          (size_t)cap * sizeof *list);

        if (!list) return NULL;
        x->list = list;
        x->cap = cap;
    }
    x->list[x->n] = (struct own_choice){ .word = strdup(word) };
    return x->list[x->n].word ? &x->list[x->n++] : NULL;
}

/* Takes the word at the position in a translation that begins like the one of
 * the call. */
static void own_take_choice(struct own_choices *x, const struct alternative *a)
{
    struct own_choice *choice;
    size_t begin, end;
    char *word;

    if (strlen(a->text) < x->begin) return;
    own_word_at(a->text, x->begin, &begin, &end);
    if (begin == end) return;   /* the translation ends here */
    word = strndup(a->text + begin, end - begin);
    if (word && !strcmp(word, x->word)) {
        free(word);
        return;
    }
    choice = word ? own_find_choice(x, word) : NULL;
    free(word);
    if (!choice) {
        x->failed = true;
        return;
    }
    if (choice->text && (choice->pass < x->pass || choice->score >= a->score))
        return;
    choice->pass = x->pass;
    free(choice->text);
    choice->text = strdup(a->text);
    if (!choice->text) x->failed = true;
    choice->begin = begin;
    choice->end = end;
    choice->score = a->score;
}

static void own_take_choices(struct own_choices *x, const struct answer *a)
{
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < a->texts[i].n; k++)
            own_take_choice(x, &a->texts[i].alternatives[k]);
}

static void own_release_choices(struct own_choices *x)
{
    for (int i = 0; i < x->n; i++) {
        free(x->list[i].word);
        free(x->list[i].text);
    }
    free(x->list);
}

static int by_pass_and_score(const void *a, const void *b)
{
    const struct own_choice *left = a, *right = b;

    if (left->pass != right->pass) return left->pass - right->pass;
    if (left->score > right->score) return -1;
    return left->score < right->score;
}

/* What the call asks for. */
struct own_position {
    const char *text, *translation;
    size_t begin, end;          /* the word in the translation */
    int64_t n;
};

static void own_reply_choices(struct call *c, const struct own_wish *w,
                              const struct own_position *p,
                              struct own_choices *x)
{
    json_t *list = json_array(), *answer;
    struct offsets o;

    if (x->failed) {
        json_decref(list);
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return;
    }
    if (x->n) qsort(x->list, (size_t)x->n, sizeof *x->list,
                    by_pass_and_score);
    for (int i = 0; i < x->n && i < p->n; i++) {
        const struct own_choice *choice = &x->list[i];
        json_t *j;

        offsets_init(&o, choice->text, w->unit);
        j = own_span_json(&o, choice->begin, choice->end);
        json_object_set_new(j, "word", own_string(choice->word));
        json_object_set_new(j, "text", own_string(choice->text));
        json_object_set_new(j, "score", json_real(choice->score));
        json_array_append_new(list, j);
    }
    offsets_init(&o, p->translation, w->unit);
    answer = own_span_json(&o, p->begin, p->end);
    json_object_set_new(answer, "word", own_string(x->word));
    json_object_set_new(answer, "alternatives", list);
    call_reply_json(c, 200, answer);
}

/* ---- three searches -------------------------------------------------------
 *
 * 1. The n-best list. It often has few different words at one position, because
 *    its translations differ later.
 * 2. The n-best list of the model without the memory, which knows other words.
 * 3. If fewer than OWN_ENOUGH words were found, the translation is continued
 *    with each letter. That takes long, and the words are rare ones, because
 *    the model must spell them. */

/* Translates with the whole words before the position. Returns false when the
 * call needs no answer any more. */
static bool own_try_list(struct call *c, struct own_wish *w,
                         const struct own_position *p, struct own_choices *x)
{
    struct answer a;

    x->pass++;
    if (!answer_texts(c, &w->wish, &p->text, 1, &a)) return false;
    w->wish.replaces = NULL;    /* done; a newer call is not to be canceled */
    own_take_choices(x, &a);
    answer_release(&a);
    return true;
}

/* The same without the memory, unless there was none. */
static bool own_try_model(struct call *c, struct own_wish *w,
                          const struct own_position *p, struct own_choices *x)
{
    const char *system = json_string_value(json_object_get(w->options,
                                                           "system"));

    if (!account_has_memory(call_account(c))
        || (system && !strcmp(system, "nmt"))) return true;
    if (json_object_set_new(w->options, "system", json_string("nmt"))) {
        x->failed = true;
        return true;
    }
    w->wish.options = w->options;
    return own_try_list(c, w, p, x);
}

enum { OWN_LETTERS = 26, OWN_ENOUGH = 3 };
struct own_tries {
    const char *texts[OWN_LETTERS], *prefixes[OWN_LETTERS];
    char *made[OWN_LETTERS];
};

static bool own_make_tries(struct own_tries *t, const struct own_position *p)
{
    bool upper = p->translation[p->begin] >= 'A'
                 && p->translation[p->begin] <= 'Z';

    memset(t, 0, sizeof *t);
    for (int i = 0; i < OWN_LETTERS; i++) {
        t->made[i] = malloc(p->begin + 2);
        if (!t->made[i]) return false;
        memcpy(t->made[i], p->translation, p->begin);
        t->made[i][p->begin] = (char)((upper ? 'A' : 'a') + i);
        t->made[i][p->begin + 1] = 0;
        t->prefixes[i] = t->made[i];
        t->texts[i] = p->text;
    }
    return true;
}

/* Returns false when the call needs no answer any more. */
static bool own_try_letters(struct call *c, const struct own_wish *w,
                            const struct own_position *p,
                            struct own_choices *x)
{
    /* A call may not have more texts than the server allows. */
    int most = call_server(c)->settings->max_texts;
    struct wish one = w->wish;
    struct own_tries t;
    struct answer a;
    bool ok = true;

    x->pass++;
    one.nbest = 1;
    one.prefix = NULL;
    if (!own_make_tries(&t, p)) x->failed = true;
    for (int i = 0; ok && !x->failed && i < OWN_LETTERS; i += most) {
        int n = OWN_LETTERS - i < most ? OWN_LETTERS - i : most;

        ok = answer_prefixes(c, &one, t.texts + i, t.prefixes + i, n, &a);
        if (!ok) break;
        own_take_choices(x, &a);
        answer_release(&a);
    }
    for (int i = 0; i < OWN_LETTERS; i++) free(t.made[i]);
    return ok;
}

/* Finds other words at a position, and answers with them. */
static void own_find_choices(struct call *c, struct own_wish *w,
                             const struct own_position *p)
{
    char *word = strndup(p->translation + p->begin, p->end - p->begin);
    char *prefix = strndup(p->translation, p->begin);
    struct own_choices x = { .word = word, .begin = p->begin };

    w->wish.nbest = OWN_MAX_NBEST;
    w->wish.priority = 1;
    w->wish.prefix = prefix && *prefix ? prefix : NULL;
    if (!word || !prefix)
        call_fail(c, FAIL_INTERNAL, "out of memory");
    else if (own_try_list(c, w, p, &x)
             && (x.n >= p->n || own_try_model(c, w, p, &x))
             && (x.n >= p->n || x.n >= OWN_ENOUGH
                 || own_try_letters(c, w, p, &x)))
        own_reply_choices(c, w, p, &x);
    own_release_choices(&x);
    free(word);
    free(prefix);
}

static bool own_read_position(struct call *c, const struct own_wish *w,
                              struct own_position *p)
{
    int64_t position = -1;
    struct offsets o;
    size_t at;

    p->n = 8;
    p->text = own_read_line(c, "text");
    p->translation = p->text ? own_read_line(c, "translation") : NULL;
    if (!p->translation || !own_read_int(c, "n", 1, OWN_MAX_NBEST, &p->n)
        || !own_read_int(c, "position", 0, INT64_MAX, &position)) return false;
    offsets_init(&o, p->translation, w->unit);
    if (position < 0 || !offsets_to_byte(&o, (size_t)position, &at)) {
        call_fail_field(c, "position", position < 0 ? "position is missing"
                        : "position is behind the end of translation, or "
                          "inside a character");
        return false;
    }
    own_word_at(p->translation, at, &p->begin, &p->end);
    return true;
}

void own_alternatives(struct call *c)
{
    struct own_position p;
    struct own_wish w;

    if (own_wish_read(c, &w) && own_read_position(c, &w, &p))
        own_find_choices(c, &w, &p);
    own_wish_release(&w);
}
