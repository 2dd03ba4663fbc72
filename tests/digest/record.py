#!/usr/bin/env python3
"""Record the outputs of the digest corpus: run each command in a terminal and keep its bytes.

Usage: record.py [--unseen|--fresh] WORK_DIR [NAME...].  WORK_DIR gets the small projects that the commands work on; a folder
`npm` in it may hold node_modules with typescript, eslint, jest, mocha and vitest.  Each case becomes
cases/NAME.out, and its command, exit status and size become an entry of cases.json.  The facts in
facts.json are written by hand.  --unseen and --fresh record the sets in unseen/ and fresh/, whose
commands need no projects.
"""
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

from projects import make_projects
from commands import COMMANDS
from fresh_commands import COMMANDS as FRESH
from unseen_commands import COMMANDS as UNSEEN

HERE = os.path.dirname(os.path.abspath(__file__))
COLS, ROWS = 120, 40
LIMIT = 600_000


def run(command, folder, seconds=240):
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/tmp"), "TERM": "xterm-256color", "LANG": "C.UTF-8",
               "PAGER": "cat", "GIT_PAGER": "cat", "LC_ALL": "C.UTF-8"}
        os.execve("/bin/bash", ["bash", "-c", command], env)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
    out = bytearray()
    end = time.time() + seconds
    while time.time() < end:
        ready, _, _ = select.select([fd], [], [], 1)
        if not ready:
            continue
        try:
            got = os.read(fd, 65536)
        except OSError:
            break
        if not got:
            break
        out += got
    else:
        os.kill(pid, 9)
    _, status = os.waitpid(pid, 0)
    return bytes(out[:LIMIT]), os.waitstatus_to_exitcode(status)


def main():
    sets = {"--unseen": UNSEEN, "--fresh": FRESH}
    chosen = next((word for word in sys.argv if word in sets), "")
    words = [word for word in sys.argv[1:] if word not in sets]
    work = os.path.abspath(words[0])
    wanted = words[1:]
    os.makedirs(work, exist_ok=True)
    if not chosen:
        make_projects(work)
    here = HERE + ("/" + chosen[2:] if chosen else "")
    os.makedirs(here + "/cases", exist_ok=True)
    path = here + "/cases.json"
    cases = json.load(open(path)) if os.path.exists(path) else {}
    for name, folder, command in sets.get(chosen, COMMANDS):
        if wanted and name not in wanted:
            continue
        at = os.path.join(work, folder)
        if chosen:
            os.makedirs(at, exist_ok=True)
        before, _, command = command.rpartition("\n#: ")
        subprocess.run(["bash", "-c", before], cwd=at, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        out, code = run(command, at)
        # Neither this machine's name nor its folders belong in a corpus.
        out = out.replace(work.encode(), b"/home/dev/work").replace(os.path.expanduser("~").encode() + b"/", b"/home/dev/")
        out = re.sub(rb"\b" + re.escape(os.uname().nodename.encode()) + rb"\b", b"devbox", out)
        with open(f"{here}/cases/{name}.out", "wb") as f:
            f.write(out)
        cases[name] = {"command": command, "exit": code, "cols": COLS, "rows": ROWS}
        print(f"{name:28} exit {code:4} {len(out):8} bytes", flush=True)
        with open(path, "w") as f:
            json.dump(dict(sorted(cases.items())), f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
