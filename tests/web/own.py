#!/usr/bin/env python3
"""own.py - skmt's own API: every route, every error, the numbers of
explanations, the progress of an import, and what is exported."""
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import traceback

import raw
from raw import check, equal

TOP = os.environ["TOP"]
SKMT = os.path.join(os.environ["BUILD"], "skmt")
DATA = TOP + "/tests/data/"
SMALL = DATA + "small/memory.tsv"
MODEL_LANGS = {"source": "de", "target": "en"}
OPEN = "Öffnen Sie die Revisionsklappe, bevor Sie den Wärmetauscher " \
       "herausziehen."
STORED = "Wechseln Sie den Zuluftfilter alle sechs Monate."


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f]


def file_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def failure(name, answer, http, status, field=None):
    """An error in the shape of the API."""
    e = (answer.json or {}).get("error", {})
    equal(name, (answer.status, e.get("status"), e.get("field")),
          (http, status, field))
    check(name + ": members", set(e) <= {"status", "message", "field",
                                         "request_id", "retry_after"}, e)
    equal(name + ": id", e.get("request_id"),
          answer.headers.get("X-Request-Id"))
    check(name + ": message", e.get("message") and
          not e["message"].endswith(".") and "/tmp" not in e["message"], e)


def count(s, memory):
    """The number of pairs; that of a memory may be some seconds old."""
    return len(s.call("GET", f"/v1/memories/{memory}/pairs?limit=1000").json
               ["pairs"])


def u16(text):
    """A text as UTF-16 code units, to be sliced like in JavaScript."""
    return text.encode("utf-16-le")


def cut(text, span):
    return u16(text)[2 * span["begin"]:2 * span["end"]].decode("utf-16-le")


def edited(edits, stored, text):
    """Both texts put together again from the spans of a comparison."""
    theirs = "".join(cut(stored, e) for e in edits if e["kind"] != "+")
    ours = "".join(cut(text if e["kind"] == "+" else stored, e)
                   for e in edits if e["kind"] != "-")
    return theirs, ours


# ---- the server ------------------------------------------------------------


def test_server(s):
    equal("health", s.call("GET", "/health").json,
          {"status": "ok", "version": s.version})
    equal("ready", s.call("GET", "/ready").json, {"status": "ready"})
    info = s.call("GET", "/v1/info").json
    equal("version", info["version"], s.version)
    equal("languages", info["languages"],
          [{"source": "de", "source_name": "German", "target": "en",
            "target_name": "English"}])
    equal("account", info["account"],
          {"name": "", "memory": True, "write": True})
    equal("limits", (info["limits"]["texts"], info["limits"]["nbest"]),
          (8, 32))
    names = {o["name"] for o in info["options"]}
    check("options", {"beam", "preset", "k", "min-similarity"} <= names)
    check("no options of the server",
          not names & {"threads", "batch", "key-cache", "device", "trust"},
          names)
    check("no paths", TOP not in json.dumps(info) and
          s.dir not in json.dumps(info))
    doc = s.call("GET", "/openapi.json")
    equal("openapi", (doc.json["openapi"], doc.type),
          ("3.1.0", "application/json; charset=utf-8"))
    metrics = s.call("GET", "/metrics")
    equal("metrics", (metrics.status, metrics.type),
          (200, "text/plain; version=0.0.4; charset=utf-8"))
    check("counts", b"\nskmt_http_requests_total{" in metrics.body)
    failure("a proxy's metrics", s.call("GET", "/metrics", headers={
        "X-Forwarded-For": "10.0.0.1"}), 403, "forbidden")
    named = s.call("GET", "/health", headers={"X-Request-Id": "my-id.7"})
    equal("id of a request", named.headers["X-Request-Id"], "my-id.7")
    failure("path", s.call("GET", "/v1/nothing"), 404, "path")
    method = s.call("DELETE", "/v1/translate")
    failure("method", method, 405, "method")
    equal("allow", method.headers["Allow"], "POST")
    failure("json", s.call("POST", "/v1/translate", body=b'{"texts":',
                           headers={"Content-Type": "application/json"}),
            400, "json")
    failure("type", s.call("POST", "/v1/translate", body=b"x", headers={
        "Content-Type": "image/png"}), 415, "type")


# ---- memories --------------------------------------------------------------


