# needs: tiny python3
The network of system adaptive and the policy of system kok, compared with
independent programs.

  $ "$BUILD/tests/unit/nets_tool" metak > metak; python3 "$TOP/tools/check_metak.py" < metak > checked; python3 -c 'w = open("checked").read().split(); print(w[0], w[2], float(w[-1]) <= 1e-5)'
  600 200 True
  $ "$BUILD/tests/unit/nets_tool" kok > kok; python3 "$TOP/tools/check_kok.py" < kok > checked; python3 -c 'w = open("checked").read().split(); print(w[0], int(w[2]) > 2000, int(w[6]) > 300, int(w[12]) > 0, float(w[-1]) <= 1e-5)'
  9 True True True True

They find wrong numbers.

  $ sed -n '1,60p;601,630p' metak > right; python3 "$TOP/tools/check_metak.py" < right > log; for what in q share add x loss; do sed "s/\"$what\":\(\[*\)\([0-9]\)/\"$what\":\11\2/" right > wrong; python3 "$TOP/tools/check_metak.py" < wrong > log || echo "$what"; done
  q
  share
  add
  x
  loss
  $ head -n 400 kok > right; python3 "$TOP/tools/check_kok.py" < right > log; for what in weights key prob lambda add; do sed "s/\"$what\":\(\[*\)\([0-9]\)/\"$what\":\11\2/" right > wrong; python3 "$TOP/tools/check_kok.py" < wrong > log || echo "$what"; done
  weights
  key
  prob
  lambda
  add

The worked examples of docs/method.md are those of the programs.

  $ python3 "$TOP/tools/check_metak.py" --example | grep -E '^(lambda|add)'
  lambda 0.456009
  add {7: '0.398045', 9: '0.057964'}
  $ python3 "$TOP/tools/check_kok.py" --example | grep -E '^(lambda|add)'
  lambda 0.566786
  add {7: '0.414354', 9: '0.152432'}
