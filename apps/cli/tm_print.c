/* tm_print.c - formats pairs, numbers and times for output, with control
 * characters made visible. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/jput.h"
#include "tm_print.h"

/* Return the length in bytes of a control character at s, or 0 if there is
 * none. Terminals also execute the C1 controls, U+0080 to U+009F. */
static size_t control_len(const unsigned char *s, size_t n)
{
    if (s[0] < 0x20 || s[0] == 0x7F) return 1;
    if (n > 1 && s[0] == 0xC2 && s[1] < 0xA0) return 2;
    return 0;
}

void put_visible(struct textbuf *t, const char *s, size_t n)
{
    static const char plain[] = "\n\r\t", escape[] = "nrt";

    for (size_t i = 0; i < n; i++) {
        const unsigned char *at = (const unsigned char *)s + i;
        size_t len = control_len(at, n - i);
        const char *p = len == 1 && *at ? strchr(plain, *at) : NULL;

        if (len == 0) textbuf_add(t, s + i, 1);
        else if (p) textbuf_addf(t, "\\%c", escape[p - plain]);
        else textbuf_addf(t, "\\x%02x", at[len - 1]);
        if (len == 2) i++;
    }
}

void put_count(struct textbuf *t, int64_t n)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%" PRId64, n);

    for (int i = 0; i < len; i++) {
        textbuf_add(t, digits + i, 1);
        if (i + 1 < len && digits[i] != '-' && (len - 1 - i) % 3 == 0)
            textbuf_adds(t, ",");
    }
}

void put_aligned(struct textbuf *t, int64_t n, size_t width)
{
    struct textbuf number = { 0 };

    put_count(&number, n);
    for (size_t i = number.len; i < width; i++) textbuf_adds(t, " ");
    textbuf_add(t, number.data, number.len);
    if (number.failed) t->failed = true;
    textbuf_release(&number);
}

void put_noun(struct textbuf *t, int64_t n, const char *one,
              const char *many)
{
    put_count(t, n);
    textbuf_adds(t, " ");
    textbuf_adds(t, n == 1 ? one : many);
}

static void put_time(struct textbuf *t, int64_t seconds, const char *format)
{
    time_t when = (time_t)seconds;
    char text[64] = "";
    struct tm utc;

    if (gmtime_r(&when, &utc)) strftime(text, sizeof text, format, &utc);
    textbuf_adds(t, text);
}

void put_date(struct textbuf *t, int64_t seconds)
{
    put_time(t, seconds, "%Y-%m-%d");
}

void put_date_time(struct textbuf *t, int64_t seconds)
{
    put_time(t, seconds, "%Y-%m-%d %H:%M:%S UTC");
}

int similarity_percent(double similarity)
{
    return (int)(similarity * 100 + 1e-9);
}

void jput_pair(struct textbuf *t, const skmt_pair *p)
{
    jput_int_field(t, "id", p->id);
    jput_text_field(t, "memory", p->memory);
    jput_text_field(t, "source", p->source);
    jput_text_field(t, "target", p->target);
    if (p->source_tagged) jput_text_field(t, "source_tagged", p->source_tagged);
    if (p->target_tagged) jput_text_field(t, "target_tagged", p->target_tagged);
    jput_text_field(t, "source_lang", p->source_lang);
    jput_text_field(t, "target_lang", p->target_lang);
    jput_text_field(t, "origin", p->origin);
    jput_int_field(t, "position", p->position);
    jput_text_field(t, "document", p->document);
    jput_text_field(t, "unit", p->unit);
    jput_text_field(t, "author", p->author);
    jput_time_field(t, "created", p->created);
    jput_time_field(t, "changed", p->changed);
    if (p->extra[0]) {                  /* extra is a JSON object */
        jput_key(t, "extra");
        jput_raw(t, p->extra, strlen(p->extra));
    }
}

void jput_memory(struct textbuf *t, const skmt_tm_info *m)
{
    jput_object(t);
    jput_text_field(t, "name", m->name);
    jput_text_field(t, "source_lang", m->source_lang);
    jput_text_field(t, "target_lang", m->target_lang);
    jput_int_field(t, "priority", m->priority);
    jput_bool_field(t, "keep_duplicates", m->keep_duplicates);
    jput_time_field(t, "created", m->created);
    jput_int_field(t, "pairs", m->pairs);
    jput_int_field(t, "texts", m->texts);
    jput_int_field(t, "source_bytes", m->source_bytes);
    jput_int_field(t, "target_bytes", m->target_bytes);
    jput_object_end(t);
}
