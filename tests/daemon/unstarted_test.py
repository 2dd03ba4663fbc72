"""A daemon that dies between taking a command and starting it: the call that is sent again runs it, once."""
import json
import os
import signal
import unittest

from daemon_client import CallFailed, Daemon


class Unstarted(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.count = self.daemon.home + "/count"
        self.command = "echo ran >> count"
        ran = self.daemon.client.call("run", command=self.command, cwd=self.daemon.home, yield_after_ms=30000)
        self.assertEqual(self.runs(), 1)
        self.id = ran["command_id"]
        self.die_before_the_start(ran["terminal_id"])

    def runs(self):
        with open(self.count) as f:
            return len(f.readlines())

    def die_before_the_start(self, terminal):
        """Leaves what such a death leaves: the terminal's description in its log, and no journal."""
        os.kill(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait_for_end()
        self.daemon.client.close()
        state = self.daemon.folder + "/tw/state"
        log = f"{state}/terminals/{terminal}.log"
        with open(log) as f:
            description = f.readline()
        self.assertEqual(json.loads(description)["k"], "spec")
        with open(log, "w") as f:
            f.write(description)
        os.unlink(f"{state}/journals/{terminal}.main")
        os.unlink(self.count)
        self.daemon.start()

    def again(self, command=None):
        return self.daemon.client.call("run", command=command or self.command, command_id=self.id, cwd=self.daemon.home,
                                       yield_after_ms=30000)

    def test_it_is_told_as_not_started(self):
        self.assertEqual(self.daemon.client.call("result", command=self.id)["state"], "failed_to_start")
        self.assertFalse(os.path.exists(self.count))

    def test_the_same_call_runs_it_once(self):
        result = self.again()
        self.assertEqual((result["state"], result["exit_code"], result["command_id"]), ("exited", 0, self.id))
        self.assertEqual(self.again()["exit_code"], 0)
        self.assertEqual(self.runs(), 1)
        rows = [row for row in self.daemon.client.call("history")["commands"] if row["command_id"] == self.id]
        self.assertEqual([row["state"] for row in rows], ["exited"])

    def test_a_log_without_a_word_is_no_terminal_and_goes(self):
        log = self.daemon.folder + "/tw/state/terminals/tabcdefghijkl.log"
        self.daemon.client.call("stop")
        self.daemon.wait_for_end()
        self.daemon.client.close()
        with open(log, "w") as f:
            os.chmod(log, 0o600)
        self.daemon.start()
        self.assertEqual(self.daemon.client.call("status").get("warnings") or [], [])
        self.assertFalse(os.path.exists(log))

    def test_another_command_does_not_get_its_id(self):
        with self.assertRaises(CallFailed) as failed:
            self.again("echo other")
        self.assertEqual(failed.exception.code, "already_exists")
        self.assertFalse(os.path.exists(self.count))


if __name__ == "__main__":
    unittest.main()
