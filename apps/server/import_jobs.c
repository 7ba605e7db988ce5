/* import_jobs.c - the last jobs of an account, by their ids. The list is a
 * ring: a new job takes the place of the oldest. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "server/account_internal.h"

enum { JOBS = 1000 };

struct job_list {
    pthread_mutex_t lock;
    int next, n;
    struct import_job job[JOBS];
};

struct job_list *job_list_new(void)
{
    struct job_list *l = calloc(1, sizeof *l);

    if (l) pthread_mutex_init(&l->lock, NULL);
    return l;
}

void job_list_free(struct job_list *l)
{
    if (!l) return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* A random UUID (version 4, RFC 9562). If the system has no random numbers, the
 * time makes it unique. */
static void make_uuid(char out[37])
{
    unsigned char b[16] = { 0 };
    struct timespec now;
    char *at = out;

    if (getrandom(b, sizeof b, 0) != sizeof b
        && !clock_gettime(CLOCK_REALTIME, &now))
        memcpy(b, &now, sizeof now < sizeof b ? sizeof now : sizeof b);
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10
                                        ? "-" : "", b[i]);
}

void account_add_job(struct account *a, struct import_job *job)
{
    struct job_list *l = a->home->jobs;

    make_uuid(job->id);
    pthread_mutex_lock(&l->lock);
    l->job[l->next] = *job;
    l->next = (l->next + 1) % JOBS;
    if (l->n < JOBS) l->n++;
    pthread_mutex_unlock(&l->lock);
}

/* NULL if the list has no such job. Call this with the lock. */
static struct import_job *job_find(struct job_list *l, const char *id)
{
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->job[i].id, id)) return &l->job[i];
    return NULL;
}

void account_update_job(struct account *a, const struct import_job *job)
{
    struct job_list *l = a->home->jobs;
    struct import_job *mine;

    pthread_mutex_lock(&l->lock);
    mine = job_find(l, job->id);
    if (mine) *mine = *job;
    pthread_mutex_unlock(&l->lock);
}

bool account_find_job(struct account *a, const char *id,
                      struct import_job *out)
{
    struct job_list *l = a->home->jobs;
    const struct import_job *mine;

    pthread_mutex_lock(&l->lock);
    mine = job_find(l, id);
    if (mine) *out = *mine;
    pthread_mutex_unlock(&l->lock);
    return mine != NULL;
}
