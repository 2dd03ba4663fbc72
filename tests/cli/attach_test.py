"""People in terminals: attach, leave, watch together, and come back after anything."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from daemon_client import Client  # noqa: E402
from harness import TTYWARD, CliTest, Tmux, eventually, main  # noqa: E402


class Attach(CliTest):
    def attach(self, tmux, *args, name="build"):
        tmux.line(f"clear; {TTYWARD} attach {name} {' '.join(args)}")
        tmux.wait_for(f" {name} | C", "leaves")

    def test_keys_go_in_the_screen_comes_out_and_the_key_leaves(self):
        self.open()
        self.ok("exec", "build", "echo from before")
        tmux = Tmux(self)
        before = tmux.modes("before")
        self.attach(tmux)
        tmux.wait_for("from before", "you have the keyboard")
        tmux.line("echo typed $((40 + 2))")
        tmux.wait_for("typed 42")
        tmux.keys("C-]")
        screen = tmux.wait_for("detached; the terminal stays open")
        self.assertNotIn("typed 42", screen)  # the screen is the person's own again
        self.assertEqual(tmux.modes("after"), before)
        self.assertIn("typed 42", self.ok("screen", "build"))
        self.assertIn("typed 42", self.ok("read", "@active"))
        for verb in ("wait", "interrupt", "kill"):
            self.ok(verb, "@active")
        self.assertEqual(self.ttyward("wait", "build").returncode, 0)

    def test_another_key_may_leave(self):
        self.open()
        tmux = Tmux(self)
        self.attach(tmux, "--detach-key 'C-b d'")
        tmux.keys("C-b")
        tmux.line("echo C$((1 + 1))")  # C-b moved the cursor, and then not
        tmux.wait_for("C2")
        tmux.keys("C-b", "d")
        tmux.wait_for("detached")

    def agent_with_terminal(self):
        """An agent, and a terminal of its own with something to look at."""
        self.ok("daemon", "run", "--detach")
        agent = Client(self.home + "/run/daemon.sock", "agent", session="alpha", secret="the secret of this session")
        self.addCleanup(agent.close)
        agent.call("open", cwd=self.work, name="build")
        self.ok("exec", "build", "echo look at $((40 + 2))")
        return agent

    def test_a_key_marks_what_is_seen_for_agents(self):
        self.configure('[terminal]\nmark_key = "C-t"\n')
        agent = self.agent_with_terminal()
        tmux = Tmux(self)
        self.attach(tmux)
        tmux.wait_for("look at 42")
        self.assertNotIn("selection", agent.call("environment", cool_down_ms=0))
        tmux.keys("C-t")
        tmux.wait_for("marked for agents: what this screen shows")
        self.assertIn("look at 42", agent.call("environment", cool_down_ms=0)["selection"]["text"])
        # Other keys are the program's, and the key never is.
        tmux.line("cat -v")
        self.wait_for_program("cat -v")
        tmux.line("before")
        tmux.keys("C-t")
        tmux.line("after")
        self.assertNotIn("^T", tmux.wait_for("before\nbefore\nafter\nafter"))
        tmux.keys("C-]")
        tmux.wait_for("detached")

    def test_without_the_setting_every_key_is_the_programs(self):
        agent = self.agent_with_terminal()
        tmux = Tmux(self)
        self.attach(tmux)
        tmux.line("cat -v")
        self.wait_for_program("cat -v")
        tmux.keys("C-t", "Enter")
        tmux.wait_for("^T\n^T")
        self.assertNotIn("selection", agent.call("environment", cool_down_ms=0))
        tmux.keys("C-]")
        tmux.wait_for("detached")

    def test_full_screen_programs(self):
        self.open()
        tmux = Tmux(self)
        self.attach(tmux)
        tmux.line("vim -u NONE -n file")
        tmux.wait_for("~", "file")
        tmux.type("ihello")
        tmux.wait_for("hello")
        tmux.keys("Escape")
        tmux.line(":wq")
        eventually(lambda: os.path.exists(self.path("file")))
        tmux.wait_for("vim -u NONE", absent=("~\n~\n",))
        eventually(lambda: self.terminal()["state"] == "idle")  # vim drops what is typed while it leaves
        with open(self.path("file")) as f:
            self.assertEqual(f.read(), "hello\n")
        tmux.keys("C-u")  # an answer that vim asked for and did not wait for
        tmux.line("seq 1 200 | less")
        tmux.wait_for("22\n")
        tmux.keys("G")
        tmux.wait_for("200\n")
        tmux.keys("q")
        tmux.keys("C-]")
        tmux.wait_for("detached")

    def test_questions_of_programs_are_answered_once(self):
        self.open()
        tmux = Tmux(self)
        self.attach(tmux)
        tmux.line("stty raw -echo; printf '\\033[6n'; head -c 4 >/dev/null; sleep 0.3; stty sane; echo 'o'k; cat -v")
        tmux.wait_for("ok")
        tmux.line("nothing before this")
        screen = tmux.wait_for("nothing before this\nnothing before this")
        self.assertNotIn("^[", screen)
        tmux.keys("C-c", "C-]")
        tmux.wait_for("detached")

    def test_the_size_is_the_persons_and_follows(self):
        self.open()
        tmux = Tmux(self, 90, 30)
        self.attach(tmux)
        tmux.line("stty size")
        tmux.wait_for("29 90")
        tmux.resize(70, 20)
        tmux.wait_for("leaves")
        eventually(lambda: (self.terminal()["cols"], self.terminal()["rows"]) == (70, 19))
        tmux.line("clear; stty size")
        tmux.wait_for("19 70")

    def test_two_at_once_and_one_who_only_watches(self):
        self.open()
        one, two = Tmux(self), Tmux(self)
        self.attach(one)
        self.attach(two, "--read-only")
        two.wait_for("read only")
        one.line("echo for both $((1 + 1))")
        one.wait_for("for both 2")
        two.wait_for("for both 2")
        two.line("echo not mine")
        two.keys("C-]")
        two.wait_for("detached")
        one.line("echo still $((2 + 2))")
        self.assertNotIn("not mine", one.wait_for("still 4"))
        one.keys("C-]")
        one.wait_for("detached")

    def test_the_keyboard_is_one_persons_and_can_be_taken(self):
        self.open()
        one, two = Tmux(self, 120, 24), Tmux(self, 120, 24)
        self.attach(one)
        two.line(f"{TTYWARD} attach build; echo code $?")
        two.wait_for("has the keyboard", "--take", "code 125")
        self.attach(two, "--take")
        two.wait_for("you have the keyboard")
        one.wait_for("ttyward attach on pts/", "has the keyboard", absent=("you have the keyboard",))
        one.line("echo not mine")
        two.line("echo mine $((1 + 1))")
        two.wait_for("mine 2")
        self.assertNotIn("not mine", one.wait_for("mine 2"))
        one.keys("C-]")
        one.wait_for("detached")
        two.keys("C-]")
        two.wait_for("detached")
        self.assertIsNone(self.terminal()["lease"])

    def test_the_end_of_the_terminal_ends_it(self):
        self.open()
        tmux = Tmux(self)
        before = tmux.modes("before")
        self.attach(tmux)
        tmux.line("exit")
        tmux.wait_for("ttyward attach: ")
        self.assertEqual(tmux.modes("after"), before)

    def test_a_signal_gives_the_terminal_back(self):
        self.open()
        tmux = Tmux(self)
        before = tmux.modes("before")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.attach(tmux)
            self.end(tmux, "attach", number)
            tmux.line(f"echo code $?-{number}")
            tmux.wait_for(f"code {128 + number}-{number}")
            self.assertEqual(tmux.modes(f"after{number}"), before)

    def test_a_daemon_that_dies_is_waited_for(self):
        self.open()
        tmux = Tmux(self)
        self.attach(tmux)
        tmux.line("KEPT=before; echo one")
        tmux.wait_for("one")
        self.kill_daemon()
        tmux.wait_for("you have the keyboard", "one")
        tmux.line("echo $KEPT-after")
        tmux.wait_for("before-after")
        tmux.keys("C-]")
        tmux.wait_for("detached")

    def test_a_terminal_is_not_shown_in_itself(self):
        self.open()
        self.ok("send", "build", "--text", f"TTYWARD_HOME={self.home} {TTYWARD} attach build; echo 'code' $?", "--enter")
        eventually(lambda: "code 2" in self.ok("screen", "build"))
        self.assertIn("you are inside this terminal", self.ok("screen", "build").replace("\n", ""))

    def test_mistakes(self):
        tmux = Tmux(self)
        tmux.line(f"{TTYWARD} attach nobody; echo code $?")
        tmux.wait_for("code 2", "nobody")
        tmux.line(f"{TTYWARD} attach nobody --detach-key C-Nonsense; echo code $?-again")
        tmux.wait_for("code 2-again")
        self.configure('[terminal]\nmark_key = "C-Nonsense"\n')
        tmux.line(f"clear; {TTYWARD} attach nobody; echo code $?-marks")
        tmux.wait_for("terminal.mark_key", "code 2-marks")


class Top(CliTest):
    def test_what_there_is_changes_and_is_attached_to_and_ended(self):
        self.open("alpha")
        self.ok("exec", "alpha", "echo shown in the preview")
        tmux = Tmux(self, 100, 24)
        before = tmux.modes("before")
        tmux.line(f"clear; {TTYWARD} top")
        tmux.wait_for("ttyward: 1 terminal", "alpha", "shown in the preview", "q quit")
        self.open("beta")
        tmux.wait_for("ttyward: 2 terminals", "beta")
        process = self.start("exec", "beta", "echo busy here; until test -e go; do sleep 0.01; done")
        tmux.wait_for("1 busy", "until test -e go")
        tmux.keys("Down")
        tmux.wait_for("-- beta --", "busy here")
        open(self.path("go"), "w").close()
        self.assertEqual(self.end_of(process)[0], 0)
        tmux.wait_for("0 busy")
        tmux.keys("Enter")
        tmux.wait_for(" beta | C-] leaves")
        tmux.line("echo attached $((1 + 1))")
        tmux.wait_for("attached 2")
        tmux.keys("C-]")
        tmux.wait_for("ttyward: 2 terminals", "-- beta --")
        tmux.keys("k")
        tmux.wait_for("end beta and everything in it? y/n")
        tmux.keys("n")
        tmux.wait_for("q quit", "beta")
        tmux.keys("k")
        tmux.wait_for("y/n")
        tmux.keys("y")
        tmux.wait_for("ttyward: 1 terminal,", absent=("beta",))
        tmux.keys("q")
        tmux.wait_for("$", absent=("ttyward: 1",))
        self.assertEqual(tmux.modes("after"), before)

    def test_a_signal_or_a_dead_daemon(self):
        self.open("alpha")
        tmux = Tmux(self)
        before = tmux.modes("before")
        tmux.line(f"clear; {TTYWARD} top")
        tmux.wait_for("alpha", "q quit")
        self.kill_daemon()
        self.open("beta")  # by whoever starts the next one
        tmux.wait_for("alpha", "beta", "q quit")
        self.end(tmux, "top", signal.SIGTERM)
        tmux.line("echo code $?")
        tmux.wait_for("code 143")
        self.assertEqual(tmux.modes("after"), before)


class AtATerminal(CliTest):
    def test_exec_streams_tells_of_questions_and_takes_two_interrupts(self):
        self.open()
        tmux = Tmux(self, 120, 30)
        tmux.line(f"{TTYWARD} exec build \"read -p 'name? ' n; echo got \\$n; sleep 1000\"; echo code $?")
        tmux.wait_for("waits for input: name?", "ttyward send build")
        self.ok("send", "build", "--text", "Anna", "--enter")
        tmux.wait_for("got Anna")
        self.wait_for_program("sleep 1000")
        tmux.keys("C-c")
        tmux.wait_for("interrupted; Ctrl-C again leaves it running", "code 130")

    def test_a_secret_is_asked_for_without_echo(self):
        self.open()
        self.assertEqual(self.ttyward("exec", "build", "read -s -p 'Password: ' p; echo; echo length ${#p}").returncode, 75)
        tmux = Tmux(self)
        before = tmux.modes("before")
        tmux.line(f"{TTYWARD} send build --secret; echo code $?")
        tmux.wait_for("secret for build:")
        tmux.line("correct-horse")
        self.assertNotIn("correct", tmux.wait_for("code 0"))
        self.assertEqual(tmux.modes("after"), before)
        eventually(lambda: "length 13" in self.ok("screen", "build"))

    def test_ls_fits_the_width(self):
        self.open("a-name-that-is-long-enough-to-be-cut-somewhere", "--task", "a-task-that-is-long-as-well")
        tmux = Tmux(self, 60, 20)
        tmux.line(f"clear; {TTYWARD} ls; echo 'ov''er'")
        screen = tmux.wait_for("a-name", "…", "AGE", "\nover")
        self.assertEqual(screen.splitlines()[2], "over", screen)  # a line each for the heading and the terminal


if __name__ == "__main__":
    main()
