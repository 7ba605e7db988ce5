/* languages.c - codes and names of languages, and the pairs that are served. */
#include "languages.h"

#include <stddef.h>
const char *language_code(const char *w) { (void)w; return NULL; }
const char *language_name(const char *code) { return code; }
int language_pairs(const struct server *s) { (void)s; return 0; }
void language_pair(const struct server *s, int i, const char **a, const char **b) { (void)s; (void)i; *a = *b = ""; }
bool language_is_served(const struct server *s, const char *a, const char *b) { (void)s; (void)a; (void)b; return false; }
bool language_is_source(const struct server *s, const char *c) { (void)s; (void)c; return false; }
bool language_is_target(const struct server *s, const char *c) { (void)s; (void)c; return false; }
const char *language_detect(const struct server *s, const char *t, double *c) { (void)s; (void)t; *c = 0; return NULL; }
