The help pages of the tm commands.

  $ skmt tm | head -1
  Usage: skmt tm COMMAND MEM [OPTIONS] ...

Without a subcommand, the page is shown with an error status; with --help it is
a success.

  $ skmt tm > /dev/null
  [2]

  $ skmt tm --help | cmp - <(skmt help tm); skmt tm -h | cmp - <(skmt help tm)

Every subcommand of the overview has a page with an example; -h shows the same
page.

  $ commands=$(skmt help tm | awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'); echo $commands
  create import search add edit delete show export stats list set drop check rebuild compact recover warm
  $ for c in $(skmt help tm | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do skmt help tm $c | head -1 | grep -q "^Usage: skmt tm $c \(MEM\|OLD\)" || echo "$c: usage"; skmt help tm $c | grep -q "^  skmt tm $c my.tm\|^  zcat" || echo "$c: example"; skmt tm $c --help | cmp - <(skmt help tm $c); skmt tm $c -h | cmp - <(skmt help tm $c); done

  $ for c in $(skmt help tm | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do skmt help tm $c | awk 'length > 79' | grep -v 'skmt tm'; done
  [1]

Every option of the list is on its page.

  $ skmt help options | awk -F '\t' '$1 ~ /^tm-/ { print substr($1, 4), $2 }' | while read c o; do skmt help tm $c | grep -q -e "--\(\[\?no-\]\?\)\?$o\b" || echo "no $o in $c"; done

A page is shown with and without a memory file.

  $ skmt tm show my.tm --help | head -1
  Usage: skmt tm show MEM ID

Misspelled words get a suggestion.

  $ skmt tm serch my.tm
  skmt: unknown command 'tm serch'; did you mean 'tm search'?
  [2]

  $ skmt tm frobnicate
  skmt: unknown command 'tm frobnicate'; see 'skmt help tm'
  [2]

  $ skmt help tm imprt
  skmt: no help page for 'tm imprt'; did you mean 'tm import'?
  [2]

  $ skmt tm import --fuzy my.tm a.po
  skmt: tm import: unknown option '--fuzy'; did you mean '--fuzzy'?
  [2]

  $ skmt tm search --candidate 3 my.tm x
  skmt: tm search: unknown option '--candidate'; did you mean '--candidates'?
  [2]

  $ skmt tm list --frobnicate my.tm
  skmt: tm list: unknown option '--frobnicate'; see 'skmt help tm list'
  [2]

Missing operands and options are named.

  $ skmt tm import my.tm
  skmt: tm import needs MEM and FILE; see 'skmt help tm import'
  [2]

  $ skmt tm list
  skmt: tm list needs MEM; see 'skmt help tm list'
  [2]

  $ skmt tm list ''
  skmt: tm list needs MEM; see 'skmt help tm list'
  [2]

  $ skmt tm list a.tm b.tm
  skmt: tm list: unexpected operand 'b.tm'; see 'skmt help tm list'
  [2]

  $ skmt tm add my.tm 'Guten Tag'
  skmt: tm add needs both SOURCE and TARGET, or neither to read standard input; see 'skmt help tm add'
  [2]

  $ skmt tm show my.tm seven
  skmt: ID: 'seven' is not a whole number of 1 or more
  [2]

  $ skmt tm delete my.tm 1 99999999999999999999
  skmt: ID: '99999999999999999999' is not a whole number of 1 or more
  [2]

  $ skmt tm edit my.tm 1
  skmt: tm edit needs --source TEXT, --target TEXT or both
  [2]

  $ skmt tm delete my.tm
  skmt: tm delete needs either IDs, or options that select pairs, or --all; see 'skmt help tm delete'
  [2]

  $ skmt tm delete my.tm --all 7
  skmt: tm delete needs either IDs, or options that select pairs, or --all; see 'skmt help tm delete'
  [2]

  $ skmt tm set my.tm
  skmt: tm set needs at least one of --priority, --source-lang, --target-lang and --rename
  [2]

  $ skmt tm drop my.tm
  skmt: tm drop needs --name NAME; 'skmt tm list my.tm' lists the names
  [2]

  $ skmt tm search my.tm --color=red x
  skmt: --color: 'red' is not auto, always or never
  [2]

  $ skmt tm search my.tm --matches -1 x
  skmt: --matches: * (glob)
  [2]

  $ skmt tm search my.tm --file a b
  skmt: tm search: TEXT and --file cannot be used together
  [2]

  $ skmt tm import my.tm x --format doc
  skmt: --format: * (glob)
  [2]

  $ skmt tm import my.tm x --rejects r
  skmt: --rejects needs --skip-bad
  [2]

  $ skmt tm create my.tm --priority high
  skmt: --priority: 'high' is not a whole number
  [2]

  $ skmt tm export my.tm --json
  skmt: --json needs -o FILE: without it, the pairs go to standard output
  [2]

None of these commands has created a file.

  $ ls

If the memory does not exist, the message says how to create one.

  $ for c in list check stats rebuild compact 'show 1' 'add a b' 'search a' 'import x.tmx' 'delete 1' export; do set -- $c; skmt tm $1 my.tm $2 $3; done 2>&1 | sort | uniq -c | sed 's/^ *//'
  11 skmt: my.tm does not exist; create it with 'skmt tm create my.tm'

  $ ls

A file that is not a memory is rejected and not changed.

  $ echo 'not a database, but long enough to look like something' > text; cp text before
  $ skmt tm list text
  skmt: text: * (glob)
  [1]
  $ skmt tm add text a b
  skmt: text: * (glob)
  [1]
  $ cmp text before
  $ skmt tm list .
  skmt: .: * (glob)
  [1]
