"""./ttyward in a source tree that was never built: it says how far it is, on stderr, and then runs the program.

The tree is a made-up one: its setup, cmake and program are scripts, and the build goes on when the test
has seen what it waits for.
"""
import os
import pty
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PATIENCE = 60

CMAKE = """#!/bin/sh
case "$*" in
  *--build*)
    echo "[1/4] Building a"
    echo "[3/4] Building b"
    read go <"$TREE/go"
    [ "$go" = fail ] && { echo "it is broken"; exit 1; }
    mkdir -p "$TREE/build/release/bin"
    printf '#!/bin/sh\\necho the program runs "$@"\\n' >"$TREE/build/release/bin/ttyward"
    chmod +x "$TREE/build/release/bin/ttyward" ;;
esac
"""


class FirstStart(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.mkdtemp(prefix="ttyward-tree-")
        self.addCleanup(shutil.rmtree, self.tree, ignore_errors=True)
        shutil.copy(os.path.join(ROOT, "ttyward"), self.tree)
        for folder in ("src", "cmake", "bin"):
            os.mkdir(f"{self.tree}/{folder}")
        for name in ("CMakeLists.txt", "CMakePresets.json"):
            open(f"{self.tree}/{name}", "w").close()
        self.script("setup", "#!/bin/sh\n")
        self.script("bin/cmake", CMAKE)
        # One for each wait: whoever opened one again at once could get the end of what was written before.
        for name in ("half", "most", "go"):
            os.mkfifo(f"{self.tree}/{name}")
        self.env = dict(os.environ, TREE=self.tree, PATH=f"{self.tree}/bin:" + os.environ["PATH"])

    def script(self, name, text):
        with open(f"{self.tree}/{name}", "w") as f:
            f.write(text)
        os.chmod(f"{self.tree}/{name}", 0o755)

    def set_clock(self, seconds):
        with open(f"{self.tree}/now.new", "w") as f:
            f.write(f"{seconds}\n")
        os.rename(f"{self.tree}/now.new", f"{self.tree}/now")

    def start(self, stderr):
        return subprocess.Popen([f"{self.tree}/ttyward", "run", "x"], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=stderr, env=self.env)

    def go(self, word, pipe="go"):
        with open(f"{self.tree}/{pipe}", "w") as f:
            f.write(word + "\n")

    def read_until(self, fd, wanted):
        seen = b""
        give_up = time.monotonic() + PATIENCE
        while wanted not in seen:
            self.assertLess(time.monotonic(), give_up, seen)
            seen += os.read(fd, 4096)
        return seen

    def test_a_terminal_gets_one_line_that_is_rewritten(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        run = self.start(slave)
        os.close(slave)
        seen = self.read_until(master, b"compiling, 3/4 (75 %)")
        self.go("on")
        out, _ = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(out, b"the program runs run x\n")
        progress = seen[seen.index(b"\n"):]  # after the announcement
        self.assertIn(b"\r\x1b[Kttyward: ", progress)
        self.assertEqual(progress.count(b"\n"), 1)

    def test_the_time_that_is_left_is_estimated(self):
        self.script("bin/date", '#!/bin/sh\ncat "$TREE/now"\n')
        self.script("bin/cmake", CMAKE.replace('echo "[1/4] Building a"\n    echo "[3/4] Building b"', 'echo "[100/400] b"; read n <"$TREE/half"; echo "[200/400] c"; read n <"$TREE/most"; echo "[390/400] d"'))
        self.set_clock(1000)
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        run = self.start(slave)
        os.close(slave)
        self.read_until(master, b"compiling, 100/400 (25 %), 0:00")
        self.set_clock(1060)
        self.go("on", "half")
        self.read_until(master, b"compiling, 200/400 (50 %), 1:00, about 2 min left")
        self.set_clock(1150)
        self.go("on", "most")
        self.read_until(master, b"compiling, 390/400 (97 %), 2:30, less than a minute left")
        self.go("on")
        self.assertEqual(run.communicate(timeout=PATIENCE)[0], b"the program runs run x\n")

    def test_a_pipe_gets_plain_lines(self):
        run = self.start(subprocess.PIPE)
        seen = self.read_until(run.stderr.fileno(), b"ttyward: compiling, 3/4 (75 %), 0:1")
        self.go("on")
        out, rest = run.communicate(timeout=PATIENCE)
        self.assertEqual(out, b"the program runs run x\n")
        self.assertNotIn(b"\x1b", seen + rest)
        self.assertNotIn(b"\r", seen + rest)

    def test_a_build_that_fails_shows_the_end_of_its_log(self):
        run = self.start(subprocess.PIPE)
        self.go("fail")
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 125)
        self.assertEqual(out, b"")
        self.assertIn(b"it is broken", err)

    def test_what_is_built_starts_without_a_word(self):
        run = self.start(subprocess.PIPE)
        self.go("on")
        run.communicate(timeout=PATIENCE)
        again = subprocess.run([f"{self.tree}/ttyward", "version"], capture_output=True, env=self.env,
                               timeout=PATIENCE)
        self.assertEqual(again.stdout, b"the program runs version\n")
        self.assertEqual(again.stderr, b"")


if __name__ == "__main__":
    unittest.main()
