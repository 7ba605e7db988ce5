/* learn_edit.c - a small line editor.
 *
 * After each key, the whole line is redrawn on stderr: the part that fits
 * between the prompt and the right edge, then the cursor is placed.
 *
 * Invariant: cursor <= text.len, and 0 <= at <= end <= sizeof keys. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <utf8proc.h>

#include "learn_edit.h"

static const char *const standard_input = "-";

void editor_init(struct editor *e, int wake_fd)
{
    const char *term = getenv("TERM");

    memset(e, 0, sizeof *e);
    e->wake_fd = wake_fd;
    e->plain = !term || !*term || !strcmp(term, "dumb");
    lines_open(&e->in, &standard_input, 1, wake_fd);
}

void editor_release(struct editor *e)
{
    lines_close(&e->in);
    textbuf_release(&e->text);
}

/* ---- characters --------------------------------------------------------- */

/* Return the length in bytes of the character at byte `at`, and get its width.
 * A byte that is not valid UTF-8 is shown as '?'. */
static size_t learn_edit_char_at(const struct textbuf *t, size_t at,
                                 int *columns)
{
    utf8proc_int32_t c;
    utf8proc_ssize_t n = utf8proc_iterate((const unsigned char *)t->data + at,
                                          (utf8proc_ssize_t)(t->len - at), &c);

    *columns = n > 0 ? utf8proc_charwidth(c) : 1;
    return n > 0 ? (size_t)n : 1;
}

/* Return the position of the next character, after combining marks. */
static size_t step_right(const struct textbuf *t, size_t at)
{
    int columns;
    size_t n;

    if (at < t->len) at += learn_edit_char_at(t, at, &columns);
    while (at < t->len && (n = learn_edit_char_at(t, at, &columns)) &&
           !columns)
        at += n;
    return at;
}

static size_t step_left(const struct textbuf *t, size_t at)
{
    int columns = 0;

    while (at > 0 && !columns) {
        at--;
        while (at > 0 && ((unsigned char)t->data[at] & 0xC0) == 0x80) at--;
        learn_edit_char_at(t, at, &columns);
    }
    return at;
}

static bool learn_edit_is_blank(const struct textbuf *t, size_t at)
{
    return t->data[at] == ' ';
}

static size_t word_left(const struct textbuf *t, size_t at)
{
    while (at > 0 && learn_edit_is_blank(t, at - 1)) at--;
    while (at > 0 && !learn_edit_is_blank(t, at - 1)) at--;
    return at;
}

static size_t word_right(const struct textbuf *t, size_t at)
{
    while (at < t->len && learn_edit_is_blank(t, at)) at++;
    while (at < t->len && !learn_edit_is_blank(t, at)) at++;
    return at;
}

/* ---- drawing ------------------------------------------------------------ */

static int screen_columns(void)
{
    struct winsize w;

    return !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col >= 20
               ? w.ws_col : 80;
}

/* Return the width of bytes [begin, end) in columns. */
static int columns_of(const struct textbuf *t, size_t begin, size_t end)
{
    int sum = 0, columns;

    for (size_t at = begin; at < end; sum += columns)
        at += learn_edit_char_at(t, at, &columns);
    return sum;
}

/* Return the first byte to show such that the cursor is within max_columns. */
static size_t first_shown(const struct editor *e, int max_columns)
{
    const struct textbuf *t = &e->text;
    size_t first = 0;

    while (columns_of(t, first, e->cursor) >= max_columns)
        first = step_right(t, first);
    return first;
}

static void learn_edit_put_char(const char *text, size_t n)
{
    if (n == 1 && ((unsigned char)*text < ' ' || (unsigned char)*text > '~'))
        fputc('?', stderr);
    else
        fwrite(text, 1, n, stderr);
}

static void learn_edit_draw(const struct editor *e, const char *prompt)
{
    const struct textbuf *t = &e->text;
    int max_columns = screen_columns() - (int)strlen(prompt) - 1;
    int used = 0, columns;
    size_t first = first_shown(e, max_columns);

    assert(e->cursor <= t->len && first <= t->len);
    fprintf(stderr, "\r\033[K%s", prompt);
    for (size_t at = first, n; at < t->len; at += n) {
        n = learn_edit_char_at(t, at, &columns);
        if ((used += columns) > max_columns) break;
        learn_edit_put_char(t->data + at, n);
    }
    fprintf(stderr, "\r\033[%dC",
            (int)strlen(prompt) + columns_of(t, first, e->cursor));
    fflush(stderr);
}

/* Draw the whole line at the end, on as many rows as it needs. */
static void draw_end(const struct editor *e, const char *prompt)
{
    const struct textbuf *t = &e->text;
    int columns;

    fprintf(stderr, "\r\033[K%s", prompt);
    for (size_t at = 0, n; at < t->len; at += n)
        learn_edit_put_char(t->data + at,
                            n = learn_edit_char_at(t, at, &columns));
    fputc('\n', stderr);
}

/* ---- editing ------------------------------------------------------------ */

/* Delete bytes [begin, end) and place the cursor there. */
static void edit_delete(struct editor *e, size_t begin, size_t end)
{
    struct textbuf *t = &e->text;

    assert(begin <= end && end <= t->len);
    e->cursor = begin;
    if (begin == end) return;
    memmove(t->data + begin, t->data + end, t->len - end);
    t->len -= end - begin;
}

