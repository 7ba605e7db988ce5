/* service.h - answer requests: an engine, workers, and key caches.
 *
 * service_submit prepares a request in the calling thread: it cuts the text
 * into sentences and searches the memory of the request. Then the workers
 * decode its sentences together with those of other requests. Any number of
 * threads may submit at the same time.
 *
 * workers.h says when the queue is full, how soon late requests are answered,
 * and what an error does.
 *
 * A worker reserves address space for the largest beam that is allowed, in
 * every lane, but the pages that no job has used take no memory. With the
 * limits of service_limits, batch 16 and a model of 52 MiB, a worker reserves
 * 440 MiB; 3 MiB are resident at first, and 20 to 25 MiB after translating.
 *
 * A stream (stream.h) is a service that delivers in order; a session
 * (session.h) is a service without threads. */
#ifndef ENGINE_SERVICE_H
#define ENGINE_SERVICE_H

#include "engine/workers.h"

struct service;

/* The limits of a service whose requests may have any beam: those of
 * engine_batch_limits, with room for at least one job with the largest beam. */
struct batch_limits service_limits(const struct engine *en,
                                   const struct options *o);

/* o are the options of requests that bring none. The following options are
 * always those of the service: threads, batch, key-cache and key-file-limit.
 * limits says what the options of a request may ask for at most. The
 * service holds en. */
enum status service_new(struct service **out, const struct engine *en,
                        const struct options *o,
                        const struct batch_limits *limits,
                        enum workers_mode mode, struct err *e);
/* Cancels all requests; see workers_free. NULL is fine. */
void service_free(struct service *s);

enum submit_mode {
    SUBMIT_WAIT,                /* while the queue is full; in the thread of a
                                   worker, as SUBMIT_NO_WAIT */
    SUBMIT_NO_WAIT              /* fail with ST_LIMIT if the queue is full */
};
/* Submit a request. It is answered exactly once if this succeeds; what is wrong
 * with its text or its options is an answer, too. If this fails, it is not
 * answered; see workers_begin for the reasons. */
enum status service_submit(struct service *s, struct request *q,
                           enum submit_mode mode, struct err *e);

/* Check that keys fit the options, and the memories in use the model, for
 * callers who want to know early. If the keys are NULL, those of the service
 * are meant, which are made then. */
enum status service_check_memory(struct service *s,
                                 const struct request_memory *m,
                                 const struct options *o, struct err *e);

struct workers *service_workers(struct service *s);

#endif
