/* test_server_metrics.c - tests the metrics and the log of the server: what
 * they say, and that it can be parsed. */
#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>

#include "scratch_dir.h"
#include "server/access.h"
#include "server/metrics.h"
#include "server/server_log.h"
#include "server/settings.h"

/* ---- a parser of the text format ----------------------------------------- */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == ':';
}

/* Skips labels: {a="b",c="d"}. Returns NULL if they are malformed. */
static const char *skip_labels(const char *at)
{
    if (*at != '{') return at;
    do {
        const char *begin = ++at;

        while (is_name_char(*at)) at++;
        if (at == begin || at[0] != '=' || at[1] != '"') return NULL;
        for (at += 2; *at && *at != '"' && *at != '\n'; at++)
            if (*at == '\\' && !strchr("\\\"n", *++at)) return NULL;
        if (*at++ != '"') return NULL;
    } while (*at == ',');
    return *at == '}' ? at + 1 : NULL;
}

/* Whether a line is "NAME LABELS VALUE" of the metric declared last. */
static bool is_sample(const char *line, const char *declared)
{
    size_t n = strlen(declared);
    const char *at = line;
    char *end;

    if (strncmp(line, declared, n)) return false;
    while (is_name_char(*at)) at++;
    if (at - line != (long)n && strncmp(line + n, "_bucket", 7)
        && strncmp(line + n, "_sum", 4) && strncmp(line + n, "_count", 6))
        return false;
    at = skip_labels(at);
    if (!at || *at != ' ') return false;
    strtod(at + 1, &end);
    return end > at + 1 && !*end;
}

/* Checks all lines, and that each metric is declared once. */
static void check_format(char *text)
{
    char declared[100] = "", seen[8000] = "";

    if (!CHECK(*text && text[strlen(text) - 1] == '\n')) return;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char name[100], type[100], key[120];

        if (sscanf(line, "# HELP %99s", name) == 1) {
            snprintf(key, sizeof key, "|%s|", name);
            if (!CHECK(!strstr(seen, key))) printf("%s\n", line);
            strncat(seen, key, sizeof seen - strlen(seen) - 1);
            strcpy(declared, name);
        } else if (sscanf(line, "# TYPE %99s %99s", name, type) == 2) {
            CHECK_STR(name, declared);
            CHECK(!strcmp(type, "counter") || !strcmp(type, "gauge")
                  || !strcmp(type, "histogram"));
            if (!strcmp(type, "counter")) CHECK(strstr(name, "_total"));
        } else if (!CHECK(is_sample(line, declared))) {
            printf("%s\n", line);
        }
    }
}

static char *print(struct metrics *m, struct accounts *accounts)
{
    struct textbuf t = { 0 };

    metrics_print(m, accounts, &t);
    textbuf_add(&t, "", 1);
    return t.data;
}

/* Whether the text has this line. */
static bool has_line(const char *text, const char *line)
{
    size_t n = strlen(line);

    for (const char *at = text; (at = strstr(at, line)); at += n)
        if ((at == text || at[-1] == '\n') && at[n] == '\n') return true;
    printf("no line: %s\n", line);
    return false;
}

static void some_values(void *user, struct metrics_values *out)
{
    out->queue_texts = *(int *)user;
    out->decoder_passes = 5;
    out->key_cache_bytes = 1000;
}

/* ---- metrics ------------------------------------------------------------- */

TEST(all_metrics_are_there_from_the_start)
{
    static const char *const names[] = {
        "skmt_build_info", "skmt_http_requests_total",
        "skmt_http_request_duration_seconds", "skmt_http_requests_in_flight",
        "skmt_queue_texts", "skmt_queue_bytes", "skmt_queue_wait_seconds",
        "skmt_requests_rejected_total", "skmt_requests_abandoned_total",
        "skmt_source_tokens_total", "skmt_target_tokens_total",
        "skmt_decoder_passes_total", "skmt_translate_seconds_total",
        "skmt_memory_pairs", "skmt_memory_lookups_total",
        "skmt_memory_additions_total", "skmt_key_cache_bytes",
        "skmt_key_cache_hits_total", "skmt_key_cache_misses_total",
        "skmt_documents_total", "process_resident_memory_bytes",
        "process_cpu_seconds_total", "process_open_fds",
        "process_start_time_seconds" };
    struct metrics *m = metrics_new(1767323045.5);
    char *text, want[100];

    REQUIRE(m);
    text = print(m, NULL);
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(want, sizeof want, "# TYPE %s ", names[i]);
        if (!CHECK(strstr(text, want))) printf("%s\n", names[i]);
    }
    CHECK(has_line(text, "process_start_time_seconds 1767323045.500000000"));
    CHECK(!strstr(text, "process_resident_memory_bytes 0\n"));
    CHECK(!strstr(text, "process_open_fds 0\n"));
    check_format(text);
    free(text);
    metrics_free(m);
}

