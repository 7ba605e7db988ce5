/* fuzz_pickle.c - reads any bytes as pickles, one after another, and asks for
 * everything that their values have. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "convert/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t sink;

static void ask_plain(const struct pickle_value *v)
{
    const char *text = pickle_string(v), *global = pickle_global(v);
    double number;
    int64_t integer;
    bool flag;

    if (text) sink += strlen(text);
    if (global) sink += strlen(global);
    if (pickle_bool(v, &flag)) sink += flag;
    if (pickle_int(v, &integer)) sink += integer != 0;
    if (pickle_number(v, &number)) sink += number > 0;
    sink += strlen(pickle_type_name(pickle_type(v)));
}

/* Values may contain themselves: `left` limits the number of visits. */
static void ask(const struct pickle_value *v, int depth, int *left)
{
    if (!v || depth > 50 || --*left < 0) return;
    ask_plain(v);
    for (size_t i = 0; i < pickle_count(v); i++) {
        if (!pickle_at(v, i)) abort();
        ask(pickle_key(v, i), depth + 1, left);
        ask(pickle_at(v, i), depth + 1, left);
    }
    ask(pickle_get(v, "model"), depth + 1, left);
    ask(pickle_args(v), depth + 1, left);
    ask(pickle_state(v), depth + 1, left);
    ask(pickle_id(v), depth + 1, left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at = 0;
    int left = 10000;

    while (at < size) {
        struct pickle *p;
        struct err e = { 0 };
        size_t begin = at;

        if (pickle_read(&p, data, size, &at, "fuzz", &e)) {
            if (p || !e.msg[0] || at < begin || at > size) abort();
            break;
        }
        if (at <= begin) abort();
        ask(pickle_root(p), 0, &left);
        for (size_t i = 0; pickle_external(p, i) && i < 100; i++)
            ask(pickle_external(p, i), 0, &left);
        pickle_free(p);
    }
    return 0;
}
