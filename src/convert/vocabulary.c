/* vocabulary.c - reads the list of pieces of a model of another project.
 *
 * All forms first become a list of entries (piece, id, line), in the order of
 * the file. Then the ids are checked, and the pieces are sorted for searching.
 *
 * YAML is read as events, and only scalars are accepted. Every key is the text
 * that the file has, whatever it means in YAML: no, ~, null and 1e3 are pieces.
 * Refused are anchors, aliases, tags other than !!str, nested values, a second
 * document, and ids that are not plain decimal numbers. JSON is read as JSON,
 * because YAML does not know its surrogate pairs. All pieces must be UTF-8
 * without NUL. */
#include "convert/vocabulary.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "text/utf8.h"

struct vocabulary {
    char *text;                 /* the pieces, each with a final NUL */
    size_t text_size;
    size_t *at;                 /* [n] where the piece of an id begins */
    int32_t *sorted;            /* [n_sorted] ids in the order of the pieces */
    int32_t n, n_sorted;        /* n_sorted < n if pieces were replaced */
};

struct vocabulary_entry {
    size_t at;                  /* where the piece begins in the text */
    int64_t id;
    size_t line;                /* 0: not known */
    bool replaces;              /* the piece may have occurred before */
};

struct vocabulary_reader {
    const char *name;           /* of the file */
    struct strbuf text;
    struct vocabulary_entry *entry;
    size_t n, cap;
};

/* ---- messages ---- */

/* Returns how many bytes of a piece a message shows: whole characters. */
static int shown_length(const char *piece)
{
    size_t n = strlen(piece);

    if (n <= 60) return (int)n;
    n = 60;
    while (n && ((unsigned char)piece[n] & 0xC0) == 0x80) n--;
    return (int)n;
}

/* "vocab.yml:12" or, without a line, "vocab.json". */
struct place_text { char s[300]; };

static struct place_text place_of(const struct vocabulary_reader *r,
                                  size_t line)
{
    struct place_text t;

    if (line) snprintf(t.s, sizeof t.s, "%.250s:%zu", r->name, line);
    else snprintf(t.s, sizeof t.s, "%.250s", r->name);
    return t;
}

static enum status vocabulary_nomem(struct err *e)
{
    return err_nomem(e, "the pieces of a vocabulary");
}

/* ---- entries ---- */

static enum status add_entry(struct vocabulary_reader *r, const char *piece,
                             size_t len, int64_t id, size_t line, bool replaces,
                             struct err *e)
{
    struct vocabulary_entry *new;

    if (r->n == VOCABULARY_MAX)
        return err_set(e, ST_LIMIT, "%s: more than %d pieces",
                       place_of(r, line).s, VOCABULARY_MAX);
    if (len && memchr(piece, 0, len))
        return err_set(e, ST_FORMAT, "%s: a piece contains NUL",
                       place_of(r, line).s);
    if (utf8_check(piece, len) != len)
        return err_set(e, ST_FORMAT, "%s: a piece is not valid UTF-8",
                       place_of(r, line).s);
    if (!mem_grow(&r->entry, &r->cap, r->n + 1, sizeof *r->entry))
        return vocabulary_nomem(e);
    new = &r->entry[r->n];
    *new = (struct vocabulary_entry){ r->text.len, id, line, replaces };
    if (!strbuf_add(&r->text, piece, len) || !strbuf_addc(&r->text, '\0')) {
        r->text.len = new->at;
        return vocabulary_nomem(e);
    }
    r->n++;
    return ST_OK;
}

static const char *entry_piece(const struct vocabulary_reader *r, size_t i)
{
    return r->text.data + r->entry[i].at;
}

/* Reads a decimal number without a sign or leading zeros. */
static bool parse_id(const char *s, size_t len, int64_t *id)
{
    *id = 0;
    if (!len || len > 18 || (len > 1 && *s == '0')) return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9') return false;
        *id = *id * 10 + (s[i] - '0');
    }
    return true;
}

/* ---- YAML ---- */

