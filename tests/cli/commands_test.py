"""Commands in terminals that stay: run, awaited, answered, read and ended from the command line."""
import os
import signal

from harness import TTYWARD, CliTest, Tmux, eventually, main


class Commands(CliTest):
    def test_a_terminal_stays_and_exit_codes_pass_through(self):
        id = self.open("build", "--task", "t1")
        self.assertRegex(id, "^t[a-z2-7]{12}$")
        os.mkdir(self.path("sub"))
        self.ok("exec", "build", "cd sub; export ANSWER=42")
        done = self.ttyward("exec", id[:6], "pwd; echo $ANSWER; (exit 3)")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, f"{self.work}/sub\n42\n", ""))
        for code in (0, 1, 126, 127, 255):
            self.assertEqual(self.ttyward("exec", "build", f"(exit {code})").returncode, code)
        self.assertEqual(self.ttyward("exec", "build", "no-such-program-anywhere").returncode, 127)
        self.assertEqual(self.ttyward("exec", "build", "bash -c 'kill -KILL $$'").returncode, 137)
        listed = self.ok("ls")
        self.assertIn(id, listed)
        self.assertIn("t1", listed)

    def test_arguments_after_dashes_are_a_programs_own(self):
        self.open()
        self.assertEqual(self.ok("exec", "build", "--", "printf", "%s|", "a b", "$HOME", "it's").rstrip("\n"), "a b|$HOME|it's|")

    def test_json_is_the_result(self):
        id = self.open()
        result = self.json("exec", "build", "echo hi; (exit 5)")
        self.assertEqual((result["state"], result["exit_code"], result["output"], result["terminal_id"]),
                         ("exited", 5, "hi\n", id))

    def test_output_comes_while_it_runs(self):
        self.open()
        process = self.start("exec", "build", "echo first; until test -e go; do sleep 0.01; done; echo second")
        self.assertEqual(process.stdout.readline(), "first\n")
        open(self.path("go"), "w").close()
        self.assertEqual(self.end_of(process), (0, "second\n", ""))

    def test_yield_leaves_it_running_and_wait_has_its_end(self):
        self.open()
        done = self.ttyward("exec", "build", "until test -e go; do sleep 0.01; done; echo done; (exit 4)", "--yield", "0.2")
        self.assertEqual(done.returncode, 75, done)
        self.assertIn("ttyward wait c", done.stderr)
        command = done.stderr.partition("ttyward wait ")[2].split()[0]
        waiting = self.start("wait", command)
        open(self.path("go"), "w").close()
        self.assertEqual(self.end_of(waiting), (4, "exit 4\n", ""))
        self.assertEqual(self.ttyward("wait", "build").returncode, 4)
        self.assertEqual(self.ok("read", command[:7]), "done\n")

    def test_a_time_limit_is_124(self):
        self.open()
        done = self.ttyward("exec", "build", "echo begun; sleep 1000", "--timeout", "3")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (124, "begun"), done)
        self.assertEqual(self.ok("exec", "build", "echo still usable", "--wait"), "still usable\n")

    def test_a_busy_terminal_fails_or_is_waited_for(self):
        self.open()
        first = self.start("exec", "build", "echo up; until test -e go; do sleep 0.01; done")
        self.assertEqual(first.stdout.readline(), "up\n")
        done = self.ttyward("exec", "build", "echo no")
        self.assertEqual((done.returncode, done.stdout), (125, ""), done)
        second = self.start("exec", "build", "echo after", "--wait")
        open(self.path("go"), "w").close()
        self.assertEqual(self.end_of(second), (0, "after\n", ""))

    def test_interrupting_exec_interrupts_the_command(self):
        self.open()
        process = self.start("exec", "build", "echo up; sleep 1000")
        self.assertEqual(process.stdout.readline(), "up\n")
        self.wait_for_program("sleep 1000")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.end_of(process)[0], 130)
        self.assertEqual(self.ok("exec", "build", "echo there", "--wait"), "there\n")

    def test_the_second_interrupt_leaves_it_running(self):
        self.open()
        process = self.start("exec", "build", "bash -c \"trap 'echo caught' INT; echo up; "
                             "until test -e go; do sleep 0.01; done; echo end\"")
        self.assertEqual(process.stdout.readline(), "up\n")
        process.send_signal(signal.SIGINT)
        self.assertIn("caught", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        code, _, err = self.end_of(process)
        self.assertEqual(code, 75)
        self.assertIn("left it running", err)
        open(self.path("go"), "w").close()
        self.assertEqual(self.ttyward("wait", "build").returncode, 0)

    def test_a_reader_that_has_enough_ends_us_not_the_command(self):
        self.open()
        process = self.start("exec", "build", "echo one; until test -e go; do sleep 0.01; echo more; done; touch ended")
        self.assertEqual(process.stdout.readline(), "one\n")
        process.stdout.close()
        self.assertEqual(process.wait(60), 141)
        process.stdout = None
        open(self.path("go"), "w").close()
        eventually(lambda: os.path.exists(self.path("ended")))

    def test_several_terminals_by_prefix(self):
        ids = [self.open(f"n{i}") for i in range(3)]
        done = self.ttyward("kill", "t")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.ok("kill", *ids)
        self.assertEqual(self.ok("ls"), "")


class Consent(CliTest):
    def test_a_critical_command_waits_and_says_so(self):
        self.open()
        process = self.start("exec", "build", f"echo begun; {TTYWARD} approvals")
        told = process.stderr.readline() + process.stderr.readline()
        self.assertIn("ttyward approvals allow a", told)
        approval = told.partition("ttyward approvals allow ")[2].split(",")[0]
        self.ok("approvals", "allow", approval)
        code, out, _ = self.end_of(process)
        self.assertEqual((code, out.splitlines()[0]), (0, "begun"))


class Input(CliTest):
    def test_a_question_is_told_and_answered(self):
        self.open()
        done = self.ttyward("exec", "build", "read -p 'name? ' n; echo got $n")
        self.assertEqual(done.returncode, 75, done)
        self.assertEqual(done.stderr.count("waits for input: name?"), 1, done.stderr)
        self.assertIn("ttyward send build --text ANSWER --enter", done.stderr)
        self.ok("send", "build", "--text", "Anna", "--enter")
        self.assertEqual(self.ttyward("wait", "build").stdout, "exit 0\n")
        self.assertIn("got Anna", self.ok("read", "build"))

    def test_a_secret_comes_from_stdin_and_is_nowhere_afterwards(self):
        self.open()
        done = self.ttyward("exec", "build", "read -s -p 'Password: ' p; echo; echo ${#p}")
        self.assertIn("--secret", done.stderr)
        self.ok("send", "build", "--secret", input="correct-horse\n")
        self.assertEqual(self.ttyward("wait", "build").returncode, 0)
        self.assertIn("\n13\n", self.ok("read", "build"))
        self.end_daemon()
        for folder, _, names in os.walk(self.home):
            for name in names:
                if os.path.isfile(os.path.join(folder, name)):
                    with open(os.path.join(folder, name), "rb") as f:
                        self.assertNotIn(b"correct-horse", f.read(), name)

    def test_a_secret_is_not_typed_where_it_would_be_seen(self):
        self.open()
        self.assertEqual(self.ttyward("exec", "build", "read -p 'name? ' n; echo got $n").returncode, 75)
        done = self.ttyward("send", "build", "--secret", input="correct-horse\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertNotIn("correct-horse", self.ok("screen", "build"))

    def test_keys(self):
        self.open()
        process = self.start("exec", "build", "cat; echo ended", "--on-input", "stay")
        eventually(lambda: self.terminal()["state"] == "awaiting_input")
        self.ok("send", "build", "--text", "hello", "--enter")
        self.ok("send", "build", "--keys", "C-d")
        code, out, _ = self.end_of(process)
        self.assertEqual((code, out.splitlines()[-1]), (0, "ended"))

    def test_expect_answers_each_question(self):
        self.open()
        with open(self.path("ask.sh"), "w") as f:
            f.write("read -p 'User: ' u; read -s -p 'Password: ' p; echo; read -p 'Sure? ' s; echo $u ${#p} $s; exit 6\n")
        with open(self.path("secret"), "w") as f:
            f.write("hush\n")
        done = self.ttyward("expect", "build", "bash ask.sh", "--when", "User: $", "--reply", "anna", "--when", "Password: $",
                            "--secret-from", "secret", "--when", r"Sure\?", "--keys", "y Enter")
        self.assertEqual(done.returncode, 6, done)
        self.assertIn("anna 4 y\n", done.stdout)
        self.assertEqual(done.stderr, "")


class Looking(CliTest):
    def test_wait_for_lines_ports_files(self):
        self.open()
        script = ("until test -e go; do sleep 0.01; done; echo Listening now; touch made; "
                  "python3 -c 'import socket,time; s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen(); time.sleep(1000)'")
        self.assertEqual(self.ttyward("exec", "build", script, "--yield", "0.1").returncode, 75)
        self.assertEqual(self.ttyward("wait", "build", "--for", "Listening", "--timeout", "0.2").returncode, 124)
        line = self.start("wait", "build", "--for", "List.*", "--from-start")
        file = self.start("wait", "build", "--file", "made")
        port = self.start("wait", "build", "--port", "0")
        open(self.path("go"), "w").close()
        self.assertRegex(self.end_of(line)[1], r"^pattern \d+:Listening")
        self.assertEqual(self.end_of(file)[:2], (0, f"file {self.work}/made\n"))
        self.assertRegex(self.end_of(port)[1], r"^port \d+\n$")
        self.ok("interrupt", "build")
        self.assertEqual(self.ttyward("wait", "build").returncode, 130)

    def test_wait_can_be_left(self):
        self.open()
        waiting = self.start("wait", "build", "--file", "never", "--timeout", "0")
        eventually(lambda: self.json("daemon", "status")["connections"] >= 2)
        waiting.send_signal(signal.SIGTERM)
        self.assertIn(self.end_of(waiting)[0], (143, -signal.SIGTERM))  # a shell calls both 143

    def test_read_any_part(self):
        self.open()
        command = self.json("exec", "build", "seq 1 100000")["command_id"]
        tail = self.ttyward("read", command, "--tail", "2")
        self.assertEqual(tail.stdout, "99999\n100000\n")
        self.assertIn("those before them: --lines :99998", tail.stderr)
        self.assertIn("continue with --lines 3:", self.ttyward("read", command, "--lines", ":2").stderr)
        self.assertEqual(self.ok("read", command, "--lines", "49999:50001"), "49999\n50000\n50001\n")
        self.assertEqual(self.ok("read", command, "--tail", "2"), "99999\n100000\n")
        self.assertEqual(self.ok("read", command, "--grep", "^7777.$"), "".join(f"7777{i}:7777{i}\n" for i in range(10)))
        self.assertEqual(self.ttyward("read", command, "--grep", "no such line").returncode, 1)
        self.assertEqual(self.ok("read", command, "--raw"), "".join(f"{i}\r\n" for i in range(1, 100001)).replace("\r\n", "\n"))
        self.ok("read", "build", "--new")
        self.ok("exec", "build", "echo fresh")
        self.assertIn("fresh", self.ok("read", "build", "--new"))
        self.assertNotIn("fresh", self.ok("read", "build", "--new"))
        self.assertIn("fresh", self.ok("read", "build", "--new", "--reader", "another"))

    def test_screen_show_and_size(self):
        id = self.open()
        self.ok("exec", "build", "clear; printf '\\033[31mred\\033[0m\\n'")
        self.assertIn("red", self.ok("screen", "build"))
        self.assertIn("\033[", self.ok("screen", "build", "--format", "ansi"))
        self.assertIn("<svg", self.ok("screen", "build", "--format", "svg"))
        self.ok("resize", "build", "101x33")
        self.assertEqual(self.ok("exec", "build", "stty size"), "33 101\n")
        page = self.ok("show", "build")
        self.assertIn(id, page)
        self.assertIn("stty size", page)

    def test_names_and_tasks(self):
        id = self.open("old")
        self.ok("rename", "old", "new")
        self.ok("assign", "new", "job")
        self.assertEqual(self.terminal("new")["task"], "job")
        self.assertEqual(self.ok("open", "--reuse", "--task", "job").strip(), id)
        self.assertEqual(self.ok("release", "job").strip(), id)
        self.assertIsNone(self.terminal("new")["task"])


class Mistakes(CliTest):
    def test_help_is_a_word_too(self):
        self.assertEqual(self.ok("help", "exec"), self.ok("exec", "--help"))
        self.assertEqual(self.ok("help"), self.ok("--help"))
        self.assertEqual(self.ttyward("help", "exce").returncode, 2)

    def test_wrong_ids_are_one_line_and_2(self):
        self.open()
        for words in (["exec", "nobody", "ls"], ["send", "nobody", "--text", "x"], ["wait", "nobody"], ["read", "nobody"],
                      ["screen", "nobody"], ["show", "nobody"], ["kill", "nobody"], ["interrupt", "nobody"],
                      ["resize", "nobody", "80x24"], ["rename", "nobody", "x"], ["read", "c222222222222"]):
            done = self.ttyward(*words)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), (words, done))

    def test_a_daemon_that_must_not_be_started(self):
        self.environment["TTYWARD_DAEMON_AUTOSTART"] = "false"
        done = self.ttyward("ls")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (125, "", 1), done)

    def test_terminals_outlive_a_daemon_that_dies(self):
        id = self.open()
        self.ok("exec", "build", "KEPT=yes")
        self.kill_daemon()
        self.assertIn(id, self.ok("ls"))
        self.assertEqual(self.ok("exec", "build", "echo $KEPT"), "yes\n")

    def test_a_daemon_that_is_told_to_stop_stays_away(self):
        self.open()
        process = self.start("exec", "build", "echo up; sleep 1000")
        self.assertEqual(process.stdout.readline(), "up\n")
        self.ok("daemon", "stop")
        code, _, err = self.end_of(process)
        self.assertEqual(code, 125, err)
        self.assertIn("the daemon was stopped; its terminals live on", err)
        self.assertNotEqual(self.ttyward("daemon", "status").returncode, 0)
        self.assertEqual(self.terminal()["state"], "busy")

    def test_nor_do_those_who_only_look_on_bring_it_back(self):
        self.open()
        for verb, shown in ((["top"], "build"), (["attach", "build"], "C-] leaves")):
            self.ok("ls")
            person = Tmux(self)
            person.line(f"{TTYWARD} {' '.join(verb)}; echo code $?")
            eventually(lambda: self.json("daemon", "status")["connections"] >= 2, verb)
            person.wait_for(shown)
            self.ok("daemon", "stop")
            person.wait_for("the daemon was stopped; its terminals live on", "code 125")
            self.assertNotEqual(self.ttyward("daemon", "status").returncode, 0)

    def test_exec_outlives_its_daemon(self):
        self.open()
        line = "echo up; echo x >> times; until test -e go; do sleep 0.01; done; echo down; (exit 7)"
        process = self.start("exec", "build", line)
        self.assertEqual(process.stdout.readline(), "up\n")
        self.kill_daemon()
        open(self.path("go"), "w").close()
        code, out, err = self.end_of(process)
        self.assertEqual((code, out), (7, "down\n"), err)
        with open(self.path("times")) as f:
            self.assertEqual(f.read(), "x\n")


if __name__ == "__main__":
    main()
