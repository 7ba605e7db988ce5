# needs: python3
The golden numbers of the parts of kNN-MT systems are what independent programs
print. The unit tests compare the parts with these numbers.

  $ python3 "$TOP/tools/check_pca.py" | cmp - "$TOP/tests/golden/pca.txt"
  $ python3 "$TOP/tools/check_merge.py" | cmp - "$TOP/tests/golden/merge.txt"
  $ python3 "$TOP/tools/check_pieces.py" | cmp - "$TOP/tests/golden/pieces.txt"
  $ python3 "$TOP/tools/check_cache.py" | cmp - "$TOP/tests/golden/cache.txt"
  $ python3 "$TOP/tools/check_chunks.py" | cmp - "$TOP/tests/golden/chunks.txt"
  $ python3 "$TOP/tools/check_fast.py" | cmp - "$TOP/tests/golden/fast.txt"
