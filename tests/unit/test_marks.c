/* test_marks.c - tests the marks of apps/server: what counts as a mark, random
 * marks in real sentences, and their places by the attention of a model. */
#include "server/marks.h"

#include "golden.h"
#include "test.h"

/* ---- finding ----------------------------------------------------------- */

/* Writes the marks of a text with a '|' after each. */
static const char *marks_of(const char *text)
{
    static char out[512];
    struct marks m;

    out[0] = 0;
    if (!CHECK(marks_find(&m, text, strlen(text)))) return out;
    for (int i = 0; i < m.n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%.*s|",
                 (int)(m.list[i].end - m.list[i].begin),
                 text + m.list[i].begin);
    marks_release(&m);
    return out;
}

TEST(marks_are_found)
{
    CHECK_STR(marks_of("[X12X] und [X1X]."), "[X12X]|[X1X]|");
    CHECK_STR(marks_of("[X12X][X13X]"), "[X12X]|[X13X]|");
    CHECK_STR(marks_of("[XX] [X1] [X1X [1] [x1x] [X1X"), "");
    CHECK_STR(marks_of("{} {0} {name} {{ich.bin}} ${HOME}"),
              "{}|{0}|{name}|{{ich.bin}}|${HOME}|");
    CHECK_STR(marks_of("{ein Satz} {{x} {"), "{x}|");
    CHECK_STR(marks_of("%s, %d %.2f %1$s %lu %(name)s %1"),
              "%s|%d|%.2f|%1$s|%lu|%(name)s|%1|");
    CHECK_STR(marks_of("auf %1. %2, %12 %5d"), "%1|%2|%12|%5d|");
    CHECK_STR(marks_of("50% der 100%s %sum 5 % so %0 %"), "");
    CHECK_STR(marks_of(""), "");
}

/* A name that never ends must not be read past the end. */
TEST(marks_end_with_the_text)
{
    static const char *const texts[] = { "[", "[X", "[X1", "[X1X", "{", "{{",
        "{{a", "{a", "%", "%(", "%(a", "%(a)", "%.", "%.2",
        "%l", "$", "${", "${a" };

    for (size_t i = 0; i < COUNT(texts); i++) {
        char *exact = malloc(strlen(texts[i]) + 1);

        strcpy(exact, texts[i]);
        CHECK_STR(marks_of(exact), "");
        free(exact);
    }
}

static void check_bare(const char *text, const char *bare, const char *masked)
{
    struct marks m;

    REQUIRE(marks_find(&m, text, strlen(text)));
    CHECK_STR(m.bare, bare);
    CHECK_STR(m.masked ? m.masked : "-", masked);
    marks_release(&m);
}

TEST(marks_are_taken_out)
{
    check_bare("Die Datei {0} ist leer.", "Die Datei ist leer.",
               "Die Datei [X1X] ist leer.");
    check_bare("[X7X] Ende", "Ende", "-");
    check_bare("Ende [X7X]", "Ende", "-");
    check_bare("auf [X7X].", "auf.", "-");
    check_bare("a [X1X] [X2X].", "a.", "-");
    check_bare("({0})", "()", "([X1X])");
    check_bare("%s", "", "[X1X]");
}

/* ---- putting back -------------------------------------------------------- */

TEST(marks_are_compared)
{
    struct marks m;
    const char *text = "{a} und %s und {a}";

    REQUIRE(marks_find(&m, text, strlen(text)));
    CHECK(marks_are_kept(&m, "%s and {a} and {a}"));
    CHECK(!marks_are_kept(&m, "%s and %s and {a}"));
    CHECK(!marks_are_kept(&m, "%s and {a}"));
    CHECK(!marks_are_kept(&m, "%s and {a} and {a} {a}"));
    CHECK(!marks_are_kept(&m, "%s and {a} and {b}"));
    marks_release(&m);
}

TEST(marks_are_unmasked)
{
    static const char *const cases[][2] = {
        { "[X2X] before [X1X]", "%s before {a}" },
        { "[X1X]", NULL }, { "[X1X] [X1X]", NULL }, { "[X1X] [X3X]", NULL },
        { "[X1X] [X2X] [X2X]", NULL }, { "[X1X] [X2X] {c}", NULL },
        { "[X1X] [X2X]um", NULL },      /* %sum is no mark */
    };
    struct marks m;
    char *out;

    REQUIRE(marks_find(&m, "{a} vor %s", 10));
    for (size_t i = 0; i < COUNT(cases); i++) {
        CHECK(marks_unmask(&m, cases[i][0], &out));
        CHECK_STR(out ? out : "-", cases[i][1] ? cases[i][1] : "-");
        free(out);
    }
    marks_release(&m);
}

static const struct mark_pieces no_pieces;

static void check_insert(const char *text, const char *translation,
                         const char *want)
{
    struct marks m;
    char *out;

    REQUIRE(marks_find(&m, text, strlen(text)));
    out = marks_insert(&m, translation, &no_pieces);
    REQUIRE(out != NULL);
    CHECK_STR(out, want);
    free(out);
    marks_release(&m);
}

