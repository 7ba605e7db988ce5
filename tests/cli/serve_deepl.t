# needs: model python3
The server speaks DeepL's API, and refuses what it does not offer in DeepL's form.

  $ python3 "$TOP/tests/web/deepl.py"
  * passed, 0 failed (glob)
