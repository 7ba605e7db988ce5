/* learn_edit.h - a line of text, edited at a terminal.
 *
 * The line may have text in it when it begins. Arrows, Home, End, Backspace,
 * Delete and the usual control keys (A E B F K U W) work; a line that is longer
 * than the screen is wide slides under it. Enter ends the line, Ctrl-D the
 * input. The terminal is as it was whenever no call is under way.
 *
 * On a terminal that cannot do that (TERM=dumb) a line is read as it comes,
 * without the text. */
#ifndef LEARN_EDIT_H
#define LEARN_EDIT_H

#include <stdbool.h>

#include "lines.h"
#include "textbuf.h"

enum edit_state {
    EDIT_LINE,
    EDIT_END,                   /* Ctrl-D, or nobody there any more */
    EDIT_STOPPED,               /* wake_fd became readable */
    EDIT_FAILED                 /* message */
};

struct editor {
    bool plain;                 /* the terminal cannot do it */
    int wake_fd;
    struct lines in;            /* when plain */
    unsigned char keys[256];    /* typed, not looked at yet: [at, end) */
    int at, end;
    struct textbuf text;        /* being edited */
    size_t cursor;              /* byte of it */
    const char *message;
};

void editor_init(struct editor *e, int wake_fd);
void editor_release(struct editor *e);

/* A line behind a prompt, with `begin` in it. The text has a NUL and lives
 * until the next call. */
enum edit_state editor_line(struct editor *e, const char *prompt,
                            const char *begin, char **text);

#endif