static enum status yaml_problem(const struct vocabulary_reader *r,
                                const yaml_parser_t *p, struct err *e)
{
    const char *what = p->problem ? p->problem : "cannot be read";

    if (p->error == YAML_MEMORY_ERROR) return vocabulary_nomem(e);
    if (p->error == YAML_READER_ERROR)
        return err_set(e, ST_FORMAT, "%s: byte %zu: not valid YAML: %s",
                       r->name, p->problem_offset, what);
    return err_set(e, ST_FORMAT, "%s: not valid YAML: %s",
                   place_of(r, p->problem_mark.line + 1).s, what);
}

static const char *event_name(yaml_event_type_t type)
{
    switch (type) {
    case YAML_ALIAS_EVENT: return "an alias";
    case YAML_SCALAR_EVENT: return "a single value";
    case YAML_SEQUENCE_START_EVENT: return "a list";
    case YAML_MAPPING_START_EVENT: return "a mapping";
    case YAML_DOCUMENT_START_EVENT: return "a second document";
    default: return "the end of the file";
    }
}

/* Reads the next event, which must be of the wanted type. The caller must
 * delete it unless this fails. */
static enum status next_event(const struct vocabulary_reader *r,
                              yaml_parser_t *p, yaml_event_t *event,
                              yaml_event_type_t wanted, const char *what,
                              struct err *e)
{
    size_t line;

    if (!yaml_parser_parse(p, event)) return yaml_problem(r, p, e);
    if (event->type == wanted) return ST_OK;
    line = event->start_mark.line + 1;
    err_set(e, ST_FORMAT, "%s: %s is expected, not %s", place_of(r, line).s,
            what, event_name(event->type));
    yaml_event_delete(event);
    return ST_FORMAT;
}

static enum status skip_event(const struct vocabulary_reader *r,
                              yaml_parser_t *p, yaml_event_type_t wanted,
                              const char *what, struct err *e)
{
    yaml_event_t event;
    enum status st = next_event(r, p, &event, wanted, what, e);

    if (st) return st;
    if (wanted == YAML_MAPPING_START_EVENT &&
        (event.data.mapping_start.anchor || event.data.mapping_start.tag))
        st = err_set(e, ST_FORMAT, "%s: a mapping with an anchor or a tag is "
                     "not accepted", place_of(r, event.start_mark.line + 1).s);
    yaml_event_delete(&event);
    return st;
}

static enum status check_scalar(const struct vocabulary_reader *r,
                                const yaml_event_t *event, struct err *e)
{
    const char *tag = (const char *)event->data.scalar.tag;
    size_t line = event->start_mark.line + 1;

    if (event->data.scalar.anchor)
        return err_set(e, ST_FORMAT, "%s: the anchor &%s is not accepted",
                       place_of(r, line).s,
                       (const char *)event->data.scalar.anchor);
    if (tag && strcmp(tag, "!") && strcmp(tag, YAML_STR_TAG))
        return err_set(e, ST_FORMAT, "%s: the tag %.60s is not accepted",
                       place_of(r, line).s, tag);
    return ST_OK;
}

