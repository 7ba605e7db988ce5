/* service.c - translates the requests of four threads together: each thread
 * submits five requests with options of its own and waits for the answers.
 *
 *     ./service de-en.skmt 'Guten Morgen!' */
#include <pthread.h>
#include <stdio.h>

#include <skmt.h>

enum { THREADS = 4, EACH = 5 };

/* The options of each thread: its beam, and the number of translations. */
static const char *const wanted[THREADS][2] = {
    { "1", "1" }, { "2", "1" }, { "4", "2" }, { "8", "3" },
};

struct client {
    pthread_t thread;
    skmt_service *service;
    const char *text;
    skmt_options *options;
    skmt_request *requests[EACH];
    skmt_error err;             /* the first error of this thread */
};

static skmt_status ask(struct client *c, int i)
{
    skmt_status st = skmt_request_new(&c->requests[i], c->text, &c->err);

    if (st) return st;
    skmt_request_set_options(c->requests[i], c->options);
    skmt_request_set_priority(c->requests[i], i);
    skmt_request_set_deadline(c->requests[i], 60000);
    return skmt_service_submit(c->service, c->requests[i], 0, &c->err);
}

static void *run_client(void *arg)
{
    struct client *c = arg;
    skmt_status st = SKMT_OK;

    for (int i = 0; i < EACH && !st; i++) st = ask(c, i);
    for (int i = 0; i < EACH && !st; i++)
        st = skmt_request_wait(c->requests[i], &c->err);
    return NULL;
}

static skmt_status start_client(struct client *c, int i, skmt_error *err)
{
    skmt_status st = skmt_options_new(&c->options, err);

    if (!st) st = skmt_options_set(c->options, "beam", wanted[i][0], err);
    if (!st) st = skmt_options_set(c->options, "nbest", wanted[i][1], err);
    if (st) return st;
    return pthread_create(&c->thread, NULL, run_client, c) ? SKMT_ERR_NOMEM
                                                           : SKMT_OK;
}

/* Print the answers of a thread; all its requests have the same. */
static void print_client(const struct client *c, int i)
{
    skmt_result *r = skmt_request_result(c->requests[0]);

    for (int h = 0; h < skmt_result_hyps(r); h++)
        printf("beam %s: %s\n", wanted[i][0], skmt_result_text(r, h));
}

int main(int argc, char **argv)
{
    static struct client clients[THREADS];
    skmt_error err = { 0 };
    skmt_model *model = NULL;
    skmt_service *service = NULL;
    skmt_status st;
    int started = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: service MODEL TEXT\n");
        return 2;
    }
    st = skmt_model_open(&model, argv[1], &err);
    if (!st) st = skmt_service_new(&service, model, NULL, &err);
    for (int i = 0; i < THREADS && !st; i++) {
        clients[i].service = service;
        clients[i].text = argv[2];
        st = start_client(&clients[i], i, &err);
        started += !st;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(clients[i].thread, NULL);
        if (!st && clients[i].err.status) {
            err = clients[i].err;
            st = (skmt_status)err.status;
        }
        if (!st) print_client(&clients[i], i);
    }
    if (st)
        fprintf(stderr, "%s\n", err.status ? err.message
                                           : skmt_status_text(st));

    for (int i = 0; i < THREADS; i++) {
        for (int k = 0; k < EACH; k++)
            skmt_request_free(clients[i].requests[k]);
        skmt_options_free(clients[i].options);
    }
    skmt_service_free(service);
    skmt_model_close(model);
    return st ? 1 : 0;
}
