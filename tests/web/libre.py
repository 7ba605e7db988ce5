"""libre.py - raw requests to the APIs of LibreTranslate, tmserver, amaGama,
Apertium and OPUS-CAT: every route and every form of error."""
import json
import urllib.parse

import raw
from raw import check, equal

DE_EN = {"source": "de", "target": "en"}
JSON = "application/json; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
OLD, NEW = "Guten Morgen, liebe Nachbarn!", "A very good morning, dear folks!"
PO = '''msgid ""
msgstr "Language: en\\nContent-Type: text/plain; charset=UTF-8\\n"

msgid "Das Schiff ist blau."
msgstr "The vessel is azure."

msgid "Der Hafen ist offen."
msgstr "The port lies open."
'''.encode()

server = raw.Server("--max-texts", "8", "--max-text", "2000", memory=True)


def post(path, data, form=False, **more):
    return server.call("POST", path, **{"form" if form else "json_body": data},
                       **more)


def translated(text):
    return post("/translate", {"q": text, **DE_EN}).json["translatedText"]


def refused(name, answer, status, sentence):
    equal(f"{name}: status", answer.status, status)
    equal(f"{name}: type", answer.type, JSON)
    equal(f"{name}: error", answer.json, {"error": sentence})


def quoted(text):
    return urllib.parse.quote(text, safe="")


# ---- LibreTranslate: translating

for prefix in "", "/libretranslate":
    answer = post(prefix + "/translate", {"q": "Guten Tag!", **DE_EN})
    equal(f"translate {prefix}: status", answer.status, 200)
    equal(f"translate {prefix}: type", answer.type, JSON)
    equal(f"translate {prefix}: keys", list(answer.json), ["translatedText"])
hello = answer.json["translatedText"]
check("translate: text", len(hello) > 4, hello)

equal("form", post("/translate", {"q": "Guten Tag!", **DE_EN}, form=True).json,
      {"translatedText": hello})
equal("query", server.call("POST", "/translate", query={
    "q": "Guten Tag!", **DE_EN}).json, {"translatedText": hello})
equal("multipart", server.call("POST", "/translate", files=[], fields=[
    ("q", "Guten Tag!"), ("source", "de"), ("target", "en")]).json,
      {"translatedText": hello})
equal("other spellings", post("/translate", {
    "q": "Guten Tag!", "source": "de_AT", "target": "en-US"}).json,
      {"translatedText": hello})
equal("list", post("/translate", {"q": ["Guten Tag!", "", " \n"],
                                  **DE_EN}).json,
      {"translatedText": [hello, "", " \n"]})
equal("list of one", post("/translate", {"q": ["Guten Tag!"], **DE_EN}).json,
      {"translatedText": [hello]})
equal("emoji", post("/translate", {"q": "\U0001F600 \U0001F680", **DE_EN}).json,
      {"translatedText": "\U0001F600 \U0001F680"})
equal("unknown fields", post("/translate", {
    "q": "Guten Tag!", "x": 1, "api_key": "any", **DE_EN}).json,
      {"translatedText": hello})

answer = post("/translate", {"q": "Guten Tag!", "source": "auto",
                             "target": "en"})
equal("auto: keys", sorted(answer.json), ["detectedLanguage", "translatedText"])
equal("auto: text", answer.json["translatedText"], hello)
equal("auto: language", answer.json["detectedLanguage"]["language"], "de")
check("auto: confidence", 50 < answer.json["detectedLanguage"]["confidence"]
      <= 100, answer)
answer = post("/translate", {"q": ["Guten Tag!", "Das Haus ist alt."],
                             "source": "auto", "target": "en"})
equal("auto with a list", [d["language"] for d in
                           answer.json["detectedLanguage"]], ["de", "de"])