def test_memories(s):
    base = "/v1/memories"
    equal("none at first", s.call("GET", base).json, {"memories": []})
    made = s.call("POST", base, json_body={
        "title": "Übung 1", "description": "d", "external_id": "x-1",
        "source": "de", "target": "en"})
    card = made.json
    equal("create", (made.status, card["title"], card["description"],
                     card["external_id"], card["source"], card["target"],
                     card["pairs"]),
          (201, "Übung 1", "d", "x-1", "de", "en", 0))
    equal("list", s.call("GET", base).json, {"memories": [card]})
    for name in (str(card["id"]), "%C3%9Cbung%201", "x-1"):
        equal("get " + name, s.call("GET", base + "/" + name).json, card)
    failure("taken", s.call("POST", base, json_body={"title": "Übung 1"}),
            409, "conflict", "title")
    failure("no title", s.call("POST", base, json_body={}), 400, "argument",
            "title")
    failure("a number", s.call("POST", base, json_body={"title": "12"}), 400,
            "argument", "title")
    failure("no string", s.call("POST", base, json_body={"title": ["x"]}),
            400, "argument", "title")
    path = f"{base}/{card['id']}"
    changed = s.call("PATCH", path, json_body={"title": "Zwei"})
    equal("change", changed.json, dict(card, title="Zwei"))
    equal("its own title", s.call("PATCH", path, json_body={
        "title": "Zwei", "description": "new"}).json,
        dict(card, title="Zwei", description="new"))
    second = s.call("POST", base, json_body={"name": "second"}).json
    failure("title of another", s.call("PATCH", path, json_body={
        "title": "second"}), 409, "conflict", "title")
    equal("delete", (s.call("DELETE", path).status,
                     s.call("GET", path).status), (204, 404))
    failure("not there", s.call("GET", base + "/nix"), 404, "not_found")
    for method, rest in (("PATCH", ""), ("DELETE", ""), ("POST", "/import"),
                         ("GET", "/export"), ("GET", "/pairs"),
                         ("POST", "/pairs"), ("GET", "/pairs/1"),
                         ("PUT", "/pairs/1"), ("DELETE", "/pairs/1")):
        failure(method + rest, s.call(
            method, base + "/nix" + rest, body=b"a\tb\n" if rest == "/import"
            else b'{"source":"a","target":"b"}',
            headers={"Content-Type": "application/octet-stream"
                     if rest == "/import" else "application/json"}),
            404, "not_found")
    s.call("DELETE", f"{base}/{second['id']}")


# ---- import and export -----------------------------------------------------


def events(body):
    out = []
    for block in body.decode().strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        out.append((fields["event"], json.loads(fields["data"])))
    return out


def test_import(s):
    base = "/v1/memories/main"
    failure("no memory yet", s.call(
        "POST", base + "/import", files=[("file", "a.tsv", "text/plain",
                                          b"a\tb\n")]), 404, "not_found")
    small = s.call("POST", base + "/import?create=true&name=memory.tsv",
                   body=file_bytes(SMALL),
                   headers={"Content-Type": "application/octet-stream"})
    equal("import", (small.status, small.json["imported"],
                     small.json["memory"]["name"],
                     small.json["memory"]["pairs"]), (200, 20, "main", 20))
    tmx = s.call("POST", "/v1/memories/office/import?create=1",
                 files=[("file", "office.tmx", "text/xml",
                         file_bytes(DATA + "formats/office.tmx"))],
                 fields=[("source", "de"), ("target", "en")])
    cli = s.dir + "/cli.tm"
    subprocess.run([SKMT, "tm", "create", cli, "-n", "office"],
                   capture_output=True, check=True)
    told = subprocess.run([SKMT, "tm", "import", cli, "--source-lang", "de",
                           "--target-lang", "en",
                           DATA + "formats/office.tmx"],
                          capture_output=True, text=True, check=True)
    equal("TMX", f"{tmx.json['imported']} pairs imported",
          (told.stdout + told.stderr).split(",")[0])
    origin = s.call("GET", "/v1/memories/office/pairs?limit=1").json
    equal("origin", origin["pairs"][0]["origin"], "office.tmx")

    big = "".join(f"Satz {i} von vielen.\tSentence {i} of many.\n"
                  for i in range(60000)).encode()
    stream = s.call("POST", "/v1/memories/big/import?create=1&name=big.tsv",
                    body=big, headers={"Accept": "text/event-stream",
                                       "Content-Type": "text/plain"})
    equal("stream", (stream.status, stream.type),
          (200, "text/event-stream; charset=utf-8"))
    seen = events(stream.body)
    equal("last event", (seen[-1][0], seen[-1][1]["imported"],
                         seen[-1][1]["memory"]["pairs"]),
          ("done", 60000, 60000))
    check("progress", len(seen) > 1 and all(
        kind == "progress" and set(data) == {"what", "done", "total", "pairs"}
        for kind, data in seen[:-1]), seen[:3])
    s.call("DELETE", "/v1/memories/big")

    broken = b'<?xml version="1.0"?><tmx version="1.4"><body><tu><tuv>'
    for form in (broken, b"\x80\xff\tb\n"):
        bad = s.call("POST", base + "/import?name=bad.tmx", body=form,
                     headers={"Content-Type": "application/octet-stream"})
        failure("bad file", bad, 400, "argument", "file")
    bad = s.call("POST", base + "/import?name=bad.tmx", body=broken, headers={
        "Content-Type": "application/octet-stream",
        "Accept": "text/event-stream"})
    kind, data = events(bad.body)[-1]
    equal("bad stream", (kind, data["error"]["status"],
                         data["error"]["field"]),
          ("error", "argument", "file"))
    equal("nothing lost", count(s, "main"), 20)
    failure("no file", s.call("POST", base + "/import", json_body={}), 400,
            "argument", "file")
    failure("empty file", s.call(
        "POST", base + "/import", body=b"",
        headers={"Content-Type": "application/octet-stream"}), 400,
        "argument", "file")


