/* pair.h - a stored pair, the memory that it belongs to, and when its text was
 * last confirmed. These are plain records; what keeps them is tm/store.h, or
 * any other source of pairs (tm/source.h). */
#ifndef PAIR_PAIR_H
#define PAIR_PAIR_H

#include "pair/unit.h"

struct memory_info {            /* a named collection of pairs */
    int64_t id;
    char name[128];             /* printable UTF-8, unique in the file */
    char source_lang[36], target_lang[36];  /* "" when not known */
    int priority;               /* higher wins among equal matches; usually
                                   0 */
    bool keep_duplicates;
    int64_t created;            /* seconds since 1970 */
};

struct pair {                   /* one occurrence; it borrows its strings */
    int64_t id;                 /* the number that users see */
    int64_t memory, text;       /* the memory and the text it belongs to */
    struct unit unit;           /* line is 0 */
    struct str origin;          /* file it was imported from, "" when added */
    int64_t position;           /* in that file, from 1; 0 when added */
};

/* The occurrence of a text that was confirmed last. Adding, importing or
 * replacing a pair confirms its text, and so does adding it again. */
struct confirmation {
    double time;                /* the pair's `changed`, seconds since 1970 */
    int64_t pair, batch;        /* among equal times the later batch, and in
                                   it the lower pair id */
    int64_t occurrences;        /* visible pairs of the text; 0: none */
};

#endif
