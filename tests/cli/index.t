# needs: model plain python3
skmt knn index makes an IVF-PQ index, with the plug-in for Faiss. Without the
plug-in, only the messages are tested.

  $ skmt tm create my.tm > /dev/null; skmt tm import my.tm "$TOP/tests/data/small/memory.tsv" --quiet > /dev/null; skmt knn build --memory my.tm -o my.knn -q > /dev/null; cp my.knn old.knn
  $ printf 'Wie geht es Ihnen heute?\tHow are you today?\n' > more.tsv; skmt knn add my.knn more.tsv -f tsv --no-header -q > /dev/null
  $ skmt knn index
  skmt: knn index needs --datastore STORE; see 'skmt help knn index'
  [2]
  $ skmt knn index --datastore my.knn -o my.knn
  skmt: knn index: the output is the datastore
  [2]
  $ skmt knn index --datastore my.knn --lists 0
  skmt: --lists: '0' is not a whole number of 1 or more
  [2]
  $ skmt knn index --datastore none.knn
  skmt: none.knn: No such file or directory
  [1]

A datastore with too few entries.

  $ printf 'Guten Tag\tGood day\n' > a.tsv; skmt tm create a.tm > /dev/null; skmt tm import a.tm a.tsv -f tsv --no-header -q > /dev/null; skmt knn build --memory a.tm -o a.knn -q > /dev/null; skmt knn index --datastore a.knn
  skmt: the datastore has 3 entries; an index needs at least 256, and so small a datastore is searched faster without one
  [2]

Options of translate.

  $ echo Hallo | skmt translate --index my.knn.index
  skmt: --index needs --datastore
  [2]
  $ echo Hallo | skmt translate --datastore my.knn --probes 3
  skmt: --probes needs --index
  [2]
  $ echo Hallo | skmt translate --datastore my.knn --index my.knn.index --rerank 65
  skmt: --rerank: '65' is not a whole number from 0 to 64
  [2]
  $ echo Hallo | skmt translate --datastore my.knn --index a.tsv
  skmt: a.tsv is not an index of a datastore; 'skmt knn index' makes one
  [1]

The plug-in is missing, or it is something else. Other commands do not need it.

  $ mkdir none; SKMT_PLUGINS=none skmt knn index --datastore my.knn
  skmt: an IVF-PQ index needs the plug-in skmt-faiss.so, which is missing; install Debian's libfaiss-dev and build skmt again, or set SKMT_PLUGINS to the folder of the plug-in
  [2]
  $ echo text > none/skmt-faiss.so; SKMT_PLUGINS=none skmt knn index --datastore my.knn
  skmt: the plug-in cannot be loaded (none/skmt-faiss.so: *); install Debian's libfaiss-dev (glob)
  [1]
  $ echo 'Guten Morgen!' | SKMT_PLUGINS=none skmt translate --datastore my.knn
  Good morning.
