#!/usr/bin/env python3
"""moses_reference.py - a BPE tokenizer with Moses rules, written from the rules
and not from the C code, as an oracle for src/text/moses_bpe_codec.c.

    tools/moses_reference.py lines LINES SEED > lines
    tools/moses_reference.py assigned < lines > lines
    tools/moses_reference.py learn MERGES < lines > codes
    tools/moses_reference.py train < lines > truecaser
    tools/moses_reference.py pieces CONFIG < lines > pieces
    tools/moses_reference.py encode CONFIG < lines > ids
    tools/moses_reference.py decode CONFIG < ids > lines
    tools/moses_reference.py words CONFIG < lines > lines

CONFIG is LANGUAGE STEPS FORM MARKS CODES PIECES [TRUECASER], as for
tests/unit/moses_tool.c. `lines` prints made-up text with what the rules look at;
`assigned` replaces characters that a newer Unicode may have assigned or changed.
`pieces` prints what the lines are split into, each piece once, after the special
ones. Lines are UTF-8; invalid bytes become U+FFFD. The classes of characters come
from perl, whose Unicode version may be older than that of the library.
"""
import collections
import os
import random
import re
import subprocess
import sys
import unicodedata

PREFIXES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../src/text/moses_prefixes.c")
PYTHON_SPACE = "\\s"
PERL_SPACE = "[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f" \
             "\\u205f\\u3000]"
INDIC_MARKS = """93C 94D 9BC 9CD A3C A4D ABC ACD AFD AFE AFF B3C B4D BCD C4D CBC
    CCD D3B D3C D4D DCA EBA 1039 1714 1BAB 1C37 25CC A8C4 A8F3 A8F4 A953 AAF6
    10A3F 11046 110B9 110BA 11133 11173 111C0 111CA 11235 11236 112E9 112EA
    1133C 1134D 11442 11446 114C2 114C3 115BF 115C0 1163F 116B6 116B7 11839
    1183A 119E0 11A34 11C3F 11D42 11D45 11D97 1E94A"""


# ---- classes of characters ---------------------------------------------------

def perl_set(test):
    """The code points of which a Perl pattern is true. The answer is kept in the
    folder MOSES_CACHE, if there is one."""
    folder = os.environ.get("MOSES_CACHE")
    kept = folder and os.path.join(folder, re.sub(r"\W", "_", test))
    if kept and os.path.exists(kept):
        with open(kept, encoding="ascii") as f:
            return {int(x) for x in f.read().split()}
    out = subprocess.run(
        ["perl", "-e", "for (0..0x10FFFF) { next if $_ >= 0xD800 && $_ < 0xE000;"
         f' print "$_\\n" if chr($_) =~ /{test}/ }}'],
        check=True, capture_output=True, text=True).stdout
    if kept:
        with open(kept, "w", encoding="ascii") as f:
            f.write(out)
    return {int(x) for x in out.split()}


def pattern(cps):
    """The inside of a character class."""
    ends = []
    for cp in sorted(cps):
        if ends and ends[-1][1] == cp - 1:
            ends[-1][1] = cp
        else:
            ends.append([cp, cp])
    return "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in ends)


class Alphabet:
    def __init__(self, language, perl):
        if perl:
            names = {"alnum": "\\p{IsAlnum}", "alpha": "\\p{IsAlpha}",
                     "number": "\\p{IsN}", "lower": "\\p{IsLower}",
                     "currency": "\\p{IsSc}", "small": "\\p{Ll}"}
            sets = {k: perl_set(v) for k, v in names.items()}
        else:
            known = "(?=\\p{In=7.0})(?!\\p{sc=Han})"
            sets = {k: {c for c in perl_set(known + v) if c < 0x10000
                        and not 0xAC00 <= c <= 0xD7A3}
                    for k, v in (("alnum", "\\p{IsAlnum}"),
                                 ("alpha", "\\p{IsAlpha}"),
                                 ("number", "\\p{IsN}"),
                                 ("lower", "\\p{IsLower}"),
                                 ("currency", "\\p{IsSc}"),
                                 ("small", "\\p{Ll}"))}
            more = {int(x, 16) for x in INDIC_MARKS.split()}
            if language in ("zh", "ja", "cjk"):
                more |= perl_set("\\p{sc=Han}")
            if language in ("ko", "cjk"):
                more |= set(range(0xAC00, 0xD7A4))
            sets["alnum"] |= more
            sets["alpha"] |= more
        for name, cps in sets.items():
            setattr(self, name, pattern(cps))


