"""A person at a terminal: keys go to the command, and the terminal is theirs again afterwards."""
import os
import signal
import termios
import time

from harness import Person, RunTest, eventually, main


class AtATerminal(RunTest):
    def test_output_comes_as_it_is_and_the_code_passes(self):
        person = Person(self, "run", "printf '\\033[31mred\\033[0m\\n'; exit 9")
        self.assertEqual(person.end(), 9)
        self.assertIn(b"\x1b[31mred\x1b[0m\r\n", person.seen)

    def test_raw_while_it_runs_and_restored_after(self):
        person = Person(self, "run", "echo ready; read line; echo got $line")
        person.wait_for("ready")
        self.assertTrue(person.is_raw())
        person.type("hello\r")
        self.assertEqual(person.end(), 0)
        self.assertIn(b"got hello\r\n", person.seen)
        self.assertEqual(person.seen.count(b"hello"), 2)  # echoed once, by the command's terminal
        self.assertEqual(termios.tcgetattr(person.slave), person.before)

    def test_control_c_reaches_the_command(self):
        person = Person(self, "run", "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.01; done")
        person.wait_for("ready")
        person.type("\x03")
        self.assertEqual(person.end(), 5)
        self.assertIn(b"caught", person.seen)
        self.assertEqual(termios.tcgetattr(person.slave), person.before)

    def test_the_size_is_the_persons_and_follows(self):
        person = Person(self, "run", "stty size; trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done",
                        size=(111, 33))
        person.wait_for("ready")
        self.assertIn(b"33 111", person.seen)
        person.resize(77, 22)
        person.process.send_signal(signal.SIGWINCH)
        person.wait_for("22 77")
        self.assertEqual(person.end(), 0)

    def test_less_takes_keys(self):
        with open(self.folder + "/text", "w") as f:
            f.writelines(f"line {i}\n" for i in range(1000))
        person = Person(self, "run", "less text")
        person.wait_for("line 22")
        person.type("G")
        person.wait_for("line 999")
        person.type("q")
        self.assertEqual(person.end(), 0)

    def test_vim_takes_keys_and_writes(self):
        person = Person(self, "run", "vim -u NONE -n file")
        person.wait_for("[New")
        person.type("ihello\x1b:wq\r")
        self.assertEqual(person.end(), 0)
        with open(self.folder + "/file") as f:
            self.assertEqual(f.read(), "hello\n")
        self.assertEqual(termios.tcgetattr(person.slave), person.before)

    def test_what_programs_ask_is_answered_once_by_the_real_terminal(self):
        person = Person(self, "run", "stty raw -echo; printf '\\033[6nready'; head -c 6 | od -An -c")
        person.wait_for("ready")
        person.type("\x1b[7;9R")
        person.wait_for("7   ;   9   R")
        self.assertEqual(person.end(), 0)

    def test_term_restores_the_terminal(self):
        person = Person(self, "run", f"echo ready; sleep {self.token}")
        person.wait_for("ready")
        person.process.send_signal(signal.SIGTERM)
        self.assertEqual(person.end(), 143)
        self.assertEqual(termios.tcgetattr(person.slave), person.before)
        self.assert_nothing_left()

    def test_a_terminal_that_goes_away_ends_the_command(self):
        person = Person(self, "run", f"echo ready; sleep {self.token}")
        person.wait_for("ready")
        person.process.send_signal(signal.SIGHUP)
        self.assertEqual(person.end(), 129)
        self.assert_nothing_left()

    def test_keys_nobody_reads_do_not_keep_us_busy(self):
        person = Person(self, "run", "stty raw -echo; echo ready; until test -e over; do sleep 0.05; echo >>beats; done")
        person.wait_for("ready")
        os.set_blocking(person.master, False)
        # Nobody takes them: there is an end to what fits. While the command goes on beating twice we take none.
        full_since = None
        while full_since is None or self.beats() < full_since + 2:
            try:
                os.write(person.master, b"x" * 4096)
                full_since = None
            except BlockingIOError:
                full_since = full_since if full_since is not None else self.beats()
                time.sleep(0.005)

        def idle():  # between two beats of the command we were not on a processor at all
            beat, used = self.beats(), self.on_processor(person.process.pid)
            return eventually(lambda: self.beats() >= beat + 2) and self.on_processor(person.process.pid) == used

        self.assertTrue(eventually(idle))
        open(self.folder + "/over", "w").close()
        os.set_blocking(person.master, True)
        self.assertEqual(person.end(), 0)

    def beats(self):
        try:
            return os.path.getsize(self.folder + "/beats")
        except FileNotFoundError:
            return 0

    def on_processor(self, pid):
        with open(f"/proc/{pid}/schedstat") as f:
            return int(f.read().split()[0])  # ns

    def test_json_at_a_terminal_leaves_keys_alone(self):
        person = Person(self, "--json", "run", "echo hi")
        self.assertEqual(person.end(), 0)
        self.assertIn(b'"output":"hi\\n"', person.seen)


if __name__ == "__main__":
    main()
