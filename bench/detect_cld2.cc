// detect_cld2.cc - lets bench/detect.py call libcld2 (Debian: libcld2-dev).
#include <cstdio>
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <cstring>

// The more probable one of German and English: "de", "en", or "?" if the
// library finds neither.
extern "C" const char *cld2_find(const char *text)
{
    CLD2::CLDHints hints = { NULL, NULL, CLD2::UNKNOWN_ENCODING,
                             CLD2::UNKNOWN_LANGUAGE };
    CLD2::Language found[3];
    int percent[3], bytes;
    double score[3];
    bool reliable;

    CLD2::ExtDetectLanguageSummary(text, (int)strlen(text), true, &hints,
                                   CLD2::kCLDFlagBestEffort, found, percent,
                                   score, NULL, &bytes, &reliable);
    for (int i = 0; i < 3; i++) {
        const char *code = CLD2::LanguageCode(found[i]);

        if (!strcmp(code, "de") || !strcmp(code, "en")) return code;
    }
    return "?";
}