# ---- abbreviations -------------------------------------------------------------

class Prefixes:
    """The lists of the library, which are data, with rules of their own."""

    def __init__(self, language):
        with open(PREFIXES, encoding="utf-8") as f:
            rows = re.findall(r'\{ "(\w+)", (\w+), ([A-Z0 |]+),\n(.*?) \}',
                              f.read(), re.S)
        lists = {row[0]: row for row in rows}
        row = lists.get(language) or lists["en"]
        texts = re.findall(r'"([^"]*)"', row[3])
        self.numeric = set(texts[-1].split())
        self.always = set(" ".join(texts[:-1]).split())
        self.end = int(row[1], 16)
        self.flags = row[2].split(" | ")

    def kind(self, word):
        if len(word) == 1 and ord(word) < self.end and word.isalpha():
            if ("SMALLS" if word.islower() else "CAPITALS") in self.flags:
                return 1
        if "ROMAN" in self.flags and re.fullmatch(
                "X{0,3}(IX|IV|V?I{0,3})", word):
            return 1
        if "ORDINALS" in self.flags and re.fullmatch("[1-9][0-9]?", word):
            return 1
        return 1 if word in self.always else 2 if word in self.numeric else 0


# ---- the steps -----------------------------------------------------------------

NARROW = dict(zip(
    "，、”“∶：？《》）！（；」「０２３４５６７８９～’━〈〉【】％１",
    ",,\"\"::?\"\")!(;\"\"023456789~'-<>[]%1"))
NARROW["…"] = "..."


