# needs: curl /usr/bin/python3
Several pairs of languages. The models are tiny, with random weights.

  $ /usr/bin/python3 "$TOP/tools/gen_foreign.py" . hf-marian-shared marian-multi m2m100 > /dev/null
  > skmt convert -q --from hf-marian-shared -o de-en.skmt
  > skmt convert -q --from hf-marian-shared --source-lang fr --target-lang de -o fr-de.skmt
  > skmt convert -q --from m2m100 -o m2m.skmt
  > skmt convert -q --from marian-multi -o multi.skmt
  > ls *.skmt | paste -sd ' '
  de-en.skmt fr-de.skmt m2m.skmt multi.skmt

  $ cat > pairs.sh <<'END'
  > unset SKMT_MODEL
  > . "$TOP/tests/cli/server.sh"
  > pairs() { ask "$url/apertium/listPairs" | python3 -c 'import json, sys
  > print(*(p["sourceLanguage"] + "-" + p["targetLanguage"] for p in json.load(sys.stdin)["responseData"]))'; }
  > END

Two models: every API tells both pairs and chooses by the languages.

  $ . ./pairs.sh; serve -m fr-de.skmt -m de-en.skmt; pairs
  > ask "$url/languages"; echo
  > ask "$url/modernmt/languages"; echo
  > ask "$url/MTRestService/ListSupportedLanguagePairs"; echo
  > for p in fr-de de-en; do
  >     want=$(echo 'Das Licht ist grün.' | skmt translate -m $p.skmt)
  >     got=$(ask -d q='Das Licht ist grün.' -d source=${p%-*} -d target=${p#*-} "$url/translate")
  >     [ "$got" = "{\"translatedText\":\"$want\"}" ] && echo same
  > done
  > ask -d q=x -d source=fr -d target=en "$url/translate"; echo
  > ask --json '{"text": ["Guten Tag"], "target_lang": "EN-US"}' "$url/deepl/v2/translate" | cut -d, -f1
  > ask --json '{"text": ["Bonjour"], "target_lang": "DE"}' "$url/deepl/v2/translate" | cut -d, -f1
  > ask --json '{"text": ["Guten Tag"], "target_lang": "FR"}' "$url/deepl/v2/translate"; echo
  fr-de de-en
  [{"code":"fr","name":"French","targets":["de"]},{"code":"de","name":"German","targets":["en"]},{"code":"en","name":"English","targets":[]}]
  {"status":200,"data":{"fr":["de"],"de":["en"]}}
  ["fr-de","de-en"]
  same
  same
  {"error":"English (en) is not available as a target language from French (fr)"}
  {"translations":[{"detected_source_language":"DE"
  {"translations":[{"detected_source_language":"FR"
  {"message":"Value for 'target_lang' not supported."}

A target may be missing if the source has only one.

  $ . ./pairs.sh; serve -m fr-de.skmt -m de-en.skmt
  > for from in fr de; do ask -d text=Ja. -d source=$from "$url/v1/translate" | grep -o '"target":"[a-z]*"'; done
  > ask -d text=Ja. "$url/v1/translate" | grep -o '"message":"[^"]*"'
  "target":"de"
  "target":"en"
  "message":"target language is missing"

A multilingual model needs pairs. Each pair gives what the command line gives.

  $ . ./pairs.sh; skmt serve --listen 127.0.0.1:0 -m m2m.skmt
  skmt: m2m.skmt translates several languages; name those that are wanted with --pair FROM-TO
  [3]
  $ . ./pairs.sh; serve -m m2m.skmt --pair de-en --pair fra-en_US --pair en-de; pairs
  > for p in de-en fr-en en-de; do
  >     want=$(echo 'Das Licht ist grün.' | skmt translate -m m2m.skmt --from ${p%-*} --to ${p#*-})
  >     got=$(ask -d q='Das Licht ist grün.' -d source=${p%-*} -d target=${p#*-} "$url/translate")
  >     [ "$got" = "{\"translatedText\":\"$want\"}" ] && echo same; echo "$want" >> different
  > done
  > sort -u different | wc -l
  > ask "$url/metrics" | grep -c '^skmt_build_info'
  de-en fr-en en-de
  same
  same
  same
  3
  1

A model of one pair keeps its pair. Others go to the first model that has them.

  $ . ./pairs.sh; SKMT_SERVE_PAIR=de-fr,de-en,en-de,de-it serve -m multi.skmt -m m2m.skmt -m de-en.skmt; pairs
  > ask "$url/v1/info" | grep -o '"source":"[a-z]*","target":"[a-z]*","name":"[^"]*"'
  de-en de-fr en-de de-it
  "source":"de","target":"en","name":"de-en"
  "source":"de","target":"fr","name":"marian-multi"
  "source":"en","target":"de","name":"marian-multi"
  "source":"de","target":"it","name":"m2m100"

Without --model, a pair chooses an installed model.

  $ . ./pairs.sh; export SKMT_HOME=$PWD/home
  > for m in fr-de de-en; do skmt model add $m.skmt > /dev/null; done; serve --pair fr-de --pair de-en; pairs
  fr-de de-en

Each pair of a multilingual model has key files of its own.

  $ . ./pairs.sh; skmt tm create my.tm -s de -t en > /dev/null; skmt tm add my.tm 'Das Licht ist grün.' 'The light is green.' > /dev/null
  > serve -m m2m.skmt --pair de-en --pair de-fr -M my.tm --key-file keys
  > ask -d text='Das Licht ist blau.' -d source=de -d target=en "$url/v1/translate" | grep -c '"similarity":0.0[,}]'
  > ask -d text='Das Licht ist blau.' -d source=de -d target=fr "$url/v1/translate" | grep -c '"similarity":0.0[,}]'
  > stop_server; ls keys.* | sed 's/keys\.[0-9a-f]*\./keys.SUM./' | grep -v -e '-[a-z]*$'; ls keys.* | grep -c -e '\.de-en$' -e '\.de-fr$'
  0
  1
  2

A stored pair is used for its own languages only. So it needs languages, and a
memory without them gets those of its first pair.

  $ . ./pairs.sh; rm my.tm*; serve -m m2m.skmt --pair de-en --pair de-fr -M my.tm
  > store() { ask -d source="Der Hund." -d corrected="$1" "${@:2}" "$url/v1/feedback" | grep -o '"memory":"[^"]*"\|"message":"[^"]*"'; }
  > translation() { ask -d text="Der Hund." -d source=de -d target=$1 "$url/v1/translate" | grep -o '"text":"[^"]*","source":"de","target":"[a-z]*"[^}]*"exact":1.0'; }
  > store "The dog."
  > store "The dog." -d source_lang=de
  > store "The dog." -d source_lang=de -d target_lang=en
  > store "Le chien." -d source_lang=de -d target_lang=fr
  > store "Le chien." -d source_lang=de -d target_lang=fr -d memory=main
  > for to in en fr; do translation $to | cut -d, -f1; done
  > ask -d title=more "$url/v1/memories" > /dev/null
  > for to in fr en; do ask -d source=Ja. -d target=Oui. -d source_lang=de -d target_lang=$to "$url/v1/memories/more/pairs" | grep -o '"target_lang":"[^"]*"\|"message":"[^"]*"'; done
  > ask "$url/v1/memories" | grep -o '"name":"[^"]*"\|"source":"[^"]*","target":"[^"]*"' | paste -sd ' '
  "message":"source_lang is missing; this server translates several pairs of languages"
  "message":"target_lang is missing; this server translates several pairs of languages"
  "memory":"main"
  "memory":"main de-fr"
  "message":"the memory is from de to en"
  "text":"The dog."
  "text":"Le chien."
  "target_lang":"fr"
  "message":"the memory is from de to fr"
  "name":"main" "source":"de","target":"en" "name":"main de-fr" "source":"de","target":"fr" "name":"more" "source":"de","target":"fr"

What is wrong with pairs.

  $ . ./pairs.sh; for p in de xx-en zh-Hans-en; do skmt serve --listen 127.0.0.1:0 -m m2m.skmt --pair $p; done
  skmt: --pair: 'de' is not a pair of known languages such as de-en or pt_BR-en
  skmt: --pair: 'xx-en' is not a pair of known languages such as de-en or pt_BR-en
  skmt: --pair: 'zh-Hans-en' is not a pair of known languages such as de-en or pt_BR-en
  [2]
  $ . ./pairs.sh; skmt serve --listen 127.0.0.1:0 -m m2m.skmt --pair zh_Hans-en --pair zh_Hant-en
  skmt: --pair: 'zh_Hans-en' and 'zh_Hant-en' are the same languages; regions and scripts do not count
  [2]
  $ . ./pairs.sh; skmt serve --listen 127.0.0.1:0 -m m2m.skmt --pair de-yue
  skmt: no model translates de-yue: --to: the model does not have the language "yue"; skmt info lists all 100
  [3]
  $ . ./pairs.sh; skmt serve --listen 127.0.0.1:0 -m de-en.skmt --pair en-de
  skmt: no model translates en-de
  [3]
