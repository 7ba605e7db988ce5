# needs: model plain /usr/bin/python3
The library from another language, without a line of C.

  $ /usr/bin/python3 "$TOP/examples/ctypes_demo.py" "$BUILD/libskmt.so" "$SKMT_MODEL" 'Guten Morgen!'
  Good morning!