/* Reads the value of a key and adds both. */
static enum status add_pair(struct vocabulary_reader *r, yaml_parser_t *p,
                            const yaml_event_t *key, struct err *e)
{
    const char *piece = (const char *)key->data.scalar.value;
    size_t len = key->data.scalar.length, line = key->start_mark.line + 1;
    yaml_event_t value;
    enum status st;
    int64_t id = 0;

    /* ": 5" is an empty key. No program writes that for the piece "". */
    if (!len && key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return err_set(e, ST_FORMAT, "%s: there is no piece before the colon",
                       place_of(r, line).s);
    st = next_event(r, p, &value, YAML_SCALAR_EVENT, "the id of a piece", e);
    if (st) return st;
    st = check_scalar(r, &value, e);
    if (!st && !parse_id((const char *)value.data.scalar.value,
                         value.data.scalar.length, &id))
        st = err_set(e, ST_FORMAT, "%s: the id of the piece \"%.*s\" is "
                     "\"%.60s\", not a number", place_of(r, line).s,
                     shown_length(piece), piece,
                     (const char *)value.data.scalar.value);
    if (!st) st = add_entry(r, piece, len, id, line, false, e);
    yaml_event_delete(&value);
    return st;
}

/* Reads the keys and values up to the end of the mapping. */
static enum status read_mapping(struct vocabulary_reader *r, yaml_parser_t *p,
                                struct err *e)
{
    enum status st = ST_OK;
    bool more = true;

    while (!st && more) {
        yaml_event_t key;

        if (!yaml_parser_parse(p, &key)) return yaml_problem(r, p, e);
        more = key.type != YAML_MAPPING_END_EVENT;
        if (more && key.type != YAML_SCALAR_EVENT)
            st = err_set(e, ST_FORMAT, "%s: a piece is expected, not %s",
                         place_of(r, key.start_mark.line + 1).s,
                         event_name(key.type));
        if (more && !st) st = check_scalar(r, &key, e);
        if (more && !st) st = add_pair(r, p, &key, e);
        yaml_event_delete(&key);
    }
    return st;
}

static enum status read_yaml_events(struct vocabulary_reader *r,
                                    yaml_parser_t *p, struct err *e)
{
    static const char what[] = "a mapping of pieces to ids",
                      end[] = "the end of the file";
    enum status st;

    st = skip_event(r, p, YAML_STREAM_START_EVENT, what, e);
    if (!st) st = skip_event(r, p, YAML_DOCUMENT_START_EVENT, what, e);
    if (!st) st = skip_event(r, p, YAML_MAPPING_START_EVENT, what, e);
    if (!st) st = read_mapping(r, p, e);
    if (!st) st = skip_event(r, p, YAML_DOCUMENT_END_EVENT, end, e);
    if (!st) st = skip_event(r, p, YAML_STREAM_END_EVENT, end, e);
    return st;
}

static enum status read_yaml(struct vocabulary_reader *r, const char *text,
                             size_t size, struct err *e)
{
    yaml_parser_t p;
    enum status st;

    if (!yaml_parser_initialize(&p)) return vocabulary_nomem(e);
    yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p, (const unsigned char *)text, size);
    st = read_yaml_events(r, &p, e);
    yaml_parser_delete(&p);
    return st;
}

/* ---- JSON ---- */

static enum status json_problem(const struct vocabulary_reader *r,
                                const json_error_t *je, struct err *e)
{
    if (json_error_code(je) == json_error_out_of_memory)
        return vocabulary_nomem(e);
    return err_set(e, ST_FORMAT, "%s: not valid JSON: %s",
                   place_of(r, je->line > 0 ? (size_t)je->line : 0).s,
                   je->text);
}

static enum status add_members(struct vocabulary_reader *r, json_t *object,
                               struct err *e)
{
    enum status st = ST_OK;
    const char *piece;
    json_t *id;

    if (!json_is_object(object))
        return err_set(e, ST_FORMAT, "%s: the file must be a JSON object of "
                       "pieces and ids", r->name);
    json_object_foreach(object, piece, id) {
        if (!json_is_integer(id))
            return err_set(e, ST_FORMAT, "%s: the id of the piece \"%.*s\" is "
                           "not a whole number", r->name, shown_length(piece),
                           piece);
        st = add_entry(r, piece, strlen(piece), json_integer_value(id), 0,
                       false, e);
        if (st) break;
    }
    return st;
}

static enum status add_elements(struct vocabulary_reader *r, json_t *array,
                                struct err *e)
{
    enum status st = ST_OK;
    json_t *piece;
    size_t i;

    if (!json_is_array(array))
        return err_set(e, ST_FORMAT, "%s: the file must be a JSON array of "
                       "pieces", r->name);
    json_array_foreach(array, i, piece) {
        if (!json_is_string(piece))
            return err_set(e, ST_FORMAT, "%s: element %zu of the array is not "
                           "a string", r->name, i);
        st = add_entry(r, json_string_value(piece), json_string_length(piece),
                       (int64_t)i, 0, false, e);
        if (st) break;
    }
    return st;
}