class Moses:
    def __init__(self, language, steps):
        self.steps = set(steps.split(",")) if steps else set()
        self.perl = "perl" in self.steps
        self.language = language
        self.a = Alphabet(language, self.perl)
        self.prefixes = Prefixes(language)
        self.space = PERL_SPACE if self.perl else PYTHON_SPACE

    def narrow(self, text):
        table = dict(NARROW)
        if "wide-one-quote" in self.steps:
            table["１"] = '"'
        text = re.sub("。 *" if self.perl else "。\\s*", ". ", text)
        text = re.sub("．" + (" *" if self.perl else "\\s*"), ". ", text)
        return "".join(table.get(c, c) for c in text)

    @staticmethod
    def replace_controls(text, into):
        return "".join(into if unicodedata.category(c)[0] == "C" else c
                       for c in text)

    def normalize(self, text):
        perl, nb = self.perl, "\u00a0"
        digit = "[0-9]" if perl else "\\d"
        steps = [
            ("\r", ""), ("\\(", " ("), ("\\)", ") "), (" +", " "),
            ("\\) ([.!:?;,])", ")\\1"), ("\\( ", "("), (" \\)", ")"),
            (f"({digit}) %", "\\1%"), (" :", ":"), (" ;", ";"),
            ("`", "'"), ("''", ' " '), ("[„“”]", '"'), ("–", "-"),
            ("—", " - "), (" +", " "), ("´", "'"),
            ("([a-zA-Z])‘([a-zA-Z])", "\\1'\\2"),
            ("([a-zA-Z])’([a-zA-Z])", "\\1'\\2"),
            ("[‘‚]", "'"), ("’", '"' if perl else "'"), ("''", '"'),
            ("…", "..."),
            (f"{nb}«{nb}", ' "' if perl else '"'), (f"«{nb}", '"'),
            ("«", '"'), (f"{nb}»{nb}", '" ' if perl else '"'),
            (f"{nb}»", '"'), ("»", '"'),
            (f"{nb}%", "%"), (f"nº{nb}", "nº "), (f"{nb}:", ":"),
            (f"{nb}ºC", " ºC"), (f"{nb}cm", " cm"), (f"{nb}\\?", "?"),
            (f"{nb}!", "!"), (f"{nb};", ";"), (f",{nb}", ", "), (" +", " "),
        ]
        move = self.language in ("de", "es", "fr") if not perl \
            else self.language not in ("en", "cs", "cz")
        if self.language == "en":
            steps.append(('"([,.]+)', '\\1"'))
        elif move:
            space = "[ \\t\\n\\r\\f\\v]" if perl else "\\s"
            steps += [(',"', '",'),
                      (f'(\\.+)"({space}*[^<])', '"\\1\\2')]
        comma = self.language in ("de", "es", "cz", "cs", "fr")
        steps.append((f"({digit}){nb}({digit})",
                      "\\1,\\2" if comma else "\\1.\\2"))
        if perl:                # a line of a file
            text += "\n"
        for find, into in steps:
            text = re.sub(find, into, text)
        return text[:-1] if perl else text.strip()

    def symbols(self, text):
        stay = self.a.alnum + ".'`,\\-"
        colon = self.perl and self.language in ("fi", "sv")
        if colon:
            stay += ":"
        if self.perl and self.language == "ca":
            stay += "·"
        text = re.sub(f"((?!{self.space})[^{stay}])", " \\1 ", text)
        if colon:
            text = re.sub(f":(?=$|[^{self.a.small}])", " : ", text)
        if self.perl and self.language == "tdt":
            text = re.sub(f"'(?=$|[^{self.a.small}])", " ' ", text)
        return text

    def apostrophes(self, text):
        alpha, number = self.a.alpha, self.a.number
        left = ("fr", "it", "ga", "ca") if self.perl else ("fr", "it")
        if self.language == "en":
            rules = [(f"([^{alpha}])'([^{alpha}])", "\\1 ' \\2"),
                     (f"([^{alpha}{number}])'([{alpha}])", "\\1 ' \\2"),
                     (f"([{alpha}])'([^{alpha}])", "\\1 ' \\2"),
                     (f"([{alpha}])'([{alpha}])", "\\1 '\\2"),
                     (f"([{number}])'(s)", "\\1 '\\2")]
        elif self.language in left or (
                self.perl and self.language in ("so", "tdt")):
            rules = [(f"([^{alpha}])'([^{alpha}])", "\\1 ' \\2"),
                     (f"([^{alpha}])'([{alpha}])", "\\1 ' \\2"),
                     (f"([{alpha}])'([^{alpha}])", "\\1 ' \\2")]
            if self.language in left:
                rules.append((f"([{alpha}])'([{alpha}])", "\\1' \\2"))
        else:
            rules = [("'", " ' ")]
        for find, into in rules:
            text = re.sub(find, into, text)
        return text

    def full_stops(self, text):
        if self.perl:
            words = text.split(" ")
            while words and not words[-1]:
                words.pop()
        else:
            words = text.split()
        out = []
        for i, word in enumerate(words):
            stem, last = word[:-1], i + 1 == len(words)
            after = "" if last else words[i + 1]
            out.append(word)
            if len(word) < 2 or word[-1] != "." or not word.strip("."):
                continue
            kind = self.prefixes.kind(stem)
            keep = ("." in stem and re.search(f"[{self.a.alpha}]", stem)
                    or kind == 1 or re.match(f"[{self.a.lower}]", after)
                    or kind == 2 and re.match("[0-9]", after))
            if not keep or self.perl and last:
                out[-1:] = [stem, "."]
        return " ".join(x for x in out if x)

    def tokenize(self, text):
        text = re.sub(self.space + "+", " ", text)
        text = re.sub("[\\x00-\\x1f]", "", text)
        text = re.sub(" +", " ", text).strip(" ")
        text = self.symbols(text)
        if "dashes" in self.steps:
            text = re.sub(f"([{self.a.alnum}])-(?=[{self.a.alnum}])",
                          "\\1 @-@ ", text)
        text = re.sub("(\\.\\.+)", " \\1 ", text)
        text = re.sub(f"([^{self.a.number}]),", "\\1 , ", text)
        text = re.sub(f",([^{self.a.number}])", " , \\1", text)
        text = re.sub(f"([{self.a.number}]),$", "\\1 ,", text)
        text = self.full_stops(self.apostrophes(text))
        return re.sub(" ?\\.' ?$", " . '", text).strip()

    @staticmethod
    def escape(text):
        for c, entity in (("&", "&amp;"), ("|", "&#124;"), ("<", "&lt;"),
                          (">", "&gt;"), ("'", "&apos;"), ('"', "&quot;"),
                          ("[", "&#91;"), ("]", "&#93;")):
            text = text.replace(c, entity)
        return text

    def words(self, text):
        if "wide" in self.steps:
            text = self.narrow(text)
        if "blank-controls" in self.steps:
            text = self.replace_controls(text, " ")
        if "normalize" in self.steps:
            text = self.normalize(text)
        if "drop-controls" in self.steps:
            text = self.replace_controls(text, "")
        if "tokenize" in self.steps:
            text = self.tokenize(text)
        if "escape" in self.steps:
            text = self.escape(text)
        return text.split()

    # ---- back ------------------------------------------------------------------

    @staticmethod
    def unescape(text):
        for entity, c in (("&bar;", "|"), ("&#124;", "|"), ("&lt;", "<"),
                          ("&gt;", ">"), ("&bra;", "["), ("&ket;", "]"),
                          ("&quot;", '"'), ("&apos;", "'"), ("&#91;", "["),
                          ("&#93;", "]"), ("&amp;", "&")):
            text = text.replace(entity, c)
        return text

    @staticmethod
    def is_cjk(c):
        return any(a <= ord(c) <= b for a, b in (
            (0x1100, 0x11FF), (0x2E80, 0xA4CF), (0xA840, 0xA87F),
            (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFE30, 0xFE4F),
            (0xFF65, 0xFFDC), (0x20000, 0x2FFFF)))

    def detokenize(self, words):
        text = self.unescape(f" {' '.join(words)} ".replace(" @-@ ", "-"))
        if self.perl:
            words = text.split(" ")
            while words and not words[-1]:
                words.pop()
        else:
            words = text.split()
        return self.join(words)

    def join(self, words):
        a, lang, perl = self.a, self.language, self.perl
        text, due, i = "", " ", 0
        quotes = collections.Counter()
        finnish = re.compile(
            "([nNaAäÄ]|[sS]s[aä]|[sS]t[aä]|[hH](u|y|a|ä|ö)n|[uUyYaAäÄöÖ]n|"
            "[sS]een|[lL]l[aä]|[lL]t[aä]|[lL]le|[kK]s[ie]|[tT]ta|[iI]ne)"
            "(ni|si|mme|nne|nsa)?(k[oö]|h[aä]n|p[aä]|kaan|kään|kin)?")
        while i < len(words):
            word = words[i]
            before = words[i - 1] if i else ""
            after = words[i + 1:i + 4]
            if lang == "cs" and not perl:
                pair = words[-2:] if i > 1 else []
            else:
                pair = words[i - 2:i] if i > 1 else []
            glue, then, tail = due, " ", word
            if word and self.is_cjk(word[0]) and (perl or lang != "ko"):
                if before and self.is_cjk(before[-1]) and lang != "ko":
                    glue = ""
            elif re.fullmatch(f"[{a.currency}([{{¿¡]+", word):
                then = ""
            elif re.fullmatch("[,.?!:;\\\\%}\\])]+", word):
                glue = " " if lang == "fr" and word in "?!:;\\%" else ""
            elif lang == "en" and i and re.match(f"'[{a.alpha}]", word) and (
                    not perl or re.search(f"[{a.alnum}]$", before)):
                glue = ""
            elif lang == "cs" and len(pair) == 2 and re.fullmatch(
                    "[0-9]+", pair[0]) and pair[1] in (".", ",") \
                    and re.fullmatch("[0-9]+", word):
                glue = ""
            elif lang in (("fr", "it") if perl else ("fr", "it", "ga")) \
                    and after and re.search(f"[{a.alpha}]'$", word) \
                    and re.match(f"[{a.alpha}]", after[0]):
                then = ""
            elif lang == "cs" and perl and len(after) == 3 \
                    and re.search(f"[{a.alpha}]$", word) \
                    and after[0] in ("-", "–") \
                    and re.match("li$|mail", after[1], re.I):
                tail, then = word + after[0], ""
                i += 1
            elif re.fullmatch("['\"„“`]+", word):
                kind = '"' if re.fullmatch("[„“”]+", word) else word
                if lang == "cs" and word in "„“":
                    quotes[kind] = "„“".index(word)
                if quotes[kind] % 2:
                    glue = ""
                    quotes[kind] += 1
                elif lang == "en" and word == "'" and before[-1:] == "s":
                    glue = ""
                else:
                    then = ""
                    quotes[kind] += 1
            elif lang == "fi" and perl and before.endswith(":") \
                    and finnish.fullmatch(word):
                glue, tail = "", word.lower()
            text += glue + tail
            due = then
            i += 1
        return re.sub(" +", " ", text).strip(" ")

    @staticmethod
    def detruecase(words):
        start, out = True, []
        for word in words:
            if start:
                word = word[:1].upper() + word[1:]
            out.append(word)
            if word in (".", ":", "?", "!"):
                start = True
            elif word not in ("(", "[", '"', "'", "&quot;", "&apos;", "&#91;",
                              "&#93;"):
                start = False
        return out


