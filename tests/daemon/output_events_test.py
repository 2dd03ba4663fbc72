"""Events of output that carry the text: what a listener is told is what was printed, line by line."""
import json
import unittest

from daemon_client import CallFailed, Daemon


class OutputEvents(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.client = self.daemon.client

    def test_they_carry_the_text(self):
        terminal = self.client.call("open", shell="/bin/bash", cwd=self.daemon.home)["terminal"]["id"]
        self.client.call("exec", terminal=terminal, command="echo before", yield_after_ms=20_000)
        listener = self.daemon.connect()
        self.addCleanup(listener.close)
        listener.call("subscribe", terminal=terminal, kinds=["output"], text=True)
        self.client.call("exec", terminal=terminal, command="for i in 1 2 3; do echo line $i; sleep 0.2; done; echo over",
                         yield_after_ms=20_000)
        seen = ""
        while "\nover\n" not in seen:
            event = json.loads(listener.lines.readline())
            if event.get("event") == "output":
                seen += event["text"]
        self.assertNotIn("before", seen.split("\n")[0])
        self.assertEqual([line for line in seen.splitlines() if line.startswith("line")], ["line 1", "line 2", "line 3"])

    def test_only_of_a_terminal_that_is_named(self):
        with self.assertRaises(CallFailed):
            self.client.call("subscribe", text=True)


if __name__ == "__main__":
    unittest.main()
