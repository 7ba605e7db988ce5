/* cmd_learn.c - skmt learn: parses the options, checks and opens the files, and
 * starts the interactive, the line-by-line or the simulated mode. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "common/args.h"
#include "common/findmodel.h"
#include "common/interrupt.h"
#include "help.h"
#include "learn_call.h"

#define MAX_EVERY 1000000       /* the maximum of --adapt-every */

/* ---- command line ------------------------------------------------------- */

static int parse_every(struct learn_call *c, const char *value)
{
    char *end;

    errno = 0;
    c->adapt_every = strtol(value, &end, 10);
    if (end != value && !*end && !errno && c->adapt_every >= 1
        && c->adapt_every <= MAX_EVERY) return EXIT_DONE;
    return complain(EXIT_USAGE, "--adapt-every: '%s' is not a whole number "
                    "from 1 to %d", value, MAX_EVERY);
}

static int learn_argument(void *user, enum arg what, const struct args *a)
{
    struct learn_call *c = user;
    int status;

    if (what == ARG_OPERAND) c->files[c->n_files++] = a->value;
    else if (steering_option(&c->steering, a, &status)) return status;
    else if (args_is(a, "model")) c->model_name = a->value;
    else if (args_is(a, "output")) c->output = a->value;
    else if (args_is(a, "corrections")) c->corrections = a->value;
    else if (args_is(a, "document")) c->document = a->value;
    else if (args_is(a, "author")) c->author = a->value;
    else if (args_is(a, "keep")) c->keep_alternatives = true;
    else if (args_is(a, "simulate")) c->simulate = a->value;
    else if (args_is(a, "baseline")) c->baseline = true;
    else if (args_is(a, "adapt")) c->wants_adapt = true;
    else if (args_is(a, "adapt-every")) return parse_every(c, a->value);
    else if (args_is(a, "json")) c->json = true;
    else if (args_is(a, "quiet")) c->quiet = true;
    else if (args_is(a, "help")) c->help = true;
    return EXIT_DONE;
}

/* Set the options of the paper's experiments. */
static int simulation_defaults(struct learn_call *c)
{
    skmt_error err;

    if (!skmt_options_set(c->options, "exact", "steer", &err)
        && !skmt_options_set(c->options, "split", "none", &err))
        return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s", err.message);
}

static int check_simulation(const struct learn_call *c)
{
    if (c->steering.memory || c->steering.n_names || c->steering.key_file)
        return complain(EXIT_USAGE, "--simulate uses its own memories and "
                        "cannot be used with --memory, --name or --key-file");
    if (c->corrections || c->document || c->author || c->keep_alternatives
        || c->n_files)
        return complain(EXIT_USAGE, "--simulate reads all its input from %s "
                        "and takes no files, --corrections, --document, "
                        "--author or --keep", c->simulate);
    return EXIT_DONE;
}

static int check_learning(struct learn_call *c)
{
    bool standard = false;

    if (!c->steering.memory)
        return complain(EXIT_USAGE, "learn needs --memory FILE, or "
                        "--simulate TSV; see 'skmt help learn'");
    if (c->baseline)
        return complain(EXIT_USAGE, "--baseline needs --simulate");
    if (!c->n_files) c->files[c->n_files++] = "-";
    for (int i = 0; i < c->n_files; i++)
        if (!strcmp(c->files[i], "-")) standard = true;
    if (standard && c->corrections && !strcmp(c->corrections, "-"))
        return complain(EXIT_USAGE, "standard input cannot be both the "
                        "sources and the corrections");
    return EXIT_DONE;
}

/* Refuse a system that searches a file with all pairs. */
static int check_system(const struct learn_call *c)
{
    static const char *const with_file[] = { "adaptive", "efficient", "chunk",
                                             "fast" };
    const char *system = skmt_options_get(c->options, "system");

    for (size_t i = 0; i < sizeof with_file / sizeof *with_file; i++)
        if (!strcmp(system, with_file[i]))
            return complain(EXIT_USAGE, "--system %s searches a datastore, "
                            "which does not learn from corrections; use sk, "
                            "learned, vanilla, kok or nmt", system);
    if (c->wants_adapt && learn_uses_corrections(c))
        return complain(EXIT_USAGE, "--adapt trains the network of system "
                        "learned; system %s has none", system);
    return EXIT_DONE;
}

/* Few corrections deserve less weight than a datastore of all pairs (Wang et
 * al. 2022 use these values online). */
static int set_online_defaults(struct learn_call *c)
{
    static const char *const set[][3] = { { "lambda", "-1", "0.2" },
                                          { "tau", "0", "10" } };
    skmt_error err;

    if (strcmp(skmt_options_get(c->options, "system"), "vanilla"))
        return EXIT_DONE;
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        if (strcmp(skmt_options_get(c->options, set[i][0]), set[i][1]))
            continue;
        if (skmt_options_set(c->options, set[i][0], set[i][2], &err))
            return complain(EXIT_TROUBLE, "%s", err.message);
    }
    return EXIT_DONE;
}

/* Set the options of the settings file and of the command line. With --adapt
 * the file need not exist. */