/* Without attention: beside the same characters, or as far from the ends. */
TEST(marks_without_attention)
{
    check_insert("[X1X] Der Hund", "The dog", "[X1X] The dog");
    check_insert("Der Hund [X1X]", "The dog", "The dog [X1X]");
    check_insert("Der Hund [X1X].", "The dog.", "The dog [X1X].");
    check_insert("Der Hund ([X1X]) bellt.", "The dog () barks.",
                 "The dog ([X1X]) barks.");
    check_insert("[X1X]", "", "[X1X]");
    check_insert("[X1X][X2X]", "", "[X1X][X2X]");
    check_insert("Der Hund [X1X]", "The {a} dog", "The dog [X1X]");
}

/* ---- random marks -------------------------------------------------------- */

static unsigned marks_random(void)
{
    static unsigned long long state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20);
}

static const char *random_mark(void)
{
    static const char *const kinds[] = { "{0}", "{name}", "%s", "%(n)s", "%1$d",
        "${x}", "{{y}}", "{}", "%1" };
    static char bracket[16];
    unsigned k = marks_random() % (COUNT(kinds) + 6);

    if (k < COUNT(kinds)) return kinds[k];
    snprintf(bracket, sizeof bracket, "[X%uX]", marks_random() % 200);
    return bracket;
}

/* Puts marks between words, after brackets and beside each other. */
static void add_random_marks(const char *text, char *out, size_t size)
{
    size_t n = 0;

    for (const char *s = text; n + 40 < size; s++) {
        bool gap = s == text || *s == ' ' || !*s || strchr("().,\"", *s);

        while (gap && marks_random() % 6 == 0 && n + 40 < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s%s",
                                  marks_random() % 3 ? " " : "",
                                  random_mark(),
                                  marks_random() % 3 ? " " : "");
        if (!*s) break;
        out[n++] = *s;
    }
    out[n] = 0;
}

/* Attention that is wrong in any way. */
static void random_pieces(struct mark_pieces *p, size_t source, size_t target)
{
    struct mark_sentence *s = calloc(1, sizeof *s);

    p->list = s;
    p->n = 1;
    s->end = source;
    s->n_source = (int)(marks_random() % 20) + 1;
    s->n_target = (int)(marks_random() % 20) + 1;
    s->source_end = calloc((size_t)s->n_source, sizeof *s->source_end);
    s->target_end = calloc((size_t)s->n_target, sizeof *s->target_end);
    s->weight = calloc((size_t)(s->n_source * s->n_target), sizeof *s->weight);
    for (int i = 0; i < s->n_source; i++)
        s->source_end[i] = source * (size_t)(i + 1) / (size_t)s->n_source;
    for (int i = 0; i < s->n_target; i++)
        s->target_end[i] = target * (size_t)(i + 1) / (size_t)s->n_target;
    for (int i = 0; i < s->n_source * s->n_target; i++)
        s->weight[i] = (float)(marks_random() % 1000) / 1000;
}

/* Copies a string without its marks and white space. */
static void only_words(const char *s, char *out)
{
    const char *begin = s, *end = s + strlen(s);
    size_t k;

    for (; s < end; s += k ? k : 1) {
        k = mark_length(begin, s, end);
        if (!k && *s != ' ') *out++ = *s;
    }
    *out = 0;
}

/* Taking out a mark may join what is around it to another one, so this copies
 * marks, too. */
static const char *without_blanks(const char *s, char *out)
{
    char *at = out;

    for (; *s; s++)
        if (*s != ' ') *at++ = *s;
    *at = 0;
    return out;
}

/* Whether the marks of the output are in the order of the text. */
static bool same_order(const struct marks *m, const char *out)
{
    const char *begin = out;

    for (int i = 0; i < m->n; i++) {
        size_t n = m->list[i].end - m->list[i].begin;

        while (*out && (mark_length(begin, out, begin + strlen(begin)) != n
                        || memcmp(out, m->text + m->list[i].begin, n)))
            out++;
        if (!*out) return false;
        out += n;
    }
    return true;
}

static void check_random(const char *source, const char *translation)
{
    char text[2048], words[2][2048];
    struct mark_pieces p = { 0 };
    struct marks m;
    char *out;

    add_random_marks(source, text, sizeof text);
    REQUIRE(marks_find(&m, text, strlen(text)));
    if (m.n == 0) {
        marks_release(&m);
        return;
    }
    random_pieces(&p, strlen(m.bare), strlen(translation));
    out = marks_insert(&m, translation, &p);
    REQUIRE(out != NULL);
    if (!marks_are_kept(&m, out) || !same_order(&m, out))
        test_fail(__FILE__, __LINE__, "text \"%s\", output \"%s\"", text, out);
    only_words(out, words[0]);
    only_words(translation, words[1]);
    CHECK_STR(words[0], words[1]);
    only_words(text, words[0]);
    CHECK_STR(words[0], without_blanks(m.bare, words[1]));
    mark_pieces_release(&p);
    free(out);
    marks_release(&m);
}

