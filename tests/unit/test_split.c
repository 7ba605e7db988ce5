/* test_split.c - sentence and clause borders, and what is not a border. */
#include "test.h"

#include "open_subword.h"
#include "text/language.h"
#include "text/split.h"

/* Returns the sentences of a text, joined by "|". */
static const char *split(const char *text, const char *lang)
{
    static char line[2000];
    struct spans s = { 0 };
    struct err e;
    size_t at = 0, done = 0;

    CHECK_OK(split_sentences(text, strlen(text), lang, &s, &e), &e);
    for (size_t i = 0; i < s.n; i++) {
        size_t n = s.at[i].end - s.at[i].begin;

        CHECK(s.at[i].begin >= done && n > 0 && s.at[i].end <= strlen(text));
        done = s.at[i].end;
        if (i) line[at++] = '|';
        memcpy(line + at, text + s.at[i].begin, n);
        at += n;
    }
    line[at] = '\0';
    spans_release(&s);
    return line;
}

struct pair { const char *text, *want; };

/* If want is NULL, the text is one sentence. */
static void check(const struct pair *c, size_t n, const char *lang)
{
    for (size_t i = 0; i < n; i++)
        CHECK_STR(split(c[i].text, lang), c[i].want ? c[i].want : c[i].text);
}

TEST(split_german)
{
    static const struct pair c[] = {
        { "Das ist gut. Das auch.", "Das ist gut.|Das auch." },
        { "Er kam! Sie ging? Ja.", "Er kam!|Sie ging?|Ja." },
        { "Wir treffen uns am 3. Oktober in Berlin.", NULL },
        { "Am 1. Januar 2020 begann es. Danach kam nichts.",
          "Am 1. Januar 2020 begann es.|Danach kam nichts." },
        { "Das war 1990. Danach wurde alles anders.",
          "Das war 1990.|Danach wurde alles anders." },
        { "Der 150. Geburtstag und der 24.12. Weihnachten.", NULL },
        { "Obst, z. B. Äpfel, d. h. Kernobst, u. a. Birnen.", NULL },
        { "Obst, z.B. Äpfel, d.h. Kernobst, bzw. Birnen.", NULL },
        { "Herr Dr. Müller und Prof. Dr. med. Schmidt kamen.", NULL },
        { "Dipl.-Ing. Meier wohnt in der Bergstr. Das ist nah.",
          "Dipl.-Ing. Meier wohnt in der Bergstr.|Das ist nah." },
        { "Nach Art. 5 Abs. 2 Nr. 3 GG gilt das.", NULL },
        { "Das steht in Abs. 2. Es gilt seit ca. 1990.", NULL },
        { "Es kostet 3,5 Mio. Euro bzw. 1.000 Euro. Das ist viel.",
          "Es kostet 3,5 Mio. Euro bzw. 1.000 Euro.|Das ist viel." },
        { "Äpfel, Birnen usw. Die Liste ist lang.",
          "Äpfel, Birnen usw.|Die Liste ist lang." },
        { "Äpfel, Birnen usw. Obst ist gesund.", NULL },
        { "Ludwig XIV. regierte lange, Ludwig XV. Frankreich auch.", NULL },
        { "Er rief: „Halt!“ Der Mann lief weiter.",
          "Er rief: „Halt!“|Der Mann lief weiter." },
        { "„Was soll das?“ fragte er. „Nichts.“ Sie ging.",
          "„Was soll das?“ fragte er.|„Nichts.“|Sie ging." },
        { "»Komm.« Er ging. (Sie blieb.) Niemand kam.",
          "»Komm.«|Er ging.|(Sie blieb.)|Niemand kam." },
        { "Er hat fünf (!) Autos und zwei (?) Häuser.", NULL },
        { "Nun ja ... vielleicht. Ende.", "Nun ja ... vielleicht.|Ende." },
        { "Er wartete … Niemand kam.", NULL },
        { "Er wartete … Dann kam sie.", "Er wartete …|Dann kam sie." },
        { "1. Der Vertrag gilt. 2. Die Parteien zahlen.",
          "1. Der Vertrag gilt.|2. Die Parteien zahlen." },
        { "J. S. Bach lebte 65 Jahre. Über ihn gibt es viel.",
          "J. S. Bach lebte 65 Jahre.|Über ihn gibt es viel." },
        { "Version 2.0 ist da. Ältere gehen nicht.",
          "Version 2.0 ist da.|Ältere gehen nicht." },
        { "Er kam. – Sie ging.", "Er kam.|– Sie ging." },
        { "Siehe www.example.de. Dort steht es.",
          "Siehe www.example.de.|Dort steht es." },
        { "Vgl. Ziff. 3 und Rdnr. 7 ff. Anders Schmidt.", NULL },
    };

    check(c, COUNT(c), "de");
}

