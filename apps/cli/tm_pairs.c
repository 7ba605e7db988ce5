/* tm_pairs.c - skmt tm add, edit, delete and show: the subcommands that work
 * on single pairs. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jput.h"
#include "tm_call.h"
#include "tm_print.h"

/* Print an error. Unlike tm_failed(), this returns EXIT_TROUBLE for a pair that
 * does not exist, which is no usage error. */
static int pair_failed(struct tm_call *c, const skmt_error *err)
{
    int status = tm_failed(c, err);

    return err->status == SKMT_ERR_ARGUMENT ? EXIT_TROUBLE : status;
}

/* ---- add -------------------------------------------------------------- */

/* Store one pair and append its id to c->out. */
static skmt_status add_one(struct tm_call *c, const char *source,
                           const char *target, skmt_error *err)
{
    skmt_pair pair = { .size = sizeof pair,
                       .source = source, .target = target,
                       .document = tm_value(c, "document"),
                       .author = tm_value(c, "author") };
    int64_t id = 0;
    skmt_status st;

    if (tm_has_option(c, "tagged")) {
        pair.source_tagged = source;
        pair.target_tagged = target;
    }
    st = skmt_tm_add_pair(c->tm, tm_value(c, "name"), &pair, &id, err);
    if (st) return st;
    if (c->json) {
        jput_object(&c->out);
        jput_int_field(&c->out, "id", id);
        jput_line_end(&c->out);
    } else {
        textbuf_addf(&c->out, "%lld\n", (long long)id);
    }
    return SKMT_OK;
}

/* Store the pair of one line and print its id before the next line is read. */
static int tm_pairs_add_line(struct tm_call *c, struct input_line *line,
                             void *unused)
{
    char *tab = memchr(line->text, '\t', line->len);
    skmt_error err;

    (void)unused;
    if (line->len == 0) return EXIT_DONE;
    if (memchr(line->text, 0, line->len))
        return tm_bad_line(line, "the line contains a NUL byte");
    if (!tab || strchr(tab + 1, '\t'))
        return tm_bad_line(line, "expected a source, a tab and a target");
    *tab = 0;
    if (!add_one(c, line->text, tab + 1, &err)) return tm_print(c);
    if (err.status == SKMT_ERR_TEXT || err.status == SKMT_ERR_LIMIT)
        return tm_bad_line(line, err.message);
    return tm_failed(c, &err);
}

int cmd_tm_add(struct tm_call *c)
{
    bool from_input = c->n_operands == 0
                      || (c->n_operands == 1 && !strcmp(c->operands[0], "-"));
    skmt_error err;
    int status;

    if (!from_input && c->n_operands < 2)
        return complain(EXIT_USAGE, "tm add needs both SOURCE and TARGET, or "
                        "neither to read standard input; see 'skmt help tm "
                        "add'");
    if ((status = tm_open(c, SKMT_TM_WRITE))) return status;
    if (from_input) return tm_each_line(c, "-", tm_pairs_add_line, NULL);
    if (add_one(c, c->operands[0], c->operands[1], &err))
        return tm_failed(c, &err);
    return tm_print(c);
}

/* ---- show ------------------------------------------------------------- */

static void put_field(struct textbuf *t, const char *name, const char *text)
{
    if (!text || !text[0]) return;
    textbuf_addf(t, "%-13s ", name);
    put_visible(t, text, strlen(text));
    textbuf_adds(t, "\n");
}

static void put_time_field(struct textbuf *t, const char *name,
                           int64_t seconds)
{
    textbuf_addf(t, "%-13s ", name);
    put_date_time(t, seconds);
    textbuf_adds(t, "\n");
}

static void tm_pairs_put_pair(struct textbuf *t, const skmt_pair *p)
{
    textbuf_addf(t, "%-13s %lld\n", "id", (long long)p->id);
    put_field(t, "memory", p->memory);
    put_field(t, "source", p->source);
    put_field(t, "target", p->target);
    put_field(t, "source tagged", p->source_tagged);
    put_field(t, "target tagged", p->target_tagged);
    put_field(t, "source lang", p->source_lang);
    put_field(t, "target lang", p->target_lang);
    put_field(t, "origin", p->origin);
    if (p->position)
        textbuf_addf(t, "%-13s %lld\n", "position", (long long)p->position);
    put_field(t, "document", p->document);
    put_field(t, "unit", p->unit);
    put_field(t, "author", p->author);
    put_time_field(t, "created", p->created);
    put_time_field(t, "changed", p->changed);
    put_field(t, "extra", p->extra);
}

static int print_pair(struct tm_call *c, int64_t id)
{
    skmt_error err;
    skmt_pair p = SKMT_INIT(skmt_pair);

    if (skmt_tm_get(c->tm, id, &p, &err)) return pair_failed(c, &err);
    if (c->json) {
        jput_object(&c->out);
        jput_pair(&c->out, &p);
        jput_line_end(&c->out);
    } else {
        tm_pairs_put_pair(&c->out, &p);
    }
    return tm_print(c);
}

