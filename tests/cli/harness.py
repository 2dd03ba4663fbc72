"""What the tests of the daemon's verbs share: the built program, a daemon of their own, a person in tmux.

Every test has its own TTYWARD_HOME, and with it its own daemon, which verbs start by
themselves; whatever a test does, that daemon and its terminals are ended afterwards. Waits are
for content and states; PATIENCE is only where a test gives up.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person  # noqa: E402
from patience import PATIENCE, eventually  # noqa: E402,F401
from processes import lives  # noqa: E402

TTYWARD = os.environ["TTYWARD"]


def processes_of(home):
    """Processes that were started with this TTYWARD_HOME, or name it in their arguments."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                mine = home.encode() in f.read()
            with open(f"/proc/{name}/cmdline", "rb") as f:
                mine = mine or home.encode() in f.read()
            with open(f"/proc/{name}/stat") as f:
                state = f.read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mine and state != "Z":
            found.append(int(name))
    return found


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ttyward-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.home = self.folder + "/home"
        self.work = self.folder + "/work"
        os.mkdir(self.work)
        keep = ("PATH", "LANG", "TERM", "ASAN_OPTIONS", "UBSAN_OPTIONS")
        self.environment = {name: os.environ[name] for name in keep if name in os.environ}
        self.environment |= {"TTYWARD_HOME": self.home, "HOME": self.folder, "SHELL": "/bin/bash",
                             "LC_ALL": "C.UTF-8", "PS1": "$ "}
        self.environment[person.VARIABLE] = person.make_token(self.home)
        self.addCleanup(self.end_daemon)

    def end_daemon(self):
        try:
            subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=self.environment, timeout=PATIENCE,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        finally:
            give_up = time.monotonic() + 5
            while processes_of(self.home) and time.monotonic() < give_up:
                time.sleep(0.02)
            for pid in processes_of(self.home):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def ttyward(self, *args, input=None):
        options = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
        return subprocess.run([TTYWARD, *args], env=self.environment, cwd=self.work, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE, **options)

    def ok(self, *args, **options):
        done = self.ttyward(*args, **options)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def json(self, *args, **options):
        done = self.ttyward("--json", *args, **options)
        self.assertEqual(done.stdout.count("\n"), 1, done)
        return json.loads(done.stdout)

    def start(self, *args, **options):
        process = subprocess.Popen([TTYWARD, *args], env=self.environment, cwd=self.work, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(self.stop, process)
        return process

    def stop(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def end_of(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err

    def configure(self, text):
        path = self.ttyward("config", "path").stdout.strip()
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def open(self, name="build", *args):
        return self.ok("open", "--name", name, *args).strip()

    def terminal(self, name="build"):
        for each in self.json("ls", "--all")["terminals"]:
            if name in (each["id"], each["name"]):
                return each
        return None

    def wait_for_program(self, command, name="build"):
        """Until it runs in the foreground: a shell that is just starting it may miss a Ctrl-C."""
        eventually(lambda: any(p["command"] == command for p in self.json("show", name)["processes"]), command)

    def path(self, name):
        return os.path.join(self.work, name)

    def kill_daemon(self):
        """As a crash would."""
        pid = self.json("daemon", "status")["pid"]
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not lives(pid))


    def end(self, tmux, verb, number):
        """Sends a signal to the ttyward that was called with this verb in a tmux, and waits for its end."""
        wanted = [TTYWARD.encode(), verb.encode()]
        pids = []
        for pid in processes_of(self.home):
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read().split(b"\0")[:2] == wanted:
                    pids.append(pid)
        self.assertEqual(len(pids), 1, tmux.screen())
        os.kill(pids[0], number)
        eventually(lambda: not lives(pids[0]))


class Tmux:
    """A person at a terminal: a shell in tmux, driven by keys, read as they would see it."""

    def __init__(self, test, cols=80, rows=24):
        self.test = test
        self.socket = tempfile.mktemp(prefix="tmux-", dir=test.folder)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(cols), "-y", str(rows), "exec env PS1='$ ' bash --norc --noprofile")
        test.addCleanup(self.close)
        self.tmux("set", "-g", "status", "off")
        self.tmux("set", "-g", "window-size", "manual")
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))
        self.wait_for("$")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, *args], env=self.test.environment, cwd=self.test.work,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE).stdout

    def close(self):
        self.tmux("kill-server")

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def line(self, text):
        self.type(text)
        self.keys("Enter")

    def resize(self, cols, rows):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def wait_for(self, *needles, absent=()):
        give_up = time.monotonic() + PATIENCE
        while True:
            screen = self.screen()
            if all(n in screen for n in needles) and not any(n in screen for n in absent):
                return screen
            if time.monotonic() > give_up:
                raise AssertionError(f"{needles!r} without {absent!r} never came; shown:\n{screen}")
            time.sleep(0.02)

    def modes(self, marker):
        """The terminal's own modes, as the shell there sees them."""
        self.line(f"stty -g > {marker}; echo 'done'-{marker}")
        self.wait_for(f"done-{marker}\n")
        with open(self.test.path(marker)) as f:
            return f.read()


def main():
    unittest.main(verbosity=1)