/* Abbreviations that were once split in real law, news, medical and IT
 * texts. */
TEST(split_german_abbreviations)
{
    static const struct pair c[] = {
        { "(1)ABl. Nr. L 23 vom 3.4.1962, ABl. L 12, ABl. C 3.", NULL },
        { "Das steht im ABl. Die Frist läuft.",
          "Das steht im ABl.|Die Frist läuft." },
        { "Siehe BGBl. I 2001, GVBl. Nr. 5, Amtsbl. Hessen.", NULL },
        { "Das Gericht, Rs. C-123/01, Slg. I-5, hat entschieden.", NULL },
        { "Gemäß Unterabs. 2 und UAbs. 3 gilt Dok. KOM 5.", NULL },
        { "Mr. Smith, Mrs. Clinton und Ms. Jones am Mt. Everest.", NULL },
        { "Bayern vs. Dortmund in St. Gallen mit Rev. Jones.", NULL },
        { "Fa. Müller, Fam. Meier, Gebr. Grimm und Msgr. Huber.", NULL },
        { "Die stv. Vorsitzende, der stellv. Leiter, Abg. Schmidt.", NULL },
        { "Die stv./stellv. Vorsitzende kam ggfs. Montag resp. Dienstag.",
          NULL },
        { "Er ist z. Zt. Minister, z. Hd. Herrn Meier, z.Hd. Frau.", NULL },
        { "Das dt./engl./ev./kath. Wörterbuch, frz. Wein.", NULL },
        { "Die dt. Bahn, engl. Tee, die ev. Kirche, kath. Priester.", NULL },
        { "Vom Hbf. Hamburg zur Univ. Kiel, Inst. Biologie.", NULL },
        { "Er wartet am Hbf. Der Zug kommt.",
          "Er wartet am Hbf.|Der Zug kommt." },
        { "Sie nimmt tgl. Tabletten zu 5 Euro plus MwSt. Versand.", NULL },
        { "Alles inkl. MwSt. Das ist teuer.",
          "Alles inkl. MwSt.|Das ist teuer." },
        { "Von der Hauptstr. Hamburg zur Bergstr. 5.", NULL },
        { "Der horiz. Abstand, die durchschn. Rate, Ph. Eur. 5.", NULL },
        { "Mag. Huber und DI-Mag. Maier kamen.", NULL },
        /* Words that only look like abbreviations. */
        { "Das ist etwas, das ich mag. Du auch?",
          "Das ist etwas, das ich mag.|Du auch?" },
        { "Wegen des Maßstabs. Peter sagte zu Strobl. Hans schwieg.",
          "Wegen des Maßstabs.|Peter sagte zu Strobl.|Hans schwieg." },
        { "Es dauert 200 ms. Peter wartet.",
          "Es dauert 200 ms.|Peter wartet." },
        { "Der Film kommt in HD. Peter sieht ihn.",
          "Der Film kommt in HD.|Peter sieht ihn." },
        { "Das ist das Gen. Peter hat es.",
          "Das ist das Gen.|Peter hat es." },
    };

    check(c, COUNT(c), "de");
}

