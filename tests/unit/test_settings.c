/* test_settings.c - tests the settings of the server: addresses, and which of
 * the file, the environment and the command line wins. What the program prints
 * about wrong settings is tested in tests/cli/serve_settings.t. */
#include <netinet/in.h>
#include <stdarg.h>
#include <unistd.h>

#include "common/program.h"
#include "server/settings.h"
#include "server/settings_address.h"
#include "test.h"

static bool parses(const char *text, const char *want, bool loopback)
{
    struct sockaddr_storage a;
    socklen_t size;
    char why[200], printed[80];

    if (!address_parse(text, &a, &size, why, sizeof why)) return false;
    address_print(&a, printed, sizeof printed);
    CHECK_STR(printed, want);
    CHECK(address_is_loopback(&a) == loopback);
    CHECK(size == (a.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                           : sizeof(struct sockaddr_in)));
    return true;
}

TEST(addresses_are_parsed_and_printed)
{
    CHECK(parses("127.0.0.1:8080", "127.0.0.1:8080", true));
    CHECK(parses("127.1.2.3:0", "127.1.2.3:0", true));
    CHECK(parses("0.0.0.0:65535", "0.0.0.0:65535", false));
    CHECK(parses("10.0.0.1:80", "10.0.0.1:80", false));
    CHECK(parses("[::1]:8080", "[::1]:8080", true));
    CHECK(parses("[::]:1", "[::]:1", false));
    CHECK(parses("[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1", true));
    CHECK(parses("[fe80::1]:1", "[fe80::1]:1", false));
    CHECK(parses("localhost:5", "127.0.0.1:5", true));
    CHECK(parses("8080", "127.0.0.1:8080", true));
}

TEST(wrong_addresses_are_refused)
{
    static const char *const wrong[] = { "", ":", "127.0.0.1", "127.0.0.1:",
        "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1: 80",
        "127.0.0.1:80a", "::1:8080", "[::1]", "[::1:8080", "::1]:8080",
        "[127.0.0.1]:80", "example.org:80", "256.0.0.1:80", ":8080", "[]:1",
        "127.0.0.1:000080", "1.2.3:80",
        "111111111111111111111111111111111111111111111111111111111111111111:1"
    };

    for (size_t i = 0; i < COUNT(wrong); i++)
        if (!CHECK(!parses(wrong[i], "", false))) puts(wrong[i]);
}

TEST(port_0_gets_a_port_that_others_cannot_take)
{
    struct sockaddr_storage a;
    socklen_t size, again;
    char why[200] = "";
    int fd;

    REQUIRE(address_parse("127.0.0.1:0", &a, &size, why, sizeof why));
    fd = address_listen(&a, &size, why, sizeof why);
    REQUIRE(fd >= 0);
    CHECK(address_port(&a) > 0);
    again = size;
    CHECK_INT(address_listen(&a, &again, why, sizeof why), -1);
    CHECK(strstr(why, "is in use by another program") != NULL);
    close(fd);
}

/* ---- sources ------------------------------------------------------------ */

static char *file_with(const char *text)
{
    static char path[64];
    int fd;

    snprintf(path, sizeof path, "/tmp/test_settings.XXXXXX");
    fd = mkstemp(path);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) return NULL;
    close(fd);
    return path;
}

static int read_line(struct settings *s, int argc, ...)
{
    char *argv[32] = { "serve" };
    va_list ap;

    va_start(ap, argc);
    for (int i = 1; i <= argc; i++) argv[i] = va_arg(ap, char *);
    va_end(ap);
    return settings_read(s, argc + 1, argv);
}

static const char *option(struct settings *s, const char *name)
{
    const char *value = skmt_options_get(s->options, name);

    return value ? value : "(none)";
}

TEST(defaults_are_those_of_the_list)
{
    struct settings s;

    CHECK_INT(read_line(&s, 0), EXIT_DONE);
    CHECK(s.loopback && !s.keys && !s.memory && !s.trust_proxy);
    CHECK_INT(address_port(&s.address), 8080);
    CHECK_INT(s.max_text, 100000);
    CHECK_INT(s.log_level, LOG_INFO);
    CHECK_INT(s.models.n, 0);
    CHECK(s.threads >= 1);
    CHECK_INT(atoi(option(&s, "threads")), s.threads);
    CHECK_STR(option(&s, "beam"), "0");
    settings_release(&s);
}

