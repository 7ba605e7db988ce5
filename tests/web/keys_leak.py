#!/usr/bin/env python3
"""keys_leak.py - what one key stores is never seen by another.

Key "alice" stores planted words through several APIs. Then every route of
every API, as listed in the tables of apps/server/api_*.c, is called with the
key "bob", with arguments that name alice's memories, pairs and jobs; with a wrong
key; and without a key. No answer may contain a planted word that was not in the
request itself, and neither may the metrics and the log. Also tests keys that
are read-only, added, and removed."""
import glob
import json
import os
import re
import signal
import time
import urllib.parse

import raw
from raw import check, equal

TOP = os.environ["TOP"]
SOURCE = "Der Zwölfpfeil liegt im Hafenschuppen."
WORDS = {"target": "quixoticharbor", "title": "Hushpuppyvault",
         "description": "concealednote", "external": "x_mm-veiledone",
         "unit": "whisperunit", "document": "smuggledfile",
         "author": "ghostwriter",
         "source": "Zwölfpfeil", "import": "stowawaytext"}
TARGET = f"The {WORDS['target']} sleeps."
LANGS = {"source": "de", "target": "en"}
METRICS_TOKEN = "scrape-me"


# ---- routes -----------------------------------------------------------------

def routes():
    """[(method, path with its prefix)] of all APIs."""
    found = []
    for name in sorted(glob.glob(TOP + "/apps/server/api_*.c")):
        with open(name, encoding="utf-8") as f:
            text = f.read()
        tables = dict(re.findall(
            r"const struct route (\w+)\[\] = \{(.*?)\n\};", text, re.S))
        for api in re.findall(r"const struct api \w+ = \{(.*?)\};", text, re.S):
            prefix = re.search(r'"\w+",\s*(?:\.prefix = )?"(/[\w/]*|)"', api)
            table = [t for t in tables if t in api]
            if not prefix or len(table) != 1:
                check(f"table of {name}", False, api)
                continue
            for methods, path in re.findall(
                    r'\{\s*"([A-Z ]+)",\s*"([^"]*)"', tables[table[0]]):
                found += [(m, prefix.group(1) + path) for m in methods.split()]
    return found


def paths(template):
    """The paths of a route that could lead to what alice stored."""
    things = ["1", "2", WORDS["title"], WORDS["external"], "main", JOB]
    quoted = [urllib.parse.quote(x, safe="") for x in things]
    if template.endswith("*"):
        template = template[:-1] + urllib.parse.quote(SOURCE)
    template = template.replace(":src", "de").replace(":tgt", "en")
    names = re.findall(r":\w+", template)
    if not names:
        return [template]
    out = []
    for thing in quoted:
        path = template.replace(names[0], thing, 1)
        for rest in names[1:]:
            path = path.replace(rest, "1", 1)
        out.append(path)
    return out


def arguments():
    """Arguments of all APIs at once."""
    return {"q": SOURCE, "text": [SOURCE], "texts": [SOURCE], "input": SOURCE,
            "sentence": SOURCE, "translation": "x", "t": "x", "s": "x",
            "source": "de", "target": "en", "source_lang": "DE",
            "target_lang": "EN-US", "srcLangCode": "de", "trgLangCode": "en",
            "langpair": "de|en", "targets": "en", "nbest": 3, "explain": True,
            "alternatives": 3, "memories": [WORDS["title"], "1"],
            "memory": WORDS["title"], "hints": f"1,{WORDS['external']}",
            "context_vector": "1:1", "external_ids": WORDS["external"],
            "min_similarity": 0, "limit": 100, "name": "mine",
            "unsegmented": SOURCE, "prefix": "The", "position": 3}


# ---- looking for words ------------------------------------------------------

def leaked(seen, request=""):
    """The planted words in a text that are not in the request."""
    seen += "\n" + urllib.parse.unquote(seen)
    seen += "\n" + re.sub(r"\\u([0-9a-fA-F]{4})",
                          lambda m: chr(int(m.group(1), 16)), seen)
    request += "\n" + urllib.parse.unquote(request)
    return [w for w in WORDS.values() if w in seen and w not in request]


def shown(answer):
    return (answer.body.decode("utf-8", "replace") + "\n" +
            "\n".join(f"{k}: {v}" for k, v in answer.headers.items()))


def call(key, method, path, **more):
    """A request with a key in the header."""
    headers = dict(more.pop("headers", {}))
    if key:
        headers["Authorization"] = "Bearer " + key
    return server.call(method, path, headers=headers, **more)


