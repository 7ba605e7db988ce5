The man page is well-formed.

# needs: man

  $ man --warnings -l "$TOP/docs/man/skmt.1" 2>&1 > /dev/null
