/* chunk.h - the steering system Chunk-based kNN-MT (Martins et al., EMNLP
 * 2022). */
#ifndef KNN_CHUNK_H
#define KNN_CHUNK_H

#include "knn/system.h"

extern const struct steering_system chunk_system;

#endif
