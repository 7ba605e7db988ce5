/* text_list.c - reads the texts of a call, decodes and encodes entities. */
#include <stdlib.h>
#include <string.h>

#include "marks.h"
#include "text_list.h"

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

static int text_list_fill(struct call *c, const char *name,
                          struct text_list *t)
{
    t->n = (int)json_array_size(t->json);
    t->texts = calloc((size_t)t->n + 1, sizeof *t->texts);
    t->decoded = calloc((size_t)t->n + 1, sizeof *t->decoded);
    if (!t->texts || !t->decoded) {
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return -1;
    }
    for (int i = 0; i < t->n; i++) {
        t->texts[i] = text_as_written(t, i);
        if (t->texts[i]) continue;
        call_fail_field(c, name, "element %d of parameter %s is not a string",
                        i + 1, name);
        return -1;
    }
    return 1;
}

int text_list_read(struct call *c, const char *name, struct text_list *t)
{
    json_t *v = json_object_get(call_args(c), name);

    memset(t, 0, sizeof *t);
    if (!v || json_is_null(v)) return 0;
    if (json_is_array(v)) {
        t->json = json_incref(v);
    } else if (json_is_string(v)) {
        t->single = true;
        t->json = json_pack("[O]", v);
    } else {
        call_fail_field(c, name, "parameter %s must be a string or a list of "
                        "strings", name);
        return -1;
    }
    if (t->json) return text_list_fill(c, name, t);
    call_fail(c, FAIL_INTERNAL, "out of memory");
    return -1;
}

void text_list_release(struct text_list *t)
{
    for (int i = 0; t->decoded && i < t->n; i++) free(t->decoded[i]);
    free(t->decoded);
    free(t->texts);
    json_decref(t->json);
    memset(t, 0, sizeof *t);
}

bool text_list_decode(struct text_list *t, enum text_form form)
{
    for (int i = 0; i < t->n && form != TEXT_PLAIN; i++) {
        char *plain = xml_unescape(t->texts[i]);

        if (!plain) return false;
        /* A text without an entity, of which we do not know that it is XML. */
        if (form == TEXT_GUESS && !strcmp(plain, t->texts[i])) {
            free(plain);
            continue;
        }
        t->texts[i] = t->decoded[i] = plain;
    }
    return true;
}

int text_list_tag(const struct text_list *t, enum text_form form)
{
    for (int i = 0; i < t->n && form != TEXT_PLAIN; i++)
        if (text_has_markup(text_as_written(t, i))) return i;
    return -1;
}

json_t *text_list_answer(const struct text_list *t, int i,
                         const char *translation)
{
    json_t *s;
    char *encoded;

    if (!t->decoded[i]) return json_string(translation);
    encoded = xml_escape(translation);
    s = encoded ? json_string(encoded) : NULL;
    free(encoded);
    return s;
}

size_t text_list_characters(const struct text_list *t, int i)
{
    return text_characters(text_as_written(t, i));
}