TEST(the_command_line_overrides_variables_and_they_the_file)
{
    struct settings s;
    char *path = file_with("# a comment\n\nlisten = [::1]:90\n  max-text=1K\n"
                           "max-body = 2M\nbeam = 2\nnbest = 2\nlenpen = 1\n"
                           "host = a\nhost = b\nno-auth = yes\n"
                           "log-level =debug  \r\n");

    setenv("SKMT_SERVE_MAX_TEXT", "2K", 1);
    setenv("SKMT_SERVE_NBEST", "1", 1);
    setenv("SKMT_SERVE_BEAM", "1", 1);
    setenv("SKMT_SERVE_HOST", "c, d ,e", 1);
    CHECK_INT(read_line(&s, 6, "--config", path, "--max-body", "3M",
                        "--beam=5", "--no-auth"), EXIT_DONE);
    CHECK_INT(address_port(&s.address), 90);
    CHECK_INT(s.max_text, 2048);
    CHECK_INT(s.max_body, 3 << 20);
    CHECK_INT(s.log_level, LOG_DEBUG);
    CHECK(s.no_auth);
    CHECK_STR(option(&s, "beam"), "5");
    CHECK_STR(option(&s, "nbest"), "1");
    CHECK_STR(option(&s, "lenpen"), "1");
    REQUIRE(s.hosts.n == 3);
    CHECK_STR(s.hosts.list[1], "d");
    settings_release(&s);
    CHECK_INT(read_line(&s, 6, "--config", path, "--host", "x", "--host", "y"),
              EXIT_DONE);
    REQUIRE(s.hosts.n == 2);
    CHECK_STR(s.hosts.list[1], "y");
    settings_release(&s);
    unsetenv("SKMT_SERVE_MAX_TEXT");
    unsetenv("SKMT_SERVE_NBEST");
    unsetenv("SKMT_SERVE_BEAM");
    unsetenv("SKMT_SERVE_HOST");
    CHECK_INT(read_line(&s, 2, "--config", path), EXIT_DONE);
    REQUIRE(s.hosts.n == 2);
    CHECK_STR(s.hosts.list[0], "a");
    settings_release(&s);
    unlink(path);
}

TEST(everything_overrides_the_file_of_skmt_tune)
{
    struct settings s;
    char *path = file_with("beam = 3\nlenpen = 0.5\n");

    CHECK_INT(read_line(&s, 4, "--settings", path, "--beam", "2"), EXIT_DONE);
    CHECK_STR(option(&s, "beam"), "2");
    CHECK_STR(option(&s, "lenpen"), "0.5");
    settings_release(&s);
    unlink(path);
}

TEST(the_memories_of_keys_are_beside_the_keys)
{
    struct settings s;

    CHECK_INT(read_line(&s, 2, "--keys", "/etc/skmt/keys"), EXIT_DONE);
    CHECK_STR(s.data, "/etc/skmt");
    settings_release(&s);
    CHECK_INT(read_line(&s, 2, "--keys", "keys"), EXIT_DONE);
    CHECK_STR(s.data, ".");
    settings_release(&s);
    CHECK_INT(read_line(&s, 2, "--keys", "/keys"), EXIT_DONE);
    CHECK_STR(s.data, "/");
    settings_release(&s);
    CHECK_INT(read_line(&s, 4, "--keys", "/k", "--data", "/d"), EXIT_DONE);
    CHECK_STR(s.data, "/d");
    settings_release(&s);
}

/* Random lines are read or refused, and all memory is released. */
TEST(damaged_files_are_refused)
{
    static const char *const parts[] = { "listen", "=", " = ", "\n", "#",
        "beam", "4", "127.0.0.1:1", "max-text", "K", "9999999999999999999",
        "host", "*", "no-auth", "yes", "\xFF", "\t", ",", "config", "-" };
    unsigned x = 1;
    int old = dup(STDERR_FILENO);

    REQUIRE(freopen("/dev/null", "w", stderr) != NULL);
    for (int round = 0; round < 500; round++) {
        struct settings s;
        char text[400] = "", *path;
        int status;

        for (int i = 0; i < 16; i++) {
            x = x * 1664525u + 1013904223u;
            strcat(text, parts[(x >> 16) % COUNT(parts)]);
        }
        path = file_with(text);
        status = read_line(&s, 2, "--config", path);
        CHECK(status == EXIT_DONE || status == EXIT_USAGE);
        settings_release(&s);
        unlink(path);
    }
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
}