for count in 3, "2":
    answer = post("/translate", {"q": "Guten Tag!", "alternatives": count,
                                 **DE_EN})
    more = (answer.json or {}).get("alternatives", [])
    check(f"{count} alternatives", 0 < len(more) <= int(count), answer)
    check("alternatives differ", len({*more, hello}) == len(more) + 1, answer)
    equal("best one", answer.json["translatedText"], hello)
equal("0 alternatives", post("/translate", {
    "q": "Guten Tag!", "alternatives": 0, **DE_EN}).json,
      {"translatedText": hello})
answer = post("/translate", {"q": ["Guten Tag!", "Haus"], "alternatives": 1,
                             **DE_EN})
equal("alternatives of a list", [len(x) for x in answer.json["alternatives"]],
      [1, 1])

# html: entities are decoded, and the answer is escaped again.
answer = post("/translate", {"q": "Äpfel &amp; Birnen &lt; 5 Euro",
                             "format": "html", **DE_EN})
check("html: escaped", "&amp;" in answer.json["translatedText"] and
      "&lt;" in answer.json["translatedText"], answer)
plain = post("/translate", {"q": "Äpfel & Birnen < 5 Euro", **DE_EN})
equal("html: same text", answer.json["translatedText"],
      plain.json["translatedText"].replace("&", "&amp;").replace("<", "&lt;"))
answer = post("/translate", {"q": ["gut", "<b>Das</b> Haus"], "format": "html",
                             **DE_EN})
refused("html: tags", answer, 400, "Invalid request: text 2 of 2 has tags, "
        "which this server does not translate yet")

# ---- LibreTranslate: errors

for field in "q", "source", "target":
    for value in None, "":
        refused(f"missing {field}", post("/translate", {
            "q": "a", **DE_EN, field: value}), 400,
                f"Invalid request: missing {field} parameter")
refused("empty list", post("/translate", {"q": [], **DE_EN}), 400,
        "Invalid request: missing q parameter")
refused("source", post("/translate", {"q": "a", "source": "zz",
                                      "target": "en"}), 400,
        "zz is not supported")
refused("target", post("/translate", {"q": "a", "source": "de",
                                      "target": "zz"}), 400,
        "zz is not supported")
refused("pair", post("/translate", {"q": "a", "source": "en",
                                    "target": "de"}), 400,
        "German (de) is not available as a target language from English (en)")
refused("target of auto", post("/translate", {"q": "a", "source": "auto",
                                              "target": "de"}), 400,
        "German (de) is not available as a target language")
refused("many alternatives", post("/translate", {
    "q": "a", "alternatives": 64, **DE_EN}), 400,
        "Invalid request: alternatives (64) exceeds alternatives limit (63)")
answer = post("/translate", {"q": "Das Haus ist alt.", "alternatives": 63,
                             **DE_EN})
check("63 alternatives", len(answer.json.get("alternatives", [])) > 20, answer)
refused("language is a text", post("/translate", {
    "q": "a", "source": "what is this", "target": "en"}), 400,
        "The language is not supported")
refused("format", post("/translate", {"q": "a", "format": "xyz", **DE_EN}),
        400, "xyz format is not supported")
for value in "many", -1, [], 1.5:
    refused(f"alternatives {value}", post("/translate", {
        "q": "a", "alternatives": value, **DE_EN}), 400,
            "Invalid request: alternatives parameter is not a number")
refused("text limit", post("/translate", {"q": "a" * 2001, **DE_EN}), 400,
        "Invalid request: request (2001) exceeds text limit (2000)")
refused("batch limit", post("/translate", {"q": ["a"] * 9, **DE_EN}), 400,
        "Invalid request: request (9) exceeds text limit (8)")
for body in b"{", b"[1]", b'"a"', b'{"q": "\\ud800"}', b'{"q": "\xff"}', \
        b'{"q": "\\u0000"}', b"[" * 5000:
    refused(f"body {body[:20]}", server.call(
        "POST", "/translate", body=body, headers={
            "Content-Type": "application/json"}), 400, "Invalid JSON format")
