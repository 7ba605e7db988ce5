/* opus_readme.h - what the README.md of an OPUS-MT package says about it.
 *
 * It is a list of facts: "* source language(s): deu", "* download: [..](URL)".
 * Everything is optional. */
#ifndef CONVERT_OPUS_README_H
#define CONVERT_OPUS_README_H

#include <stddef.h>

struct opus_readme {
    char source[16], target[16];        /* codes; "": not said, or several */
    char origin[256];                   /* the address of the package, or "" */
};

/* Fill in *r. Never fails. */
void opus_readme_read(struct opus_readme *r, const char *text, size_t size);

#endif