TEST(what_was_counted_is_printed)
{
    static const char own[] = "own", route[] = "/v1/translate";
    struct metrics *m = metrics_new(0);
    int queued[2] = { 3, 4 };
    char *text;

    REQUIRE(m);
    metrics_add_model(m, "0.1.0", "avx2", "a \"model\"\nwith \\");
    metrics_add_reader(m, some_values, &queued[0]);
    metrics_add_reader(m, some_values, &queued[1]);
    metrics_request(m, own, route, 200, 0.004);
    metrics_request(m, own, route, 200, 0.3);
    metrics_request(m, own, route, 429, 100);
    metrics_request(m, own, "/other", 200, NAN);
    metrics_in_flight(m, 1);
    metrics_in_flight(m, 1);
    metrics_in_flight(m, -1);
    metrics_rejected(m, REJECT_RATE);
    metrics_abandoned(m);
    metrics_document(m, "xliff", 200);
    metrics_queue_wait(m, 0.01);
    metrics_tokens(m, 7, 9);
    metrics_translated(m, 0.25);
    metrics_looked_up(m, LOOKUP_FUZZY);
    metrics_added(m, "mmt", 2);
    text = print(m, NULL);
    CHECK(has_line(text, "skmt_build_info{version=\"0.1.0\",isa=\"avx2\","
                   "model=\"a \\\"model\\\"\\nwith \\\\\"} 1"));
#define ROUTE "api=\"own\",route=\"/v1/translate\""
    CHECK(has_line(text, "skmt_http_requests_total{" ROUTE
                   ",status=\"200\"} 2"));
    CHECK(has_line(text, "skmt_http_requests_total{" ROUTE
                   ",status=\"429\"} 1"));
#define SECONDS "skmt_http_request_duration_seconds"
    CHECK(has_line(text, SECONDS "_bucket{" ROUTE ",le=\"0.005\"} 1"));
    CHECK(has_line(text, SECONDS "_bucket{" ROUTE ",le=\"0.25\"} 1"));
    CHECK(has_line(text, SECONDS "_bucket{" ROUTE ",le=\"0.5\"} 2"));
    CHECK(has_line(text, SECONDS "_bucket{" ROUTE ",le=\"30\"} 2"));
    CHECK(has_line(text, SECONDS "_bucket{" ROUTE ",le=\"+Inf\"} 3"));
    CHECK(has_line(text, SECONDS "_sum{" ROUTE "} 100.304000000"));
    CHECK(has_line(text, SECONDS "_count{" ROUTE "} 3"));
    CHECK(has_line(text, "skmt_http_requests_in_flight 1"));
    CHECK(has_line(text, "skmt_requests_rejected_total{reason=\"rate\"} 1"));
    CHECK(has_line(text, "skmt_requests_rejected_total{reason=\"auth\"} 0"));
    CHECK(has_line(text, "skmt_requests_abandoned_total 1"));
    CHECK(has_line(text, "skmt_documents_total{format=\"xliff\","
                   "status=\"200\"} 1"));
    CHECK(has_line(text, "skmt_queue_wait_seconds_bucket{le=\"0.01\"} 1"));
    CHECK(has_line(text, "skmt_queue_wait_seconds_sum 0.010000000"));
    CHECK(has_line(text, "skmt_queue_texts 7"));
    CHECK(has_line(text, "skmt_decoder_passes_total 10"));
    CHECK(has_line(text, "skmt_source_tokens_total 7"));
    CHECK(has_line(text, "skmt_target_tokens_total 9"));
    CHECK(has_line(text, "skmt_translate_seconds_total 0.250000000"));
    CHECK(has_line(text, "skmt_memory_lookups_total{result=\"fuzzy\"} 1"));
    CHECK(has_line(text, "skmt_memory_additions_total{source=\"mmt\"} 2"));
    CHECK(has_line(text, "skmt_key_cache_bytes 2000"));
    check_format(text);
    free(text);
    metrics_free(m);
}

