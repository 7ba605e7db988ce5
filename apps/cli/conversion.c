/* conversion.c - prints the report, the progress and the result of a
 * conversion. It does not run one. */
#include "conversion.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/interrupt.h"
#include "common/program.h"
#include "common/progress.h"

int conversion_show_progress(void *user, uint64_t done, uint64_t total)
{
    struct progress *p = user;

    p->total = total;
    progress_update(p, done, done / 1000000);
    return interrupt_pending();
}

void conversion_print_report(const char *report, bool quiet)
{
    static const char warning[] = "warning: ";

    for (const char *line = report; *line;) {
        size_t n = strcspn(line, "\n");

        if (!quiet)
            printf("%.*s\n", (int)n, line);
        else if (!strncmp(line, warning, sizeof warning - 1))
            complain(0, "%.*s", (int)n, line);
        line += n + (line[n] == '\n');
    }
    fflush(stdout);
}

void conversion_print_result(const char *what, const char *path)
{
    struct stat sb;

    if (stat(path, &sb)) return;
    printf("%-12s%s, %.0f %s\n", what, path,
           (double)sb.st_size / (sb.st_size < 1000000 ? 1e3 : 1e6),
           sb.st_size < 1000000 ? "kB" : "MB");
}
