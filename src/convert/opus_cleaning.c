/* opus_cleaning.c - the replacements of preprocess.sh, as rules of a
 * normalization map.
 *
 * The script replaces the full-width 1 by a quotation mark. That is a mistake,
 * but the models have learned from such texts. Blanks after a full stop need no
 * rule, because SentencePiece makes one blank of several. */
#include "convert/opus_cleaning.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/mem.h"
#include "text/charsmap.h"

static const struct charsmap_rule punctuation[] = {
    { "，", "," },   { "。", ". " },  { "、", "," },   { "”", "\"" },
    { "“", "\"" },   { "∶", ":" },    { "：", ":" },   { "？", "?" },
    { "《", "\"" },  { "》", "\"" },  { "）", ")" },   { "！", "!" },
    { "（", "(" },   { "；", ";" },   { "１", "\"" },  { "」", "\"" },
    { "「", "\"" },  { "０", "0" },   { "３", "3" },   { "２", "2" },
    { "５", "5" },   { "６", "6" },   { "９", "9" },   { "７", "7" },
    { "８", "8" },   { "４", "4" },   { "．", ". " },  { "～", "~" },
    { "’", "'" },    { "…", "..." },  { "━", "-" },    { "〈", "<" },
    { "〉", ">" },   { "【", "[" },   { "】", "]" },   { "％", "%" },
};
enum { N_PUNCTUATION = sizeof punctuation / sizeof *punctuation };

bool opus_cleaning_is_in(const char *script, size_t size)
{
    static const char quote[] = "s/“/\"/g";

    return size && memmem(script, size, quote, sizeof quote - 1);
}

/* Whether the script makes a character a blank. NUL is in no rule. */
static bool becomes_blank(int32_t cp)
{
    switch (utf8proc_category(cp)) {
    case UTF8PROC_CATEGORY_CC: return cp != 0 && cp != '\n';
    case UTF8PROC_CATEGORY_CF: return true;
    case UTF8PROC_CATEGORY_CO: return cp <= 0xFFFF;
    default: return false;
    }
}

struct cleaning_rules {
    struct charsmap_rule *at;   /* [n] */
    size_t n, cap;
    struct { char utf8[5]; } *text;     /* [n_text] of the characters that
                                           become blanks */
    size_t n_text, cap_text;
};

static enum status list_blanks(struct cleaning_rules *r, struct err *e)
{
    for (int32_t cp = 1; cp <= 0x10FFFF; cp++) {
        utf8proc_ssize_t n;

        if (!becomes_blank(cp)) continue;
        if (!mem_grow(&r->text, &r->cap_text, r->n_text + 1, sizeof *r->text))
            return err_nomem(e, "rules of cleaning");
        n = utf8proc_encode_char(cp, (uint8_t *)r->text[r->n_text].utf8);
        r->text[r->n_text++].utf8[n] = 0;
    }
    return ST_OK;
}

static enum status list_rules(struct cleaning_rules *r, struct err *e)
{
    enum status st = list_blanks(r, e);

    if (st) return st;
    if (!mem_grow(&r->at, &r->cap, r->n_text + N_PUNCTUATION, sizeof *r->at))
        return err_nomem(e, "rules of cleaning");
    memcpy(r->at, punctuation, sizeof punctuation);
    r->n = N_PUNCTUATION;
    for (size_t i = 0; i < r->n_text; i++)
        r->at[r->n++] = (struct charsmap_rule){ r->text[i].utf8, " " };
    return ST_OK;
}

enum status opus_cleaning_add(struct strbuf *out, const void *spm, size_t size,
                              struct err *e)
{
    struct cleaning_rules r = { 0 };
    enum status st = list_rules(&r, e);

    if (!st) st = charsmap_extend_model(out, spm, size, r.at, r.n, e);
    free(r.at);
    free(r.text);
    return st;
}
