"""Standard input that comes with a call arrives as it is, followed by end of file."""
import hashlib
import os
import signal
import unittest

from daemon_client import Daemon


class Stdin(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)

    def run_with(self, command, stdin, **more):
        result = self.daemon.client.call("run", command=command, stdin=stdin, cwd=self.daemon.home, yield_after_ms=30000,
                                         **more)
        self.assertEqual(result["state"], "exited", result)
        return result

    def test_bytes_arrive_unchanged_whatever_they_mean_to_a_terminal(self):
        lines = ("x" * 70 + "\n") * 20000
        for provider in ("pty", "pipe"):
            for text in ("", "hello", "hello\n", "x" * 5000 + "\n", lines, "a\x15b\x7fc\n", "a\tb\rc\n", "a\x03b\n", "x\x1ay",
                         "a\x04b", "\x00\x11\x13\x1c\n", "ä€\n"):
                with self.subTest(provider=provider, text=text[:20]):
                    result = self.run_with("md5sum", text, provider=provider)
                    self.assertEqual(result["output"].split()[0], hashlib.md5(text.encode()).hexdigest())
                    self.assertEqual(result["exit_code"], 0)

    def test_it_is_not_echoed(self):
        self.assertEqual(self.run_with("cat", "hello\n")["output"], "hello\n")

    def test_the_output_is_still_a_terminals(self):
        self.assertEqual(self.run_with("test -t 1 && cat", "yes")["output"], "yes\n")

    def test_programs_that_need_the_end_end(self):
        self.assertEqual(self.run_with("sort", "b\na")["output"], "a\nb\n")
        self.assertEqual(self.run_with("read x; echo \"<$x>\"; cat", "one\ntwo")["output"], "<one>\ntwo\n")

    def test_a_command_that_does_not_read_it_is_not_held_up(self):
        self.assertEqual(self.run_with("true", "x" * 200000)["exit_code"], 0)

    def test_as_much_as_a_message_holds(self):
        size = 15_000_000
        self.assertEqual(self.run_with("wc -c", "x" * size)["output"].strip(), str(size))

    def test_it_outlives_the_daemon(self):
        text = "line\n" * 100000
        fifo = self.daemon.home + "/go"
        os.mkfifo(fifo)
        started = self.daemon.client.call("run", command="cat go; md5sum", stdin=text, cwd=self.daemon.home, yield_after_ms=1)
        # Opens when the command does: it runs.
        with open(fifo, "w"):
            os.kill(self.daemon.pid, signal.SIGKILL)
            self.daemon.wait_for_end()
            self.daemon.client.close()
            self.daemon.start()
        self.daemon.client.call("wait", command=started["command_id"], exit=True, timeout_ms=30000)
        result = self.daemon.client.call("result", command=started["command_id"])
        self.assertEqual(result["output"].split()[0], hashlib.md5(text.encode()).hexdigest(), result)


if __name__ == "__main__":
    unittest.main()
