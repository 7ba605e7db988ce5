/* fuzz_text_list.c - a text with markup must come back as XML that means the
 * same, whatever it contains, and each element without content must come back
 * once.
 *
 * The first byte of an input is the form of the text ('p', 'x', 'g'). The rest
 * is the text, and after a newline a translation of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8_scan.h"
#include "server/marks.h"
#include "server/text_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void list_must(int good)
{
    if (!good) abort();
}

/* What is translated of a text, or NULL if it has a tag. */
static char *decoded(const char *text, enum text_form form)
{
    json_t *v = json_string(text);
    struct text_list t;
    char *plain = NULL;
    int tag = -1;

    list_must(text_list_take(&t, v) == 1 && text_list_decode(&t, form, &tag));
    if (tag < 0) plain = strdup(t.texts[0]);
    text_list_release(&t);
    json_decref(v);
    return plain;
}

static void fuzz_list(const char *text, const char *translation,
                      enum text_form form)
{
    json_t *v = json_string(text), *same, *other;
    struct text_list t;
    char *again;
    int tag = -1;

    list_must(text_list_take(&t, v) == 1 && text_list_decode(&t, form, &tag));
    if (tag < 0) {
        same = text_list_answer(&t, 0, t.texts[0]);
        other = text_list_answer(&t, 0, translation);
        list_must(same && other);
        /* An answer is of the form of the text. */
        again = decoded(json_string_value(same), form);
        list_must(again && !strcmp(again, t.texts[0]));
        free(again);
        if (form == TEXT_XML) {
            again = decoded(json_string_value(other), form);
            list_must(again != NULL);
            free(again);
        }
        json_decref(same);
        json_decref(other);
    }
    text_list_release(&t);
    json_decref(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text, *translation;

    if (size < 2 || utf8_first_bad((const char *)data + 1, size - 1) < size - 1)
        return 0;
    text = strndup((const char *)data + 1, size - 1);
    translation = strchr(text, '\n');
    if (translation) *translation++ = '\0';
    else translation = text + strlen(text);
    fuzz_list(text, translation, data[0] == 'p' ? TEXT_PLAIN
              : data[0] == 'x' ? TEXT_XML : TEXT_GUESS);
    free(text);
    return 0;
}
