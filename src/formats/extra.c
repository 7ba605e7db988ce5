/* extra.c - builds and reads the format-specific JSON of units and files.
 *
 * Readers append JSON text by hand. Writers parse it with jansson, because it
 * may come from a memory file and is not trusted to be well-formed. */
#include "formats/extra.h"

#include "formats/xml_write.h"

static bool put_json_escape(struct strbuf *out, unsigned char c)
{
    char escape[2] = { '\\', (char)c };

    if (c == '\n') escape[1] = 'n';
    else if (c == '\t') escape[1] = 't';
    else if (c < 0x20) return strbuf_addf(out, "\\u%04x", c);
    return strbuf_add(out, escape, 2);
}

bool extra_put_string(struct strbuf *out, const char *s, size_t n)
{
    size_t from = 0;
    bool ok = strbuf_addc(out, '"');

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        ok = ok && strbuf_add(out, s + from, i - from) &&
             put_json_escape(out, c);
        from = i + 1;
    }
    return ok && strbuf_add(out, s + from, n - from) && strbuf_addc(out, '"');
}

bool extra_put_key(struct strbuf *out, const char *key)
{
    char last = out->len ? out->data[out->len - 1] : '{';

    if (last != '{' && last != '[' && !strbuf_addc(out, ',')) return false;
    return extra_put_string(out, key, strlen(key)) && strbuf_addc(out, ':');
}

bool extra_put(struct strbuf *out, const char *key, struct str s)
{
    if (!s.n) return true;
    return extra_put_key(out, key) && extra_put_string(out, s.p, s.n);
}

bool extra_put_object(struct strbuf *out, const char *key,
                      const struct strbuf *members)
{
    if (!members->len) return true;
    return extra_put_key(out, key) && strbuf_addc(out, '{') &&
           strbuf_add(out, members->data, members->len) &&
           strbuf_addc(out, '}');
}

bool extra_put_attrs(struct strbuf *xml, json_t *attrs,
                     const char *const *except)
{
    const char *name;
    json_t *value;
    bool ok = true;

    json_object_foreach(attrs, name, value) {
        const char *const *skip = except;

        while (*skip && strcmp(*skip, name)) skip++;
        if (!*skip && json_is_string(value) && xml_is_name(name))
            ok = ok && xml_put_attr(xml, name, json_string_value(value),
                                    json_string_length(value));
    }
    return ok;
}

json_t *extra_open(struct str extra, const char *key, json_t **root)
{
    json_t *object;

    *root = NULL;
    if (!extra.n) return NULL;
    *root = json_loadb(extra.p, extra.n, JSON_REJECT_DUPLICATES, NULL);
    object = json_object_get(*root, key);
    return json_is_object(object) ? object : NULL;
}

struct str extra_get(const json_t *object, const char *key)
{
    const json_t *s = json_object_get(object, key);

    if (!json_is_string(s)) return (struct str){ NULL, 0 };
    return (struct str){ json_string_value(s), json_string_length(s) };
}
