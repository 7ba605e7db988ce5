/* test_detector.c - tests which language the detector finds, and how sure it
 * is. */
#include "server/detector.h"
#include "test.h"

static const char *const german_english[] = { "de", "en" };

static struct detector *made_detector(const char *const *codes, int n)
{
    struct detector *d = NULL;
    skmt_error err;

    if (detector_new(&d, codes, n, &err))
        test_fail(__FILE__, __LINE__, "%s", err.message);
    return d;
}

static void check_text(const struct detector *d, const char *text,
                       const char *want)
{
    double confidence = -1;
    const char *got = detector_find(d, text, &confidence);

    if (!got || strcmp(got, want))
        test_fail(__FILE__, __LINE__, "%s: %s, want %s", text,
                  got ? got : "none", want);
    CHECK(confidence >= 50 && confidence <= 100);
}

TEST(detector_knows_words_of_every_day)
{
    static const char *const german[] = {
        "Hallo", "Welt", "danke", "GRÖSSE", "Straße", "Guten Morgen!",
        "Datei öffnen", "Wo ist der Bahnhof?", "Ich weiß es nicht.", "und",
    };
    static const char *const english[] = {
        "Hello", "world", "THANKS", "Open file", "Good morning!", "the",
        "Where is the station?", "I do not know it.", "Save as ...",
    };
    struct detector *d = made_detector(german_english, 2);

    REQUIRE(d);
    for (size_t i = 0; i < COUNT(german); i++) check_text(d, german[i], "de");
    for (size_t i = 0; i < COUNT(english); i++)
        check_text(d, english[i], "en");
    detector_free(d);
}

TEST(detector_needs_letters)
{
    static const char *const texts[] = { "", " ", "123", "!?", "\xc2\xa0",
                                         "\xf0\x9f\x98\x80", "3 + 4 = 7" };
    struct detector *d = made_detector(german_english, 2);

    REQUIRE(d);
    for (size_t i = 0; i < COUNT(texts); i++) {
        double confidence = 9;

        CHECK(!detector_find(d, texts[i], &confidence));
        CHECK(confidence == 0);
    }
    detector_free(d);
}

/* Longer texts are surer, and a text of both languages is less sure. */
TEST(detector_is_surer_of_more_text)
{
    struct detector *d = made_detector(german_english, 2);
    double word, text, mixed;

    REQUIRE(d);
    detector_find(d, "Haus", &word);
    detector_find(d, "Das Haus steht an der Straße.", &text);
    detector_find(d, "Das house", &mixed);
    CHECK(text > word);
    CHECK(text > 99);
    CHECK(mixed < text);
    detector_free(d);
}

TEST(detector_tells_scripts_apart)
{
    static const char *const codes[] = { "ja", "zh", "ru", "el", "en", "ko" };
    struct detector *d = made_detector(codes, 6);

    REQUIRE(d);
    check_text(d, "これは本です", "ja");
    check_text(d, "안녕하세요", "ko");
    check_text(d, "Привет, мир", "ru");
    check_text(d, "Καλημέρα", "el");
    check_text(d, "Guten Morgen", "en");
    detector_free(d);
}

/* Sentences of the same meaning in each language of the list. */
TEST(detector_knows_the_frequent_words_of_other_languages)
{
    static const struct { const char *code, *text; } known[] = {
        { "de", "Das Wasser ist kalt, aber wir haben Zeit." },
        { "en", "The water is cold, but we have time." },
        { "fr", "L'eau est froide, mais nous avons le temps." },
        { "es", "El agua está fría, pero tenemos tiempo." },
        { "it", "L'acqua è fredda, ma abbiamo tempo." },
        { "pt", "A água está fria, mas não temos pressa." },
        { "ca", "L'aigua és freda, però tenim temps." },
        { "nl", "Het water is koud, maar we hebben tijd." },
        { "sv", "Vattnet är kallt, men vi har tid." },
        { "fi", "Vesi on kylmää, mutta meillä on aikaa." },
        { "et", "Vesi on külm, aga meil on aega." },
        { "pl", "Woda jest zimna, ale mamy czas." },
        { "cs", "Voda je studená, ale můžeme počkat." },
        { "sk", "Voda nie je teplá, ale môžeme počkať." },
        { "hu", "A víz hideg, de nem kell sietni." },
        { "ro", "Apa este rece, dar nu ne grăbim." },
        { "tr", "SU SOĞUK AMA BİZ İÇİN İYİ." },
        { "sl", "Voda je mrzla, ker pa ni še poletje." },
        { "lt", "Vanduo šaltas, bet mes turime laiko." },
        { "lv", "Ūdens ir auksts, bet mums ir laiks." },
        { "id", "Airnya dingin, tetapi kita tidak akan pergi." },
        { "vi", "Nước lạnh nhưng chúng ta có thời gian." },
        { "ru", "ВОДА ХОЛОДНАЯ, НО У НАС ЕСТЬ ВРЕМЯ." },
        { "uk", "Вода холодна, але у нас є час." },
        { "bg", "Водата е студена, но ние имаме време." },
        { "sr", "Вода је хладна, али имамо времена." },
    };
    const char *codes[COUNT(known)];
    struct detector *d;
    double confidence;

    for (size_t i = 0; i < COUNT(known); i++) codes[i] = known[i].code;
    d = made_detector(codes, COUNT(known));
    REQUIRE(d);
    for (size_t i = 0; i < COUNT(known); i++)
        CHECK_STR(detector_find(d, known[i].text, &confidence),
                  known[i].code);
    CHECK(confidence > 50);
    detector_free(d);
}

