/* serve_notify.h - tells systemd about the state of the service. */
#ifndef SERVER_SERVE_NOTIFY_H
#define SERVER_SERVE_NOTIFY_H

/* Sends a state, such as "READY=1\n", to the socket of $NOTIFY_SOCKET. Does
 * nothing if there is none (sd_notify(3)). */
void notify_supervisor(const char *state);

#endif
