"""The kernel's limits: no descriptors, no processes. What cannot be started is an error, nothing is left behind
unlisted, and the daemon lives on."""
import json
import os
import resource
import subprocess
import time
import unittest

from daemon_client import PATIENCE, TTYWARD, CallFailed, Daemon

# A user no machine has, and no other run of this test: what counts against it is ours, and only ours is ended.
NOBODY = 1_000_000 + os.getpid()


def shells_of(folder):
    """Terminals whose shell runs, by what their command lines say."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read().decode(errors="replace")
        except OSError:
            continue
        mark = folder + "/tw/state/terminals/"
        if mark in line and ".shell/" in line:
            found.add(line.split(mark)[1].split(".shell")[0])
    return found


class Descriptors(unittest.TestCase):
    def test_a_shell_that_cannot_be_followed_is_not_left_behind(self):
        daemon = Daemon("[pool]\nsize = 0\n")
        self.addCleanup(daemon.close)
        client = daemon.client
        client.call("open", cwd="/")
        before = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
        refused = 0
        for spare in range(14):
            used = max(int(n) for n in os.listdir(f"/proc/{daemon.pid}/fd")) + 1
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (used + spare, before[1]))
            try:
                client.call("open", cwd="/")
            except CallFailed:
                refused += 1
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, before)
            until = time.monotonic() + PATIENCE
            while True:
                listed = {each["id"] for each in client.call("list")["terminals"]}
                unlisted = shells_of(daemon.folder) - listed
                if not unlisted:
                    break
                self.assertLess(time.monotonic(), until, (spare, unlisted))
                time.sleep(0.02)  # spares the processor
        self.assertGreater(refused, 0)
        terminal = client.call("open", cwd="/")["terminal"]["id"]
        self.assertEqual(client.call("exec", terminal=terminal, command="(exit 3)")["exit_code"], 3)


class Processes(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root becomes a user whose processes nobody else counts")

    def as_nobody(self, processes):
        def become():
            resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return become

    def folder(self):
        import tempfile
        folder = tempfile.mkdtemp(prefix="ttyward-limits-")
        os.chown(folder, NOBODY, NOBODY)
        self.addCleanup(subprocess.run, ["rm", "-rf", folder])
        return folder

    def run_with(self, folder, processes, *words):
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "TTYWARD_HOME": folder + "/tw", "SHELL": "/bin/bash"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                environment[name] = os.environ[name]
        return subprocess.run([TTYWARD, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE, cwd=folder,
                              preexec_fn=self.as_nobody(processes))

    def test_run_says_why(self):
        folder = self.folder()
        done = self.run_with(folder, 1, "run", "true; echo done")
        self.assertGreater(done.returncode, 0, done)  # not by a signal
        self.assertTrue(done.stderr, done)

    def test_the_daemon_says_why_and_lives_on(self):
        folder = self.folder()
        for processes in (1, 2, 4, 8, 12):
            done = self.run_with(folder, processes, "exec", "none", "true")
            self.assertGreater(done.returncode, 0, (processes, done))
            self.assertTrue(done.stderr, (processes, done))
        self.end()  # a daemon may have come up in one of these rounds
        self.addCleanup(self.end)
        started = self.run_with(folder, 200, "daemon", "run", "--detach")
        self.assertEqual(started.returncode, 0, started)
        pid = self.pid(folder)
        opened = self.run_with(folder, 200, "open", "--name", "first")
        self.assertEqual(opened.returncode, 0, opened)
        for _ in range(20):  # holders that were ready before, or are just getting so, may serve the first
            holders = [int(each) for each in os.listdir("/proc") if each.isdigit() and self.is_holder(each)]
            self.limit((pid, *holders), 1)
            refused = self.run_with(folder, 200, "open")
            self.assertGreaterEqual(refused.returncode, 0, refused)
            self.assertEqual(self.pid(folder), pid, "it is the same daemon")
            if refused.returncode > 0:
                break
        self.assertGreater(refused.returncode, 0, refused)
        self.assertTrue(refused.stderr, refused)
        self.limit((pid, *holders), 200)
        done = self.run_with(folder, 200, "exec", "first", "exit 3")
        self.assertEqual(done.returncode, 3, done)

    def limit(self, pids, processes):
        for pid in pids:
            subprocess.run(["prlimit", "--pid", str(pid), f"--nproc={processes}:"], preexec_fn=self.as_nobody(200),
                           stderr=subprocess.DEVNULL)  # one of them may have ended

    def is_holder(self, pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                return os.stat(f"/proc/{pid}").st_uid == NOBODY and b"ttyward-hold" in f.read()
        except OSError:
            return False

    def pid(self, folder):
        told = self.run_with(folder, 200, "--json", "daemon", "status")
        self.assertTrue(told.stdout, told)
        return json.loads(told.stdout)["pid"]

    def end(self):
        """Nobody here is a person to it: every process of that user goes, and there is no other of them."""
        for _ in range(100):
            left = []
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if os.stat(f"/proc/{pid}").st_uid == NOBODY:
                        left.append(int(pid))
                        os.kill(int(pid), 9)
                except OSError:
                    pass
            if not left:
                return


if __name__ == "__main__":
    unittest.main()
