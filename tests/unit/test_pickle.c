/* test_pickle.c - tests of reading pickles: the values that Python wrote, what
 * is refused, and that hostile pickles do nothing. */
#include "base/file.h"
#include "base/strbuf.h"
#include "convert/pickle.h"
#include "test.h"

/* ---- a value as text: tools/gen_torch_files.py writes the same ---- */

static void describe(struct strbuf *to, const struct pickle_value *v,
                     int depth);

static void describe_items(struct strbuf *to, const struct pickle_value *v,
                           const char *brackets, int depth)
{
    strbuf_addc(to, brackets[0]);
    for (size_t i = 0; i < pickle_count(v); i++) {
        if (i) strbuf_addc(to, ',');
        if (pickle_key(v, i)) {
            describe(to, pickle_key(v, i), depth + 1);
            strbuf_addc(to, ':');
        }
        describe(to, pickle_at(v, i), depth + 1);
    }
    strbuf_addc(to, brackets[1]);
}

static void describe_string(struct strbuf *to, const struct pickle_value *v)
{
    if (pickle_string(v)) strbuf_addf(to, "'%s'", pickle_string(v));
    else strbuf_adds(to, "bytes");
}

static void describe(struct strbuf *to, const struct pickle_value *v, int depth)
{
    bool flag;
    int64_t integer;
    double number;

    if (depth > 3) {
        strbuf_adds(to, "...");
        return;
    }
    switch (pickle_type(v)) {
    case PICKLE_NONE: strbuf_adds(to, "None"); break;
    case PICKLE_BOOL:
        if (pickle_bool(v, &flag)) strbuf_adds(to, flag ? "True" : "False");
        break;
    case PICKLE_INT:
        if (pickle_int(v, &integer))
            strbuf_addf(to, "%lld", (long long)integer);
        break;
    case PICKLE_FLOAT:
        if (pickle_number(v, &number)) strbuf_addf(to, "%.17g", number);
        break;
    case PICKLE_STRING: describe_string(to, v); break;
    case PICKLE_TUPLE: describe_items(to, v, "()", depth); break;
    case PICKLE_LIST: describe_items(to, v, "[]", depth); break;
    case PICKLE_SET: case PICKLE_DICT:
        describe_items(to, v, "{}", depth);
        break;
    case PICKLE_GLOBAL: strbuf_adds(to, pickle_global(v)); break;
    case PICKLE_OBJECT:
        strbuf_adds(to, pickle_global(v) ? pickle_global(v) : "?");
        if (pickle_args(v)) describe_items(to, pickle_args(v), "()", depth);
        if (pickle_state(v)) describe(to, pickle_state(v), depth + 1);
        break;
    case PICKLE_EXTERNAL:
        strbuf_addc(to, '@');
        describe(to, pickle_id(v), depth + 1);
        break;
    }
}

#define BYTES(s) s, sizeof (s) - 1

/* What the bytes are read as; the message if they cannot be read. */
static const char *read_as(const void *bytes, size_t size)
{
    static struct strbuf text;
    struct pickle *p;
    struct err e = { 0 };
    size_t at = 0;
    /* A copy without spare bytes, so that a read behind it is noticed. */
    char *copy = malloc(size + !size);

    strbuf_release(&text);
    strbuf_init(&text, 0);
    memcpy(copy, bytes, size);
    if (pickle_read(&p, copy, size, &at, "f", &e)) {
        CHECK(!p && at <= size);
        strbuf_adds(&text, e.msg);
    }
    free(copy);
    if (p) {
        CHECK(at == size);
        describe(&text, pickle_root(p), 0);
    }
    pickle_free(p);
    return text.data;
}

