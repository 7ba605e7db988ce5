/* server_log.c - writes the log of the server. */
#include "server_log.h"
#define U(x) (void)x
void server_log_begin(int f, int l, bool t) { U(f); U(l); U(t); }
bool server_log_wants(int l) { U(l); return false; }
void server_log(int l, const char *id, const char *f, ...) { U(l); U(id); U(f); }
void server_log_call(int l, const struct log_call *c) { U(l); U(c); }
void server_log_text(const char *i, const char *w, const char *t) { U(i); U(w); U(t); }
