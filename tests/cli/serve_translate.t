# needs: model curl python3
The server gives what the command line gives, whatever else it does.

Eight memories of one file have different translations for the same sentences.

  $ awk -F'\t' '{print $1}' "$TOP/tests/data/small/test.tsv" "$TOP/tests/data/small/memory.tsv" | grep . > small
  > grep . "$TOP/bench/sentences.de" | head -n 30 > lines; head -n 10 small >> lines; wc -l < lines
  > words=(hatch flap door lid cover panel gate shutter)
  > for i in 0 1 2 3 4 5 6 7; do
  >     skmt tm create my.tm --name m$i > /dev/null
  >     awk -F'\t' -v i=$i 'NR % 8 != i {print $1 "\t" $2}' "$TOP/tests/data/small/memory.tsv" | sed "s/hatch/${words[i]}/" |
  >         skmt tm import my.tm - --format tsv --name m$i > /dev/null
  > done
  > skmt translate lines > plain; skmt translate -M my.tm lines > steered
  > cmp -s plain steered
  40
  [1]

  $ cat > client.py <<'END'
  > import http.client, json, sys, threading
  > port, lines = int(sys.argv[1]), open("lines", encoding="utf-8").read().split("\n")[:-1]
  > def ask(texts, **more):
  >     c = http.client.HTTPConnection("127.0.0.1", port, timeout=240)
  >     c.request("POST", "/v1/translate", json.dumps(dict(more, texts=texts, source="de", target="en")), {"Content-Type": "application/json"})
  >     a = c.getresponse()
  >     answer = json.loads(a.read())
  >     if a.status != 200: raise SystemExit("%d %s" % (a.status, answer))
  >     return [t["text"] for t in answer["translations"]]
  > def expected(name):
  >     return open(name, encoding="utf-8").read().split("\n")[:-1]
  > def together(n, work):
  >     threads = [threading.Thread(target=work, args=(i,)) for i in range(n)]
  >     for t in threads: t.start()
  >     for t in threads: t.join()
  > END

All lines in one request, as one text of 40 lines, and one request for each line
at the same time.

  $ cat > all.py <<'END'
  > from client import *
  > want = expected(sys.argv[2])
  > print(ask(lines) == want)
  > print(ask(["\n".join(lines) + "\n"])[0] == "\n".join(want) + "\n")
  > got = [None] * len(lines)
  > def one(i): got[i] = ask([lines[i]])[0]
  > together(len(lines), one)
  > print(got == want)
  > END
  > . "$TOP/tests/cli/server.sh"; serve
  > python3 all.py "${url##*:}" plain; stop_server
  True
  True
  True

  $ . "$TOP/tests/cli/server.sh"; serve --memory my.tm
  > python3 all.py "${url##*:}" steered; stop_server
  True
  True
  True

With options of the request.

  $ skmt translate -M my.tm --beam 2 --preset sk2 --exact steer --lenpen 1 lines > other
  > . "$TOP/tests/cli/server.sh"; serve --memory my.tm
  > python3 - "${url##*:}" <<'END'
  > import sys; sys.path.insert(0, ".")
  > from client import *
  > print(ask(lines, options={"beam": 2, "preset": "sk2", "exact": "steer", "lenpen": 1}) == expected("other"))
  > END
  > skmt translate -M my.tm --preset paper-sk1 lines > paper
  > python3 - "${url##*:}" <<'END'
  > import sys; sys.path.insert(0, ".")
  > from client import *
  > print(ask(lines, options={"preset": "paper-sk1"}) == expected("paper"))
  > END
  > stop_server
  True
  True

Options of the server hold for requests without their own.

  $ . "$TOP/tests/cli/server.sh"; serve --memory my.tm --beam 2 --preset sk2 --exact steer --lenpen 1
  > python3 - "${url##*:}" <<'END'
  > import sys; sys.path.insert(0, ".")
  > from client import *
  > print(ask(lines) == expected("other"))
  > END
  > stop_server
  True

Eight clients at the same time. Each uses the eight memories in its own order.

  $ head -n 12 small > lines
  > for i in 0 1 2 3 4 5 6 7; do skmt translate -M my.tm --name m$i lines > want.$i; done
  > cat want.? | sort -u | wc -l | awk '{print ($1 > 24)}'
  > . "$TOP/tests/cli/server.sh"; serve --memory my.tm
  > python3 - "${url##*:}" <<'END'
  > import sys; sys.path.insert(0, ".")
  > from client import *
  > want = [expected("want.%d" % i) for i in range(8)]
  > right = [0] * 8
  > def client(k):
  >     for i in range(8):
  >         m = (3 * i + k) % 8
  >         right[k] += ask(lines, memories=["m%d" % m]) == want[m]
  > together(8, client)
  > print(right)
  > END
  > stop_server
  1
  [8, 8, 8, 8, 8, 8, 8, 8]

A correction takes effect at once, also while the same text is in work.

  $ skmt tm create new.tm > /dev/null
  > . "$TOP/tests/cli/server.sh"; serve --memory new.tm
  > python3 - "${url##*:}" <<'END'
  > import sys; sys.path.insert(0, ".")
  > from client import *
  > text, wrong, stop = "Der Motor ist heute kaputt.", [], False
  > def busy(i):
  >     while not stop: ask([text])
  > def teach():
  >     global stop
  >     for i in range(20):
  >         c = http.client.HTTPConnection("127.0.0.1", port)
  >         c.request("POST", "/v1/memories/main/pairs", json.dumps({"source": text, "target": "Drive %d is down." % i, "replace": True}), {"Content-Type": "application/json"})
  >         a = c.getresponse(); body = a.read()
  >         if a.status >= 300: wrong.append(body)
  >         got = ask([text])[0]
  >         if got != "Drive %d is down." % i: wrong.append(got)
  >     stop = True
  > together(4, lambda i: busy(i) if i else teach())
  > print(wrong)
  > END
  > stop_server
  []
