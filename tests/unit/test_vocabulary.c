/* test_vocabulary.c - reads vocabularies in all forms, good and damaged. */
#include "test.h"

#include <jansson.h>

#include "base/strbuf.h"
#include "convert/vocabulary.h"
#include "script_lines.h"

static struct vocabulary *read_text(enum vocabulary_form form, const char *text,
                                    size_t size)
{
    struct vocabulary *v;
    struct err e;

    CHECK_OK(vocabulary_read(&v, form, text, size, "v", &e), &e);
    return v;
}

/* Checks that the pieces are those of a list that ends with NULL. */
static void expect_pieces(enum vocabulary_form form, const char *text,
                          const char *const *want)
{
    struct vocabulary *v = read_text(form, text, strlen(text));
    int n = 0;

    if (!v) return;
    for (; want[n]; n++) {
        if (n >= vocabulary_size(v)) continue;
        CHECK_STR(vocabulary_piece(v, n), want[n]);
        CHECK_INT(vocabulary_find(v, want[n]), n);
    }
    CHECK_INT(vocabulary_size(v), n);
    CHECK_INT(vocabulary_find(v, "not there"), -1);
    vocabulary_free(v);
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void expect_error(enum vocabulary_form form, const char *text,
                         const char *want)
{
    struct vocabulary *v;
    struct err e;

    CHECK_INT(vocabulary_read(&v, form, text, strlen(text), "f", &e),
              ST_FORMAT);
    CHECK(v == NULL);
    if (!strstr(e.msg, want))
        test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", e.msg, want);
    vocabulary_free(v);
}

/* ---- YAML ---- */

TEST(yaml_keys_are_strings)
{
    expect_pieces(VOCABULARY_YAML,
        "</s>: 0\n<unk>: 1\nno: 2\n~: 3\nnull: 4\n1e3: 5\n=: 6\n<<: 7\n"
        "\"\\u2581\\x41\\U0001F642\\t\\\\\\\"\": 8\n'it''s': 9\n\"\": 10\n"
        "? long\n: 11\n\"\\L\\P\\N\\_\\e\\a\\b\": 12\n▁der: 13\n'-': 14\n"
        "0: 15\n\"- \": 16\ny: 17\n2026-11-19: 18\n!!str a: 19\n",
        LIST("</s>", "<unk>", "no", "~", "null", "1e3", "=", "<<",
             "\u2581A\U0001F642\t\\\"", "it's", "", "long",
             "\u2028\u2029\xC2\x85\u00A0\x1B\a\b", "▁der", "-", "0", "- ", "y",
             "2026-11-19", "a"));
    expect_pieces(VOCABULARY_YAML, "---\nb: 1\na: 0\n...\n", LIST("a", "b"));
    expect_pieces(VOCABULARY_YAML, "{a: 0, 'b': 1}", LIST("a", "b"));
    expect_pieces(VOCABULARY_YAML, "\xEF\xBB\xBF" "a: 0\n", LIST("a"));
    expect_pieces(VOCABULARY_YAML, "a: 0\r\nb: 1\r\n", LIST("a", "b"));
}

TEST(a_yaml_file_may_be_json)
{
    expect_pieces(VOCABULARY_YAML,
                  " {\n \"\\ud83d\\ude42\": 1,\n \"a\\/\": 0\n}\n",
                  LIST("a/", "\U0001F642"));
}

TEST(unusual_yaml_is_refused)
{
    expect_error(VOCABULARY_YAML, "a: &x 0\nb: *x\n", "f:1: the anchor &x");
    expect_error(VOCABULARY_YAML, "&y a: 0\n", "f:1: the anchor &y");
    expect_error(VOCABULARY_YAML, "a: 0\nb: *x\n", "f:2: the id of a piece is "
                 "expected, not an alias");
    expect_error(VOCABULARY_YAML, "a: 0\n*x : 1\n", "f:2: a piece is expected, "
                 "not an alias");
    expect_error(VOCABULARY_YAML, "&x\na: 0\n", "anchor");
    expect_error(VOCABULARY_YAML, "!!binary YQ==: 0\n", "2002:binary");
    expect_error(VOCABULARY_YAML, "a: 0\n? [b]\n: 1\n", "not a list");
    expect_error(VOCABULARY_YAML, "a: {b: 0}\n", "not a mapping");
    expect_error(VOCABULARY_YAML, "- a\n- b\n", "not a list");
    expect_error(VOCABULARY_YAML, "a\n", "not a single value");
    expect_error(VOCABULARY_YAML, "", "not the end of the file");
    expect_error(VOCABULARY_YAML, "a: 0\n---\nb: 1\n", "not a second document");
    expect_error(VOCABULARY_YAML, ": 0\n", "f:1: not valid YAML");
    expect_error(VOCABULARY_YAML, "{a: 0, : 1}\n", "f:1: not valid YAML");
    expect_error(VOCABULARY_YAML, "a: 0\n?\n: 1\n", "f:2: there is no piece");
    expect_error(VOCABULARY_YAML, "a: 0\nb:\n", "the id of the piece \"b\"");
    expect_error(VOCABULARY_YAML, "a: 0\nb c\n", "f:3: not valid YAML");
    expect_error(VOCABULARY_YAML, "a: 0\n\"b\\q\": 1\n",
                 "f:2: not valid YAML");
    expect_error(VOCABULARY_YAML, "\"a\\0\": 0\n", "f:1: a piece contains NUL");
    expect_error(VOCABULARY_YAML, "a\xFF: 0\n", "byte 1: not valid YAML");
    expect_error(VOCABULARY_YAML, "{\"a\": 0, \"a\": 1}", "occurs twice");
}

TEST(ids_must_be_plain_numbers)
{
    static const char *const bad[] = {
        "-1", "+1", "01", "0x1", "1.0", "1e0", "one", "1 2", "''",
        "99999999999999999999", "\"1\\n\"", "1_0", "true"
    };
    char text[80];

    for (size_t i = 0; i < COUNT(bad); i++) {
        snprintf(text, sizeof text, "a: 0\nb: %s\n", bad[i]);
        expect_error(VOCABULARY_YAML, text, "f:2: the id of the piece \"b\"");
    }
    expect_pieces(VOCABULARY_YAML, "a: '0'\nb: \"1\"\n", LIST("a", "b"));
}

TEST(ids_must_be_complete)
{
    static const enum vocabulary_form forms[] = {
        VOCABULARY_YAML, VOCABULARY_JSON_OBJECT
    };

    for (int i = 0; i < 2; i++) {
        expect_error(forms[i], "{\"a\": 0, \"b\": 2}", "no piece has the id 1; "
                     "the 2 pieces must have the ids 0 to 1");
        expect_error(forms[i], "{\"a\": 0, \"b\": 1, \"c\": 0}",
                     "the pieces \"a\" and \"c\" both have the id 0");
        expect_error(forms[i], "{\"a\": 1}", "no piece has the id 0");
        expect_error(forms[i], "{}", "the vocabulary is empty");
    }
    expect_error(VOCABULARY_YAML, "a: 0\nb: 1\na: 2\n",
                 "f:3: the piece \"a\" occurs twice, with the ids 0 and 2");
}

/* ---- JSON ---- */

TEST(json_objects)
{
    expect_pieces(VOCABULARY_JSON_OBJECT,
                  "{\"b\": 1, \"\\u2581a\": 0, \"\\\"\\\\\": 2, \"\": 3,"
                  " \"\\ud83d\\ude42\": 4, \"nul\\\\0\": 5}",
                  LIST("\u2581a", "b", "\"\\", "", "\U0001F642", "nul\\0"));
    expect_error(VOCABULARY_JSON_OBJECT, "{\"a\": 0,\n\"a\": 1}", "f:2: ");
    expect_error(VOCABULARY_JSON_OBJECT, "{\"a\": -1}", "negative");
    expect_error(VOCABULARY_JSON_OBJECT, "{\"a\": 0.0}", "whole number");
    expect_error(VOCABULARY_JSON_OBJECT, "{\"a\": \"0\"}", "whole number");
    expect_error(VOCABULARY_JSON_OBJECT, "{\"a\": 9007199254740993}", "id 0");
    expect_error(VOCABULARY_JSON_OBJECT, "{\"a\": 99999999999999999999}",
                 "f:1: not valid JSON");
    expect_error(VOCABULARY_JSON_OBJECT, "{\"\\u0000\": 0}", "not valid JSON");
    expect_error(VOCABULARY_JSON_OBJECT, "{\"\\ud83d\": 0}", "not valid JSON");
    expect_error(VOCABULARY_JSON_OBJECT, "{\"\xFF\": 0}", "not valid JSON");
    expect_error(VOCABULARY_JSON_OBJECT, "{\"a\": 0} x", "not valid JSON");
    expect_error(VOCABULARY_JSON_OBJECT, "[\"a\"]", "object");
    expect_error(VOCABULARY_JSON_OBJECT, "", "not valid JSON");
}

TEST(json_arrays)
{
    expect_pieces(VOCABULARY_JSON_ARRAY, "[\"<unk>\", \"\\n\", \"\"]",
                  LIST("<unk>", "\n", ""));
    expect_error(VOCABULARY_JSON_ARRAY, "[\"a\", 1]", "element 1");
    expect_error(VOCABULARY_JSON_ARRAY, "[\"a\", \"b\", \"a\"]",
                 "the piece \"a\" occurs twice, with the ids 0 and 2");
    expect_error(VOCABULARY_JSON_ARRAY, "[]", "empty");
    expect_error(VOCABULARY_JSON_ARRAY, "{\"a\": 0}", "array");
    expect_error(VOCABULARY_JSON_ARRAY, "[\"a\\u0000\"]", "not valid JSON");
}

/* ---- lines ---- */

TEST(lines_are_pieces)
{
    expect_pieces(VOCABULARY_LINES, "a\n b \n\nc", LIST("a", " b ", "", "c"));
    expect_pieces(VOCABULARY_LINES, "a\r\nb\r\n", LIST("a", "b"));
    expect_pieces(VOCABULARY_LINES, "a\r\nb\n", LIST("a\r", "b"));
    expect_pieces(VOCABULARY_LINES, "a\r\nb", LIST("a\r", "b"));
    expect_error(VOCABULARY_LINES, "a\nb\na\n", "f:3: the piece \"a\" occurs");
    expect_error(VOCABULARY_LINES, "a\nb\xC3\n", "f:2: a piece is not valid");
    expect_error(VOCABULARY_LINES, "", "empty");
}

TEST(pieces_can_be_added)
{
    struct vocabulary *v = read_text(VOCABULARY_LINES, "b\nd\na", 5);
    static const char *const more[] = { "c", "e", "<unk>", "aa" };
    struct err e;

    for (size_t i = 0; i < COUNT(more); i++) {
        CHECK_OK(vocabulary_append(v, more[i], &e), &e);
        CHECK_INT(vocabulary_size(v), 4 + i);
        CHECK_STR(vocabulary_piece(v, 3 + (int32_t)i), more[i]);
    }
    for (int32_t id = 0; id < vocabulary_size(v); id++)
        CHECK_INT(vocabulary_find(v, vocabulary_piece(v, id)), id);
    CHECK_INT(vocabulary_find(v, "f"), -1);
    vocabulary_free(v);
}

TEST(nul_in_a_line_is_refused)
{
    struct vocabulary *v;
    struct err e;

    CHECK_INT(vocabulary_read(&v, VOCABULARY_LINES, "a\nb\0c\n", 6, "f", &e),
              ST_FORMAT);
    CHECK_STR(e.msg, "f:2: a piece contains NUL");
}

TEST(fairseq_lines_have_counts)
{
    struct vocabulary *v;

    expect_pieces(VOCABULARY_FAIRSEQ, "the 100\nhou@@ 7\na b 3\r\n 2\n",
                  LIST("<s>", "<pad>", "</s>", "<unk>", "the", "hou@@", "a b",
                       ""));
    expect_pieces(VOCABULARY_FAIRSEQ, "", LIST("<s>", "<pad>", "</s>",
                                               "<unk>"));
    expect_error(VOCABULARY_FAIRSEQ, "the 100\nhouse\n", "f:2: the line must");
    expect_error(VOCABULARY_FAIRSEQ, "the x\n", "f:1: the line must");
    expect_error(VOCABULARY_FAIRSEQ, "the 1\n\n", "f:2: the line must");
    expect_error(VOCABULARY_FAIRSEQ, "<pad> 1\n", "f:1: the piece \"<pad>\" "
                 "occurs twice, with the ids 1 and 4");
    v = read_text(VOCABULARY_FAIRSEQ, "<pad> 1 #fairseq:overwrite\n", 27);
    CHECK_INT(vocabulary_size(v), 5);
    CHECK_INT(vocabulary_find(v, "<pad>"), 4);
    CHECK_STR(vocabulary_piece(v, 1), "<pad>");
    vocabulary_free(v);
}

/* ---- all scripts, and large files ---- */

/* Writes a piece as yaml-cpp and PyYAML do when it needs quotes. */
static void put_quoted(struct strbuf *out, const char *s, int style)
{
    if (style == 0) {
        strbuf_addc(out, '\'');
        for (; *s; s++) {
            if (*s == '\'') strbuf_addc(out, '\'');
            strbuf_addc(out, *s);
        }
        strbuf_addc(out, '\'');
        return;
    }
    strbuf_addc(out, '"');
    while (*s) {
        int len;
        uint32_t cp = utf8_next(s, strlen(s), &len);

        if (cp == '"' || cp == '\\') strbuf_addf(out, "\\%c", (int)cp);
        else if (cp == '\t') strbuf_adds(out, "\\t");
        else if (cp < 0x80) strbuf_addc(out, (char)cp);
        else if (cp < 0x100) strbuf_addf(out, "\\x%02X", (unsigned)cp);
        else if (cp < 0x10000) strbuf_addf(out, "\\u%04X", (unsigned)cp);
        else strbuf_addf(out, "\\U%08X", (unsigned)cp);
        s += len;
    }
    strbuf_addc(out, '"');
}

/* Whether single quotes can hold the piece. */
static bool is_printable(const char *s)
{
    while (*s) {
        int len;
        uint32_t cp = utf8_next(s, strlen(s), &len);

        if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || cp == 0x2028 ||
            cp == 0x2029 || cp == 0xFEFF || (cp & 0xFFFE) == 0xFFFE)
            return false;
        s += len;
    }
    return true;
}

