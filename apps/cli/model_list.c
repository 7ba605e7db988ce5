/* model_list.c - skmt model list: what models there are, as a table or as
 * JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jput.h"
#include "model_call.h"
#include "tm_print.h"

/* Defaults that name a model: for everything, or for a pair. */
struct default_of {
    const struct model_call *call;
    const char *model;
    int i;
    const char *from, *to;      /* "": for everything */
};

static bool next_default(struct default_of *d)
{
    const char *name;

    while ((name = skmt_store_default(d->call->store, d->i++, &d->from,
                                      &d->to)))
        if (!strcmp(name, d->model)) return true;
    return false;
}

/* ---- JSON -------------------------------------------------------------- */

static void put_languages(struct textbuf *t, const char *codes)
{
    jput_key(t, "languages");
    jput_array(t);
    while (*codes) {
        size_t n = strcspn(codes, ",");

        jput_string(t, codes, n);
        codes += n + (codes[n] == ',');
    }
    jput_array_end(t);
}

static void put_defaults(struct textbuf *t, const struct model_call *c,
                         const char *name)
{
    struct default_of d = { .call = c, .model = name };
    bool everything = false;

    jput_key(t, "default_for");
    jput_array(t);
    while (next_default(&d)) {
        if (!*d.from) {
            everything = true;
            continue;
        }
        jput_array(t);
        jput_text(t, d.from);
        jput_text(t, d.to);
        jput_array_end(t);
    }
    jput_array_end(t);
    jput_bool_field(t, "default", everything);
}

static void put_card_json(struct textbuf *t, const skmt_card *card)
{
    const char *name, *value;

    for (int i = 0; (name = skmt_card_fact(card, i, &value)); i++) {
        if (!strcmp(name, "name")) continue;    /* that of the store counts */
        if (!strcmp(name, "languages")) put_languages(t, value);
        else if (!strcmp(name, "bytes"))
            jput_int_field(t, name, strtoll(value, NULL, 10));
        else jput_text_field(t, name, value);
    }
}

/* ---- the table --------------------------------------------------------- */

struct columns { char languages[64], size[16]; };

static void describe_languages(const skmt_card *card, char *out, size_t size)
{
    const char *source = skmt_card_get(card, "source_lang");
    const char *target = skmt_card_get(card, "target_lang");
    const char *codes = skmt_card_get(card, "languages");
    int n = *codes != 0;

    for (const char *p = codes; *p; p++) n += *p == ',';
    if (n) snprintf(out, size, "%d languages", n);
    else snprintf(out, size, "%s > %s", *source ? source : "?",
                  *target ? target : "?");
}

static void describe_size(const skmt_card *card, char *out, size_t size)
{
    double bytes = strtod(skmt_card_get(card, "bytes"), NULL);

    snprintf(out, size, "%.0f %s", bytes / (bytes < 1e6 ? 1e3 : 1e6),
             bytes < 1e6 ? "kB" : "MB");
}

/* The last column: "default, de > en, installed". */
static void put_notes(struct textbuf *t, const struct model_call *c,
                      const char *name, bool removable)
{
    struct default_of d = { .call = c, .model = name };
    const char *comma = "  ";

    while (next_default(&d)) {
        if (*d.from)
            textbuf_addf(t, "%sdefault for %s > %s", comma, d.from, d.to);
        else
            textbuf_addf(t, "%sdefault", comma);
        comma = ", ";
    }
    if (!removable) textbuf_addf(t, "%sinstalled", comma);
}

static void put_card_row(struct textbuf *t, const skmt_card *card)
{
    const char *license = skmt_card_get(card, "license");
    struct columns col;

    describe_languages(card, col.languages, sizeof col.languages);
    describe_size(card, col.size, sizeof col.size);
    textbuf_addf(t, "%-14s  %-5s %8s  ", col.languages,
                 skmt_card_get(card, "type"), col.size);
    textbuf_addf(t, "%-16s", *license ? license : "-");
}

/* Names may be long, and do not shift the other columns. */
static void put_name(struct textbuf *t, const char *name, size_t width)
{
    textbuf_adds(t, name);
    for (size_t n = strlen(name); n < width; n++) textbuf_adds(t, " ");
    textbuf_adds(t, "  ");
}

/* ---- the command ------------------------------------------------------- */

struct model_listing {
    const struct model_call *call;
    struct textbuf out;
    bool json;
    size_t width;               /* of the names */
    int n, damaged;
};

static void list_one(struct model_listing *l, const char *name,
                     const char *path, bool removable, const skmt_card *card)
{
    struct textbuf *t = &l->out;

    l->n++;
    if (!l->json) {
        put_name(t, name, l->width);
        put_card_row(t, card);
        put_notes(t, l->call, name, removable);
        while (t->len && t->data[t->len - 1] == ' ') t->len--;
        textbuf_adds(t, "\n");
        return;
    }
    jput_object(t);
    jput_text_field(t, "name", name);
    jput_text_field(t, "file", path);
    jput_bool_field(t, "installed", !removable);
    put_defaults(t, l->call, name);
    put_card_json(t, card);
    jput_line_end(t);
}

static void list_models(struct model_listing *l)
{
    const struct model_call *c = l->call;
    const char *name, *path;
    int removable;

    for (int i = 0; (name = skmt_store_model(c->store, i, &path, NULL)); i++)
        if (strlen(name) > l->width) l->width = strlen(name);
    for (int i = 0; (name = skmt_store_model(c->store, i, &path, &removable));
         i++) {
        skmt_card *card;
        skmt_error err;

        if (skmt_card_open(&card, path, &err)) {
            l->damaged++;
            complain(0, "%s", err.message);
        } else if (skmt_card_fit(card, model_value(c, "from"),
                                 model_value(c, "to"))) {
            list_one(l, name, path, removable, card);
        }
        skmt_card_close(card);
    }
}

int cmd_model_list(struct model_call *c)
{
    struct model_listing l = { .call = c, .json = model_has_option(c, "json") };
    skmt_error err;
    int status = EXIT_DONE;

    if (skmt_store_check(c->store, &err)) status = model_failed(&err);
    list_models(&l);
    if (l.out.failed)
        status = complain(EXIT_TROUBLE, "%s", textbuf_why(&l.out));
    else if (l.n)
        fwrite(l.out.data, 1, l.out.len, stdout);
    else if (!l.json && !l.damaged)
        puts("there are no such models; 'skmt help model add' says how to add "
             "one");
    textbuf_release(&l.out);
    return l.damaged ? EXIT_TROUBLE : status;
}