def call_route(key, method, path):
    """Calls a route with arguments in the query, and in a body. Returns the
    answers, and what was sent."""
    args = arguments()
    if method == "GET":
        args = {k: v for k, v in args.items() if not isinstance(v, list)}
        return [call(key, "GET", path, query=args)], path + json.dumps(
            args, ensure_ascii=False)
    answers = [call(key, method, path, json_body=args),
               call(key, method, path, form=args)]
    return answers, path + json.dumps(args, ensure_ascii=False)


# ---- alice stores -----------------------------------------------------------

def done(name, answer, statuses=(200, 201, 202, 204)):
    check(name, answer.status in statuses, answer)
    return answer.json


def store(key):
    """Stores the planted words. Returns the id of an import job."""
    def mmt(method, path, args):
        return call(key, "POST", "/modernmt" + path, json_body=args,
                    headers={"X-HTTP-Method-Override": method})

    made = done("create", mmt("post", "/memories", {
        "name": WORDS["title"], "description": WORDS["description"],
        "external_id": WORDS["external"]}))
    number = made["data"]["id"]
    job = done("add", mmt("post", f"/memories/{number}/content", {
        "sentence": SOURCE, "translation": TARGET, "tuid": WORDS["unit"],
        **LANGS}))["data"]["id"]
    done("feedback", call(key, "POST", "/v1/feedback", json_body={
        "source": SOURCE, "corrected": TARGET, "author": WORDS["author"],
        "document": WORDS["document"], "memory": WORDS["title"]}))
    done("suggest", call(key, "POST", "/suggest", json_body={
        "q": SOURCE, "s": TARGET, **LANGS}))
    done("unit", call(key, "PUT", "/tmserver/de/en/unit/" +
                      urllib.parse.quote(SOURCE),
                      json_body={"source": SOURCE, "target": TARGET}))
    done("import", call(
        key, "POST", f"/v1/memories/{WORDS['title']}/import?wait=1",
        files=[("file", WORDS["document"] + ".tsv", "text/plain",
                f"{WORDS['import']} eins\t{WORDS['import']} one\n".encode())],
        fields=list(LANGS.items())))
    return job


def test_power():
    """Alice sees the words, so that the test can fail."""
    for name, answer in (
            ("translate", call(ALICE, "POST", "/v1/translate", json_body={
                **LANGS, "texts": [SOURCE]})),
            ("search", call(ALICE, "GET", "/v1/search", query={
                **LANGS, "q": SOURCE})),
            ("export", call(ALICE, "GET",
                            f"/v1/memories/{WORDS['title']}/export")),
            ("explain", call(ALICE, "POST", "/v1/translate", json_body={
                **LANGS, "texts": [SOURCE], "explain": True})),
            ("tmserver", call(ALICE, "GET", "/tmserver/de/en/unit/" +
                              urllib.parse.quote(SOURCE)))):
        check(f"alice: {name}", WORDS["target"] in leaked(shown(answer)),
              answer)
    answer = call(ALICE, "GET", "/modernmt/memories")
    equal("alice: memories", {WORDS["title"], WORDS["description"]} -
          set(leaked(shown(answer))), set())
    answer = call(ALICE, "GET", "/modernmt/import-jobs/" + JOB)
    equal("alice: job", answer.status, 200)


def test_leaks(key, who):
    """All routes, with a key that may not see the words."""
    statuses = {}
    for method, template in ROUTES:
        for path in paths(template):
            answers, sent = call_route(key, method, path)
            for answer in answers:
                equal(f"{who}: {method} {path}", leaked(shown(answer), sent),
                      [])
                # OPUS-CAT's plug-ins know 503 instead of 429.
                check(f"{who}: {method} {path}: no error of the server",
                      answer.status < 500 or answer.status == 501 or
                      (answer.status == 503 and "/MTRest" in path), answer)
                statuses.setdefault(answer.status, []).append(path)
    return statuses


def test_strangers(key, who, fine):
    """Only open routes answer strangers."""
    opened = set(test_leaks(key, who).get(200, []))
    open_words = {"", "openapi.json", "ready", "health", "_health", "docs",
                  "spec", "settings", "Login", "CheckModelStatus", "languages",
                  "listPairs", "GetLanguagePairModelTags",
                  "ListSupportedLanguagePairs"}
    equal(f"{who}: open routes", {p for p in opened if
                                  p.rsplit("/", 1)[1] not in open_words},
          set())
    answer = call(key, "POST", "/v1/translate",
                  json_body={"texts": ["Haus"], **LANGS})
    check(f"{who}: status", answer.status in fine, answer)


def test_alice_kept_all():
    """Bob has called DELETE and PUT for all that alice has."""
    answer = call(ALICE, "GET", f"/v1/memories/{WORDS['title']}/export")
    for word in ("target", "import"):
        check(f"alice still has {word}", WORDS[word] in shown(answer), answer)


# ---- key file ---------------------------------------------------------------

