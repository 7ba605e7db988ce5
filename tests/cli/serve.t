# needs: model curl openssl python3
The server listens, says where, translates, and ends with status 0.

  $ . "$TOP/tests/cli/server.sh"; serve
  > ask "$url/ready"; echo
  > ask -d '{"texts": ["Guten Morgen!"], "target": "en"}' -H 'Content-Type: application/json' "$url/v1/translate" | python3 -c 'import json, sys; print(json.load(sys.stdin)["translations"][0]["text"])'
  > ask -d q='Vielen Dank.' -d source=de -d target=en "$url/translate"; echo
  > stop_server
  {"status":"ready"}
  Good morning!
  {"translatedText":"Thank you very much."}

With level warn, only its address is printed.

  $ . "$TOP/tests/cli/server.sh"; serve --log-level warn; cat serve.log | sed 's/:[0-9]*\/$/:PORT/'
  skmt: listening on http://127.0.0.1:PORT

The address is in use.

  $ . "$TOP/tests/cli/server.sh"; serve
  > skmt serve --listen "${url#http://}" 2>&1 | sed 's/1:[0-9]*/1:PORT/'
  skmt: 127.0.0.1:PORT is in use by another program; choose another port with --listen

An address that this machine does not have.

  $ skmt serve --listen 192.0.2.1:0 --no-auth
  skmt: this machine does not have the address 192.0.2.1:0
  [1]

IPv6.

  $ . "$TOP/tests/cli/server.sh"
  > python3 -c 'import socket; socket.socket(socket.AF_INET6).bind(("::1", 0))' 2>/dev/null || { echo translated; exit; }
  > serve --listen '[::1]:0'
  > ask -d text='Guten Morgen!' -d target=en "$url/v1/translate" | grep 'Good morning!' > /dev/null && echo translated
  translated

SIGTERM while 20 requests are in work: 20 answers, then exit 0.

  $ . "$TOP/tests/cli/server.sh"; serve --threads 1
  > head -n 20 "$TOP/bench/sentences.de" > lines
  > python3 - "$server" "${url##*:}" <<'END'
  > import http.client, json, os, signal, sys, threading, time
  > lines = [x.strip() for x in open("lines", encoding="utf-8")]
  > statuses = [0] * len(lines)
  > def ask(i):
  >     c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]), timeout=120)
  >     c.request("POST", "/v1/translate", json.dumps({"texts": [lines[i]], "target": "en"}), {"Content-Type": "application/json"})
  >     a = c.getresponse()
  >     body = a.read()
  >     statuses[i] = a.status
  >     if a.status != 200 or not json.loads(body)["translations"][0]["text"]: print(a.status, body)
  > threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(lines))]
  > for t in threads: t.start()
  > def queued():
  >     c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]))
  >     c.request("GET", "/metrics")
  >     return int(c.getresponse().read().decode().split("\nskmt_queue_texts ")[1].split("\n")[0])
  > for _ in range(6000):
  >     if queued() + sum(s != 0 for s in statuses) >= len(lines): break
  >     time.sleep(0.01)
  > print("before:", sum(s == 0 for s in statuses) > 0)
  > os.kill(int(sys.argv[1]), signal.SIGTERM)
  > for t in threads: t.join()
  > print(sum(s == 200 for s in statuses), "answers")
  > END
  > wait "$server"; echo "status $?"; server=
  before: True
  20 answers
  status 0

After SIGTERM no connection is accepted.

  $ . "$TOP/tests/cli/server.sh"; serve; stop_server; ask "$url/health" 2>/dev/null
  [7]

A second signal ends it at once.

  $ . "$TOP/tests/cli/server.sh"; serve --threads 1 --handlers 4
  > python3 -c 'import json; print(json.dumps({"target": "en", "texts": [x.strip() + " " + str(i) for x in open("lines") for i in range(12)]}))' > long.json
  > ask -d @long.json -H 'Content-Type: application/json' "$url/v1/translate" > /dev/null 2>&1 & curl=$!
  > for _ in $(seq 1000); do ask "$url/metrics" | grep '^skmt_queue_texts [1-9]' > /dev/null && break; sleep 0.05; done
  > kill "$server"; sleep 1; kill "$server"; wait "$server"; echo "status $?"; server=; wait $curl
  status 143
  [52]

Programs such as timeout(1) send the signal to the process and to its group; that
is one signal.

  $ . "$TOP/tests/cli/server.sh"; serve --log-level info
  > kill "$server"; kill "$server" 2> /dev/null; wait "$server"; echo "status $?"; server=
  > grep -c stopping serve.log
  status 0
  1

With --drain-seconds 0, what is in work is canceled.

  $ . "$TOP/tests/cli/server.sh"; serve --threads 1 --drain-seconds 0
  > ask -d @long.json -H 'Content-Type: application/json' "$url/v1/translate" > /dev/null 2>&1 & curl=$!
  > for _ in $(seq 1000); do ask "$url/metrics" | grep '^skmt_queue_texts [1-9]' > /dev/null && break; sleep 0.05; done
  > stop_server; echo "status $?"; wait $curl || true
  status 0

