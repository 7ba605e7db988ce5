"""terminal.py - a terminal for tests of programs that a person talks to.

    from terminal import talk
    talk(["skmt", "learn", "-M", "my.tm"], [("> ", "Guten Morgen!\\n"), ..])

talk() runs a program on a terminal of 24 rows and 80 columns. For each step
(wait, send) it waits until the text of the current line up to the cursor ends
in `wait` (a string) or matches it (a regular expression), and then types `send`
(a string), or calls it with the process id. If the text before ended in a
newline, the match must be on a later line. In the end it prints each line of
the screen with "|" before it, and the exit status. A line that takes several
rows of the screen is printed as one.
"""
import codecs
import fcntl
import os
import pty
import re
import struct
import termios
import unicodedata

ROWS, COLUMNS = 24, 80


def width(c):
    if unicodedata.combining(c):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


class Screen:
    """What an xterm shows, without limit on the number of rows."""

    def __init__(self):
        self.rows = [[]]        # of cells: strings, "" after a wide character
        self.joined = [False]   # whether a row continues the one before
        self.row = self.column = 0
        self.wrap = False       # the last column was written
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.rest = ""          # an incomplete escape sequence

    def feed(self, data):
        text = self.rest + self.decoder.decode(data)
        self.rest = ""
        at = 0
        while at < len(text):
            if text[at] == "\033":
                m = re.compile(r"\033(?:\[([?>]?[\d;]*)([@-~])|[()].|[^[()])"
                               ).match(text, at)
                if not m:
                    self.rest = text[at:]
                    return
                if m.group(2):
                    self.sequence(m.group(1), m.group(2))
                at = m.end()
            else:
                self.put(text[at])
                at += 1

    def cells(self):
        row = self.rows[self.row]
        row += [" "] * (self.column + 1 - len(row))
        return row

    def down(self, joined=False):
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])
            self.joined.append(joined)

    def put(self, c):
        if c == "\r":
            self.column = 0
        elif c == "\n":
            self.down()
        elif c == "\b":
            self.column = max(0, self.column - 1)
        elif c >= " ":
            self.put_visible(c)
            return
        self.wrap = False

    def put_visible(self, c):
        n = width(c)
        if n == 0:
            self.cells()[max(0, self.column - 1 + self.wrap)] += c
            return
        if self.wrap or self.column + n > COLUMNS:
            self.down(True)
            self.joined[self.row] = True
            self.column = 0
        self.cells()
        self.rows[self.row][self.column:self.column + n] = [c] + [""] * (n - 1)
        self.wrap = self.column + n >= COLUMNS
        self.column = min(COLUMNS - 1, self.column + n)

    def sequence(self, numbers, letter):
        n = int(numbers) if numbers.isdigit() else 1
        row = self.cells()
        self.wrap = False
        if letter == "A":
            self.row = max(0, self.row - n)
        elif letter == "B":
            for _ in range(n):
                self.down()
        elif letter == "C":
            self.column = min(COLUMNS - 1, self.column + n)
        elif letter == "D":
            self.column = max(0, self.column - n)
        elif letter == "G":
            self.column = n - 1
        elif letter == "K":
            del row[self.column:]
            if self.row + 1 < len(self.rows):   # it no longer reaches there
                self.joined[self.row + 1] = False
        elif letter == "J":
            del row[self.column:]
            del self.rows[self.row + 1:], self.joined[self.row + 1:]
        elif letter == "P":
            del row[self.column:self.column + n]
        elif letter == "@":
            row[self.column:self.column] = [" "] * n
        elif letter not in "hlmnr":
            raise ValueError("unknown sequence ESC [ " + numbers + letter)

    def number(self):
        """The number of the current line."""
        return self.joined[:self.row + 1].count(False)

    def before_cursor(self):
        """The text of the current line up to the cursor."""
        first = self.row
        while self.joined[first]:
            first -= 1
        text = "".join("".join(r) for r in self.rows[first:self.row])
        at = self.column + self.wrap
        return text + "".join(self.cells()[:at])

    def lines(self):
        out = []
        for row, joined in zip(self.rows, self.joined):
            if joined:
                out[-1] += "".join(row)
            else:
                out.append("".join(row))
        return [line.rstrip() for line in out]


def start(argv, term):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = term
        fcntl.ioctl(0, termios.TIOCSWINSZ,
                    struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execvp(argv[0], argv)
    return pid, fd


def read(fd, screen):
    """Read what is there. Returns false at the end."""
    try:
        part = os.read(fd, 4096)
    except OSError:
        return False
    screen.feed(part)
    return bool(part)


def talk(argv, steps, term="xterm"):
    screen = Screen()
    pid, fd = start(argv, term)
    after = 0

    def matches(what):
        text = screen.before_cursor()
        if screen.number() <= after:
            return False
        return what.search(text) if isinstance(what, re.Pattern) \
            else text.endswith(what)

    for wait, send in steps:
        while not matches(wait) and read(fd, screen):
            pass
        if callable(send):
            send(pid)
            continue
        after = screen.number() if send.endswith("\n") else 0
        os.write(fd, send.encode())
    while read(fd, screen):
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    for line in screen.lines():
        print("|" + line)
    print("status", status)
