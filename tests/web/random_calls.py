"""random_calls.py - random arguments for the routes of ModernMT and DeepL.

    tests/web/random_calls.py [CALLS [SEED]]

Whatever the arguments are, the answer is JSON in the form of the API, is no
fault of the server, and the server lives on. (A path with %00 has no API, so it
is not tried here.)
"""
import gzip
import random
import sys

import raw

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
rng = random.Random(SEED)

TEXTS = ["", " ", "Guten Tag!", "a\nb\n", "<x/>", '<x id="1"></x> [X1X]',
         "&amp; &lt; &#0; &#x110000;", "<b>", "[X999999X]<x/>", "\u0001",
         "\U0001F600 \u0301", "de", "en", "EN-US", "x_mm-a", "x_mm-", "1",
         "-1", "1:0.5,2:0", "1:,2:nan,:3,,,", "text/xml", "html", "xml", "0",
         "99999999999999999999", "true", "null", "../../etc/passwd", "%s%n",
         "a" * 300, "u1", "tmx", "default", "more", "background"]
MMT = ["q", "source", "target", "targets", "format", "if", "priority",
       "timeout", "alt_translations", "nbest", "hints", "context_vector",
       "glossaries", "include_score", "text", "limit", "name", "description",
       "external_id", "external_ids", "sentence", "translation", "tuid",
       "old_sentence", "old_translation", "memories", "content_type",
       "compression"]
DEEPL = ["text", "source_lang", "target_lang", "tag_handling", "formality",
         "split_sentences", "tag_handling_version", "model_type",
         "glossary_id", "glossary_ids", "translation_memory_id", "type",
         "show_billed_characters"]
ROUTES = [("modernmt", MMT, path) for path in (
    "/translate", "/translate/detect", "/translate/languages", "/languages",
    "/context-vector", "/memories", "/memories/connect", "/memories/content",
    "/memories/{id}", "/memories/{id}/content", "/memories/{id}/corpus",
    "/memories/{id}/glossary", "/import-jobs/{id}", "/users/me")]
ROUTES += [("deepl", DEEPL, path) for path in (
    "/v2/translate", "/v2/languages", "/v2/usage", "/v2/glossaries/{id}",
    "/v2/document", "/v3/glossaries")]


def value(depth=0):
    kind = rng.randrange(12 if depth < 3 else 8)
    if kind < 6:
        return rng.choice(TEXTS)
    if kind == 6:
        return rng.choice([0, 1, -1, 2.5, 1e300, 1 << 40])
    if kind == 7:
        return rng.choice([True, False, None])
    if kind < 11:
        return [value(depth + 1) for _ in range(rng.randrange(5))]
    return {rng.choice(TEXTS): value(depth + 1) for _ in range(2)}


def arguments(names):
    """Often what a call needs, sometimes anything."""
    args = {name: value() for name in rng.sample(names, rng.randrange(5))}
    sound = {"q": "Guten Tag!", "source": "de", "target": "en",
             "targets": "en", "text": "Guten Tag!", "target_lang": "EN",
             "sentence": "Guten Tag!", "translation": "Hi!", "name": "a"}
    for name, good in sound.items():
        if name in names and name not in args and rng.random() < 0.8:
            args[name] = good
    return args


def file_of():
    data = rng.choice([
        b"", b"<tmx", b"a\tb\n", gzip.compress(b"Guten Tag!"),
        gzip.compress(b"x" * 1000)[:30], bytes(rng.randbytes(200)),
        b'<?xml version="1.0"?><tmx version="1.4"><header srclang="de"/><body>'
        b'<tu><tuv xml:lang="de"><seg>a</seg></tuv><tuv xml:lang="en"><seg>b'
        b'</seg></tuv></tu></body></tmx>'])
    return [(rng.choice(["tmx", "content", "csv", "file", ""]),
             rng.choice(["a.tmx", "", "../x", "a.gz"]), "text/plain", data)]


def one_call(server):
    api, names, path = rng.choice(ROUTES)
    # A memory that is there, mostly, so that more than its absence is tried.
    path = path.replace("{id}", rng.choice(["1", "1", "2", "x_mm-a", "main",
                                            "999", "%2F", "a%20b"]))
    method = rng.choice(["GET", "POST", "POST", "POST", "PUT", "DELETE"])
    args = arguments(names)
    more = {}
    kind = rng.randrange(4)
    if kind == 0:
        more["form"] = {k: v for k, v in args.items()
                        if isinstance(v, (str, int, float, list))}
    elif kind == 1 and method != "GET":
        more["files"] = file_of()
        more["fields"] = [(k, v) for k, v in args.items()
                          if isinstance(v, str)]
    else:
        more["json_body"] = args
    headers = {}
    if api == "modernmt" and rng.random() < 0.5:
        headers["X-HTTP-Method-Override"], method = method, "POST"
    answer = server.call(method, f"/{api}{path}", headers=headers, **more)
    return api, f"{method} {path} {headers} {str(more)[:400]}", answer


def fault(api, answer):
    if answer.status in (200, 204):
        return None if answer.json is not None else "no JSON"
    if not isinstance(answer.json, dict):
        return "an error that is not JSON"
    if answer.status >= 500 and answer.status != 501:
        return "a fault of the server"
    if api == "deepl":
        return None if isinstance(answer.json.get("message"), str) \
            else "not DeepL's form"
    error = answer.json.get("error", {})
    sound = answer.json.get("status") == answer.status and \
        isinstance(error.get("type"), str) and \
        isinstance(error.get("message"), str)
    return None if sound else "not ModernMT's form"


server = raw.Server("--max-file", "64K", memory=True)
calls, seen = 0, {}
while calls < CALLS and raw.failed < 20:
    api, what, answer = one_call(server)
    why = fault(api, answer)
    calls += 1
    seen[answer.status] = seen.get(answer.status, 0) + 1
    if why:
        raw.check(f"seed {SEED}, call {calls}: {why}: {what}", False, answer)
raw.check("the server lives", server.call("GET", "/health").status == 200)
raw.check("many calls succeed", seen.get(200, 0) > calls / 10, seen)
print(f"{calls} calls, seed {SEED}:", dict(sorted(seen.items())),
      file=sys.stderr)
raw.finish(server)
