/* serve.c - starts the server, waits for signals, and stops it. */
#include "common/program.h"
#include "server/server.h"
#include "server/settings.h"

int server_state(const struct server *s)
{
    return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

int serve_run(int argc, char **argv, int (*help)(void))
{
    struct settings s;
    int status = settings_read(&s, argc, argv);

    if (!status && s.help) status = help();
    settings_release(&s);
    return status ? status : complain(EXIT_TROUBLE, "not built yet");
}
