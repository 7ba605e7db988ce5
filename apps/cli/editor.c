/* editor.c - reads lines with libedit.
 *
 * libedit gets its characters from editor_read, which waits for the terminal
 * and for wake_fd and decodes UTF-8. libedit's own conversions, and the widths
 * of characters, depend on the locale. Therefore its functions are called while
 * this thread uses a UTF-8 locale; the locale of the process is not changed.
 *
 * Invariant: 0 <= at <= end <= sizeof keys. */
#include <assert.h>
#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utf8proc.h>
#include <wchar.h>

#include "editor.h"

#define HISTORY_LINES 1000
#define REPLACEMENT 0xFFFD      /* shown for bytes that are not valid UTF-8 */

static const char *const standard_input = "-";

static struct editor *editor_of(EditLine *el)
{
    struct editor *e = NULL;

    el_get(el, EL_CLIENTDATA, &e);
    return e;
}

/* ---- characters that take several code points --------------------------- */

/* A combining mark has no width: it belongs to the character before it. */
static bool is_mark(wchar_t c)
{
    return wcwidth(c) == 0;
}

/* The number of code points of the character before the cursor. */
static int before_cursor(EditLine *el)
{
    const LineInfoW *line = el_wline(el);
    const wchar_t *at = line->cursor;

    while (at > line->buffer && is_mark(at[-1])) at--;
    if (at > line->buffer) at--;
    return (int)(line->cursor - at);
}

/* The number of code points of the character at the cursor. */
static int at_cursor(EditLine *el)
{
    const LineInfoW *line = el_wline(el);
    const wchar_t *at = line->cursor;

    if (at < line->lastchar) at++;
    while (at < line->lastchar && is_mark(*at)) at++;
    return (int)(at - line->cursor);
}

static unsigned char char_left(EditLine *el, int key)
{
    (void)key;
    el_cursor(el, -before_cursor(el));
    return CC_REFRESH;
}

static unsigned char char_right(EditLine *el, int key)
{
    (void)key;
    el_cursor(el, at_cursor(el));
    return CC_REFRESH;
}

static unsigned char char_backspace(EditLine *el, int key)
{
    (void)key;
    el_deletestr(el, before_cursor(el));
    return CC_REFRESH;
}

static unsigned char char_delete(EditLine *el, int key)
{
    int n = at_cursor(el);

    (void)key;
    el_cursor(el, n);
    el_deletestr(el, n);
    return CC_REFRESH;
}

/* ---- keys --------------------------------------------------------------- */

#define CTRL_KEY(letter) ((letter) & 0x1F)
#define END_KEY CTRL_KEY('D')
#define INSERT_KEY CTRL_KEY('_')        /* never typed for anything else */

/* Insert the initial text. */
static unsigned char insert_begin(EditLine *el, int key)
{
    struct editor *e = editor_of(el);
    const char *begin = e->begin;

    (void)key;
    e->begin = NULL;
    if (begin && el_insertstr(el, begin)) {
        e->message = "out of memory";
        e->state = EDIT_FAILED;
    }
    return CC_REFRESH;
}

static unsigned char insert_space(EditLine *el, int key)
{
    (void)key;
    return el_winsertstr(el, L" ") ? CC_ERROR : CC_REFRESH;
}

typedef unsigned char editor_fn(EditLine *el, int key);

static const struct { const wchar_t *name, *help; editor_fn *fn; }
own_functions[] = {
    { L"char-left", L"Move to the previous character", char_left },
    { L"char-right", L"Move to the next character", char_right },
    { L"char-backspace", L"Delete the previous character", char_backspace },
    { L"char-delete", L"Delete the character at the cursor", char_delete },
    { L"insert-space", L"Insert a space", insert_space },
    { L"insert-begin", L"Insert the initial text", insert_begin },
};

/* What differs from libedit's Emacs keys. Ctrl-D ends the input even if the
 * line has text. A line must not contain control characters: Tab inserts a
 * space, and Ctrl-V is off. */
