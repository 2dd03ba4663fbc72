"""Commands with `try` in a daemon: the list in the result, the calls about it, and a daemon that is killed meanwhile."""
import os
import signal
import unittest

from daemon_client import CallFailed, Daemon, eventually


class Try(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(lambda: self.daemon.close())
        self.work = self.daemon.folder + "/ws"
        os.mkdir(self.work)
        with open(self.work + "/a.txt", "w") as f:
            f.write("one\n")

    def text(self, name):
        with open(f"{self.work}/{name}") as f:
            return f.read()

    def run_it(self, command, **args):
        return self.daemon.client.call("run", command=command, cwd=self.work, **{"try": True, **args})

    def test_the_result_has_the_list_and_calls_go_on_with_it(self):
        result = self.run_it("echo 2 > a.txt; echo n > n")
        self.assertEqual(result["exit_code"], 0, result)
        changes = result["changes"]
        self.assertEqual((changes["state"], changes["added"], changes["changed"]), ("finished", 1, 1))
        name = result["command_id"]
        client = self.daemon.client
        self.assertEqual([s["command_id"] for s in client.call("change_sets")["sets"]], [name])
        self.assertIn("+2\n", client.call("changes", command=name, diff=True)["diff"])
        self.assertEqual(client.call("apply", command=name)["applied"], ["a.txt", "n"])
        self.assertEqual(self.text("a.txt"), "2\n")
        self.assertEqual(client.call("undo", cwd=self.work)["applied"], ["a.txt", "n"])
        self.assertEqual(self.text("a.txt"), "one\n")
        client.call("discard", command=name)
        with self.assertRaises(CallFailed):
            client.call("changes", command=name)

    def test_it_is_not_run_without_a_layer(self):
        with self.assertRaises(CallFailed):
            self.run_it("echo 2 > a.txt", sandbox="none")
        self.assertEqual(self.text("a.txt"), "one\n")

    def test_an_agent_sees_its_own_and_does_not_apply(self):
        agent = self.daemon.connect("agent", session="s1", secret="a secret of the first")
        self.addCleanup(agent.close)
        name = agent.call("run", command="ls", cwd=self.work, **{"try": True})["command_id"]
        agent.call("changes", command=name)
        with self.assertRaises(CallFailed):
            agent.call("apply", command=name)
        other = self.daemon.connect("agent", session="s2", secret="a secret of the other")
        self.addCleanup(other.close)
        with self.assertRaises(CallFailed):
            other.call("changes", command=name)
        self.assertEqual(other.call("change_sets")["sets"], [])

    def test_a_killed_daemon_loses_nothing(self):
        started = self.run_it("echo 2 > a.txt; until test -e /tmp/never; do sleep 0.05; done", yield_after_ms=300)
        name = started["command_id"]
        self.assertEqual((started["state"], started["changes"]["state"]), ("running", "running"))
        os.kill(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait_for_end()
        self.daemon.client.close()
        self.daemon.start()
        client = self.daemon.client
        with self.assertRaises(CallFailed):  # it runs
            client.call("apply", command=name)
        client.call("interrupt", command=name)
        client.call("wait", command=name, exit=True)
        self.assertTrue(eventually(lambda: client.call("changes", command=name)["changes"]["state"] == "finished"))
        self.assertEqual(client.call("apply", command=name)["applied"], ["a.txt"])
        self.assertEqual(self.text("a.txt"), "2\n")


if __name__ == "__main__":
    unittest.main()