int cmd_tm_show(struct tm_call *c)
{
    int64_t id;
    int status = tm_number(c->operands[0], 1, "ID", &id);

    if (!status) status = tm_open_read(c);
    return status ? status : print_pair(c, id);
}

/* ---- edit ------------------------------------------------------------- */

int cmd_tm_edit(struct tm_call *c)
{
    const char *source = tm_value(c, "source"), *target;
    skmt_error err;
    int64_t id;
    int status = tm_number(c->operands[0], 1, "ID", &id);

    if (status) return status;
    target = tm_value(c, "target");
    if (!source && !target)
        return complain(EXIT_USAGE, "tm edit needs --source TEXT, "
                        "--target TEXT or both");
    if ((status = tm_open(c, SKMT_TM_WRITE))) return status;
    if (skmt_tm_replace(c->tm, id, source, target, &err))
        return pair_failed(c, &err);
    return print_pair(c, id);
}

/* ---- delete ----------------------------------------------------------- */

static int print_deleted(struct tm_call *c, int64_t n)
{
    struct textbuf *t = &c->out;

    if (c->json) {
        jput_object(t);
        jput_int_field(t, "deleted", n);
        jput_line_end(t);
    } else {
        put_noun(t, n, "pair", "pairs");
        textbuf_adds(t, " deleted\n");
    }
    return tm_print(c);
}

/* Delete the pairs with the given ids, or none if one does not exist. */
static int delete_ids(struct tm_call *c)
{
    int64_t *ids = calloc((size_t)c->n_operands, sizeof *ids);
    skmt_error err;
    skmt_status st;
    int status = EXIT_DONE;

    assert(c->n_operands > 0);
    if (!ids) return complain(EXIT_TROUBLE, "out of memory");
    for (int i = 0; i < c->n_operands && !status; i++)
        status = tm_number(c->operands[i], 1, "ID", &ids[i]);
    if (!status) status = tm_open(c, SKMT_TM_WRITE);
    if (!status) {
        st = skmt_tm_begin(c->tm, &err);
        for (int i = 0; i < c->n_operands && !st; i++)
            st = skmt_tm_delete(c->tm, ids[i], &err);
        if (!st) st = skmt_tm_commit(c->tm, &err);
        if (st) skmt_tm_rollback(c->tm);
        if (st) status = pair_failed(c, &err);
        else status = print_deleted(c, c->n_operands);
    }
    free(ids);
    return status;
}

/* Replace the memory by an empty one with the same name and settings. */
static skmt_status replace_by_empty(struct tm_call *c, const skmt_tm_info *m,
                                    skmt_error *err)
{
    char source[64], target[64];
    skmt_tm_info settings = *m;
    skmt_status st;

    snprintf(source, sizeof source, "%s", m->source_lang);
    snprintf(target, sizeof target, "%s", m->target_lang);
    settings.name = c->memory;
    settings.source_lang = source;
    settings.target_lang = target;
    st = skmt_tm_begin(c->tm, err);
    if (!st) st = skmt_tm_drop(c->tm, c->memory, err);
    if (!st) st = skmt_tm_create(c->tm, &settings, err);
    if (!st) st = skmt_tm_commit(c->tm, err);
    if (st) skmt_tm_rollback(c->tm);
    return st;
}

static int delete_all(struct tm_call *c)
{
    char question[512];
    skmt_tm_info m = SKMT_INIT(skmt_tm_info);
    skmt_error err;
    int64_t n;
    int status = tm_open(c, SKMT_TM_WRITE);

    if (!status) status = tm_memory_info(c, &m);
    if (status) return status;
    n = m.pairs;
    snprintf(question, sizeof question, "Delete all %lld pairs of memory '%s' "
             "in %s?", (long long)n, c->memory, c->path);
    if ((status = tm_confirm(c, question))) return status;
    if (replace_by_empty(c, &m, &err)) return tm_failed(c, &err);
    return print_deleted(c, n);
}

static int delete_matching(struct tm_call *c)
{
    skmt_error err;
    int64_t n = 0;
    int status = tm_open(c, SKMT_TM_WRITE);

    if (status) return status;
    if (skmt_tm_delete_where(c->tm, tm_value(c, "name"),
                             tm_value(c, "origin"), tm_value(c, "document"),
                             tm_value(c, "source"), tm_value(c, "target"),
                             &n, &err))
        return tm_failed(c, &err);
    return print_deleted(c, n);
}

int cmd_tm_delete(struct tm_call *c)
{
    static const char *const filters[] = { "origin", "document", "source",
                                           "target" };
    bool has_filter = false, all = tm_has_option(c, "all");

    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (tm_has_option(c, filters[i])) has_filter = true;
    if ((c->n_operands > 0) + has_filter + all != 1)
        return complain(EXIT_USAGE, "tm delete needs either IDs, or options "
                        "that select pairs, or --all; see 'skmt help tm "
                        "delete'");
    if (all) return delete_all(c);
    return c->n_operands > 0 ? delete_ids(c) : delete_matching(c);
}