static enum status read_json(struct vocabulary_reader *r, const char *text,
                             size_t size, bool array, struct err *e)
{
    json_error_t je;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &je);
    enum status st;

    if (!root) return json_problem(r, &je, e);
    st = array ? add_elements(r, root, e) : add_members(r, root, e);
    json_decref(root);
    return st;
}

/* A YAML file may be JSON. A mapping in braces is read as JSON first, because
 * only JSON knows characters that are written as two \u escapes. If it is not
 * JSON, it may still be YAML. */
static enum status read_yaml_or_json(struct vocabulary_reader *r,
                                     const char *text, size_t size,
                                     struct err *e)
{
    size_t at = 0;
    json_t *root = NULL;
    enum status st;

    while (at < size && strchr(" \t\r\n", text[at]) && text[at]) at++;
    if (at < size && text[at] == '{')
        root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (!root) return read_yaml(r, text, size, e);
    st = add_members(r, root, e);
    json_decref(root);
    return st;
}

/* ---- lines ---- */

/* Sets *line to the line at *at, without its end, and *at to the next line.
 * Returns false at the end. */
static bool next_line(const char *text, size_t size, size_t *at,
                      struct str *line)
{
    const char *end;

    if (*at == size) return false;
    end = memchr(text + *at, '\n', size - *at);
    line->p = text + *at;
    line->n = end ? (size_t)(end - line->p) : size - *at;
    *at += line->n + (end ? 1 : 0);
    return true;
}

static bool ends_in_cr(struct str line)
{
    return line.n && line.p[line.n - 1] == '\r';
}

static enum status read_lines(struct vocabulary_reader *r, const char *text,
                              size_t size, struct err *e)
{
    size_t at = 0, n = 0;
    bool all_cr = true;
    enum status st = ST_OK;
    struct str line;

    while (next_line(text, size, &at, &line))
        if (!ends_in_cr(line)) all_cr = false;
    for (at = 0; !st && next_line(text, size, &at, &line); n++)
        st = add_entry(r, line.p, line.n - all_cr, (int64_t)n, n + 1, false, e);
    return st;
}

/* Cuts the last word off a line, at a blank. Returns false if there is no
 * blank. */
static bool cut_last_word(struct str *line, struct str *word)
{
    const char *blank = line->n ? memrchr(line->p, ' ', line->n) : NULL;

    if (!blank) return false;
    word->p = blank + 1;
    word->n = line->n - (size_t)(word->p - line->p);
    line->n = (size_t)(blank - line->p);
    return true;
}

/* Reads "piece count" or "piece count #fairseq:overwrite". */
static enum status add_counted(struct vocabulary_reader *r, struct str line,
                               size_t number, struct err *e)
{
    int64_t count;
    bool replaces = false, ok;
    struct str word = { NULL, 0 };

    while (line.n && strchr(" \t\r", line.p[line.n - 1]) &&
           line.p[line.n - 1])
        line.n--;
    ok = cut_last_word(&line, &word);
    if (ok && str_eq(word, str_of("#fairseq:overwrite"))) {
        replaces = true;
        ok = cut_last_word(&line, &word);
    }
    if (!ok || !parse_id(word.p, word.n, &count))
        return err_set(e, ST_FORMAT, "%s: the line must be a piece, a blank "
                       "and a count", place_of(r, number).s);
    return add_entry(r, line.p, line.n, (int64_t)r->n, number, replaces, e);
}

static enum status read_fairseq(struct vocabulary_reader *r, const char *text,
                                size_t size, struct err *e)
{
    static const char *const special[] = { "<s>", "<pad>", "</s>", "<unk>" };
    enum status st = ST_OK;
    struct str line;
    size_t at = 0, number = 0;

    for (int i = 0; i < 4 && !st; i++)
        st = add_entry(r, special[i], strlen(special[i]), i, 0, false, e);
    while (!st && next_line(text, size, &at, &line))
        st = add_counted(r, line, ++number, e);
    return st;
}

/* ---- the list ---- */

/* Checks that the ids are 0 .. n-1, once each, and sets entry_of[id] to the
 * index of an entry. */
