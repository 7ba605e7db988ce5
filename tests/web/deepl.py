"""deepl.py - raw requests to DeepL's API: every route and every error."""
import raw
from raw import check, equal

server = raw.Server(memory=True)


def deepl(method, path, **more):
    """Returns (status, JSON). Checks what every answer has."""
    answer = server.call(method, path, **more)
    name = f"{method} {path}"
    equal(f"{name}: content type", answer.type,
          "application/json; charset=utf-8")
    check(f"{name}: X-Trace-ID", answer.headers["X-Trace-ID"] ==
          answer.headers["X-Request-Id"] != None, answer.headers)
    if answer.status != 200:
        check(f"{name}: error", isinstance(answer.json, dict) and
              isinstance(answer.json.get("message"), str) and
              answer.json["message"], answer)
    return answer.status, answer.json


def refused(name, result, status, message=None):
    equal(f"{name}: status", result[0], status)
    if message:
        equal(f"{name}: message", result[1].get("message"), message)


def form(**args):
    return deepl("POST", "/v2/translate", form=args)


def one(result):
    equal("status", result[0], 200)
    return result[1]["translations"][0] if result[0] == 200 else {}


# ---- translating

result = one(form(text="Guten Tag!", target_lang="EN-US", source_lang="DE"))
equal("fields", set(result), {"detected_source_language", "text"})
equal("source", result["detected_source_language"], "DE")
hello = result["text"]
check("text", len(hello) > 4, hello)
for path in ("/v2/translate", "/deepl/v2/translate"):
    status, data = deepl("POST", path, json_body={
        "text": ["Guten Tag!", "Das ist ein Haus.", ""],
        "target_lang": "EN", "show_billed_characters": True})
    equal("JSON", [t["billed_characters"] for t in data["translations"]],
          [10, 17, 0])
    equal("JSON: same", data["translations"][0]["text"], hello)
    equal("JSON: detected", data["translations"][1][
        "detected_source_language"], "DE")
equal("JSON, a plain string", one(deepl("POST", "/v2/translate", json_body={
    "text": "Guten Tag!", "target_lang": "en-gb"}))["text"], hello)
status, data = deepl("POST", "/v2/translate", form=[
    ("text", "Guten Tag!"), ("text", "Größe"), ("target_lang", "EN-GB"),
    ("show_billed_characters", "1")])
equal("form, repeated", [t["billed_characters"]
                         for t in data["translations"]], [10, 5])
result = one(form(
    text="Guten Tag!", target_lang="EN-US", source_lang="DE",
    split_sentences="nonewlines", preserve_formatting="1",
    tag_handling="xml", outline_detection="0", non_splitting_tags="b",
    splitting_tags="p", ignore_tags="x,y", custom_instructions=["a", "b"],
    formality="prefer_more", context="Wetter", style_id="x",
    model_type="latency_optimized", unheard_of="1"))
equal("all options", (result["text"], result["model_type_used"],
                      result["tag_handling_version"]),
      (hello, "latency_optimized", "v1"))
equal("Weblate", one(deepl("POST", "/deepl/v2/translate", json_body={
    "text": ["Guten Tag!"], "source_lang": "DE", "target_lang": "EN-US",
    "formality": "default", "tag_handling": "xml", "ignore_tags": ["x"]},
    headers={"Authorization": "DeepL-Auth-Key any"}))["text"], hello)

# ---- markup

plain = one(form(text="Müller & Söhne < Meier", target_lang="EN"))["text"]
for kind in ("xml", "html"):
    equal(f"entities, {kind}", one(form(
        text="Müller &amp; Söhne &lt; Meier", target_lang="EN",
        tag_handling=kind))["text"],
        plain.replace("&", "&amp;").replace("<", "&lt;"))
text = one(form(text='Die Datei <x id="12"></x> fehlt, <x id="13"></x>.',
                target_lang="EN", tag_handling="xml"))["text"]
equal("placeholders of Weblate", [text.count(f'<x id="{n}"></x>')
                                  for n in (12, 13)], [1, 1])
text = one(form(text='[X1X] und <x id="1"></x> &amp; [X2X]',
                target_lang="EN", tag_handling="xml"))["text"]
equal("placeholders and marks", [text.count(m) for m in (
    "[X1X]", "[X2X]", '<x id="1"></x>', "&amp;")], [1, 1, 1, 1])
refused("tags", form(text=["gut", "ein <b>Haus</b>"], target_lang="EN",
                     tag_handling="xml"), 400,
        "Text 2 of 2 has tags. Translating tags is not offered by this "
        "server.")
check("no tag handling", "<b>" in one(form(
    text="Das Zeichen <b> ist hier.", target_lang="EN"))["text"])

# ---- wrong arguments

for name, args, message in (
        ("no text", {"target_lang": "EN"}, "Parameter 'text' not specified."),
        ("no target", {"text": "a"},
         "Parameter 'target_lang' not specified."),
        ("target", {"text": "a", "target_lang": "ZZ"},
         "Value for 'target_lang' not supported."),
        ("target DE", {"text": "a", "target_lang": "DE"},
         "Value for 'target_lang' not supported."),
        ("source", {"text": "a", "target_lang": "EN", "source_lang": "FR"},
         "Value for 'source_lang' not supported."),
        ("formality", {"text": "a", "target_lang": "EN",
                       "formality": "more"},
         "'formality' is not supported for given 'target_lang'."),
        ("tag_handling", {"text": "a", "target_lang": "EN",
                          "tag_handling": "x"},
         "Value for 'tag_handling' not supported."),
        ("split", {"text": "a", "target_lang": "EN", "split_sentences": "2"},
         "Value for 'split_sentences' not supported."),
        ("model", {"text": "a", "target_lang": "EN", "model_type": "x"},
         "Value for 'model_type' not supported."),
        ("glossary", {"text": "a", "target_lang": "EN", "source_lang": "DE",
                      "glossary_id": "x"},
         "Parameter 'glossary_id' is not offered by this server."),
        ("memory", {"text": "a", "target_lang": "EN",
                    "translation_memory_id": "x"},
         "Parameter 'translation_memory_id' is not offered by this "
         "server.")):
    refused(name, form(**args), 400, message)
