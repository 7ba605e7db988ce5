# needs: model plain
The shipped model uses at most its own size plus 25 MB of memory with one
thread, batch 1 and beam 4. Unlike time, this can be tested on a busy machine.

  $ sed 's/.*"src": "\([^"]*\)".*/\1/' "$TOP/tests/golden/beam.jsonl" "$TOP/tests/golden/int8.jsonl" > text
  $ skmt translate --split none --batch 1 --beam 4 --threads 1 --stats text 2> stats | wc -l
  70
  $ sed 's/.*"peak_rss_mb":\([0-9.]*\).*/\1/' stats | awk -v n=$(stat -Lc %s "$SKMT_MODEL") '{ over = ($1 * 1048576 - n) / 1e6; print (over <= 25 ? "fits" : "file + " over " MB") }'
  fits