/* Without words that it knows, the answer is the first language, with an even
 * chance. */
TEST(detector_says_that_it_does_not_know)
{
    static const char *const codes[] = { "fr", "es", "de" };
    struct detector *d = made_detector(codes, 3);
    double confidence;

    REQUIRE(d);
    CHECK_STR(detector_find(d, "ventana", &confidence), "fr");
    CHECK_NEAR(confidence, 100.0 / 3, 1e-9);
    CHECK_STR(detector_find(d, "спасибо", &confidence), "fr");
    CHECK(confidence == 0);
    detector_free(d);
    d = made_detector(codes, 0);
    REQUIRE(d);
    CHECK(!detector_find(d, "hola", &confidence));
    detector_free(d);
}

/* With a language that it knows nothing of, it is never sure. */
TEST(detector_is_unsure_beside_an_unknown_language)
{
    static const char *const codes[] = { "sw", "de", "en" };
    static const char *const more[] = { "sw", "fr", "de", "en" };
    struct detector *d = made_detector(codes, 3);
    double confidence;

    REQUIRE(d);
    CHECK_STR(detector_find(d, "Das ist ein schönes Haus", &confidence), "de");
    CHECK(confidence <= 50);
    detector_free(d);
    d = made_detector(more, 4);
    REQUIRE(d);
    CHECK_STR(detector_find(d, "Das ist ein schönes Haus", &confidence), "de");
    CHECK(confidence <= 50);
    detector_free(d);
}

/* Where frequent words are missing, the statistics still count. */
TEST(detector_uses_statistics_beside_lists)
{
    static const char *const codes[] = { "fr", "de", "en" };
    struct detector *d = made_detector(codes, 3);
    double confidence;

    REQUIRE(d);
    CHECK_STR(detector_find(d, "Versicherung", &confidence), "de");
    CHECK(confidence <= 50);
    CHECK_STR(detector_find(d, "Das ist ein Haus", &confidence), "de");
    CHECK(confidence > 90);
    detector_free(d);
}

TEST(detector_takes_any_bytes)
{
    struct detector *d = made_detector(german_english, 2);
    char text[600];
    double confidence;

    REQUIRE(d);
    for (int i = 1; i < 256; i++) text[i - 1] = (char)i;
    text[255] = 0;
    detector_find(d, text, &confidence);
    memset(text, 'a', sizeof text - 1);         /* a very long word */
    text[sizeof text - 1] = 0;
    CHECK(detector_find(d, text, &confidence));
    for (size_t i = 0; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "ß", 2);
    text[sizeof text - 2] = 0;
    CHECK_STR(detector_find(d, text, &confidence), "de");
    detector_free(d);
}

/* The share of lines of a column whose language is found. */
static double share_found(const struct detector *d, const char *path,
                          int column)
{
    FILE *f = fopen(path, "r");
    char line[8192], *tab;
    int n = 0, right = 0;

    if (!f) return -1;
    while (fgets(line, sizeof line, f)) {
        double confidence;
        const char *got;

        if (!(tab = strchr(line, '\t'))) continue;
        *tab = 0;
        got = detector_find(d, column ? tab + 1 : line, &confidence);
        right += got && !strcmp(got, german_english[column]);
        n++;
    }
    fclose(f);
    return n ? (double)right / n : -1;
}

TEST(detector_finds_the_language_of_sentences)
{
    const char *path = test_shared("corpora/news/flores-devtest.tsv");
    struct detector *d;

    if (!path) SKIP("no full sets");
    d = made_detector(german_english, 2);
    REQUIRE(d);
    CHECK(share_found(d, path, 0) > 0.998);
    CHECK(share_found(d, path, 1) > 0.998);
    detector_free(d);
}
