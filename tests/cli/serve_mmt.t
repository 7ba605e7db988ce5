# needs: model python3
The server speaks ModernMT's API: every route, and every error in its envelope.

  $ python3 "$TOP/tests/web/mmt.py"
  * passed, 0 failed (glob)
