/* use_tm.h - helpers for tests of memory files that use only the public API in
 * include/skmt.h. */
#ifndef USE_TM_H
#define USE_TM_H

#include "scratch_dir.h"
#include "skmt.h"
#include "test.h"

#define OK(call) do {                                                     \
    if (call) test_fail(__FILE__, __LINE__, "%s: %s", #call, err.message); \
} while (0)

static inline skmt_tm *open_tm(const struct scratch *s, skmt_tm_mode mode)
{
    char path[64];              /* not static: threads call this */
    skmt_tm *tm = NULL;
    skmt_error err;

    snprintf(path, sizeof path, "%s/a.tm", s->dir);
    if (skmt_tm_open(&tm, path, mode, &err))
        test_fail(__FILE__, __LINE__, "%s", err.message);
    return tm;
}

static inline int64_t add(skmt_tm *tm, const char *memory, const char *source,
                          const char *target)
{
    skmt_error err;
    int64_t id = -1;

    OK(skmt_tm_add(tm, memory, source, target, &id, &err));
    return id;
}

static inline skmt_matches *search(skmt_tm *tm, const char *text,
                                   const skmt_options *o)
{
    skmt_matches *m = NULL;
    skmt_error err;

    OK(skmt_tm_search(tm, text, o, NULL, &m, &err));
    return m;
}

/* The number of matches of a search; -1 on error. */
static inline int found(skmt_tm *tm, const char *text)
{
    skmt_matches *m = search(tm, text, NULL);
    int n = m ? skmt_matches_count(m) : -1;

    skmt_matches_free(m);
    return n;
}

/* The targets of the matches, each followed by a space. set: pairs of option
 * and value, or NULL. */
static inline const char *targets(skmt_tm *tm, const char *text,
                                  const char *const *set)
{
    static char out[1000];
    skmt_options *o;
    skmt_matches *m;
    skmt_match one = SKMT_INIT(skmt_match);
    skmt_error err;

    OK(skmt_options_new(&o, &err));
    out[0] = 0;
    for (; set && *set; set += 2)
        OK(skmt_options_set(o, set[0], set[1], &err));
    m = search(tm, text, o);
    for (int i = 0; m && i < skmt_matches_count(m); i++) {
        skmt_matches_get(m, i, &one);
        strcat(strcat(out, one.pair->target), " ");
    }
    skmt_matches_free(m);
    skmt_options_free(o);
    return out;
}

#define TARGETS(tm, text, ...) \
    targets(tm, text, (const char *const []){ __VA_ARGS__, NULL })

static inline int64_t stat_of(skmt_tm *tm, const char *name)
{
    const char *it;
    int64_t value;

    for (int i = 0; (it = skmt_tm_stat(tm, i, &value)); i++)
        if (!strcmp(it, name)) return value;
    return -2;
}

static inline int problems(skmt_tm *tm)
{
    skmt_error err;
    int n = -1;

    OK(skmt_tm_check(tm, NULL, NULL, &n, &err));
    return n;
}

/* A count of an import; -1 if there is none with this name. */
static inline int64_t import_count(const skmt_import *im, const char *name)
{
    const char *it;
    int64_t value;

    for (int i = 0; (it = skmt_import_stat(im, i, &value)); i++)
        if (!strcmp(it, name)) return value;
    return -1;
}

#endif