class Truecaser:
    def __init__(self, path):
        self.best, self.known = {}, set()
        with open(path, encoding="utf-8") as f:
            for line in f:
                fields = line.split()
                self.best[self.lower(fields[0])] = fields[0]
                self.known.update(fields[::2])

    @staticmethod
    def lower(word):
        return "".join(c.lower() for c in word)

    def apply(self, words):
        start, out = True, []
        for word in words:
            best = self.best.get(self.lower(word))
            keep = best is None or not start and word in self.known
            out.append(word if keep else best)
            if word in (".", ":", "?", "!"):
                start = True
            elif word not in ("(", "[", '"', "'", "&quot;", "&apos;", "&#91;",
                              "&#93;"):
                start = False
        return out


# ---- merges --------------------------------------------------------------------

class Bpe:
    def __init__(self, form, codes):
        with open(codes, encoding="utf-8", newline="\n") as f:
            lines = f.read().rstrip("\n").split("\n")
        self.glued = form != "subword-nmt"
        if lines[0].startswith("#version"):
            self.glued = True
            lines.pop(0)
        pairs = [tuple(x.split(" ")[:2]) for x in lines]
        self.rank = {}
        for i, pair in enumerate(pairs):
            if form == "merges" or pair not in self.rank:
                self.rank[pair] = i
        self.cache = {}

    def split(self, word):
        """The symbols of a word, the last one with "</w>"."""
        if word in self.cache:
            return self.cache[word]
        parts = list(word)
        if self.glued:
            parts[-1] += "</w>"
        else:
            parts.append("</w>")
        while len(parts) > 1:
            found = min((self.rank.get(p, 1 << 40) for p in
                         zip(parts, parts[1:])))
            if found == 1 << 40:
                break
            new, i = [], 0
            while i < len(parts):
                if self.rank.get(tuple(parts[i:i + 2])) == found:
                    new.append(parts[i] + parts[i + 1])
                    i += 2
                else:
                    new.append(parts[i])
                    i += 1
            parts = new
        if not self.glued:
            if parts[-1] == "</w>":
                parts.pop()
                parts[-1] += "</w>"
        self.cache[word] = parts
        return parts