TEST(split_english)
{
    static const struct pair c[] = {
        { "This is it. That too.", "This is it.|That too." },
        { "Mr. Smith and Mrs. Jones met Dr. Who.", NULL },
        { "Fruit, e.g. Apples, i.e. Pomes, etc. are good.", NULL },
        { "Apples, pears, etc. The list is long.",
          "Apples, pears, etc.|The list is long." },
        { "He lives in the U.S. Army barracks.", NULL },
        { "He lives in the U.S. She does not.",
          "He lives in the U.S.|She does not." },
        { "It costs $3.50. That is cheap.", "It costs $3.50.|That is cheap." },
        { "It was 2020. Peter left.", "It was 2020.|Peter left." },
        { "See No. 5 and Fig. 3. They differ.",
          "See No. 5 and Fig. 3.|They differ." },
        { "J. R. R. Tolkien wrote it. It sold well.",
          "J. R. R. Tolkien wrote it.|It sold well." },
        { "\"Stop.\" Peter left.", "\"Stop.\"|Peter left." },
        { "\"What?\" Peter asked.", NULL },
        { "\"Go!\" he said. Then he left.", "\"Go!\" he said.|Then he left." },
        { "Apple Inc. Chairman vs. Google Corp. Lawyers.", NULL },
        { "Wait... What?! No way!!! Yes.",
          "Wait...|What?!|No way!!!|Yes." },
        { "He said (in Rome.) Then [sic.] Nothing.",
          "He said (in Rome.)|Then [sic.]|Nothing." },
        { "iPhone sales rose. iPad sales fell.", NULL },
        { "1. The first. 2. The second.", "1. The first.|2. The second." },
        { "At 5 p.m. Eastern time it ended.", NULL },
        { "World War II. The end.", "World War II.|The end." },
        { "Capt. Kirk, Ms. Jones and Rev. Green vs. Mt. Doom.", NULL },
        { "It took 200 ms. Peter left.", "It took 200 ms.|Peter left." },
    };

    check(c, COUNT(c), "en");
}

TEST(split_general)
{
    static const struct pair c[] = {
        { "", NULL },
        { "   \n ", "" },
        { "no stop at all", NULL },
        { "  Spaces around.  \n  Twice. ", "Spaces around.|Twice." },
        { "A heading\n\nThe text. More", "A heading|The text.|More" },
        { "A heading\r\n \r\nThe text", "A heading|The text" },
        { "A wrapped\nline", NULL },
        { "今日は晴れ。明日は雨！本当？はい", "今日は晴れ。|明日は雨！|本当？|はい" },
        { "「雨だ。」と言った。終わり。", "「雨だ。」と言った。|終わり。" },
        { "Il est là. Élise aussi.", "Il est là.|Élise aussi." },
        { "Привет. Как дела?", "Привет.|Как дела?" },
        { "यह है। वह है।", "यह है।|वह है।" },
        { "« Oui. » « Non. »", "« Oui. »|« Non. »" },
        { "bad \xFF bytes. Next \xC3", "bad \xFF bytes.|Next \xC3" },
    };

    check(c, COUNT(c), NULL);
    check(c, COUNT(c), "fr");
}

/* Abbreviations of plurals have doubled letters and a space inside. */
TEST(split_spanish)
{
    static const struct pair c[] = {
        { "Vive en EE. UU. desde 1990. Es médico.",
          "Vive en EE. UU. desde 1990.|Es médico." },
        { "Volvió de EE. UU. Allí vivía.", "Volvió de EE. UU.|Allí vivía." },
        { "Las FF. AA. y los JJ. OO. de París, según CC. OO. de Madrid.",
          NULL },
        { "Los RR. HH. Sí.", "Los RR. HH.|Sí." },
    };

    check(c, COUNT(c), "es");
}

/* If the language is not known, it is German or English. */
TEST(split_unknown_language)
{
    static const struct pair c[] = {
        { "Le 1. Mai, z.B. Lundi, e.g. Mr. Dupont.", NULL },
        { "Am 3. Oktober kam Dr. Who. The end.",
          "Am 3. Oktober kam Dr. Who.|The end." },
    };

    check(c, COUNT(c), NULL);
    check(c, COUNT(c), "");
    check(c, COUNT(c), "mul");
}

/* A line of sentences.txt: the code of a language, a tab, and a text with '|'
 * where sentences begin. */
