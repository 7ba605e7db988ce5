/* learn_edit.h - a line editor for the terminal.
 *
 * The line can have an initial text. Arrows, Home, End, Backspace, Delete and
 * the usual control keys (A E B F K U W) work. A line that is longer than the
 * screen scrolls sideways. Enter ends the line, Ctrl-D ends the input. The
 * terminal is in raw mode only during a call of editor_line().
 *
 * On a terminal without cursor control (TERM=dumb), a line is read without
 * editing and without the initial text. */
#ifndef LEARN_EDIT_H
#define LEARN_EDIT_H

#include <stdbool.h>

#include "lines.h"
#include "textbuf.h"

enum edit_state {
    EDIT_LINE,
    EDIT_END,                   /* Ctrl-D, or the terminal was closed */
    EDIT_STOPPED,               /* wake_fd became readable */
    EDIT_FAILED                 /* message has the error */
};

struct editor {
    bool plain;                 /* the terminal has no cursor control */
    int wake_fd;
    struct lines in;            /* used if plain */
    unsigned char keys[256];    /* input not yet processed: [at, end) */
    int at, end;
    struct textbuf text;        /* the line */
    size_t cursor;              /* its byte offset in text */
    const char *message;
};

void editor_init(struct editor *e, int wake_fd);
void editor_release(struct editor *e);

/* Reads a line after a prompt, with `begin` as the initial text. *text ends
 * with a NUL and is valid until the next call; it may be passed as `begin` of
 * that call. */
enum edit_state editor_line(struct editor *e, const char *prompt,
                            const char *begin, char **text);

#endif
