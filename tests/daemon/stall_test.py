"""One call that is much work must not make others wait: the longest that another client had to, in each case."""
import os
import threading
import time
import unittest

from daemon_client import CallFailed, Daemon

# Seconds. A slice is some milliseconds; the rest is for a loaded machine. Each case took ten seconds or more.
LONGEST = 1.5


class Neighbour(threading.Thread):
    """Asks something small again and again."""

    def __init__(self, daemon):
        super().__init__()
        self.client = daemon.connect()
        self.longest = 0
        self.over = threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.005):
            begun = time.monotonic()
            self.client.call("status")
            self.longest = max(self.longest, time.monotonic() - begun)

    def stop(self):
        self.over.set()
        self.join()
        self.client.close()
        return self.longest


class Stall(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon('[limits]\njournal = "512MiB"\n')
        cls.client = cls.daemon.client

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def setUp(self):
        self.terminal = self.client.call("open", cwd=self.daemon.home)["terminal"]["id"]
        self.neighbour = None

    def tearDown(self):
        self.client.call("kill", terminal=self.terminal)

    def exec(self, command):
        return self.client.call("exec", terminal=self.terminal, command=command, yield_after_ms=120_000)

    def beside(self, work):
        neighbour = Neighbour(self.daemon)
        try:
            return work()
        finally:
            longest = neighbour.stop()
            print(f"{self.id().split('.')[-1]}: {longest * 1000:.0f} ms")
            self.assertLess(longest, LONGEST)

    def test_a_flood_of_repetitions(self):
        path = self.daemon.home + "/bomb"
        with open(path, "w") as f:
            f.write("x\033[65535b" * 120_000)
        result = self.beside(lambda: self.exec(f"cat {path}; (exit 3)"))
        self.assertEqual(result["exit_code"], 3, result)
        os.unlink(path)

    def test_a_flood_of_repeated_wide_characters(self):
        path = self.daemon.home + "/bomb"
        with open(path, "w") as f:
            f.write("漢\033[65535b" * 5_000)
        result = self.beside(lambda: self.exec(f"cat {path}; (exit 3)"))
        self.assertEqual(result["exit_code"], 3, result)
        os.unlink(path)

    def test_a_search_in_much_output(self):
        result = self.exec("seq 1 12000000")
        found = self.beside(lambda: self.client.call("read", command=result["command_id"], grep="^1?1999999$"))
        self.assertEqual([match["line"] for match in found["matches"]], [1999999, 11999999], found)

    def test_a_pattern_that_is_too_long(self):
        result = self.exec("seq 1 100000")

        def search():
            with self.assertRaises(CallFailed) as raised:
                self.client.call("read", command=result["command_id"], grep="a" * 40_000)
            self.assertIn("at most 1000", str(raised.exception))
        self.beside(search)
        with self.assertRaises(CallFailed):
            self.client.call("read", command=result["command_id"], grep="((a{100}){100}){9}")


if __name__ == "__main__":
    unittest.main()
