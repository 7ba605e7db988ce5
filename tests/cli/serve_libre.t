# needs: model python3
The server speaks the APIs of LibreTranslate, tmserver, amaGama, Apertium and
OPUS-CAT: every route, every form of error, and requests as Weblate, OmegaT and
Virtaal send them.

  $ python3 "$TOP/tests/web/libre.py"
  * passed, 0 failed (glob)
