"""`run --keep-background`: what a command leaves behind keeps its terminal; the result is the same as ever."""
import json
import os
import shutil
import signal

from harness import TTYWARD, Person, RunTest, eventually, main, processes


def parent(pid):
    with open(f"/proc/{pid}/stat") as f:
        return int(f.read().rpartition(")")[2].split()[1])


def program(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip()
    except OSError:
        return None


class KeepBackground(RunTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.end_all)

    def end_all(self):
        for pid in processes(self.token):
            os.kill(pid, signal.SIGKILL)

    def kept(self, *args, **options):
        return self.result("--keep-background", *args, **options)

    def end(self, pid):
        holder = parent(pid)
        with open(f"/proc/{holder}/cmdline") as f:
            self.assertIn("ttyward-hold", f.read())
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: not os.path.exists(f"/proc/{holder}")))  # it ends with the last of them

    def test_survivors_keep_their_terminal_and_their_output_is_kept(self):
        script = (f"until test -e go; do sleep 0.01; done; stty size <&1 >size; echo still here; : {self.token}; "
                  "while :; do sleep 0.01; done")
        result = self.kept(f"bash -c '{script}' & echo up")
        self.assertEqual((result["state"], result["exit_code"], result["output"]), ("exited", 0, "up\n"), result)
        shell = next(p["pid"] for p in result["background"] if p["command"].startswith("bash"))
        open(self.folder + "/go", "w").close()
        self.assertTrue(eventually(lambda: self.text("size") == "24 80\n"))  # hung up, it would have none
        main_file = f"{self.home}/state/journals/{result['command_id']}.main"
        self.assertTrue(eventually(lambda: "still here\n" in self.text(main_file)))
        self.assertTrue(os.path.exists(f"{self.home}/run/holders/{result['command_id']}.sock"))
        self.end(shell)
        self.assertTrue(eventually(lambda: not processes(self.token)))
        self.assertTrue(eventually(lambda: os.listdir(f"{self.home}/run/holders") == []))

    def text(self, name):
        try:
            with open(os.path.join(self.folder, name), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def test_the_result_has_the_same_shape(self):
        for how in ([], ["--pipe"]):
            one, other = self.result(*how, "echo hi; exit 3"), self.kept(*how, "echo hi; exit 3")
            self.assertEqual(one.keys(), other.keys())
            for key in ("command_id", "started_at", "duration_ms", "cpu_ms", "max_rss_kib", "pid", "process_group"):
                del one[key], other[key]
            self.assertEqual(one, other)
        self.assertEqual(self.journals(), [])

    def test_commands_that_end_at_once(self):
        for i in range(40):  # the holder may be gone before we have asked it anything
            result = self.kept(f"exit {i}")
            self.assertEqual((result["state"], result["exit_code"], result["output"]), ("exited", i, ""), result)
        self.assertEqual(self.journals(), [])

    def test_much_output(self):
        for how in ([], ["--pipe"]):
            result = self.kept(*how, "--view", "full", "seq 1 100000")
            self.assertEqual(result["output"], "".join(f"{i}\n" for i in range(1, 100001)))
        done = self.run_it("--keep-background", "seq 1 100000")
        self.assertEqual(done.stdout.count(b"\n"), 100000)

    def test_failures_to_start(self):
        self.assertEqual((self.kept("--", "/nonexistent/program")["_code"]), 127)
        self.assertEqual((self.kept("--", self.folder)["_code"]), 126)
        self.assertEqual(self.journals(), [])

    def test_its_input_its_folder_and_its_mask_are_ours(self):
        result = self.kept("cat; pwd; umask; test -t 0 || echo no terminal", input=b"from a pipe\n")
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(result["output"], f"from a pipe\n{os.path.realpath(self.folder)}\n{mask:04o}\nno terminal\n")

    def test_a_time_limit_ends_everything(self):
        result = self.kept("--timeout", "3", "--kill-grace", "0.1", f"sleep {self.token} & echo up; sleep {self.token}")
        self.assertEqual((result["state"], result["_code"], result["output"]), ("timed_out", 124, "up\n"))
        self.assert_nothing_left()

    def test_a_question_is_seen_through_the_holder(self):
        result = self.kept("--input-patience", "0.1", "read -s -p 'Password: ' x")
        self.assertEqual((result["state"], result["waiting"]["kind"]), ("awaiting_input", "password"), result)
        self.assertEqual(result["waiting"]["prompt"], "Password:")

    def test_what_it_asks_its_terminal_is_answered(self):
        result = self.kept("stty raw -echo; printf '\\033[6n'; IFS= read -r -d R a; stty sane; echo ${a#*[}")
        self.assertEqual(result["output"], "1;1\n")

    def test_a_person_types_and_leaves_something_behind(self):
        person = Person(self, "run", "--keep-background", f"read line; echo got $line; stty size; sleep {self.token} & exit 4",
                        size=(91, 31))
        self.assertTrue(eventually(person.is_raw))
        person.type("hello\r")
        self.assertEqual(person.end(), 4)
        self.assertIn(b"got hello\r\n31 91\r\n", person.seen)
        left = processes(f"sleep {self.token}")
        self.assertEqual(len(left), 1)
        self.end(left[0])

    def test_a_holder_that_is_killed_is_not_taken_for_an_end(self):
        process = self.start("--json", "run", "--keep-background", f"echo up; sleep {self.token}; echo over")
        # Not before the command runs: until its start is told, a holder that dies has started nothing that is known.
        sleeps = []
        self.assertTrue(eventually(lambda: sleeps.extend(p for p in processes(self.token) if program(p) == "sleep") or sleeps))
        os.kill(parent(parent(sleeps[0])), signal.SIGKILL)
        result = json.loads(process.communicate(timeout=60)[0])
        self.assertEqual((result["state"], result["exit_code"], result["known_by"]), ("lost", None, None), result)
        for pid in processes(self.token):  # they ignore that the terminal is gone
            os.kill(pid, signal.SIGKILL)

    def test_without_its_holder_it_says_what_is_missing(self):
        program = f"{self.folder}/alone"
        shutil.copy(TTYWARD, program)
        done = self.run_it(command=[program, "run", "--keep-background", "true"])
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"ttyward-hold", done.stderr)


if __name__ == "__main__":
    main()
