/* bpe_codes.h - reads the files of merges of other projects.
 *
 * A line has two symbols, divided by a space; what else it may have depends on
 * the form (enum bpe_codes in moses_bpe.h). The first line has the highest
 * priority. If a pair occurs twice, the first line counts for fastBPE and
 * subword-nmt, the last one for FSMT, as in these programs. For use inside
 * text/ only. */
#ifndef TEXT_BPE_CODES_H
#define TEXT_BPE_CODES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "text/moses_bpe.h"

struct bpe_code_pair { struct str left, right; };       /* views of the file */

struct bpe_code_list {          /* initialize with zeros */
    struct bpe_code_pair *at;   /* [n] */
    size_t n, cap;
    bool apart;                 /* "</w>" is a symbol of its own:
                                   subword-nmt 0.1 */
};
void bpe_code_list_release(struct bpe_code_list *c);

/* Read the bytes of a file. Messages name the file and the line. The list must
 * be released in any case. */
enum status bpe_codes_read(struct bpe_code_list *c, enum bpe_codes form,
                           struct str text, const char *name, struct err *e);

#endif
