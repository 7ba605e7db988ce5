/* model_change.c - skmt model remove and skmt model default: deletes models,
 * and sets or prints the defaults. */
#include <stdio.h>
#include <string.h>

#include "common/jput.h"
#include "confirm.h"
#include "model_call.h"

/* ---- remove ------------------------------------------------------------ */

int cmd_model_remove(struct model_call *c)
{
    char question[256];
    skmt_error err;
    int status;

    for (int i = 0; i < c->n_operands; i++) {
        snprintf(question, sizeof question, "Delete model '%.150s'?",
                 c->operands[i]);
        if (!model_has_option(c, "yes")
            && (status = confirm(c->command, question)))
            return status;
        if (skmt_store_remove(c->store, c->operands[i], &err))
            return model_failed(&err);
        if (!model_has_option(c, "quiet"))
            printf("%-12s%s\n", "removed", c->operands[i]);
    }
    return EXIT_DONE;
}

/* ---- default ----------------------------------------------------------- */

static void put_default(struct textbuf *t, const char *name, const char *from,
                        const char *to)
{
    jput_object(t);
    jput_text_field(t, "name", name);
    if (*from) jput_text_field(t, "from", from);
    if (*to) jput_text_field(t, "to", to);
    jput_line_end(t);
}

static int list_defaults(const struct model_call *c)
{
    struct textbuf t = { 0 };
    const char *name, *from, *to;
    skmt_error err;
    int status = EXIT_DONE;

    if (skmt_store_check(c->store, &err)) return model_failed(&err);
    for (int i = 0; (name = skmt_store_default(c->store, i, &from, &to)); i++) {
        if (model_has_option(c, "json"))
            put_default(&t, name, from, to);
        else if (*from)
            textbuf_addf(&t, "%s > %s: %s\n", from, to, name);
        else
            textbuf_addf(&t, "everything: %s\n", name);
    }
    if (t.failed) status = complain(EXIT_TROUBLE, "%s", textbuf_why(&t));
    else if (t.len) fwrite(t.data, 1, t.len, stdout);
    textbuf_release(&t);
    return status;
}

int cmd_model_default(struct model_call *c)
{
    const char *name = c->n_operands ? c->operands[0] : NULL;
    const char *from = model_value(c, "from"), *to = model_value(c, "to");
    bool none = model_has_option(c, "none");
    skmt_error err;

    if (!name && !none && !from && !to) return list_defaults(c);
    if (!name == !none)
        return complain(EXIT_USAGE, "model default needs NAME or --none; see "
                        "'skmt help model default'");
    if (skmt_store_set_default(c->store, name, from, to, &err))
        return model_failed(&err);
    return EXIT_DONE;
}