static enum status check_ids(const struct vocabulary_reader *r,
                             int32_t *entry_of, struct err *e)
{
    size_t n = r->n;

    for (size_t i = 0; i < n; i++) entry_of[i] = -1;
    for (size_t i = 0; i < n; i++) {
        const struct vocabulary_entry *x = &r->entry[i];
        const char *piece = entry_piece(r, i), *other;

        if (x->id < 0)
            return err_set(e, ST_FORMAT, "%s: the id of the piece \"%.*s\" is "
                           "negative", place_of(r, x->line).s,
                           shown_length(piece), piece);
        if ((uint64_t)x->id >= n) continue;
        if (entry_of[x->id] >= 0) {
            other = entry_piece(r, (size_t)entry_of[x->id]);
            return err_set(e, ST_FORMAT, "%s: the pieces \"%.*s\" and \"%.*s\" "
                           "both have the id %" PRId64, place_of(r, x->line).s,
                           shown_length(other), other, shown_length(piece),
                           piece, x->id);
        }
        entry_of[x->id] = (int32_t)i;
    }
    for (size_t id = 0; id < n; id++)
        if (entry_of[id] < 0)
            return err_set(e, ST_FORMAT, "%s: no piece has the id %zu; the %zu "
                           "pieces must have the ids 0 to %zu, once each",
                           r->name, id, n, n - 1);
    return ST_OK;
}

/* Equal pieces are sorted by id. */
static int compare_pieces(const void *a, const void *b, void *data)
{
    const struct vocabulary *v = data;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    int order = strcmp(v->text + v->at[x], v->text + v->at[y]);

    return order ? order : (x > y) - (x < y);
}

/* Sorts the ids by their pieces. Of equal pieces, only the last is kept, which
 * must have been marked as replacing the others. */
static enum status sort_pieces(struct vocabulary *v,
                               const struct vocabulary_reader *r,
                               const int32_t *entry_of, struct err *e)
{
    int32_t n = 0;

    for (int32_t id = 0; id < v->n; id++) v->sorted[id] = id;
    qsort_r(v->sorted, (size_t)v->n, sizeof *v->sorted, compare_pieces, v);
    for (int32_t i = 0; i < v->n; i++) {
        int32_t id = v->sorted[i];
        const char *piece = vocabulary_piece(v, id);

        if (n && !strcmp(vocabulary_piece(v, v->sorted[n - 1]), piece)) {
            const struct vocabulary_entry *x = &r->entry[entry_of[id]];

            if (!x->replaces)
                return err_set(e, ST_FORMAT, "%s: the piece \"%.*s\" occurs "
                               "twice, with the ids %d and %d",
                               place_of(r, x->line).s, shown_length(piece),
                               piece, (int)v->sorted[n - 1], (int)id);
            n--;
        }
        v->sorted[n++] = id;
    }
    v->n_sorted = n;
    return ST_OK;
}

static enum status make_vocabulary(struct vocabulary *v,
                                   struct vocabulary_reader *r, struct err *e)
{
    int32_t *entry_of;
    enum status st;

    if (!r->n)
        return err_set(e, ST_FORMAT, "%s: the vocabulary is empty", r->name);
    entry_of = malloc(r->n * sizeof *entry_of);
    v->at = malloc(r->n * sizeof *v->at);
    v->sorted = malloc(r->n * sizeof *v->sorted);
    st = entry_of && v->at && v->sorted ? check_ids(r, entry_of, e)
                                        : vocabulary_nomem(e);
    if (!st) {
        v->n = (int32_t)r->n;
        for (int32_t id = 0; id < v->n; id++)
            v->at[id] = r->entry[entry_of[id]].at;
        v->text_size = r->text.len;
        v->text = strbuf_take(&r->text);
        if (!v->text) st = vocabulary_nomem(e);
    }
    if (!st) st = sort_pieces(v, r, entry_of, e);
    free(entry_of);
    return st;
}

