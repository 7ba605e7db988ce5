#!/usr/bin/env python3
"""serve_killed.py - kill a server that stores corrections, and look for them.

    serve_killed.py SKMT FOLDER ROUNDS SEED MODEL

In each round the server is started with the same memory, CLIENTS clients store
corrections and ask for translations, and the server is killed at a random
moment. Every correction that was answered with a status of success must be in
the memory after the restart, with the right translation, and none may be there
that nobody sent."""
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

SKMT, FOLDER, ROUNDS, SEED, MODEL = sys.argv[1:6]
CLIENTS = 8
ENV = {k: v for k, v in os.environ.items() if not k.startswith("SKMT_SERVE_")}
sent, stored = {}, {}           # source -> translation
lock = threading.Lock()


def start():
    log = open(os.path.join(FOLDER, "serve.log"), "w")
    server = subprocess.Popen(
        [SKMT, "serve", "--listen", "127.0.0.1:0", "--model", MODEL,
         "--memory", os.path.join(FOLDER, "my.tm"), "--log-level", "warn"],
        stderr=log, env=ENV)
    for _ in range(1200):
        text = open(log.name).read()
        found = re.search(r"listening on http://127.0.0.1:(\d+)/", text)
        if found:
            return server, int(found[1])
        if server.poll() is not None:
            break
        time.sleep(0.05)
    sys.exit("FAIL the server did not start:\n" + open(log.name).read())


def post(c, path, args):
    c.request("POST", path, json.dumps(args),
              {"Content-Type": "application/json"})
    answer = c.getresponse()
    body = answer.read()
    return answer.status, body


def client(port, number, round_, ready):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    i = 0
    try:
        while True:
            i += 1
            source = f"Satz {round_} von {number}, Nummer {i}."
            target = f"Sentence {i} of {number} in round {round_}."
            with lock:
                sent[source] = target
            if i % 2:
                status, body = post(c, "/v1/feedback",
                                    {"source": source, "corrected": target})
            else:
                status, body = post(c, "/v1/memories/main/pairs",
                                    {"source": source, "target": target})
            if status in (200, 201):
                with lock:
                    stored[source] = target
            elif status != 429:
                sys.stderr.write(f"status {status}: {body[:300]!r}\n")
                os._exit(1)
            ready.set()
            if i % 5 == 0:
                post(c, "/v1/translate", {"texts": [source], "target": "en"})
    except (OSError, http.client.HTTPException):
        pass                    # the server was killed


def all_pairs(port):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    pairs, after = {}, 0
    while after is not None:
        c.request("GET", f"/v1/memories/main/pairs?limit=1000&after={after}")
        page = json.loads(c.getresponse().read())
        for p in page["pairs"]:
            if p["source"] in pairs:
                sys.exit(f"FAIL {p['source']} is stored twice")
            pairs[p["source"]] = p["target"]
        after = page["next"]
    return pairs


def check(port, round_):
    pairs = all_pairs(port)
    lost = [s for s in stored if pairs.get(s) != stored[s]]
    made_up = [s for s in pairs if sent.get(s) != pairs[s]]
    if lost or made_up:
        sys.exit(f"FAIL round {round_}: {len(lost)} of {len(stored)} lost, "
                 f"{len(made_up)} made up: {(lost + made_up)[:3]}")


def main():
    rnd = random.Random(int(SEED))
    slowest = 0
    for round_ in range(int(ROUNDS) + 1):
        began = time.time()
        server, port = start()
        slowest = max(slowest, time.time() - began)
        if round_:
            check(port, round_)
        if round_ == int(ROUNDS):
            server.send_signal(signal.SIGTERM)
            if server.wait(60) != 0:
                sys.exit("FAIL the server did not end with status 0")
            break
        ready = threading.Event()
        threads = [threading.Thread(target=client, args=(port, k, round_, ready))
                   for k in range(CLIENTS)]
        for t in threads:
            t.start()
        if not ready.wait(60):
            sys.exit("FAIL nothing was stored")
        time.sleep(rnd.uniform(0.02, 0.6))
        server.send_signal(signal.SIGKILL)
        server.wait()
        for t in threads:
            t.join()
    print(f"{ROUNDS} kills: {len(stored)} acknowledged corrections of "
          f"{len(sent)} are there; slowest start {slowest:.2f} s")


main()