for name, body in (("not JSON", b"{"), ("a list", b"[]"),
                   ("numbers", b'{"text":[1],"target_lang":"EN"}'),
                   ("no texts", b'{"text":[],"target_lang":"EN"}'),
                   ("bad UTF-8", b'{"text":["\xff"],"target_lang":"EN"}')):
    refused(name, deepl("POST", "/v2/translate", body=body, headers={
        "Content-Type": "application/json"}), 400)
refused("too many", deepl("POST", "/v2/translate", json_body={
    "text": ["a"] * 300, "target_lang": "EN", "source_lang": "DE"}), 413)
refused("type", deepl("POST", "/v2/translate", body=b"x", headers={
    "Content-Type": "text/plain"}), 415)
equal("Weblate's probe", one(deepl("POST", "/deepl/v2/translate", json_body={
    "text": ["test"], "source_lang": "EN", "target_lang": "DE",
    "tag_handling": "xml"})), {"text": "test",
    "detected_source_language": "EN", "tag_handling_version": "v1"})
refused("not the probe", form(text="tests", source_lang="EN",
                              target_lang="DE"), 400)

# ---- languages and usage

german = {"language": "DE", "name": "German"}
equal("sources", deepl("GET", "/v2/languages"), (200, [german]))
equal("sources, asked", deepl("GET", "/deepl/v2/languages?type=source"),
      (200, [german]))
status, data = deepl("GET", "/v2/languages?type=target")
equal("targets", [(t["language"], t["supports_formality"]) for t in data],
      [("EN-GB", False), ("EN-US", False)])
refused("kind of languages", deepl("GET", "/v2/languages?type=x"), 400,
        "Value for 'type' not supported.")
before = deepl("GET", "/v2/usage")[1]
equal("limit", before["character_limit"], 1000000000000)
form(text=["Guten Tag!", "Größe"], target_lang="EN", source_lang="DE")
after = deepl("GET", "/v2/usage")[1]
equal("usage", after["character_count"] - before["character_count"], 15)
equal("glossary pairs", deepl("GET", "/v2/glossary-language-pairs"),
      (200, {"supported_languages": []}))

# ---- what is not offered

for method, path, word in (
        ("GET", "/v2/glossaries", "Glossaries"),
        ("POST", "/v2/glossaries", "Glossaries"),
        ("GET", "/v2/glossaries/x", "Glossaries"),
        ("GET", "/v2/glossaries/x/entries", "Glossaries"),
        ("DELETE", "/v2/glossaries/x", "Glossaries"),
        ("POST", "/v3/glossaries", "Glossaries"),
        ("PATCH", "/v3/glossaries/x", "Glossaries"),
        ("PUT", "/v3/glossaries/x/dictionaries", "Glossaries"),
        ("POST", "/v2/document/x", "documents"),
        ("POST", "/v2/document/x/result", "documents"),
        ("GET", "/v3/translation_memories", "memories"),
        ("POST", "/v3/translation_memories/import", "memories"),
        ("POST", "/v2/write/rephrase", "not offered"),
        ("GET", "/v3/style_rules", "not offered")):
    status, data = deepl(method, path, json_body={})
    equal(f"{method} {path}", status, 404)
    check(f"{method} {path}: message", word in data["message"] and
          "not offered" in data["message"], data)
answer = server.call("POST", "/v2/document", files=[
    ("file", "a.txt", "text/plain", b"Hallo")], fields=[
        ("target_lang", "EN-US"), ("source_lang", "DE")], chunked=True)
equal("document", (answer.status, "documents" in answer.json["message"]),
      (404, True))
refused("path", deepl("GET", "/v2/nothing"), 404, "Not found")
answer = server.call("GET", "/v2/translate")
equal("method", (answer.status, answer.headers["Allow"],
                 isinstance(answer.json["message"], str)),
      (405, "POST", True))

# ---- a correction of another API is used; texts are not logged

answer = server.call("POST", "/modernmt/memories/content", json_body={
    "source": "de", "target": "en", "sentence": "Der Wal ist müde.",
    "translation": "The whale naps."})
equal("correction", answer.status, 200)
equal("corrected", one(form(text="Der Wal ist müde.",
                            target_lang="EN-US"))["text"], "The whale naps.")
check("the log is silent", "whale" not in server.log and
      "Haus" not in server.log, server.log)

# ---- keys

open_server = server
keyed = server = raw.Server(keys=["anna"])
for name, headers in (("wrong key", {"Authorization":
                                     "DeepL-Auth-Key wrong"}),
                      ("no key", {})):
    refused(name, deepl("GET", "/v2/usage", headers=headers), 403)
    refused(f"{name}: translate", deepl("POST", "/v2/translate", json_body={
        "text": ["a"], "target_lang": "EN"}, headers=headers), 403)
key = {"Authorization": "DeepL-Auth-Key " + keyed.keys["anna"]}
equal("right key", one(deepl("POST", "/v2/translate", json_body={
    "text": ["Guten Tag!"], "target_lang": "EN"}, headers=key))["text"],
    hello)
equal("auth_key of a form", one(form(
    text="Guten Tag!", target_lang="EN", auth_key=keyed.keys["anna"]))[
        "text"], hello)
equal("usage of the key", deepl("GET", "/v2/usage", headers=key)[1][
    "character_count"], 20)

raw.finish(open_server, keyed)
