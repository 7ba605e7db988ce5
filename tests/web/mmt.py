"""mmt.py - raw requests to ModernMT's API: every route and every error."""
import gzip
import re

import raw
from raw import check, equal

OLD, NEW = "Guten Morgen, liebe Nachbarn!", "A very good morning, dear folks!"
TMX = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header srclang="de" segtype="sentence" datatype="plaintext"
 creationtool="x" creationtoolversion="1" o-tmf="x" adminlang="en"/><body>
<tu><tuv xml:lang="de"><seg>Das Schiff ist blau.</seg></tuv>
<tuv xml:lang="en"><seg>The vessel is azure.</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>Der Hafen ist offen.</seg></tuv>
<tuv xml:lang="en"><seg>The port lies open.</seg></tuv></tu>
</body></tmx>""".encode()
EMPTY_TMX = re.sub(rb"<tu>.*</tu>", b"", TMX, flags=re.S)

server = raw.Server(memory=True)


def mmt(method, path, data=None, override=True, **more):
    """A call as the npm client makes it: POST, JSON, the real method in a
    header. Checks the envelope. Returns (status, data or error)."""
    headers = {"MMT-ApiKey": "any", **more.pop("headers", {})}
    real = method
    if override:
        headers["X-HTTP-Method-Override"] = method.lower()
        real = "POST"
    answer = server.call(real, path, json_body=data, headers=headers, **more)
    name = f"{method} {path}"
    equal(f"{name}: content type", answer.type,
          "application/json; charset=utf-8")
    check(f"{name}: envelope", isinstance(answer.json, dict) and
          answer.json.get("status") == answer.status, answer)
    if answer.status == 200:
        check(f"{name}: data", set(answer.json) == {"status", "data"}, answer)
        return 200, answer.json["data"]
    error = (answer.json or {}).get("error", {})
    check(f"{name}: error", set(error) == {"type", "message"}, answer)
    return answer.status, error


def refused(name, result, status, kind, words=""):
    equal(f"{name}: status", result[0], status)
    equal(f"{name}: type", result[1].get("type"), kind)
    check(f"{name}: message", words in result[1].get("message", ""), result)


def translation(text, path="/translate", **more):
    status, data = mmt("GET", path, {"source": "de", "target": "en",
                                     "q": text, **more})
    equal(f"translate {text!r}", status, 200)
    return data["translation"] if status == 200 else data


# ---- translating

for prefix in ("", "/modernmt"):
    status, data = mmt("GET", prefix + "/translate",
                       {"source": "de", "target": "en", "q": "Guten Tag!"})
    equal("translate", status, 200)
    check("translate: text", len(data["translation"]) > 4, data)
    equal("translate: characters", (data["characters"],
                                    data["billedCharacters"]), (10, 10))
    check("translate: no extras", set(data) == {"translation", "characters",
                                                "billedCharacters"}, data)
hello = translation("Guten Tag!")

status, data = mmt("GET", "/translate", {"source": "de-AT", "target": "EN_us",
                                         "q": ["Guten Tag!", "", "Größe"]})
equal("list", [d["characters"] for d in data], [10, 0, 5])
equal("list: same text", data[0]["translation"], hello)
equal("list: empty text", data[1]["translation"], "")
equal("empty list", mmt("GET", "/translate", {"target": "en", "q": []}),
      (200, []))

for name, more in (("query", {"query": {"source": "de", "target": "en",
                                        "q": "Guten Tag!"}}),):
    answer = server.call("GET", "/modernmt/translate", **more)
    equal(name, answer.json["data"]["translation"], hello)
answer = server.call("GET", "/translate", query={"source": "de",
                     "target": "en", "q": ["Guten Tag!", "Größe"]})
equal("GET /translate is ModernMT's",
      [d["characters"] for d in answer.json["data"]], [10, 5])
answer = server.call("POST", "/modernmt/translate",
                     form={"source": "de", "target": "en", "q": "Guten Tag!"})
equal("form", answer.json["data"]["translation"], hello)
answer = server.call("POST", "/modernmt/translate", files=[],
                     fields=[("source", "de"), ("target", "en"),
                             ("q", "Guten Tag!")])
equal("multipart", answer.json["data"]["translation"], hello)
body = b'{"source":"de","target":"en","q":"Guten Tag!"}'
answer = server.call("POST", "/translate", body=body, chunked=True, headers={
    "MMT-ApiKey": "x", "Content-Type": "application/json"})
equal("chunked", answer.json["data"]["translation"], hello)

status, data = mmt("GET", "/translate", {"target": "en", "source": None,
                                         "q": "Das ist ein schöner Tag."})
equal("detected", data["detectedLanguage"], "de")
status, data = mmt("GET", "/translate", {
    "source": "de", "target": "en", "q": "Guten Tag!", "alt_translations": 3})
check("alternatives", 1 <= len(data["altTranslations"]) <= 3 and
      data["translation"] not in data["altTranslations"] and
      len(set(data["altTranslations"])) == len(data["altTranslations"]), data)
status, data = mmt("GET", "/translate", {"source": "de", "target": "en",
                   "q": "Guten Tag!", "nbest": "2", "include_score": "true"})
equal("old nbest", len(data["altTranslations"]), 1)
check("score", 0 < data["score"] <= 1, data)
for more in ({"priority": "background"}, {"timeout": 20000},
             {"session": "7", "project_id": "x", "verbose": True,
              "mask_profanities": 1, "unheard_of": [{}]},
             {"multiline": False, "context": "Wetter"},
             {"glossaries": [], "ignore_glossary_case": False},
             {"hints": "", "context_vector": None}):
    equal(f"accepted {more}", translation("Guten Tag!", **more), hello)
equal("white space", translation("  Guten Tag!\n\nGuten Tag!\n"),
      f"  {hello}\n\n{hello}\n")
check("marks of Weblate", "[X5X]" in translation("Die Datei [X5X] fehlt."))

# ---- markup

plain = translation("Müller & Söhne < Meier")
for form in ("text/xml", "text/html", "application/xliff+xml"):
    equal(f"entities, {form}",
          translation("Müller &amp; Söhne &lt; Meier", format=form),
          plain.replace("&", "&amp;").replace("<", "&lt;"))
check("an entity means XML",
      "&amp;" in translation("Müller &amp; Söhne sind hier."))
equal("text/plain", translation("Müller & Söhne < Meier",
                                format="text/plain"), plain)
for element in ("<x id='3'/>", '<ph id="3" equiv-text="a>b"></ph>'):
    text = translation(f"Das Haus {element} ist groß.")
    check(f"kept {element}", text.count(element) == 1, text)
refused("tags", mmt("GET", "/translate", {"target": "en", "q":
        ["gut", "ein <b>Haus</b>"]}), 501, "NotSupportedException", "text 2")
refused("format", mmt("GET", "/translate", {"target": "en", "q": "gut",
        "format": "x"}), 400, "ParameterParsingException", "format")

# ---- wrong arguments

BAD = "ParameterParsingException"
NO_PAIR = "UnsupportedLanguageException"
for name, args, kind, words in (
        ("no q", {"source": "de", "target": "en"}, BAD, "Missing parameter q"),
        ("q null", {"target": "en", "q": None}, BAD, "Missing parameter q"),
        ("q number", {"target": "en", "q": 5}, BAD, "q"),
        ("q mixed", {"target": "en", "q": ["a", 5]}, BAD, "2"),
        ("no target", {"q": "a"}, BAD, "Missing parameter target"),
        ("target zz", {"source": "de", "target": "zz", "q": "a"}, NO_PAIR, ""),
        ("source zz", {"source": "zz", "target": "en", "q": "a"}, NO_PAIR, ""),
        ("pair", {"source": "en", "target": "de", "q": "a"}, NO_PAIR, ""),
        ("priority", {"target": "en", "q": "a", "priority": "x"}, BAD, ""),
        ("timeout", {"target": "en", "q": "a", "timeout": "x"}, BAD, ""),
        ("alternatives", {"target": "en", "q": "a", "alt_translations": 99},
         BAD, ""),
        ("hints", {"target": "en", "q": "a", "hints": [{}]}, BAD, "hints")):
    refused(name, mmt("GET", "/translate", args), 400, kind, words)
refused("glossaries", mmt("GET", "/translate", {"target": "en", "q": "a",
        "glossaries": [3]}), 501, "NotSupportedException")
refused("too many texts", mmt("GET", "/translate", {"target": "en", "source":
        "de", "q": ["a"] * 300}), 413, "RequestTooLargeException")
refused("long text", mmt("GET", "/translate", {"target": "en", "source":
        "de", "q": "a" * 200000}), 413, "RequestTooLargeException")
for name, body in (("not JSON", b'{"q":'), ("a list", b"[1]"),
                   ("bad UTF-8", b'{"q":"\xff"}'),
                   ("surrogate", b'{"q":"\\ud800","target":"en"}')):
    answer = server.call("POST", "/modernmt/translate", body=body, headers={
        "Content-Type": "application/json"})
    equal(f"{name}: status", answer.status, 400)
    equal(f"{name}: body", (answer.json["status"],
                            answer.json["error"]["type"]), (400, BAD))
equal("Weblate's probe", mmt("GET", "/modernmt/translate", {
    "q": "test", "source": "en", "target": "de"})[1]["translation"], "test")
equal("Weblate's probe, GET", server.call("GET", "/modernmt/translate", query={
    "q": "test", "source": "en", "target": "de"}).status, 200)

# ---- languages, detection, the account

equal("languages", mmt("GET", "/languages"), (200, {"de": ["en"]}))
answer = server.call("GET", "/modernmt/languages")
equal("languages, plain GET", answer.json["data"], {"de": ["en"]})
equal("language list", mmt("GET", "/translate/languages"), (200, ["de", "en"]))
equal("detect", mmt("GET", "/translate/detect", {"q": "Das ist ein Haus."}),
      (200, {"billedCharacters": 17, "detectedLanguage": "de"}))
status, data = mmt("GET", "/translate/detect",
                   {"q": ["Das ist ein Haus.", "This is a house.", "42"]})
equal("detect a list", [d["detectedLanguage"] for d in data],
      ["de", "en", None])
refused("detect nothing", mmt("GET", "/translate/detect", {}), 400, BAD)
status, me = mmt("GET", "/users/me")
check("me", me["status"] == "active" and
      me["billingPeriod"]["planForCatTool"] is True and
      me["billingPeriod"]["chars"] > 0, me)
equal("health", mmt("GET", "/_health", override=False)[0], 200)
equal("info", mmt("GET", "/modernmt/", override=False)[1]["name"], "skmt")
for path in ("/translate/qe", "/tags-projection", "/translate/batch",
             "/memories/1/glossary"):
    refused(path, mmt("POST", path, {}), 501, "NotSupportedException")

# ---- paths and methods

refused("path", mmt("GET", "/modernmt/nothing", override=False), 404,
        "ApiNotFoundException", "Invalid API endpoint")
answer = server.call("DELETE", "/modernmt/languages")
equal("method", (answer.status, answer.json["status"],
                 answer.headers["Allow"]), (405, 405, "GET, HEAD, POST"))
answer = server.call("POST", "/languages", headers={
    "X-HTTP-Method-Override": "PUT"})
equal("overridden method", (answer.status, answer.json["status"]), (405, 405))

# ---- memories

check("no memory yet", mmt("GET", "/memories")[1] == [])
status, made = mmt("POST", "/memories", {"name": "ours", "description": "d",
                                         "external_id": "x_mm-one"})
equal("create", status, 200)
check("create: fields", made["name"] == "ours" and made["description"] == "d"
      and isinstance(made["id"], int) and re.fullmatch(
          r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", made["creationDate"]),
      made)
one = made["id"]
two = mmt("POST", "/memories", {"name": "ours"})[1]["id"]
check("equal names", two != one)
refused("no name", mmt("POST", "/memories", {}), 400, BAD, "name")
refused("same external id", mmt("POST", "/memories", {"name": "a",
        "external_id": "x_mm-one"}), 409, "ConflictException")
answer = server.call("POST", "/modernmt/memories",
                     form={"name": "weblate:1:de:en:abc"})
three = answer.json["data"]["id"]
equal("list", sorted(m["id"] for m in mmt("GET", "/memories")[1]),
      sorted([one, two, three]))
equal("by id", mmt("GET", f"/memories/{one}")[1], made)
equal("by external id", mmt("GET", "/memories/x_mm-one")[1], made)
for method in ("GET", "PUT", "DELETE"):
    refused("unknown memory", mmt(method, "/memories/999", {"name": "a"}), 404,
            "NotFoundException", "999")
equal("edit", mmt("PUT", f"/memories/{two}", {"name": "theirs"})[1]["name"],
      "theirs")
equal("edited", mmt("GET", f"/memories/{two}")[1]["name"], "theirs")
equal("delete", mmt("DELETE", f"/memories/{three}")[1]["id"], three)
answer = server.call("DELETE", f"/modernmt/memories/{three}")
equal("delete again", answer.status, 404)
status, list_ = mmt("POST", "/memories/connect", {"external_ids":
                                                  "x_mm-one, x_mm-new"})
equal("connect", [m.get("externalId") for m in list_],
      ["x_mm-one", "x_mm-new"])
refused("connect unknown", mmt("POST", "/memories/connect", {
    "external_ids": "nobody"}), 404, "NotFoundException")

# ---- pairs

pair = {"source": "de", "target": "en", "sentence": OLD, "translation": NEW}
before = translation(OLD)
check("not stored yet", before != NEW)
status, job = mmt("POST", f"/memories/{one}/content", {**pair, "tuid": "u1"})
equal("add", status, 200)
check("job", re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
                          job["id"]), job)
equal("job: fields", (job["memory"], job["size"], job["progress"]),
      (one, 1, 1))
equal("job again", mmt("GET", "/import-jobs/" + job["id"])[1], job)
equal("job, old path", mmt("GET", "/memories/imports/" + job["id"])[1], job)
refused("unknown job", mmt("GET", "/import-jobs/nothing"), 404,
        "NotFoundException")
equal("stored", translation(OLD), NEW)
equal("stored, its memory", translation(OLD, hints=[one]), NEW)
equal("stored, by external id", translation(OLD, hints="x_mm-one"), NEW)
equal("stored, by vector", translation(OLD, context_vector=f"{one}:0.5"), NEW)
equal("other memory", translation(OLD, hints=[two]), before)
equal("weight 0", translation(OLD, context_vector=f"{one}:0,{two}:1"), before)
equal("unknown hint", translation(OLD, hints=["x_mm-nobody"]), before)
equal("hint and unknown hint", translation(OLD, hints=f"x_mm-nobody,{one}"),
      NEW)
status, data = mmt("GET", "/translate", {"source": "de", "target": "en",
                   "q": OLD, "context_vector": f"{one}:0.5"})
equal("the vector is told", data["contextVector"], f"{one}:0.5")
unit = server.call("GET", "/tmserver/de/en/unit/" +
                   raw.urllib.parse.quote(OLD))
check("tmserver", unit.json[0]["quality"] == 100 and
      unit.json[0]["target"] == NEW, unit)

equal("replace by tuid", mmt("PUT", f"/memories/{one}/content", {
    **pair, "tuid": "u1", "translation": "Second."})[0], 200)
equal("replaced", translation(OLD), "Second.")
unit = server.call("GET", "/tmserver/de/en/unit/" +
                   raw.urllib.parse.quote(OLD))
equal("one unit", len(unit.json), 1)
equal("replace by texts", mmt("PUT", f"/memories/{one}/content", {
    **pair, "old_sentence": OLD, "old_translation": "Second.",
    "translation": "Third."})[0], 200)
equal("replaced again", translation(OLD), "Third.")
equal("replace all", mmt("PUT", f"/memories/{one}/content", {
    **pair, "translation": "Fourth."})[0], 200)
unit = server.call("GET", "/tmserver/de/en/unit/" +
                   raw.urllib.parse.quote(OLD))
equal("still one unit", [u["target"] for u in unit.json], ["Fourth."])
refused("half of the old pair", mmt("PUT", f"/memories/{one}/content", {
    **pair, "old_sentence": OLD}), 400, BAD, "old_translation")

status, job = mmt("POST", "/memories/content", {
    **pair, "sentence": "Erster Satz hier.", "translation": "One.",
    "memories": f"x_mm-two,{two}"})
equal("share", status, 200)
equal("shared", [translation("Erster Satz hier.", hints=m)
                 for m in ("x_mm-two", two)], ["One.", "One."])
status, job = mmt("POST", "/memories/content", {
    **pair, "sentence": "Zweiter Satz hier.", "translation": "Two."})
equal("share with the default memory", translation("Zweiter Satz hier."),
      "Two.")
for name, path, change, status, kind in (
        ("no sentence", f"/memories/{one}/content", {"sentence": ""}, 400, BAD),
        ("no translation", f"/memories/{one}/content", {"translation": None},
         400, BAD),
        ("no source", f"/memories/{one}/content", {"source": None}, 400, BAD),
        ("other pair", f"/memories/{one}/content", {"target": "fr"}, 400,
         NO_PAIR),
        ("no memory", "/memories/999/content", {}, 404, "NotFoundException"),
        ("no memories", "/memories/content", {"memories": "999"}, 404,
         "NotFoundException")):
    refused(name, mmt("POST", path, {**pair, **change}), status, kind)

# ---- imports

for name, files, fields, chunked in (
        ("import", [("tmx", "a.tmx", "application/xml", TMX)], [], False),
        ("import, chunked", [("tmx", "a.tmx", "application/xml", TMX)], [],
         True),
        ("import, gzip", [("tmx", "a.tmx.gz", "application/gzip",
                           gzip.compress(TMX))],
         [("compression", "gzip")], True)):
    memory = mmt("POST", "/memories", {"name": name})[1]["id"]
    answer = server.call("POST", f"/memories/{memory}/content", files=files,
                         fields=fields, chunked=chunked, headers={
                             "MMT-ApiKey": "x",
                             "X-HTTP-Method-Override": "post"})
    equal(name, answer.status, 200)
    job = answer.json["data"]
    equal(f"{name}: job", (job["memory"], job["size"], job["progress"]),
          (memory, 2, 1))
    equal(f"{name}: used", translation("Das Schiff ist blau.", hints=memory),
          "The vessel is azure.")
answer = server.call("POST", f"/modernmt/memories/{two}/corpus", files=[
    ("content", "b.tmx", "application/xml", TMX)], fields=[
        ("content_type", "tmx"), ("local_file", "/etc/passwd")])
equal("old import", answer.json["data"]["size"], 2)
answer = server.call("POST", f"/modernmt/memories/{two}/corpus", form={
    "content_type": "tmx", "local_file": "/etc/passwd"})
equal("no local file", answer.status, 400)
for name, data, kind in (("empty", EMPTY_TMX, "EmptyCorpusException"),
                         ("damaged", TMX[:400], BAD),
                         ("noise", b"\x00\x01\x02" * 50, BAD),
                         ("damaged gzip", gzip.compress(TMX)[:150], BAD)):
    answer = server.call("POST", f"/modernmt/memories/{two}/content", files=[
        ("tmx", "a.tmx", "application/xml", data)])
    equal(f"{name} file", (answer.status, answer.json["status"],
                           answer.json["error"]["type"]), (400, 400, kind))
    check(f"{name} file: no path", "/" not in answer.json["error"]["message"],
          answer)
answer = server.call("POST", f"/modernmt/memories/{two}/content", files=[
    ("content", "a", "text/plain", b"a\tb\n")], fields=[
        ("content_type", "parallel")])
equal("old format", (answer.status, answer.json["error"]["type"]),
      (501, "NotSupportedException"))

# ---- the context vector

harbor = mmt("POST", "/memories", {"name": "harbor"})[1]["id"]
for a, b in (("Der Hafen ist heute geschlossen.", "The harbor is closed."),
             ("Das Schiff verlässt den Hafen.", "The ship leaves.")):
    mmt("POST", f"/memories/{harbor}/content", {**pair, "sentence": a,
                                                "translation": b})
text = "Der Hafen ist heute geschlossen.\n\nDas Schiff verlässt den Hafen."
status, data = mmt("GET", "/context-vector", {
    "source": "de", "targets": "en", "text": text})
equal("vector", (status, data["source"]), (200, "de"))
equal("vector: the best", data["vectors"]["en"].split(",")[0],
      f"{harbor}:1.000")
check("vector: the others are less", all(
    float(e.split(":")[1]) < 1 for e in data["vectors"]["en"].split(",")[1:])
    and len(data["vectors"]["en"].split(",")) > 1, data)
equal("vector: limit", mmt("GET", "/context-vector", {
    "source": "de", "targets": ["en"], "text": text, "limit": 1})[1][
        "vectors"], {"en": f"{harbor}:1.000"})
check("vector: hints first", mmt("GET", "/context-vector", {
    "source": "de", "targets": "en", "text": "Das Schiff ist blau.",
    "hints": [harbor]})[1]["vectors"]["en"].startswith(f"{harbor}:"))
equal("vector: nothing", mmt("GET", "/context-vector", {
    "source": "de", "targets": "en", "text": ""})[1]["vectors"], {"en": ""})
for name, data, more in (
        ("file", text.encode(), []),
        ("gzip", gzip.compress(text.encode()), [("compression", "gzip")])):
    answer = server.call("POST", "/context-vector", files=[
        ("content", "a.txt", "text/plain", data)], fields=[
            ("source", "de"), ("targets", "en"), ("limit", "1"), *more],
        headers={"X-HTTP-Method-Override": "get"})
    equal(f"vector: {name}", answer.json["data"]["vectors"],
          {"en": f"{harbor}:1.000"})
answer = server.call("POST", "/context-vector", files=[
    ("content", "a.gz", "application/gzip",
     gzip.compress(b"a" * 20_000_000))], fields=[
         ("source", "de"), ("targets", "en"), ("compression", "gzip")])
equal("vector: a bomb", (answer.status, answer.json["error"]["type"]),
      (413, "RequestTooLargeException"))
for name, args, kind in (
        ("no text", {"source": "de", "targets": "en"}, BAD),
        ("no source", {"targets": "en", "text": "a"}, BAD),
        ("no targets", {"source": "de", "text": "a"}, BAD),
        ("limit", {"source": "de", "targets": "en", "text": "a", "limit": 0},
         BAD),
        ("target fr", {"source": "de", "targets": "en,fr", "text": "a"},
         NO_PAIR)):
    refused(f"vector: {name}", mmt("GET", "/context-vector", args), 400, kind)

# ---- the log

log = server.log
for secret in ("Nachbarn", "Fourth", "x_mm-one"):
    check(f"the log is silent about {secret}", secret not in log, log)

# ---- a server without a memory, and one with keys

bare, server_with_memory = raw.Server(), server
server = bare
equal("no file: list", mmt("GET", "/memories"), (200, []))
equal("no file: translate", translation("Guten Tag!"), hello)
equal("no file: hints", translation("Guten Tag!", hints=[1]), hello)
refused("no file: create", mmt("POST", "/memories", {"name": "a"}), 403,
        "AuthenticationException")
refused("no file: add", mmt("POST", "/memories/content", pair), 403,
        "AuthenticationException")
keyed = server = raw.Server(keys=["anna", "ben"])
for name, headers in (("wrong key", {"MMT-ApiKey": "wrong"}),
                      ("no key", {"MMT-ApiKey": ""})):
    refused(name, mmt("GET", "/users/me", headers=headers), 401,
            "AuthenticationException")
    refused(f"{name}: translate", mmt("GET", "/translate", {
        "target": "en", "q": "a"}, headers=headers), 401,
        "AuthenticationException")
anna = {"MMT-ApiKey": keyed.keys["anna"]}
ben = {"MMT-ApiKey": keyed.keys["ben"]}
status, made = mmt("POST", "/memories", {"name": "hers"}, headers=anna)
equal("a key's memory", status, 200)
equal("a key's pair", mmt("POST", f"/memories/{made['id']}/content", pair,
                          headers=anna)[0], 200)
equal("her translation", mmt("GET", "/translate", {
    "source": "de", "target": "en", "q": OLD}, headers=anna)[1][
        "translation"], NEW)
equal("his translation", mmt("GET", "/translate", {
    "source": "de", "target": "en", "q": OLD}, headers=ben)[1][
        "translation"], before)
equal("his hint", mmt("GET", "/translate", {
    "source": "de", "target": "en", "q": OLD, "hints": [made["id"]]},
    headers=ben)[1]["translation"], before)
equal("his list", mmt("GET", "/memories", headers=ben)[1], [])
refused("her memory", mmt("GET", f"/memories/{made['id']}", headers=ben), 404,
        "NotFoundException")
equal("health needs no key", mmt("GET", "/_health", headers={
    "MMT-ApiKey": ""})[0], 200)

raw.finish(server_with_memory, bare, keyed)