class Tokenizer:
    def __init__(self, config):
        language, steps, form, marks, codes, pieces = config[:6]
        self.moses = Moses(language, steps)
        self.bpe = Bpe(form, codes)
        self.marks = marks
        self.truecaser = Truecaser(config[6]) if len(config) > 6 else None
        self.pieces = []
        if os.path.exists(pieces):
            with open(pieces, encoding="utf-8", newline="\n") as f:
                self.pieces = f.read().split("\n")[:-1]
        self.id = {p: i for i, p in enumerate(self.pieces)
                   if p not in ("<s>", "</s>", "<pad>")}

    def words(self, text):
        words = self.moses.words(text)
        return self.truecaser.apply(words) if self.truecaser else words

    def split(self, text):
        out = []
        for word in self.words(text):
            parts = self.bpe.split(word)
            if self.marks == "at":
                out += [p + "@@" for p in parts[:-1]]
                out.append(parts[-1][:-4])
            else:
                out += parts
        return out

    def encode(self, text):
        unk = self.id["<unk>"]
        return [self.id.get(p, unk) for p in self.split(text)]

    def decode(self, ids):
        pieces = [self.pieces[i] for i in ids
                  if self.pieces[i] not in ("<s>", "</s>", "<pad>")]
        if self.marks == "at":
            words = (" ".join(pieces) + " ").replace("@@ ", "").split()
        else:
            words = "".join(p + " " if p == "<unk>" else p.replace("</w>", " ")
                            for p in pieces).split()
        if "detruecase" in self.moses.steps:
            words = self.moses.detruecase(words)
        if "detokenize" in self.moses.steps:
            return self.moses.detokenize(words)
        return " ".join(words)


