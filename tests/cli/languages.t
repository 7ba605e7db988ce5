# needs: model
A memory has languages, and so has a model. They must be the same, however they
are written.

  $ skmt tm create my.tm -s deu_Latn -t en-GB > /dev/null
  $ printf 'Der Vertrag endet.\tThe contract is over.\n' | skmt tm import my.tm - > /dev/null
  $ echo 'Der Vertrag endet.' | skmt translate --memory my.tm
  The contract is over.

A memory of other languages is refused, by everything that uses it with a model.

  $ skmt tm create other.tm -s fr -t de > /dev/null
  $ printf 'Der Vertrag endet.\tLe contrat prend fin.\n' | skmt tm import other.tm - > /dev/null
  $ echo 'Der Vertrag endet.' | skmt translate --memory other.tm
  skmt: the memory "main" is from fr to de, but the model translates from de to en; use a memory and a model of the same languages, or set option any-language
  [2]
  $ echo 'Der Vertrag endet.' > a.de; echo 'The contract ends.' > a.en; paste a.de a.en > a.tsv
  $ for c in 'tm warm other.tm --key-file k' 'knn build --memory other.tm -o s' 'learn --memory other.tm a.de'; do skmt $c 2>&1 < /dev/null | cut -d';' -f1; done
  skmt: the memory "main" is from fr to de, but the model translates from de to en
  skmt: the memory "main" is from fr to de, but the model translates from de to en
  skmt: the memory "main" is from fr to de, but the model translates from de to en
  $ ls s k
  ls: * (glob)
  ls: * (glob)
  [2]
  $ skmt tune --memory other.tm --dev a.tsv 2>&1 | cut -d';' -f1
  skmt: the memory "main" is from fr to de, but the model translates from de to en
  $ echo 'Der Vertrag endet.' | skmt translate --memory other.tm --any-language
  Le contrat prend fin.

If a file has several memories, those that fit are used. A memory that is named
must fit.

  $ skmt tm create other.tm --name contracts -s de -t en > /dev/null
  $ printf 'Der Vertrag endet.\tThe contract is over.\n' | skmt tm import other.tm - --name contracts > /dev/null
  $ echo 'Der Vertrag endet.' | skmt translate --memory other.tm
  The contract is over.
  $ echo 'Der Vertrag endet.' | skmt translate --memory other.tm --name main 2>&1 | cut -d';' -f1
  skmt: the memory "main" is from fr to de, but the model translates from de to en
  $ skmt tm warm other.tm --key-file k | head -1
  1 pair computed, 0 already in the file, * (glob)
  $ skmt knn build --memory other.tm -o s | head -1
  1 pair stored, * (glob)
  $ skmt knn build --memory other.tm --any-language -o s2 | head -1
  2 pairs stored, * (glob)
  $ skmt learn --memory other.tm --corrections <(echo 'The dog sleeps.') -q <(echo 'Der Hund schläft.') > /dev/null
  $ skmt tm list other.tm | awk '{ print $2, $NF }'
  texts memory
  1 main
  2 contracts

If none fits, the message says what is missing.

  $ skmt tm create none.tm -s fr -t de > /dev/null; skmt tm create none.tm --name b -s en -t de > /dev/null
  $ echo x | skmt translate --memory none.tm
  skmt: none.tm: no memory is from de to en, the languages of the model; set option any-language to use memories of other languages
  [2]

A memory that 'skmt learn' creates has the languages of the model.

  $ skmt learn --memory new.tm a.de --corrections a.en -q > /dev/null; skmt tm list new.tm | tail -1 | tr -s ' '
   1 1 0 de > en main
