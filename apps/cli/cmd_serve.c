/* cmd_serve.c - skmt serve: the server of apps/server as a command. */
#include "cli.h"
#include "help.h"
#include "server/server.h"

static int show_serve_help(void)
{
    return help_command("serve");
}

int cmd_serve(int argc, char **argv)
{
    return serve_run(argc, argv, show_serve_help);
}
