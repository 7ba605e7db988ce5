# needs: model
What the examples show is what they do.

  $ "$BUILD/examples/translate" "$SKMT_MODEL" 'Guten Morgen!'
  Good morning!

  $ "$BUILD/examples/translate" nowhere.skmt 'Guten Morgen!'
  nowhere.skmt: No such file or directory
  [1]

  $ "$BUILD/examples/session" "$SKMT_MODEL" 'Guten Morgen!' | head -1
  Good morning!

  $ printf 'Guten Morgen!\nVielen Dank.\n' | "$BUILD/examples/stream" "$SKMT_MODEL"
  Good morning!
  Thank you very much.

  $ "$BUILD/examples/translate_cc" "$SKMT_MODEL" 'Guten Morgen!' 'Vielen Dank.'
  Good morning!
  Thank you very much.
