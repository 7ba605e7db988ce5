/* confirm.c - asks on the terminal before something is deleted. It deletes
 * nothing. */
#include "confirm.h"

#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

#include "common/program.h"

int confirm(const char *command, const char *question)
{
    char answer[16] = "";

    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return complain(EXIT_USAGE, "%s needs confirmation, but there is no "
                        "terminal to ask; use --yes", command);
    fprintf(stderr, "%s [y/N] ", question);
    fflush(stderr);
    if (!fgets(answer, sizeof answer, stdin)) fputc('\n', stderr);
    if (tolower((unsigned char)answer[0]) == 'y') return EXIT_DONE;
    return complain(EXIT_TROUBLE, "nothing was deleted");
}
