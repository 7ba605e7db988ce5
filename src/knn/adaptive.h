/* adaptive.h - the steering system Adaptive kNN-MT (Zheng et al., ACL 2021). */
#ifndef KNN_ADAPTIVE_H
#define KNN_ADAPTIVE_H

#include "knn/system.h"

extern const struct steering_system adaptive_system;

#endif
