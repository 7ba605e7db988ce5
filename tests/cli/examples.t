# needs: model
The examples work as they say.

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

A memory finds the pair that was just stored, and marks the differences.

  $ "$BUILD/examples/memory" my.tm 'Guten Tag, Welt.' 'Good day, world.'

  $ "$BUILD/examples/memory" my.tm 'Guten Abend, Welt!'
  60%  Good day, world.
        Guten [-Tag-]{+Abend+}, Welt[-.-]{+!+}

  $ "$BUILD/examples/memory" my.tm ''

  $ "$BUILD/examples/memory" nowhere/my.tm 'Guten Tag'
  nowhere/my.tm: * (glob)
  [1]

It steers a translation; an identical sentence is reused.

  $ "$BUILD/examples/steer" "$SKMT_MODEL" my.tm 'Guten Tag, Welt.'
  Good day, world.
  100% similar, reused: Guten Tag, Welt. = Good day, world.

  $ "$BUILD/examples/steer" "$SKMT_MODEL" my.tm 'Guten Tag, Freunde.' | grep similar
  *% similar: Guten Tag, Welt. = Good day, world. (glob)

  $ "$BUILD/examples/steer" "$SKMT_MODEL" nowhere.tm 'Guten Tag'
  nowhere.tm: * (glob)
  [1]