refused("unknown path", server.call("GET", "/no/such/path"), 404, "Not found")
refused("unknown path below the prefix",
        server.call("GET", "/libretranslate/nothing"), 404, "Not found")
answer = server.call("GET", "/libretranslate/translate")
refused("method", answer, 405, "Method not allowed")
equal("method: Allow", answer.headers["Allow"], "POST")
refused("files", server.call("POST", "/translate_file", files=[
    ("file", "a.txt", "text/plain", b"Hallo")], fields=DE_EN.items()), 501,
        "Files translation is not available on this server")
refused("download", server.call("GET", "/download_file/a_en.txt"), 501,
        "Files translation is not available on this server")

# ---- LibreTranslate: the rest

for path in "/languages", "/languages/", "/libretranslate/languages":
    answer = server.call("GET", path, headers={
        "Content-Type": "application/json"})
    equal(path, answer.json, [
        {"code": "de", "name": "German", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": []}])
for text, code in (("Hallo", "de"), ("Hello world", "en"),
                   (["Das ist", "ein Haus"], "de")):
    answer = post("/detect", {"q": text, "format": "text", "api_key": ""})
    equal(f"detect {text}: status", answer.status, 200)
    equal(f"detect {text}", answer.json[0]["language"], code)
    check("detect: confidence", isinstance(
        answer.json[0]["confidence"], float) and
          50 < answer.json[0]["confidence"] <= 100, answer)
equal("detect a form", post("/detect", {"q": "Straße"}, form=True).json[0]
      ["language"], "de")
equal("detect nothing", post("/detect", {"q": "123"}).json,
      [{"confidence": 0.0, "language": "en"}])
for body in {}, {"q": ""}, {"q": None}, {"q": []}:
    refused(f"detect {body}", post("/detect", body), 400,
            "Invalid request: missing q parameter")
refused("detect with GET", server.call("GET", "/detect"), 405,
        "Method not allowed")
answer = server.call("GET", "/frontend/settings")
equal("settings", answer.json, {
    "charLimit": 2000, "frontendTimeout": 500, "apiKeys": False,
    "keyRequired": False, "suggestions": True, "filesTranslation": False,
    "supportedFilesFormat": [], "language": {
        "source": {"code": "auto", "name": "Auto Detect"},
        "target": {"code": "en", "name": "English"}}})
equal("health", server.call("GET", "/libretranslate/health").json,
      {"status": "ok"})
equal("health at the root", server.call("GET", "/health").json["status"], "ok")
answer = server.call("GET", "/spec")
equal("spec: version", answer.json["swagger"], "2.0")
equal("spec: paths", sorted(answer.json["paths"]), [
    "/detect", "/frontend/settings", "/health", "/languages", "/suggest",
    "/translate"])
for path, methods in answer.json["paths"].items():
    for method in methods:
        known = server.call(method.upper(), "/libretranslate" + path).status
        check(f"spec: {method} {path} exists", known in (200, 400), known)
answer = server.call("GET", "/docs")
equal("docs: type", answer.type, "text/html; charset=utf-8")
check("docs", b"/translate" in answer.body, answer)

# ---- suggestions: stored, used by the next translation, found by tmserver

for missing in "q", "s", "source", "target":
    refused(f"suggest without {missing}", post("/suggest", {
        k: v for k, v in {"q": OLD, "s": NEW, **DE_EN}.items()
        if k != missing}), 400, f"Invalid request: missing {missing} parameter")
refused("suggest for another pair", post("/suggest", {
    "q": "a", "s": "b", "source": "en", "target": "de"}), 400,
        "German (de) is not available as a target language from English (en)")
refused("suggest a long text", post("/suggest", {
    "q": "a\n" * 1001, "s": "b\n" * 1001, **DE_EN}), 400,
        "Invalid request: request (2002) exceeds text limit (2000)")
refused("suggest blanks", post("/suggest", {"q": " ", "s": " ", **DE_EN}), 400,
        "the text or its translation is blank")
before = post("/translate", {"q": OLD, **DE_EN}).json["translatedText"]
check("not yet stored", before != NEW, before)
answer = post("/suggest", {"q": OLD, "s": NEW, **DE_EN})
equal("suggest", (answer.status, answer.json), (200, {"success": True}))
equal("suggestion is used", post("/translate", {"q": OLD, **DE_EN}).json,
      {"translatedText": NEW})
equal("in a list of lines", post("/translate", {
    "q": [f"  {OLD}\n\n{OLD}"], **DE_EN}).json,
      {"translatedText": [f"  {NEW}\n\n{NEW}"]})
equal("suggest with a form", post("/suggest", {
    "q": "Zeile eins.\nZeile zwei.", "s": "First line.\nSecond line.",
    "source": "auto", "target": "en"}, form=True).json, {"success": True})
equal("lines are pairs", post("/translate", {"q": "Zeile zwei.", **DE_EN}).json,
      {"translatedText": "Second line."})

# ---- Weblate, LibreTranslate

WEBLATE = {"Referer": "http://weblate.example/", "Accept":
           "application/json; charset=utf-8"}
probe = post("/translate", {"api_key": "", "q": ["test"], "source": "en",
                            "target": "de"}, headers=WEBLATE)
equal("Weblate's probe", (probe.status, probe.json),
      (200, {"translatedText": ["test"]}))
equal("Weblate's probe as a text", post("/translate", {
    "q": "test", "source": "en", "target": "de"}).json,
      {"translatedText": "test"})
equal("two texts are no probe", post("/translate", {
    "q": ["test", "test"], "source": "en", "target": "de"}).status, 400)
MARKED = ["Die Datei [X12X] wurde nicht gefunden.", "[X0X] Dateien in [X1X]",
          "[X5X]"]
answer = post("/translate", {"api_key": "", "q": MARKED, **DE_EN},
              headers=WEBLATE)
equal("placeholders: texts", len(answer.json["translatedText"]), 3)
for text, marks in zip(answer.json["translatedText"],
                       (["[X12X]"], ["[X0X]", "[X1X]"], ["[X5X]"])):
    for mark in marks:
        equal(f"placeholder {mark} in {text}", text.count(mark), 1)
equal("only a placeholder", answer.json["translatedText"][2], "[X5X]")

# ---- OmegaT, LibreTranslate's plug-in: form POST, charset without a blank

hello = translated("Guten Tag!")        # the memory has changed it

answer = server.call("POST", "/translate", body=urllib.parse.urlencode(
    {"q": "Guten Tag!", **DE_EN}).encode(), headers={
        "Content-Type": "application/x-www-form-urlencoded;charset=utf-8"})
equal("OmegaT", answer.json, {"translatedText": hello})

answer = post("/translate", {"q": "Klicken Sie auf <f0>Datei</f0>.<br1/>",
                             **DE_EN}, form=True)
for tag in "<f0>", "</f0>", "<br1/>":
    equal(f"OmegaT's tag {tag}", answer.json["translatedText"].count(tag), 1)

# ---- tmserver and amaGama

unit = "/tmserver/de/en/unit/" + quoted(OLD)
answer = server.call("GET", unit, headers=WEBLATE)
equal("lookup: type", answer.type, JSON)
equal("lookup", [(x["source"], x["target"], x["quality"])
                 for x in answer.json], [(OLD, NEW, 100.0)])
check("lookup: rank", isinstance(answer.json[0]["rank"], float), answer)
check("lookup: not cached", "max-age" not in
      (answer.headers["Cache-Control"] or ""), answer.headers)
equal("amaGama lookup", server.call("GET", "/api/v1/DE/en_gb/unit/" +
                                    quoted(OLD)).json, answer.json)
equal("amaGama with source", server.call("GET", "/api/v1/de/en/unit/", query={
    "source": OLD}).json, answer.json)
near = quoted("Guten Morgen, liebe Nachbarinnen!")
fuzzy = server.call("GET", "/tmserver/de/en/unit/" + near +
                    "?min_similarity=30&max_candidates=5").json
check("similar unit", len(fuzzy) >= 1 and 30 <= fuzzy[0]["quality"] < 100,
      fuzzy)
equal("at most", len(server.call("GET", "/tmserver/de/en/unit/" + near +
                                 "?min_similarity=0&max_candidates=1").json), 1)
equal("at least", server.call("GET", "/tmserver/de/en/unit/" + near +
                              "?min_similarity=100").json, [])
for src, tgt in ("en", "de"), ("de", "fr"), ("zz", "en"):
    answer = server.call("GET", f"/tmserver/{src}/{tgt}/unit/test")
    equal(f"unserved {src}-{tgt}", (answer.status, answer.json), (200, []))
equal("nothing found", server.call(
    "GET", "/tmserver/de/en/unit/Quantenphysik").json, [])
for path in "/tmserver/de/en/unit/", "/api/v1/de/en/unit/", "/tmserver/de/en", \
        "/tmserver/", "/tmserver/languages/":
    equal(f"404 {path}", server.call("GET", path).status, 404)
equal("too long", server.call("GET", "/tmserver/de/en/unit/" + "a" * 2001)
      .status, 414)
equal("bad number", server.call(
    "GET", "/tmserver/de/en/unit/a?min_similarity=x").status, 400)
equal("languages", server.call("GET", "/api/v1/languages/").json,
      {"sourceLanguages": ["de"], "targetLanguages": ["en"]})

# A text with slashes, percent signs and a final slash; PUT and POST.
for method, text in (("PUT", "50 % von a/b/"), ("POST", "Größe + Gewicht?")):
    path = "/tmserver/de/en/unit/" + quoted(text)
    answer = server.call(method, path, json_body={
        "source": text, "target": "as stored: " + method})
    equal(f"{method} unit", (answer.status, answer.body), (200, b""))
    equal("found", [(x["target"], x["quality"]) for x in
                    server.call("GET", path).json[:1]],
          [("as stored: " + method, 100.0)])
    equal("translated so", post("/translate", {"q": text, **DE_EN}).json,
          {"translatedText": "as stored: " + method})
# Virtaal sends JSON without saying so, and the source may be only in the path.
answer = server.call("PUT", "/tmserver/de/en/unit/Nur%20im%20Pfad",
                     body=b'{"target": "only in the path"}')
equal("no media type", (answer.status, answer.body), (200, b""))
equal("source of the path", server.call(
    "GET", "/tmserver/de/en/unit/Nur%20im%20Pfad").json[0]["target"],
      "only in the path")
for name, body, status in (("no target", b'{"source": "a"}', 400),
                           ("no JSON", b"{", 400), ("a list", b"[]", 400),
                           ("empty", b"", 400)):
    equal(f"PUT {name}", server.call("PUT", "/tmserver/de/en/unit/a",
                                     body=body).status, status)
equal("PUT for another pair", server.call(
    "PUT", "/tmserver/en/de/unit/a", body=b'{"source":"a","target":"b"}')
      .status, 400)
for kind in {}, {"Content-Type": "application/x-www-form-urlencoded"}, \
        {"Content-Type": "text/x-gettext-translation"}:
    answer = server.call("PUT", "/tmserver/de/en/store/harbor.po", body=PO,
                         headers=kind)
    equal(f"store a file {kind}", (answer.status, answer.type, answer.body),
          (200, TEXT, b"added 2 units from harbor.po"))
equal("store an empty file", server.call(
    "PUT", "/tmserver/de/en/store/harbor.po", body=b"").status, 400)
equal("unit of the file", server.call(
    "GET", "/api/v1/de/en/unit/Das%20Schiff%20ist%20blau.").json[0]["target"],
      "The vessel is azure.")
answer = server.call("POST", "/api/v1/de/en/store/list", json_body=[
    {"source": "Der Mond scheint.", "target": "The moon is out."},
    {"source": "Die Nacht ist still.", "target": "It is a quiet night."}])
equal("store a list", (answer.status, answer.body),
      (200, b"added 2 units from list"))
equal("store a bad list", server.call(
    "POST", "/api/v1/de/en/store/list", json_body=[
        {"source": "Verworfen.", "target": "Dropped."}, {"source": "x"}])
      .status, 400)
equal("all or none", server.call("GET", "/tmserver/de/en/unit/Verworfen.").json,
      [])
equal("store nonsense", server.call("PUT", "/tmserver/de/en/store/a.tmx",
                                    body=b"<tmx").status, 400)
equal("delete", server.call("DELETE", "/tmserver/de/en/unit/a").status, 405)

# ---- Apertium

hello = translated("Guten Tag!")
for path in "/apertium/listPairs", "/listPairs":
    equal(path, server.call("GET", path).json, {
        "responseData": [{"sourceLanguage": "de", "targetLanguage": "en"}],
        "responseDetails": None, "responseStatus": 200})
WANT = {"responseData": {"translatedText": hello}, "responseDetails": None,
        "responseStatus": 200}
for path in "/apertium/translate", "/translate":
    for pair in "de%7Cen", "de|en", "de_DE|en_US", "deu%7Ceng":
        answer = server.call("GET", f"{path}?langpair={pair}&q=Guten%20Tag%21"
                             "&markUnknown=no&key=")
        equal(f"{path} {pair}", (answer.status, answer.type, answer.json),
              (200, JSON, WANT))
equal("POST", post("/apertium/translate", {
    "langpair": "de|en", "q": "Guten Tag!"}, form=True).json, WANT)


def apertium_refused(name, query, status, why):
    found = server.call("GET", "/apertium/translate", query=query)
    equal(f"{name}: status", found.status, status)
    equal(name, found.json, {"responseData": {"translatedText": ""},
                             "responseDetails": why,
                             "responseStatus": status})


for pair in "en|de", "de", "de|", "|en", "de|fr", "x" * 40 + "|en", "de-en":
    apertium_refused(f"pair {pair}", {"langpair": pair, "q": "a"}, 400,
                     "That pair is not installed")
apertium_refused("no text", {"langpair": "de|en"}, 400, "Missing argument q")
apertium_refused("empty text", {"langpair": "de|en", "q": ""}, 400,
                 "Missing argument q")
apertium_refused("no pair", {"q": "a"}, 400, "Missing argument langpair")
equal("too long", server.call("GET", "/apertium/translate", query={
    "langpair": "de|en", "q": "a" * 2001}).status, 414)
for method, path, status in (("GET", "/apertium/x", 404),
                             ("DELETE", "/apertium/translate", 405)):
    answer = server.call(method, path)
    equal(f"{method} {path}", (answer.status, answer.json["responseStatus"]),
          (status, status))

# ---- OPUS-CAT

CAT = {"tokenCode": "0", "srcLangCode": "de", "trgLangCode": "en",
       "modelTag": ""}


def cat(action, method="GET", prefix="/MTRestService", **more):
    query = more.pop("query", CAT)
    return server.call(method, f"{prefix}/{action}", query=query, **more)


def check_pieces(name, text, data, translation):
    """The pieces make up the texts, and the three alignments are the same."""
    equal(f"{name}: translation", (data["translation"], data["Translation"]),
          (translation, translation))
    for key, whole in (("SegmentedSourceSentence", text),
                       ("SegmentedTranslation", translation)):
        joined = "".join(data[key]).replace("\u2581", " ")
        equal(f"{name}: {key}", joined.split(), whole.split())
    links = [tuple(map(int, x.split("-")))
             for x in data["AlignmentString"].split()]
    check(f"{name}: links", len(links) >= len(data["SegmentedTranslation"]) / 2,
          data)
    there = [(int(s), t) for s, list_ in
             data["SegmentedAlignmentSourceToTarget"].items() for t in list_]
    back = [(s, int(t)) for t, list_ in
            data["SegmentedAlignmentTargetToSource"].items() for s in list_]
    equal(f"{name}: same links", (sorted(there), sorted(back)),
          (sorted(links), sorted(links)))
    check(f"{name}: indices", all(
        s < len(data["SegmentedSourceSentence"]) and
        t < len(data["SegmentedTranslation"]) for s, t in links), data)
    equal(f"{name}: raw", data["RawTranslation"],
          " ".join(data["SegmentedTranslation"]))
    equal(f"{name}: SentencePiece", data["Segmentation"], 1)
    return links


for action, method in (("TranslateJson", "GET"), ("translatejson", "GET"),
                       ("TranslatePost", "POST")):
    for text in ("Das alte Haus am Fluss ist groß.",
                 "Das ist gut. Das Haus ist alt.\nDer Fluss ist lang."):
        answer = cat(action, method, query={**CAT, "input": text})
        equal(f"{action}: type", answer.type, JSON)
        links = check_pieces(action, text, answer.json, translated(text))
# The alignment is right where it cannot be otherwise.
data = cat("TranslateJson", query={**CAT, "input": "Wasser und Brot"}).json
pairs = {(data["SegmentedSourceSentence"][s].strip("\u2581"),
          data["SegmentedTranslation"][t].strip("\u2581").lower())
         for s, t in check_pieces("bread", "Wasser und Brot", data,
                                  translated("Wasser und Brot"))}
check("alignment of words", {("Wasser", "water"), ("und", "and")} <= pairs,
      pairs)
# A stored translation has pieces and an alignment, too.
answer = cat("TranslateJson", query={**CAT, "input": OLD})
check_pieces("stored", OLD, answer.json, NEW)
answer = cat("TranslateJson", query={
    **CAT, "input": f"Das Haus ist alt.\n{OLD}"})
check_pieces("stored line", f"Das Haus ist alt.\n{OLD}", answer.json,
             translated("Das Haus ist alt.") + "\n" + NEW)

for prefix in "/MTRestService", "/mtrestservice":
    for action in "Translate", "TranslateStream", "TranslateParagraphJson":
        answer = cat(action, prefix=prefix, query={**CAT, "input":
                                                   "Guten Tag!"})
        equal(f"{prefix}/{action}", (answer.status, answer.type,
                                     answer.body.decode()), (200, TEXT, hello))
for query in CAT, {**CAT, "input": ""}:
    data = cat("TranslateJson", query=query).json
    equal("no input", (data["translation"], data["SegmentedTranslation"],
                       data["AlignmentString"]), ("", [], ""))
equal("pairs", cat("ListSupportedLanguagePairs", query={}).json, ["de-en"])
equal("tags", cat("GetLanguagePairModelTags").json, [""])
equal("status", cat("CheckModelStatus").body,
      b"The model from de to en is loaded")
equal("login", cat("Login", query={"userName": "a", "password": "a"}).status,
      200)
answer = cat("PreOrderBatch", "POST", json_body=["Guten Tag!", "Haus"])
equal("order", answer.status, 200)
for body in {"a": 1}, [1], [], "a":
    answer = cat("PreOrderBatch", "POST", json_body=body)
    equal(f"order {body}", (answer.status, list(answer.json)), (400, ["error"]))
answer = cat("Customize", "POST", json_body={
    "Input": [{"Source": "Die Lampe leuchtet.", "Target": "The lamp glows."}],
    "Validation": [], "UniqueNewSegments": []})
equal("customize", answer.status, 200)
equal("customized", cat("Translate", query={
    **CAT, "input": "Die Lampe leuchtet."}).body, b"The lamp glows.")
for body in {}, {"Input": [{"Source": "a"}]}, [], {"Input": 1}:
    equal(f"customize {body}", cat("Customize", "POST", json_body=body).status,
          400)
for action in "Translate", "TranslateJson", "CheckModelStatus", \
        "GetLanguagePairModelTags":
    answer = cat(action, query={**CAT, "trgLangCode": "fr", "input": "a"})
    equal(f"{action} to French", (answer.status, list(answer.json)),
          (400, ["error"]))
equal("too long", cat("Translate", query={**CAT, "input": "a" * 2001}).status,
      414)
for action, method, status in (("Nothing", "GET", 404),
                               ("Translate", "DELETE", 405)):
    answer = cat(action, method)
    equal(f"{method} {action}", (answer.status, list(answer.json)),
          (status, ["error"]))

# ---- answers say what they are, and nothing that was sent is in the log

answer = post("/translate", {"q": "Guten Tag!", **DE_EN},
              headers={"X-Request-Id": "my-id.7"})
equal("request id", answer.headers["X-Request-Id"], "my-id.7")
equal("nosniff", answer.headers["X-Content-Type-Options"], "nosniff")
equal("no-store", answer.headers["Cache-Control"], "no-store")
for word in "Nachbarn", "Schiff", "Mond", "Pfad", "harbor.po", "Lampe":
    check(f"log has no {word}", word not in server.log, server.log[-500:])

# ---- keys, rates, and no memory

locked = raw.Server("--rate", "3", keys=["anna"])
LOCKED = {"q": "Guten Tag!", **DE_EN}
answer = locked.call("POST", "/libretranslate/translate", json_body=LOCKED)
refused("no key", answer, 400,
        "Please contact the server operator to get an API key")
answer = locked.call("POST", "/libretranslate/translate", json_body={
    **LOCKED, "api_key": "wrong"})
refused("wrong key", answer, 403, "Invalid API key")
for path, status in (("/apertium/translate?langpair=de|en&q=a&key=wrong", 401),
                     ("/tmserver/de/en/unit/a?key=wrong", 401),
                     ("/MTRestService/Translate?key=wrong", 401)):
    equal(f"wrong key {path}", locked.call("GET", path).status, status)
settings = locked.call("GET", "/libretranslate/frontend/settings").json
equal("settings with keys", (settings["apiKeys"], settings["keyRequired"]),
      (True, True))
equal("languages need no key", locked.call(
    "GET", "/libretranslate/languages").status, 200)
key = locked.keys["anna"]
answers = [locked.call("POST", "/libretranslate/translate", json_body={
    **LOCKED, "api_key": key}) for _ in range(4)]
check("the key", "translatedText" in answers[0].json, answers[0])
refused("rate", answers[-1], 429, "Slowdown: 3 per 1 minute")
check("rate: Retry-After", int(answers[-1].headers["Retry-After"]) >= 1,
      answers[-1].headers)
equal("rate of OPUS-CAT", locked.call(
    "GET", "/MTRestService/Translate", query={**CAT, "input": "a"},
    headers={"X-Api-Key": key}).status, 503)

bare = raw.Server()
refused("suggestions without a memory", bare.call(
    "POST", "/suggest", json_body={"q": "a", "s": "b", **DE_EN}), 403,
        "Suggestions are disabled on this server")
equal("settings without a memory", bare.call(
    "GET", "/frontend/settings").json["suggestions"], False)
equal("lookup without a memory", bare.call(
    "GET", "/tmserver/de/en/unit/a").json, [])
equal("unit without a memory", bare.call(
    "PUT", "/tmserver/de/en/unit/a", body=json.dumps(
        {"source": "a", "target": "b"}).encode()).status, 403)

raw.finish(server, locked, bare)
