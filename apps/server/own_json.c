/* own_json.c - objects that occur in several answers of skmt's own API. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/textbuf.h"
#include "common/utf8_scan.h"
#include "own.h"

/* ---- errors ----------------------------------------------------------- */

/* The word for a kind of failure in "status". */
static const char *own_status(enum fail_kind kind)
{
    switch (kind) {
    case FAIL_ARGUMENT: return "argument";
    case FAIL_JSON: return "json";
    case FAIL_LANGUAGE: return "language";
    case FAIL_NO_KEY: return "no_key";
    case FAIL_WRONG_KEY: return "wrong_key";
    case FAIL_FORBIDDEN: return "forbidden";
    case FAIL_NOT_FOUND: return "not_found";
    case FAIL_PATH: return "path";
    case FAIL_METHOD: return "method";
    case FAIL_CONFLICT: return "conflict";
    case FAIL_TOO_BIG: return "too_big";
    case FAIL_TEXT_LIMIT: return "text_limit";
    case FAIL_TYPE: return "type";
    case FAIL_UNSUPPORTED: return "unsupported";
    case FAIL_BUSY: return "busy";
    case FAIL_RATE: return "rate";
    case FAIL_NOT_READY: return "not_ready";
    case FAIL_STORAGE: return "storage";
    case FAIL_INTERNAL: return "internal";
    }
    return "internal";
}

json_t *own_failure_json(const struct call *c, const struct failure *f)
{
    json_t *e = json_pack("{s:s, s:o, s:s}", "status", own_status(f->kind),
                          "message", own_string(f->message), "request_id",
                          call_id(c));

    if (e && f->field[0])
        json_object_set_new(e, "field", own_string(f->field));
    if (e && f->retry_after > 0)
        json_object_set_new(e, "retry_after", json_integer(f->retry_after));
    return e ? json_pack("{s:o}", "error", e) : NULL;
}

/* ---- values ----------------------------------------------------------- */

json_t *own_string(const char *s)
{
    struct textbuf t = { .data = NULL };
    size_t left = strlen(s);
    json_t *out;

    if (utf8_first_bad(s, left) == left) return json_stringn_nocheck(s, left);
    while (left > 0) {
        size_t good = utf8_first_bad(s, left);

        textbuf_add(&t, s, good);
        if (good < left) {
            textbuf_adds(&t, "\xEF\xBF\xBD");
            good++;
        }
        s += good;
        left -= good;
    }
    out = t.failed ? NULL : json_stringn(t.data, t.len);
    textbuf_release(&t);
    return out;
}

json_t *own_time_json(int64_t seconds)
{
    char text[40] = "";
    time_t when = (time_t)seconds;
    struct tm utc;

    if (gmtime_r(&when, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(text);
}

json_t *own_pair_json(const skmt_pair *p)
{
    json_t *j = json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "id", (json_int_t)p->id, "memory", own_string(p->memory),
        "source", own_string(p->source), "target", own_string(p->target),
        "source_lang", own_string(p->source_lang),
        "target_lang", own_string(p->target_lang),
        "origin", own_string(p->origin), "document", own_string(p->document),
        "unit", own_string(p->unit), "author", own_string(p->author),
        "created", own_time_json(p->created),
        "changed", own_time_json(p->changed));

    if (j && p->source_tagged)
        json_object_set_new(j, "source_tagged", own_string(p->source_tagged));
    if (j && p->target_tagged)
        json_object_set_new(j, "target_tagged", own_string(p->target_tagged));
    return j;
}

json_t *own_card_json(const struct memory_card *card)
{
    return json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}",
        "id", (json_int_t)card->id, "name", own_string(card->name),
        "title", own_string(card->title),
        "description", own_string(card->description),
        "external_id", own_string(card->external_id),
        "source", own_string(card->source_lang),
        "target", own_string(card->target_lang),
        "created", own_time_json(card->created),
        "pairs", (json_int_t)card->pairs);
}

json_t *own_span_json(struct offsets *o, size_t begin, size_t end)
{
    size_t from = offsets_of_byte(o, begin), to = offsets_of_byte(o, end);

    return json_pack("{s:I, s:I}", "begin", (json_int_t)from,
                     "end", (json_int_t)to);
}

/* ---- comparisons ------------------------------------------------------ */

struct edit_list {
    json_t *list;
    struct offsets stored, *whole;
    size_t shift;
};

/* Returns non-zero if out of memory. */
static int edit_list_add(void *user, char kind, size_t begin, size_t end)
{
    struct edit_list *e = user;
    const char name[2] = { kind, 0 };
    json_t *j = kind == '+'
        ? own_span_json(e->whole, e->shift + begin, e->shift + end)
        : own_span_json(&e->stored, begin, end);

    if (j) json_object_set_new(j, "kind", json_string(name));
    return json_array_append_new(e->list, j) != 0;
}

json_t *own_edits_json(const char *stored, const char *text, size_t shift,
                       struct offsets *whole)
{
    struct edit_list e = { .list = json_array(), .whole = whole,
                           .shift = shift };

    offsets_init(&e.stored, stored, whole->unit);
    if (e.list && !skmt_compare(stored, text, edit_list_add, &e, NULL))
        return e.list;
    json_decref(e.list);
    return NULL;
}
