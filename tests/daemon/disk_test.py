"""A disk that is full, has no inodes left, or a journal at its quota: terminals work on, and nothing is claimed that
is not so. Each case has a file system of its own, in a mount namespace; without the right to mount it is skipped."""
import os
import signal
import subprocess
import sys
import time
import unittest

INSIDE = "TTYWARD_TEST_MOUNTS"
if INSIDE not in os.environ and __name__ == "__main__":
    for flags in ("-m", "-Urm"):
        if subprocess.run(["unshare", flags, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp("unshare", ["unshare", flags, sys.executable, "-B", *sys.argv])
    print("no right to mount: skipped")
    sys.exit(0)

from daemon_client import Daemon  # noqa: E402


class Disk(unittest.TestCase):
    def start(self, options, config=""):
        self.daemon = Daemon(config, mount=options)
        self.addCleanup(self.daemon.close)
        self.client = self.daemon.client
        return self.client.call("open", cwd="/")["terminal"]["id"]

    def exec(self, terminal, command, **args):
        return self.client.call("exec", terminal=terminal, command=command, yield_after_ms=50_000, **args)

    def fill(self):
        try:
            with open(self.daemon.folder + "/tw/fill", "wb", buffering=0) as f:
                while True:
                    f.write(b"x" * 4096)
        except OSError:
            pass

    def restart(self):
        os.kill(self.daemon.pid, signal.SIGKILL)
        self.client.close()
        self.daemon.wait_for_end()
        self.daemon.start()
        self.client = self.daemon.client

    def true_status(self, terminal):
        result = self.exec(terminal, "echo ok; (exit 4)")
        self.assertEqual((result["state"], result["exit_code"], result["output"]), ("exited", 4, "ok\n"), result)

    def test_a_full_disk(self):
        terminal = self.start("size=8m")
        result = self.exec(terminal, "seq 1 2000000; (exit 3)")
        self.assertEqual((result["exit_code"], result["total_lines"], result["total_bytes"]),
                         (3, 2_000_000, 16_888_896), result)
        self.assertGreater(result["lost_bytes"], 8 << 20)
        command = result["command_id"]
        self.fill()
        self.true_status(terminal)
        # A prompt is output, too: it pushes more out of what is kept.
        self.client.call("wait", terminal=terminal, prompt=True, timeout_ms=20_000)
        before = self.client.call("result", command=command)
        self.restart()
        after = self.client.call("result", command=command)
        for fact in ("exit_code", "total_lines", "total_bytes", "lost_bytes"):
            self.assertEqual(after[fact], before[fact], fact)
        self.true_status(terminal)
        os.unlink(self.daemon.folder + "/tw/fill")
        self.true_status(terminal)
        result = self.exec(terminal, "seq 1 1000; (exit 2)")
        self.assertEqual((result["exit_code"], result["total_lines"]), (2, 1000), result)

    def test_no_inodes(self):
        terminal = self.start("size=32m,nr_inodes=60")
        try:
            for i in range(100):
                open(f"{self.daemon.folder}/tw/f{i}", "w").close()
        except OSError:
            pass
        self.true_status(terminal)
        result = self.exec(terminal, "seq 1 200000; (exit 5)")
        self.assertEqual((result["exit_code"], result["total_lines"]), (5, 200_000), result)
        self.restart()
        self.true_status(terminal)

    def test_all_journals_together_at_their_limit(self):
        first = self.start("size=64m", '[limits]\njournal = "1MiB"\njournal_total = "2MiB"\n')
        terminals = [first] + [self.client.call("open", cwd="/")["terminal"]["id"] for _ in range(3)]
        for _ in range(2):
            for terminal in terminals:
                result = self.exec(terminal, "seq 1 200000; (exit 8)")
                self.assertEqual((result["exit_code"], result["total_lines"]), (8, 200_000), result)

    def test_pause_on_a_full_disk_goes_on_when_there_is_room(self):
        terminal = self.start("size=8m", '[limits]\noverflow = "pause"\n')
        self.fill()
        call = self.client.start("exec", terminal=terminal, command="seq 1 20000; (exit 6)", yield_after_ms=50_000)
        until = time.monotonic() + 50
        while not self.paused(terminal):
            self.assertLess(time.monotonic(), until, "it never paused")
            time.sleep(0.01)  # spares the processor
        os.unlink(self.daemon.folder + "/tw/fill")
        result = self.client.answer(call)
        self.assertEqual((result["exit_code"], result["total_lines"], result["lost_bytes"]), (6, 20_000, 0), result)

    def pause(self, terminal):
        call = self.client.start("exec", terminal=terminal, command="seq 1 400000; (exit 6)", yield_after_ms=50_000)
        until = time.monotonic() + 50
        while not self.paused(terminal):
            self.assertLess(time.monotonic(), until, "it never paused")
            time.sleep(0.01)  # spares the processor
        return call

    def went_on(self, call):
        result = self.client.answer(call)
        self.assertEqual((result["exit_code"], result["total_lines"], result["lost_bytes"]), (6, 400_000, 0), result)

    def test_paused_at_the_quota_it_goes_on_when_told_to(self):
        terminal = self.start("size=64m", '[limits]\njournal = "1MiB"\noverflow = "pause"\n')
        other = self.daemon.connect()
        self.addCleanup(other.close)
        self.assertFalse(other.call("resume", terminal=terminal)["resumed"])
        call = self.pause(terminal)
        now = other.call("show", terminal=terminal)["terminal"]
        self.assertTrue(now["journal"]["paused"])
        self.assertIn("ttyward resume", now["command"]["reason"])
        # As much again as it had is not enough: it stops once more.
        self.assertTrue(other.call("resume", terminal=terminal)["resumed"])
        until = time.monotonic() + 50
        while not other.call("resume", terminal=terminal, bytes=16 << 20)["resumed"]:
            self.assertLess(time.monotonic(), until, "it did not pause again")
        self.went_on(call)
        self.true_status(terminal)

    def test_paused_at_the_quota_it_goes_on_when_that_is_raised(self):
        limits = '[limits]\njournal = "%s"\noverflow = "pause"\n'
        terminal = self.start("size=64m", limits % "1MiB")
        call = self.pause(terminal)
        with open(self.daemon.folder + "/tw/config/config.toml", "w") as f:
            f.write(limits % "16MiB")
        other = self.daemon.connect()
        self.addCleanup(other.close)
        self.assertEqual(other.call("reload")["errors"], [])
        self.went_on(call)

    def test_a_pause_outlives_the_daemon(self):
        terminal = self.start("size=64m", '[limits]\njournal = "1MiB"\noverflow = "pause"\n')
        self.pause(terminal)
        self.restart()
        now = self.client.call("show", terminal=terminal)["terminal"]
        self.assertTrue(now["journal"]["paused"], now)
        command = now["command"]["command_id"]
        self.assertTrue(self.client.call("resume", terminal=terminal, bytes=16 << 20)["resumed"])
        self.client.call("wait", command=command, exit=True, timeout_ms=50_000)
        result = self.client.call("result", command=command)
        self.assertEqual((result["exit_code"], result["total_lines"], result["lost_bytes"]), (6, 400_000, 0), result)

    def paused(self, terminal):
        with open(f"{self.daemon.folder}/tw/state/journals/{terminal}.main", "rb") as f:
            f.seek(316)  # conditions, see docs/protocol/journal.md
            return f.read(1)[0] & 2 != 0


if __name__ == "__main__":
    unittest.main()
