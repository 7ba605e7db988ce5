# needs: model plain /usr/bin/python3
The library can be used from Python with ctypes.

  $ /usr/bin/python3 "$TOP/examples/ctypes_demo.py" "$BUILD/libskmt.so" "$SKMT_MODEL" 'Guten Morgen!'
  Good morning!
