"""What a person gets to read when they write something wrong: one line that says what to do, and exit code 2."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import CliTest, main  # noqa: E402


class WrongInput(CliTest):
    def refused(self, said, *args, code=2):
        done = self.ttyward(*args)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(said, done.stderr)

    def test_words_that_are_no_verbs(self):
        self.refused("there is no verb 'rnu'; did you mean run?", "rnu", "ls")
        self.refused("there is no verb 'frobnicate' (see", "--json", "frobnicate")

    def test_what_is_missing_or_no_number(self):
        self.refused("name what to do: run, status, metrics, stop", "daemon")
        self.refused("--timeout abc is not a number", "run", "--timeout", "abc", "ls")
        self.refused("give a command", "run")

    def test_a_home_that_is_not_absolute(self):
        self.environment["TTYWARD_HOME"] = "somewhere"
        self.refused("TTYWARD_HOME must be an absolute path, not somewhere", "daemon", "status")

    def test_names_nobody_knows(self):
        self.refused("nope", "exec", "nope", "ls")
        self.refused("there is no terminal or command 'nope'", "kill", "nope")
        self.refused("there is no open question nope", "approvals", "allow", "nope")
        done = self.ttyward("release", "nope")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done)
        self.assertIn("no terminal has the task nope", done.stderr)

    def test_a_home_that_cannot_be(self):
        self.environment["TTYWARD_HOME"] = "/dev/null/x"
        self.refused("/dev/null/x", "ls", code=125)
        done = self.ttyward("run", "echo hi")
        self.assertEqual((done.returncode, done.stdout), (0, "hi\n"), "it needs none")

    def test_the_version_names_what_others_have_to_match(self):
        first, *rest = self.ok("--version").splitlines()
        self.assertRegex(first, r"^ttyward \d+\.\d+\.\d+$")
        text = "\n".join(rest)
        for what in ("SQLite 3.", "socket 1", "MCP 20"):
            self.assertIn(what, text)


if __name__ == "__main__":
    main()