static void check_sentences(char *line, int number)
{
    char *text = strchr(line, '\t'), plain[1000];
    struct spans s = { 0 };
    struct err e;
    size_t n = 0, begins[50], n_begins = 1;

    REQUIRE(text && strlen(text) < sizeof plain);
    *text++ = '\0';
    begins[0] = 0;
    for (const char *p = text; *p; p++)
        if (*p != '|') plain[n++] = *p;
        else begins[n_begins++] = n;
    CHECK_OK(split_sentences(plain, n, line, &s, &e), &e);
    for (size_t i = 0; i < s.n || i < n_begins; i++)
        if (i >= s.n || i >= n_begins || s.at[i].begin != begins[i]) {
            test_fail(__FILE__, __LINE__, "sentences.txt:%d: %s: sentence %zu "
                      "begins with \"%.*s\"", number, line, i,
                      (int)(i < s.n ? n - s.at[i].begin : 0),
                      i < s.n ? plain + s.at[i].begin : "");
            break;
        }
    spans_release(&s);
}

TEST(split_every_script)
{
    FILE *f = fopen(test_data("sentences.txt"), "r");
    char line[1000];
    int number = 0, n = 0;

    REQUIRE(f);
    while (fgets(line, sizeof line, f)) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (!line[0] || (line[0] == '#' && line[1] == ' ')) continue;
        check_sentences(line, number);
        n++;
    }
    fclose(f);
    CHECK(n > 130);
}

/* Ten megabytes of difficult text each. A rule that scans backward over the
 * text repeatedly would take forever. */
TEST(split_is_linear)
{
    static const struct { const char *lang, *unit; } c[] = {
        { NULL, "." }, { NULL, ". " }, { NULL, ".\"" }, { NULL, "((" },
        { NULL, ". (" }, { NULL, "a. " }, { NULL, "Ab. Ab" }, { NULL, "\n" },
        { NULL, "。" }, { NULL, ".a" }, { NULL, "1." }, { NULL, "! \"" },
        { NULL, "... " }, { NULL, "\xE2\x80\x9C" }, { NULL, "\xFF" },
        { NULL, " " }, { "ru", "г. Он " }, { "fr", ". » « " },
        { "bo", "།" }, { "bo", "།    " }, { "bo", "ཡིན།" }, { "am", "፡" },
        { "am", "ሀ:" }, { "el", "α;" }, { "km", "។ល" }, { "hi", "॥ १ " },
    };
    size_t len = 10000000;
    char *text = malloc(len);

    for (size_t i = 0; i < COUNT(c); i++) {
        struct spans s = { 0 };
        struct err e;

        for (size_t k = 0, n = strlen(c[i].unit); k < len; k++)
            text[k] = c[i].unit[k % n];
        CHECK_OK(split_sentences(text, len, c[i].lang, &s, &e), &e);
        spans_release(&s);
    }
    free(text);
}

/* Every language of the lists is known, and has one list. */
TEST(split_lists_are_sound)
{
    static const char *const codes[] = {
#define RULES(c, f) c,
#define LIKE(c)
#define W(w)
#define NEVER(w)
#define MAYBE(w)
#define ENDING(w)
#define STARTER(w)
#define FINAL(w)
#define END
#include "text/abbreviations.def"
    };
    char seen[4000] = " ", code[10];

    for (size_t i = 0; i < COUNT(codes); i++)
        for (const char *p = codes[i]; *p; p += strspn(p, " ")) {
            size_t n = strcspn(p, " ");

            snprintf(code, sizeof code, " %.*s ", (int)n, p);
            p += n;
            if (!strcmp(code, " title ") || !strcmp(code, " any ")) continue;
            if (strstr(seen, code) ||
                !language_code((struct str){ code + 1, n }) ||
                strncmp(language_code((struct str){ code + 1, n }), code + 1,
                        n))
                test_fail(__FILE__, __LINE__, "code%s", code);
            strcat(seen, code + 1);
            CHECK(strlen(seen) + sizeof code < sizeof seen);
        }
}

/* ---- clauses ---- */

