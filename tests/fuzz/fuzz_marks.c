/* fuzz_marks.c - takes any bytes as a text with marks and its translation,
 * separated by a NUL. Every mark comes back, whatever the translation is; and a
 * text that was escaped as XML and unescaped is the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/line_cut.h"
#include "server/marks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_marks(const char *text, const char *translation)
{
    static const struct mark_pieces none;
    struct marks m;
    char *out;

    if (!marks_find(&m, text, strlen(text))) abort();
    if (m.n) {
        if (!marks_are_kept(&m, text)) abort();
        if (m.masked) {
            if (!marks_unmask(&m, m.masked, &out)) abort();
            if (out && strcmp(out, text)) abort();
            free(out);
        }
        if (!marks_unmask(&m, translation, &out)) abort();
        if (out && !marks_are_kept(&m, out)) abort();
        free(out);
        out = marks_insert(&m, translation, &none);
        if (!out || !marks_are_kept(&m, out)) abort();
        free(out);
    }
    marks_release(&m);
}

static void check_xml(const char *text)
{
    char *escaped = xml_escape(text), *back;

    if (!escaped || text_has_markup(escaped)) abort();
    back = xml_unescape(escaped);
    if (!back || strcmp(back, text)) abort();
    free(back);
    free(escaped);
    free(xml_unescape(text));
}

static void check_lines(const char *text)
{
    size_t at = 0, last = 0, len = strlen(text);
    struct cut_line l;

    while (line_cut(text, len, &at, &l)) {
        if (l.begin < last || l.end <= l.begin || l.end > len) abort();
        if (memchr(text + l.begin, '\n', l.end - l.begin)) abort();
        last = l.end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    size_t n;

    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    n = strlen(text);
    check_marks(text, n < size ? text + n + 1 : text);
    check_xml(text);
    check_lines(text);
    free(text);
    return 0;
}
