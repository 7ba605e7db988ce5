# needs: model python3
A person who types a line gets the answer before typing the next one.

  $ cat > chat.py <<'END'
  > import os, pty, subprocess, sys
  > p = subprocess.Popen(["skmt", "translate"], stdin=subprocess.PIPE,
  >                      stdout=subprocess.PIPE, bufsize=0)
  > for line in b"Guten Morgen!\n", b"Vielen Dank.\n":
  >     p.stdin.write(line)
  >     print(p.stdout.readline().decode().rstrip())
  > p.stdin.close()
  > print(p.wait())
  > END
  $ timeout 60 python3 chat.py
  Good morning!
  Thank you very much.
  0

Progress is shown on a terminal, and only there; --quiet turns it off.

  $ cat > progress.py <<'END'
  > import os, pty, sys
  > with open("in", "w") as f:
  >     f.write("Guten Morgen! Vielen Dank.\n" * 200)
  > def screen(*options):
  >     pid, fd = pty.fork()
  >     if pid == 0:
  >         os.execvp("skmt", ["skmt", "translate", "in", "-o", "out", "--batch", "1", *options])
  >     seen = b""
  >     try:
  >         while True:
  >             part = os.read(fd, 4096)
  >             if not part: break
  >             seen += part
  >     except OSError:
  >         pass
  >     os.waitpid(pid, 0)
  >     return seen
  > seen = screen()
  > print(b"% " in seen, b"lines/s" in seen, b" left" in seen, seen.endswith(b"\r\033[K"))
  > print(screen("--quiet"))
  > END
  $ timeout 250 python3 progress.py
  True True True True
  b''
  $ wc -l < out
  200
