/* sentence_rules.c - finds the lists of a language, and words in them.
 *
 * A list is one string with a space before and after each word, so a word is
 * found by a search for the word with spaces around it. The longest lists have
 * a kilobyte, and only the words around a full stop are looked for. */
#include "text/sentence_rules.h"

#include <string.h>

#include "base/invariant.h"
#include "text/language.h"

struct word_lists {
    const char *codes;          /* " de en " */
    const char *like;           /* a code, or NULL */
    const char *words[N_SENTENCE_LISTS];        /* NULL: none */
    unsigned flags;
};

static const struct word_lists all_lists[] = {
#define RULES(c, f) { .codes = " " c " ", .flags = f,
#define LIKE(c) .like = c,
#define W(w) " " w " "
#define NEVER(w) .words[LIST_NEVER] = w,
#define MAYBE(w) .words[LIST_MAYBE] = w,
#define ENDING(w) .words[LIST_ENDING] = w,
#define STARTER(w) .words[LIST_STARTER] = w,
#define FINAL(w) .words[LIST_FINAL] = w,
#define END },
#include "text/abbreviations.def"
#undef RULES
#undef LIKE
#undef W
#undef NEVER
#undef MAYBE
#undef ENDING
#undef STARTER
#undef FINAL
#undef END
};

/* The longest word that is looked for, with its spaces and a NUL. */
enum { LOOKUP_SIZE = 128 };

/* Whether a word is in a string of words with spaces around them. */
static bool has_word(const char *words, const char *word)
{
    char key[LOOKUP_SIZE];
    size_t n = strlen(word);

    if (!words || !n || n > sizeof key - 3) return false;
    key[0] = ' ';
    memcpy(key + 1, word, n);
    key[n + 1] = ' ';
    key[n + 2] = '\0';
    return strstr(words, key);
}

static const struct word_lists *find_lists(const char *code)
{
    for (size_t i = 0; i < sizeof all_lists / sizeof *all_lists; i++)
        if (has_word(all_lists[i].codes, code)) return &all_lists[i];
    return NULL;
}

struct sentence_rules sentence_rules_of(const char *lang)
{
    struct language l;
    struct sentence_rules r = { .flags = 0 };
    const struct word_lists *own;
    int n = 0;

    if (!language_parse(str_of(lang), &l))
        return (struct sentence_rules){ { find_lists("de"), find_lists("en"),
                                          find_lists("title") },
                                        SPLIT_ORDINALS };
    own = find_lists(l.code);
    if (own) {
        r.flags = own->flags;
        r.lists[n++] = own;
        if (own->like) r.lists[n++] = find_lists(own->like);
    }
    r.lists[n++] = find_lists(!strcmp(l.code, "de") || !strcmp(l.code, "en")
                              ? "title" : "any");
    assert(n <= 3 && r.lists[n - 1]);
    return r;
}

bool sentence_rules_have(const struct sentence_rules *r,
                         enum sentence_list list, const char *word)
{
    for (int i = 0; i < 3 && r->lists[i]; i++)
        if (has_word(r->lists[i]->words[list], word)) return true;
    return false;
}

/* Whether `word` is longer than the n bytes at `ending` and ends with them. */
static bool ends_with(const char *word, const char *ending, size_t n)
{
    size_t len = strlen(word);

    return len > n && !memcmp(word + len - n, ending, n);
}

bool sentence_rules_have_ending(const struct sentence_rules *r,
                                const char *word)
{
    for (int i = 0; i < 3 && r->lists[i]; i++) {
        const char *p = r->lists[i]->words[LIST_ENDING];

        while (p && *(p += strspn(p, " "))) {
            size_t n = strcspn(p, " ");

            if (ends_with(word, p, n)) return true;
            p += n;
        }
    }
    return false;
}
