/* cmd_info.c - skmt info: prints the properties and the tensors of a model, as
 * text or as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/args.h"
#include "common/findmodel.h"
#include "common/jput.h"
#include "common/textbuf.h"
#include "help.h"
#include "skmt_tools.h"

struct info_listing { struct textbuf text; bool json; };

static void put_tensor(void *user, const char *name, const char *type,
                       int64_t rows, int64_t cols, uint64_t bytes,
                       uint64_t checksum)
{
    struct info_listing *l = user;
    struct textbuf *t = &l->text;

    if (!l->json) {
        textbuf_addf(t, "%-24s %-5s %7" PRId64 " x %-6" PRId64
                     " %10" PRIu64 " bytes  %016" PRIx64 "\n",
                     name, type, rows, cols, bytes, checksum);
        return;
    }
    jput_object(t);
    jput_text_field(t, "name", name);
    jput_text_field(t, "type", type);
    jput_int_field(t, "rows", rows);
    jput_int_field(t, "cols", cols);
    jput_int_field(t, "bytes", (int64_t)bytes);
    jput_hex_field(t, "checksum", checksum);
    jput_object_end(t);
}

/* Whether s is a whole number that can be written as a JSON number. */
static bool cmd_info_is_number(const char *s)
{
    size_t n = strspn(s, "0123456789");

    return n > 0 && n < 16 && !s[n] && (s[0] != '0' || n == 1);
}

static void cmd_info_put_facts(struct info_listing *l, const skmt_model *m,
                               const char *path)
{
    struct textbuf *t = &l->text;
    const char *name, *value;

    if (l->json) {
        jput_text_field(t, "file", path);
    } else {
        textbuf_addf(t, "%-18s ", "file");
        textbuf_adds(t, path);
        textbuf_adds(t, "\n");
    }
    for (int i = 0; (name = skmt_model_fact(m, i, &value)); i++) {
        if (l->json) {
            jput_key(t, name);
            if (cmd_info_is_number(value)) jput_raw(t, value, strlen(value));
            else jput_text(t, value);
        } else {
            textbuf_addf(t, "%-18s ", name);
            textbuf_adds(t, value);
            textbuf_adds(t, "\n");
        }
    }
}

static int info_license(const skmt_model *m, const char *path)
{
    size_t n;
    const char *text = skmt_model_notice(m, &n);

    if (!text)
        return complain(EXIT_TROUBLE, "%s: no text of a license came with the "
                        "model", path);
    fwrite(text, 1, n, stdout);
    return EXIT_DONE;
}

struct info_wanted {
    const char *model;
    skmt_options *pair;         /* --from, --to */
    bool json, tensors, license;
};

static int info(struct info_wanted want)
{
    struct info_listing l = { { 0 }, want.json };
    const char *path = NULL;
    skmt_model *m;
    int status = model_find(&m, want.model, want.pair, &path);

    if (status) return status;
    if (want.license) {
        status = info_license(m, path);
        skmt_model_close(m);
        return status;
    }
    if (l.json) jput_object(&l.text);
    cmd_info_put_facts(&l, m, path);
    if (want.tensors) {
        if (l.json) {
            jput_key(&l.text, "tensors");
            jput_array(&l.text);
        } else {
            textbuf_adds(&l.text, "\n");
        }
        skmt_model_tensors(m, put_tensor, &l);
        if (l.json) jput_array_end(&l.text);
    }
    if (l.json) jput_line_end(&l.text);
    if (l.text.failed)
        status = complain(EXIT_TROUBLE, "%s", textbuf_why(&l.text));
    else fwrite(l.text.data, 1, l.text.len, stdout);
    textbuf_release(&l.text);
    skmt_model_close(m);
    return status;
}

/* Returns an exit status if the command ends here, else -1. */
static int info_read_options(struct info_wanted *want, struct args *a)
{
    skmt_error err;
    enum arg what;

    while ((what = args_next(a)) != ARG_END) {
        if (what == ARG_BAD) return EXIT_USAGE;
        if (what == ARG_OPERAND || args_is(a, "model")) {
            if (want->model)
                return complain(EXIT_USAGE, "info takes only one model, but "
                                "'%s' and '%s' were given", want->model,
                                a->value);
            want->model = a->value;
        } else if (args_is(a, "json")) {
            want->json = true;
        } else if (args_is(a, "tensors")) {
            want->tensors = true;
        } else if (args_is(a, "license")) {
            want->license = true;
        } else if (args_is(a, "help")) {
            return help_command("info");
        } else if (skmt_options_set(want->pair, a->name, a->value, &err)) {
            return complain(EXIT_USAGE, "--%s", err.message);
        }
    }
    return -1;
}

int cmd_info(int argc, char **argv)
{
    struct args a = { .command = "info", .own = info_options,
                      .argc = argc, .argv = argv };
    struct info_wanted want = { 0 };
    skmt_error err;
    int status;

    if (skmt_options_new(&want.pair, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    status = info_read_options(&want, &a);
    if (status < 0) status = info(want);
    skmt_options_free(want.pair);
    return status;
}
