# needs: model python3
The server speaks its own API: every route, every error, progress, exports, and
explanations with the numbers of skmt translate.

  $ python3 "$TOP/tests/web/own.py"
  * passed, 0 failed (glob)
