"""A digest is the same text everywhere: of recorded output, of a command that is run, in a terminal, and read later."""
import json
import os
import pty

from harness import TTYWARD, CliTest, main

LINE = "for i in $(seq 1 3000); do echo copied block $i of the disk; done; echo cannot read block 77; exit 3"


class Digest(CliTest):
    def test_it_is_the_same_for_everybody(self):
        ran = self.ttyward("run", "--view", "digest", LINE)
        self.assertEqual(ran.returncode, 3, ran)
        self.assertIn("cannot read block 77", ran.stdout)
        self.assertIn("×3000", ran.stdout)
        self.assertLess(len(ran.stdout), 300)
        whole = self.ttyward("run", "--view", "full", LINE).stdout
        self.assertEqual(self.ttyward("digest", "--command", LINE, "--exit", "3", input=whole).stdout, ran.stdout)
        self.open()
        line = LINE.replace("exit 3", "(exit 3)")
        executed = self.ttyward("exec", "build", line, "--view", "digest")
        self.assertEqual((executed.returncode, executed.stdout), (3, ran.stdout))
        command = self.json("history")["commands"][0]["command_id"]
        self.assertEqual(self.ttyward("read", command, "--view", "digest").stdout, ran.stdout)

    def test_of_a_long_output_it_is_the_same(self):
        line = LINE.replace("3000", "20000")  # more than is read in one turn of the daemon's loop
        self.open()
        executed = self.ttyward("exec", "build", line.replace("exit 3", "(exit 3)"), "--view", "digest")
        whole = self.ttyward("run", "--view", "full", line).stdout
        self.assertEqual(executed.stdout, self.ttyward("digest", "--command", line, "--exit", "3", input=whole).stdout)
        self.assertIn("×20000", executed.stdout)

    def test_what_was_found_comes_as_data(self):
        text = "a.c:5:11: error: no member named 'z'\n"
        found = json.loads(self.ok("--json", "digest", "--command", "make", input=text))
        self.assertEqual(found["diagnostics"][0], {"file": "a.c", "line": 5, "column": 11, "severity": "error",
                                                   "message": "no member named 'z'", "at": 1})
        with open(self.work + "/a.c", "w") as f:
            f.write(text)
        result = json.loads(self.ttyward("--json", "run", "--view", "digest", "cat a.c; exit 1").stdout)
        self.assertEqual(result["facts"]["diagnostics"][0]["line"], 5)

    def test_it_is_coloured_in_a_terminal_only(self):
        pid, master = pty.fork()
        if pid == 0:
            os.execve(TTYWARD, [TTYWARD, "run", "--view", "digest", "echo fatal: no"], dict(self.environment, TERM="xterm-256color"))
        seen = b""
        while True:
            try:
                got = os.read(master, 4096)
            except OSError:
                break
            if not got:
                break
            seen += got
        os.waitpid(pid, 0)
        os.close(master)
        self.assertIn(b"\x1b[31mfatal: no", seen)
        self.assertEqual(self.ok("run", "--view", "digest", "echo no fatality"), "no fatality\n")


if __name__ == "__main__":
    main()
