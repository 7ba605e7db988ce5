/* word_break.h - the Word_Break class of each code point, generated
 * by tools/gen_words.py from Unicode 15.0.0; do not edit. */
#ifndef TEXT_WORD_BREAK_H
#define TEXT_WORD_BREAK_H

#include <stdint.h>

/* The classes of Word_Break. Four of them divide its class Other:
 * BLANK is white space and U+202F; IDEOGRAPH is Han and Hiragana;
 * SOUTHEAST is scripts whose words are found with a dictionary
 * (Thai, Lao, Khmer, Myanmar); OTHER is the remainder. */
enum word_break {
    WB_OTHER,
    WB_BLANK,
    WB_IDEOGRAPH,
    WB_SOUTHEAST,
    WB_CR,
    WB_LF,
    WB_NEWLINE,
    WB_WSEG,
    WB_EXTEND,
    WB_ZWJ,
    WB_FORMAT,
    WB_RI,
    WB_KATAKANA,
    WB_HEBREW,
    WB_LETTER,
    WB_NUMERIC,
    WB_EXTENDNUM,
    WB_SQUOTE,
    WB_DQUOTE,
    WB_MIDNUMLET,
    WB_MIDLETTER,
    WB_MIDNUM
};
/* The class of a character of the tables. */
#define WB_CLASS(c) ((enum word_break)((c) & 0x1F))
#define WB_PLAIN '`'              /* OTHER, not a pictograph */
#define WB_IS_PICTOGRAPH(c) (!((c) & 0x20))
#define WB_BLOCK 128
#define WB_TABLED 0x20000

static const uint8_t word_break_index[1024] = {
    0, 1, 2, 2, 2, 3, 4, 5, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
    19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 2, 2, 31, 32, 33, 34, 35,
    2, 2, 2, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 2, 50, 2,
    2, 51, 52, 53, 54, 55, 56, 57, 57, 58, 59, 57, 60, 57, 61, 62, 63, 64, 65,
    57, 57, 66, 57, 57, 57, 67, 57, 2, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77,
    78, 57, 79, 80, 57, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 81,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73,
    73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 73, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    82, 2, 2, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 95, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 73, 73, 96, 97,
    98, 99, 2, 2, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 57, 110,
    111, 112, 2, 113, 114, 115, 2, 2, 116, 117, 118, 119, 120, 121, 122, 123,
    124, 125, 126, 127, 128, 57, 57, 129, 130, 131, 132, 133, 134, 135, 136,
    137, 138, 57, 139, 140, 57, 141, 142, 143, 144, 57, 145, 146, 147, 148,
    149, 150, 57, 57, 151, 152, 153, 154, 57, 155, 156, 157, 2, 2, 2, 2, 2, 2,
    2, 158, 159, 2, 160, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 161, 2, 2, 2, 2, 2, 2, 2, 2, 162, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 2, 2, 2, 2, 163, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 2, 2, 2, 2, 164, 165, 166, 167, 57, 57, 57, 57, 168,
    57, 169, 170, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 171,
    172, 73, 173, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 174, 175, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 57, 57, 57, 57, 57, 176, 57, 57, 57, 177, 178, 179, 57, 57, 57,
    180, 181, 182, 2, 2, 183, 184, 185, 57, 57, 57, 57, 186, 187, 57, 57, 57,
    57, 57, 57, 57, 57, 188, 57, 189, 190, 191, 57, 57, 192, 57, 57, 57, 193,
    57, 57, 57, 57, 57, 194, 2, 195, 196, 57, 57, 57, 57, 57, 57, 57, 57, 57,
    197, 198, 57, 57, 199, 199, 200, 201, 202, 199, 199, 203, 199, 199, 204,
    199, 205, 199, 206, 207, 208, 209, 210, 199, 199, 199, 57, 211, 199, 199,
    199, 199, 199, 199, 199, 212,
};

