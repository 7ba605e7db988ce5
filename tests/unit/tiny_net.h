/* tiny_net.h - makes, converts and opens a tiny random model in a temporary
 * folder, for tests of the network and of search. All functions are static. */
#ifndef TINY_NET_H
#define TINY_NET_H

#include <unistd.h>

#include "../../tools/tiny_model.h"
#include "convert/convert.h"
#include "nn/cpu_backend.h"
#include "test.h"

struct tiny_net {
    struct tiny o;              /* its parameters, with vocab set */
    char dir[32];
    struct weights *w;
    struct net *net;
    struct backend *backend;    /* runs the net on the CPU */
};

static inline const char *tiny_net_file(const struct tiny_net *t,
                                        const char *name)
{
    static char path[4][96];
    static int turn;
    char *p = path[turn++ % 4];

    snprintf(p, sizeof path[0], "%s/%s", t->dir, name);
    return p;
}

/* Write the folder of the model and convert it to m.skmt. Opens nothing. */
static inline bool tiny_net_write(struct tiny_net *t, const struct tiny *o,
                                  enum dtype type)
{
    struct err e;

    memset(t, 0, sizeof *t);
    t->o = *o;
    if (!t->o.vocab) t->o.vocab = TINY_PIECES;
    strcpy(t->dir, "/tmp/skmt-tiny-XXXXXX");
    return CHECK(mkdtemp(t->dir) != NULL) && CHECK(tiny_write(t->dir, o)) &&
           CHECK_OK(convert_model(t->dir, type, tiny_net_file(t, "m.skmt"),
                                  NULL, NULL, &e), &e);
}

/* Write and open a model. If k is NULL, the best kernels are used. */
static inline bool tiny_net_open(struct tiny_net *t, const struct tiny *o,
                                 enum dtype type, const struct kernels *k)
{
    struct err e;

    return tiny_net_write(t, o, type) &&
           CHECK_OK(weights_open(&t->w, tiny_net_file(t, "m.skmt"), &e),
                    &e) &&
           CHECK_OK(net_open(&t->net, t->w, k, &e), &e) &&
           CHECK_OK(cpu_backend_new(&t->backend, t->net, &e), &e);
}

static inline void tiny_net_close(struct tiny_net *t)
{
    backend_close(t->backend);
    net_close(t->net);
    weights_close(t->w);
    unlink(tiny_net_file(t, "m.skmt"));
    unlink(tiny_net_file(t, "spm.model"));
    unlink(tiny_net_file(t, "config.json"));
    unlink(tiny_net_file(t, "model.safetensors"));
    rmdir(t->dir);
}

/* Fill ids with n - 1 random tokens and EOS. Returns n. */
static inline int tiny_source(const struct tiny_net *t, uint64_t *seed, int n,
                              int32_t *ids)
{
    for (int i = 0; i < n - 1; i++)
        ids[i] = 4 + (int32_t)(tiny_next(seed) % (uint64_t)(t->o.vocab - 4));
    ids[n - 1] = 3;
    return n;
}

#endif
