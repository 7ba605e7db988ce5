/* serve.c - starts and stops the server. */
#include "common/program.h"
#include "server/server.h"
#include "server/settings.h"

int server_state(const struct server *s)
{
    return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

int serve_run(int argc, char **argv)
{
    struct settings s;
    int status = settings_read(&s, argc, argv);

    settings_release(&s);
    return status ? status : complain(EXIT_TROUBLE, "not built yet");
}
