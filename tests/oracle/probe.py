"""Runs inside xterm: takes cases from a socket, one a line in hexadecimal, and
answers with the cursor and one plain checksum a cell (see answer_main.cc)."""
import os, re, socket, sys, termios, tty

path, cols, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
fd = os.open('/dev/tty', os.O_RDWR)
tty.setraw(fd)
attrs = termios.tcgetattr(fd)
server = socket.socket(socket.AF_UNIX)
server.connect(path)
stream = server.makefile('rw')


def ask(data, pattern, count):
    os.write(fd, data)
    got = b''
    while True:
        found = re.findall(pattern, got)
        if len(found) >= count:
            return found
        got += os.read(fd, 65536)


ask(b'\033[6n', rb'\033\[\d+;\d+R', 1)
stream.write('ready\n')
stream.flush()
for line in stream:
    case = bytes.fromhex(line.strip())
    # CAN ends whatever an earlier case left open.
    os.write(fd, b'\030\033c\033[?5W\033[21#y\033[?1049h\033[?1049l\033c')
    ask(b'\033[6n', rb'\033\[\d+;\d+R', 1)
    if line.startswith('00'):  # a raw question: everything up to the answer to DSR 5
        got = b''
        os.write(fd, case[1:] + b'\033[5n')
        while not got.endswith(b'\033[0n'):
            got += os.read(fd, 65536)
        stream.write(got[:-4].hex() + '\n')
        stream.flush()
        continue
    cursor = None
    for i in range(0, len(case), 1000):
        os.write(fd, case[i:i + 1000])
    cursor = ask(b'\033[21#y\033[6n', rb'\033\[(\d+;\d+)R', 1)[-1].decode()
    os.write(fd, b'\033[?6l')
    sums = []
    for r in range(1, rows + 1):
        q = b''.join(b'\033[1;1;%d;%d;%d;%d*y' % (r, c, r, c) for c in range(1, cols + 1))
        sums += ask(q, rb'\033P1!~([0-9A-F]{4})\033\\', cols)
    stream.write(cursor + ' ' + ' '.join('%X' % int(s, 16) for s in sums) + '\n')
    stream.flush()
