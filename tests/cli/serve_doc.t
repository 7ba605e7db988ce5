# needs: model python3 curl
Every example of docs/api-http.md has the answer that the document shows.

  $ python3 "$TOP/tests/web/doc.py"
  * passed, 0 failed (glob)
