# needs: model python3 curl
What one key stores is never seen by another: every route of every API is called
with another key, with a wrong key and without a key.

  $ python3 "$TOP/tests/web/keys_leak.py"
  * passed, 0 failed (glob)

A key is printed once; the file has its hash, and only its owner can read it.

  $ skmt serve --keys keys --new-key one > key; skmt serve --keys keys --new-key two 2>/dev/null >> key; cut -c 1-7 key
  skmt: added a key for one to keys; it is shown only this once. Send SIGHUP to a running server to make it read the file
  skmt-1-
  skmt-2-
  $ stat -c %a keys; sed 's/:[0-9a-f]\{32\}:[0-9a-f]\{64\}/:SALT:HASH/' keys
  600
  {"key":1,"name":"one","hash":"sha256:SALT:HASH"}
  {"key":2,"name":"two","hash":"sha256:SALT:HASH"}
  $ grep -c -F -f key keys
  0
  [1]
  $ skmt serve --keys keys --new-key one
  skmt: keys: there is a key with the name 'one' already; choose another name, or remove its line
  [2]

An error in the key file is told with its line.

  $ echo '{"key":3,"name":"three","wirte":false}' >> keys; skmt serve --listen 127.0.0.1:0 --keys keys
  skmt: keys:3: there is a field other than key, name, hash, write, memory and rate
  [1]

A wrong key counts once, also if the route needs none: an address has 20 a minute.

  $ . "$TOP/tests/cli/server.sh"; head -n 2 keys > two; serve --keys two
  > status() { ask -o /dev/null -w '%{http_code}\n' -H "X-Api-Key: skmt-1-wrong" "$url$1"; }
  > for i in $(seq 19); do status /health; done | sort -u
  > status /v1/memories; status /v1/memories
  200
  403
  429