static const char *const marks_pairs[][2] = {
    { "Die Datei konnte nicht gelöscht werden.",
      "The file could not be deleted." },
    { "Öffnen Sie den Deckel (oben), \"vorsichtig\" und langsam.",
      "Open the cover (at the top) \"carefully\" and slowly." },
    { "Es war nicht einfach, ihm das mitzuteilen.",
      "It wasn't easy to tell him that." },
    { "Nach Angaben des Herstellers sind es 12,5 % mehr als 2018.",
      "According to the manufacturer, there are 12.5% more than in 2018." },
    { "Ja", "Yes" }, { "Hund, Katze, Maus", "{b} dog, %s cat, mouse" },
};

TEST(marks_are_all_there_in_order)
{
    for (int i = 0; i < 20000; i++) {
        size_t k = (size_t)i % COUNT(marks_pairs);

        check_random(marks_pairs[k][0], marks_pairs[k][1]);
    }
}

/* Translations that would grow together with a mark. */
TEST(marks_survive_noise)
{
    static const char noise[] = "[]X1{}%s$( a.)";
    char text[256], translation[32];
    struct marks m;
    char *out;

    for (int i = 0; i < 50000; i++) {
        struct mark_pieces p = { 0 };
        size_t n = marks_random() % (sizeof translation - 1);

        for (size_t k = 0; k < n; k++)
            translation[k] = noise[marks_random() % (sizeof noise - 1)];
        translation[n] = 0;
        add_random_marks("a {b) c.", text, sizeof text);
        REQUIRE(marks_find(&m, text, strlen(text)));
        if (m.n) {
            random_pieces(&p, strlen(m.bare), n);
            out = marks_insert(&m, translation, &p);
            REQUIRE(out != NULL);
            if (!marks_are_kept(&m, out))
                test_fail(__FILE__, __LINE__, "text \"%s\", translation "
                          "\"%s\", output \"%s\"", text, translation, out);
            free(out);
        }
        mark_pieces_release(&p);
        marks_release(&m);
    }
}

/* ---- with a model -------------------------------------------------------- */

static void check_model_case(skmt_session *s, const char *text,
                             const char *want)
{
    struct mark_pieces p;
    struct marks m;
    skmt_result *r;
    skmt_error err;
    char *out;

    REQUIRE(marks_find(&m, text, strlen(text)));
    if (!CHECK(!skmt_session_translate(s, m.bare, NULL, &r, &err))) return;
    REQUIRE(mark_pieces_read(&p, r, 0));
    out = marks_insert(&m, skmt_result_text(r, 0), &p);
    REQUIRE(out != NULL);
    CHECK_STR(out, want);
    free(out);
    mark_pieces_release(&p);
    skmt_result_free(r);
    marks_release(&m);
}

/* The attention finds the words of both languages, also when a verb moves, and
 * in the second sentence of a line. */
TEST(marks_follow_attention)
{
    skmt_options *o;
    skmt_session *s;
    skmt_model *model;
    skmt_error err;

    if (skmt_model_open(&model, SHIPPED_MODEL, &err))
        SKIP("no " SHIPPED_MODEL);
    REQUIRE(!skmt_options_new(&o, &err));
    REQUIRE(!skmt_options_set(o, "attention", "true", &err));
    REQUIRE(!skmt_session_new(&s, model, o, &err));
    check_model_case(s, "Sie können den Ordner {0} nicht löschen.",
                     "You can't delete the folder {0}.");
    check_model_case(s, "Guten Morgen. Das Haus {0} ist rot.",
                     "Good morning. The house {0} is red.");
    check_model_case(s, "Guten Morgen {0}. Das Haus ist rot.",
                     "Good morning {0}. The house is red.");
    check_model_case(s, "{0} Das Haus {1} ist rot. {2}",
                     "{0} The house {1} is red. {2}");
    skmt_session_free(s);
    skmt_options_free(o);
    skmt_model_close(model);
}

/* ---- XML ----------------------------------------------------------------- */

TEST(marks_xml)
{
    static const char *const same[] = { "a < b > c", "&", "&x;", "&#;", "&#x;",
        "&#xD800;", "&#0;", "&#99999999;", "&amp", "x<3>" };
    char *s;

    s = xml_unescape("&lt;b&gt; &amp;amp; &quot;&apos;&#65;&#x20AC;&nbsp;");
    CHECK_STR(s, "<b> &amp; \"'A€\xC2\xA0");
    free(s);
    s = xml_escape("a < b & \"c\" > d");
    CHECK_STR(s, "a &lt; b &amp; \"c\" &gt; d");
    free(s);
    for (size_t i = 0; i < COUNT(same); i++) {
        s = xml_unescape(same[i]);
        CHECK_STR(s, same[i]);
        free(s);
        CHECK(!text_has_markup(same[i]));
    }
    CHECK(text_has_markup("a <b>c</b>"));
    CHECK(text_has_markup("x </p> y"));
    CHECK(text_has_markup("<!-- c -->"));
    CHECK(text_has_markup("<x id=\"1\"/>"));
    CHECK(!text_has_markup("a <b"));
}
