/* daemon.c - owns the connections: deadlines, limits, threads. */
#include <stdio.h>

#include "server/daemon.h"

skmt_status daemon_start(struct daemon **out, struct server *s, int listen_fd,
                         skmt_error *err)
{
    (void)s, (void)listen_fd;
    *out = NULL;
    err->status = SKMT_ERR_IO;
    snprintf(err->message, sizeof err->message, "not built yet");
    return SKMT_ERR_IO;
}

void daemon_quiesce(struct daemon *d)
{
    (void)d;
}

int daemon_calls(struct daemon *d)
{
    (void)d;
    return 0;
}

void daemon_stop(struct daemon *d)
{
    (void)d;
}
