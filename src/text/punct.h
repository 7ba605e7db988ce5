/* punct.h - kinds of characters that matter where sentences end. */
#ifndef TEXT_PUNCT_H
#define TEXT_PUNCT_H

#include <stdbool.h>
#include <stdint.h>

/* The kinds of punctuation that may end a sentence. The order matters: if a run
 * has several kinds, it has the last of them in this order. Two full stops or
 * more count as STOP_DOTS.
 *
 * A full stop also ends abbreviations. A mark such as ! ends nothing else, but
 * must be followed by white space. A stop of the last kind needs no white space
 * after it: the danda, the ideographic full stop and others. */
enum stop { STOP_NONE, STOP_DOT, STOP_DOTS, STOP_MARK, STOP_WIDE };

enum stop punct_stop(uint32_t cp);
/* The kind of a run with stops of the kinds a and b. */
enum stop punct_join_stops(enum stop a, enum stop b);

bool punct_is_space(uint32_t cp);
bool punct_is_quote(uint32_t cp);
/* Quotes and brackets that may follow the stop. */
bool punct_is_closer(uint32_t cp);
/* Quotes, brackets, dashes and bullets that may stand before the first word of
 * a sentence. */
bool punct_is_opener(uint32_t cp);
bool punct_is_digit(uint32_t cp);
/* Letters and the marks on them. */
bool punct_is_letter(uint32_t cp);
/* A letter with which a sentence may begin: a capital, or any letter of a
 * script in which sentences do not begin with capitals. */
bool punct_is_initial(uint32_t cp);
/* A letter of a script without capitals. */
bool punct_is_uncased(uint32_t cp);
/* A letter that may be a whole word: Han, kana or Hangul. */
bool punct_is_syllable(uint32_t cp);

#endif