def change_keys(change):
    """Rewrites the key file and lets the server read it."""
    path = server.dir + "/keys"
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    lines = [line for line in map(change, lines) if line]
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.writelines(json.dumps(line) + "\n" for line in lines)
    os.rename(path + ".new", path)
    server.process.send_signal(signal.SIGHUP)


def soon(name, condition):
    """Waits until it is true."""
    for _ in range(200):
        if condition():
            break
        time.sleep(0.05)
    check(name, condition())


def status_of(key, method, path, **more):
    return call(key, method, path, **more).status


def file_states(name):
    """Sizes and times of the files of an account."""
    files = sorted(glob.glob(f"{server.dir}/{name}.tm*"))
    check("there are files", len(files) > 1, files)
    return [(f, os.stat(f).st_size, os.stat(f).st_mtime_ns) for f in files
            if not f.endswith("-shm") and os.path.isfile(f)]


def test_key_file():
    correction = {"source": "eins", "corrected": "one"}

    change_keys(lambda line: {**line, "write": line["name"] != "bob"})
    soon("bob may not write", lambda: status_of(
        BOB, "POST", "/v1/feedback", json_body=correction) == 403)
    for method, template in ROUTES:     # those that write refuse him
        for path in paths(template)[:1]:
            before = file_states("bob")
            for answer in call_route(BOB, method, path)[0]:
                check(f"read-only: {method} {path}", answer.status < 500 or
                      answer.status in (501, 503), answer)
            equal(f"read-only: {method} {path} writes nothing",
                  file_states("bob"), before)
    equal("bob may search", status_of(BOB, "GET", "/v1/search", query={
        "q": "eins", **LANGS}), 200)
    equal("alice may write", status_of(
        ALICE, "POST", "/v1/feedback", json_body={
            **correction, "memory": WORDS["title"]}), 201)
    change_keys(lambda line: None if line["name"] == "bob" else line)
    soon("bob is gone", lambda: status_of(
        BOB, "GET", "/v1/memories") in (401, 403, 429))
    equal("alice is there", status_of(ALICE, "GET", "/v1/memories"), 200)


def test_every_place():
    """The key may be in each of the places of apis.md 1.3."""
    body = {"q": "Haus", **LANGS}
    for name, headers, more in (
            ("DeepL-Auth-Key", {"Authorization": "DeepL-Auth-Key " + ALICE},
             {}),
            ("Bearer", {"Authorization": "Bearer " + ALICE}, {}),
            ("MMT-ApiKey", {"MMT-ApiKey": ALICE}, {}),
            ("X-Api-Key", {"X-Api-Key": ALICE}, {}),
            ("api_key", {}, {"api_key": ALICE}),
            ("apiKey", {}, {"apiKey": ALICE}),
            ("auth_key", {}, {"auth_key": ALICE})):
        for path in "/libretranslate/translate", "/modernmt/translate":
            equal(name, server.call("POST", path, json_body={
                **body, **more}, headers=headers).status, 200)
            if more:
                equal(name + " of a form", server.call(
                    "POST", path, form={**body, **more}).status, 200)
    for name in ("api_key", "auth_key", "key"):
        equal(name + " of the query", server.call(
            "GET", "/apertium/translate", query={
                "q": "Haus", "langpair": "de|en", name: ALICE}).status, 200)


# ---- all --------------------------------------------------------------------

server = raw.Server("--metrics-token", METRICS_TOKEN, "--log-level", "debug",
                    keys=("alice", "bob"))
ALICE, BOB = server.keys["alice"], server.keys["bob"]
ROUTES = routes()
check("routes", len(ROUTES) > 60, ROUTES)
equal("bob stores something", status_of(
    BOB, "POST", "/v1/feedback",
    json_body={"source": "eins", "corrected": "one"}), 201)
JOB = store(ALICE)
test_power()
test_every_place()
found = test_leaks(BOB, "bob")
check("bob: many routes answer", len(found.get(200, [])) > 30, found)
test_alice_kept_all()
test_strangers(None, "no key", (400, 401, 403))
test_strangers("skmt-1-" + "A" * 43, "wrong key", (401, 403, 429))
metrics = call(METRICS_TOKEN, "GET", "/metrics")
check("metrics", metrics.status == 200 and "skmt_memory_pairs" in
      shown(metrics), metrics)
test_key_file()
metrics = shown(metrics) + shown(call(METRICS_TOKEN, "GET", "/metrics"))
log = server.log
for name, text in (("metrics", metrics), ("log", log)):
    check(name + ": not empty", len(text) > 1000, text)
    equal(name + ": words", leaked(text), [])
    for key in (ALICE, BOB):
        check(name + ": keys", key not in text and key[7:] not in text)
    check(name + ": folder", server.dir not in text, text)
raw.finish(server)
