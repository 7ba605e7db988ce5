Requests that no honest client sends: each ends with a clear error or a closed
connection, and an ordinary request still works.

  $ "$BUILD/tools/tiny_model" tiny > log 2>&1; sed -i 's/"xx"/"de"/; s/"yy"/"en"/' tiny/config.json; skmt convert --from tiny -o de-en.skmt --quiet

  $ python3 "$TOP/tests/web/hostile.py" skmt ./de-en.skmt | sed 's/^[0-9]* passed/N passed/'
  N passed, 0 failed, 0 skipped
