/* pickle.c - a stack machine that builds values from a pickle and calls
 * nothing. It refuses every opcode that is not in the list below; among them
 * are those of protocols 0 and 1, and those that need a registry of Python.
 *
 * All values lie in an arena, which is a list of blocks that are freed
 * together. Nothing walks over a value, so values may be nested to any depth
 * and may contain themselves. What a pickle can use up is limited: the arena to
 * ARENA_MAX bytes, the memo to MEMO_MAX entries, the stack to one value per
 * byte of the pickle.
 *
 * An opcode may take only values that lie above the top mark of the stack. */
#include "convert/pickle.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/utf8.h"

#define ARENA_MAX ((size_t)256 << 20)
#define BLOCK_SIZE ((size_t)1 << 16)
#define MEMO_MAX 1000000
#define MARKS_MAX 1000

enum opcode {
    OP_MARK = '(', OP_EMPTY_TUPLE = ')', OP_STOP = '.', OP_POP = '0',
    OP_POP_MARK = '1', OP_BINBYTES = 'B', OP_SHORT_BINBYTES = 'C',
    OP_BINFLOAT = 'G', OP_BININT = 'J', OP_BININT1 = 'K', OP_BININT2 = 'M',
    OP_NONE = 'N', OP_BINPERSID = 'Q', OP_REDUCE = 'R', OP_BINSTRING = 'T',
    OP_SHORT_BINSTRING = 'U', OP_BINUNICODE = 'X', OP_EMPTY_LIST = ']',
    OP_APPEND = 'a', OP_BUILD = 'b', OP_GLOBAL = 'c', OP_APPENDS = 'e',
    OP_BINGET = 'h', OP_LONG_BINGET = 'j', OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r', OP_SETITEM = 's', OP_TUPLE = 't', OP_SETITEMS = 'u',
    OP_EMPTY_DICT = '}', OP_PROTO = 0x80, OP_NEWOBJ = 0x81, OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86, OP_TUPLE3 = 0x87, OP_NEWTRUE = 0x88, OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a, OP_SHORT_BINUNICODE = 0x8c, OP_BINUNICODE8 = 0x8d,
    OP_BINBYTES8 = 0x8e, OP_EMPTY_SET = 0x8f, OP_ADDITEMS = 0x90,
    OP_FROZENSET = 0x91, OP_STACK_GLOBAL = 0x93, OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95
};

struct pickle_value {
    enum pickle_type type;
    union {
        bool flag;
        int64_t integer;
        double real;
        struct { const char *text; size_t size; bool is_text; } string;
        struct {                /* of a dict: key, value, key, value, .. */
            struct pickle_value **at;
            size_t n, cap;
            const struct pickle_value *state;
        } items;
        struct {                /* also of a global, without the others */
            const char *global;
            const struct pickle_value *args, *state;
        } object;
        const struct pickle_value *id;
    };
};

struct pickle_block {
    struct pickle_block *next;
    size_t used, size;
    max_align_t data[];
};

struct pickle {
    struct pickle_block *blocks;        /* the first one is being filled */
    size_t arena_bytes;
    const struct pickle_value *root;
    const struct pickle_value **external;       /* [n_external] */
    size_t n_external, external_cap;
};

struct pickle_machine {
    struct pickle *p;
    const uint8_t *bytes;
    size_t size, at;
    size_t op_at;               /* of the opcode that is being run */
    struct pickle_value **stack;
    size_t n_stack, stack_cap;
    size_t *marks;              /* heights of the stack, ascending */
    size_t n_marks, marks_cap;
    struct pickle_value **memo; /* [memo_size]; NULL: no entry */
    size_t memo_size, memo_cap, n_memo;
    const char *name;
    struct err *e;
    enum status st;             /* of the first failure */
    bool done;
};

/* ---- failures and memory. Functions return false or NULL after them ---- */

