/* normalize.c - applies the normalization rules of a SentencePiece model.
 *
 * The compiled map is a 4-byte little-endian size, a double array of that many
 * bytes, and the replacements, each ending with a NUL. The value of a key is
 * the offset of its replacement. The map comes from a file, so every offset is
 * checked when it is followed. */
#include "text/normalize.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/utf8.h"

enum status normalizer_init(struct normalizer *nz,
                            const struct normalizer_spec *spec, struct err *e)
{
    uint32_t trie;

    memset(nz, 0, sizeof *nz);
    nz->spec = *spec;
    if (spec->map_len == 0) return ST_OK;
    if (spec->map_len <= 4) goto bad;
    trie = load_u32(spec->map);
    if (trie < 4 || trie >= spec->map_len - 4) goto bad;
    nz->rules = (struct double_array){ spec->map + 4, trie / 4 };
    nz->into = (const char *)spec->map + 4 + trie;
    nz->into_len = spec->map_len - 4 - trie;
    if (nz->into[nz->into_len - 1] != '\0') goto bad;
    return ST_OK;
bad:
    return err_set(e, ST_FORMAT,
                   "tokenizer: the normalization map is damaged");
}

/* Returns the replacement of the longest key that s begins with, and sets *used
 * to the length of that key. Returns NULL if there is none. */
static const char *find_rule(const struct normalizer *nz, const char *s,
                             size_t n, size_t *used)
{
    const char *found = NULL;
    uint32_t u;
    size_t pos;

    if (nz->rules.n == 0) return NULL;
    pos = double_array_distance(double_array_unit(&nz->rules, 0));
    for (size_t i = 0; i < n; i++) {
        uint8_t c = (uint8_t)s[i];

        pos ^= c;
        if (pos >= nz->rules.n) break;
        u = double_array_unit(&nz->rules, pos);
        if (!double_array_has_label(u, c)) break;
        pos ^= double_array_distance(u);
        if (pos >= nz->rules.n) break;
        if (double_array_ends_key(u)) {
            uint32_t value = double_array_unit(&nz->rules, pos) &
                             DOUBLE_ARRAY_VALUE_MOST;

            if (value >= nz->into_len) break;
            found = nz->into + value;
            *used = i + 1;
        }
    }
    return found;
}

/* A stretch of the original that is replaced as a whole. */
struct norm_unit {
    const char *text;
    size_t len;
    size_t used;                /* bytes of the original, at least 1 */
};

static struct norm_unit next_unit(const struct normalizer *nz, const char *s,
                                  size_t n)
{
    struct norm_unit u = { s, 0, 0 };
    int len;

    if (nz->user) u.used = u.len = piece_trie_longest(nz->user, s, n);
    if (u.used) return u;
    u.text = find_rule(nz, s, n, &u.used);
    if (u.text) {
        u.len = strlen(u.text);
        return u;
    }
    u.text = s;
    if (utf8_next(s, n, &len) == 0xFFFD && len == 1)
        return (struct norm_unit){ "\xEF\xBF\xBD", 3, 1 };
    u.len = u.used = (size_t)len;
    return u;
}

static enum status normalize_reserve(struct normalized *out, size_t extra,
                                     struct err *e)
{
    size_t need = out->n + extra;

    if (need >= UINT32_MAX)
        return err_set(e, ST_LIMIT, "the text is too long to be normalized");
    if (!mem_grow(&out->text, &out->cap_text, need, 1) ||
        !mem_grow(&out->from, &out->cap_from, need + 1, sizeof *out->from))
        return err_nomem(e, "normalizing text");
    return ST_OK;
}

static void normalize_put(struct normalized *out, const char *s, size_t n,
                          size_t from)
{
    assert(out->n + n <= out->cap_text && out->n + n < out->cap_from);
    memcpy(out->text + out->n, s, n);
    for (size_t i = 0; i < n; i++) out->from[out->n + i] = (uint32_t)from;
    out->n += n;
}

