# needs: model python3
exp/systems compares systems. It writes its table between two marks of a file.
The program of these cases has no 'knn train', so nothing is tuned.

  $ printf '#!/bin/sh\ncase "$1 $2" in\n"help options") skmt "$@" | grep -v "^translate.index\\|^knn-train\\|^knn-index" ;;\n*) exec skmt "$@" ;;\nesac\n' > less; chmod +x less
  $ printf '# Mine\n\n<!-- table: begin -->\nold\n<!-- table: end -->\n\nA note.\n' > T.md
  $ sys() { "$TOP/exp/systems" --skmt ./less --out out --table T.md --timed 2 --timed-store 1 --batches 1,4 "$@" 2>&1 | tail -1; }; declare -f sys > sys.sh
  $ . ./sys.sh; sys --sets small --systems nmt,sk2,vanilla,fast,chunk,kok | sed 's/^[1-9][0-9]* /N /'
  N commands run
  $ sed 's/[0-9][0-9.]*\(, [0-9.]*\)*/N/g' T.md | grep -v '^.*; p:' | sed 's/\[N\]/[I]/g'
  # Mine
  
  <!-- table: begin -->
  
  ### small, N lines
  
  | system | BLEU | chrF | entries | MB | build s | train s | resident MB | ms, batch N | ms, batch N |
  |---|---|---|---|---|---|---|---|---|---|
  | nmt | N [I], p N | N [I], p N |  |  |  |  | N | N (Nx) | N (Nx) |
  | skN | N [I] | N [I] |  | N | N |  | N | N (Nx) | N (Nx) |
  | vanilla | N [I], p N | N [I], p N | N | N | N |  | N | N (Nx) | N (Nx) |
  | fast | N [I], p N | N [I], p N | N | N | N |  | N | N (Nx) | N (Nx) |
  | chunk | N [I], p N | N [I], p N | N | N | N |  | N | N (Nx) | N (Nx) |
  | kok | needs corrections |
  <!-- table: end -->
  
  A note.

The scores and sizes are those of the commands.

  $ cut -f 1 "$TOP/tests/data/small/test.tsv" | skmt translate --datastore out/small.knn > v; cmp v out/small.vanilla.out; cut -f 2 "$TOP/tests/data/small/test.tsv" > ref; skmt score --ref ref --metrics bleu v | awk '$2 == "BLEU" { printf "%s [%s, %s]\n", $3, $4, $5; exit }' > want; grep -c -F "$(cat want)" T.md
  1

A second run has nothing to do. Another program, or other lines, make it run
again; with --version it does not matter which program it is.

  $ cp T.md before; . ./sys.sh; sys --sets small --systems nmt,sk2,vanilla,fast,chunk,kok; cmp before T.md
  0 commands run
  $ . ./sys.sh; sys --sets small --systems nmt --lines 3; grep -c '3 lines' T.md
  4 commands run
  1
  $ . ./sys.sh; sys --sets small --systems nmt --version a > n; (cat less; echo "# other") > other; chmod +x other; "$TOP/exp/systems" --skmt ./other --out out --table - --timed 2 --timed-store 1 --batches 1,4 --sets small --systems nmt --version a 2>&1 > shown | tail -1; grep -c '^| nmt' shown
  0 commands run
  1

An output that was changed is made again.

  $ . ./sys.sh; echo x >> out/small.nmt.out; sys --sets small --systems nmt --version a
  1 commands run

Documents that learn from their corrections.

  $ . ./sys.sh; sys --sets small-docs --systems nmt,sk2,kok,vanilla,chunk > n; grep '^|' T.md | cut -d '|' -f 2 | tr -d ' ' | paste -sd ' '; grep chunk T.md
  system --- nmt sk2 kok vanilla chunk
  | chunk | does not learn |

A system that the program does not have is named; a set that does not exist is an
error, and the other sets are still compared.

  $ SKMT_SHARED=/nowhere "$TOP/exp/systems" --skmt ./less --out out --table T.md --timed 1 --timed-store 1 --batches 1 --sets koran,small --systems nmt,vanilla-index,adaptive 2> /dev/null; echo $?; sed -n '/koran/,/nmt/p' T.md | sed 's/nmt.*/nmt/'; grep 'not in' T.md
  1
  ### koran
  
  /nowhere/corpora/koran/tm.tsv.xz does not exist
  
  ### small, 10 lines
  
  | system | BLEU | chrF | entries | MB | build s | train s | resident MB | ms, batch 1 |
  |---|---|---|---|---|---|---|---|---|
  | nmt
  | vanilla-index | not in this program: --index |
  | adaptive | not in this program: skmt knn train |
  $ . ./sys.sh; sys --systems none; sys --sets none
  systems: error: unknown system none; there are nmt, sk1, sk2, learned, vanilla, vanilla-index, adaptive, fast, efficient, chunk, kok, pieces, pieces-normalized
  systems: error: unknown set none; there are koran, law, it, small, emea, small-docs
  $ . ./sys.sh; echo nothing > T.md; sys --sets small --systems nmt --version a; cat T.md
  T.md has no lines <!-- table: begin --> and <!-- table: end -->
  nothing
