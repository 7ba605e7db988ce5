/* tm_memories.c - skmt tm create, list, set and drop: the subcommands that
 * work on the memories of a file. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/jput.h"
#include "common/record.h"
#include "tm_call.h"
#include "tm_print.h"

/* ---- create ----------------------------------------------------------- */

/* Check that --name is given if the file already has a memory. */
static int tm_memories_check_new(struct tm_call *c)
{
    skmt_error err;
    int n;

    if (skmt_tm_count(c->tm, &n, &err)) return tm_failed(c, &err);
    if (n == 0 || tm_has_option(c, "name")) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s already exists; use --name NAME to "
                    "create another memory in it", c->path);
}

int cmd_tm_create(struct tm_call *c)
{
    const char *name = tm_value(c, "name"), *priority;
    skmt_tm_info settings = { .size = sizeof settings,
                              .name = name ? name : "main" };
    int64_t number = 0;
    skmt_error err;
    int status;

    settings.source_lang = tm_value(c, "source-lang");
    settings.target_lang = tm_value(c, "target-lang");
    settings.keep_duplicates = tm_has_option(c, "keep-duplicates");
    priority = tm_value(c, "priority");
    if (priority
        && (status = tm_number(priority, INT32_MIN, "--priority", &number)))
        return status;
    if (number > INT32_MAX)
        return complain(EXIT_USAGE, "--priority is too large");
    settings.priority = (int32_t)number;
    record_value("name", settings.name);
    record_valuef("priority", "%d", (int)settings.priority);
    if ((status = tm_open(c, SKMT_TM_CREATE))) return status;
    if ((status = tm_memories_check_new(c))) return status;
    if (skmt_tm_create(c->tm, &settings, &err)) return tm_failed(c, &err);
    if (c->json) {
        jput_object(&c->out);
        jput_text_field(&c->out, "file", c->path);
        jput_text_field(&c->out, "memory", settings.name);
        jput_line_end(&c->out);
    } else {
        textbuf_adds(&c->out, c->path);
        textbuf_adds(&c->out, ": created memory '");
        put_visible(&c->out, settings.name, strlen(settings.name));
        textbuf_adds(&c->out, "'\n");
    }
    return tm_print(c);
}

/* ---- list ------------------------------------------------------------- */

/* Append a row. The name comes last because it may be long and of unknown
 * width. */
static void tm_memories_put_row(struct textbuf *t, const skmt_tm_info *m)
{
    char pair[80];

    snprintf(pair, sizeof pair, "%s > %s",
             m->source_lang[0] ? m->source_lang : "?",
             m->target_lang[0] ? m->target_lang : "?");
    put_aligned(t, m->pairs, 12);
    put_aligned(t, m->texts, 14);
    textbuf_addf(t, "  %8d  %-14s  ", (int)m->priority, pair);
    put_visible(t, m->name, strlen(m->name));
    textbuf_adds(t, m->keep_duplicates ? " (keeps duplicates)\n" : "\n");
}

static int tm_memories_list(struct tm_call *c)
{
    struct textbuf *t = &c->out;
    int status;

    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", c->path);
        jput_key(t, "memories");
        jput_array(t);
    } else {
        textbuf_addf(t, "%12s  %12s  %8s  %-14s  %s\n", "pairs", "texts",
                     "priority", "languages", "memory");
    }
    if ((status = tm_put_memories(c, tm_memories_put_row))) return status;
    if (c->json) {
        jput_array_end(t);
        jput_line_end(t);
    }
    return tm_print(c);
}

int cmd_tm_list(struct tm_call *c)
{
    int status = tm_open_read(c);

    return status ? status : tm_memories_list(c);
}

/* ---- set, drop -------------------------------------------------------- */

static const struct { const char *option, *setting; } settable[] = {
    { "priority", "priority" },
    { "source-lang", "source-lang" },
    { "target-lang", "target-lang" },
    { "rename", "name" },       /* last, as the others need the old name */
};
enum { N_SETTABLE = sizeof settable / sizeof *settable };

static skmt_status set_all(struct tm_call *c, skmt_error *err)
{
    skmt_status st = skmt_tm_begin(c->tm, err);

    for (int i = 0; i < N_SETTABLE && !st; i++) {
        const char *value = tm_value(c, settable[i].option);

        if (value)
            st = skmt_tm_set(c->tm, tm_value(c, "name"), settable[i].setting,
                             value, err);
    }
    if (!st) st = skmt_tm_commit(c->tm, err);
    if (st) skmt_tm_rollback(c->tm);
    return st;
}

int cmd_tm_set(struct tm_call *c)
{
    bool any = false;
    skmt_error err;
    int status;

    for (int i = 0; i < N_SETTABLE; i++)
        if (tm_has_option(c, settable[i].option)) any = true;
    if (!any)
        return complain(EXIT_USAGE, "tm set needs at least one of --priority, "
                        "--source-lang, --target-lang and --rename");
    if ((status = tm_open(c, SKMT_TM_WRITE))) return status;
    if (set_all(c, &err)) return tm_failed(c, &err);
    return tm_memories_list(c);
}

int cmd_tm_drop(struct tm_call *c)
{
    const char *name = tm_value(c, "name");
    char question[512];
    skmt_error err;
    int status;

    if (!name)
        return complain(EXIT_USAGE, "tm drop needs --name NAME; 'skmt tm list "
                        "%s' lists the names", c->path);
    if ((status = tm_open(c, SKMT_TM_WRITE))) return status;
    snprintf(question, sizeof question, "Delete memory '%s' of %s with all "
             "its pairs?", name, c->path);
    if ((status = tm_confirm(c, question))) return status;
    if (skmt_tm_drop(c->tm, name, &err)) return tm_failed(c, &err);
    return tm_memories_list(c);
}
