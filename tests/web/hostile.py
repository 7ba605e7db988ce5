#!/usr/bin/env python3
"""hostile.py - sends requests that no honest client sends.

    hostile.py SKMT MODEL [--connections N] [NAME...]

Starts "SKMT serve" with short deadlines. After each attack, which must end with
a clear error or a closed connection, an ordinary request must still work. Names
choose attacks. The last line is "N passed, N failed, N skipped".
"""
import json
import os
import re
import resource
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time

WAIT = 20                       # seconds after which nothing more is expected
ATTACKS = []


def attack(function):
    ATTACKS.append(function)
    return function


class Server:
    def __init__(self, program, model, options=()):
        self.folder = tempfile.TemporaryDirectory()
        self.errors = open(os.path.join(self.folder.name, "err"), "w+")
        self.process = subprocess.Popen(
            [program, "serve", "--listen", "127.0.0.1:0", "--model", model,
             "--memory", os.path.join(self.folder.name, "m.tm"),
             "--header-seconds", "2", "--body-seconds", "2",
             "--send-seconds", "2", "--idle-seconds", "30",
             "--max-body", "1M", "--log-level", "error", *options],
            stdout=self.errors, stderr=self.errors,
            env=dict(os.environ, TMPDIR=self.folder.name))
        self.port = self.wait_for_port()
        wait_for(lambda: self.get("/ready")[0] == 200, "the server is ready")

    def text(self):
        self.errors.flush()
        with open(self.errors.name) as f:
            return f.read()

    def wait_for_port(self):
        def port():
            found = re.search(r"listening on http://127.0.0.1:(\d+)",
                              self.text())
            assert self.process.poll() is None, self.text()
            return found and int(found.group(1))
        return wait_for(port, "the server listens")

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def raw(self, data):
        """Sends bytes and reads until the server closes, or until an answer is
        complete."""
        s = self.connect()
        try:
            s.sendall(data)
        except OSError:
            pass                # refused before all was sent
        answer = read_answer(s)
        s.close()
        return answer

    def get(self, path, method="GET", headers="", body=b""):
        if body:
            headers += f"Content-Length: {len(body)}\r\n"
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n" + headers
        return parse(self.raw(head.encode() + b"\r\n" + body))

    def post(self, path, body, kind="application/json", headers=""):
        if not isinstance(body, bytes):
            body = body.encode()
        return self.get(path, "POST", f"Content-Type: {kind}\r\n" + headers,
                        body or b"")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def wait_for(condition, what):
    end = time.time() + 60
    while time.time() < end:
        try:
            result = condition()
        except OSError:
            result = None
        if result:
            return result
        time.sleep(0.05)
    raise AssertionError("never: " + what)


def read_answer(s):
    """One answer with a Content-Length, or everything until the end."""
    data = b""
    while True:
        head, found, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if found and length and len(body) >= int(length.group(1)):
            return data
        if found and head.startswith(b"HTTP/1.1 204"):
            return data
        try:
            part = s.recv(65536)
        except ConnectionError:
            part = b""
        if not part:
            return data
        data += part