# ---- learning ------------------------------------------------------------------

def learn(lines, n):
    """Learn n merges. Prints them with counts, as fastBPE does."""
    words = collections.Counter()
    for line in lines:
        words.update(line.split())
    parts = {w: list(w[:-1]) + [w[-1] + "</w>"] for w in words}
    counts = collections.Counter()
    where = collections.defaultdict(set)

    def count(word, sign):
        for pair in zip(parts[word], parts[word][1:]):
            counts[pair] += sign * words[word]
            where[pair].add(word)

    for word in words:
        count(word, 1)
    for _ in range(n):
        pair = max(counts, key=lambda p: (counts[p], p))
        if counts[pair] < 2:
            break
        print(*pair, counts[pair])
        for word in where.pop(pair):
            count(word, -1)
            new, i, old = [], 0, parts[word]
            while i < len(old):
                if tuple(old[i:i + 2]) == pair:
                    new.append("".join(pair))
                    i += 2
                else:
                    new.append(old[i])
                    i += 1
            parts[word] = new
            count(word, 1)


def train_truecaser(lines):
    forms = collections.defaultdict(collections.Counter)
    for line in lines:
        for word in line.split()[1:]:
            forms[Truecaser.lower(word)][word] += 1
    for word in sorted(forms):
        ranked = forms[word].most_common()
        whole = sum(n for _, n in ranked)
        print(" ".join(f"{w} ({n}/{whole})" if i == 0 else f"{w} ({n})"
                       for i, (w, n) in enumerate(ranked)))


# ---- test text -----------------------------------------------------------------

