#!/usr/bin/env python3
"""doc.py - runs every example of docs/api-http.md and compares the answers.

    tests/web/doc.py            compare
    tests/web/doc.py --update   write the answers into the document

An example is a block ```console. A line "$ COMMAND" is run, and the lines up to
the next command are its answer. The commands run in a folder with memory.tsv
and office.tmx, and the server at http://localhost:8080 is a new one with a new
memory for the whole document. Answers are compared by these rules:

- An answer that is JSON is compared value by value. A number that is not whole
  may differ by 2 percent or 0.02, because processors round differently.
- The member "..": ".." of an object stands for more members, the last item ".."
  of a list for more items, and the value ".." for any value.
- "request_id" may be any id, a text of the form of a time any time.
- In other answers, a line ".." stands for any lines.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import raw

TOP = os.environ["TOP"]
DOC = TOP + "/docs/api-http.md"
MORE = ".."
WIDTH = 84
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")


def number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def differs(want, got, at=""):
    """None, or where two values differ."""
    if want == MORE:
        return None
    if number(want) and number(got):
        if isinstance(want, int) and isinstance(got, int):
            return None if want == got else f"{at}: {got}, wanted {want}"
        same = abs(want - got) <= max(0.02, 0.02 * abs(want))
        return None if same else f"{at}: {got}, wanted {want}"
    if isinstance(want, dict) and isinstance(got, dict):
        return differs_object(want, got, at)
    if isinstance(want, list) and isinstance(got, list):
        return differs_list(want, got, at)
    if at.endswith(".request_id"):
        return None if re.fullmatch("[0-9a-f]{16}", str(got)) else at
    if isinstance(want, str) and TIME.match(want):
        return None if TIME.match(str(got)) else at
    return None if want == got else f"{at}: {got!r}, wanted {want!r}"


def differs_object(want, got, at):
    names = [n for n in want if n != MORE]
    if MORE not in want and set(names) != set(got):
        return f"{at}: members {sorted(got)}"
    for name in names:
        if name not in got:
            return f"{at}.{name} is missing"
        why = differs(want[name], got[name], f"{at}.{name}")
        if why:
            return why
    return None


def differs_list(want, got, at):
    more = want[-1:] == [MORE]
    want = want[:-1] if more else want
    if len(got) < len(want) or (not more and len(got) != len(want)):
        return f"{at}: {len(got)} items"
    for i, one in enumerate(want):
        why = differs(one, got[i], f"{at}[{i}]")
        if why:
            return why
    return None


def differs_text(want, got):
    pattern = r"\n?".join("(?s:.*)" if line == MORE else re.escape(line)
                          for line in want.split("\n"))
    return None if re.fullmatch(pattern, got) else f"got\n{got}"


def filled(want, got):
    """The answer with those members and items that the document shows. {}
    shows all."""
    if want == MORE:
        return MORE
    if want and isinstance(want, dict) and isinstance(got, dict):
        out = {n: filled(v, got[n]) for n, v in want.items() if n in got}
        return dict(out, **({MORE: MORE} if MORE in want else {}))
    if isinstance(want, list) and isinstance(got, list) and want:
        more = want[-1] == MORE
        rows = want[:-1] if more else want
        out = [filled(rows[min(i, len(rows) - 1)], g) if rows else g
               for i, g in enumerate(got[:len(rows)] if more else got)]
        return out + ([MORE] if more else [])
    return rounded(got)


def rounded(value):
    if isinstance(value, dict):
        return {n: rounded(v) for n, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return round(value, 4) if isinstance(value, float) else value


def pretty(value, indent=0):
    """JSON that fits into the lines of the document."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, (dict, list)) \
            or not value:
        return line
    pad = " " * (indent + 1)
    if isinstance(value, list):
        inner = [pretty(v, indent + 1) for v in value]
        return "[" + (",\n" + pad).join(inner) + "]"
    out, used = "{", indent + 1
    for i, (name, v) in enumerate(value.items()):
        text = json.dumps(name) + ": "
        long = len(text + json.dumps(v, ensure_ascii=False)) + indent > WIDTH
        if long and isinstance(v, (dict, list)):
            text += "\n" + pad + " " + pretty(v, indent + 2)
        else:
            text += json.dumps(v, ensure_ascii=False)
        first, last = text.split("\n")[0], text.split("\n")[-1]
        if i and (long or used + len(first) + 2 > WIDTH):
            out, used = out + ",\n" + pad, len(pad)
        elif i:
            out, used = out + ", ", used + 2
        out += text.replace(": \n", ":\n")
        used = len(last) if "\n" in text else used + len(last)
    return out + "}"


def run(command, folder, server):
    command = command.replace("localhost:8080", f"127.0.0.1:{server.port}")
    done = subprocess.run(["bash", "-c", command.replace("curl ",
                                                         "curl -sS -m 60 ")],
                          cwd=folder, capture_output=True, text=True,
                          check=False)
    out = (done.stdout + done.stderr).replace(f"127.0.0.1:{server.port}",
                                              "localhost:8080")
    return out.replace("\r", "").rstrip("\n")


def compare(want, got):
    try:
        got_json = json.loads(got)
    except ValueError:
        return differs_text(want, got)
    try:
        return differs(json.loads(want), got_json)
    except ValueError:
        return differs_text(want, got)


def shown(want, got):
    """What the document is to show of an answer."""
    try:
        value = json.loads(got)
    except ValueError:
        return want if compare(want, got) is None else got
    try:
        return pretty(filled(json.loads(want), value))
    except ValueError:
        return pretty(value)


def examples(block):
    """The commands of a block with their answers. A command may go on in
    indented lines after a backslash."""
    out = []
    for line in block.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            out.append([line[2:], []])
        elif out and out[-1][0].endswith("\\") and not out[-1][1]:
            out[-1][0] += "\n" + line
        else:
            out[-1][1].append(line)
    return [(command, "\n".join(answer)) for command, answer in out]


def main():
    update = "--update" in sys.argv
    with open(DOC, encoding="utf-8") as f:
        text = f.read()
    server = raw.Server(memory=True)
    folder = server.dir + "/doc"
    os.mkdir(folder)
    shutil.copy(TOP + "/tests/data/small/memory.tsv", folder)
    shutil.copy(TOP + "/tests/data/formats/office.tmx", folder)
    n = 0

    def block(found):
        nonlocal n
        out = ""
        for command, want in examples(found.group(1)):
            n += 1
            got = run(command, folder, server)
            if update:
                want = shown(want, got)
            why = compare(want, got)
            raw.check(command, why is None, why)
            out += f"$ {command}\n" + (want + "\n" if want else "")
        return f"```console\n{out}```"

    text = re.sub(r"```console\n(.*?)```", block, text, flags=re.S)
    raw.check("there are examples", n >= 20, n)
    if update:
        with open(DOC, "w", encoding="utf-8") as f:
            f.write(text)
    raw.finish(server)


main()