def parse(data):
    """(status, headers, body) of an answer; status 0: closed without one."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    match = re.match(r"HTTP/1\.1 (\d+)", lines[0])
    headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
    return (int(match.group(1)) if match else 0), headers, body


def check(what, condition):
    assert condition, what


def refused(answer, *statuses):
    """The status is as expected, and the body is an error as JSON. 0: closed."""
    status, headers, body = answer
    check(f"status {status}, not {statuses}: {body[:200]}", status in statuses)
    if status and "json" in headers.get("content-type", ""):
        json.loads(body)
    elif status:
        # These are libmicrohttpd's own.
        check(f"not JSON: {body[:80]}", status in (400, 413, 414, 431))


def closed(s):
    """The server closes the connection. Deadlines are its own."""
    try:
        while s.recv(65536):
            pass
    except ConnectionError:
        pass


HEAD = b"POST /translate HTTP/1.1\r\nHost: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"


@attack
def body_announced_too_large(x):
    head = HEAD + JSON + b"Content-Length: 5000000000\r\n\r\n"
    refused(parse(x.raw(head)), 413)


@attack
def body_sent_too_large(x):
    refused(x.post("/translate", b'{"q":"' + b"a" * 8000000 + b'"}'), 413)


@attack
def body_expected_too_large(x):
    head = HEAD + JSON + b"Content-Length: 9000000\r\nExpect: 100-continue\r\n"
    refused(parse(x.raw(head + b"\r\n")), 413)


@attack
def chunks_too_large(x):
    body = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    head = HEAD + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
    refused(parse(x.raw(head + body * 24 + b"0\r\n\r\n")), 413)
    refused(parse(x.raw(head + body * 200 + b"0\r\n\r\n")), 413, 0)


@attack
def chunks_malformed(x):
    head = HEAD + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
    for size in (b"zz", b"-1", b"ffffffffffffffffff", b""):
        answer = x.raw(head + size + b"\r\naaaa\r\n0\r\n\r\n")
        refused(parse(answer), 400, 413, 0)


@attack
def length_malformed(x):
    for length in (b"-1", b"+5", b"5,5", b"5 5", b"0x5", b"",
                   b"99999999999999999999999"):
        answer = x.raw(HEAD + JSON + b"Content-Length: " + length +
                       b"\r\n\r\n{}   ")
        refused(parse(answer), 400, 413, 0)


def drip(x, begin, part):
    """Sends a byte at a time until the server closes the connection."""
    s = x.connect()
    s.settimeout(0.1)
    s.sendall(begin)
    end = time.time() + WAIT
    while time.time() < end:
        try:
            s.sendall(part)
            if not s.recv(1000):
                return
        except socket.timeout:
            pass
        except OSError:
            return
    raise AssertionError("the server still waits")


@attack
def headers_slow(x):
    drip(x, b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"A: b\r\n")
    drip(x, b"", b"G")


@attack
def body_slow(x):
    drip(x, HEAD + JSON + b"Content-Length: 1000\r\n\r\n", b"a")


@attack
def nothing_sent(x):
    s = x.connect()
    closed(s)


@attack
def answers_not_read(x):
    s = x.connect()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(1)
    request = b"GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n"
    try:
        for _ in range(300):
            s.sendall(request * 100)
    except OSError:
        pass
    wait_for(lambda: b" 01 " not in own_sockets(x, s), "the server closes")
    s.close()


def own_sockets(x, s):
    """The line of /proc/net/tcp about the server's end of a connection, with
    the state; 01 is established."""
    mine = s.getsockname()[1]
    with open("/proc/net/tcp", "rb") as f:
        for line in f:
            part = line.split()
            if part[1].endswith(b":%04X" % x.port) and \
                    part[2].endswith(b":%04X" % mine):
                return b" " + part[3] + b" "
    return b""


@attack
def body_truncated(x):
    for body in (b"", b'{"q":"a'):
        s = x.connect()
        s.sendall(HEAD + JSON + b"Content-Length: 100\r\n\r\n" + body)
        s.close()
    s = x.connect()
    s.sendall(HEAD + JSON + b"Content-Length: 100\r\n\r\n{")
    s.shutdown(socket.SHUT_WR)
    closed(s)


@attack
def json_hostile(x):
    deep = "[" * 100000
    for body in ('{"q":' + deep, '{"q":' * 40 + "1" + "}" * 40, "{", "[", "1",
                 '"a"', "null", '{"q":"\\ud800"}', '{"q":"\\u0000"}',
                 '{"q":"a"}x', '{"q":1e999}', "\x00"):
        refused(x.post("/translate", body), 400)
    for bad in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"):
        refused(x.post("/translate", b'{"q":"' + bad + b'"}'), 400)


@attack
def forms_hostile(x):
    kind = "application/x-www-form-urlencoded"
    for body in ("q=%zz", "q=%", "q=%00", "q=%ff", "%ff=a", "a=b&" * 9000):
        refused(x.post("/translate", body, kind), 400)


@attack
def multipart_hostile(x):
    part = '--b\r\nContent-Disposition: form-data; name="q"\r\n\r\na\r\n'
    for body in ("", "a", "--b", "--b--", "--b\r\n", part, part * 40 + "--b--",
                 "--b\r\n\r\na\r\n--b--",
                 "--b\r\nContent-Disposition: form-data\r\n\r\na\r\n--b--",
                 "--b\r\n" + "A: b\r\n" * 100 + "\r\na\r\n--b--",
                 part.replace("a\r\n", "\xff\r\n") + "--b--"):
        answer = x.post("/translate", body.encode("latin-1") or b" ",
                        "multipart/form-data; boundary=b")
        refused(answer, 400)
    for boundary in ("", "; boundary=", "; boundary=" + "b" * 300):
        refused(x.post("/translate", part, "multipart/form-data" + boundary),
                400, 415)


@attack
def media_types_unknown(x):
    for kind in ("text/plain", "application/json; charset=latin1", "a" * 5000):
        refused(x.post("/v1/translate", '{"texts":["a"]}', kind), 415)
        refused(x.post("/translate", '{"q":"a"}', kind), 400)
    refused(x.post("/v1/translate", '{"texts":["a"]}',
                   headers="Content-Encoding: gzip\r\n"), 415)


@attack
def header_flood(x):
    many = "".join(f"X-{i}: y\r\n" for i in range(200))
    refused(x.get("/health", headers=many), 400, 431)
    for size in (60000, 200000, 3000000):
        refused(x.get("/health", headers="X: " + "y" * size + "\r\n"),
                200, 400, 431, 0)
    refused(x.get("/health?" + "a" * 300000), 400, 413, 414, 431, 0)


@attack
def headers_malformed(x):
    for line in (b"nocolon\r\n", b"A\x00B: c\r\n", b"A: b\x01c\r\n",
                 b"A: b\rB: c\r\n", b"A B: c\r\n", b"\xff: c\r\n"):
        data = b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + line + b"\r\n"
        refused(parse(x.raw(data)), 400, 0)
    for line in (b"GET\r\n", b"GET /health\r\n", b"/ HTTP/1.1\r\n",
                 b"\x16\x03\x01\x02\x00\x01\x00\r\n", b"GET / HTTP/9.9\r\n",
                 b"GET /a b HTTP/1.1\r\n"):
        s = x.connect()
        s.sendall(line + b"\r\n")
        s.shutdown(socket.SHUT_WR)
        closed(s)
    refused(parse(x.raw(b"GET /health HTTP/1.1\r\n\r\n")), 400, 0)


@attack
def paths_tricky(x):
    for path in ("/%00", "/health%00", "/a%0d%0ab", "/%zz", "/%", "/%ff",
                 "/../../etc/passwd", "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
                 "//health", "/health/x", "/page/../../x", "/page/v/..%2fx",
                 "*", "health", "/\x7f", "http://localhost",
                 "/tmserver/de/en/unit/%00"):
        status, _, body = x.get(path)
        check(f"{path}: {status}",
              status in (400, 404) or path == "http://localhost")
        check(path, b"root:" not in body)


@attack
def smuggling(x):
    two = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for lines in (b"Content-Length: 0\r\nContent-Length: 50\r\n",
                  b"Content-Length: 0\r\nContent-Length: 0\r\n",
                  b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
                  b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                  b"Transfer-Encoding: gzip, chunked\r\n",
                  b"Transfer-Encoding: xchunked\r\n",
                  b"Transfer-Encoding: chunked\r\n"
                  b"Transfer-Encoding: identity\r\n",
                  b"Transfer-Encoding:\x0bchunked\r\n",
                  b"Transfer-Encoding : chunked\r\n",
                  b"Content-Length : 4\r\n", b"Host: evil\r\n",
                  b"X: y\rContent-Length: 4\r\n",
                  b"X: y\r\n Content-Length: 4\r\n"):
        s = x.connect()
        s.sendall(HEAD + JSON + lines + b"\r\n0\r\n\r\n" + two)
        data = b""
        try:
            while part := s.recv(65536):
                data += part
        except OSError:
            pass
        check(f"{lines}: {data[:300]}", data.count(b"HTTP/1.1 ") <= 1)
        refused(parse(data), 400, 0)


@attack
def other_hosts(x):
    def status(host):
        return parse(x.raw(b"GET /v1/info HTTP/1.1\r\nHost: " + host +
                           b"\r\n\r\n"))[0]
    for host in (b"evil.example", b"127.0.0.1.evil.example", b"localhost.evil",
                 b"", b"[::1", b"localhost@evil", b"a" * 1000):
        check(f"{host}: {status(host)}", status(host) in (400, 421))
    for host in (b"localhost", b"LOCALHOST:80", b"127.0.0.1", b"[::1]:80",
                 b"a.localhost", b"192.168.1.2:5000"):
        check(f"{host}: {status(host)}", status(host) == 200)


@attack
def other_origins(x):
    evil = "Origin: http://evil.example\r\n"
    for header in (evil, "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n",
                   "Sec-Fetch-Site: same-site\r\n",
                   "Origin: http://localhost.evil.example\r\n"):
        refused(x.post("/v1/memories", '{"name":"a"}', headers=header), 403)
    status, headers, _ = x.get("/translate", "OPTIONS", evil +
                               "Access-Control-Request-Method: POST\r\n")
    check("preflight", status == 204 and
          "access-control-allow-origin" not in headers)
    ours = "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n"
    status = x.post("/v1/memories", '{"name":"own"}', headers=ours)[0]
    check(f"our own page: {status}", status in (200, 201))


@attack
def methods_unknown(x):
    for method in ("BREW", "TRACE", "DELETE", "PUT", "get"):
        status, headers, _ = x.get("/languages", method)
        check(f"{method}: {status} {headers}", status in (405, 200) and
              (status == 200 or "get" in headers.get("allow", "")))
    refused(x.get("localhost:80", "CONNECT"), 400, 404, 0)


@attack
def many_connections(x):
    """More connections than are allowed. The one that exists keeps working."""
    first = x.connect()
    request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    first.sendall(request)
    read_answer(first)
    others = []
    try:
        for _ in range(CONNECTIONS):
            others.append(x.connect())
    except OSError:
        pass                    # no more descriptors here
    check(f"{len(others)} connections", len(others) >= 900)
    first.sendall(request)
    check("the first connection", parse(read_answer(first))[0] == 200)
    check("open connections", open_descriptors(x) < 1300)
    for s in others:
        s.close()
    first.close()


def open_descriptors(x):
    return len(os.listdir(f"/proc/{x.process.pid}/fd"))


@attack
def clients_go_away(x):
    body = json.dumps({"q": ["eins zwei drei vier. " * 20] * 20,
                       "source": "de", "target": "en"}).encode()
    head = HEAD + JSON + f"Content-Length: {len(body)}\r\n\r\n".encode()
    for i in range(200):
        s = x.connect()
        s.sendall(head + body)
        if i % 2:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         struct.pack("ii", 1, 0))
        time.sleep(0.005)
        s.close()
    wait_for(lambda: idle(x), "no call is left")


@attack
def streams_abandoned(x):
    """Imports that report their progress, whose clients leave or do not
    read."""
    x.post("/v1/memories", '{"name":"streams"}')
    rows = "".join(f"Satz {i} hier\tsentence {i} here\n"
                   for i in range(20000)).encode()
    head = (b"POST /v1/memories/streams/import HTTP/1.1\r\nHost: localhost\r\n"
            b"Accept: text/event-stream\r\n"
            b"Content-Type: text/tab-separated-values\r\n"
            b'Content-Disposition: attachment; filename="a.tsv"\r\n'
            b"Content-Length: " + str(len(rows)).encode() + b"\r\n\r\n")
    for i in range(8):
        s = x.connect()
        s.sendall(head + rows)
        if i % 4:
            check("a stream", b"event-stream" in s.recv(2000))
        if i % 2:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         struct.pack("ii", 1, 0))
        s.close()
    wait_for(lambda: idle(x), "no call is left")
    s = x.connect()
    s.sendall(head + rows)
    stream_done(s)


def stream_done(s):
    data = b""
    while b"event: done" not in data:
        part = s.recv(65536)
        check(f"the end of a stream: {data[-200:]}", part)
        data += part


@attack
def streams_paused(x):
    """An import that waits for another program, longer than a client may take
    to read, has not failed; a client that goes meanwhile is noticed."""
    def head(rows):
        return (b"POST /v1/memories/paused/import HTTP/1.1\r\n"
                b"Host: localhost\r\nAccept: text/event-stream\r\n"
                b"Content-Type: text/tab-separated-values\r\n"
                b'Content-Disposition: attachment; filename="a.tsv"\r\n'
                b"Content-Length: %d\r\n\r\n" % len(rows)) + rows

    x.post("/v1/memories", '{"name":"paused"}')
    other = sqlite3.connect(os.path.join(x.folder.name, "m.tm"),
                            isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    s = x.connect()
    s.sendall(head(b"a\tb\n"))
    time.sleep(4)               # --send-seconds is 2
    other.execute("ROLLBACK")
    stream_done(s)
    other.execute("BEGIN IMMEDIATE")
    s = x.connect()
    s.sendall(head(b"".join(b"Satz %d hier\tsentence %d here\n" % (i, i)
                            for i in range(5000))))
    check("a stream", b"event-stream" in s.recv(2000))
    s.close()
    time.sleep(1)
    other.execute("ROLLBACK")
    other.close()
    wait_for(lambda: idle(x), "no call is left")
    pairs = json.loads(x.get("/v1/memories/paused")[2])["pairs"]
    check(f"{pairs} pairs", pairs == 1)


def idle(x):
    status, _, body = x.get("/metrics")
    check(f"/metrics: {status}", status == 200)
    found = re.search(rb"^skmt_http_requests_in_flight (\d+)", body, re.M)
    texts = re.search(rb"^skmt_queue_texts (\d+)", body, re.M)
    return found and int(found.group(1)) == 1 and \
        (not texts or int(texts.group(1)) == 0)


@attack
def pipelined(x):
    """Several requests at once get their answers in order."""
    s = x.connect()
    for name in (b"one", b"two", b"three"):
        s.sendall(b"GET /v1/info HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: " +
                  name + b"\r\n\r\n")
    s.shutdown(socket.SHUT_WR)
    data = b""
    while part := s.recv(65536):
        data += part
    found = re.findall(rb"X-Request-Id: (\w+)", data)
    check(f"{found}", found in ([b"one", b"two", b"three"], [b"one", b"two"],
                                [b"one"], []))


@attack
def ordinary_forms(x):
    """What must work: HEAD, a final slash, ids, quoted boundaries, gzip."""
    status, headers, body = parse_head(x, "/health")
    check("HEAD", status == 200 and not body and headers["content-length"])
    check("slash", x.get("/languages/")[0] == 200)
    check("id", x.get("/health", headers="X-Request-Id: my.id-1\r\n")[1]
          ["x-request-id"] == "my.id-1")
    check("bad id", x.get("/health", headers="X-Request-Id: a b\r\n")[1]
          ["x-request-id"] != "a b")
    check("gzip", x.get("/v1/info", headers="Accept-Encoding: gzip\r\n")[1]
          ["content-encoding"] == "gzip")
    check("405", "get" in x.post("/v1/info", "{}")[1]["allow"])
    body = ('--x y\r\nContent-Disposition: form-data; name="q"\r\n\r\n\r\n'
            '--x y\r\nContent-Disposition: form-data; name=source\r\n\r\nde\r\n'
            '--x y\r\nContent-Disposition: form-data; name="target"\r\n\r\nen'
            "\r\n--x y--\r\n")
    answer = x.post("/translate", body, 'multipart/form-data; boundary="x y"')
    check(f"multipart: {answer[0]} {answer[2]}", answer[0] in (200, 400) and
          b"boundary" not in answer[2])


def parse_head(x, path):
    s = x.connect()
    s.sendall(f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\n"
              "Connection: close\r\n\r\n".encode())
    data = b""
    while part := s.recv(65536):
        data += part
    return parse(data)


CONNECTIONS = 2000


def ordinary(x):
    status, _, body = x.get("/languages")
    check(f"an ordinary request: {status} {body[:100]}", status == 200)
    check("the process", x.process.poll() is None)


def run(function, x):
    try:
        function(x)
        ordinary(x)
        return True
    except (AssertionError, OSError, KeyError, ValueError) as e:
        print(f"FAIL {function.__name__}: {type(e).__name__}: {e}")
        return False


def main():
    global CONNECTIONS
    args = sys.argv[1:]
    if "--connections" in args:
        at = args.index("--connections")
        CONNECTIONS = int(args[at + 1])
        del args[at:at + 2]
    program, model, names = args[0], args[1], args[2:]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    want = CONNECTIONS + 100
    if hard == resource.RLIM_INFINITY or hard >= want:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, want), hard))
    x = Server(program, model)
    passed = failed = 0
    for function in ATTACKS:
        if names and function.__name__ not in names:
            continue
        if run(function, x):
            passed += 1
        else:
            failed += 1
    status = x.stop()
    left = [n for n in os.listdir(x.folder.name) if n.startswith("skmt-serve")]
    if status or left:
        print(f"FAIL stop: status {status}, left {left}: {x.text()[-2000:]}")
        failed += 1
    else:
        passed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
