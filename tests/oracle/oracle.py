#!/usr/bin/env python3
"""Compares this engine with a real xterm (Debian: xterm, xvfb), cell by cell.

  oracle.py ANSWER probe 'bytes with \\e escapes' ...   show both screens
  COLS=80 ROWS=24 oracle.py ANSWER file PATH ...        the same for recordings
  oracle.py ANSWER ask 'query' ...                      show xterm's replies
  oracle.py ANSWER fuzz SECONDS [SEED]                  random sequences from a grammar; differences are
                                                        shrunk and printed
ANSWER is the built `oracle_answer`. xterm runs on its own X server and is ended with this program.
"""
import os, random, socket, subprocess, sys, tempfile, time

COLS, ROWS = int(os.environ.get('COLS', 16)), int(os.environ.get('ROWS', 6))
here = os.path.dirname(os.path.abspath(__file__))


class Xterm:
    def __init__(self):
        self.dir = tempfile.mkdtemp()
        path = self.dir + '/socket'
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)
        read, write = os.pipe()
        self.x = subprocess.Popen(['Xvfb', '-displayfd', str(write), '-screen', '0', '1024x768x24', '-nolisten', 'tcp'],
                                  pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        display = os.read(read, 32).decode().strip()
        env = dict(os.environ, DISPLAY=':' + display, LANG='C.UTF-8', LC_ALL='C.UTF-8')
        self.term = subprocess.Popen(
            ['xterm', '-u8', '-geometry', f'{COLS}x{ROWS}', '-xrm', 'XTerm*disallowedWindowOps:',
             '-xrm', 'XTerm*decTerminalID: 420', '-xrm', 'XTerm*jumpScroll: true', '-xrm', 'XTerm*fastScroll: true',
             '-e', sys.executable, here + '/probe.py', path, str(COLS), str(ROWS)],
            env=env, stderr=subprocess.DEVNULL)
        listener.settimeout(20)
        connection, _ = listener.accept()
        connection.settimeout(20)
        self.stream = connection.makefile('rw')
        assert self.stream.readline() == 'ready\n'

    def run(self, case):
        self.stream.write(case.hex() + '\n')
        self.stream.flush()
        answer = self.stream.readline().strip()
        if not answer:  # xterm 379 dies of some wide characters cut in two
            print(f'xterm gave up on {case!r}')
            self.end()
            self.__init__()
            return ''
        return answer

    def end(self):
        self.term.terminate()
        self.x.terminate()


class Ours:
    def __init__(self, path):
        self.process = subprocess.Popen([path, str(COLS), str(ROWS)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def run(self, case):
        self.process.stdin.write(case.hex() + '\n')
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def show(result):
    if not result:
        return 'nothing'
    cursor, *cells = result.split()
    out = 'cursor ' + cursor + '\n'
    for r in range(ROWS):
        row = [int(c, 16) for c in cells[r * COLS:(r + 1) * COLS]]
        out += '  |' + ''.join(chr(c) if 32 < c < 0xD800 or 0xE000 <= c else '·' if c == 0 else ' ' for c in row) + '|\n'
    return out


def unescape(text):
    return text.encode('utf-8').decode('latin-1').replace('\\e', '\033').encode('latin-1').decode('unicode_escape').encode('latin-1')


# An untouched cell reads as NUL in xterm.
def same(a, b):
    if not a:
        return True
    return ['20' if x == '0' else x for x in a.split()] == b.split()


def number(rng, top):
    return str(rng.choice([0, 1, 1, 2, 3, rng.randrange(top + 3), rng.randrange(top + 3)])) if rng.random() < .9 else ''


def token(rng, avoid):
    r, c = lambda: number(rng, ROWS), lambda: number(rng, COLS)
    choices = [
        (14, lambda: ''.join(rng.choice('abcdefgh') for _ in range(rng.choice([1, 2, 5, COLS - 1, COLS, COLS + 3])))),
        (2, lambda: rng.choice(['\u6f22', '\u6f22\u5b57', 'b\u0301', '\u6f22\u0301'])),
        (6, lambda: f'\033[{r()};{c()}H'),
        (6, lambda: rng.choice(['\r', '\n', '\b', '\t', '\013', '\r\n'])),
        (6, lambda: f'\033[{c()}' + rng.choice('ABCDEFGade`IZ')),
        (5, lambda: f'\033[{c()}' + rng.choice('@PXLM')),
        (3, lambda: f'\033[{r()}' + rng.choice('ST')),
        (4, lambda: '\033[' + rng.choice(['', '0', '1', '2']) + rng.choice('JK')),
        (3, lambda: '\033[?' + rng.choice(['', '0', '1', '2']) + rng.choice('JK')),
        (3, lambda: f'\033[{r()};{r()}r'),
        (2, lambda: '\033[?69' + rng.choice('hhl')),
        (3, lambda: f'\033[?69h\033[{c()};{c()}s'),
        (2, lambda: '\033[?6' + rng.choice('hl')),
        (2, lambda: '\033[?7' + rng.choice('hl')),
        (2, lambda: '\033[4' + rng.choice('hl')),
        (1, lambda: '\033[20' + rng.choice('hl')),
        (3, lambda: '\033' + rng.choice('78DEM69')),
        (2, lambda: f'\033[{c()}b'),
        (2, lambda: rng.choice(['\033H', '\033[g', '\033[3g'])),
        (2, lambda: '\033[' + rng.choice(['0', '1', '4', '7', '22', '24', '27', '8']) + 'm'),
        (2, lambda: '\033[' + rng.choice('012') + '"q'),
        (1, lambda: '\033' + rng.choice('VW')),
        (1, lambda: '\033[!p'),
        (1, lambda: '\033#8'),
        (1, lambda: rng.choice(['\033(0', '\033(B', '\033)0', '\016', '\017', '\033*0', '\033N', '\033n'])),
        (1, lambda: '\033[?' + rng.choice(['47', '1047', '1048', '1049']) + rng.choice('hl')),
        (1, lambda: f"\033[{c()}'" + rng.choice('}~')),
        (1, lambda: f'\033[{c()} ' + rng.choice('@A')),
        (2, lambda: f'\033[{r()};{c()};{r()};{c()}$' + rng.choice('z{')),
        (1, lambda: f'\033[65;{r()};{c()};{r()};{c()}$x'),
        (1, lambda: f'\033[{r()};{c()};{r()};{c()};1;{r()};{c()};1$v'),
        (1, lambda: f'\033[{r()};{c()};{r()};{c()};' + rng.choice(['1', '4', '0', '7', '22']) + '$' + rng.choice('rt')),
        (1, lambda: rng.choice(['\033[*x', '\033[1*x', '\033[2*x'])),
        (1, lambda: '\033[?45' + rng.choice('hl')),
    ]
    while True:
        text = rng.choices([c[1] for c in choices], [c[0] for c in choices])[0]()
        if not any(a in text for a in avoid):
            return text


def shrink(tokens, differs):
    size = len(tokens) // 2
    while size >= 1:
        i = 0
        while i < len(tokens):
            fewer = tokens[:i] + tokens[i + size:]
            if fewer and differs(fewer):
                tokens = fewer
            else:
                i += size
        size //= 2
    return tokens


def main():
    ours, xterm = Ours(sys.argv[1]), Xterm()
    try:
        if sys.argv[2] == 'probe':
            for text in sys.argv[3:]:
                case = unescape(text)
                a, b = xterm.run(case), ours.run(case)
                print(text)
                if same(a, b):
                    print('same', show(a))
                else:
                    print('xterm', show(a), '\nours', show(b), '\n', a, '\n', b)
        elif sys.argv[2] == 'file':
            for path in sys.argv[3:]:
                case = open(path, 'rb').read()
                a, b = xterm.run(case), ours.run(case)
                print(path, 'same' if same(a, b) else 'xterm ' + show(a) + 'ours ' + show(b))
        elif sys.argv[2] == 'ask':
            for text in sys.argv[3:]:
                print(text, '->', bytes.fromhex(xterm.run(b'\0' + unescape(text))))
        else:
            seconds, seed = float(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1
            avoid = [unescape(a).decode('utf-8') for a in sys.argv[5:]]
            rng, start, cases, shown = random.Random(seed), time.time(), 0, set()

            def differs(tokens):
                case = ''.join(tokens).encode()
                return not same(xterm.run(case), ours.run(case))

            while time.time() - start < seconds:
                tokens = [token(rng, avoid) for _ in range(rng.randrange(3, 25))]
                cases += 1
                if not differs(tokens):
                    continue
                tokens = shrink(tokens, differs)
                case = ''.join(tokens).encode()
                kind = ''.join(ch for ch in case.decode() if not ch.isdigit() and ch not in 'abcdefgh;')
                if kind in shown:
                    continue
                shown.add(kind)
                print(repr(case.decode()))
                a, b = xterm.run(case), ours.run(case)
                print('xterm', show(a) + 'ours ', show(b))
                print([(i // COLS + 1, i % COLS + 1, x, y) for i, (x, y) in
                       enumerate(zip(a.split()[1:], b.split()[1:])) if x != y and {x, y} not in ({'0', '20'}, {'0', 'FFFF'})][:6], flush=True)
            print(cases, 'cases,', len(shown), 'kinds of difference')
    finally:
        xterm.end()
        ours.process.terminate()


main()