ATOMS = r"""Dr. Mr. No. Nr. z.B. i.e. U.S. usw. bzw. etc. Art. pp. 3. 17. 99. 100.
    IV. XX. IL. A. b. Ä. Ж. No Art . .. ... .... , ,, , . ' '' ''' " ` `` ´ ´´ ‘ ’ ‚
    „ “ ” « » ‹ ( ) [ ] { } < > | & &amp; &apos; &lt; % : ; ? ! ?! / \ @ @-@ @@ - --
    – — … 。 、 ， ． ！ １ ２ ９ 「 」 《 》 【 】 ～ ％ ： ； nº ºC cm € $ ₾ ₿ ¿ ¡ ·
    l'eau dell'arte can't 1990's dogs' the The DER der die Haus house EU:n EU:N
    USA:ssa S:t 20:een il·lusió 5,300 1,5 1.234 ,5 5, ½,5 Ⅷ,Ⅷ a,b,c 3 5 a-b x--y -a
    a- 1-2 é-à 中文 漢字 かな カナ 한국어 नमस्ते हिन्दी. สวัสดี مرحبا، שָׁלוֹם Привет γειά
    <unk> </s> <s> a</w> ﬁ ß ŉ İ ı ﬅ word. Word. li mail s S hus hun ssa co l' d' qu'
    's 't 'S""".split() + ["e\u0301", "\u0300"]
GAPS = [" "] * 12 + [""] * 8 + [
    "  ", "\t", "\u00a0", "\u00a0", "\u3000", "\u2003", "\u200b", "\u200d",
    "\ufeff", "\xad", "\r", "\x0b", "\x1c", "\x7f", "\x85", "\u2028", "\x01",
    "\u0378", "\ue000", "\ufffe", "\U000e0001"]


def print_lines(n, seed):
    rnd = random.Random(seed)
    for _ in range(n):
        parts = []
        for _ in range(rnd.randint(1, 25)):
            atom = rnd.choice(ATOMS)
            if rnd.random() < .1:
                atom = rnd.choice("aBc9.,'\"«»’") * rnd.randint(1, 3)
            parts += [atom, rnd.choice(GAPS)]
        print("".join(parts))


# Characters that became letters, or small letters, with Unicode 15. Debian 12's
# perl has Unicode 14.
CHANGED = set("\u0C04\u0F82\u0F83\u10FC\uA7F2\uA7F3\uA7F4\uAB69"
              "\U00011080\U00011081")


def assigned(line):
    """Without characters that Unicode may have assigned after the version of
    Python, but with those that it never will."""
    return "".join(
        c if (unicodedata.category(c) != "Cn" or c == "\u0378"
              or ord(c) & 0xFFFE == 0xFFFE or 0x40000 <= ord(c) < 0xE0000)
        and c not in CHANGED else "x"
        for c in line)


def main():
    sys.stdout.reconfigure(newline="\n", encoding="utf-8",
                           errors="surrogateescape")
    what, config = sys.argv[1], sys.argv[2:]
    if what == "lines":
        return print_lines(int(config[0]), int(config[1]))
    lines = sys.stdin.buffer.read().split(b"\n")[:-1]
    if what == "assigned":      # the invalid bytes stay
        for line in lines:
            print(assigned(line.decode(errors="surrogateescape")))
        return None
    lines = [repair(x) for x in lines]
    if what == "learn":
        return learn(lines, int(config[0]))
    if what == "train":
        return train_truecaser(lines)
    tokenizer = Tokenizer(config)
    if what == "pieces":
        seen = dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>"])
        for line in lines:
            seen.update(dict.fromkeys(tokenizer.split(line)))
        print("\n".join(seen))
    for line in lines:
        if what == "encode":
            print(*tokenizer.encode(line))
        elif what == "decode":
            print(tokenizer.decode([int(x) for x in line.split()]))
        elif what == "words":
            print(*tokenizer.words(line))
    return None


def repair(line):
    """Each invalid byte becomes U+FFFD."""
    out = []
    while line:
        try:
            out.append(line.decode())
            break
        except UnicodeDecodeError as e:
            out.append(line[:e.start].decode() + "\ufffd")
            line = line[e.start + 1:]
    return "".join(out)


if __name__ == "__main__":
    sys.exit(main())
