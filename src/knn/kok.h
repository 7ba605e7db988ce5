/* kok.h - the steering system KoK (Wang et al., EMNLP Findings 2022). */
#ifndef KNN_KOK_H
#define KNN_KOK_H

#include "knn/system.h"

extern const struct steering_system kok_system;

#endif