/* More series than the table has places: the rest is not counted. */
TEST(the_table_of_series_can_be_full)
{
    static char names[600][8];
    struct metrics *m = metrics_new(0);
    char *text;
    int n = 0;

    REQUIRE(m);
    for (int i = 0; i < 600; i++) {
        snprintf(names[i], sizeof names[i], "r%d", i);
        metrics_request(m, "api", names[i], 200, 0);
        metrics_request(m, "api", names[i], 200, 0);
    }
    text = print(m, NULL);
    for (const char *at = text; (at = strstr(at, "status=\"200\"} 2\n")); at++)
        n++;
    CHECK_INT(n, 512);
    check_format(text);
    free(text);
    metrics_free(m);
}

TEST(pairs_are_labeled_by_the_number_of_the_key)
{
    struct settings set = { 0 };
    struct metrics *m = metrics_new(0);
    struct accounts *list;
    struct account *a;
    struct scratch s;
    skmt_error err;
    char path[300], *text;
    struct correction x = { .memory = NULL, .source = "planted",
                            .target = "words", .from = "test" };
    int wait;

    REQUIRE(m && scratch_make(&s));
    snprintf(path, sizeof path, "%s", scratch_path(&s, "m.tm"));
    set.memory = path;
    REQUIRE(!accounts_open(&list, &set, &err));
    accounts_set_metrics(list, m);
    REQUIRE(!access_enter(list, NULL, NULL, &a, &wait));
    CHECK(!account_store(a, &x, NULL, &err));
    text = print(m, list);
    CHECK(has_line(text, "skmt_memory_pairs{memory=\"0\"} 1"));
    CHECK(has_line(text, "skmt_memory_additions_total{source=\"test\"} 1"));
    CHECK(!strstr(text, "planted") && !strstr(text, s.dir));
    check_format(text);
    free(text);
    access_release(a);
    accounts_close(list);
    metrics_free(m);
    scratch_remove(&s);
}

static void *count_often(void *user)
{
    static const char *const routes[] = { "/a", "/b", "/c", "/d" };

    for (int i = 0; i < 4000; i++) {
        metrics_request(user, "api", routes[i % 4], 200, 0.001);
        metrics_added(user, "mmt", 1);
        metrics_queue_wait(user, 1);
    }
    return NULL;
}

TEST(threads_lose_no_count)
{
    struct metrics *m = metrics_new(0);
    pthread_t t[4];
    char *text;

    REQUIRE(m);
    for (int i = 0; i < 4; i++)
        REQUIRE(!pthread_create(&t[i], NULL, count_often, m));
    free(print(m, NULL));
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    text = print(m, NULL);
    CHECK(has_line(text, "skmt_http_requests_total{api=\"api\",route=\"/c\","
                   "status=\"200\"} 4000"));
    CHECK(has_line(text, "skmt_memory_additions_total{source=\"mmt\"} 16000"));
    CHECK(has_line(text, "skmt_queue_wait_seconds_count 16000"));
    free(text);
    metrics_free(m);
}

TEST(nothing_is_counted_without_metrics)
{
    metrics_request(NULL, "a", "b", 200, 1);
    metrics_added(NULL, "a", 1);
    metrics_in_flight(NULL, 1);
    metrics_tokens(NULL, 1, 1);
    metrics_add_reader(NULL, some_values, NULL);
    metrics_print(NULL, NULL, NULL);
    metrics_free(NULL);
}

/* ---- the log ------------------------------------------------------------- */

struct logged { struct scratch s; int fd; };

static bool log_begin(struct logged *l, int level, bool texts)
{
    if (!scratch_make(&l->s)) return false;
    l->fd = open(scratch_path(&l->s, "log"), O_RDWR | O_CREAT | O_APPEND, 0600);
    if (!CHECK(l->fd >= 0)) return false;
    server_log_begin(l->fd, level, texts);
    return true;
}

/* Ends the log. Returns line i as an object; NULL if there is none. Each line
 * must be JSON. */
