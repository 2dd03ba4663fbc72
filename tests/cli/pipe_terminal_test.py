"""Terminals on pipes: a shell that stays, without a tty; every shell that can do it, and what it must not do."""
import os
import shutil
import unittest

from harness import CliTest, eventually, main

SHELLS = [["bash"], ["dash"], ["zsh"], ["busybox", "ash"], ["mksh"], ["ksh"]]


class PipeTerminal(CliTest):
    def shells(self):
        """Names to give to --shell, of those this machine has."""
        for words in SHELLS:
            path = shutil.which(words[0])
            if path is None:
                continue
            if len(words) > 1:
                link = self.path(words[1])
                if not os.path.exists(link):
                    os.symlink(path, link)
                yield words[1], link
            else:
                yield words[0], path

    def exec(self, terminal, command, *options):
        return self.json("exec", *options, terminal, command)

    def test_commands_one_after_the_other(self):
        for name, path in self.shells():
            with self.subTest(shell=name):
                opened = self.json("open", "--pipe", "--name", name, "--shell", path)["terminal"]
                self.assertEqual((opened["provider"], opened["integration"], opened["state"]), ("pipe", "none", "idle"))
                for command, code, output in (
                        ("echo out; echo err >&2; (exit 7)", 7, "out\nerr\n"),
                        ("cd /usr; v=5", 0, ""),
                        ("echo $v $PWD", 0, "5 /usr\n"),
                        ("test -t 0 || test -t 1 || echo no tty", 0, "no tty\n"),
                        ("cat; read x; echo read $?", 0, "read 1\n"),
                        ("printf 'no end'", 0, "no end\n"),
                        ("cat <<E\na b 'c' \"d\" !e $(echo f)\nE\nfalse", 1, "a b 'c' \"d\" !e f\n"),
                        ("sleep 0.3 & echo $((1+1))", 0, "2\n"),
                        ("sh -c 'kill -9 $$'", 256 + 9 if name == "ksh" else 128 + 9, None),
                        ("printf '\\033]633;D;0;;1;fake\\007'; (exit 3)", 3, None),
                        ("f() { return 4; }; f", 4, "")):
                    result = self.exec(name, command)
                    self.assertEqual((result["state"], result["exit_code"], result["known_by"]),
                                     ("exited", code, "sentinel"), result)
                    if output is not None:
                        self.assertEqual(result["output"], output, command)
                    self.assertEqual(result["provider"], "pipe")
                self.assertEqual(self.exec(name, "cd /tmp")["cwd_after"], "/tmp")
                self.assertEqual(self.exec(name, "pwd", "--cwd", "/")["output"], "/\n")
                self.assertEqual(self.exec(name, "pwd")["output"], "/tmp\n")
                if name != "mksh":  # which ends, as POSIX lets a shell without a person do
                    wrong = self.exec(name, "if true; then (")
                    self.assertNotEqual(wrong["exit_code"], 0, wrong)
                self.assertEqual(self.exec(name, "echo still here")["output"], "still here\n", name)
                long = self.exec(name, "x='" + "y" * 100_000 + "'; echo ${#x}")
                self.assertEqual(long["output"], "100000\n")
                gone = self.exec(name, "exit 9")
                self.assertEqual((gone["state"], gone["exit_code"], gone["known_by"]), ("exited", 9, "wait"), gone)
                self.assertEqual(self.terminal(name)["state"], "finished")

    def test_interrupt_ends_the_command_and_not_the_shell(self):
        for name, path in self.shells():
            with self.subTest(shell=name):
                self.ok("open", "--pipe", "--name", name, "--shell", path)
                self.exec(name, "kept=yes")
                running = self.start("--json", "exec", name, "/bin/sleep 100")
                self.wait_for_program("/bin/sleep 100", name)
                self.ok("interrupt", name)
                code, out, err = self.end_of(running)
                self.assertIn('"state":"interrupted"', out)
                self.assertEqual(self.exec(name, "echo $kept")["output"], "yes\n")
                limited = self.exec(name, "/bin/sleep 100", "--timeout", "0.3")
                self.assertEqual(limited["state"], "timed_out", limited)
                self.assertEqual(self.exec(name, "echo $kept", "--wait")["output"], "yes\n")

    def test_what_it_cannot_do_is_said(self):
        self.ok("open", "--pipe", "--name", "p", "--shell", "bash")
        refused = self.ttyward("send", "p", "--text", "echo hi")
        self.assertEqual(refused.returncode, 125, refused)
        self.assertIn("on pipes", refused.stderr)
        if shutil.which("fish"):
            refused = self.ttyward("open", "--pipe", "--shell", "fish")
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("does not run commands from a pipe", refused.stderr)

    def test_it_is_found_again_after_a_crash(self):
        self.ok("open", "--pipe", "--name", "p", "--shell", "bash")
        self.exec("p", "cd /usr; v=5")
        running = self.start("exec", "p", f"echo one; touch {self.path('begun')}; "
                                          f"until [ -e {self.path('go')} ]; do sleep 0.02; done; echo two; (exit 6)")
        eventually(lambda: os.path.exists(self.path("begun")))
        self.kill_daemon()
        open(self.path("go"), "w").close()
        self.assertEqual(self.end_of(running), (6, "one\ntwo\n", ""))
        result = self.exec("p", "echo $v $PWD")
        self.assertEqual((result["output"], result["provider"], result["cwd"]), ("5 /usr\n", "pipe", "/usr"))

    def test_reuse_keeps_to_its_kind(self):
        first = self.ok("open", "--pipe", "--cwd", "/usr").strip()
        second = self.ok("open", "--reuse", "--cwd", "/usr").strip()
        self.assertNotEqual(first, second)
        self.assertEqual(self.ok("open", "--reuse", "--pipe", "--cwd", "/usr").strip(), first)

    def test_set_e_and_set_x(self):
        self.ok("open", "--pipe", "--name", "p", "--shell", "bash")
        self.exec("p", "set -x")
        self.assertEqual(self.exec("p", "true")["exit_code"], 0)
        self.assertNotIn("633", self.exec("p", "echo a")["output"])
        self.exec("p", "set +x; set -e")
        ended = self.exec("p", "false")
        self.assertEqual((ended["exit_code"], ended["known_by"]), (1, "wait"))


if __name__ == "__main__":
    main()
