/* knn_edit.c - skmt knn delete: remove pairs from a datastore. */
#include <stdlib.h>
#include <string.h>

#include "common/jput.h"
#include "knn_call.h"
#include "tm_print.h"

/* ---- delete ------------------------------------------------------------- */

static int check_delete_options(const struct knn_call *c)
{
    bool where = knn_has_option(c, "id") || knn_has_option(c, "source") ||
                 knn_has_option(c, "target");

    if (where && knn_has_option(c, "missing-from"))
        return complain(EXIT_USAGE, "--missing-from cannot be used with --id, "
                        "--source or --target");
    if (!where && !knn_has_option(c, "missing-from"))
        return complain(EXIT_USAGE, "knn delete needs --id, --source, "
                        "--target or --missing-from; see 'skmt help knn "
                        "delete'");
    if (knn_has_option(c, "name") && !knn_has_option(c, "missing-from"))
        return complain(EXIT_USAGE, "--name needs --missing-from FILE");
    return EXIT_DONE;
}

static int delete_where(struct knn_call *c, int64_t *n)
{
    int64_t *ids = calloc((size_t)c->n_typed + 1, sizeof *ids);
    int n_ids = 0, status = EXIT_DONE;
    skmt_error err;

    if (!ids) return complain(EXIT_TROUBLE, "out of memory");
    for (int i = 0; !status && i < c->n_typed; i++) {
        struct knn_call one = { .typed = &c->typed[i], .n_typed = 1 };

        if (!strcmp(c->typed[i].name, "id"))
            status = knn_number(&one, "id", 1, &ids[n_ids++]);
    }
    if (!status && skmt_datastore_delete(c->operands[0], ids, n_ids,
                                         knn_value(c, "source"),
                                         knn_value(c, "target"), n, &err))
        status = knn_failed(c, &err);
    free(ids);
    return status;
}

/* Use only the memories of --name, if there are any. */
static int use_memories(struct knn_call *c)
{
    const char **names = calloc((size_t)c->n_typed + 1, sizeof *names);
    int n = 0, status = EXIT_DONE;
    skmt_error err;

    if (!names) return complain(EXIT_TROUBLE, "out of memory");
    for (int i = 0; i < c->n_typed; i++)
        if (!strcmp(c->typed[i].name, "name")) names[n++] = c->typed[i].value;
    if (n && skmt_tm_use(c->tm, names, n, &err)) status = knn_failed(c, &err);
    free(names);
    return status;
}

static int delete_missing(struct knn_call *c, int64_t *n)
{
    int status = knn_open_memory(c, "missing-from");
    skmt_error err;

    if (!status) status = use_memories(c);
    if (!status && skmt_datastore_delete_missing(c->operands[0], c->tm, n,
                                                 &err))
        status = knn_failed(c, &err);
    return status;
}

int cmd_knn_delete(struct knn_call *c)
{
    struct textbuf *t = &c->out;
    int64_t n = 0;
    int status = check_delete_options(c);

    if (status) return status;
    status = knn_has_option(c, "missing-from") ? delete_missing(c, &n)
                                               : delete_where(c, &n);
    if (status) return status;
    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", c->operands[0]);
        jput_int_field(t, "deleted", n);
        jput_line_end(t);
    } else {
        put_noun(t, n, "pair", "pairs");
        textbuf_adds(t, " deleted\n");
    }
    return knn_print(c);
}
