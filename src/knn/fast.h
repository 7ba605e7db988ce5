/* fast.h - the steering system Fast kNN-MT (Meng et al., ACL 2022). */
#ifndef KNN_FAST_H
#define KNN_FAST_H

#include "knn/system.h"

extern const struct steering_system fast_system;

#endif
