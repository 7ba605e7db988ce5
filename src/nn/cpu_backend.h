/* cpu_backend.h - the backend that computes on the CPU, with the kernels of a
 * struct net. */
#ifndef NN_CPU_BACKEND_H
#define NN_CPU_BACKEND_H

#include "nn/backend.h"
#include "nn/net.h"

/* The net is borrowed. */
enum status cpu_backend_new(struct backend **out, const struct net *net,
                            struct err *e);

#endif