TEST(every_form_reads_the_same_pieces)
{
    struct line_maker m = { 5 };
    struct strbuf line, yaml, lines, fairseq;
    json_t *object = json_object(), *array = json_array();
    char *json[2];
    struct vocabulary *v[5];
    int n = 0;

    strbuf_init(&line, 0);
    strbuf_init(&yaml, 0);
    strbuf_init(&lines, 0);
    strbuf_init(&fairseq, 0);
    for (int i = 0; i < 20000; i++) {
        strbuf_reset(&line);
        for (int k = i % 3; k >= 0; k--)
            line_part(&m, &scripts[i % N_SCRIPTS], &line);
        if (json_object_get(object, line.data) || !strcmp(line.data, "</s>") ||
            !strcmp(line.data, "<unk>"))
            continue;
        json_object_set_new(object, line.data, json_integer(n));
        json_array_append_new(array, json_string(line.data));
        put_quoted(&yaml, line.data, is_printable(line.data) ? n % 2 : 1);
        strbuf_addf(&yaml, ": %d\n", n);
        strbuf_addf(&lines, "%s\n", line.data);
        strbuf_addf(&fairseq, "%s %d\n", line.data, n++);
    }
    json[0] = json_dumps(object, JSON_ENSURE_ASCII);
    json[1] = json_dumps(array, 0);
    v[0] = read_text(VOCABULARY_YAML, yaml.data, yaml.len);
    v[1] = read_text(VOCABULARY_JSON_OBJECT, json[0], strlen(json[0]));
    v[2] = read_text(VOCABULARY_JSON_ARRAY, json[1], strlen(json[1]));
    v[3] = read_text(VOCABULARY_LINES, lines.data, lines.len);
    v[4] = read_text(VOCABULARY_FAIRSEQ, fairseq.data, fairseq.len);
    CHECK(n > 5000);
    for (int k = 0; k < 5; k++) {
        int shift = k == 4 ? 4 : 0;

        if (!v[k]) continue;
        CHECK_INT(vocabulary_size(v[k]), n + shift);
        for (int i = 0; i < n && i + shift < vocabulary_size(v[k]); i++) {
            const char *want = json_string_value(json_array_get(array,
                                                                (size_t)i));

            CHECK_STR(vocabulary_piece(v[k], i + shift), want);
            CHECK_INT(vocabulary_find(v[k], want), i + shift);
        }
        vocabulary_free(v[k]);
    }
    json_decref(object);
    json_decref(array);
    free(json[0]);
    free(json[1]);
    strbuf_release(&line);
    strbuf_release(&yaml);
    strbuf_release(&lines);
    strbuf_release(&fairseq);
}