static void learn_edit_insert(struct editor *e, char c)
{
    struct textbuf *t = &e->text;

    textbuf_add(t, &c, 1);
    if (t->failed) return;
    memmove(t->data + e->cursor + 1, t->data + e->cursor,
            t->len - 1 - e->cursor);
    t->data[e->cursor++] = c;
}

/* ---- keys --------------------------------------------------------------- */

static enum edit_state learn_edit_fill(struct editor *e)
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

static enum edit_state next_key(struct editor *e, unsigned char *key)
{
    enum edit_state st = e->at < e->end ? EDIT_LINE : learn_edit_fill(e);

    if (st == EDIT_LINE) *key = e->keys[e->at++];
    return st;
}

/* Read the rest of an escape sequence, ESC [ number ; modifier letter or ESC O
 * letter. Modifier 5 is Ctrl. */
static enum edit_state read_sequence(struct editor *e, unsigned char *letter,
                                     int *number, int *modifier)
{
    int *at = number;
    enum edit_state st = next_key(e, letter);

    *number = *modifier = 0;
    if (st != EDIT_LINE || (*letter != '[' && *letter != 'O')) return st;
    while ((st = next_key(e, letter)) == EDIT_LINE) {
        if (*letter == ';') at = modifier;
        else if (*letter >= '0' && *letter <= '9')
            *at = (*at * 10 + (*letter - '0')) % 100;
        else break;
    }
    return st;
}

static enum edit_state handle_sequence(struct editor *e)
{
    const struct textbuf *t = &e->text;
    unsigned char letter;
    int number, modifier;
    enum edit_state st = read_sequence(e, &letter, &number, &modifier);

    if (st != EDIT_LINE) return st;
    if (letter == '~' && (number == 1 || number == 7)) letter = 'H';
    if (letter == '~' && (number == 4 || number == 8)) letter = 'F';
    switch (letter) {
    case 'H': e->cursor = 0; break;
    case 'F': e->cursor = t->len; break;
    case 'C': e->cursor = modifier == 5 ? word_right(t, e->cursor)
                                        : step_right(t, e->cursor); break;
    case 'D': e->cursor = modifier == 5 ? word_left(t, e->cursor)
                                        : step_left(t, e->cursor); break;
    case '~':
        if (number == 3) edit_delete(e, e->cursor, step_right(t, e->cursor));
        break;
    }
    return EDIT_LINE;
}

#define CTRL_KEY(letter) ((letter) & 0x1F)

/* Handle a key, except Enter and Ctrl-D. */
static enum edit_state handle_key(struct editor *e, unsigned char key)
{
    const struct textbuf *t = &e->text;

    switch (key) {
    case CTRL_KEY('['): return handle_sequence(e);
    case CTRL_KEY('A'): e->cursor = 0; break;
    case CTRL_KEY('E'): e->cursor = t->len; break;
    case CTRL_KEY('B'): e->cursor = step_left(t, e->cursor); break;
    case CTRL_KEY('F'): e->cursor = step_right(t, e->cursor); break;
    case CTRL_KEY('U'): edit_delete(e, 0, e->cursor); break;
    case CTRL_KEY('K'): edit_delete(e, e->cursor, t->len); break;
    case CTRL_KEY('W'):
        edit_delete(e, word_left(t, e->cursor), e->cursor);
        break;
    case CTRL_KEY('H'):
    case 0x7F: edit_delete(e, step_left(t, e->cursor), e->cursor); break;
    case '\t': learn_edit_insert(e, ' '); break;
    default:
        if (key >= ' ') learn_edit_insert(e, (char)key);
    }
    return EDIT_LINE;
}

/* ---- a whole line ------------------------------------------------------- */

static enum edit_state edit_until_enter(struct editor *e, const char *prompt)
{
    for (;;) {
        unsigned char key = 0;
        enum edit_state st;

        /* Pasted text is drawn only once. */
        if (e->at == e->end) learn_edit_draw(e, prompt);
        st = next_key(e, &key);
        if (st == EDIT_LINE && (key == '\n' || key == '\r')) return EDIT_LINE;
        if (st == EDIT_LINE && key == CTRL_KEY('D')) return EDIT_END;
        if (st == EDIT_LINE) st = handle_key(e, key);
        if (st != EDIT_LINE) return st;
    }
}

static enum edit_state edit_raw(struct editor *e, const char *prompt,
                                const char *begin)
{
    struct termios saved, raw;
    enum edit_state st;

    if (begin == e->text.data) {        /* edit the last line again */
        e->text.len = strlen(begin);
    } else {
        textbuf_reset(&e->text);
        textbuf_adds(&e->text, begin);
    }
    e->cursor = e->text.len;
    if (tcgetattr(STDIN_FILENO, &saved)) {
        e->message = strerror(errno);
        return EDIT_FAILED;
    }
    raw = saved;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    st = edit_until_enter(e, prompt);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
    draw_end(e, prompt);
    return st;
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
                                  : edit_raw(e, prompt, begin);

    textbuf_add(&e->text, "", 1);
    *text = e->text.data;
    if (!e->text.failed) return st;
    e->message = "out of memory";
    return EDIT_FAILED;
}
