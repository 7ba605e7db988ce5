/* tok13a.c - tokenizes by seven replacements of fixed strings and then four
 * passes, one for each regular expression of mteval-v13a.
 *
 * A pass scans the text once from left to right and does not look again at
 * bytes that it has matched. It is enough to look at bytes: no byte of a
 * multibyte UTF-8 character is ASCII punctuation or a digit. */
#include "metrics/tok13a.h"

#include "base/invariant.h"
#include "metrics/fields.h"

static bool replace_all(struct strbuf *out, struct str in, const char *from,
                    const char *to)
{
    size_t n = strlen(from);
    bool ok = true;

    strbuf_reset(out);
    while (ok && in.n) {
        const char *hit = memmem(in.p, in.n, from, n);
        size_t before = hit ? (size_t)(hit - in.p) : in.n;

        ok = strbuf_add(out, in.p, before) && (!hit || strbuf_adds(out, to));
        if (hit) before += n;
        in.p += before;
        in.n -= before;
    }
    return ok;
}

static bool tok13a_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_stop(char c)
{
    return c == '.' || c == ',';
}

/* True for a space and for ASCII punctuation except ' , - . */
static bool stands_alone(char c)
{
    return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/'
           || (c >= ':' && c <= '@') || (c >= '[' && c <= '`')
           || (c >= '{' && c <= '~');
}

enum { EMIT_MAX = 4 };          /* bytes that a pass may write at once */

/* A pass gets two adjacent bytes of the text, a and b. If it matches, it
 * writes their replacement to `to` and its length to *n, and returns how many
 * of the two bytes it replaced. It returns 0 if it does not match. */
typedef size_t tok13a_pass(char a, char b, char *to, size_t *n);

static size_t tok13a_emit(char *to, size_t *n, const char *bytes, size_t count,
                          size_t taken)
{
    assert(count <= EMIT_MAX);
    memcpy(to, bytes, count);
    *n = count;
    return taken;
}

static size_t pass_punctuation(char a, char b, char *to, size_t *n)
{
    (void)b;
    return stands_alone(a)
           ? tok13a_emit(to, n, (char[]){ ' ', a, ' ' }, 3, 1) : 0;
}

static size_t pass_stop_after(char a, char b, char *to, size_t *n)
{
    return !tok13a_is_digit(a) && is_stop(b)
           ? tok13a_emit(to, n, (char[]){ a, ' ', b, ' ' }, 4, 2) : 0;
}

static size_t pass_stop_before(char a, char b, char *to, size_t *n)
{
    return is_stop(a) && !tok13a_is_digit(b)
           ? tok13a_emit(to, n, (char[]){ ' ', a, ' ', b }, 4, 2) : 0;
}

static size_t pass_dash(char a, char b, char *to, size_t *n)
{
    return tok13a_is_digit(a) && b == '-'
           ? tok13a_emit(to, n, (char[]){ a, ' ', b, ' ' }, 4, 2) : 0;
}

static bool tok13a_run_pass(struct strbuf *out, struct str in,
                            tok13a_pass *pass)
{
    bool ok = true;

    strbuf_reset(out);
    for (size_t i = 0, taken; ok && i < in.n; i += taken) {
        char to[EMIT_MAX];
        size_t n;

        /* The text ends in a space, so no pass matches two bytes there. */
        taken = i + 1 < in.n ? pass(in.p[i], in.p[i + 1], to, &n)
                             : pass(in.p[i], ' ', to, &n);
        if (!taken) taken = tok13a_emit(to, &n, in.p + i, 1, 1);
        assert(i + taken <= in.n);
        ok = strbuf_add(out, to, n);
    }
    return ok;
}

static void tok13a_swap(struct strbuf *a, struct strbuf *b)
{
    struct strbuf keep = *a;

    *a = *b;
    *b = keep;
}

static bool plain_text(struct strbuf *out, struct strbuf *spare,
                       struct str text)
{
    static const char *const change[][2] = {
        { "<skipped>", "" }, { "-\n", "" }, { "\n", " " },
        { "&quot;", "\"" }, { "&amp;", "&" }, { "&lt;", "<" }, { "&gt;", ">" }
    };

    text = fields_trim_end(text);
    strbuf_reset(out);
    if (!strbuf_add(out, text.p, text.n)) return false;
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        if (!memmem(out->data, out->len, change[i][0], strlen(change[i][0])))
            continue;
        if (!replace_all(spare, strbuf_view(out), change[i][0], change[i][1]))
            return false;
        tok13a_swap(out, spare);
    }
    return true;
}

bool tok13a(struct strbuf *out, struct strbuf *spare, struct str text)
{
    static tok13a_pass *const passes[] = { pass_punctuation, pass_stop_after,
                                       pass_stop_before, pass_dash };

    assert(out != spare);
    if (!plain_text(out, spare, text)) return false;
    strbuf_reset(spare);
    if (!strbuf_addc(spare, ' ') || !strbuf_add(spare, out->data, out->len)
        || !strbuf_addc(spare, ' '))
        return false;
    tok13a_swap(out, spare);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        if (!tok13a_run_pass(spare, strbuf_view(out), passes[i])) return false;
        tok13a_swap(out, spare);
    }
    return true;
}
