/* text_list.c - reads the texts of a call, and takes XML out of them.
 *
 * The elements without content of a text become [X7X], [X8X], .., with numbers
 * above those that the text has already. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/textbuf.h"
#include "languages.h"
#include "marks.h"
#include "text_list.h"

struct text_span { size_t begin, end; };

struct text_markup {
    char *plain;                /* what is translated; NULL: as written */
    struct text_span *elements; /* [n] in the text as written */
    int n;
    int first;                  /* number of the mark of elements[0] */
};

size_t text_characters(const char *s)
{
    size_t n = 0;

    for (; *s; s++) n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

static const char *text_as_written(const struct text_list *t, int i)
{
    return json_string_value(json_array_get(t->json, (size_t)i));
}

/* ---- reading ---------------------------------------------------------- */

int text_list_take(struct text_list *t, json_t *v)
{
    size_t n;

    memset(t, 0, sizeof *t);
    t->single = json_is_string(v);
    if (!t->single && !json_is_array(v)) return -1;
    t->json = t->single ? json_pack("[O]", v) : json_incref(v);
    n = json_array_size(t->json);
    t->texts = calloc(n + 1, sizeof *t->texts);
    t->markup = calloc(n + 1, sizeof *t->markup);
    if (!t->json || !t->texts || !t->markup) return 0;
    t->n = (int)n;
    for (int i = 0; i < t->n; i++) {
        t->texts[i] = text_as_written(t, i);
        if (!t->texts[i]) return -2 - i;
    }
    return 1;
}

int text_list_read(struct call *c, const char *name, struct text_list *t)
{
    json_t *v = json_object_get(call_args(c), name);
    int done;

    memset(t, 0, sizeof *t);
    if (!v || json_is_null(v)) return 0;
    done = text_list_take(t, v);
    if (done == 1) return 1;
    if (done == 0)
        call_fail(c, FAIL_INTERNAL, "out of memory");
    else if (done == -1)
        call_fail_field(c, name, "parameter %s must be a string or a list of "
                        "strings", name);
    else
        call_fail_field(c, name, "element %d of parameter %s is not a string",
                        -done - 1, name);
    return -1;
}

void text_list_release(struct text_list *t)
{
    for (int i = 0; t->markup && i < t->n; i++) {
        free(t->markup[i].plain);
        free(t->markup[i].elements);
    }
    free(t->markup);
    free(t->texts);
    json_decref(t->json);
    memset(t, 0, sizeof *t);
}

/* ---- elements without content ----------------------------------------- */

/* The length of the start tag at s, which is "<"; 0 if there is none. *name is
 * the length of its name. Quoted values may contain ">". */
static size_t start_tag(const char *s, size_t *name)
{
    size_t n = 1;
    char quote = '\0';

    if (!isalpha((unsigned char)s[1]) && s[1] != '_') return 0;
    while (s[n] && !strchr(" \t\r\n/><", s[n])) n++;
    *name = n - 1;
    for (; s[n]; n++) {
        if (quote) {
            if (s[n] == quote) quote = '\0';
        } else if (s[n] == '"' || s[n] == '\'') {
            quote = s[n];
        } else if (s[n] == '>') {
            return n + 1;
        } else if (s[n] == '<') {
            return 0;
        }
    }
    return 0;
}

/* The length of the element without content at s, which is "<": <x/> or
 * <x></x>. 0 if there is none. */
static size_t empty_element(const char *s)
{
    size_t name, n = start_tag(s, &name);

    if (n == 0) return 0;
    if (s[n - 2] == '/') return n;
    if (s[n] != '<' || s[n + 1] != '/' || strncmp(s + n + 2, s + 1, name) ||
        s[n + 2 + name] != '>')
        return 0;
    return n + name + 3;
}

/* A number above those of the marks in a text. Marks with more than six digits
 * do not count: ours never have as many. */
static int free_number(const char *s)
{
    int first = 1, number, n;

    while ((s = strstr(s, "[X"))) {
        s += 2;
        n = 0;
        if (sscanf(s, "%6dX]%n", &number, &n) == 1 && n > 0 &&
            number >= first)
            first = number + 1;
    }
    return first;
}

static bool add_element(struct text_markup *m, size_t begin, size_t end)
{
    struct text_span *list;

    if (m->n % 16 == 0) {
        list = realloc(m->elements, ((size_t)m->n + 16) * sizeof *list);
        if (!list) return false;
        m->elements = list;
    }
    m->elements[m->n++] = (struct text_span){ begin, end };
    return true;
}

/* Replaces the elements by marks. NULL: out of memory. */
static char *mark_elements(const char *text, struct text_markup *m)
{
    struct textbuf t = { 0 };

    m->first = free_number(text);
    for (const char *s = text; *s;) {
        size_t plain = strcspn(s, "<"), n;

        textbuf_add(&t, s, plain);
        s += plain;
        if (!*s) break;
        n = empty_element(s);
        if (n == 0) {
            textbuf_add(&t, s++, 1);
            continue;
        }
        textbuf_addf(&t, "[X%dX]", m->first + m->n);
        if (!add_element(m, (size_t)(s - text), (size_t)(s - text) + n))
            t.failed = true;
        s += n;
    }
    textbuf_add(&t, "", 1);
    if (!t.failed) return t.data;
    textbuf_release(&t);
    return NULL;
}

bool text_list_decode(struct text_list *t, enum text_form form, int *tag)
{
    *tag = -1;
    for (int i = 0; i < t->n && form != TEXT_PLAIN; i++) {
        char *marked = mark_elements(t->texts[i], &t->markup[i]), *plain;

        if (!marked) return false;
        if (text_has_markup(marked)) {
            free(marked);
            *tag = i;
            return true;
        }
        plain = xml_unescape(marked);
        free(marked);
        if (!plain) return false;
        /* A text of which we do not know that it is XML. */
        if (form == TEXT_GUESS && !strcmp(plain, t->texts[i]))
            free(plain);
        else
            t->texts[i] = t->markup[i].plain = plain;
    }
    return true;
}

/* ---- answers ---------------------------------------------------------- */

/* If s is one of our marks, returns its length and sets *k to the index of its
 * element. Else 0. */
static size_t mark_of_element(const struct text_markup *m, const char *s,
                              int *k)
{
    int number, n = 0;

    /* sscanf would also accept blanks, a sign and zeros. */
    if (s[1] != 'X' || s[2] < '1' || s[2] > '9') return 0;
    if (sscanf(s, "[X%6dX]%n", &number, &n) != 1 || n == 0) return 0;
    *k = number - m->first;
    return *k >= 0 && *k < m->n ? (size_t)n : 0;
}

/* Puts the elements back where their marks are. One whose mark was lost is put
 * at the end, because a client needs each of them. */
static void put_elements(struct textbuf *t, const struct text_markup *m,
                         const char *written, const char *s)
{
    bool *seen = calloc((size_t)m->n + 1, 1);
    int k;

    if (!seen) t->failed = true;
    while (seen && *s) {
        size_t n = *s == '[' ? mark_of_element(m, s, &k) : 0;

        if (n == 0) {
            textbuf_add(t, s++, 1);
            continue;
        }
        if (!seen[k])
            textbuf_add(t, written + m->elements[k].begin,
                        m->elements[k].end - m->elements[k].begin);
        seen[k] = true;
        s += n;
    }
    for (k = 0; seen && k < m->n; k++)
        if (!seen[k])
            textbuf_add(t, written + m->elements[k].begin,
                        m->elements[k].end - m->elements[k].begin);
    free(seen);
}

json_t *text_list_answer(const struct text_list *t, int i,
                         const char *translation)
{
    const struct text_markup *m = &t->markup[i];
    struct textbuf out = { 0 };
    char *encoded;
    json_t *s = NULL;

    if (!m->plain) return json_string(translation);
    encoded = xml_escape(translation);
    if (!encoded) return NULL;
    put_elements(&out, m, text_as_written(t, i), encoded);
    if (!out.failed) s = json_stringn(out.data ? out.data : "", out.len);
    textbuf_release(&out);
    free(encoded);
    return s;
}

size_t text_list_characters(const struct text_list *t, int i)
{
    return text_characters(text_as_written(t, i));
}

bool text_list_is_probe(struct call *c, const struct text_list *t,
                        const char *source, const char *target)
{
    return t->n == 1 && source && target && !strcmp(t->texts[0], "test") &&
           !strcmp(source, "en") && !strcmp(target, "de") &&
           !language_is_served(call_server(c), source, target);
}
