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

Requests of several threads, with options of their own.

  $ "$BUILD/examples/service" "$SKMT_MODEL" 'Guten Morgen!' | head -4
  beam 1: Good morning!
  beam 2: Good morning!
  beam 4: Good morning!
  beam 4: Good morning.

  $ "$BUILD/examples/service" nowhere.skmt 'Guten Morgen!'
  nowhere.skmt: No such file or directory
  [1]

A memory finds what was stored a moment ago, and shows how it differs.

  $ "$BUILD/examples/memory" my.tm 'Guten Tag, Welt.' 'Good day, world.'

  $ "$BUILD/examples/memory" my.tm 'Guten Abend, Welt!'
  60%  Good day, world.
        Guten [-Tag-]{+Abend+}, Welt[-.-]{+!+}

  $ "$BUILD/examples/memory" my.tm ''

  $ "$BUILD/examples/memory" nowhere/my.tm 'Guten Tag'
  nowhere/my.tm: * (glob)
  [1]

A memory steers a translation; the target of an identical sentence is reused.

  $ "$BUILD/examples/steer" "$SKMT_MODEL" my.tm 'Guten Tag, Welt.'
  Good day, world.
  100% similar, reused: Guten Tag, Welt. = Good day, world.

  $ "$BUILD/examples/steer" "$SKMT_MODEL" my.tm 'Guten Tag, Freunde.' | grep similar
  *% similar: Guten Tag, Welt. = Good day, world. (glob)

  $ "$BUILD/examples/steer" "$SKMT_MODEL" nowhere.tm 'Guten Tag'
  nowhere.tm: * (glob)
  [1]
