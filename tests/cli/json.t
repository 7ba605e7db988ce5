# needs: model python3
Each line is one JSON object, no matter what the text contains.

  $ cat > keys.py <<'END'
  > import json, sys
  > for line in sys.stdin.buffer:
  >     o = json.loads(line.decode("utf-8"))
  >     print(o["line"], " ".join(o), len(o["segments"]))
  > END
  $ printf 'Guten Morgen! Vielen Dank.\n\nAh "so" \\ \x01 \xff?\n' | skmt translate --json --invalid=replace | python3 keys.py
  1 line text score logprob segments 2
  2 line text score logprob segments 0
  3 line text score logprob segments 1

Positions are bytes: of the input line for a sentence and its source pieces, of
the translation for the tokens.

  $ cat > spans.py <<'END'
  > import json, sys
  > source = open(sys.argv[1], "rb").read().rstrip(b"\n")
  > o = json.load(sys.stdin)
  > text = o["text"].encode()
  > for s in o["segments"]:
  >     print(source[s["begin"]:s["end"]].decode())
  >     assert s["begin"] <= s["source"][0]["begin"]
  >     assert s["source"][-1]["end"] <= s["end"]
  >     joined = b"".join(text[t["begin"]:t["end"]] for t in s["tokens"])
  >     print(joined.decode().strip())
  >     assert all(t["logprob"] <= 0 for t in s["tokens"])
  > total = sum(t["logprob"] for s in o["segments"] for t in s["tokens"])
  > assert abs(total - o["logprob"]) < 1e-3 * max(1, abs(total)), (total, o["logprob"])
  > assert abs(sum(s["score"] for s in o["segments"]) - o["score"]) < 1e-4
  > END
  $ echo 'Guten Morgen! Vielen Dank.' > a
  $ skmt translate --json a | python3 spans.py a
  Guten Morgen!
  Good morning!
  Vielen Dank.
  Thank you very much.

N-best lists and attention are included on request.

  $ cat > more.py <<'END'
  > import json, sys
  > o = json.load(sys.stdin)
  > print(len(o["nbest"]), o["nbest"][0]["text"] == o["text"])
  > scores = [h["score"] for h in o["nbest"]]
  > assert scores == sorted(scores, reverse=True)
  > for h in o["nbest"]:
  >     for s, first in zip(h["segments"], o["segments"]):
  >         for t in s["tokens"]:
  >             assert abs(sum(t["attention"]) - 1) < 1e-3
  >             assert len(t["attention"]) == len(first["source"]) + 1
  > END
  $ skmt translate --json --nbest 3 --attention a | python3 more.py
  3 True

  $ skmt translate --json a | grep -c 'attention\|nbest'
  0
  [1]

Statistics are JSON, too.

  $ skmt translate --stats a 2>&1 >/dev/null | python3 -c 'import json,sys; o = json.load(sys.stdin); print(o["sentences"], o["tokens"] > 4, o["decode_seconds"] > 0, o["peak_rss_mb"] > 1)'
  2 True True True
