/* editor.h - reads lines that a person edits at the terminal.
 *
 * The editing is done by libedit: arrows, Home, End, Backspace, Delete, the
 * usual control keys (such as A E B F K U W), and the earlier lines with Up and
 * Down. The line can have an initial text. Enter ends the line, Ctrl-D ends the
 * input. The terminal is in raw mode only during a call of editor_line(). Text
 * is UTF-8, whatever the locale of the user is. (libedit 3.1 does not show
 * combining marks when it draws a whole line; they are in the text
 * nevertheless.)
 *
 * On a terminal without cursor control (TERM=dumb), a line is read without
 * editing and without the initial text. */
#ifndef EDITOR_H
#define EDITOR_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/lines.h"
#include "common/textbuf.h"

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
    struct editline *el;        /* the others are used if not plain */
    struct history *history;
    FILE *out;                  /* the terminal */
    locale_t utf8;
    unsigned char keys[256];    /* input not yet processed: [at, end) */
    int at, end;
    const char *prompt;         /* of the line that is being read */
    const char *begin;          /* its initial text; NULL: inserted, or none */
    enum edit_state state;      /* EDIT_LINE until reading fails */
    struct textbuf text;        /* the last line */
    const char *message;
};

/* e must not be moved or copied afterwards. */
void editor_init(struct editor *e, int wake_fd);
void editor_release(struct editor *e);

/* Reads a line after a prompt, with `begin` as the initial text. *text ends
 * with a NUL and is valid until the next call; it may be passed as `begin` of
 * that call. */
enum edit_state editor_line(struct editor *e, const char *prompt,
                            const char *begin, char **text);

#endif