def test_abandoned_import(s):
    """A client that leaves during an import has imported nothing."""
    s.call("POST", "/v1/memories", json_body={"title": "left"})
    body = "".join(f"Satz {i} von vielen.\tSentence {i} of many.\n"
                   for i in range(400000)).encode()
    with socket.create_connection(("127.0.0.1", s.port)) as c:
        c.sendall((f"POST /v1/memories/left/import?name=x.tsv HTTP/1.1\r\n"
                   f"Host: 127.0.0.1:{s.port}\r\nContent-Type: text/plain\r\n"
                   f"Accept: text/event-stream\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body)
        seen = b""
        while b"event: " not in seen:
            seen += c.recv(4096)
    check("it had begun", b"event: progress" in seen and
          b"event: done" not in seen, seen)
    # A correction waits for the import, if that still has the file.
    after = s.call("POST", "/v1/memories/left/pairs", json_body={
        "source": "danach", "target": "after"})
    equal("stored after it", after.status, 201)
    equal("only what came later",
          count(s, "left"), 1)
    s.call("DELETE", "/v1/memories/left")


def test_export(s):
    for name in ("main", "office"):
        for form, ending in (("tmx", "tmx"), ("xliff", "xlf"), ("po", "po"),
                             ("tsv", "tsv"), ("csv", "csv")):
            out = f"{s.dir}/{name}.{ending}"
            subprocess.run([SKMT, "tm", "export", s.memory, "-o", out, "-n",
                            name, "--format", form], check=True,
                           capture_output=True)
            got = s.call("GET", f"/v1/memories/{name}/export?format={form}")
            equal(f"export {name} {form}", got.body, file_bytes(out))
            check("file name", f'filename="{name}.{ending}"' in
                  got.headers["Content-Disposition"],
                  got.headers["Content-Disposition"])
    equal("default format", s.call("GET", "/v1/memories/main/export").body,
          file_bytes(s.dir + "/main.tmx"))
    failure("format", s.call("GET", "/v1/memories/main/export?format=text"),
            400, "argument", "format")
    left = [f for f in os.listdir(tempfile.gettempdir())
            if f.startswith("skmt-export-")]
    equal("no files left", left, [])


# ---- pairs -----------------------------------------------------------------


def test_pairs(s):
    base = "/v1/memories/main/pairs"
    want = lines(SMALL)
    got, after, pages = [], 0, 0
    while after is not None:
        page = s.call("GET", f"{base}?limit=7&after={after}").json
        got += page["pairs"]
        after, pages = page["next"], pages + 1
    equal("pages", (pages, [[p["source"], p["target"]] for p in got]),
          (3, want))
    one = got[3]
    equal("get", s.call("GET", f"{base}/{one['id']}").json, one)
    exact = s.call("GET", f"{base}?limit=20").json
    equal("an exact page has no next", (len(exact["pairs"]), exact["next"]),
          (20, None))

    added = s.call("POST", base, json_body={
        "source": "Grüße 😀", "target": "Greetings 😀", "document": "doc",
        "author": "me", "unit": "u1", "source_lang": "de",
        "target_lang": "en"})
    pair = added.json
    equal("add", (added.status, pair["source"], pair["target"],
                  pair["document"], pair["author"], pair["unit"],
                  pair["source_lang"], pair["memory"]),
          (201, "Grüße 😀", "Greetings 😀", "doc", "me", "u1", "de", "main"))
    path = f"{base}/{pair['id']}"
    equal("put", s.call("PUT", path, json_body={"target": "Hello 😀"}).json
          ["target"], "Hello 😀")
    second = s.call("POST", base, json_body={
        "source": "Grüße 😀", "target": "Regards", "replace": True}).json
    failure("was replaced", s.call("GET", path), 404, "not_found")
    equal("form", s.call("POST", base, form={
        "source": "eins", "target": "one"}).status, 201)
    many = s.call("POST", base, json_body={"pairs": [
        {"source": f"s{i}", "target": f"t{i}"} for i in range(3)]})
    equal("several", (many.status, [p["target"] for p in
                                    many.json["pairs"]]),
          (201, ["t0", "t1", "t2"]))
    equal("delete", (s.call("DELETE", f"{base}/{second['id']}").status,
                     s.call("GET", f"{base}/{second['id']}").status),
          (204, 404))
    for p in s.call("GET", f"{base}?after={second['id']}").json["pairs"]:
        s.call("DELETE", f"{base}/{p['id']}")
    equal("as before", count(s, "main"), 20)

    for name, body, field in (
            ("no source", {"target": "x"}, "source"),
            ("empty target", {"source": "x", "target": ""}, "target"),
            ("number", {"source": 1, "target": "x"}, "source"),
            ("no list", {"pairs": "x"}, "pairs"),
            ("empty list", {"pairs": []}, "pairs"),
            ("list of strings", {"pairs": ["x"]}, "pairs"),
            ("second is bad", {"pairs": [{"source": "a", "target": "b"},
                                         {"source": "a"}]}, "target"),
            ("too many", {"pairs": [{}] * 1001}, "pairs")):
        failure(name, s.call("POST", base, json_body=body), 400, "argument",
                field)
    equal("nothing of a bad list is stored",
          count(s, "main"), 20)
    for body in ({"target": ""}, {"source": ""}, {"source": "\n"}):
        failure(f"put {body}", s.call("PUT", f"{base}/{one['id']}",
                                      json_body=body), 400, "argument", *body)
    equal("unchanged", s.call("GET", f"{base}/{one['id']}").json, one)
    failure("no change", s.call("PUT", f"{base}/{one['id']}", json_body={}),
            400, "argument", "target")
    failure("limit", s.call("GET", base + "?limit=1001"), 400, "argument",
            "limit")
    failure("after", s.call("GET", base + "?after=x"), 400, "argument",
            "after")
    other = s.call("GET", "/v1/memories/office/pairs?limit=1").json["pairs"]
    for number in (str(other[0]["id"]), "999999", "x", "-1", "1e3", "9" * 30):
        for method in ("GET", "PUT", "DELETE"):
            failure(f"{method} pair {number}", s.call(
                method, f"{base}/{number}", json_body={"target": "x"}
                if method == "PUT" else None), 404, "not_found")


# ---- search and feedback ---------------------------------------------------


def test_search(s):
    got = s.call("GET", "/v1/search", query={"q": OPEN, "limit": 3,
                                             "memories": "main"}).json
    told = subprocess.run([SKMT, "tm", "search", s.memory, "--json", "-n",
                           "main", "--matches", "3", "--model",
                           os.environ["SKMT_MODEL"]],
                          input=OPEN + "\n", capture_output=True, text=True,
                          check=True).stdout
    cli = json.loads(told)["matches"]
    equal("the matches of the command line",
          [(m["pair"]["id"], round(m["similarity"], 6)) for m in
           got["matches"]],
          [(m["id"], round(m["similarity"], 6)) for m in cli])
    for m in got["matches"]:
        equal("edits", edited(m["edits"], m["pair"]["source"], OPEN),
              (m["pair"]["source"], OPEN))
    check("similar ones only", all(
        m["similarity"] >= 0.5 for m in s.call("GET", "/v1/search", query={
            "q": OPEN, "min_similarity": 0.5}).json["matches"]))
    equal("another memory", [m for m in s.call("GET", "/v1/search", query={
        "q": OPEN, "memories": "office"}).json["matches"]
        if m["pair"]["memory"] != "office"], [])
    emoji = s.call("GET", "/v1/search", query={"q": "😀 " + STORED}).json
    top = emoji["matches"][0]
    equal("emoji", edited(top["edits"], top["pair"]["source"],
                          "😀 " + STORED), (STORED, "😀 " + STORED))
    failure("no q", s.call("GET", "/v1/search"), 400, "argument", "q")
    failure("empty q", s.call("GET", "/v1/search?q="), 400, "argument", "q")
    for name, value in (("limit", "0"), ("limit", "x"), ("offsets", "x"),
                        ("min_similarity", "x"), ("source", "zzz")):
        failure(f"{name}={value}", s.call("GET", "/v1/search", query={
            "q": "x", name: value}), 400, "argument", name)
    failure("memory", s.call("GET", "/v1/search?q=x&memories=nix"), 404,
            "not_found", "memories")
    failure("languages", s.call("GET", "/v1/search?q=x&source=fr&target=it"),
            400, "language")


def test_feedback(s):
    body = {"source": "Der Akku ist leer 😀.", "memory": "office",
            "translation": "The accumulator 😀 is empty.",
            "corrected": "The battery 😀 is empty."}
    got = s.call("POST", "/v1/feedback", json_body=body)
    equal("feedback", (got.status, got.json["memory"], got.json["changed"]),
          (201, "office", True))
    equal("edits", edited(got.json["edits"], body["translation"],
                          body["corrected"]),
          (body["translation"], body["corrected"]))
    again = s.call("POST", "/v1/feedback", json_body={
        "source": body["source"], "corrected": "It is flat 😀.",
        "memory": "office"})
    equal("without translation", set(again.json), {"id", "memory"})
    failure("the former is gone", s.call(
        "GET", f"/v1/memories/office/pairs/{got.json['id']}"), 404,
        "not_found")
    path = f"/v1/memories/office/pairs/{again.json['id']}"
    equal("stored", s.call("GET", path).json["target"], "It is flat 😀.")
    s.call("DELETE", path)
    for field in ("source", "corrected"):
        failure("no " + field, s.call("POST", "/v1/feedback", json_body={
            k: v for k, v in body.items() if k != field}), 400, "argument",
            field)
    failure("memory", s.call("POST", "/v1/feedback", json_body=dict(
        body, memory="nix")), 404, "not_found", "memory")
    failure("offsets", s.call("POST", "/v1/feedback", json_body=dict(
        body, offsets="bytes")), 400, "argument", "offsets")


# ---- translation -----------------------------------------------------------


def translate(s, **body):
    return s.call("POST", "/v1/translate", json_body=body)


def command_line(s, text, *more):
    told = subprocess.run([SKMT, "translate", "-M", s.memory, "--explain",
                           "--json", "--quiet", "-n", "main", *more],
                          input=text + "\n", capture_output=True, text=True,
                          check=True).stdout
    return json.loads(told)


def test_translate(s):
    texts = [OPEN, "", "  zwei Zeilen\n\nhier  ", STORED]
    got = translate(s, texts=texts, **MODEL_LANGS).json["translations"]
    equal("number", len(got), 4)
    equal("empty", got[1]["text"], "")
    check("white space", got[2]["text"].startswith("  ") and
          got[2]["text"].endswith("  ") and "\n\n" in got[2]["text"], got[2])
    equal("stored", (got[3]["text"], got[3]["exact"]),
          ("Replace the fresh-air filter every six months.", 1))
    equal("members", set(got[0]), {"text", "source", "target", "score",
                                   "exact", "similarity"})
    equal("like the command line", got[0]["text"],
          command_line(s, OPEN)["text"])
    one = translate(s, text=OPEN).json["translations"]
    equal("one text, languages found", (one[0]["text"], one[0]["source"],
                                        one[0]["target"]),
          (got[0]["text"], "de", "en"))
    plain = translate(s, text=OPEN, memories=[]).json["translations"][0]
    equal("no memory", (plain["text"], plain["similarity"]),
          (json.loads(subprocess.run(
              [SKMT, "translate", "--json", "--quiet"], input=OPEN + "\n",
              capture_output=True, text=True, check=True).stdout)["text"], 0))
    office = translate(s, text=STORED, memories=["office"]).json
    equal("another memory", office["translations"][0]["exact"], 0)
    several = translate(s, text=OPEN, nbest=6).json["translations"][0]
    scores = [several["score"]] + [a["score"] for a in
                                   several["alternatives"]]
    words = [several["text"]] + [a["text"] for a in several["alternatives"]]
    equal("n-best", (len(set(words)), scores), (6, sorted(scores)[::-1]))
    begun = translate(s, text=OPEN, prefix="Please o").json["translations"]
    check("prefix", begun[0]["text"].startswith("Please o"), begun)
    greedy = translate(s, text=OPEN, options={"beam": 1, "system": "nmt"})
    equal("options", greedy.status, 200)
    form = s.call("POST", "/v1/translate", form={"texts": [OPEN, STORED]})
    equal("form", [t["text"] for t in form.json["translations"]],
          [got[0]["text"], got[3]["text"]])


def test_translate_errors(s):
    for name, body, http, status, field in (
            ("nothing", {}, 400, "argument", "texts"),
            ("empty list", {"texts": []}, 400, "argument", "texts"),
            ("numbers", {"texts": [1, {}]}, 400, "argument", "texts"),
            ("both", {"texts": ["a"], "text": "b"}, 400, "argument", "text"),
            ("nbest", {"text": "a", "nbest": 33}, 400, "argument", "nbest"),
            ("nbest 0", {"text": "a", "nbest": 0}, 400, "argument", "nbest"),
            ("offsets", {"text": "a", "offsets": 1}, 400, "argument",
             "offsets"),
            ("deadline", {"text": "a", "deadline_ms": 0}, 400, "argument",
             "deadline_ms"),
            ("memories", {"text": "a", "memories": ["nix"]}, 404,
             "not_found", "memories"),
            ("memories 2", {"text": "a", "memories": [1.5]}, 400, "argument",
             "memories"),
            ("options", {"text": "a", "options": [1]}, 400, "argument",
             "options"),
            ("unknown option", {"text": "a", "options": {"nix": 1}}, 400,
             "argument", "options"),
            ("option of the server", {"text": "a", "options": {
                "threads": 9}}, 400, "argument", "options"),
            ("bad value", {"text": "a", "options": {"beam": "x"}}, 400,
             "argument", "options"),
            ("target", {"text": "a", "target": "fr"}, 400, "language", None),
            ("source type", {"text": "a", "source": ["de"]}, 400, "argument",
             "source"),
            ("prefix of several", {"texts": ["a", "b"], "prefix": "x"}, 400,
             "argument", "prefix"),
            ("too many", {"texts": ["a"] * 9}, 413, "text_limit", None),
            ("too long", {"text": "a" * 5001}, 413, "text_limit", None)):
        answer = translate(s, **body)
        e = (answer.json or {}).get("error", {})
        if status in ("language", "text_limit"):
            field = e.get("field")      # who says it may name one
        failure(name, answer, http, status, field)
        check(name + " keeps texts", "aaaa" not in json.dumps(answer.json))


def near(a, b):
    """Equal, as far as the command line prints numbers: seven digits."""
    return abs(a - b) <= 6e-7 * max(abs(a), abs(b))


def compare_tokens(name, got, want, text):
    """The numbers of an explanation are those of the command line."""
    equal(name + ": tokens", [t["id"] for t in got], [t["id"] for t in want])
    for mine, theirs in zip(got, want):
        check(name + ": trust", near(mine["trust"], theirs["trust"]) and
              near(mine["logprob"], theirs["logprob"]), (mine, theirs))
        check(name + ": votes", len(mine["votes"]) == len(theirs["votes"])
              and all(a["pair"] == b["pair"] and a["token"] == b["token"] and
                      a["position"] == b["position"] and
                      near(a["distance"], b["distance"]) and
                      near(a["share"], b["share"])
                      for a, b in zip(mine["votes"], theirs["votes"])),
              (mine, theirs))
        reasons = theirs.get("reasons", [])
        check(name + ": reasons", len(reasons) == len(mine["reasons"]) and
              all(a["text"] == b["text"] and near(a["effect"], b["effect"])
                  for a, b in zip(mine["reasons"], reasons)), (mine, theirs))
        equal(name + ": span", cut(text, mine),
              text.encode()[theirs["begin"]:theirs["end"]].decode())


def compare_segment(name, got, want, text, translation):
    equal(name + ": source", cut(text, got["source"]),
          text.encode()[want["begin"]:want["end"]].decode())
    equal(name + ": pairs",
          [(p["id"], p["memory"], p["source"], p["target"], p["exact"],
            round(p["similarity"], 6)) for p in got["pairs"]],
          [(p["id"], p["memory"], p["source"], p["target"], p["exact"],
            round(p["similarity"], 6)) for p in want["pairs"]])
    check(name + ": score", near(got["score"], want["score"]))
    equal(name + ": exact", got["exact"], want.get("exact", False))
    equal(name + ": others", got["others"], want.get("alternatives", []))
    sentence = cut(text, got["source"])
    for p in got["pairs"]:
        theirs = "".join(cut(p["source"], e) for e in p["edits"]
                         if e["kind"] != "+")
        ours = "".join(cut(text if e["kind"] == "+" else p["source"], e)
                       for e in p["edits"] if e["kind"] != "-")
        equal(name + ": edits", (theirs, ours), (p["source"], sentence))
    if got["exact"]:
        equal(name + ": stored", (cut(translation, got["target"]),
                                  got["words"]),
              (got["pairs"][0]["target"], []))
        return
    tokens = [t for w in got["words"] for t in w["tokens"]]
    # The end of the sentence is left out if the memory had no part in it.
    theirs = want["tokens"]
    compare_tokens(name, tokens, theirs[:max(len(tokens), len(theirs) - 1)],
                   translation)
    spoken = cut(translation, got["target"])
    for w in got["words"]:
        equal(name + ": word", cut(translation, w), w["text"])
        check(name + ": in the sentence", w["text"] in spoken, (w, spoken))
        check(name + ": weight", near(w["weight"], max(
            t["trust"] for t in w["tokens"])) or len(w["tokens"]) > 1, w)
        if all(t["votes"] for t in w["tokens"]):
            check(name + ": shares", abs(sum(v["share"] for v in w["votes"])
                                         - 1) < 1e-6, w)
        check(name + ": won", all(v["won"] <= v["share"] + 1e-9
                                  for v in w["votes"]), w)
    for i, p in enumerate(got["pairs"]):
        equal(name + ": voted", p["voted"], any(
            v["pair"] == i for t in tokens for v in t["votes"]))
        for place in p["places"]:
            text_there = cut(p["target"], place)
            voters = {v["token"].lstrip("▁") for t in tokens
                      for v in t["votes"]
                      if v["pair"] == i and v["position"] ==
                      place["position"]}
            check(name + ": place", not text_there or
                  text_there.strip() in voters, (text_there, voters))


def test_explain(s):
    two = "Zwei 😀 Sätze. " + STORED
    for name, text, more in (
            ("steered", OPEN, {}), ("stored", STORED, {}),
            ("two sentences", OPEN + " " + STORED, {}), ("emoji", two, {}),
            ("sk2", OPEN, {"preset": "sk2"}),
            ("nothing similar", "Guten Abend.", {"min-similarity": 0.9})):
        got = translate(s, text=text, explain=True, memories=["main"],
                        options=more).json["translations"][0]
        want = command_line(s, text, *(f"--{k}={v}" for k, v in
                                       more.items()))
        equal(name + ": text", got["text"], want["text"])
        equal(name + ": segments", len(got["segments"]),
              len(want["segments"]))
        for mine, theirs in zip(got["segments"], want["segments"]):
            compare_segment(name, mine, theirs, text, got["text"])
    steered = translate(s, text=OPEN, explain=True,
                        memories=["main"]).json["translations"][0]
    check("words with weight", any(
        w["weight"] > 0.3 and w["pair"] is not None
        for w in steered["segments"][0]["words"]), steered["segments"])
    check("words with reasons", any(
        w["reasons"] for w in steered["segments"][0]["words"]))


def test_replaces(s):
    """A newer request with the same id ends the older one."""
    long = " ".join(OPEN[:-1] + f" und Teil {i}." for i in range(40))
    older = []
    thread = threading.Thread(target=lambda: older.append((translate(
        s, texts=[long + str(i) for i in range(8)], replaces="field-1",
        memories=[], nbest=16), time.monotonic())))
    thread.start()
    time.sleep(0.4)
    begun = time.monotonic()
    newer = translate(s, text=OPEN, replaces="field-1")
    thread.join()
    answer, ended = older[0]
    equal("newer", newer.status, 200)
    failure("older", answer, 409, "conflict")
    check("at once", ended - begun < 5, ended - begun)
    late = translate(s, texts=[long + str(i) for i in range(8)], nbest=16,
                     memories=[], deadline_ms=50)
    failure("deadline", late, 503, "busy")


def test_explain_lines(s):
    """Offsets refer to the whole text, in the unit that was asked for."""
    text = f"\n  😀 {OPEN}  \n\n{STORED}\n"
    for unit, slice_of in (
            ("utf16", cut),
            ("codepoints", lambda t, x: t[x["begin"]:x["end"]]),
            ("utf8", lambda t, x: t.encode()[x["begin"]:x["end"]].decode())):
        got = translate(s, text=text, explain=True, memories=["main"],
                        offsets=unit).json["translations"][0]
        last = got["segments"][-1]
        equal(unit + ": source", slice_of(text, last["source"]), STORED)
        equal(unit + ": target", slice_of(got["text"], last["target"]),
              last["pairs"][0]["target"])
        for segment in got["segments"]:
            for w in segment["words"]:
                equal(unit + ": word", slice_of(got["text"], w), w["text"])
    texts = translate(s, texts=[OPEN, STORED], explain=True).json
    equal("several texts", [len(t["segments"]) for t in
                            texts["translations"]], [1, 1])


def test_complete(s):
    got = s.call("POST", "/v1/complete", json_body={
        "text": OPEN, "prefix": "Please op", "n": 4}).json
    equal("languages", (got["source"], got["target"]), ("de", "en"))
    equal("number", len(got["completions"]), 4)
    for x in got["completions"]:
        equal("prefix and completion", x["text"],
              "Please op" + x["completion"])
    check("the word is completed", "Please open" in
          got["completions"][0]["text"], got)
    empty = s.call("POST", "/v1/complete", json_body={"text": OPEN}).json
    equal("nothing typed", (empty["completions"][0]["text"],
                            len(empty["completions"])),
          (translate(s, text=OPEN, nbest=3).json["translations"][0]["text"],
           3))
    for name, body, field in (
            ("no text", {"prefix": "x"}, "text"),
            ("two lines", {"text": "a\nb"}, "text"),
            ("n", {"text": "a", "n": 33}, "n"),
            ("prefix", {"text": "a", "prefix": [5]}, "prefix")):
        failure("complete: " + name, s.call("POST", "/v1/complete",
                                            json_body=body),
                400, "argument", field)


def test_alternatives(s):
    translation = translate(s, text=OPEN).json["translations"][0]["text"]
    words = translation.rstrip(".").split()
    for n in (0, 2, len(words) - 1):
        begin = len(" ".join(words[:n])) + (n > 0)
        got = s.call("POST", "/v1/alternatives", json_body={
            "text": OPEN, "translation": translation, "n": 6,
            "position": begin + 1}).json
        equal("word", (got["begin"], got["end"], got["word"]),
              (begin, begin + len(words[n]), words[n]))
        check("there are others", len(got["alternatives"]) >= 3, got)
        seen = [x["word"] for x in got["alternatives"]]
        equal("each once", len(set(seen) - {words[n]}), len(seen))
        for x in got["alternatives"]:
            equal("same beginning", x["text"][:begin], translation[:begin])
            equal("its word", cut(x["text"], x), x["word"])
    for name, body, field in (
            ("no position", {}, "position"),
            ("too far", {"position": 9999}, "position"),
            ("a word", {"position": "x"}, "position"),
            ("inside an emoji", {"translation": "a 😀", "position": 3},
             "position"),
            ("no translation", {"translation": "", "position": 0},
             "translation"),
            ("n", {"position": 0, "n": 0}, "n")):
        failure("alternatives: " + name, s.call(
            "POST", "/v1/alternatives",
            json_body=dict({"text": OPEN, "translation": translation},
                           **body)), 400, "argument", field)


# ---- keys, and servers without a memory ------------------------------------


def test_keys():
    s = raw.Server(keys=("a", "b"))
    a, b = ({"X-Api-Key": s.keys[k]} for k in ("a", "b"))
    failure("no key", s.call("GET", "/v1/info"), 401, "no_key")
    failure("wrong key", s.call("GET", "/v1/info", headers={
        "Authorization": "Bearer x"}), 403, "wrong_key")
    for path in ("/health", "/ready", "/openapi.json"):
        equal("open " + path, s.call("GET", path).status, 200)
    equal("name", s.call("GET", "/v1/info", headers=a).json["account"],
          {"name": "a", "memory": True, "write": True})
    s.call("POST", "/v1/feedback", headers=a, json_body={
        "source": "geheim", "corrected": "secret"})
    equal("a has it", len(s.call("GET", "/v1/search?q=geheim",
                                 headers=a).json["matches"]), 1)
    equal("b does not", s.call("GET", "/v1/memories",
                               headers=b).json["memories"], [])
    translated = translate_as(s, b, "geheim")
    equal("b is not steered", translated["exact"], 0)
    equal("a is", translate_as(s, a, "geheim")["text"], "secret")
    return s


def test_read_only():
    """A key that may not write reads, and changes nothing."""
    home = tempfile.mkdtemp(prefix="skmt-own-")
    keys = home + "/keys"
    key = subprocess.run([SKMT, "serve", "--keys", keys, "--new-key", "r"],
                         check=True, capture_output=True,
                         text=True).stdout.strip()
    subprocess.run([SKMT, "tm", "create", home + "/r.tm", "-n", "main"],
                   check=True, capture_output=True)
    subprocess.run([SKMT, "tm", "import", home + "/r.tm", SMALL], check=True,
                   capture_output=True)
    with open(keys, encoding="utf-8") as f:
        line = json.loads(f.read().splitlines()[-1])
    with open(keys, "w", encoding="utf-8") as f:
        f.write(json.dumps(dict(line, write=False)) + "\n")
    s = raw.Server("--keys", keys)
    head = {"X-Api-Key": key}
    equal("may not write", s.call("GET", "/v1/info", headers=head).json
          ["account"], {"name": "r", "memory": True, "write": False})
    base = "/v1/memories/main"
    before = s.call("GET", base + "/pairs", headers=head).json
    equal("reads", len(before["pairs"]), 20)
    for method, path, body in (
            ("POST", "/v1/memories", {"title": "x"}),
            ("PATCH", base, {"title": "x"}), ("DELETE", base, None),
            ("POST", base + "/import", {"x": 1}),
            ("POST", base + "/pairs", {"source": "a", "target": "b"}),
            ("PUT", base + "/pairs/1", {"target": "b"}),
            ("DELETE", base + "/pairs/1", None),
            ("POST", "/v1/feedback", {"source": "a", "corrected": "b"})):
        failure(f"read only: {method} {path}", s.call(
            method, path, json_body=body, headers=head), 403, "forbidden")
    equal("nothing changed", s.call("GET", base + "/pairs",
                                    headers=head).json, before)
    equal("exports", s.call("GET", base + "/export", headers=head).status,
          200)
    shutil.rmtree(home)
    return s


def translate_as(s, key, text):
    return s.call("POST", "/v1/translate", headers=key, json_body={
        "text": text}).json["translations"][0]


def test_no_memory():
    s = raw.Server("--metrics-token", "tell-me")
    info = s.call("GET", "/v1/info").json
    equal("account", info["account"],
          {"name": "", "memory": False, "write": False})
    equal("no memories", s.call("GET", "/v1/memories").json,
          {"memories": []})
    for method, path, body in (
            ("POST", "/v1/memories", {"title": "x"}),
            ("GET", "/v1/memories/x", None),
            ("POST", "/v1/memories/x/pairs", {"source": "a", "target": "b"}),
            ("GET", "/v1/search?q=x", None),
            ("POST", "/v1/feedback", {"source": "a", "corrected": "b"})):
        failure("without memory: " + path, s.call(method, path,
                                                  json_body=body),
                501, "unsupported")
    equal("translates", s.call("POST", "/v1/translate", json_body={
        "text": "Guten Tag!", "explain": True}).status, 200)
    failure("no token", s.call("GET", "/metrics"), 403, "forbidden")
    failure("wrong token", s.call("GET", "/metrics", headers={
        "Authorization": "Bearer tell-m"}), 403, "forbidden")
    equal("token", s.call("GET", "/metrics", headers={
        "Authorization": "Bearer tell-me"}).status, 200)
    return s


def main():
    s = raw.Server("--max-texts", "8", "--max-text", "5000", memory=True)
    s.version = subprocess.run([SKMT, "--version"], capture_output=True,
                               text=True, check=True).stdout.split()[1]
    for test in (test_server, test_memories, test_import,
                 test_abandoned_import, test_export, test_pairs, test_search,
                 test_feedback, test_translate, test_translate_errors,
                 test_replaces, test_explain, test_explain_lines,
                 test_complete, test_alternatives):
        try:
            test(s)
        except (KeyError, TypeError, IndexError, ValueError, OSError,
                subprocess.CalledProcessError) as e:
            at = traceback.extract_tb(e.__traceback__)
            check(test.__name__, False, f"{e!r} {at[-1].line} in line " +
                  str([a.lineno for a in at if a.filename == __file__]) +
                  str(getattr(e, "stderr", "")))
    secret = s.log
    check("no texts in the log", "Revisionsklappe" not in secret and
          "Akku" not in secret, secret[-500:])
    raw.finish(s, test_keys(), test_read_only(), test_no_memory())


main()
