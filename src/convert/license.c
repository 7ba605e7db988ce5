/* license.c - finds the license of a model in the files LICENSE and README.md.
 *
 * Only well-known texts are recognized. A license that is not recognized keeps
 * its text and gets no name: a wrong name would be worse than none. */
#include "convert/license.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LICENSE_MOST 1000000    /* bytes; longer files are not read */

/* Sentences that only these texts have. The first that fits counts. */
static const struct { const char *says, *name; } licenses[] = {
    { "Attribution-NonCommercial-ShareAlike 4.0", "CC-BY-NC-SA-4.0" },
    { "Attribution-NonCommercial 4.0", "CC-BY-NC-4.0" },
    { "Attribution-ShareAlike 4.0", "CC-BY-SA-4.0" },
    { "Attribution 4.0 International", "CC-BY-4.0" },
    { "CC0 1.0 Universal", "CC0-1.0" },
    { "Apache License", "Apache-2.0" },
    { "Mozilla Public License Version 2.0", "MPL-2.0" },
    { "Mozilla Public License, v. 2.0", "MPL-2.0" },
    { "Permission is hereby granted, free of charge", "MIT" },
};

static const char *recognize_license(const char *text)
{
    for (size_t i = 0; i < sizeof licenses / sizeof *licenses; i++)
        if (strstr(text, licenses[i].says)) return licenses[i].name;
    return "";
}

/* Read a file if it is there and not too long; *text is NULL otherwise. */
static enum status read_small(char **text, size_t *n, struct file_set *s,
                              const char *name, struct err *e)
{
    uint64_t size;

    *text = NULL;
    *n = 0;
    if (!file_set_has(s, name, &size) || size > LICENSE_MOST) return ST_OK;
    return file_set_read(s, name, LICENSE_MOST, text, n, e);
}

/* The value of "license:" in the header of README.md, which is between two
 * lines "---", written as licenses are usually written: in capitals, except for
 * "Apache-2.0" and names that are not known. */
static void read_header(const char *text, char *name, size_t size)
{
    const char *end = strncmp(text, "---", 3) ? NULL
                                              : strstr(text + 3, "\n---");
    const char *at = end ? strstr(text, "\nlicense:") : NULL;
    size_t n;

    if (!at || at > end) return;
    at += strlen("\nlicense:");
    at += strspn(at, " \"'");
    n = strcspn(at, " \"'\r\n");
    if (!n || n >= size || at + n > end) return;
    snprintf(name, size, "%.*s", (int)n, at);
    if (!strncasecmp(name, "apache-", 7)) name[0] = 'A';
    else if (!strncasecmp(name, "cc", 2) || !strcasecmp(name, "mit"))
        for (char *p = name; *p; p++) *p = (char)toupper((unsigned char)*p);
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-.+", *p)) name[0] = 0;
}

enum status license_find(struct strbuf *notice, char *name, size_t size,
                         struct file_set *s, struct err *e)
{
    static const char *const files[] = { "LICENSE", "LICENSE.txt",
                                         "LICENSE.md" };
    char *text = NULL;
    size_t n;
    enum status st = read_small(&text, &n, s, "README.md", e);

    name[0] = 0;
    if (st) return st;
    if (text) read_header(text, name, size);
    free(text);
    for (size_t i = 0; i < sizeof files / sizeof *files && !notice->len; i++) {
        st = read_small(&text, &n, s, files[i], e);
        if (st) return st;
        if (text && !name[0])
            snprintf(name, size, "%s", recognize_license(text));
        if (text && !strbuf_add(notice, text, n)) st = err_nomem(e, files[i]);
        free(text);
        if (st) return st;
    }
    return ST_OK;
}
