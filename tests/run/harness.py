"""What the process tests of `ttyward run` share: the built program, a scratch home, bounded waits.

Every test runs the real program named by $TTYWARD. Waits are for bytes, exits and
states; PATIENCE is only where a test gives up.
"""
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

TTYWARD = os.environ["TTYWARD"]
PYTHON = sys.executable
PATIENCE = float(os.environ.get("TTYWARD_TEST_PATIENCE", "60"))


def processes(token):
    """Living processes whose command line holds the token."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
            with open(f"/proc/{name}/stat") as f:
                state = f.read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if token in line and state != "Z":
            found.append(int(name))
    return found


def may_unshare(flags):
    return subprocess.run(["unshare", flags, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def eventually(holds):
    give_up = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.005)  # spares the processor; nothing depends on its length
    return True


class Person:
    """Somebody at a terminal in which ttyward was called."""

    def __init__(self, test, *args, size=(80, 24), command=None):
        self.master, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.resize(*size)

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(command or [TTYWARD, *args], stdin=slave, stdout=slave, stderr=slave,
                                        env=test.environment, preexec_fn=take_terminal, cwd=test.folder)
        self.seen = b""
        test.addCleanup(self.close)

    def resize(self, cols, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, needle, since=0):
        give_up = time.monotonic() + PATIENCE
        needle = needle.encode()
        while needle not in self.seen[since:]:
            ready, _, _ = select.select([self.master], [], [], max(0, give_up - time.monotonic()))
            if not ready:
                raise AssertionError(f"{needle!r} never came; seen: {self.seen[-2000:]!r}")
            try:
                data = os.read(self.master, 65536)
            except OSError:
                data = b""
            if not data:
                raise AssertionError(f"ended before {needle!r}; seen: {self.seen[-2000:]!r}")
            self.seen += data
        return self.seen

    def is_raw(self):
        return not termios.tcgetattr(self.slave)[3] & termios.ICANON

    def end(self):
        """Reads on until the program ends; its exit code."""
        give_up = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            ready, _, _ = select.select([self.master], [], [], 0.02)
            if ready:
                self.seen += os.read(self.master, 65536)
            if time.monotonic() > give_up:
                raise AssertionError(f"it did not end; seen: {self.seen[-2000:]!r}")
        while select.select([self.master], [], [], 0)[0]:
            self.seen += os.read(self.master, 65536)
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class RunTest(unittest.TestCase):
    counter = 0

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ttyward-run-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.home = self.folder + "/home"
        self.environment = {**os.environ, "TTYWARD_HOME": self.home, "LC_ALL": "C.UTF-8"}
        # A number nobody else uses: sleeping for that long makes a process recognisable.
        RunTest.counter += 1
        self.token = f"9{os.getpid()}{RunTest.counter}"

    def start(self, *args, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([TTYWARD, *args], env=self.environment, cwd=self.folder, **options)
        self.addCleanup(self.stop, process)
        return process

    def stop(self, process):
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def run_it(self, *args, input=None, command=None):
        options = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
        return subprocess.run(command or [TTYWARD, "run", *args], env=self.environment, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, **options)

    def result(self, *args, **options):
        """The result object of `ttyward --json run ...`."""
        done = self.run_it(command=[TTYWARD, "--json", "run", *args], **options)
        self.assertEqual(done.stdout.count(b"\n"), 1, done)
        result = json.loads(done.stdout)
        result["_code"] = done.returncode
        return result

    def assert_nothing_left(self, token=None):
        self.assertEqual(processes(token or self.token), [])

    def journals(self):
        try:
            return [name for name in os.listdir(self.home + "/state/journals") if not name.startswith(".")]
        except FileNotFoundError:
            return []


def main():
    unittest.main(verbosity=1)