#define READS(bytes, text) CHECK_STR(read_as(BYTES(bytes)), text)
#define REFUSED(bytes, at, why) \
    READS(bytes, "f: the pickle cannot be read at byte " #at ": " why)

/* ---- files of Python ---- */

static char *read_data(const char *name, size_t *size)
{
    char path[100], *text = NULL;
    struct err e;

    snprintf(path, sizeof path, "../data/torch/%s", name);
    CHECK_OK(file_read(&text, size, test_data(path), 1 << 20, &e), &e);
    return text;
}

static void check_python(const char *pickle_name, const char *text_name)
{
    size_t size, n_text, at = 0, i = 0;
    char *bytes = read_data(pickle_name, &size);
    char *text = read_data(text_name, &n_text), *next = text;
    struct pickle *p = NULL;
    struct strbuf got;
    struct err e;

    if (bytes && text)
        CHECK_OK(pickle_read(&p, bytes, size, &at, pickle_name, &e), &e);
    CHECK_INT(at, size);
    free(bytes);                /* they are not needed any more */
    strbuf_init(&got, 0);
    for (char *line; p && (line = strsep(&next, "\n")) && *line; i++) {
        strbuf_reset(&got);
        describe(&got, pickle_at(pickle_root(p), i), 0);
        CHECK_STR(got.data, line);
    }
    CHECK(p && i > 40 && pickle_count(pickle_root(p)) == i);
    strbuf_release(&got);
    pickle_free(p);
    free(text);
}

TEST(reads_values_of_protocol_2)
{
    check_python("values_2.pkl", "values_2.txt");
}

TEST(reads_values_of_protocol_3)
{
    check_python("values_3.pkl", "values_3.txt");
}

TEST(reads_values_of_protocol_4)
{
    check_python("values_4.pkl", "values_4.txt");
}

TEST(truncated_pickles_are_refused)
{
    for (int protocol = 2; protocol <= 4; protocol++) {
        char name[20];
        size_t size;
        char *bytes;

        snprintf(name, sizeof name, "values_%d.pkl", protocol);
        bytes = read_data(name, &size);
        for (size_t n = 0; bytes && n < size; n++) {
            struct pickle *p;
            struct err e = { 0 };
            char *copy = malloc(n + 1);
            size_t at = 0;

            memcpy(copy, bytes, n);
            CHECK_INT(pickle_read(&p, copy, n, &at, "f", &e), ST_FORMAT);
            CHECK_INT(at, n);
            CHECK(!p && strstr(e.msg, "truncated"));
            free(copy);
        }
        free(bytes);
    }
}

/* Every byte in turn gets every value: it must be read or refused. */
TEST(damaged_pickles_are_read_or_refused)
{
    size_t size, refused = 0;
    char *bytes = read_data("values_2.pkl", &size);

    for (size_t i = 0; bytes && i < size; i += 3)
        for (int bit = 0; bit < 8; bit++) {
            struct pickle *p;
            struct err e = { 0 };
            size_t at = 0;

            bytes[i] ^= (char)(1 << bit);
            refused += pickle_read(&p, bytes, size, &at, "f", &e) != 0;
            CHECK(!e.status == (p != NULL) && at <= size);
            pickle_free(p);
            bytes[i] ^= (char)(1 << bit);
        }
    CHECK(refused > 100);
    free(bytes);
}

/* ---- single opcodes ---- */

TEST(reads_integers)
{
    READS("J\x00\x00\x00\x80.", "-2147483648");
    READS("J\xff\xff\xff\x7f.", "2147483647");
    READS("\x8a\x00.", "0");
    READS("\x8a\x01\xff.", "-1");
    READS("\x8a\x02\xff\x00.", "255");
    READS("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80.", "-9223372036854775808");
    READS("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.", "builtins.int");
    READS("\x8a\x0b\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00.", "5");
    READS("\x8a\x09\xfe\xff\xff\xff\xff\xff\xff\xff\xff.", "-2");
}

/* BINFLOAT is big-endian, all other numbers are little-endian. */
TEST(reads_floats_big_endian)
{
    READS("G\x3f\xf8\x00\x00\x00\x00\x00\x00.", "1.5");
}

TEST(reads_strings_of_python_2)
{
    READS("U\x02" "ab.", "'ab'");
    READS("T\x02\x00\x00\x00" "ab.", "'ab'");
    READS("U\x02\xff" "b.", "bytes");
    READS("U\x03" "a\x00" "b.", "bytes");
    REFUSED("T\xff\xff\xff\xff" "ab.", 0, "it is truncated");
}

TEST(reads_ordered_dicts)
{
    READS("ccollections\nOrderedDict\n)R.", "{}");
    /* Python 2 */
    READS("ccollections\nOrderedDict\n](]U\x01" "aa]K\x01" "a]e\x85R.",
          "f: the pickle cannot be read at byte 39: an OrderedDict is made "
          "from something other than pairs");
    READS("ccollections\nOrderedDict\n](](U\x01" "aK\x01" "e](K\x02Ne"
          "e\x85R.", "{'a':1,2:None}");
    /* with a field, as state dicts of PyTorch have it */
    READS("ccollections\nOrderedDict\n)R}U\x01" "aK\x01sb.", "{}");
}

TEST(gets_the_last_of_equal_keys)
{
    static const char bytes[] = "}(U\x01" "aK\x01U\x01" "aK\x02U\x01"
                                "bK\x03u.";
    struct pickle *p;
    struct err e;
    size_t at = 0;
    int64_t n = 0;

    REQUIRE_OK(pickle_read(&p, BYTES(bytes), &at, "f", &e), &e);
    CHECK(pickle_int(pickle_get(pickle_root(p), "a"), &n) && n == 2);
    CHECK(!pickle_get(pickle_root(p), "c"));
    CHECK(!pickle_get(NULL, "c") && !pickle_at(NULL, 0) && !pickle_id(NULL));
    CHECK(!pickle_at(pickle_root(p), 3) && !pickle_key(pickle_root(p), 3));
    pickle_free(p);
}

TEST(gets_fields_of_objects)
{
    static const char bytes[] = "cargparse\nNamespace\n)\x81}U\x04" "archU\x01"
                                "tsb.";
    struct pickle *p;
    struct err e;
    size_t at = 0;

    REQUIRE_OK(pickle_read(&p, BYTES(bytes), &at, "f", &e), &e);
    CHECK_STR(pickle_global(pickle_root(p)), "argparse.Namespace");
    CHECK_STR(pickle_string(pickle_get(pickle_root(p), "arch")), "t");
    pickle_free(p);
}

TEST(lists_external_data)
{
    static const char bytes[] = "(U\x01" "aQ0U\x01" "bQt.";
    struct pickle *p;
    struct err e;
    size_t at = 0;

    REQUIRE_OK(pickle_read(&p, BYTES(bytes), &at, "f", &e), &e);
    CHECK_STR(pickle_string(pickle_id(pickle_external(p, 0))), "a");
    CHECK_STR(pickle_string(pickle_id(pickle_external(p, 1))), "b");
    CHECK(!pickle_external(p, 2));
    CHECK_INT(pickle_count(pickle_root(p)), 1);
    pickle_free(p);
}

TEST(starts_where_the_last_one_ended)
{
    static const char bytes[] = "K\x01.K\x02.N";
    struct pickle *p;
    struct err e;
    size_t at = 0;
    int64_t n = 0;

    for (int i = 1; i <= 2; i++) {
        REQUIRE_OK(pickle_read(&p, BYTES(bytes), &at, "f", &e), &e);
        CHECK(pickle_int(pickle_root(p), &n) && n == i);
        CHECK_INT(at, 3 * i);
        pickle_free(p);
    }
    CHECK_INT(pickle_read(&p, BYTES(bytes), &at, "f", &e), ST_FORMAT);
}

TEST(wrong_pickles_are_refused)
{
    REFUSED("", 0, "it is truncated");
    REFUSED(".", 0, "the stack has too few values");
    REFUSED("NN.", 2, "it ends before its value is complete");
    REFUSED("(N.", 2, "it ends before its value is complete");
    REFUSED("N(.", 2, "the stack has too few values");
    REFUSED("0.", 0, "the stack has too few values");
    REFUSED("t.", 0, "there is no mark");
    REFUSED("e.", 0, "there is no mark");
    REFUSED("(e.", 1, "the stack has too few values");
    REFUSED("a.", 0, "the stack has too few values");
    REFUSED("N(\x85.", 2, "the stack has too few values");
    REFUSED("](N(\x61.", 4, "the stack has too few values");
    REFUSED("](N(0.", 4, "the stack has too few values");
    REFUSED("}Na.", 2, "elements of a list are added to a dict");
    REFUSED("](NNu.", 4, "elements of a dict are added to a list");
    REFUSED(")Na.", 2, "elements of a list are added to a tuple");
    REFUSED("}(Nu.", 3, "a key of a dict has no value");
    REFUSED("\x80\x01N.", 0, "its protocol is 1; only 2 to 5 are known");
    REFUSED("\x80\x06N.", 0, "its protocol is 6; only 2 to 5 are known");
    REFUSED("h\x00.", 0, "it refers to value 0, which does not exist");
    REFUSED("Nq\x05h\x04.", 3, "it refers to value 4, which does not exist");
    REFUSED("Nr\x40\x42\x0f\x00.", 1, "it refers to more than 1000000 values");
    REFUSED("Nr\xff\xff\xff\xff.", 1, "it refers to more than 1000000 values");
    REFUSED("Nb.", 1, "the stack has too few values");
    REFUSED("NNb.", 2, "None is given fields");
    REFUSED("N)R.", 2, "it calls None");
    REFUSED("cos\nsystem\nNR.", 12, "the arguments of a call are None");
    REFUSED("c\nsystem\n.", 0, "the name of a class is not valid");
    REFUSED("cos\nsys\x1b[m\n.", 0, "the name of a class is not valid");
    REFUSED("cos\nsystem.", 0, "it is truncated");
    REFUSED("U\x01" "aN\x93.", 4, "the name of a class is None");
    REFUSED("\x95\xff\xff\xff\xff\xff\xff\xff\xff.", 0, "it is truncated");
    REFUSED("\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", 0, "it is truncated");
}

TEST(unknown_opcodes_are_refused)
{
    static const char known[] =
        "().01BCGJKMNQRTUX]abcehjqrstu}\x80\x81\x85\x86\x87\x88\x89\x8a\x8c"
        "\x8d\x8e\x8f\x90\x91\x93\x94\x95";
    char want[100];

    for (int op = 0; op < 256; op++) {
        uint8_t bytes[] = { (uint8_t)op, '.' };

        snprintf(want, sizeof want, "f: the pickle cannot be read at byte 0: "
                 "the opcode 0x%02X is not supported", op);
        if (op && strchr(known, op))
            CHECK(strcmp(read_as(bytes, 2), want));
        else CHECK_STR(read_as(bytes, 2), want);
    }
}

/* ---- hostile pickles ---- */

TEST(calls_nothing)
{
    READS("\x80\x02" "cos\nsystem\nU\x0f" "touch /tmp/owned\x85R.",
          "f: the pickle cannot be read at byte 30: the opcode 0x64 is not "
          "supported");
    READS("\x80\x02" "cos\nsystem\nU\x10" "touch /tmp/owned\x85R.",
          "os.system('touch /tmp/owned')");
    /* the result of a call is called */
    READS("c__builtin__\ngetattr\ncos\nU\nU\x06" "system\x86RU\x02" "ls\x85R.",
          "?('ls')");
    READS("cos\nsystem\n)\x81}U\x01" "aNsb.", "os.system(){'a':None}");
}

TEST(values_may_contain_themselves)
{
    READS("]q\x00h\x00" "a.", "[[[[...]]]]");
    READS("}q\x00U\x01" "ah\x00s.", "{'a':{'a':{'a':{...:...}}}}");
    /* as Python writes ([itself],) and (1, 2, 3, [itself]) */
    READS("]q\x00h\x00\x85q\x01" "a0h\x01.", "([([...])])");
    READS("(K\x01K\x02K\x03]q\x00(K\x01K\x02K\x03h\x00tq\x01" "a1h\x01.",
          "(1,2,3,[(1,2,3,[...])])");
}

/* n times the bytes, then the end. */
static const char *repeated(const char *start, const char *bytes, size_t n,
                            const char *end)
{
    struct strbuf all;
    const char *text;

    strbuf_init(&all, 0);
    strbuf_adds(&all, start);
    for (size_t i = 0; i < n; i++) strbuf_adds(&all, bytes);
    strbuf_adds(&all, end);
    text = read_as(all.data, all.len);
    strbuf_release(&all);
    return text;
}

TEST(deep_values_are_read)
{
    CHECK_STR(repeated("N", "\x85", 1000000, "."), "((((...))))");
    CHECK(strstr(repeated("", "]", 1000000, "."), "before its value"));
    CHECK(strstr(repeated("", "(", 1000000, "."),
                 "at byte 1000: it is nested more than 1000 levels deep"));
    CHECK(strstr(repeated("cos\nsystem\n", "))R", 100000, "."), "it calls"));
    CHECK_STR(repeated("cos\nsystem\n", ")R", 100000, "."), "?()");
}

TEST(memory_is_limited)
{
    static const char limit[] = "its values need more than 256 MB of memory";
    struct strbuf all;

    CHECK(strstr(repeated("", "]", 8000000, "."), limit));
    /* 2000 calls, each of which copies a list of 60000 pairs */
    strbuf_init(&all, 0);
    strbuf_adds(&all, "]K\x01K\x02\x86q\x01" "a(");
    for (int i = 0; i < 60000; i++) strbuf_adds(&all, "h\x01");
    strbuf_adds(&all, "eq\x02" "0ccollections\nOrderedDict\nq\x03" "0");
    for (int i = 0; i < 2000; i++) strbuf_adds(&all, "h\x03h\x02\x85R");
    CHECK(strstr(read_as(all.data, all.len), limit));
    strbuf_release(&all);
}
