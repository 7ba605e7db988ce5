/* script_lines.h - makes lines of text in ten scripts, the same every time.
 *
 * A line is parts of the sentences below, in another order, mixed with random
 * characters of the script, digits, punctuation and words of another script. */
#ifndef SCRIPT_LINES_H
#define SCRIPT_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/strbuf.h"
#include "text/utf8.h"

#define N_SCRIPTS 10

struct script {
    const char *name;
    uint32_t first[2], last[2]; /* two ranges of characters */
    bool spaces;                /* between words */
    const char *text;           /* sentences */
};

static const struct script scripts[N_SCRIPTS] = {
    { "Latin", { 0x61, 0xC0 }, { 0x7A, 0x24F }, true,
      "The committee will meet again on Thursday to discuss the budget. "
      "Wir haben gestern über die Größe des Gebäudes gesprochen. Où sont les "
      "élèves qui ont oublié leurs cahiers ? Mañana iré al médico porque me "
      "duele la espalda. Příští zastávka je hlavní nádraží. Çalışanların yüzde "
      "otuzu evden çalışıyor. Żółta łódź płynie wzdłuż brzegu." },
    { "Cyrillic", { 0x430, 0x400 }, { 0x44F, 0x4FF }, true,
      "Поезд опоздал на двадцать минут из-за сильного снегопада. Вы уже "
      "получили письмо от директора школы? Новый мост соединит два берега "
      "реки. Завтра ми поїдемо до бабусі в село. Ёжик нашёл под деревом три "
      "гриба и яблоко. Цената на хляба се повиши с десет процента." },
    { "Greek", { 0x3B1, 0x370 }, { 0x3C9, 0x3FF }, true,
      "Το πλοίο φεύγει από το λιμάνι στις οκτώ το πρωί. Πού βρίσκεται η "
      "βιβλιοθήκη του πανεπιστημίου; Η γιατρός είπε ότι πρέπει να ξεκουραστώ. "
      "Οι τιμές των φρούτων ανέβηκαν πάλι αυτόν τον μήνα. Καλημέρα σας!" },
    { "Arabic", { 0x621, 0x600 }, { 0x64A, 0x6FF }, true,
      "وصل القطار إلى المحطة بعد منتصف الليل. هل قرأت الكتاب الذي أعطيتك إياه؟ "
      "تقع المدينة على ضفة نهر كبير. سنلتقي غدًا أمام باب الجامعة، مساءً. "
      "کتاب‌خانه تا ساعت پنج باز است." },
    { "Hebrew", { 0x5D0, 0x591 }, { 0x5EA, 0x5F4 }, true,
      "הרכבת לתל אביב יוצאת בעוד עשר דקות. האם ראית את המפתחות שלי? הילדים "
      "משחקים בחצר אחרי בית הספר. מחיר הלחם עלה השנה בשלושה אחוזים. שָׁלוֹם." },
    { "Devanagari", { 0x905, 0x900 }, { 0x94D, 0x97F }, true,
      "बच्चे स्कूल के मैदान में खेल रहे हैं। क्या आपने कल का अख़बार पढ़ा है? "
      "गाड़ी दो घंटे देर से आई। किसानों को इस साल अच्छी बारिश की उम्मीद है। "
      "मला उद्या पुण्याला जायचे आहे." },
    { "Thai", { 0xE01, 0xE40 }, { 0xE3A, 0xE5B }, false,
      "พรุ่งนี้เราจะไปตลาดแต่เช้า รถไฟขบวนนี้ถึงเชียงใหม่กี่โมง "
      "ครูบอกให้นักเรียนอ่านหนังสือทุกวัน ฝนตกหนักจนน้ำท่วมถนน" },
    { "Han", { 0x4E00, 0x3400 }, { 0x9FFF, 0x4DBF }, false,
      "明天早上八点在火车站见面。这本书的价格比去年贵了三成。你知道最近的医院在哪里吗？"
      "圖書館星期日不開門，請改天再來。新橋將連接河的兩岸。" },
    { "Kana", { 0x3041, 0x30A1 }, { 0x3096, 0x30FF }, false,
      "あしたのあさはやくえきであいましょう。このコンピューターはとてもふるいです。"
      "バスがおくれたので、かいぎにまにあいませんでした。ｶﾞﾗｽのコップをとってください。"
      "すみません、トイレはどこですか？" },
    { "Hangul", { 0xAC00, 0x1100 }, { 0xD7A3, 0x11FF }, true,
      "내일 아침 여덟 시에 역 앞에서 만나요. 이 책의 가격은 작년보다 많이 올랐습니다. "
      "가까운 병원이 어디에 있는지 아세요? 눈이 많이 와서 기차가 늦게 도착했다. "
      "\u1112\u1161\u11AB\u1100\u1173\u11AF." }
};

struct line_maker { uint64_t state; };

static inline uint32_t line_random(struct line_maker *m, uint32_t below)
{
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((m->state >> 33) % below);
}

static inline void line_char(struct strbuf *out, uint32_t cp)
{
    char s[4];

    strbuf_add(out, s, (size_t)utf8_put(s, cp));
}

/* Appends a word of the script's text, or some characters if it has no
 * spaces. */
static inline void line_word(struct line_maker *m, const struct script *s,
                             struct strbuf *out)
{
    size_t n = strlen(s->text), at = line_random(m, (uint32_t)n), end;
    uint32_t chars = 1 + line_random(m, 8);

    if (s->spaces) {
        while (at && s->text[at - 1] != ' ') at--;
        end = at + strcspn(s->text + at, " ");
    } else {
        while (at && ((unsigned char)s->text[at] & 0xC0) == 0x80) at--;
        for (end = at; end < n && chars; chars--) {
            end++;
            while (((unsigned char)s->text[end] & 0xC0) == 0x80) end++;
        }
    }
    strbuf_add(out, s->text + at, end - at);
}

static inline void line_part(struct line_maker *m, const struct script *s,
                             struct strbuf *out)
{
    static const char *const other[] = {
        "1.234,56", "2026", "(", ")", "\"", "«", "»", "…", "–", "%", "!", "?",
        "?!", "www.example.org", ">>deu<<", "__en__", "</s>", "<unk>", "▁",
        "eng_Latn", "１２３", "٣٤٥", "४५६", "🙂", "&amp;", "\t", "  ", "ﬁ", "№"
    };
    uint32_t what = line_random(m, 20), range = line_random(m, 6) == 0;

    if (what < 15) {
        line_word(m, s, out);
    } else if (what < 17) {
        for (uint32_t n = 1 + line_random(m, 6); n--;)
            line_char(out, s->first[range] +
                      line_random(m, s->last[range] - s->first[range] + 1));
    } else if (what < 19) {
        strbuf_adds(out, other[line_random(m, sizeof other / sizeof *other)]);
    } else {
        line_word(m, &scripts[line_random(m, N_SCRIPTS)], out);
    }
    if (s->spaces ? line_random(m, 12) : !line_random(m, 12))
        strbuf_addc(out, ' ');
}

/* Sets *out to the next line, in the given script. */
static inline void make_script_line(struct line_maker *m, int script,
                                    struct strbuf *out)
{
    strbuf_reset(out);
    for (uint32_t n = 1 + line_random(m, 20); n--;)
        line_part(m, &scripts[script % N_SCRIPTS], out);
}

#endif