static enum status read_form(struct vocabulary_reader *r,
                             enum vocabulary_form form, const char *text,
                             size_t size, struct err *e)
{
    switch (form) {
    case VOCABULARY_YAML: return read_yaml_or_json(r, text, size, e);
    case VOCABULARY_JSON_OBJECT: return read_json(r, text, size, false, e);
    case VOCABULARY_JSON_ARRAY: return read_json(r, text, size, true, e);
    case VOCABULARY_LINES: return read_lines(r, text, size, e);
    case VOCABULARY_FAIRSEQ: return read_fairseq(r, text, size, e);
    }
    return err_set(e, ST_ARGUMENT, "%s: unknown form of a vocabulary %d",
                   r->name, (int)form);
}

/* The reader is done with. */
static enum status finish_vocabulary(struct vocabulary **out,
                                     struct vocabulary_reader *r,
                                     enum status st, struct err *e)
{
    struct vocabulary *v = calloc(1, sizeof *v);

    *out = NULL;
    if (!st) st = v ? make_vocabulary(v, r, e) : vocabulary_nomem(e);
    strbuf_release(&r->text);
    free(r->entry);
    if (st) vocabulary_free(v);
    else *out = v;
    return st;
}

enum status vocabulary_read(struct vocabulary **out, enum vocabulary_form form,
                            const char *text, size_t size, const char *name,
                            struct err *e)
{
    struct vocabulary_reader r = { .name = name };

    strbuf_init(&r.text, 0);
    return finish_vocabulary(out, &r, read_form(&r, form, text, size, e), e);
}

static const char unused_piece[] = "<unused ";

bool vocabulary_piece_unused(const char *piece)
{
    return !strncmp(piece, unused_piece, sizeof unused_piece - 1);
}

enum status vocabulary_make(struct vocabulary **out, const char *const *piece,
                            size_t n, const char *name, struct err *e)
{
    struct vocabulary_reader r = { .name = name };
    enum status st = ST_OK;
    char unused[40];

    strbuf_init(&r.text, 0);
    for (size_t i = 0; i < n && !st; i++) {
        const char *p = piece[i] ? piece[i] : unused;

        snprintf(unused, sizeof unused, "%s%zu>", unused_piece, i);
        st = add_entry(&r, p, strlen(p), (int64_t)i, 0, false, e);
    }
    return finish_vocabulary(out, &r, st, e);
}

/* Makes an array larger; the pointer is at `array`. */
static bool resize(void *array, size_t n, size_t size)
{
    void *old, *new;

    memcpy(&old, array, sizeof old);
    new = reallocarray(old, n, size);
    if (new) memcpy(array, &new, sizeof new);
    return new != NULL;
}

enum status vocabulary_append(struct vocabulary *v, const char *piece,
                              struct err *e)
{
    size_t len = strlen(piece) + 1, n = (size_t)v->n + 1;
    int32_t at = v->n_sorted;

    assert(vocabulary_find(v, piece) < 0 && v->n <= VOCABULARY_MAX);
    if (!resize(&v->text, v->text_size + len, 1) ||
        !resize(&v->at, n, sizeof *v->at) ||
        !resize(&v->sorted, n, sizeof *v->sorted))
        return vocabulary_nomem(e);
    memcpy(v->text + v->text_size, piece, len);
    v->at[v->n] = v->text_size;
    v->text_size += len;
    for (; at && strcmp(vocabulary_piece(v, v->sorted[at - 1]), piece) > 0;
         at--)
        v->sorted[at] = v->sorted[at - 1];
    v->sorted[at] = v->n++;
    v->n_sorted++;
    return ST_OK;
}

void vocabulary_free(struct vocabulary *v)
{
    if (!v) return;
    free(v->text);
    free(v->at);
    free(v->sorted);
    free(v);
}

int vocabulary_size(const struct vocabulary *v)
{
    return v->n;
}

const char *vocabulary_piece(const struct vocabulary *v, int32_t id)
{
    assert(id >= 0 && id < v->n);
    return v->text + v->at[id];
}

int32_t vocabulary_find(const struct vocabulary *v, const char *piece)
{
    int32_t lo = 0, hi = v->n_sorted;

    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        int order = strcmp(vocabulary_piece(v, v->sorted[mid]), piece);

        if (!order) return v->sorted[mid];
        if (order < 0) lo = mid + 1;
        else hi = mid;
    }
    return -1;
}
