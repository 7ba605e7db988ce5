/* access.c - the accounts of the server, their keys and their rate limits. */
#include <string.h>
#include "access.h"
static skmt_status todo(skmt_error *err)
{
    if (err) { memset(err, 0, sizeof *err); err->status = SKMT_ERR_IO; strcpy(err->message, "not built yet"); }
    return SKMT_ERR_IO;
}
skmt_status accounts_open(struct accounts **out, const struct settings *s, skmt_error *err) { (void)s; *out = NULL; return todo(err); }
void accounts_close(struct accounts *l) { (void)l; }
void accounts_set_metrics(struct accounts *l, struct metrics *m) { (void)l; (void)m; }
skmt_status accounts_reload(struct accounts *l, skmt_error *err) { (void)l; return todo(err); }
bool accounts_need_key(const struct accounts *l) { (void)l; return false; }
int accounts_count(struct accounts *l) { (void)l; return 0; }
skmt_status accounts_check(struct accounts *l, skmt_error *err) { (void)l; return todo(err); }
void accounts_each_size(struct accounts *l, void (*fn)(void *, int, int64_t), void *u) { (void)l; (void)fn; (void)u; }
skmt_status accounts_new_key(const char *p, const char *n, char *k, size_t s, skmt_error *err) { (void)p; (void)n; (void)k; (void)s; return todo(err); }
const char *access_find_key(const struct key_source *f) { (void)f; return NULL; }
enum access_answer access_enter(struct accounts *l, const char *k, const struct sockaddr *p, struct account **out, int *r) { (void)l; (void)k; (void)p; *out = NULL; *r = 0; return ACCESS_NO_KEY; }
void access_release(struct account *a) { (void)a; }
double access_cost(const json_t *a) { (void)a; return 1; }
void access_charge(struct accounts *l, struct account *a, const struct sockaddr *p, double c, struct rate_answer *out) { (void)l; (void)a; (void)p; (void)c; memset(out, 0, sizeof *out); out->allowed = true; }