static const struct { const char *key, *function; } bindings[] = {
    { "^B", "char-left" }, { "\\e[D", "char-left" }, { "\\eOD", "char-left" },
    { "^F", "char-right" }, { "\\e[C", "char-right" },
    { "\\eOC", "char-right" }, { "^H", "char-backspace" },
    { "^?", "char-backspace" }, { "\\e[3~", "char-delete" },
    { "\\e[1;5D", "ed-prev-word" }, { "\\e[1;5C", "em-next-word" },
    { "\\e[1~", "ed-move-to-beg" }, { "\\e[7~", "ed-move-to-beg" },
    { "\\e[H", "ed-move-to-beg" }, { "\\eOH", "ed-move-to-beg" },
    { "\\e[4~", "ed-move-to-end" }, { "\\e[8~", "ed-move-to-end" },
    { "\\e[F", "ed-move-to-end" }, { "\\eOF", "ed-move-to-end" },
    { "^U", "vi-kill-line-prev" }, { "^W", "ed-delete-prev-word" },
    { "^D", "ed-end-of-file" }, { "^V", "ed-unassigned" },
    { "^I", "insert-space" }, { "^_", "insert-begin" },
};

/* The names are given as wide strings, because el_set would copy them and never
 * free the copies. */
static void bind_keys(EditLine *el)
{
    el_set(el, EL_EDITOR, "emacs");
    for (size_t i = 0; i < sizeof own_functions / sizeof *own_functions; i++)
        el_wset(el, EL_ADDFN, own_functions[i].name, own_functions[i].help,
                own_functions[i].fn);
    for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
        el_set(el, EL_BIND, bindings[i].key, bindings[i].function, NULL);
}

/* ---- reading ------------------------------------------------------------ */

static enum edit_state editor_fill(struct editor *e)
{
    struct pollfd fds[2] = { { STDIN_FILENO, POLLIN, 0 },
                             { e->wake_fd, POLLIN, 0 } };
    ssize_t n;

    do {
        n = poll(fds, 2, -1);
        if (n > 0 && fds[1].revents) return EDIT_STOPPED;
        if (n > 0) n = read(STDIN_FILENO, e->keys, sizeof e->keys);
    } while (n < 0 && errno == EINTR);
    if (n < 0) e->message = strerror(errno);
    /* EIO: the terminal was closed. */
    if (n <= 0) return n < 0 && errno != EIO ? EDIT_FAILED : EDIT_END;
    e->at = 0;
    e->end = (int)n;
    return EDIT_LINE;
}

/* Get the next byte without consuming it. */
static enum edit_state peek_byte(struct editor *e, unsigned char *byte)
{
    enum edit_state st = e->at < e->end ? EDIT_LINE : editor_fill(e);

    assert(e->at >= 0 && e->end <= (int)sizeof e->keys);
    if (st == EDIT_LINE) *byte = e->keys[e->at];
    return st;
}

