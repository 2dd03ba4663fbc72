"""Secrets that a person types: they reach the program, and no file of ours."""
import os

from harness import TTYWARD, CliTest, Tmux, eventually, main

ASKS = "stty -echo; echo 'Password:'; read -r p; stty echo; echo length ${#p}"  # it asks once nothing is echoed


class Secrets(CliTest):
    def files_with(self, text):
        found = []
        for folder, _, names in os.walk(self.home):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as f:
                        if text.encode() in f.read():
                            found.append(path)
        return found

    def test_a_secret_that_is_sent_is_recorded_nowhere(self):
        self.open()
        self.assertEqual(self.ttyward("exec", "build", ASKS).returncode, 75)
        self.ok("send", "build", "--secret", input="correct-horse-42\n")
        eventually(lambda: "length 16" in self.ok("read", "build"), "the answer")
        self.assertEqual(self.files_with("correct-horse"), [])

    def test_a_password_typed_into_an_attached_terminal_is_recorded_nowhere(self):
        self.open()
        tmux = Tmux(self)
        tmux.line(f"{TTYWARD} attach build")
        tmux.wait_for("build | C-] leaves")
        tmux.line(ASKS)
        tmux.wait_for("\nPassword:")
        tmux.line("battery-staple-7")
        tmux.wait_for("length 16")
        tmux.line("echo still $((40 + 2))")
        tmux.wait_for("still 42")
        tmux.keys("C-]")
        self.assertEqual(self.files_with("battery-staple"), [])
        # What was typed is followed as before, also by the next daemon.
        self.kill_daemon()
        commands = [c["command"] for c in self.json("show", "build")["commands"]]
        self.assertEqual(commands, [ASKS, "echo still $((40 + 2))"])

    def test_a_secret_in_a_command_is_not_in_the_terminals_log_once_it_is_over(self):
        id = self.open()
        log = self.home + "/state/terminals/" + id + ".log"
        self.ok("exec", "build", "true --password hunter2-in-a-command; echo one")
        self.ok("exec", "build", "echo two")
        with open(log) as f:
            kept = f.read()
        self.assertNotIn("hunter2", kept)
        self.assertIn("true --password ***", kept)
        # The next daemon finds the same commands, and their results.
        self.kill_daemon()
        shown = self.json("show", "build")["commands"]
        self.assertEqual([(c["command"], c["exit_code"]) for c in shown],
                         [("true --password ***; echo one", 0), ("echo two", 0)])
        self.assertEqual(self.ok("read", shown[0]["command_id"]), "one\n")
        self.assertEqual(self.ok("exec", "build", "echo three"), "three\n")

    def test_a_log_stays_small(self):
        id = self.open()
        log = self.home + "/state/terminals/" + id + ".log"
        for i in range(60):  # more than are remembered, and each is long
            self.ok("exec", "build", f": {'x' * 60000}; echo {i}")
        self.assertLess(os.path.getsize(log), 8 << 20)
        self.kill_daemon()
        commands = self.json("show", "build")["commands"]
        self.assertEqual(commands[-1]["command"].split("; ")[1], "echo 59")
        self.assertEqual(self.ok("read", commands[-1]["command_id"]), "59\n")


if __name__ == "__main__":
    main()
