/* license.h - find out under which license a model of another project is. */
#ifndef CONVERT_LICENSE_H
#define CONVERT_LICENSE_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "convert/file_set.h"

/* Append the text of a file LICENSE to *notice, if there is one, and write the
 * short name of the license, such as "CC-BY-4.0", to name [size]: what a
 * README.md with a header for Hugging Face says, or what the text looks like.
 * Both stay empty if the files do not tell. Fails only if a file cannot be
 * read. */
enum status license_find(struct strbuf *notice, char *name, size_t size,
                         struct file_set *s, struct err *e);

#endif
