/* problems.h - counts and reports what a check finds, one problem at a time. */
#ifndef TM_PROBLEMS_H
#define TM_PROBLEMS_H

/* Gets one problem as a sentence that is valid during the call. */
typedef void problem_fn(void *user, const char *sentence);

struct problems {
    problem_fn *fn;             /* NULL: problems are only counted */
    void *user;
    int n;                      /* problems found so far */
};

__attribute__((format(printf, 2, 3)))
void problems_add(struct problems *p, const char *fmt, ...);

#endif
