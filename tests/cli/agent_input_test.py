"""What an agent types reaches the program that asks, and nothing of it the shell behind that program."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import CliTest, eventually, main  # noqa: E402


class AgentInput(CliTest):
    def asking(self, command):
        """A terminal in which a program waits for a line."""
        self.open("build", "--owner", "agent")
        done = self.ttyward("exec", "build", command)
        self.assertEqual(done.returncode, 75, done)

    def as_agent(self, *args, input):
        self.environment["TTYWARD_ROLE"] = "agent"
        try:
            return self.ttyward(*args, input=input)
        finally:
            del self.environment["TTYWARD_ROLE"]

    def assert_only_the_program_gets(self, *args, inputs):
        for text in inputs:
            done = self.as_agent("send", "build", *args, input=text)
            self.assertEqual(done.returncode, 2, (text, done))
            self.assertIn("one", done.stderr)
        self.ok("send", "build", "--text", "it is me", "--enter")
        eventually(lambda: self.terminal()["state"] == "idle", "the end of the program")
        self.ok("exec", "build", "true")  # after all that was typed
        self.assertEqual(os.listdir(self.work), [])

    def test_agents_work_below_the_roots_they_were_given(self):
        os.makedirs(self.home + "/config", mode=0o700)
        with open(os.open(self.home + "/config/config.toml", os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write(f'[policy]\nallowed_roots = ["{self.work}"]\n')
        os.symlink("/", self.work + "/out")
        os.mkdir(self.work + "-not")
        for elsewhere in ("/", self.work + "/..", self.work + "/out/tmp", self.work + "-not"):
            done = self.as_agent("open", "--cwd", elsewhere, input="")
            self.assertNotEqual(done.returncode, 0, elsewhere)
            self.assertIn("outside", done.stderr, elsewhere)
        os.mkdir(self.work + "/below")
        self.assertEqual(self.as_agent("open", "--cwd", self.work + "/below", input="").returncode, 0)
        self.ok("open", "--cwd", "/")  # a person goes where they like
        os.rmdir(self.work + "/below")
        os.unlink(self.work + "/out")

    def test_a_line_is_one_line(self):
        self.asking("bash -c 'read -p \"Name? \" name'")
        self.assert_only_the_program_gets("--stdin", inputs=[
            "me\ntouch pwned\n", "me\rtouch pwned\r", "\x03touch pwned\r", "\x04touch pwned\r", "\x1atouch pwned\r"])

    def test_a_secret_is_one_line(self):
        self.asking("bash -c 'read -s -p \"Password: \" x'")
        self.assert_only_the_program_gets("--secret", inputs=["me\ntouch pwned", "me\rtouch pwned", "\x03touch pwned"])

    def test_a_secret_is_followed_by_one_enter(self):
        """A second one would answer the next question."""
        self.asking("bash -c 'read -s -p \"Password: \" x; echo; read -p \"Sure? \" y; echo \"<$x> <$y>\"'")
        self.ok("send", "build", "--secret", input="sesame\n")
        eventually(lambda: "Sure?" in self.ok("read", "build"), "the second question")
        self.ok("send", "build", "--text", "yes", "--enter")
        eventually(lambda: "<sesame> <yes>" in self.ok("read", "build"), "both answers")

    def test_replies_given_ahead_are_for_programs_that_read(self):
        self.open("build", "--owner", "agent")
        self.as_agent("expect", "build", "echo go; sleep 3", "--when", "go", "--reply", "touch pwned", input="")
        eventually(lambda: self.terminal()["state"] == "idle", "the end of the command")
        self.ok("exec", "build", "true")
        self.assertEqual(os.listdir(self.work), [])
        done = self.as_agent("expect", "build", "bash -c 'read -p \"Name? \" x; echo \"<$x>\"'", "--when", "Name", "--reply",
                             "Ada", input="")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("<Ada>", done.stdout)


if __name__ == "__main__":
    main()
