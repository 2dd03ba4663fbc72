#!/usr/bin/env python3
"""Records what a program prints in an 80x24 terminal: record.py NAME 'keys' COMMAND…

The keys (with \\r, \\e and the like) are typed one after the other, each when the program has been quiet for a
moment; recording ends, and the program with it, after the last. Writes tests/recordings/NAME/input.
Look at what `recordings` makes of it before keeping its expected text.
"""
import fcntl, os, pty, select, signal, struct, sys, termios

name, keys, command = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM='xterm-256color', LC_ALL='C.UTF-8', COLORTERM='truecolor')
    for variable in ('LINES', 'COLUMNS', 'TMUX'):
        os.environ.pop(variable, None)
    os.execvp(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
out = b''


def read_until_quiet():
    global out
    while select.select([fd], [], [], 1.0)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            return False
        if not data:
            return False
        out += data
        if b'\033[c' in data:
            os.write(fd, b'\033[?64;1;2;6;21;22c')
        if b'\033[6n' in data:
            os.write(fd, b'\033[1;1R')
    return True


alive = read_until_quiet()
for key in keys.split():
    if not alive:
        break
    os.write(fd, key.encode().decode('unicode_escape').replace('\\e', '\033').encode())
    alive = read_until_quiet()
try:
    os.kill(pid, signal.SIGKILL)
except ProcessLookupError:
    pass
folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
os.makedirs(folder, exist_ok=True)
with open(folder + '/input', 'wb') as file:
    file.write(out)
print(name, len(out), 'bytes')
