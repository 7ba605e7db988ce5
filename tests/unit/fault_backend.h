/* fault_backend.h - a backend that passes every call on to another one, until a
 * call that a test has chosen fails. From then on every call that can fail
 * does, like on a device that is gone.
 *
 * It also counts: calls, executors, and slots that are held. All functions are
 * static. */
#ifndef FAULT_BACKEND_H
#define FAULT_BACKEND_H

#include "nn/backend.h"
#include "test.h"

enum fault_op { FAULT_EXECUTOR, FAULT_ENCODE, FAULT_RUN, FAULT_FORCE,
                FAULT_PROJECT, FAULT_DISTANCES, FAULT_READ, FAULT_ATTENTION,
                FAULT_OPS };

static const char *const fault_names[FAULT_OPS] = { "executor", "encode",
    "run", "force", "project", "distances", "read", "attention" };

struct fault_backend {
    struct backend b;           /* must be the first member */
    const struct backend *inner;
    int calls[FAULT_OPS];
    int fails[FAULT_OPS];       /* the call that fails, from 1; 0: none */
    bool broken;                /* a call has failed */
    int executors;              /* that exist */
    int held;                   /* slots taken and not dropped */
};

struct fault_executor {
    struct executor x;          /* must be the first member */
    struct executor *inner;
    struct fault_backend *fb;
    bool failed;                /* only slot_drop and free may be called */
};

static inline struct fault_executor *fault_of(struct executor *x)
{
    return (struct fault_executor *)(void *)x;
}

/* Count a call. Returns whether it fails. */
static inline bool fault_now(struct fault_backend *fb, enum fault_op op,
                             struct err *e)
{
    if (++fb->calls[op] == fb->fails[op]) fb->broken = true;
    if (fb->broken)
        err_set(e, ST_DEVICE, "the device fails: %s", fault_names[op]);
    return fb->broken;
}

/* The same for a call of an executor, which must not have failed before. */
static inline bool fault_call(struct executor *x, enum fault_op op,
                              struct err *e)
{
    struct fault_executor *f = fault_of(x);

    CHECK(!f->failed);
    f->failed = fault_now(f->fb, op, e);
    return f->failed;
}

static inline void fault_free(struct executor *x)
{
    struct fault_executor *f = fault_of(x);

    f->fb->executors--;
    executor_free(f->inner);
    free(f);
}

static inline void fault_use_pool(struct executor *x, bool use)
{
    struct executor *in = fault_of(x)->inner;

    CHECK(!fault_of(x)->failed);
    in->ops->use_pool(in, use);
}

static inline enum status fault_encode(struct executor *x,
                                       const struct source *src,
                                       const int *lane, int n, struct err *e)
{
    struct executor *in = fault_of(x)->inner;

    if (fault_call(x, FAULT_ENCODE, e)) return ST_DEVICE;
    return in->ops->encode(in, src, lane, n, e);
}

static inline int32_t fault_slot_new(struct executor *x, int32_t parent)
{
    struct executor *in = fault_of(x)->inner;

    CHECK(!fault_of(x)->failed);
    fault_of(x)->fb->held++;
    return in->ops->slot_new(in, parent);
}

static inline void fault_slot_drop(struct executor *x, int32_t slot)
{
    struct executor *in = fault_of(x)->inner;

    if (slot >= 0) fault_of(x)->fb->held--;
    in->ops->slot_drop(in, slot);
}

static inline enum status fault_run(struct executor *x,
                                    const struct pass_row *rows, int n,
                                    unsigned want, struct err *e)
{
    struct executor *in = fault_of(x)->inner;

    if (fault_call(x, FAULT_RUN, e)) return ST_DEVICE;
    return in->ops->run(in, rows, n, want, e);
}

static inline enum status fault_force(struct executor *x,
                                      const struct source *src, int n_src,
                                      const struct forced_text *text, int n,
                                      unsigned want, struct err *e)
{
    struct executor *in = fault_of(x)->inner;

    if (fault_call(x, FAULT_FORCE, e)) return ST_DEVICE;
    return in->ops->force(in, src, n_src, text, n, want, e);
}

static inline enum status fault_project(struct executor *x, int row, int n,
                                        struct projection *p, struct err *e)
{
    struct executor *in = fault_of(x)->inner;

    if (fault_call(x, FAULT_PROJECT, e)) return ST_DEVICE;
    return in->ops->project(in, row, n, p, e);
}

static inline enum status fault_distances(struct executor *x, int row, int n,
                                          const struct key_rows *keys,
                                          int from, int n_keys, float *out,
                                          size_t ldo, struct err *e)
{
    struct executor *in = fault_of(x)->inner;

    if (fault_call(x, FAULT_DISTANCES, e)) return ST_DEVICE;
    return in->ops->distances(in, row, n, keys, from, n_keys, out, ldo, e);
}

static inline enum status fault_read(struct executor *x, enum state_kind kind,
                                     int row, int n, const float **states,
                                     size_t *ld, struct err *e)
{
    struct executor *in = fault_of(x)->inner;

    if (fault_call(x, FAULT_READ, e)) return ST_DEVICE;
    return in->ops->read(in, kind, row, n, states, ld, e);
}

static inline enum status fault_attention(struct executor *x, int row, int n,
                                          const float **weights, size_t *ld,
                                          struct err *e)
{
    struct executor *in = fault_of(x)->inner;

    if (fault_call(x, FAULT_ATTENTION, e)) return ST_DEVICE;
    return in->ops->attention(in, row, n, weights, ld, e);
}

static inline enum status fault_executor_new(const struct backend *b,
                                             const struct executor_limits *l,
                                             struct pool *pool,
                                             struct executor **out,
                                             struct err *e)
{
    static const struct executor_ops ops = { fault_free, fault_use_pool,
        fault_encode, fault_slot_new, fault_slot_drop, fault_run,
        fault_force, fault_project, fault_distances, fault_read,
        fault_attention };
    struct fault_backend *fb = (struct fault_backend *)(uintptr_t)b;
    struct fault_executor *f;
    enum status st;

    *out = NULL;
    if (fault_now(fb, FAULT_EXECUTOR, e)) return ST_DEVICE;
    f = calloc(1, sizeof *f);
    st = fb->inner->ops->executor_new(fb->inner, l, pool, &f->inner, e);
    if (st) {
        free(f);
        return st;
    }
    f->x = (struct executor){ &ops, b, *l };
    f->fb = fb;
    fb->executors++;
    *out = &f->x;
    return ST_OK;
}

static inline void fault_close(struct backend *b) { (void)b; }

/* Pass calls on to inner, which is borrowed. */
static inline void fault_backend_init(struct fault_backend *fb,
                                      const struct backend *inner)
{
    static const struct backend_ops ops = { "fault", fault_close,
                                            fault_executor_new };

    memset(fb, 0, sizeof *fb);
    fb->b = *inner;
    fb->b.ops = &ops;
    fb->inner = inner;
}

/* Let call `at` of an operation fail, and forget all counts of calls. */
static inline void fault_backend_arm(struct fault_backend *fb,
                                     enum fault_op op, int at)
{
    memset(fb->calls, 0, sizeof fb->calls);
    memset(fb->fails, 0, sizeof fb->fails);
    fb->fails[op] = at;
    fb->broken = false;
}

#endif