static int set_learn_options(struct learn_call *c, struct args a)
{
    const char *path = c->steering.settings;
    bool is_new = c->wants_adapt && !c->simulate && path
                  && access(path, F_OK) && errno == ENOENT;
    int status = is_new ? EXIT_DONE
                        : steering_settings(&c->steering, c->options);
    char *network = strdup(skmt_options_get(c->options, "trust"));

    if (!network) status = complain(EXIT_TROUBLE, "out of memory");
    if (!status) status = args_set_engine(a, c->options);
    if (!status) status = check_system(c);
    if (!status) status = set_online_defaults(c);
    if (!status) status = learn_adapt_check(c, network);
    free(network);
    return status;
}

static int learn_parse(struct learn_call *c, int argc, char **argv)
{
    struct args a = { .command = "learn", .own = learn_options,
                      .describe = steered_option_describe, .argc = argc,
                      .argv = argv };
    int status = args_parse_own(a, learn_argument, c);

    if (status || c->help) return status;
    if (c->output && !c->output[0])
        return complain(EXIT_USAGE, "--output needs the name of a file");
    status = c->simulate ? check_simulation(c) : check_learning(c);
    if (!status && c->simulate) status = simulation_defaults(c);
    return status ? status : set_learn_options(c, a);
}

/* ---- files -------------------------------------------------------------- */

/* Check that a file to be read is not the output, because opening the output
 * empties it. role: what the file is, for the message. */
static int learn_check_file(const struct learn_call *c, const char *name,
                            const char *role)
{
    struct stat in, out;

    if (!name || !strcmp(name, "-")) return EXIT_DONE;
    if (access(name, R_OK))
        return complain(EXIT_TROUBLE, "%s: %s", name, strerror(errno));
    if (stat(name, &in)) return EXIT_DONE;
    if (S_ISDIR(in.st_mode))
        return complain(EXIT_TROUBLE, "%s: is a directory", name);
    if (!c->output || stat(c->output, &out) || in.st_dev != out.st_dev
        || in.st_ino != out.st_ino || !S_ISREG(in.st_mode)) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s: cannot be both the %s and the output",
                    name, role);
}

static int learn_check_files(const struct learn_call *c)
{
    int status = learn_check_file(c, c->corrections, "file of corrections");

    for (int i = 0; !status && i < c->n_files; i++)
        status = learn_check_file(c, c->files[i], "input");
    if (!status) status = learn_check_file(c, c->simulate, "input");
    if (!status && c->steering.memory && !access(c->steering.memory, F_OK))
        status = learn_check_file(c, c->steering.memory, "memory");
    return status;
}

/* Count the lines of the files; -1 if a file is not regular and therefore
 * cannot be read twice. */
static long long count_lines(const char *const *files, int n)
{
    struct lines in;
    struct input_line line;
    struct stat s;
    long long count = 0;

    for (int i = 0; i < n; i++)
        if (!strcmp(files[i], "-") || stat(files[i], &s)
            || !S_ISREG(s.st_mode)) return -1;
    lines_open(&in, files, n, -1);
    while (lines_next(&in, true, &line) == LINES_LINE) count++;
    lines_close(&in);
    return count;
}

/* Compare the numbers of lines before anything is stored: corrections that do
 * not belong to their sources would spoil the memory. */
static int check_aligned(const struct learn_call *c)
{
    long long sources, corrections;

    if (!c->corrections) return EXIT_DONE;
    sources = count_lines(c->files, c->n_files);
    corrections = count_lines(&c->corrections, 1);
    if (sources < 0 || corrections < 0 || sources == corrections)
        return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s has %lld lines, but the input has %lld; "
                    "nothing was stored", c->corrections, corrections,
                    sources);
}

int learn_open_output(struct learn_call *c)
{
    c->fd = c->simulate ? -1 : STDOUT_FILENO;
    c->fd_name = "standard output";
    if (!c->output) return EXIT_DONE;
    c->fd = STDOUT_FILENO;
    if (!strcmp(c->output, "-")) return EXIT_DONE;
    c->fd_name = c->output;
    c->fd = open(c->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c->fd >= 0) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s: %s", c->output, strerror(errno));
}

static int close_output(struct learn_call *c)
{
    int fd = c->fd;

    c->fd = -1;
    if (fd <= STDERR_FILENO || !close(fd)) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "writing %s: %s", c->fd_name,
                    strerror(errno));
}

/* ---- the memory --------------------------------------------------------- */

/* Create a memory with the model's languages in a file that has none. */
static skmt_status create_first_memory(const struct learn_call *c, skmt_tm *tm,
                                       skmt_error *err)
{
    char source[16], target[16];
    skmt_tm_info settings = {
        .size = sizeof settings,
        .name = c->steering.n_names ? c->steering.names[0] : "main",
        .source_lang = source, .target_lang = target };
    int n;
    skmt_status st = skmt_tm_count(tm, &n, err);

    skmt_language_tag(skmt_model_get(c->model, "source_lang"), source,
                      sizeof source);
    skmt_language_tag(skmt_model_get(c->model, "target_lang"), target,
                      sizeof target);
    return st || n ? st : skmt_tm_create(tm, &settings, err);
}