/* One piece per word; like real spans, without the spaces. */
static size_t words(const char *text, struct piece *p, size_t cap)
{
    size_t n = 0;

    for (uint32_t i = 0; text[i] && n < cap;) {
        uint32_t begin;

        while (text[i] == ' ') i++;
        begin = i;
        while (text[i] && text[i] != ' ') i++;
        p[n++] = (struct piece){ 0, begin, i };
    }
    return n;
}

static size_t cut_in(const char *lang, const char *text, size_t limit)
{
    struct piece p[40];

    return split_clause(text, p, words(text, p, 40), limit, lang);
}

static size_t cut(const char *text, size_t limit)
{
    return cut_in(NULL, text, limit);
}

TEST(clause_takes_the_best_border)
{
    CHECK_INT(cut("a b cc. Dd e, f g", 5), 3);
    CHECK_INT(cut("a b c; d e, f g", 5), 3);
    CHECK_INT(cut("a b c: d e, f g", 5), 3);
    CHECK_INT(cut("a b – c d, f g", 5), 3);
    CHECK_INT(cut("a b ein- c d f g", 5), 5);
    CHECK_INT(cut("a b c, d e f g", 5), 3);
    CHECK_INT(cut("a b c d e f g", 5), 5);
    CHECK_INT(cut("a, b c d e f g", 5), 5);         /* too early */
    CHECK_INT(cut("a b Dr. Foo e, f g h", 6), 5);   /* no sentence end */
    CHECK_INT(cut("ab cd (ef.) Gh i, j k", 6), 3);
    CHECK_INT(cut("a b", 1), 1);
}

TEST(clause_of_other_languages)
{
    CHECK_INT(cut_in("ru", "он живёт, на ул. Ленина в Москве", 5), 2);
    CHECK_INT(cut("он живёт, на ул. Ленина в Москве", 5), 4);
    CHECK_INT(cut_in("ar", "جاء هو؛ ذهبت هي، ثم عاد", 5), 2);
    CHECK_INT(cut_in("hi", "यह है। वह, जो है", 4), 2);
    CHECK_INT(cut_in("am", "ሰላም፣ ነው። እንዴት ነህ ዛሬ", 4), 2);
    CHECK_INT(cut_in("bo", "རེད ཡོད དེབ། མེད འདུག ཡིན", 4), 3);
}

TEST(clause_without_borders)
{
    struct piece p[] = {
        { 0, 0, 4 }, { 0, 4, 4 }, { 0, 4, 4 }, { 0, 4, 4 },
        { 0, 4, 8 }, { 0, 8, 8 }, { 0, 8, 8 }, { 0, 8, 8 },
    };
    const char *text = "👍👍";

    CHECK_INT(split_clause(text, p, 8, 6, NULL), 4);      /* whole characters */
    CHECK_INT(split_clause(text, p, 8, 4, NULL), 4);
    CHECK_INT(split_clause(text, p, 8, 3, NULL), 3);      /* no other way */
    CHECK_INT(split_clause(text, p, 8, 1, NULL), 1);
    /* A single border before the middle is better than none. */
    p[0] = (struct piece){ 0, 0, 1 };
    for (uint32_t i = 1; i < 8; i++) p[i] = (struct piece){ 0, i + 1, i + 2 };
    p[2].begin = p[1].end;
    CHECK_INT(split_clause("a bcdefghij", p, 8, 7, NULL), 1);
}

TEST(clause_on_real_pieces)
{
    static const char text[] = "Die Kommission prüft den Antrag, und das "
        "Parlament stimmt ab. Danach tritt die Verordnung in Kraft.";
    struct test_subword t;
    struct subword *sw = open_test_subword(&t);
    struct pieces p = { 0 };
    struct err e;

    if (sw) {
        CHECK_OK(subword_encode(sw, text, strlen(text), &p, &e), &e);
        for (size_t limit = 1; limit < p.n; limit++) {
            size_t n = split_clause(text, p.at, p.n, limit, NULL);

            CHECK(n >= 1 && n <= limit);
        }
        CHECK_STR(text + p.at[split_clause(text, p.at, p.n, p.n - 1, NULL)]
                             .begin,
                  "Danach tritt die Verordnung in Kraft.");
    }
    pieces_release(&p);
    close_test_subword(&t);
    if (!sw) SKIP("no tokenizer");
}