/* The length of a character by its first byte. */
static int utf8_length(unsigned char first)
{
    return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

static enum edit_state next_char(struct editor *e, wchar_t *c)
{
    unsigned char bytes[4], byte = 0;
    utf8proc_int32_t decoded;
    int n = 0;
    enum edit_state st = peek_byte(e, &byte);

    do {
        if (st != EDIT_LINE) return st;
        bytes[n++] = byte;
        e->at++;
        if (n == utf8_length(bytes[0])) break;
        st = peek_byte(e, &byte);
    } while (st != EDIT_LINE || (byte & 0xC0) == 0x80);
    *c = utf8proc_iterate(bytes, n, &decoded) == n ? decoded : REPLACEMENT;
    return EDIT_LINE;
}

/* libedit calls this for each character. It empties the line when it begins to
 * read; so the first character is a key that inserts the initial text. After
 * the end of the input, all characters are Ctrl-D, so that libedit leaves the
 * cursor below the line. */
static int editor_read(EditLine *el, wchar_t *c)
{
    struct editor *e = editor_of(el);

    *c = INSERT_KEY;
    if (e->begin) return 1;
    if (e->state == EDIT_LINE) e->state = next_char(e, c);
    if (e->state != EDIT_LINE) *c = END_KEY;
    return 1;
}

static char *editor_prompt(EditLine *el)
{
    return (char *)editor_of(el)->prompt;
}

/* ---- opening ------------------------------------------------------------ */

/* Whether the terminal can move the cursor up, to redraw a line that takes
 * several rows. */
static bool moves_up(EditLine *el)
{
    char *up = NULL;

    return !el_get(el, EL_GETTC, "up", &up) && up && *up;
}

/* libedit writes to a stream of its own, because stderr is not buffered. */
static bool open_libedit(struct editor *e)
{
    int fd = dup(STDERR_FILENO);
    HistEvent event;

    e->out = fd < 0 ? NULL : fdopen(fd, "w");
    e->el = e->out ? el_init("skmt", stdin, e->out, stderr) : NULL;
    e->history = e->el && moves_up(e->el) ? history_init() : NULL;
    if (!e->history) return false;
    history(e->history, &event, H_SETSIZE, HISTORY_LINES);
    history(e->history, &event, H_SETUNIQUE, 1);
    el_set(e->el, EL_CLIENTDATA, e);
    el_set(e->el, EL_PROMPT, editor_prompt);
    el_set(e->el, EL_HIST, history, e->history);
    el_set(e->el, EL_GETCFN, editor_read);
    bind_keys(e->el);
    return true;
}

static bool is_dumb(const char *term)
{
    return !term || !*term || !strcmp(term, "dumb");
}

void editor_init(struct editor *e, int wake_fd)
{
    memset(e, 0, sizeof *e);
    e->wake_fd = wake_fd;
    lines_open(&e->in, &standard_input, 1, wake_fd);
    e->plain = true;
    if (is_dumb(getenv("TERM"))) return;
    e->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (e->utf8) {
        locale_t old = uselocale(e->utf8);

        e->plain = !open_libedit(e);
        uselocale(old);
    }
}

void editor_release(struct editor *e)
{
    if (e->history) history_end(e->history);
    if (e->el) el_end(e->el);
    if (e->out) fclose(e->out);
    if (e->utf8) freelocale(e->utf8);
    lines_close(&e->in);
    textbuf_release(&e->text);
}

/* ---- a whole line ------------------------------------------------------- */

static enum edit_state edit_line(struct editor *e, const char *prompt,
                                 const char *begin)
{
    locale_t old = uselocale(e->utf8);
    const char *line;
    int n = 0;

    e->prompt = prompt;
    e->begin = *begin ? begin : NULL;
    e->state = EDIT_LINE;
    /* libedit would do this after the prompt; what is typed meanwhile would be
     * shown twice. */
    el_set(e->el, EL_PREP_TERM, 1);
    line = el_gets(e->el, &n);
    fflush(e->out);
    uselocale(old);
    textbuf_reset(&e->text);
    if (e->state != EDIT_LINE) return e->state;
    /* After Ctrl-D, the line has no newline. */
    if (!line || n < 1 || line[n - 1] != '\n') return EDIT_END;
    textbuf_add(&e->text, line, (size_t)n - 1);
    return EDIT_LINE;
}

/* Read a line with the terminal's own editing. */
static enum edit_state read_plain(struct editor *e, const char *prompt)
{
    struct input_line line;
    enum lines_state st;

    fputs(prompt, stderr);
    fflush(stderr);
    st = lines_next(&e->in, true, &line);
    if (st != LINES_LINE) fputc('\n', stderr);
    if (st == LINES_FAILED) e->message = e->in.message;
    if (st == LINES_STOPPED) return EDIT_STOPPED;
    if (st != LINES_LINE) return st == LINES_END ? EDIT_END : EDIT_FAILED;
    textbuf_reset(&e->text);
    textbuf_adds(&e->text, line.text);
    return EDIT_LINE;
}

enum edit_state editor_line(struct editor *e, const char *prompt,
                            const char *begin, char **text)
{
    enum edit_state st = e->plain ? read_plain(e, prompt)
                                  : edit_line(e, prompt, begin);
    HistEvent event;

    textbuf_add(&e->text, "", 1);
    *text = e->text.data;
    if (e->text.failed) {
        e->message = "out of memory";
        return EDIT_FAILED;
    }
    if (st == EDIT_LINE && e->history && **text)
        history(e->history, &event, H_ENTER, *text);
    return st;
}
