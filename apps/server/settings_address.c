/* settings_address.c - reads an address such as [::1]:8080, and listens on
 * it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/settings_address.h"

static bool parse_port(const char *text, int *port)
{
    char *end;
    long n;

    if (!*text || strspn(text, "0123456789") != strlen(text)) return false;
    n = strtol(text, &end, 10);
    if (strlen(text) > 5 || n > 65535) return false;
    *port = (int)n;
    return true;
}

/* Set *out to a numeric address. */
static bool parse_host(const char *host, bool brackets, int port,
                       struct sockaddr_storage *out, socklen_t *size)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)out;

    memset(out, 0, sizeof *out);
    if (!strcmp(host, "localhost")) host = "127.0.0.1";
    if (brackets && inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        *size = sizeof *v6;
        return true;
    }
    if (brackets || inet_pton(AF_INET, host, &v4->sin_addr) != 1) return false;
    v4->sin_family = AF_INET;
    v4->sin_port = htons((uint16_t)port);
    *size = sizeof *v4;
    return true;
}

bool address_parse(const char *text, struct sockaddr_storage *out,
                   socklen_t *size, char *why, size_t why_size)
{
    const char *colon = strrchr(text, ':');
    const char *host = colon ? text : "127.0.0.1";
    size_t len = colon ? (size_t)(colon - text) : strlen(host);
    bool brackets = len > 1 && host[0] == '[' && host[len - 1] == ']';
    char name[64];
    int port;

    if (!parse_port(colon ? colon + 1 : text, &port)) {
        snprintf(why, why_size, "'%.80s' does not end in a port from 0 to "
                 "65535", text);
        return false;
    }
    if (brackets) host++, len -= 2;
    snprintf(name, sizeof name, "%.*s", (int)(len < 63 ? len : 63), host);
    if (parse_host(name, brackets, port, out, size)) return true;
    snprintf(why, why_size, "'%.80s' is not an address such as 127.0.0.1:8080 "
             "or [::1]:8080", text);
    return false;
}

bool address_is_loopback(const struct sockaddr_storage *a)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a;
    const struct sockaddr_in6 *v6 =
        (const struct sockaddr_in6 *)(const void *)a;

    if (a->ss_family == AF_INET)
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    if (a->ss_family != AF_INET6) return false;
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        return v6->sin6_addr.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

int address_port(const struct sockaddr_storage *a)
{
    if (a->ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)a)->sin6_port);
    return ntohs(((const struct sockaddr_in *)(const void *)a)->sin_port);
}

void address_print(const struct sockaddr_storage *a, char *out, size_t size)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a;
    const struct sockaddr_in6 *v6 =
        (const struct sockaddr_in6 *)(const void *)a;
    bool six = a->ss_family == AF_INET6;
    char host[INET6_ADDRSTRLEN] = "?";

    if (six) inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
    else inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
    snprintf(out, size, six ? "[%s]:%d" : "%s:%d", host, address_port(a));
}

static int listen_failed(int fd, const struct sockaddr_storage *a, char *why,
                         size_t why_size)
{
    int error = errno;
    char text[80];

    address_print(a, text, sizeof text);
    if (error == EADDRINUSE)
        snprintf(why, why_size, "%s is in use by another program; choose "
                 "another port with --listen", text);
    else if (error == EADDRNOTAVAIL)
        snprintf(why, why_size, "this machine does not have the address %s",
                 text);
    else
        snprintf(why, why_size, "cannot listen on %s: %s", text,
                 strerror(error));
    if (fd >= 0) close(fd);
    return -1;
}

/* An IPv6 address does not take IPv4 connections too, so that a client's
 * address has one form. */
int address_listen(struct sockaddr_storage *a, socklen_t *size, char *why,
                   size_t why_size)
{
    const int on = 1;
    int fd = socket(a->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    0);

    if (fd < 0) return listen_failed(fd, a, why, why_size);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)a, *size) || listen(fd, SOMAXCONN))
        return listen_failed(fd, a, why, why_size);
    *size = sizeof *a;
    if (getsockname(fd, (struct sockaddr *)a, size))
        return listen_failed(fd, a, why, why_size);
    return fd;
}
