/* serve_notify.c - sends the datagram that a service of Type=notify owes
 * systemd. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/serve_notify.h"

/* A name that begins with '@' is in the abstract namespace, where the first
 * byte is a NUL. */
void notify_supervisor(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t n = path ? strlen(path) : 0;
    int fd;

    if (n == 0 || n >= sizeof to.sun_path) return;
    memcpy(to.sun_path, path, n);
    if (path[0] == '@') to.sun_path[0] = 0;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
}