__attribute__((format(printf, 3, 4)))
static bool pickle_fail(struct pickle_machine *m, enum status st,
                        const char *fmt, ...)
{
    char why[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    m->st = err_set(m->e, st, "%s: the pickle cannot be read at byte %zu: %s",
                    m->name, m->op_at, why);
    return false;
}

static bool pickle_no_memory(struct pickle_machine *m)
{
    m->st = err_nomem(m->e, m->name);
    return false;
}

static bool pickle_new_block(struct pickle_machine *m, size_t bytes)
{
    struct pickle *p = m->p;
    size_t size = bytes > BLOCK_SIZE ? bytes : BLOCK_SIZE;
    struct pickle_block *b;

    if (size > ARENA_MAX - p->arena_bytes)
        return pickle_fail(m, ST_LIMIT, "its values need more than %zu MB of "
                           "memory", ARENA_MAX >> 20);
    b = malloc(sizeof *b + size);
    if (!b) return pickle_no_memory(m);
    *b = (struct pickle_block){ .next = p->blocks, .size = size };
    p->blocks = b;
    p->arena_bytes += size;
    return true;
}

/* Memory that lives as long as the pickle. Fails above ARENA_MAX. */
static void *pickle_alloc(struct pickle_machine *m, size_t n, size_t size)
{
    size_t unit = sizeof(max_align_t), bytes;
    struct pickle_block *b = m->p->blocks;
    void *at;

    if (n > ARENA_MAX / size) bytes = ARENA_MAX + 1;
    else bytes = (n * size + unit - 1) / unit * unit;
    if (!b || bytes > b->size - b->used) {
        if (!pickle_new_block(m, bytes)) return NULL;
        b = m->p->blocks;
    }
    at = (char *)b->data + b->used;
    b->used += bytes;
    return at;
}

static struct pickle_value *pickle_new_value(struct pickle_machine *m,
                                             enum pickle_type type)
{
    struct pickle_value *v = pickle_alloc(m, 1, sizeof *v);

    if (!v) return NULL;
    memset(v, 0, sizeof *v);
    v->type = type;
    return v;
}

/* ---- the stack ---- */

static bool pickle_push(struct pickle_machine *m, struct pickle_value *v)
{
    if (!v) return false;
    if (!mem_grow(&m->stack, &m->stack_cap, m->n_stack + 1, sizeof *m->stack))
        return pickle_no_memory(m);
    m->stack[m->n_stack++] = v;
    return true;
}

/* The number of values above the top mark. */
static size_t pickle_above(const struct pickle_machine *m)
{
    size_t base = m->n_marks ? m->marks[m->n_marks - 1] : 0;

    assert(base <= m->n_stack);
    return m->n_stack - base;
}

/* Whether there are n values to take. */
static bool pickle_need(struct pickle_machine *m, size_t n)
{
    return pickle_above(m) >= n ||
           pickle_fail(m, ST_FORMAT, "the stack has too few values");
}

static struct pickle_value *pickle_pop(struct pickle_machine *m)
{
    return pickle_need(m, 1) ? m->stack[--m->n_stack] : NULL;
}

/* Take the values above the top mark, and the mark: *values points to them, and
 * is valid until the next value is pushed. */
static bool pickle_pop_mark(struct pickle_machine *m,
                            struct pickle_value ***values, size_t *n)
{
    *values = NULL;
    *n = 0;
    if (!m->n_marks) return pickle_fail(m, ST_FORMAT, "there is no mark");
    *n = pickle_above(m);
    m->n_stack = m->marks[--m->n_marks];
    *values = m->stack + m->n_stack;
    return true;
}

static bool pickle_mark(struct pickle_machine *m)
{
    if (m->n_marks >= MARKS_MAX)
        return pickle_fail(m, ST_LIMIT, "it is nested more than %d levels "
                           "deep", MARKS_MAX);
    if (!mem_grow(&m->marks, &m->marks_cap, m->n_marks + 1, sizeof *m->marks))
        return pickle_no_memory(m);
    m->marks[m->n_marks++] = m->n_stack;
    return true;
}

/* ---- bytes ---- */

static const uint8_t *pickle_take(struct pickle_machine *m, uint64_t n)
{
    const uint8_t *p = m->bytes + m->at;

    if (n > m->size - m->at) {
        pickle_fail(m, ST_FORMAT, "it is truncated");
        m->at = m->op_at = m->size;
        return NULL;
    }
    m->at += (size_t)n;
    return p;
}

/* A little-endian number of n bytes. */
static bool pickle_take_uint(struct pickle_machine *m, size_t n, uint64_t *out)
{
    const uint8_t *p = pickle_take(m, n);

    *out = 0;
    for (size_t i = 0; p && i < n; i++) *out |= (uint64_t)p[i] << 8 * i;
    return p != NULL;
}

/* ---- plain values ---- */

static bool pickle_push_type(struct pickle_machine *m, enum pickle_type type)
{
    return pickle_push(m, pickle_new_value(m, type));
}

static bool pickle_push_bool(struct pickle_machine *m, bool flag)
{
    struct pickle_value *v = pickle_new_value(m, PICKLE_BOOL);

    if (v) v->flag = flag;
    return pickle_push(m, v);
}

static bool pickle_push_int(struct pickle_machine *m, int64_t integer)
{
    struct pickle_value *v = pickle_new_value(m, PICKLE_INT);

    if (v) v->integer = integer;
    return pickle_push(m, v);
}

static bool pickle_push_float(struct pickle_machine *m)
{
    const uint8_t *p = pickle_take(m, 8);
    struct pickle_value *v;
    uint64_t bits = 0;

    if (!p) return false;
    for (int i = 0; i < 8; i++) bits = bits << 8 | p[i];    /* big-endian */
    v = pickle_new_value(m, PICKLE_FLOAT);
    if (v) memcpy(&v->real, &bits, sizeof v->real);
    return pickle_push(m, v);
}

/* An integer of n bytes in two's complement, little-endian. */
static bool pickle_push_long(struct pickle_machine *m)
{
    uint64_t n, bits = 0;
    const uint8_t *p;
    struct pickle_value *v;
    uint8_t sign;
    bool fits = true;

    if (!pickle_take_uint(m, 1, &n)) return false;
    p = pickle_take(m, n);
    if (!p) return false;
    sign = n && p[n - 1] & 0x80 ? 0xff : 0;
    for (size_t i = 0; i < 8; i++)
        bits |= (uint64_t)(i < n ? p[i] : sign) << 8 * i;
    for (size_t i = 8; i < n; i++) fits &= p[i] == sign;
    if (fits && bits >> 63 == sign >> 7)
        return pickle_push_int(m, (int64_t)bits);
    v = pickle_new_value(m, PICKLE_OBJECT);
    if (v) v->object.global = "builtins.int";
    return pickle_push(m, v);
}

/* A string whose length is a number of `width` bytes. */
static bool pickle_push_string(struct pickle_machine *m, size_t width)
{
    struct pickle_value *v;
    const uint8_t *p;
    uint64_t n;
    char *text;

    if (!pickle_take_uint(m, width, &n)) return false;
    p = pickle_take(m, n);
    if (!p) return false;
    v = pickle_new_value(m, PICKLE_STRING);
    text = v ? pickle_alloc(m, (size_t)n + 1, 1) : NULL;
    if (!text) return false;
    memcpy(text, p, (size_t)n);
    text[n] = '\0';
    v->string.text = text;
    v->string.size = (size_t)n;
    v->string.is_text = !memchr(text, '\0', (size_t)n) &&
                        utf8_check(text, (size_t)n) == (size_t)n;
    return pickle_push(m, v);
}

/* ---- tuples, lists, sets, dicts ---- */

/* Append n values to the items of v. The array at least doubles when it
 * grows; the old one stays in the arena. */
static bool pickle_add_items(struct pickle_machine *m, struct pickle_value *v,
                             struct pickle_value **values, size_t n)
{
    size_t need = v->items.n + n, cap = v->items.cap;
    struct pickle_value **at;

    if (need > cap) {
        cap = cap && cap * 2 > need ? cap * 2 : need;
        at = pickle_alloc(m, cap, sizeof(struct pickle_value *));
        if (!at) return false;
        if (v->items.n) memcpy(at, v->items.at, v->items.n * sizeof *at);
        v->items.at = at;
        v->items.cap = cap;
    }
    if (n) memcpy(v->items.at + v->items.n, values, n * sizeof *values);
    v->items.n = need;
    return true;
}

/* The top n values as a tuple, or a set. The stack is changed. */
static bool pickle_push_items(struct pickle_machine *m, enum pickle_type type,
                              struct pickle_value **values, size_t n)
{
    struct pickle_value *v = pickle_new_value(m, type);

    return v && pickle_add_items(m, v, values, n) && pickle_push(m, v);
}

static bool pickle_push_tuple(struct pickle_machine *m, size_t n)
{
    if (!pickle_need(m, n)) return false;
    m->n_stack -= n;
    return pickle_push_items(m, PICKLE_TUPLE, m->stack + m->n_stack, n);
}

static bool pickle_push_marked(struct pickle_machine *m, enum pickle_type type)
{
    struct pickle_value **values;
    size_t n;

    return pickle_pop_mark(m, &values, &n) &&
           pickle_push_items(m, type, values, n);
}

/* Add n values to the value on the top of the stack, which has the type, or is
 * an object. The elements of an object (of a subclass of list or dict) are not
 * kept, because no caller asks for them. */
static bool pickle_extend(struct pickle_machine *m, enum pickle_type type,
                          struct pickle_value **values, size_t n)
{
    struct pickle_value *v;

    if (!pickle_need(m, 1)) return false;
    v = m->stack[m->n_stack - 1];
    if (v->type == PICKLE_OBJECT) return true;
    if (v->type != type)
        return pickle_fail(m, ST_FORMAT, "elements of %s are added to %s",
                           pickle_type_name(type), pickle_type_name(v->type));
    return pickle_add_items(m, v, values, n);
}

/* Add the top n values to the value below them. */
static bool pickle_extend_n(struct pickle_machine *m, enum pickle_type type,
                            size_t n)
{
    if (!pickle_need(m, n + 1)) return false;
    m->n_stack -= n;
    return pickle_extend(m, type, m->stack + m->n_stack, n);
}

/* Add the values above the top mark to the value below it. */
static bool pickle_extend_marked(struct pickle_machine *m,
                                 enum pickle_type type)
{
    struct pickle_value **values;
    size_t n;

    if (!pickle_pop_mark(m, &values, &n)) return false;
    if (type == PICKLE_DICT && n % 2)
        return pickle_fail(m, ST_FORMAT, "a key of a dict has no value");
    return pickle_extend(m, type, values, n);
}

/* ---- globals and objects ---- */

/* A name of Python, which becomes part of messages. */
static bool pickle_is_name(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ' || s[i] == 0x7f) return false;
    return n && utf8_check(s, n) == n;
}

static bool pickle_push_name(struct pickle_machine *m, const char *module,
                             size_t n_module, const char *name, size_t n_name)
{
    struct pickle_value *v;
    char *global;

    if (!pickle_is_name(module, n_module) || !pickle_is_name(name, n_name))
        return pickle_fail(m, ST_FORMAT, "the name of a class is not valid");
    v = pickle_new_value(m, PICKLE_GLOBAL);
    global = v ? pickle_alloc(m, n_module + n_name + 2, 1) : NULL;
    if (!global) return false;
    memcpy(global, module, n_module);
    global[n_module] = '.';
    memcpy(global + n_module + 1, name, n_name);
    global[n_module + 1 + n_name] = '\0';
    v->object.global = global;
    return pickle_push(m, v);
}

/* The bytes up to the next line feed. */
static const uint8_t *pickle_take_line(struct pickle_machine *m, size_t *n)
{
    const uint8_t *p = m->bytes + m->at;
    const uint8_t *end = memchr(p, '\n', m->size - m->at);

    *n = end ? (size_t)(end - p) : 0;
    return pickle_take(m, end ? *n + 1 : UINT64_MAX);
}

static bool pickle_push_global(struct pickle_machine *m)
{
    size_t n_module, n_name = 0;
    const uint8_t *module = pickle_take_line(m, &n_module);
    const uint8_t *name = module ? pickle_take_line(m, &n_name) : NULL;

    return name && pickle_push_name(m, (const char *)module, n_module,
                                    (const char *)name, n_name);
}

static bool pickle_push_stack_global(struct pickle_machine *m)
{
    const struct pickle_value *name = pickle_pop(m);
    const struct pickle_value *module = name ? pickle_pop(m) : NULL;

    if (!module) return false;
    if (!pickle_string(name) || !pickle_string(module))
        return pickle_fail(m, ST_FORMAT, "the name of a class is %s",
                           pickle_type_name(name->type));
    return pickle_push_name(m, module->string.text, module->string.size,
                            name->string.text, name->string.size);
}

/* Python 2 gives OrderedDict a list of pairs, Python 3 adds them later. */
static bool pickle_push_ordered(struct pickle_machine *m,
                                const struct pickle_value *args)
{
    const struct pickle_value *list = pickle_at(args, 0);
    struct pickle_value *v = pickle_new_value(m, PICKLE_DICT);

    if (!v) return false;
    if (pickle_type(list) != PICKLE_NONE && pickle_type(list) != PICKLE_LIST)
        return pickle_fail(m, ST_FORMAT, "an OrderedDict is made from %s",
                           pickle_type_name(list->type));
    for (size_t i = 0; i < pickle_count(list); i++) {
        const struct pickle_value *pair = pickle_at(list, i);

        if ((pair->type != PICKLE_TUPLE && pair->type != PICKLE_LIST) ||
            pair->items.n != 2)
            return pickle_fail(m, ST_FORMAT, "an OrderedDict is made from "
                               "something other than pairs");
        if (!pickle_add_items(m, v, pair->items.at, 2)) return false;
    }
    return pickle_push(m, v);
}

/* Nothing is called: the result remembers what would have been. The result of
 * calling an object has no name. */
static bool pickle_call(struct pickle_machine *m)
{
    struct pickle_value *args = pickle_pop(m);
    struct pickle_value *callee = args ? pickle_pop(m) : NULL;
    struct pickle_value *v;

    if (!callee) return false;
    if (args->type != PICKLE_TUPLE)
        return pickle_fail(m, ST_FORMAT, "the arguments of a call are %s",
                           pickle_type_name(args->type));
    if (callee->type != PICKLE_GLOBAL && callee->type != PICKLE_OBJECT)
        return pickle_fail(m, ST_FORMAT, "it calls %s",
                           pickle_type_name(callee->type));
    if (callee->type == PICKLE_GLOBAL &&
        !strcmp(callee->object.global, "collections.OrderedDict"))
        return pickle_push_ordered(m, args);
    v = pickle_new_value(m, PICKLE_OBJECT);
    if (!v) return false;
    v->object.args = args;
    if (callee->type == PICKLE_GLOBAL)
        v->object.global = callee->object.global;
    return pickle_push(m, v);
}

static bool pickle_set_state(struct pickle_machine *m)
{
    struct pickle_value *state, *v;

    if (!pickle_need(m, 2)) return false;
    state = pickle_pop(m);
    v = m->stack[m->n_stack - 1];
    if (v->type == PICKLE_OBJECT) v->object.state = state;
    else if (v->type == PICKLE_DICT) v->items.state = state;
    else return pickle_fail(m, ST_FORMAT, "%s is given fields",
                            pickle_type_name(v->type));
    return true;
}

static bool pickle_push_external(struct pickle_machine *m)
{
    struct pickle *p = m->p;
    struct pickle_value *id = pickle_pop(m);
    struct pickle_value *v = id ? pickle_new_value(m, PICKLE_EXTERNAL) : NULL;

    if (!v) return false;
    v->id = id;
    if (!mem_grow(&p->external, &p->external_cap, p->n_external + 1,
                  sizeof *p->external))
        return pickle_no_memory(m);
    p->external[p->n_external++] = v;
    return pickle_push(m, v);
}

/* ---- the memo ---- */

static bool pickle_put_at(struct pickle_machine *m, uint64_t i)
{
    if (!pickle_need(m, 1)) return false;
    if (i >= MEMO_MAX)
        return pickle_fail(m, ST_LIMIT, "it refers to more than %d values",
                           MEMO_MAX);
    if (!mem_grow(&m->memo, &m->memo_cap, i + 1, sizeof *m->memo))
        return pickle_no_memory(m);
    while (m->memo_size <= i) m->memo[m->memo_size++] = NULL;
    if (!m->memo[i]) m->n_memo++;
    m->memo[i] = m->stack[m->n_stack - 1];
    return true;
}

/* Store the top value under an index of `width` bytes. */
static bool pickle_put(struct pickle_machine *m, size_t width)
{
    uint64_t i;

    return pickle_take_uint(m, width, &i) && pickle_put_at(m, i);
}

static bool pickle_fetch(struct pickle_machine *m, size_t width)
{
    uint64_t i;

    if (!pickle_take_uint(m, width, &i)) return false;
    if (i >= m->memo_size || !m->memo[i])
        return pickle_fail(m, ST_FORMAT, "it refers to value %llu, which does "
                           "not exist", (unsigned long long)i);
    return pickle_push(m, m->memo[i]);
}

/* ---- the machine ---- */

static bool pickle_protocol(struct pickle_machine *m)
{
    uint64_t version;

    if (!pickle_take_uint(m, 1, &version)) return false;
    return (version >= 2 && version <= 5) ||
           pickle_fail(m, ST_FORMAT, "its protocol is %u; only 2 to 5 are "
                       "known", (unsigned)version);
}

static bool pickle_frame(struct pickle_machine *m)
{
    uint64_t n;

    return pickle_take_uint(m, 8, &n) &&
           (n <= m->size - m->at || pickle_take(m, n));
}

static bool pickle_drop_marked(struct pickle_machine *m)
{
    struct pickle_value **values;
    size_t n;

    return pickle_pop_mark(m, &values, &n);
}

static bool pickle_stop(struct pickle_machine *m)
{
    struct pickle_value *v = pickle_pop(m);

    if (!v) return false;
    if (m->n_stack || m->n_marks)
        return pickle_fail(m, ST_FORMAT, "it ends before its value is "
                           "complete");
    m->p->root = v;
    m->done = true;
    return true;
}

static bool pickle_signed_int(struct pickle_machine *m)
{
    uint64_t u;

    return pickle_take_uint(m, 4, &u) &&
           pickle_push_int(m, (int64_t)u - (u >> 31 ? INT64_C(1) << 32 : 0));
}

static bool pickle_unsigned_int(struct pickle_machine *m, size_t width)
{
    uint64_t u;

    return pickle_take_uint(m, width, &u) && pickle_push_int(m, (int64_t)u);
}

static bool pickle_run(struct pickle_machine *m, uint8_t op)
{
    switch ((enum opcode)op) {
    case OP_PROTO: return pickle_protocol(m);
    case OP_FRAME: return pickle_frame(m);
    case OP_STOP: return pickle_stop(m);
    case OP_MARK: return pickle_mark(m);
    case OP_POP: return pickle_pop(m) != NULL;
    case OP_POP_MARK: return pickle_drop_marked(m);

    case OP_NONE: return pickle_push_type(m, PICKLE_NONE);
    case OP_NEWTRUE: return pickle_push_bool(m, true);
    case OP_NEWFALSE: return pickle_push_bool(m, false);
    case OP_BININT: return pickle_signed_int(m);
    case OP_BININT1: return pickle_unsigned_int(m, 1);
    case OP_BININT2: return pickle_unsigned_int(m, 2);
    case OP_LONG1: return pickle_push_long(m);
    case OP_BINFLOAT: return pickle_push_float(m);
    /* A negative length of BINSTRING is a large one here, and is refused
     * because the pickle is shorter. */
    case OP_SHORT_BINSTRING: case OP_SHORT_BINUNICODE: case OP_SHORT_BINBYTES:
        return pickle_push_string(m, 1);
    case OP_BINSTRING: case OP_BINUNICODE: case OP_BINBYTES:
        return pickle_push_string(m, 4);
    case OP_BINUNICODE8: case OP_BINBYTES8: return pickle_push_string(m, 8);

    case OP_EMPTY_TUPLE: return pickle_push_tuple(m, 0);
    case OP_TUPLE1: return pickle_push_tuple(m, 1);
    case OP_TUPLE2: return pickle_push_tuple(m, 2);
    case OP_TUPLE3: return pickle_push_tuple(m, 3);
    case OP_TUPLE: return pickle_push_marked(m, PICKLE_TUPLE);
    case OP_FROZENSET: return pickle_push_marked(m, PICKLE_SET);
    case OP_EMPTY_LIST: return pickle_push_type(m, PICKLE_LIST);
    case OP_EMPTY_SET: return pickle_push_type(m, PICKLE_SET);
    case OP_EMPTY_DICT: return pickle_push_type(m, PICKLE_DICT);
    case OP_APPEND: return pickle_extend_n(m, PICKLE_LIST, 1);
    case OP_APPENDS: return pickle_extend_marked(m, PICKLE_LIST);
    case OP_ADDITEMS: return pickle_extend_marked(m, PICKLE_SET);
    case OP_SETITEM: return pickle_extend_n(m, PICKLE_DICT, 2);
    case OP_SETITEMS: return pickle_extend_marked(m, PICKLE_DICT);

    case OP_BINPUT: return pickle_put(m, 1);
    case OP_LONG_BINPUT: return pickle_put(m, 4);
    case OP_MEMOIZE: return pickle_put_at(m, m->n_memo);
    case OP_BINGET: return pickle_fetch(m, 1);
    case OP_LONG_BINGET: return pickle_fetch(m, 4);

    case OP_GLOBAL: return pickle_push_global(m);
    case OP_STACK_GLOBAL: return pickle_push_stack_global(m);
    case OP_REDUCE: case OP_NEWOBJ: return pickle_call(m);
    case OP_BUILD: return pickle_set_state(m);
    case OP_BINPERSID: return pickle_push_external(m);
    }
    return pickle_fail(m, ST_FORMAT, "the opcode 0x%02X is not supported", op);
}

static void pickle_run_all(struct pickle_machine *m)
{
    const uint8_t *op;

    while (!m->done) {
        m->op_at = m->at;
        op = pickle_take(m, 1);
        if (!op || !pickle_run(m, *op)) break;
    }
    assert(m->done == !m->st);
}

enum status pickle_read(struct pickle **out, const void *bytes, size_t size,
                        size_t *at, const char *name, struct err *e)
{
    struct pickle_machine m = { .bytes = bytes, .size = size, .at = *at,
                                .op_at = *at,
                                .name = name, .e = e };

    assert(*at <= size);
    *out = NULL;
    m.p = calloc(1, sizeof *m.p);
    if (!m.p) return err_nomem(e, name);
    /* From now on, also an empty stack has an address. */
    if (mem_grow(&m.stack, &m.stack_cap, 1, sizeof *m.stack))
        pickle_run_all(&m);
    else
        pickle_no_memory(&m);
    *at = m.st ? m.op_at : m.at;
    free(m.stack);
    free(m.marks);
    free(m.memo);
    if (m.st) pickle_free(m.p);
    else *out = m.p;
    return m.st;
}

void pickle_free(struct pickle *p)
{
    if (!p) return;
    while (p->blocks) {
        struct pickle_block *b = p->blocks;

        p->blocks = b->next;
        free(b);
    }
    free(p->external);
    free(p);
}

/* ---- values ---- */

const struct pickle_value *pickle_root(const struct pickle *p)
{
    return p->root;
}

const struct pickle_value *pickle_external(const struct pickle *p, size_t i)
{
    return i < p->n_external ? p->external[i] : NULL;
}

enum pickle_type pickle_type(const struct pickle_value *v)
{
    return v ? v->type : PICKLE_NONE;
}

const char *pickle_type_name(enum pickle_type t)
{
    static const char *const names[] = {
        [PICKLE_NONE] = "None", [PICKLE_BOOL] = "a boolean",
        [PICKLE_INT] = "an integer", [PICKLE_FLOAT] = "a number",
        [PICKLE_STRING] = "a string", [PICKLE_TUPLE] = "a tuple",
        [PICKLE_LIST] = "a list", [PICKLE_SET] = "a set",
        [PICKLE_DICT] = "a dict", [PICKLE_GLOBAL] = "a class or function",
        [PICKLE_OBJECT] = "an object", [PICKLE_EXTERNAL] = "external data",
    };

    return names[t];
}

static bool pickle_is(const struct pickle_value *v, enum pickle_type type)
{
    return v && v->type == type;
}

bool pickle_bool(const struct pickle_value *v, bool *out)
{
    if (!pickle_is(v, PICKLE_BOOL)) return false;
    *out = v->flag;
    return true;
}

bool pickle_int(const struct pickle_value *v, int64_t *out)
{
    if (!pickle_is(v, PICKLE_INT)) return false;
    *out = v->integer;
    return true;
}

bool pickle_number(const struct pickle_value *v, double *out)
{
    if (pickle_is(v, PICKLE_INT)) *out = (double)v->integer;
    else if (pickle_is(v, PICKLE_FLOAT)) *out = v->real;
    else return false;
    return true;
}

const char *pickle_string(const struct pickle_value *v)
{
    return pickle_is(v, PICKLE_STRING) && v->string.is_text ? v->string.text
                                                            : NULL;
}

static bool pickle_has_items(const struct pickle_value *v)
{
    return pickle_is(v, PICKLE_TUPLE) || pickle_is(v, PICKLE_LIST) ||
           pickle_is(v, PICKLE_SET) || pickle_is(v, PICKLE_DICT);
}

size_t pickle_count(const struct pickle_value *v)
{
    if (!pickle_has_items(v)) return 0;
    return v->type == PICKLE_DICT ? v->items.n / 2 : v->items.n;
}

const struct pickle_value *pickle_at(const struct pickle_value *v, size_t i)
{
    if (i >= pickle_count(v)) return NULL;
    return v->items.at[v->type == PICKLE_DICT ? 2 * i + 1 : i];
}

const struct pickle_value *pickle_key(const struct pickle_value *v, size_t i)
{
    if (!pickle_is(v, PICKLE_DICT) || i >= pickle_count(v)) return NULL;
    return v->items.at[2 * i];
}

const struct pickle_value *pickle_get(const struct pickle_value *v,
                                      const char *key)
{
    if (pickle_is(v, PICKLE_OBJECT)) v = v->object.state;
    if (!pickle_is(v, PICKLE_DICT)) return NULL;
    for (size_t i = pickle_count(v); i-- > 0; ) {
        const char *name = pickle_string(pickle_key(v, i));

        if (name && !strcmp(name, key)) return pickle_at(v, i);
    }
    return NULL;
}

const char *pickle_global(const struct pickle_value *v)
{
    return pickle_is(v, PICKLE_GLOBAL) || pickle_is(v, PICKLE_OBJECT)
           ? v->object.global : NULL;
}

const struct pickle_value *pickle_args(const struct pickle_value *v)
{
    return pickle_is(v, PICKLE_OBJECT) ? v->object.args : NULL;
}

const struct pickle_value *pickle_state(const struct pickle_value *v)
{
    if (pickle_is(v, PICKLE_DICT)) return v->items.state;
    return pickle_is(v, PICKLE_OBJECT) ? v->object.state : NULL;
}

const struct pickle_value *pickle_id(const struct pickle_value *v)
{
    return pickle_is(v, PICKLE_EXTERNAL) ? v->id : NULL;
}
