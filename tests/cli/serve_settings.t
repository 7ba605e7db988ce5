What is wrong with the settings of a server is said in a sentence, before it
listens. See test_settings.c for which setting wins.

  $ skmt serve --listen 127.0.0.1
  skmt: --listen: '127.0.0.1' does not end in a port from 0 to 65535
  [2]

  $ skmt serve --listen example.org:80
  skmt: --listen: 'example.org:80' is not an address such as 127.0.0.1:8080 or [::1]:8080
  [2]

  $ skmt serve --listen 0.0.0.0:0
  skmt: other machines can reach 0.0.0.0:0, and there are no keys; give --keys FILE, or --no-auth if everybody may use the server
  [2]

  $ skmt serve --lisen 1
  skmt: serve: unknown option '--lisen'; did you mean '--listen'?
  [2]

  $ skmt serve my.tm
  skmt: serve: unexpected argument 'my.tm'; see 'skmt help serve'
  [2]

  $ skmt serve --max-text 10X
  skmt: --max-text: '10X' is not a size such as 4096 or 4M
  [2]

  $ skmt serve --max-body 99G
  skmt: --max-body: 99G is not from 1024 to 1073741824
  [2]

  $ skmt serve --handlers 0
  skmt: --handlers: 0 is not from 1 to 4096
  [2]

  $ skmt serve --log-level loud
  skmt: --log-level: 'loud' is not one of error|warn|info|debug
  [2]

  $ skmt serve --beam 99
  skmt: --beam: * (glob)
  [2]

  $ skmt serve --tls-cert cert.pem
  skmt: --tls-cert and --tls-key must be given together
  [2]

  $ skmt serve --cors example.org
  skmt: --cors: 'example.org' is not an origin such as https://example.org, or *
  [2]

  $ skmt serve --keys keys --no-auth
  skmt: --keys and --no-auth cannot be used together
  [2]

  $ skmt serve --keys keys --memory my.tm
  skmt: --keys and --memory cannot be used together: each key has a memory of its own, in the folder of --data
  [2]

  $ skmt serve --new-key alice
  skmt: --new-key needs --keys FILE
  [2]

The configuration file. Errors name the file and the line.

  $ printf '# settings\n\nlisten = 127.0.0.1:0\nmax-texts = many\n' > a.conf
  > skmt serve --config a.conf
  a.conf:4: max-texts: 'many' is not a whole number
  [2]

  $ printf 'max-text 100\n' > b.conf; skmt serve --config b.conf
  b.conf:1: expected 'name = value'
  [2]

  $ printf 'max-txt = 100\n' > b.conf; skmt serve --config b.conf
  b.conf:1: unknown setting 'max-txt'; did you mean 'max-text'?
  [2]

  $ printf 'rate = 1\nbeam = 2\nrate = 2\n' > b.conf; skmt serve --config b.conf
  b.conf:3: rate was already set in b.conf:1
  [2]

  $ printf 'beam = no\n' > b.conf; skmt serve --config b.conf
  b.conf:1: beam: * (glob)
  [2]

  $ printf 'no-auth = perhaps\n' > b.conf; skmt serve --config b.conf
  b.conf:1: no-auth: 'perhaps' is not yes or no
  [2]

  $ printf 'config = c.conf\n' > b.conf; skmt serve --config b.conf
  b.conf:1: config can be given on the command line only
  [2]

  $ skmt serve --config missing.conf
  skmt: reading missing.conf: No such file or directory
  [1]

  $ SKMT_SERVE_MAX_TEXT=much skmt serve
  skmt: SKMT_SERVE_MAX_TEXT: max-text: 'much' is not a size such as 4096 or 4M
  [2]

  $ SKMT_SERVE_MAXTEXT=100 skmt serve
  skmt: SKMT_SERVE_MAXTEXT: unknown setting 'maxtext'; did you mean 'max-text'?
  [2]

The help page and the list of options have all settings.

  $ skmt help serve | grep -c -e '--listen ADDR:PORT' -e '--max-body BYTES' -e '--beam N' -e '--threads N'
  4

  $ skmt help options | grep -c '^serve	\(listen\|threads\|beam\)	'
  3

A model that does not exist.

  $ SKMT_SERVE_MODEL=missing skmt serve --listen 127.0.0.1:0 2>&1 | head -n 1
  skmt: model 'missing' not found; 'skmt model list' lists the models, and --model FILE takes any file; there is no missing.skmt in * (glob)

  $ skmt serve --listen 127.0.0.1:0 --model missing 2>/dev/null
  [3]

A key is printed once. The file has only its hash.

  $ skmt serve --keys keys --new-key alice > key; wc -l < key; grep -c "$(cat key)" keys
  skmt: added a key for alice to keys; it is shown only this once. Send SIGHUP to a running server to make it read the file
  1
  0
  [1]