static void normalize_put_space(const struct normalizer *nz,
                                struct normalized *out, size_t from)
{
    if (nz->spec.escape_whitespaces)
        normalize_put(out, "\xE2\x96\x81", 3, from);
    else normalize_put(out, " ", 1, from);
}

static enum status normalize_put_unit(const struct normalizer *nz,
                                      struct normalized *out,
                                      struct norm_unit u, size_t from,
                                      struct err *e)
{
    enum status st = normalize_reserve(out, 3 * u.len, e);

    if (st) return st;
    for (size_t i = 0; i < u.len; i++) {
        if (u.text[i] == ' ') normalize_put_space(nz, out, from);
        else normalize_put(out, u.text + i, 1, from);
    }
    return ST_OK;
}

static bool is_space_unit(struct norm_unit u)
{
    return u.len == 1 && u.text[0] == ' ';
}

/* Returns the length of the white space at the beginning of the text. */
static size_t skip_spaces(const struct normalizer *nz, const char *text,
                          size_t len)
{
    size_t at = 0;

    while (at < len) {
        struct norm_unit u = next_unit(nz, text + at, len - at);

        if (!is_space_unit(u)) break;
        at += u.used;
    }
    return at;
}

static enum status normalize_put_body(const struct normalizer *nz,
                                      const char *text, size_t len, size_t at,
                                      struct normalized *out, struct err *e)
{
    bool squeeze = nz->spec.remove_extra_whitespaces, after_space = squeeze;
    enum status st = ST_OK;

    while (at < len && !st) {
        struct norm_unit u = next_unit(nz, text + at, len - at);

        assert(u.used >= 1 && u.used <= len - at);
        while (after_space && u.len && u.text[0] == ' ') {
            u.text++;
            u.len--;
        }
        /* A unit that became nothing does not end a run of spaces. */
        if (u.len) after_space = squeeze && u.text[u.len - 1] == ' ';
        st = normalize_put_unit(nz, out, u, at, e);
        at += u.used;
    }
    return st;
}

/* Removes spaces from the end. Returns where the text ends in the original. */
static size_t normalize_trim_end(const struct normalizer *nz,
                                 struct normalized *out, size_t len)
{
    size_t k = nz->spec.escape_whitespaces ? 3 : 1;
    const char *space = k == 3 ? "\xE2\x96\x81" : " ";

    while (out->n >= k && !memcmp(out->text + out->n - k, space, k)) {
        out->n -= k;
        len = out->from[out->n];
    }
    return len;
}

enum status normalize(const struct normalizer *nz, const char *text,
                      size_t len, struct normalized *out, struct err *e)
{
    const struct normalizer_spec *spec = &nz->spec;
    size_t at = 0, end = len;
    enum status st;

    out->n = out->dummy = 0;
    if (len >= 1u << 30)
        return err_set(e, ST_LIMIT, "the text is too long: %zu bytes", len);
    if (spec->remove_extra_whitespaces) at = skip_spaces(nz, text, len);
    st = normalize_reserve(out, len - at + len / 4 + 8, e);
    if (st) return st;
    out->from[0] = (uint32_t)at;
    if (at == len) return ST_OK;
    if (spec->add_dummy_prefix && !nz->space_is_suffix) {
        normalize_put_space(nz, out, at);
        out->dummy = out->n;
    }
    st = normalize_put_body(nz, text, len, at, out, e);
    if (!st && spec->remove_extra_whitespaces)
        end = normalize_trim_end(nz, out, len);
    if (!st) st = normalize_reserve(out, 3, e);
    if (st) return st;
    if (spec->add_dummy_prefix && nz->space_is_suffix)
        normalize_put_space(nz, out, end);
    out->from[out->n] = (uint32_t)end;
    if (out->dummy > out->n) out->dummy = out->n;
    PARANOID_CHECK(normalized_sound(out, len));
    return ST_OK;
}

bool normalized_sound(const struct normalized *out, size_t len)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->from[i] > out->from[i + 1]) return false;
    return out->dummy <= out->n && out->from[out->n] <= len;
}

void normalized_release(struct normalized *out)
{
    free(out->text);
    free(out->from);
    memset(out, 0, sizeof *out);
}
