/* efficient.h - the steering system Efficient kNN-MT (Martins et al., 2022). */
#ifndef KNN_EFFICIENT_H
#define KNN_EFFICIENT_H

#include "knn/system.h"

extern const struct steering_system efficient_system;

#endif
