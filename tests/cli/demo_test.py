"""ttyward demo: every claim holds, and nothing is left of it."""
import os
import re
import shutil
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import CliTest, Tmux, eventually, main, processes_of  # noqa: E402

CLAIMS = [
    r"exit code 2, known by shell_mark",
    r"exit code 0, and the pipeline's parts ended with 3 and 0",
    r"it waits for a line: Your favourite colour\?",
    r"answered, and it ended with 0",
    r"1000 updates, \d{5} bytes, shown as 2 lines",
    r"denied, because it deletes a whole system or home directory: /",
    r"it waits for approval, and nothing was done",
    r"refused: 'answer' is not for agents.*",
    r"allowed once, and now it has run",
    r"the command ran on while there was no daemon",
    r"the new daemon knows its output and its exit code 7",
]


class Demo(CliTest):
    def setUp(self):
        super().setUp()
        self.environment["TMPDIR"] = self.folder
        # The tour brings its own: nothing of the user's is needed.
        del self.environment["TTYWARD_PERSON_TOKEN_FILE"]
        shutil.rmtree(self.home)

    def assert_nothing_left(self):
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("ttyward-demo-")], [])
        eventually(lambda: not processes_of(self.folder + "/ttyward-demo-"), "the end of what the tour started")
        self.assertFalse(os.path.exists(self.home), "the user's own folders are not touched")

    def test_every_claim_holds(self):
        done = self.ttyward("demo")
        self.assertEqual(done.returncode, 0, done)
        told = re.findall(r"^   ok: (.*)$", done.stdout, re.MULTILINE)
        self.assertEqual(len(told), len(CLAIMS), done.stdout)
        for text, pattern in zip(told, CLAIMS):
            self.assertRegex(text, f"^{pattern}$")
        self.assertNotIn("NOT SO", done.stdout)
        self.assert_nothing_left()

    def test_as_json(self):
        claims = self.json("demo")["claims"]
        self.assertEqual([claim["held"] for claim in claims], [True] * len(CLAIMS))

    def test_at_a_terminal_it_waits_for_the_reader_and_ends_when_told(self):
        tmux = Tmux(self)
        tmux.line(f"{os.environ['TTYWARD']} demo; echo ended with $?")
        tmux.wait_for("1. How a command ended", "(any key goes on)")
        tmux.keys("Space")
        tmux.wait_for("2. A command that asks", "(any key goes on)")
        tmux.keys("C-c")
        tmux.wait_for(f"ended with {128 + signal.SIGINT}")
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