/* Choose the memory for corrections: the first --name, the only memory that
 * fits the model, or "main". */
static skmt_status choose_memory(struct learn_call *c, skmt_tm *tm,
                                 skmt_error *err)
{
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    int n, n_fit = 0;
    skmt_status st = skmt_tm_count(tm, &n, err);

    if (c->steering.n_names) {
        c->memory = strdup(c->steering.names[0]);
        n = 0;
    }
    for (int i = 0; !st && i < n; i++) {
        st = skmt_tm_get_settings(tm, i, &info, err);
        if (st || !memory_fits_model(&info, c->model, c->options)) continue;
        free(c->memory);
        c->memory = strdup(n_fit++ ? "main" : info.name);
    }
    if (!st && !c->memory) c->memory = strdup("main");
    if (st || c->memory) return st;
    *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                         .message = "out of memory" };
    return SKMT_ERR_NOMEM;
}

static int learn_open_memory(struct learn_call *c)
{
    skmt_tm *tm = NULL;
    skmt_error err;
    skmt_status st = skmt_tm_open(&tm, c->steering.memory, SKMT_TM_CREATE,
                                  &err);

    if (!st) st = create_first_memory(c, tm, &err);
    if (!st) st = choose_memory(c, tm, &err);
    skmt_tm_close(tm);
    if (st) return learn_failed(c, &err);
    return steering_open(&c->steering, c->model, c->options, SKMT_TM_WRITE,
                         c->quiet);
}

/* Make keys that sessions and trainings share, unless the key file has some. */
static int share_keys(struct learn_call *c)
{
    skmt_error err;

    if (c->steering.keys
        || !skmt_keys_new(&c->steering.keys, c->model, c->options, NULL, &err))
        return EXIT_DONE;
    return learn_failed(c, &err);
}

/* The maximum number of translations of one source that a correction
 * replaces. */
#define MAX_REPLACED "64"

static int open_session(struct learn_call *c)
{
    skmt_error err;
    skmt_status st = skmt_session_new(&c->session, c->model, c->options, &err);

    if (!st)
        st = skmt_options_set(c->alternative_options, "matches", MAX_REPLACED,
                              &err);
    if (!st)
        st = skmt_session_use(c->session, c->steering.tm, c->steering.keys,
                              &err);
    if (!st) st = learn_corrections_begin(c, &err);
    if (!st && c->online)
        st = skmt_session_use_corrections(c->session, c->online, &err);
    return st ? learn_failed(c, &err) : EXIT_DONE;
}

/* ---- the command -------------------------------------------------------- */

/* Whether a person at a terminal can be asked for corrections. */
static bool is_interactive(const struct learn_call *c)
{
    return !c->corrections && !c->json && isatty(STDIN_FILENO)
           && isatty(STDERR_FILENO);
}

static int learn_with_memory(struct learn_call *c)
{
    int status = learn_open_memory(c);

    if (!status && c->wants_adapt) status = share_keys(c);
    if (!status) status = open_session(c);
    if (!status && c->wants_adapt) status = learn_adapt_begin(c);
    /* The output is opened this late, so that a usage error does not empty an
     * old output. */
    if (!status) status = learn_open_output(c);
    if (status) return status;
    return is_interactive(c) ? learn_ask(c) : learn_lines(c);
}

static int learn_run(struct learn_call *c)
{
    int status = learn_check_files(c);

    if (!status) status = check_aligned(c);
    if (status) return status;
    if (!interrupt_start())
        return complain(EXIT_TROUBLE, "cannot create a thread");
    check_isa();
    if ((status = model_find(&c->model, c->model_name, c->options, NULL)))
        return status;
    /* From here on, a signal lets the current line finish. */
    interrupt_set_polled(true);
    return c->simulate ? learn_simulate(c) : learn_with_memory(c);
}

static void learn_call_release(struct learn_call *c)
{
    learn_adapt_end(c);
    stored_release(&c->last);
    skmt_result_free(c->result);
    skmt_session_free(c->session);
    learn_corrections_end(c);
    steering_close(&c->steering);
    skmt_model_close(c->model);
    skmt_options_free(c->options);
    skmt_options_free(c->alternative_options);
    free(c->memory);
    textbuf_release(&c->source);
    textbuf_release(&c->text);
    textbuf_release(&c->alternatives);
    textbuf_release(&c->out);
    free(c->files);
}

int cmd_learn(int argc, char **argv)
{
    struct learn_call c = { .fd = -1 };
    int status, closed;

    c.files = calloc((size_t)argc + 1, sizeof *c.files);
    skmt_options_new(&c.options, NULL);
    skmt_options_new(&c.alternative_options, NULL);
    if (!c.files || !c.options || !c.alternative_options)
        status = complain(EXIT_TROUBLE, "out of memory");
    else if (!(status = learn_parse(&c, argc, argv)))
        status = c.help ? help_command("learn") : learn_run(&c);
    closed = close_output(&c);
    learn_call_release(&c);
    return status ? status : closed;
}