READY=1 and STOPPING=1 are sent to $NOTIFY_SOCKET.

  $ . "$TOP/tests/cli/server.sh"
  > python3 -c 'import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify"); [print(s.recv(100).decode().strip(), flush=True) for _ in range(2)]' > states & python=$!
  > until [ -e notify ]; do sleep 0.05; done
  > export NOTIFY_SOCKET=$PWD/notify
  > serve; stop_server; wait $python; cat states
  READY=1
  STOPPING=1

A configuration file, with a memory that is created.

  $ . "$TOP/tests/cli/server.sh"
  > printf 'memory = new.tm\nlog-level = warn\n' > serve.conf
  > serve --config serve.conf
  > ask -d source='Guten Morgen!' -d corrected='Hello there!' "$url/v1/feedback" > /dev/null
  > ask -d text='Guten Morgen!' -d target=en "$url/v1/translate" | grep -o '"text":"Hello there!"'
  > stop_server; skmt tm export new.tm --format tsv | cut -f 1,2
  "text":"Hello there!"
  Guten Morgen!	Hello there!

A memory in other languages than the models is not used, and the log says so.

  $ . "$TOP/tests/cli/server.sh"; skmt tm create it.tm --source-lang it --target-lang fr > /dev/null 2>&1
  > serve --memory it.tm --log-level warn; stop_server; grep -c 'it.tm has no memory in the languages of a model' serve.log
  1

HTTPS.

  $ . "$TOP/tests/cli/server.sh"
  > openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2> /dev/null
  > serve --tls-cert cert.pem --tls-key key.pem
  > echo "$url" | sed 's/:[0-9]*$//'
  > ask --cacert cert.pem "$url/ready"; echo
  > ask "http://${url#https://}/ready" > /dev/null 2>&1 || echo no plain text
  https://127.0.0.1
  {"status":"ready"}
  no plain text

A certificate that cannot be read.

  $ skmt serve --listen 127.0.0.1:0 --tls-cert missing.pem --tls-key key.pem
  skmt: cannot read missing.pem* (glob)
  [1]

  $ echo nonsense > bad.pem; skmt serve --listen 127.0.0.1:0 --tls-cert bad.pem --tls-key key.pem
  skmt: * (glob)
  [1]

A memory file that is damaged.

  $ echo nonsense > bad.tm; skmt serve --listen 127.0.0.1:0 --memory bad.tm
  skmt: * (glob)
  [1]

SIGHUP makes it read the keys again.

  $ . "$TOP/tests/cli/server.sh"
  > skmt serve --keys keys --new-key alice > alice 2> /dev/null
  > serve --keys keys
  > status() { ask -o /dev/null -w '%{http_code}\n' -H "X-Api-Key: $(cat $1)" "$url/v1/memories"; }
  > status alice
  > skmt serve --keys keys --new-key bob > bob 2> /dev/null
  > status bob
  > kill -HUP "$server"
  > until grep -q 'keys read again' serve.log; do sleep 0.05; done
  > status bob
  200
  403
  200

Also if it comes while the server loads: here it makes the memories of 200 keys.

  $ . "$TOP/tests/cli/server.sh"
  > mkdir many; for i in $(seq 200); do printf '{"key":%d,"name":"k%d","hash":"sha256:%032d:%064d"}\n' $i $i 0 0; done > many/keys
  > (until [ -e many/k1.tm ]; do sleep 0.01; done; skmt serve --keys many/keys --new-key late > late 2> /dev/null; kill -HUP "$(cat pid)") &
  > sh -c 'echo $$ > pid; exec "$@"' - skmt serve --listen 127.0.0.1:0 --keys many/keys 2> serve.log &
  > server=$!
  > for tries in $(seq 400); do ! grep -q 'keys read again' serve.log || ! grep -q '^skmt: listening' serve.log || break; sleep 0.05; done
  > url=$(sed -n 's|^skmt: listening on \(.*\)/$|\1|p' serve.log)
  > ask -o /dev/null -w '%{http_code}\n' -H "X-Api-Key: $(cat late)" "$url/v1/memories"
  200

A server that may use none of the memories of its file finds nothing.

  $ . "$TOP/tests/cli/server.sh"; serve --memory main.tm
  > ask -d source=Haus -d corrected=house "$url/v1/feedback"; echo; stop_server
  > serve --memory main.tm --name other
  > ask "$url/tmserver/de/en/unit/Haus"; echo
  > ask "$url/v1/search?q=Haus&source=de&target=en"; echo
  > ask "$url/v1/memories"; echo; stop_server
  {"id":1,"memory":"main"}
  []
  {"matches":[]}
  {"memories":[]}

The texts of a list count for the rate limit, too.

  $ . "$TOP/tests/cli/server.sh"; serve --memory list.tm --rate 5
  > python3 -c 'import json; print(json.dumps([{"source": f"{i} " * 500, "target": "x"} for i in range(9)]))' > list.json
  > post() { ask -o /dev/null -w '%{http_code}\n' -H 'Content-Type: application/json' -d @list.json "$url/tmserver/de/en/store/a"; }
  > post; post
  200
  429
