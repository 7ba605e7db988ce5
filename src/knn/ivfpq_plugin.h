/* ivfpq_plugin.h - load the plug-in library that calls Faiss
 * (faiss_plugin.h).
 *
 * The library is searched in the folder that the environment variable
 * SKMT_PLUGINS names. If it is not set, these folders are tried: that of
 * libskmt.so and that of the program, each also with ../lib/skmt, and the one
 * that 'make install' uses.
 *
 * A library that was loaded stays loaded. Threads may call these functions. */
#ifndef KNN_IVFPQ_PLUGIN_H
#define KNN_IVFPQ_PLUGIN_H

#include "base/err.h"
#include "knn/faiss_plugin.h"

/* If the plug-in is missing, the error says which package has to be
 * installed. */
enum status ivfpq_plugin_get(const struct faiss_plugin **out, struct err *e);

/* The status for a result of the plug-in. */
enum status ivfpq_plugin_result(int result, const struct faiss_message *why,
                                struct err *e);

#endif
