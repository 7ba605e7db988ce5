# needs: model python3
The server speaks ModernMT's API: every route, and every error in its envelope.

  $ python3 "$TOP/tests/web/mmt.py"
  * passed, 0 failed (glob)

Random arguments are refused in the form of the API.

  $ python3 "$TOP/tests/web/random_calls.py" 1000 1 2>/dev/null
  3 passed, 0 failed