static const char word_break_block[213][WB_BLOCK] = {
    "`````````aeffd``````````````````g`r````q````u`s`ooooooooootu````"
    "`nnnnnnnnnnnnnnnnnnnnnnnnnn````p`nnnnnnnnnnnnnnnnnnnnnnnnnn`````",
    "`````f``````````````````````````a````````@n``j@``````n`t``n`````"
    "nnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnn``````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh"
    "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhnnnnn`nn``nnnnun",
    "``````ntnnn`n`nnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnn",
    "nn`hhhhhhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnn``nnnn`ntnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnun``````hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh`h"
    "`hh`hh`h````````mmmmmmmmmmmmmmmmmmmmmmmmmmm````mmmmnt```````````",
    "jjjjjj``````uu``hhhhhhhhhhh`j```nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnhhhhhhhhhhhhhhhhhhhhhoooooooooo`ou`nnhnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnn`nhhhhhhhj`hhhhhhnnhh`hhhhnnoooooooooonnn``n",
    "```````````````jnhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhhhh"
    "hhhhhhhhhhh``nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhn``````````````"
    "oooooooooonnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhnn``u`n``h``",
    "nnnnnnnnnnnnnnnnnnnnnnhhhhnhhhhhhhhhnhhhnhhhhh``````````````````"
    "nnnnnnnnnnnnnnnnnnnnnnnnnhhh````nnnnnnnnnnn`````nnnnnnnnnnnnnnnn",
    "nnnnnnnn`nnnnnn`jj``````hhhhhhhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnhhhhhhhhhhhhhhhhhhhhhhhhjhhhhhhhhhhhhhhhhhhhhhhhhhhhhh",
    "hhhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhnhh"
    "hhhhhhhhhhhhhhhhnhhhhhhhnnnnnnnnnnhh``oooooooooo`nnnnnnnnnnnnnnn",
    "nhhh`nnnnnnnn``nn``nnnnnnnnnnnnnnnnnnnnnn`nnnnnnn`n```nnnn``hnhh"
    "hhhhh``hh``hhhn````````h````nn`nnnhh``oooooooooonn``````````n`h`",
    "`hhh`nnnnnn````nn``nnnnnnnnnnnnnnnnnnnnnn`nnnnnnn`nn`nn`nn``h`hh"
    "hhh````hh``hhh```h```````nnnn`n```````oooooooooohhnnnh``````````",
    "`hhh`nnnnnnnnn`nnn`nnnnnnnnnnnnnnnnnnnnnn`nnnnnnn`nn`nnnnn``hnhh"
    "hhhhhh`hhh`hhh``n```````````````nnhh``oooooooooo`````````nhhhhhh",
    "`hhh`nnnnnnnn``nn``nnnnnnnnnnnnnnnnnnnnnn`nnnnnnn`nn`nnnnn``hnhh"
    "hhhhh``hh``hhh```````hhh````nn`nnnhh``oooooooooo`n``````````````",
    "``hn`nnnnnn```nnn`nnnn```nn`n`nn```nn```nnn```nnnnnnnnnnnn````hh"
    "hhh```hhh`hhhh``n``````h``````````````oooooooooo````````````````",
    "hhhhhnnnnnnnn`nnn`nnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnn``hnhh"
    "hhhhh`hhh`hhhh```````hh`nnn``n``nnhh``oooooooooo````````````````",
    "nhhh`nnnnnnnn`nnn`nnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnn`nnnnn``hnhh"
    "hhhhh`hhh`hhhh```````hh``````nn`nnhh``oooooooooo`nnh````````````",
    "hhhhnnnnnnnnn`nnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhnhh"
    "hhhhh`hhh`hhhhn`````nnnh```````nnnhh``oooooooooo``````````nnnnnn",
    "`hhh`nnnnnnnnnnnnnnnnnn```nnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnn`n``"
    "nnnnnnn```h````hhhhhh`h`hhhhhhhh``````oooooooooo``hh````````````",
    "`cccccccccccccccccccccccccccccccccccccccccccccccchcchhhhhhh`````"
    "ccccccchhhhhhhh`oooooooooo``````````````````````````````````````",
    "`cc`c`ccccc`cccccccccccccccccccccccc`c`cccccccccchcchhhhhhhhhc``"
    "ccccc`c`hhhhhhh`oooooooooo``cccc````````````````````````````````",
    "n```````````````````````hh``````oooooooooo```````````h`h`h````hh"
    "nnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn````hhhhhhhhhhhhhhh",
    "hhhhh`hhnnnnnhhhhhhhhhhh`hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh```"
    "``````h`````````````````````````````````````````````````````````",
    "ccccccccccccccccccccccccccccccccccccccccccchhhhhhhhhhhhhhhhhhhhc"
    "oooooooooo``````cccccchhhhcccchhhchhhcchhhhhhhccchhhhccccccccccc",
    "cchhhhhhhhhhhhchoooooooooohhhhccnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnn`n`````n``nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnn`nnnn``nnnnnnn`n`nnnn``nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnn`nnnn``nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnn``nnnnnnn`"
    "n`nnnn``nnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnn`nnnn``nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnn``hhh````````````````````````````````",
    "nnnnnnnnnnnnnnnn````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``nnnnnn``",
    "`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``nnnnnnnnnnnnnnnnn",
    "gnnnnnnnnnnnnnnnnnnnnnnnnnn`````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn```nnnnnnnnnnn```````",
    "nnnnnnnnnnnnnnnnnnhhhh`````````nnnnnnnnnnnnnnnnnnnhhh```````````"
    "nnnnnnnnnnnnnnnnnnhh````````````nnnnnnnnnnnnn`nnn`hh````````````",
    "cccccccccccccccccccccccccccccccccccccccccccccccccccchhhhhhhhhhhh"
    "hhhhhhhhhhhhhhhhhhhh```c````ch``oooooooooo``````````````````````",
    "```````````hhhjhoooooooooo``````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn```````",
    "nnnnnhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhn`````nnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`hhhhhhhhhhhh````hhhhhhhhhhhh````"
    "``````oooooooooocccccccccccccccccccccccccccccc``ccccc```````````",
    "cccccccccccccccccccccccccccccccccccccccccccc````cccccccccccccccc"
    "cccccccccc``````ooooooooooc```cc````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnhhhhh````cccccccccccccccccccccccccccccccc"
    "ccccccccccccccccccccchhhhhhhhhh`hhhhhhhhhhhhhhhhhhhhhhhhhhhhh``h",
    "oooooooooo``````oooooooooo``````cccccccccccccc``hhhhhhhhhhhhhhhh"
    "hhhhhhhhhhhhhhh`````````````````````````````````````````````````",
    "hhhhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhh"
    "hhhhhnnnnnnnn```oooooooooo`````````````````hhhhhhhhh````````````",
    "hhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhnnoooooooooonnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhh````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhhhhhhhh````````"
    "oooooooooo```nnnoooooooooonnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``",
    "nnnnnnnnn```````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``nnn"
    "````````````````hhh`hhhhhhhhhhhhhhhhhhhhhnnnnhnnnnnnhnnhhhn`````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh",
    "nnnnnnnnnnnnnnnnnnnnnn``nnnnnn``nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnn``nnnnnn``nnnnnnnn`n`n`n`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnn`n`"
    "``nnn`nnnnnnn```nnnn``nnnnnn````nnnnnnnnnnnnn`````nnn`nnnnnnn```",
    "gggggggaggg`hijj````````ss``````````s``tffjjjjja````````````@``p"
    "p```u````@``````````p``````````gjjjjj`jjjjjjjjjj`n`````````````n",
    "````````````````nnnnnnnnnnnnn```````````````````````````````````"
    "````````````````hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh```````````````",
    "``n````n``nnnnnnnnnn`n```nnnnn````@`n`n`n`nnnn`nnnnnnnnnnN``nnnn"
    "`````nnnnn````n`````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnn```````````@@@@@@```````````````@@`````````````````````"
    "````````````````````````````````````````````````````````````````",
    "````````````````````````````````````````````````````````````````"
    "````````````````````````````````````````````````````````````````",
    "``````````````````````````@@````````````@```````````````````````"
    "````````````````````````````````````````````````````````````````",
    "````````@```````````````````````````````````````````````````````"
    "```````````````@`````````````````````````@@@@@@@@@@@````@@@`````",
    "``````````````````````````````````````````````````````nnnnnnnnnn"
    "nnNnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````````````````````",
    "``````````````````````````````````````````@@``````````@`````````"
    "@``````````````````````````````````````````````````````````@@@@`",
    "@@@@@@`@@@@@@@@@@@@`@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
    "@@@@@@``````````@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
    "@@@@@@``@@@@@@@@@@@`@`@``````@```@``````@``````````@@```````````"
    "````@``@````@`@````@@@`@```````````@@@@@````````````````````````",
    "`````````````````````@@@`````````@``````````````@``````````````@"
    "````````````````````````````````````````````````````````````````",
    "````````````````````````````````````````````````````@@``````````"
    "````````````````````````````````````````````````````````````````",
    "`````@@@```````````````````@@```````````````````````````````````"
    "````````````````@````@``````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````nnnnhhhnn````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`n`````n``nnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn```````n```````````````h",
    "nnnnnnnnnnnnnnnnnnnnnnn`````````nnnnnnn`nnnnnnn`nnnnnnn`nnnnnnn`"
    "nnnnnnn`nnnnnnn`nnnnnnn`nnnnnnn`hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh",
    "```````````````````````````````````````````````n````````````````"
    "````````````````````````````````````````````````````````````````",
    "bbbbbbbbbbbbbbbbbbbbbbbbbb`bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb````````````",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "bbbbbbbbbbbbbbbbbbbbbb``````````````````````````````````````````",
    "g````n`b`````````````````````````bbbbbbbbbhhhhhh@lllll``bbbnn@``"
    "`bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "bbbbbbbbbbbbbbbbbbbbbbb``hhllbbbllllllllllllllllllllllllllllllll"
    "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllll`llll",
    "`````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnn`````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "````````````````````````````````````````````````llllllllllllllll",
    "```````````````````````@`@``````````````````````````````````````"
    "````````````````lllllllllllllllllllllllllllllllllllllllllllllll`",
    "llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
    "llllllllllllllllllllllll````````````````````````````````````````",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnn```````````````````````````````````````````````````"
    "````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``",
    "nnnnnnnnnnnnn```nnnnnnnnnnnnnnnnoooooooooonn````````````````````"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhh`hhhhhhhhhh`n",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhh``````````````",
    "````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnn`````nn`n`nnnnn````````````````````````nnnnnnnnnnnnnn",
    "nnhnnnhnnnnhnnnnnnnnnnnnnnnnnnnnnnnhhhhh````h```````````````````"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn````````````",
    "hhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhh"
    "hhhhhh``````````oooooooooo``````hhhhhhhhhhhhhhhhhhnnnnnn```n`nnh",
    "oooooooooonnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhh``nnnnnnnnnnnnnnnn"
    "nnnnnnnhhhhhhhhhhhhh````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnn```",
    "hhhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhh"
    "h``````````````noooooooooo``````ccccchccccccccccooooooooooccccc`",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhh`````````"
    "nnnhnnnnnnnnhh``oooooooooo``````ccccccccccccccccccccccccccchhhcc",
    "cccccccccccccccccccccccccccccccccccccccccccccccchchhhcchhccccchh"
    "chc````````````````````````cccccnnnnnnnnnnnhhhhh``nnnhh`````````",
    "`nnnnnn``nnnnnn``nnnnnn`````````nnnnnnn`nnnnnnn`nnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````nnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhh`hh``oooooooooo``````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn````````````nnnnnnnnnnnnnnnn"
    "nnnnnnn````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn````",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb``bbbbbbbbbbbbbbbb",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "bbbbbbbbbbbbbbbbbbbbbbbbbb``````````````````````````````````````",
    "nnnnnnn````````````nnnnn`````mhmmmmmmmmmm`mmmmmmmmmmmmm`mmmmm`m`"
    "mm`mm`mmmmmmmmmmnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````````````"
    "```````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``"
    "````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnn``nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnn````````````````````````````````````````nnnnnnnnnnnn````",
    "hhhhhhhhhhhhhhhhu``tu```````````hhhhhhhhhhhhhhhh```pp```````````"
    "`````````````pppu`s`ut``````````````````````````nnnnn`nnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``j",
    "```````s````u`s`ooooooooootu`````nnnnnnnnnnnnnnnnnnnnnnnnnn````p"
    "`nnnnnnnnnnnnnnnnnnnnnnnnnn```````````llllllllllllllllllllllllll",
    "llllllllllllllllllllllllllllllhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`"
    "``nnnnnn``nnnnnn``nnnnnn``nnn````````````````````````````jjj````",
    "nnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnn`nn`n"
    "nnnnnnnnnnnnnn``nnnnnnnnnnnnnn``````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`````",
    "````````````````````````````````````````````````````````````````"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn```````````",
    "````````````````````````````````````````````````````````````````"
    "`````````````````````````````````````````````````````````````h``",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnn```nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnn```````````````h```````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`````````````nnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnn`````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhh`````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnn````nnnnnnnn`nnnnn``````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``oooooooooo``````nnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnn````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn````````nnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn````````````nnnnnnnnnnn`nnnn",
    "nnnnnnnnnnn`nnnnnnn`nn`nnnnnnnnnnn`nnnnnnnnnnnnnnn`nnnnnnn`nn```"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`````````"
    "nnnnnnnnnnnnnnnnnnnnnn``````````nnnnnnnn````````````````````````",
    "nnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnn`````"
    "````````````````````````````````````````````````````````````````",
    "nnnnnn``n`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nn```n``n"
    "nnnnnnnnnnnnnnnnnnnnnn``````````nnnnnnnnnnnnnnnnnnnnnnn`````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`````````````````````````````````"
    "````````````````````````````````nnnnnnnnnnnnnnnnnnn`nn``````````",
    "nnnnnnnnnnnnnnnnnnnnnn``````````nnnnnnnnnnnnnnnnnnnnnnnnnn``````"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````nn"
    "````````````````````````````````````````````````````````````````",
    "nhhh`hh`````hhhhnnnn`nnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnn``hhh````h"
    "````````````````````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnn```",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnn```````````````````````````````````"
    "nnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnhh`````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````````"
    "nnnnnnnnnnnnnnnnnnnnnn``````````nnnnnnnnnnnnnnnnnnn`````````````",
    "nnnnnnnnnnnnnnnnnn``````````````````````````````````````````````"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnn```````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`````````````"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhh````````oooooooooo``````"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`hh```nn``````````````"
    "`````````````````````````````````````````````````````````````hhh",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````````n````````nnnnnnnnnnnnnnnn"
    "nnnnnnhhhhhhhhhhh```````````````````````````````nnnnnnnnnnnnnnnn",
    "nnhhhh``````````````````````````````````````````nnnnnnnnnnnnnnnn"
    "nnnnn```````````````````````````nnnnnnnnnnnnnnnnnnnnnnn`````````",
    "hhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhh"
    "hhhhhhh```````````````````````````````oooooooooohnnhhn`````````h",
    "hhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhh``j``"
    "``h``````````j``nnnnnnnnnnnnnnnnnnnnnnnnn```````oooooooooo``````",
    "hhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhh`oooooooooo"
    "````nhhn````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnh``n`````````",
    "hhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhh"
    "hnnnn````hhhh`hhoooooooooon`n```````````````````````````````````",
    "nnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhh``````hn"
    "nh``````````````````````````````````````````````````````````````",
    "nnnnnnn`n`nnnn`nnnnnnnnnnnnnnn`nnnnnnnnnn```````nnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhh`````oooooooooo``````",
    "hhhh`nnnnnnnn``nn``nnnnnnnnnnnnnnnnnnnnnn`nnnnnnn`nn`nnnnn`hhnhh"
    "hhhhh``hh``hhh``n``````h`````nnnnnhh``hhhhhhh```hhhhh```````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhh"
    "hhhhhhhnnnn`````oooooooooo````hnnn``````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhhhh"
    "hhhhnn`n````````oooooooooo``````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhh``hhhhhhhh"
    "h```````````````````````nnnnhh``````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhhhh"
    "h```n```````````oooooooooo``````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhn```````"
    "oooooooooo``````````````````````````````````````````````````````",
    "ccccccccccccccccccccccccccc``hhhhhhhhhhhhhhh````oooooooooocc```c"
    "ccccccc`````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhhhhhhhhh`````"
    "````````````````````````````````````````````````````````````````",
    "````````````````````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnoooooooooo`````````````````````n",
    "nnnnnnn``n``nnnnnnnn`nn`nnnnnnnnnnnnnnnnnnnnnnnnhhhhhh`hh``hhhhn"
    "hnhh````````````oooooooooo``````````````````````````````````````",
    "````````````````````````````````nnnnnnnn``nnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnhhhhhhh``hhhhhhhn`nh```````````````````````````",
    "nhhhhhhhhhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhnhhhh`"
    "```````h````````nhhhhhhhhhhhnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnhhhhhhhhhhhhhhhh```n``````````````````nnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn```````",
    "nnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhhh`hhhhhhhh"
    "n```````````````oooooooooo````````````````````````nnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnn``hhhhhhhhhhhhhhhhhhhhhh`hhhhhhhhhhhhhh`````````"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnn`nn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhh```h`hh`h"
    "hhhhhhnh````````oooooooooo``````nnnnnn`nn`nnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnhhhhh`hh`hhhhhn```````oooooooooo``````````````````````"
    "````````````````````````````````````````````````````````````````",
    "````````````````````````````````````````````````````````````````"
    "````````````````````````````````nnnnnnnnnnnnnnnnnnnhhhh`````````",
    "hhnhnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhh```hh"
    "hhh`````````````oooooooooo``````````````````````````````````````",
    "````````````````````````````````````````````````n```````````````"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnn``````````````````````````````````````"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnn````````````````````````````````````````````````````````````",
    "````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn```````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnjjjjjjjjjjjjjjjj"
    "hnnnnnnhhhhhhhhhhhhhhh``````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnn`````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn```````"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`oooooooooo``````nnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`"
    "oooooooooo``````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``hhhhh```````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhhhh`````````"
    "nnnn````````````oooooooooo`````````nnnnnnnnnnnnnnnnnnnnn`````nnn",
    "nnnnnnnnnnnnnnnn````````````````````````````````````````````````"
    "````````````````````````````````````````````````````````````````",
    "````````````````````````````````````````````````````````````````"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnn````hnhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh",
    "hhhhhhhh```````hhhhnnnnnnnnnnnnn````````````````````````````````"
    "````````````````````````````````nnbnh```````````hh``````````````",
    "````````````````````````````````````````````````````````````````"
    "````````````````````````````````````````````````llll`lllllll`ll`",
    "lbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbblll```````````````b`````````````"
    "````````````````bbb``l``````````````llll````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`````nnnnnnnnnnnnn```",
    "nnnnnnnnn```````nnnnnnnnnn```hh`jjjj````````````````````````````"
    "````````````````````````````````````````````````````````````````",
    "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh``hhhhhhhhhhhhhhhh"
    "hhhhhhh`````````````````````````````````````````````````````````",
    "````````````````````````````````````````````````````````````````"
    "`````````````````````````````````````hhhhh```hhhhhhjjjjjjjjhhhhh",
    "hhh``hhhhhhh``````````````````````````````hhhh``````````````````"
    "````````````````````````````````````````````````````````````````",
    "````````````````````````````````````````````````````````````````"
    "``hhh```````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nn``n``nn``nnnn`nnnnnnnnnnnn`n`nnn"
    "nnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnn`nnnn``nnnnnnnn`nnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnn`"
    "nnnnn`n```nnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``nnnnnnnnnnnnnnnnnnnnnnnn"
    "n`nnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnn",
    "nnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnn"
    "nnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnn",
    "nnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`nnnnnnnnnnnnnnnnnnnnnn"
    "nnn`nnnnnnnn``oooooooooooooooooooooooooooooooooooooooooooooooooo",
    "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh````hhhhh"
    "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh````````h``````````",
    "````h``````````````````````hhhhh`hhhhhhhhhhhhhhh````````````````"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````nnnnnn`````````````````````"
    "````````````````````````````````````````````````````````````````",
    "hhhhhhh`hhhhhhhhhhhhhhhhh``hhhhhhh`hh`hhhhh`````nnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn``````````````````",
    "```````````````h````````````````````````````````````````````````"
    "````````````````````````````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn```hhhhhhhnnnnnnn``"
    "oooooooooo````n`````````````````````````````````````````````````",
    "````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnh`````````````````"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhoooooooooo``````",
    "````````````````````````````````````````````````````````````````"
    "````````````````nnnnnnnnnnnnnnnnnnnnnnnnnnnnhhhhoooooooooo``````",
    "````````````````````````````````````````````````````````````````"
    "````````````````````````````````nnnnnnn`nnnn`nn`nnnnnnnnnnnnnnn`",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnn```````````hhhhhhh`````````````````````````````````````````",
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnhhhhhhhn````oooooooooo``````````````````````````````````````",
    "nnnn`nnnnnnnnnnnnnnnnnnnnnnnnnnn`nn`n``n`nnnnnnnnnn`nnnn`n`n````"
    "``n````n`n`n`nnn`nn`n``n`n`n`n`n`nn`n``nnnn`nnnnnnn`nnnn`nnnn`n`",
    "nnnnnnnnnn`nnnnnnnnnnnnnnnnn`````nnn`nnnnn`nnnnnnnnnnnnnnnnn````"
    "````````````````````````````````````````````````````````````````",
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
    "`````````````@@@```````````````````````````````@nnnnnnnnnnnnnnnn"
    "nnnnnnnnnn``````nnnnnnnnnnnnnnnnnnnnnnnnnn``@@@@NNnnnnnnnnnnnnNN",
    "nnnnnnnnnn````@``@@@@@@@@@@``````````````````@@@@@@@@@@@@@@@@@@@"
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@kkkkkkkkkkkkkkkkkkkkkkkkkk",
    "b@@@@@@@@@@@@@@@``````````@````````````````````@``@@@@@@@@@`@@@@"
    "`````````@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@hhhhh",
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@``"
    "``````@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
    "@@@@@@@@@@@@@@@@````````````````````````````````````````````````",
    "````````````````````````````````````````````````````````````````"
    "````````````````````````````````````````````````````@@@@@@@@@@@@",
    "````````````````````````````````````````````````````````````````"
    "`````````````````````@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
    "````````````@@@@````````````````````````````````````````````````"
    "````````@@@@@@@@``````````@@@@@@````````````````````````````````",
    "````````@@@@@@@@``````````````````````````````@@@@@@@@@@@@@@@@@@"
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
    "````````````@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@`@@@@"
    "@@@@@@`@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
    "````````````````````````````````````````````````````````````````"
    "````````````````````````````````````````````````oooooooooo``````",
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@``",
};

/* Code points from WB_TABLED on; those in no range are OTHER. */
static const struct { uint32_t first, last; char cls; }
word_break_high[] = {
    { 0x20000, 0x2A6DF, 'b' },
    { 0x2A700, 0x2B739, 'b' },
    { 0x2B740, 0x2B81D, 'b' },
    { 0x2B820, 0x2CEA1, 'b' },
    { 0x2CEB0, 0x2EBE0, 'b' },
    { 0x2F800, 0x2FA1D, 'b' },
    { 0x30000, 0x3134A, 'b' },
    { 0x31350, 0x323AF, 'b' },
    { 0xE0001, 0xE0001, 'j' },
    { 0xE0020, 0xE007F, 'h' },
    { 0xE0100, 0xE01EF, 'h' },
};

#endif
