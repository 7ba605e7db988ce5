/* account.c - what an account may do with its memories. */
#include <string.h>
#include "account.h"
static skmt_status todo(skmt_error *err)
{
    if (err) { memset(err, 0, sizeof *err); err->status = SKMT_ERR_IO; strcpy(err->message, "not built yet"); }
    return SKMT_ERR_IO;
}
#define U(x) (void)x
int account_number(const struct account *a) { U(a); return 0; }
const char *account_name(const struct account *a) { U(a); return ""; }
bool account_may_write(const struct account *a) { U(a); return false; }
bool account_has_memory(const struct account *a) { U(a); return false; }
int64_t account_characters(const struct account *a) { U(a); return 0; }
void account_add_characters(struct account *a, int64_t n) { U(a); U(n); }
skmt_status account_borrow(struct account *a, const char *const *names, int n, skmt_tm **out, skmt_error *err) { U(a); U(names); U(n); *out = NULL; return todo(err); }
void account_return(struct account *a, skmt_tm *tm) { U(a); U(tm); }
skmt_status account_edit_begin(struct account *a, skmt_tm **out, skmt_error *err) { U(a); *out = NULL; return todo(err); }
void account_edit_end(struct account *a) { U(a); }
skmt_status memories_list(struct account *a, struct memory_cards *out, skmt_error *err) { U(a); memset(out, 0, sizeof *out); return todo(err); }
void memories_release(struct memory_cards *m) { U(m); }
skmt_status memories_find(struct account *a, const char *w, struct memory_card *out, bool *f, skmt_error *err) { U(a); U(w); U(out); *f = false; return todo(err); }
void memory_card_release(struct memory_card *m) { U(m); }
skmt_status memories_create(struct account *a, const char *t, const char *d, const char *x, const char *s, const char *g, struct memory_card *out, skmt_error *err) { U(a); U(t); U(d); U(x); U(s); U(g); memset(out, 0, sizeof *out); return todo(err); }
skmt_status memories_change(struct account *a, int64_t id, const char *t, const char *d, skmt_error *err) { U(a); U(id); U(t); U(d); return todo(err); }
skmt_status memories_delete(struct account *a, int64_t id, skmt_error *err) { U(a); U(id); return todo(err); }
skmt_status account_store(struct account *a, const struct correction *x, int64_t *id, skmt_error *err) { U(a); U(x); U(id); return todo(err); }
skmt_status account_import(struct account *a, const char *m, const char *p, const char *n, const char *s, const char *t, skmt_tm_progress_fn *f, void *u, int64_t *pairs, skmt_error *err) { U(a); U(m); U(p); U(n); U(s); U(t); U(f); U(u); U(pairs); return todo(err); }
void account_add_job(struct account *a, struct import_job *j) { U(a); U(j); }
void account_update_job(struct account *a, const struct import_job *j) { U(a); U(j); }
bool account_find_job(struct account *a, const char *id, struct import_job *out) { U(a); U(id); U(out); return false; }
