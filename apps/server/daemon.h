/* daemon.h - the connections of the server: reads requests, runs the functions
 * of their routes in threads of its own, and sends the answers.
 *
 * libmicrohttpd owns the sockets and parses HTTP. The daemon adds what it
 * lacks: deadlines for slow clients, limits, refusals in the form of the API,
 * checks against request smuggling and against pages of other sites, and
 * notices clients that have gone.
 *
 * It uses s->settings, s->accounts and s->metrics, and server_state(s): while
 * that is not SERVER_READY, only routes with ROUTE_OPEN are run. */
#ifndef SERVER_DAEMON_H
#define SERVER_DAEMON_H

#include "server/server.h"

struct daemon;                  /* opaque */

/* Serves the connections of a socket that listens; the daemon closes it. */
skmt_status daemon_start(struct daemon **out, struct server *s, int listen_fd,
                         skmt_error *err);
/* Accepts no more connections. Answers end with "Connection: close", and calls
 * that have not begun yet get FAIL_NOT_READY. Set s->state to SERVER_STOPPING
 * before. */
void daemon_quiesce(struct daemon *d);
/* The number of calls that are not answered completely yet. */
int daemon_calls(struct daemon *d);
/* Cancels the calls that are left, waits until their functions have returned,
 * closes all connections and frees d, which may be NULL. */
void daemon_stop(struct daemon *d);

#endif
