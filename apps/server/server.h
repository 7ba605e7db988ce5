/* server.h - what all calls share: settings, models, accounts, metrics.
 *
 * struct server is made once by serve_run, and its parts do not move while
 * calls run. Each part has its own header and its own lock. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "common/args.h"
#include "skmt.h"

struct settings;                /* settings.h */
struct models;                  /* models.h: pairs, models, services, keys */
struct accounts;                /* account.h, access.h */
struct metrics;                 /* metrics.h */
struct detector;                /* detector.h */
struct work;                    /* work.h: the queue of texts */

struct server {
    const struct settings *settings;
    struct models *models;
    struct accounts *accounts;
    struct metrics *metrics;
    struct detector *detector;
    struct work *work;
    double started;             /* seconds since 1970 */
    int state;                  /* enum server_state; atomic */
};

enum server_state { SERVER_LOADING, SERVER_READY, SERVER_STOPPING };
int server_state(const struct server *s);

/* The options of "skmt serve", and those of the library that are accepted
 * beside them (settings.def). */
extern const struct opt serve_options[];
int serve_option_describe(int i, skmt_option_info *out);

/* Runs "skmt serve" until SIGTERM or SIGINT. help: prints the help page for
 * option --help. Returns an exit status. */
int serve_run(int argc, char **argv, int (*help)(void));

#endif
