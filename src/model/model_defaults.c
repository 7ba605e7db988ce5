/* model_defaults.c - reads, changes and writes the list of default models. It
 * does not know whether the models exist.
 *
 * Invariants: `from` and `to` of an entry are both NULL or both not; no two
 * entries are for the same pair. */
#include "model/model_defaults.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/invariant.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "text/language.h"

enum { FILE_LIMIT = 1 << 20 };

/* ---- the list ------------------------------------------------------------ */

static void model_default_release(struct model_default *m)
{
    free(m->from);
    free(m->to);
    free(m->name);
}

void model_defaults_release(struct model_defaults *d)
{
    for (size_t i = 0; i < d->n; i++) model_default_release(&d->list[i]);
    free(d->list);
    memset(d, 0, sizeof *d);
}

/* Codes that no language has are compared as texts. */
static bool model_defaults_same_code(const char *a, const char *b)
{
    char x[LANGUAGE_TAG_SIZE], y[LANGUAGE_TAG_SIZE];

    if (!a || !b) return a == b;
    language_tag(str_of(a), x);
    language_tag(str_of(b), y);
    return *x && *y ? !strcmp(x, y) : !strcmp(a, b);
}

static struct model_default *find_entry(const struct model_defaults *d,
                                        const char *from, const char *to)
{
    for (size_t i = 0; i < d->n; i++)
        if (model_defaults_same_code(d->list[i].from, from) &&
            model_defaults_same_code(d->list[i].to, to))
            return &d->list[i];
    return NULL;
}

const char *model_defaults_find(const struct model_defaults *d,
                                const char *from, const char *to)
{
    const struct model_default *m = find_entry(d, from, to);

    return m ? m->name : NULL;
}

static void remove_entry(struct model_defaults *d, size_t i)
{
    assert(i < d->n);
    model_default_release(&d->list[i]);
    d->n--;
    memmove(&d->list[i], &d->list[i + 1], (d->n - i) * sizeof *d->list);
}

size_t model_defaults_drop(struct model_defaults *d, const char *name)
{
    size_t before = d->n;

    for (size_t i = d->n; i-- > 0;)
        if (!strcmp(d->list[i].name, name)) remove_entry(d, i);
    return before - d->n;
}

static enum status add_entry(struct model_defaults *d, const char *from,
                             const char *to, const char *name, struct err *e)
{
    struct model_default m = { from ? strdup(from) : NULL,
                               to ? strdup(to) : NULL, strdup(name) };

    if ((from && !m.from) || (to && !m.to) || !m.name ||
        !mem_grow(&d->list, &d->cap, d->n + 1, sizeof *d->list)) {
        model_default_release(&m);
        return err_nomem(e, "default models");
    }
    d->list[d->n++] = m;
    return ST_OK;
}

enum status model_defaults_set(struct model_defaults *d, const char *from,
                               const char *to, const char *name,
                               struct err *e)
{
    struct model_default *m = find_entry(d, from, to);
    char *copy;

    assert(!from == !to);
    if (!m) return name ? add_entry(d, from, to, name, e) : ST_OK;
    if (!name) {
        remove_entry(d, (size_t)(m - d->list));
        return ST_OK;
    }
    copy = strdup(name);
    if (!copy) return err_nomem(e, "default models");
    free(m->name);
    m->name = copy;
    return ST_OK;
}

/* ---- the file ------------------------------------------------------------ */

/* Cut a line at white space. Returns the number of words, at most 4. */
static int cut_words(char *line, char *word[4])
{
    char *rest = NULL;
    int n = 0;

    for (char *w = strtok_r(line, " \t\r", &rest); w && n < 4;
         w = strtok_r(NULL, " \t\r", &rest))
        word[n++] = w;
    return n;
}

static enum status read_line(struct model_defaults *d, char *line, int number,
                             const char *name, struct err *e)
{
    char *word[4];
    int n = cut_words(line, word);

    if (!n || word[0][0] == '#') return ST_OK;
    if (n == 1) return model_defaults_set(d, NULL, NULL, word[0], e);
    if (n == 3) return model_defaults_set(d, word[0], word[1], word[2], e);
    return err_set(e, ST_FORMAT, "%s:%d: expected NAME, or FROM TO NAME", name,
                   number);
}

enum status model_defaults_parse(struct model_defaults *d, const char *text,
                                 size_t len, const char *name, struct err *e)
{
    char *copy, *at, *line;
    enum status st = ST_OK;
    int number = 0;

    memset(d, 0, sizeof *d);
    if (memchr(text, 0, len))
        return err_set(e, ST_FORMAT, "%s: there is a NUL byte", name);
    copy = at = strndup(text, len);
    if (!copy) return err_nomem(e, name);
    while (!st && (line = strsep(&at, "\n")))
        st = read_line(d, line, ++number, name, e);
    free(copy);
    if (st) model_defaults_release(d);
    return st;
}

enum status model_defaults_read(struct model_defaults *d, const char *path,
                                struct err *e)
{
    char *text;
    size_t len;
    enum status st;

    memset(d, 0, sizeof *d);
    if (access(path, F_OK) && errno == ENOENT) return ST_OK;
    st = file_read(&text, &len, path, FILE_LIMIT, e);
    if (!st) st = model_defaults_parse(d, text, len, path, e);
    free(text);
    return st;
}

static bool format_entry(const struct model_default *m, struct strbuf *out)
{
    return m->from ? strbuf_addf(out, "%s %s %s\n", m->from, m->to, m->name)
                   : strbuf_addf(out, "%s\n", m->name);
}

enum status model_defaults_write(const struct model_defaults *d,
                                 const char *path, struct err *e)
{
    struct replacement r;
    struct strbuf text;
    bool ok;
    enum status st;

    strbuf_init(&text, 0);
    ok = strbuf_adds(&text, "# The default models, as set by skmt model "
                     "default: NAME, or FROM TO NAME.\n");
    for (size_t i = 0; ok && i < d->n; i++)
        ok = format_entry(&d->list[i], &text);
    st = ok ? replacement_begin(&r, path, e) : err_nomem(e, path);
    if (!st) {
        st = replacement_write(&r, text.data, text.len, e);
        if (!st) st = replacement_commit(&r, e);
        else replacement_abort(&r);
    }
    strbuf_release(&text);
    return st;
}
