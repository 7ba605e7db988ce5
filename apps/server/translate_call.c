/* translate_call.c - translates the texts of a call. */
#include "translate_call.h"
bool answer_texts(struct call *c, const struct wish *w, const char *const *texts, int n, struct answer *out)
{ (void)w; (void)texts; (void)n; (void)out; call_fail(c, FAIL_INTERNAL, "not built yet"); return false; }
bool answer_prefixes(struct call *c, const struct wish *w, const char *const *texts, const char *const *prefixes, int n, struct answer *out)
{ (void)w; (void)texts; (void)prefixes; (void)n; (void)out; call_fail(c, FAIL_INTERNAL, "not built yet"); return false; }
void answer_release(struct answer *a) { (void)a; }