/* ---- damaged files ---- */

TEST(damaged_vocabularies_do_no_harm)
{
    static const char *const good[] = {
        "---\n</s>: 0\n'a''': 1\n\"\\u2581b\": 2\n? c\n: 3\n",
        "{\"</s>\": 0, \"\\u2581b\": 1}", "[\"</s>\", \"\\u2581b\"]",
        "</s>\r\n\u2581b\r\n", "the 100\nhou@@ 7 #fairseq:overwrite\n"
    };
    struct vocabulary *v;
    struct err e;
    char text[100];

    for (size_t form = 0; form < COUNT(good); form++) {
        size_t n = strlen(good[form]);

        for (size_t cut = 0; cut < n; cut++) {
            e.msg[0] = '\0';
            if (vocabulary_read(&v, (enum vocabulary_form)form, good[form],
                                cut, "f", &e))
                CHECK(e.msg[0] == 'f' && !v);
            vocabulary_free(v);
        }
        memcpy(text, good[form], n);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            text[bit / 8] ^= (char)(1 << bit % 8);
            e.msg[0] = '\0';
            if (vocabulary_read(&v, (enum vocabulary_form)form, text, n, "f",
                                &e))
                CHECK(e.msg[0] == 'f' && !v);
            vocabulary_free(v);
            text[bit / 8] ^= (char)(1 << bit % 8);
        }
    }
}
