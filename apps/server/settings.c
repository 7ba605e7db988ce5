/* settings.c - reads the settings from the configuration file, the environment
 * and the command line.
 *
 * The file and the environment are first read into a list of items. All sources
 * are then applied twice: the first pass sets the server's own settings, and
 * the second one the options of the library, after those of the file of
 * --settings, whose name only the first pass knows. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/lines.h"
#include "common/nearest.h"
#include "common/program.h"
#include "common/steering.h"
#include "server/models.h"
#include "server/server.h"
#include "server/settings.h"
#include "server/settings_address.h"

#define VARIABLE "SKMT_SERVE_"
#define NAME_BYTES 64

extern char **environ;

/* ---- the table ---------------------------------------------------------- */

const struct opt serve_options[] = {
#define TEXT(field, name, letter, value, help) { name, letter, value, help },
#define LIST(field, name, letter, value, help) { name, letter, value, help },
#define FLAG(field, name, help) { name, 0, NULL, help },
#define NUMBER(field, name, fallback, low, high, help)                        \
    { name, 0, "N", help "; default " #fallback },
#define SIZE(field, name, fallback, low, high, help)                          \
    { name, 0, "BYTES", help "; K, M and G are allowed; default " #fallback },
#define WORD(field, name, list, fallback, help)                               \
    { name, 0, list, help "; default " fallback },
#include "server/settings.def"
#undef TEXT
#undef LIST
#undef FLAG
#undef NUMBER
#undef SIZE
#undef WORD
    HELP_OPTION,
    NO_MORE_OPTIONS
};

enum serve_kind { IS_TEXT, IS_LIST, IS_FLAG, IS_NUMBER, IS_SIZE, IS_WORD };
struct setting {
    const char *name;
    enum serve_kind kind;
    size_t at;                  /* of the field in struct settings */
    int64_t low, high;
    const char *words, *fallback;
};

static const struct setting settings_table[] = {
#define AT(field) offsetof(struct settings, field)
#define TEXT(field, name, letter, value, help)                                \
    { name, IS_TEXT, AT(field), 0, 0, NULL, NULL },
#define LIST(field, name, letter, value, help)                                \
    { name, IS_LIST, AT(field), 0, 0, NULL, NULL },
#define FLAG(field, name, help)                                               \
    { name, IS_FLAG, AT(field), 0, 0, NULL, NULL },
#define NUMBER(field, name, fallback, low, high, help)                        \
    { name, IS_NUMBER, AT(field), low, high, NULL, #fallback },
#define SIZE(field, name, fallback, low, high, help)                          \
    { name, IS_SIZE, AT(field), low, high, NULL, #fallback },
#define WORD(field, name, list, fallback, help)                               \
    { name, IS_WORD, AT(field), 0, 0, list, fallback },
#include "server/settings.def"
#undef TEXT
#undef LIST
#undef FLAG
#undef NUMBER
#undef SIZE
#undef WORD
};
enum { N_SETTINGS = sizeof settings_table / sizeof *settings_table };

/* Whether an option of the library is one of the server's own, too. */
static bool is_own_name(const char *name)
{
    for (int i = 0; i < N_SETTINGS; i++)
        if (!strcmp(settings_table[i].name, name)) return true;
    return false;
}

/* The library's option "threads" is hidden by the server's own. */
int serve_option_describe(int i, skmt_option_info *out)
{
    for (int k = 0; steered_option_describe(k, out); k++)
        if (!is_own_name(out->name) && i-- == 0) return 1;
    return 0;
}

/* ---- reading a value ---------------------------------------------------- */

struct settings_reader {
    struct settings *s;
    int source;                 /* being applied, from 1 */
    int set_by[N_SETTINGS];     /* the source of the value; 0: the default */
    struct setting_item *items; /* [n] of the file, then of the environment */
    int n, cap, n_file;
};

/* Why a value was refused: a phrase that follows the name of the setting. */
struct refusal { char why[400]; };

__attribute__((format(printf, 2, 3)))
static bool refuse(struct refusal *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(r->why, sizeof r->why, fmt, ap);
    va_end(ap);
    return false;
}

static bool list_append(struct setting_list *l, const char *value, size_t len)
{
    char **list = realloc(l->list, (size_t)(l->n + 1) * sizeof *list);

    if (!list) return false;
    l->list = list;
    list[l->n] = strndup(value, len);
    return list[l->n] && ++l->n;
}

static void list_empty(struct setting_list *l)
{
    for (int i = 0; i < l->n; i++) free(l->list[i]);
    free(l->list);
    *l = (struct setting_list){ 0 };
}

static bool read_flag(bool *out, const char *value, struct refusal *r)
{
    static const char *const yes[] = { "1", "yes", "true", "on" };
    static const char *const no[] = { "0", "no", "false", "off" };

    for (int i = 0; i < 4; i++) {
        if (!strcmp(value, yes[i])) return *out = true;
        if (!strcmp(value, no[i])) return !(*out = false);
    }
    return refuse(r, "'%s' is not yes or no", value);
}

/* Read a whole number, which may end in K, M or G if `units`. */
static bool read_number(int64_t *out, const struct setting *t,
                        const char *value, bool units, struct refusal *r)
{
    static const char letters[] = "KMG";
    const char *unit;
    char *end;
    int64_t factor = 1;
    long long n;

    errno = 0;
    n = strtoll(value, &end, 10);
    if (units && *end && (unit = strchr(letters, toupper((unsigned char)*end))))
        for (end++; unit >= letters; unit--) factor *= 1024;
    if (!isdigit((unsigned char)value[0]) || *end)
        return refuse(r, "'%s' is not a %s", value,
                      units ? "size such as 4096 or 4M" : "whole number");
    if (errno || n > INT64_MAX / factor || n * factor < t->low
        || n * factor > t->high)
        return refuse(r, "%s is not from %lld to %lld", value,
                      (long long)t->low, (long long)t->high);
    *out = n * factor;
    return true;
}

static bool read_word(int *out, const struct setting *t, const char *value,
                      struct refusal *r)
{
    size_t len = strlen(value), n;
    int i = 0;

    for (const char *at = t->words; *at; at += n + (at[n] == '|'), i++) {
        n = strcspn(at, "|");
        if (n == len && !memcmp(at, value, n)) {
            *out = i;
            return true;
        }
    }
    return refuse(r, "'%s' is not one of %s", value, t->words);
}

/* An empty text is the same as none. */
static bool read_text(char **out, const char *value, struct refusal *r)
{
    free(*out);
    *out = *value ? strdup(value) : NULL;
    return *out || !*value || refuse(r, "out of memory");
}

static bool setting_read(struct settings *s, const struct setting *t,
                         const char *value, struct refusal *r)
{
    char *field = (char *)s + t->at;
    int64_t n;

    switch (t->kind) {
    case IS_TEXT: return read_text((char **)(void *)field, value, r);
    case IS_FLAG: return read_flag((bool *)field, value, r);
    case IS_WORD: return read_word((int *)(void *)field, t, value, r);
    case IS_SIZE:
        return read_number((int64_t *)(void *)field, t, value, true, r);
    case IS_NUMBER:
        if (!read_number(&n, t, value, false, r)) return false;
        *(int *)(void *)field = (int)n;
        return true;
    case IS_LIST:
        return !*value
            || list_append((struct setting_list *)(void *)field, value,
                           strlen(value))
            || refuse(r, "out of memory");
    }
    return refuse(r, "unknown kind of setting");
}

/* Set a setting from the present source. */
static bool setting_apply(struct settings_reader *rd, int i, const char *value,
                          struct refusal *r)
{
    const struct setting *t = &settings_table[i];
    char *field = (char *)rd->s + t->at;

    if (t->kind == IS_LIST && rd->set_by[i] != rd->source)
        list_empty((struct setting_list *)(void *)field);
    rd->set_by[i] = rd->source;
    return setting_read(rd->s, t, value, r);
}

static bool settings_defaults(struct settings *s)
{
    struct refusal r;
    skmt_error err;

    for (int i = 0; i < N_SETTINGS; i++)
        if (settings_table[i].fallback
            && !setting_read(s, &settings_table[i],
                             settings_table[i].fallback, &r))
            return !complain(1, "%s: %s", settings_table[i].name, r.why);
    return !skmt_options_new(&s->options, &err)
        || !complain(1, "%s", err.message);
}

/* ---- items of the file and of the environment --------------------------- */

struct setting_item {
    char *where;                /* "FILE:LINE", or the name of the variable */
    char *name, *value;
    int own;                    /* in settings_table; -1: of the library */
};

static int out_of_memory(void)
{
    return complain(EXIT_TROUBLE, "out of memory");
}

static int item_failed(const struct setting_item *it, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Print "FILE:LINE: ..", or "skmt: VARIABLE: ..". */
static int item_failed(const struct setting_item *it, const char *fmt, ...)
{
    char message[700];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    if (strchr(it->where, ':'))
        fprintf(stderr, "%s: %s\n", it->where, message);
    else
        complain(0, "%s: %s", it->where, message);
    return EXIT_USAGE;
}

/* Find the setting that an item is for. */
static int item_find(struct setting_item *it)
{
    skmt_option_info info = SKMT_INIT(skmt_option_info);
    struct nearest near;
    const char *best;

    nearest_begin(&near, it->name);
    for (it->own = 0; it->own < N_SETTINGS; it->own++) {
        if (!strcmp(settings_table[it->own].name, it->name)) break;
        nearest_offer(&near, settings_table[it->own].name);
    }
    if (it->own < N_SETTINGS) return EXIT_DONE;
    it->own = -1;
    for (int i = 0; serve_option_describe(i, &info); i++) {
        if (!strcmp(info.name, it->name)) return EXIT_DONE;
        nearest_offer(&near, info.name);
    }
    best = nearest_end(&near);
    if (best)
        return item_failed(it, "unknown setting '%s'; did you mean '%s'?",
                           it->name, best);
    return item_failed(it, "unknown setting '%s'; see 'skmt help serve'",
                       it->name);
}

/* Add an item. Copies the strings. */
static int item_add(struct settings_reader *rd, const char *where,
                    const char *name, size_t name_len, const char *value,
                    size_t len)
{
    struct setting_item *it;

    if (rd->n == rd->cap) {
        int cap = 2 * rd->cap + 16;
        void *items = realloc(rd->items, (size_t)cap * sizeof *rd->items);

        if (!items) return out_of_memory();
        rd->items = items;
        rd->cap = cap;
    }
    it = &rd->items[rd->n++];
    *it = (struct setting_item){ strdup(where), strndup(name, name_len),
                                 strndup(value, len), -1 };
    if (!it->where || !it->name || !it->value) return out_of_memory();
    return item_find(it);
}

/* A setting that may not be repeated is given once in a file. */
static int item_check_repeated(const struct settings_reader *rd)
{
    const struct setting_item *it = &rd->items[rd->n - 1];

    if (it->own >= 0 && settings_table[it->own].kind == IS_LIST)
        return EXIT_DONE;
    for (int i = 0; i < rd->n - 1; i++)
        if (!strcmp(rd->items[i].name, it->name))
            return item_failed(it, "%s was already set in %s", it->name,
                               rd->items[i].where);
    return EXIT_DONE;
}

/* Add "name = value". Blank lines and comments are ignored. */
static int file_line(struct settings_reader *rd, const struct input_line *line)
{
    const char *name = line->text + strspn(line->text, " \t"), *equals, *value;
    size_t n, len;
    char where[600];
    int status;

    if (!*name || *name == '#') return EXIT_DONE;
    snprintf(where, sizeof where, "%s:%llu", line->file,
             (unsigned long long)line->number);
    equals = strchr(name, '=');
    if (!equals || equals == name || memchr(line->text, 0, line->len)) {
        fprintf(stderr, "%s: expected 'name = value'\n", where);
        return EXIT_USAGE;
    }
    for (n = (size_t)(equals - name); n && strchr(" \t", name[n - 1]);) n--;
    value = equals + 1 + strspn(equals + 1, " \t");
    for (len = strlen(value); len && strchr(" \t", value[len - 1]);) len--;
    status = item_add(rd, where, name, n, value, len);
    return status ? status : item_check_repeated(rd);
}

static int file_read(struct settings_reader *rd, const char *path)
{
    struct lines in;
    struct input_line line;
    int status = EXIT_DONE;

    lines_open(&in, &path, 1, -1);
    while (!status && lines_next(&in, true, &line) == LINES_LINE)
        status = file_line(rd, &line);
    if (in.message[0]) status = complain(EXIT_TROUBLE, "%s", in.message);
    lines_close(&in);
    rd->n_file = rd->n;
    return status;
}

/* Add a variable. SKMT_SERVE_MAX_BODY is the setting max-body. */
static int environment_add(struct settings_reader *rd, const char *variable)
{
    const char *equals = strchr(variable, '=');
    char where[NAME_BYTES + 1], name[NAME_BYTES + 1];
    size_t n = equals ? (size_t)(equals - variable) : 0;
    const size_t skip = strlen(VARIABLE);

    if (n <= skip || strncmp(variable, VARIABLE, skip)) return EXIT_DONE;
    if (n > NAME_BYTES)
        return complain(EXIT_USAGE, "the environment has an unknown variable "
                        "with a long name that begins with %s", VARIABLE);
    snprintf(where, sizeof where, "%.*s", (int)n, variable);
    for (size_t i = skip; i <= n; i++)
        name[i - skip] = where[i] == '_' ? '-'
                                    : (char)tolower((unsigned char)where[i]);
    return item_add(rd, where, name, strlen(name), equals + 1,
                    strlen(equals + 1));
}

static int environment_read(struct settings_reader *rd)
{
    int status = EXIT_DONE;

    for (char **at = environ; !status && *at; at++)
        status = environment_add(rd, *at);
    return status;
}

/* ---- applying ----------------------------------------------------------- */

/* Set the values of a list, which are separated by commas. */
static bool apply_list(struct settings_reader *rd,
                       const struct setting_item *it, struct refusal *r)
{
    char *copy = strdup(it->value), *rest = copy, *part;
    bool ok = copy || refuse(r, "out of memory");

    while (ok && (part = strsep(&rest, ","))) {
        part += strspn(part, " ");
        for (size_t n = strlen(part); n && part[n - 1] == ' ';) part[--n] = 0;
        ok = setting_apply(rd, it->own, part, r);
    }
    free(copy);
    return ok;
}

/* Set an item of the server's own. */
static int apply_item(struct settings_reader *rd, int i)
{
    const struct setting_item *it = &rd->items[i];
    bool in_file = i < rd->n_file;
    struct refusal r;

    if (it->own < 0) return EXIT_DONE;
    if (!strcmp(it->name, "new-key") ||
        (in_file && !strcmp(it->name, "config")))
        return item_failed(it, "%s can be given on the command line only",
                           it->name);
    rd->source = in_file ? 1 : 2;
    if (!in_file && settings_table[it->own].kind == IS_LIST
        ? apply_list(rd, it, &r) : setting_apply(rd, it->own, it->value, &r))
        return EXIT_DONE;
    return item_failed(it, "%s: %s", it->name, r.why);
}

/* Set a setting of the command line. This is an args_fn. */
static int apply_argument(void *user, enum arg what, const struct args *a)
{
    struct settings_reader *rd = user;
    struct refusal r;

    if (what == ARG_OPERAND)
        return complain(EXIT_USAGE, "serve: unexpected argument '%s'; see "
                        "'skmt help serve'", a->value);
    if (args_is(a, "help")) {
        rd->s->help = true;
        return EXIT_DONE;
    }
    rd->source = 3;
    for (int i = 0; i < N_SETTINGS; i++) {
        if (!args_is(a, settings_table[i].name)) continue;
        if (setting_apply(rd, i, a->value ? a->value : "yes", &r))
            return EXIT_DONE;
        return complain(EXIT_USAGE, "--%s: %s", a->name, r.why);
    }
    return EXIT_DONE;
}

/* Set the options of the library, from all places. */
static int apply_options(struct settings_reader *rd, const struct args *a)
{
    struct settings *s = rd->s;
    struct steering file = { .settings = s->options_file };
    int status = steering_settings(&file, s->options);
    char threads[16];
    skmt_error err;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    for (int i = 0; !status && i < rd->n; i++)
        if (rd->items[i].own < 0
            && skmt_options_set(s->options, rd->items[i].name,
                                rd->items[i].value, &err))
            status = item_failed(&rd->items[i], "%s", err.message);
    if (!status) status = args_set_engine(*a, s->options);
    if (status) return status;
    if (s->threads == 0)
        s->threads = cpus < 1 ? 1 : cpus > 256 ? 256 : (int)cpus;
    snprintf(threads, sizeof threads, "%d", s->threads);
    if (skmt_options_set(s->options, "threads", threads, &err))
        return complain(EXIT_USAGE, "--%s", err.message);
    return EXIT_DONE;
}

/* ---- checks ------------------------------------------------------------- */

static int check_keys(struct settings *s)
{
    if (s->new_key && !s->keys)
        return complain(EXIT_USAGE, "--new-key needs --keys FILE");
    if (s->keys && s->no_auth)
        return complain(EXIT_USAGE, "--keys and --no-auth cannot be used "
                        "together");
    if (s->keys && s->memory)
        return complain(EXIT_USAGE, "--keys and --memory cannot be used "
                        "together: each key has a memory of its own, in the "
                        "folder of --data");
    if (s->names.n && !s->memory)
        return complain(EXIT_USAGE, "--name needs --memory");
    if (!s->loopback && !s->keys && !s->no_auth)
        return complain(EXIT_USAGE, "other machines can reach %s, and there "
                        "are no keys; give --keys FILE, or --no-auth if "
                        "everybody may use the server",
                        s->listen ? s->listen : "this address");
    return EXIT_DONE;
}

/* An origin is a scheme and a host, or "*". */
static int check_origins(const struct settings *s)
{
    for (int i = 0; i < s->cors.n; i++) {
        const char *at = s->cors.list[i], *host = strstr(at, "://");

        if (!strcmp(at, "*")) continue;
        if (!host || host == at || !host[3] || strpbrk(host + 3, "/?# "))
            return complain(EXIT_USAGE, "--cors: '%s' is not an origin such "
                            "as https://example.org, or *", at);
    }
    return EXIT_DONE;
}

/* Whether two pairs are the same languages. */
static bool same_pair(const char *a, const char *b)
{
    char from_a[PAIR_CODE_BYTES], to_a[PAIR_CODE_BYTES];
    char from_b[PAIR_CODE_BYTES], to_b[PAIR_CODE_BYTES];

    return models_split_pair(a, from_a, to_a)
           && models_split_pair(b, from_b, to_b)
           && !strcmp(skmt_language_code(from_a), skmt_language_code(from_b))
           && !strcmp(skmt_language_code(to_a), skmt_language_code(to_b));
}

static int check_pairs(const struct settings *s)
{
    char from[PAIR_CODE_BYTES], to[PAIR_CODE_BYTES];
    char **list = s->pairs.list;

    for (int i = 0; i < s->pairs.n; i++) {
        if (!models_split_pair(list[i], from, to))
            return complain(EXIT_USAGE, "--pair: '%s' is not a pair of known "
                            "languages such as de-en or pt_BR-en", list[i]);
        for (int k = 0; k < i; k++)
            if (same_pair(list[k], list[i]))
                return complain(EXIT_USAGE, "--pair: '%s' and '%s' are the "
                                "same languages; regions and scripts do not "
                                "count", list[k], list[i]);
    }
    return EXIT_DONE;
}

/* The folder of a file, for the memories of keys. */
static int choose_data(struct settings *s)
{
    const char *slash;

    if (s->data || !s->keys) return EXIT_DONE;
    slash = strrchr(s->keys, '/');
    s->data = slash == s->keys ? strdup("/")
            : slash ? strndup(s->keys, (size_t)(slash - s->keys))
                    : strdup(".");
    return s->data ? EXIT_DONE : out_of_memory();
}

static int settings_check(struct settings *s)
{
    char why[200];
    int status;

    if (!address_parse(s->listen ? s->listen : "127.0.0.1:8080", &s->address,
                       &s->address_size, why, sizeof why))
        return complain(EXIT_USAGE, "--listen: %s", why);
    s->loopback = address_is_loopback(&s->address);
    if ((status = check_keys(s)) || (status = check_origins(s))
        || (status = check_pairs(s)))
        return status;
    if (!s->tls_cert != !s->tls_key)
        return complain(EXIT_USAGE, "--tls-cert and --tls-key must be given "
                        "together");
    return choose_data(s);
}

/* ---- all ---------------------------------------------------------------- */

/* Get the name of the configuration file. It is given in the environment or on
 * the command line. */
static int config_argument(void *user, enum arg what, const struct args *a)
{
    const char **path = user;

    if (what == ARG_OWN && args_is(a, "config")) *path = a->value;
    return EXIT_DONE;
}

static int read_sources(struct settings_reader *rd, const struct args *a)
{
    const char *path = getenv(VARIABLE "CONFIG");
    int status = args_parse_own(*a, config_argument, &path);

    if (!status && path && *path) status = file_read(rd, path);
    if (!status) status = environment_read(rd);
    for (int i = 0; !status && i < rd->n; i++) status = apply_item(rd, i);
    return status;
}

int settings_read(struct settings *s, int argc, char **argv)
{
    struct args a = { .command = "serve", .own = serve_options,
                      .describe = serve_option_describe, .argc = argc,
                      .argv = argv };
    struct settings_reader rd = { .s = s };
    int status;

    memset(s, 0, sizeof *s);
    if (!settings_defaults(s)) return EXIT_TROUBLE;
    status = read_sources(&rd, &a);
    if (!status) status = args_parse_own(a, apply_argument, &rd);
    if (!status && !s->help) status = apply_options(&rd, &a);
    if (!status && !s->help) status = settings_check(s);
    for (int i = 0; i < rd.n; i++) {
        free(rd.items[i].where);
        free(rd.items[i].name);
        free(rd.items[i].value);
    }
    free(rd.items);
    return status;
}

void settings_release(struct settings *s)
{
    for (int i = 0; i < N_SETTINGS; i++) {
        char *field = (char *)s + settings_table[i].at;

        if (settings_table[i].kind == IS_TEXT) free(*(char **)(void *)field);
        if (settings_table[i].kind == IS_LIST)
            list_empty((struct setting_list *)(void *)field);
    }
    skmt_options_free(s->options);
    memset(s, 0, sizeof *s);
}
