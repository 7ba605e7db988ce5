"""raw.py - a server and raw HTTP requests, for the tests of wire formats.

    import raw

    server = raw.Server("--max-texts", "8", memory=True)
    answer = server.call("GET", "/modernmt/languages")
    raw.equal("languages", answer.json, {...})
    raw.finish(server)

raw.finish prints "N passed, N failed" and exits.
"""
import atexit
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

BUILD = os.environ.get("BUILD", "build")
passed = failed = 0


def check(name, good, seen=""):
    """Counts a test, and prints it if it fails."""
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {name}: {str(seen)[:600]}")


def equal(name, got, want):
    check(name, got == want, f"got {got!r}, wanted {want!r}")


def finish(*servers):
    for server in servers:
        equal("exit status of the server", server.stop(), 0)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.type = headers.get("Content-Type", "")
        try:
            self.json = json.loads(body)
        except ValueError:
            self.json = None

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"


def multipart(fields, files, boundary="----skmt7MA4YWxk"):
    """files: [(field, file name, type, bytes)]. Returns (type, body)."""
    out = b""
    for name, file_name, kind, data in files:
        out += (f'--{boundary}\r\nContent-Disposition: form-data; '
                f'name="{name}"; filename="{file_name}"\r\n'
                f'Content-Type: {kind}\r\n\r\n').encode() + data + b"\r\n"
    for name, value in fields:
        out += (f'--{boundary}\r\nContent-Disposition: form-data; '
                f'name="{name}"\r\n\r\n{value}\r\n').encode()
    return (f"multipart/form-data; boundary={boundary}",
            out + f"--{boundary}--\r\n".encode())


class Server:
    """skmt serve on a free port of 127.0.0.1. memory: True for a new file.
    keys: names; each gets a key, in self.keys."""

    def __init__(self, *args, memory=False, keys=()):
        skmt = os.path.join(BUILD, "skmt")
        self.dir = tempfile.mkdtemp(prefix="skmt-raw-")
        line = [skmt, "serve", "--listen", "127.0.0.1:0", *args]
        self.keys = {}
        for name in keys:
            self.keys[name] = subprocess.run(
                [skmt, "serve", "--keys", self.dir + "/keys", "--new-key",
                 name], check=True, capture_output=True,
                text=True).stdout.strip()
        if keys:
            line += ["--keys", self.dir + "/keys"]
        if memory:
            self.memory = self.dir + "/test.tm"
            line += ["--memory", self.memory]
        self.log = ""
        self.process = subprocess.Popen(line, stderr=subprocess.PIPE,
                                        text=True)
        atexit.register(self.stop)
        threading.Thread(target=self.read_log, daemon=True).start()
        self.wait()

    def read_log(self):
        for line in self.process.stderr:
            self.log += line

    def wait(self):
        for _ in range(1200):
            at = re.search(r"listening on http://127.0.0.1:(\d+)", self.log)
            if at:
                self.port = int(at.group(1))
                if self.call("GET", "/ready").status == 200:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        sys.exit("the server did not start:\n" + self.log)

    def stop(self):
        atexit.unregister(self.stop)
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
        return status

    def call(self, method, path, *, json_body=None, form=None, body=None,
             files=None, fields=(), query=None, headers=None, chunked=False):
        """One request on a connection of its own."""
        head = dict(headers or {})
        if json_body is not None:
            body = json.dumps(json_body).encode()
            head.setdefault("Content-Type", "application/json")
        elif form is not None:
            body = urllib.parse.urlencode(form, doseq=True).encode()
            head.setdefault("Content-Type",
                            "application/x-www-form-urlencoded")
        elif files is not None:
            head["Content-Type"], body = multipart(list(fields), files)
        if query is not None:
            path += "?" + urllib.parse.urlencode(query, doseq=True)
        connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                timeout=60)
        try:
            if chunked:
                parts = [body[i:i + 1000] for i in range(0, len(body), 1000)]
                connection.request(method, path, body=iter(parts),
                                   headers=head, encode_chunked=True)
            else:
                connection.request(method, path, body=body, headers=head)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()
