"""Shells started ahead, and what happens where no more terminals may be opened."""
import os
import signal
import subprocess
import unittest

from daemon_client import PATIENCE, TTYWARD, CallFailed, Daemon, eventually


class PoolTest(unittest.TestCase):
    def start(self, config, rc=""):
        self.daemon = Daemon(config)
        self.addCleanup(self.daemon.close)
        self.client = self.daemon.client
        self.rc = self.daemon.home + "/.bashrc"
        with open(self.rc, "w") as f:
            f.write(rc)

    def shells(self):
        """Shells of this daemon's home, by the environment they were given."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    ours = b"HOME=" + self.daemon.home.encode() + b"\0" in f.read()
                with open(f"/proc/{pid}/comm") as f:
                    shell = f.read() == "bash\n"
            except OSError:
                continue
            if ours and shell:
                found.append(int(pid))
        return found

    def starts(self):
        """How many shells have read the start-up file."""
        try:
            with open(self.daemon.home + "/starts") as f:
                return len(f.readlines())
        except FileNotFoundError:
            return 0


class Ahead(PoolTest):
    COUNTING = "echo $$ >> ~/starts\n"

    def test_the_next_ones_are_there_and_end_with_the_daemon(self):
        self.start("[pool]\nsize = 2\n", self.COUNTING)
        first = self.client.call("open", cwd=self.daemon.home)["terminal"]
        eventually(lambda: self.starts() == 3, "two shells ahead")
        subprocess.run([TTYWARD, "daemon", "stop"], env=self.daemon.environment, check=True, timeout=PATIENCE)
        self.assertEqual(self.shells(), [first["pid"]], "only what somebody opened lives on")
        self.daemon.start()

    def test_after_a_kill_the_next_daemon_ends_them(self):
        self.start("[pool]\nsize = 2\n", self.COUNTING)
        first = self.client.call("open", cwd=self.daemon.home)["terminal"]
        eventually(lambda: self.starts() == 3, "two shells ahead")
        os.kill(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait_for_end()
        eventually(lambda: len(self.shells()) == 3, "three shells, without what their start-up files run")
        self.daemon.start()
        eventually(lambda: self.shells() == [first["pid"]], "the end of those started ahead")

    def opened_twice(self, config, rc):
        self.start(config, self.COUNTING + rc)
        first = self.client.call("open", cwd=self.daemon.home)["terminal"]["id"]
        self.client.call("exec", terminal=first, command="true", yield_after_ms=20_000)
        self.client.call("open", cwd=self.daemon.home)
        return self.starts()

    def test_none_is_started_ahead_where_a_start_up_file_takes_a_lock(self):
        self.assertEqual(self.opened_twice("[pool]\nsize = 2\n", "true || flock ~/lock true\n"), 2)

    def test_nor_where_it_is_not_wanted(self):
        self.assertEqual(self.opened_twice('[pool]\nsize = 2\nstart_files = "spare"\n', ""), 2)

    def test_a_remark_about_locks_is_none(self):
        self.start("[pool]\nsize = 1\n", self.COUNTING + "# flock was here; my-tmux.conf too\n")
        self.client.call("open", cwd=self.daemon.home)
        eventually(lambda: self.starts() == 2, "a shell ahead")


class Limit(PoolTest):
    def acquire(self, client=None, **args):
        return (client or self.client).call("acquire", cwd=self.daemon.home, **args)

    def test_who_finds_none_waits_until_one_is_free(self):
        self.start("[pool]\nsize = 0\nlimit = 2\n")
        first = self.acquire(task="a")["terminal"]["id"]
        second = self.acquire(task="b")["terminal"]["id"]
        running = {}
        for terminal in (first, second):
            running[terminal] = self.client.call("exec", terminal=terminal, command=f"until test -e {terminal}; do sleep 0.01; done",
                                                 yield_after_ms=1)["command_id"]
        other = self.daemon.connect()
        self.addCleanup(other.close)
        asked = [other.start("acquire", cwd=self.daemon.home, task=task, wait_ms=50_000) for task in ("c", "d")]
        listed = other.call("list")["terminals"]
        self.assertEqual(len(listed), 2, "nothing was opened beyond the limit")
        open(f"{self.daemon.home}/{second}", "w").close()
        came = other.answer(asked[0])
        self.assertEqual((came["terminal"]["id"], came["created"]), (second, False))
        # The other one waits for a terminal to end, too.
        self.client.call("kill", terminal=first, force=True)
        came = other.answer(asked[1])
        self.assertTrue(came["created"])

    def test_in_time_or_not_at_all(self):
        self.start('[pool]\nsize = 0\nwait = "0s"\n[limits]\nterminals = 1\n')
        self.acquire(task="a")
        for args in ({}, {"wait_ms": 50}):
            with self.assertRaises(CallFailed) as failed:
                self.acquire(task="b", **args)
            self.assertEqual(failed.exception.code, "exhausted")
            self.assertIn("limits.terminals", str(failed.exception))


if __name__ == "__main__":
    unittest.main()
