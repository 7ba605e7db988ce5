/* nmt.h - the system without steering: the model alone decides. */
#ifndef KNN_NMT_H
#define KNN_NMT_H

#include "knn/system.h"

extern const struct steering_system nmt_system;

#endif