static json_t *log_line(const struct logged *l, int i)
{
    FILE *f = fopen(scratch_path(&l->s, "log"), "rb");
    char line[5000];
    json_t *found = NULL;

    while (f && fgets(line, sizeof line, f)) {
        json_t *o = json_loads(line, 0, NULL);

        if (!CHECK(json_is_object(o))) printf("%s\n", line);
        if (i-- == 0) found = json_incref(o);
        json_decref(o);
    }
    if (f) fclose(f);
    return found;
}

static void log_end(struct logged *l)
{
    server_log_begin(2, LOG_WARN, false);
    close(l->fd);
    scratch_remove(&l->s);
}

static const char *field(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "(none)";
}

TEST(a_request_is_one_line_of_json)
{
    struct log_call c = { .id = "0123", .method = "POST", .api = "own",
                          .route = "/v1/\"x\"\n", .status = 200, .ms = 12.34,
                          .queue_ms = 1.5, .in_bytes = 5000000000, .texts = 2,
                          .source_tokens = 3, .target_tokens = 4, .key = 7 };
    struct logged l;
    json_t *o;

    REQUIRE(log_begin(&l, LOG_INFO, false));
    server_log_call(LOG_INFO, &c);
    server_log_call(LOG_DEBUG, &c);
    c.peer = "192.0.2.0";
    c.why = "rate";
    server_log_call(LOG_WARN, &c);
    server_log(LOG_ERROR, NULL, "disk %s", "full");
    server_log_text("0123", "source", "geheim");
    o = log_line(&l, 0);
    REQUIRE(o);
    CHECK_STR(field(o, "level"), "info");
    CHECK_STR(field(o, "id"), "0123");
    CHECK_STR(field(o, "route"), "/v1/\"x\"\n");
    CHECK_STR(field(o, "peer"), "(none)");
    CHECK_INT(strlen(field(o, "time")), 24);
    CHECK_INT(json_integer_value(json_object_get(o, "in_bytes")), 5000000000);
    CHECK_INT(json_integer_value(json_object_get(o, "tokens")), 7);
    CHECK_INT(json_integer_value(json_object_get(o, "key")), 7);
    CHECK_NEAR(json_number_value(json_object_get(o, "ms")), 12.3, 1e-9);
    json_decref(o);
    o = log_line(&l, 1);
    CHECK_STR(field(o, "level"), "warn");
    CHECK_STR(field(o, "peer"), "192.0.2.0");
    CHECK_STR(field(o, "why"), "rate");
    json_decref(o);
    o = log_line(&l, 2);
    CHECK_STR(field(o, "message"), "disk full");
    CHECK_STR(field(o, "id"), "(none)");
    json_decref(o);
    CHECK(!log_line(&l, 3));                    /* no text */
    log_end(&l);
}

TEST(texts_are_logged_only_with_a_warning)
{
    struct logged l;
    json_t *o;

    REQUIRE(log_begin(&l, LOG_ERROR, true));
    server_log_text("0123", "source", "Stra\xc3\x9f" "e \xff\n");
    o = log_line(&l, 0);
    CHECK_STR(field(o, "level"), "warn");
    CHECK(strstr(field(o, "message"), "--log-text"));
    json_decref(o);
    o = log_line(&l, 1);
    CHECK_STR(field(o, "source"), "Stra\xc3\x9f" "e \xef\xbf\xbd\n");
    json_decref(o);
    log_end(&l);
}

static void *log_often(void *user)
{
    (void)user;
    for (int i = 0; i < 200; i++)
        server_log(LOG_INFO, NULL, "a line of a thread, number %d", i);
    return NULL;
}

TEST(lines_of_threads_do_not_mix)
{
    struct logged l;
    pthread_t t[4];
    json_t *o;

    REQUIRE(log_begin(&l, LOG_INFO, false));
    for (int i = 0; i < 4; i++)
        REQUIRE(!pthread_create(&t[i], NULL, log_often, NULL));
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    o = log_line(&l, 799);
    CHECK(o);
    json_decref(o);
    CHECK(!log_line(&l, 800));
    log_end(&l);
}

TEST(a_log_that_cannot_be_written_is_no_error)
{
    server_log_begin(-1, LOG_INFO, false);
    server_log(LOG_ERROR, "id", "lost");
    server_log_begin(2, LOG_WARN, false);
    CHECK(server_log_wants(LOG_ERROR) && !server_log_wants(LOG_INFO));
}
