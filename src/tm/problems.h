/* problems.h - what a check finds, said one by one. */
#ifndef TM_PROBLEMS_H
#define TM_PROBLEMS_H

typedef void problem_fn(void *user, const char *sentence);

struct problems {
    problem_fn *fn;             /* NULL: they are only counted */
    void *user;
    int n;
};

__attribute__((format(printf, 2, 3)))
void problems_add(struct problems *p, const char *fmt, ...);

#endif
