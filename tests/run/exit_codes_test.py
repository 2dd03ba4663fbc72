"""How a command ended is told by convention, and wrong calls say what to write."""
import json
import os

from harness import TTYWARD, RunTest, main


class ExitCodes(RunTest):
    def code(self, *args):
        return self.run_it(*args).returncode

    def test_the_commands_own_code_passes_through(self):
        for code in (0, 1, 2, 42, 124, 125, 126, 127, 130, 255):
            for how in ([], ["--pipe"]):
                self.assertEqual(self.code(*how, f"exit {code}"), code)

    def test_a_signal_is_128_and_its_number(self):
        for name, number in (("TERM", 15), ("KILL", 9), ("SEGV", 11), ("HUP", 1), ("ABRT", 6), ("RTMIN", 34)):
            result = self.result(f"kill -{name} $$")
            self.assertEqual(result["_code"], 128 + number)
            self.assertEqual(result["state"], "signaled")
            self.assertEqual(result["signal"], "SIG" + name)
            self.assertIsNone(result["exit_code"])
            self.assertEqual(result["known_by"], "wait")

    def test_a_batch_tells_of_signals_as_a_terminal_does(self):
        done = self.run_it(command=[TTYWARD, "--json", "batch", "--keep-going", "sh -c 'kill -9 $$'", "true", "exit 3"])
        killed, fine, ended = json.loads(done.stdout)["results"]
        self.assertEqual((killed["exit_code"], killed["signal"], killed["core_dumped"]), (137, "SIGKILL", None))
        self.assertIn("SIGKILL", killed["reason"])
        self.assertEqual((fine["exit_code"], fine["signal"], fine["core_dumped"]), (0, None, False))
        self.assertEqual((ended["exit_code"], ended["pid"], ended["known_by"]), (3, ended["process_group"], "wait"))

    def test_a_result_has_its_process(self):
        result = self.result("echo $$")
        self.assertEqual([str(result["pid"]), str(result["process_group"])], [result["output"].strip()] * 2)

    def test_a_time_limit_is_124(self):
        result = self.result("--timeout", "3", f"echo begun; sleep {self.token}")
        self.assertEqual(result["_code"], 124)
        self.assertEqual(result["state"], "timed_out")
        self.assertIn("time limit", result["reason"])
        self.assertEqual(result["output"], "begun\n")
        self.assertIsNone(result["exit_code"])
        self.assert_nothing_left()

    def test_silence_is_limited_too(self):
        result = self.result("--idle-timeout", "2", f"echo a; sleep 0.2; echo b; sleep 0.2; echo c; sleep {self.token}")
        self.assertEqual(result["_code"], 124)
        self.assertEqual(result["output"], "a\nb\nc\n")
        self.assertIn("nothing", result["reason"])

    def test_a_program_that_is_not_there_is_127(self):
        result = self.result("--", "/nonexistent/program")
        self.assertEqual((result["_code"], result["state"]), (127, "failed_to_start"))
        self.assertIn("/nonexistent/program", result["reason"])
        self.assertEqual(self.code("--", "no-such-program-anywhere"), 127)
        self.assertEqual(self.code("no-such-program-anywhere"), 127)

    def test_a_program_that_cannot_be_executed_is_126(self):
        path = self.folder + "/plain"
        with open(path, "w") as f:
            f.write("text")
        os.chmod(path, 0o644)
        self.assertEqual(self.code("--", path), 126)
        self.assertEqual(self.result("--", path)["state"], "failed_to_start")
        self.assertEqual(self.code("--", self.folder), 126)

    def test_a_script_without_interpreter_line_says_why(self):
        path = self.folder + "/script"
        with open(path, "w") as f:
            f.write("#!/nonexistent/interpreter\n")
        os.chmod(path, 0o755)
        done = self.run_it("--", path)
        self.assertIn(done.returncode, (126, 127))
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_wrong_calls_are_2_and_one_line(self):
        calls = (
            [], [""], ["   "], ["a", "b"], ["--cwd", "/proc/nonexistent", "true"], ["--cwd", "/etc/passwd", "true"],
            ["--view", "nonesuch", "true"], ["--nonesuch", "true"], ["--size", "0x0", "true"],
            ["--size", "80", "true"], ["--timeout", "-5", "true"], ["--timeout", "soon", "true"],
            ["--env", "novalue", "true"], ["--overflow", "explode", "true"], ["--idle-timeout", "nan", "true"],
        )
        for call in calls:
            done = self.run_it(*call)
            self.assertEqual(done.returncode, 2, call)
            self.assertEqual(done.stdout, b"", call)
            self.assertEqual(done.stderr.count(b"\n"), 1, (call, done.stderr))
            self.assertTrue(done.stderr.startswith(b"ttyward run: "), (call, done.stderr))
        self.assertEqual(self.journals(), [])

    def test_no_home_for_output_is_said_and_survived(self):
        self.environment["TTYWARD_HOME"] = "/proc/nonexistent"
        done = self.run_it("echo hi")
        self.assertEqual((done.returncode, done.stdout), (0, b"hi\n"))
        self.assertIn(b"instead", done.stderr)


if __name__ == "__main__":
    main()
