"""Standard input and output of `ttyward run` that are no terminal."""
import hashlib
import json
import os
import select
import signal
import subprocess

from harness import PYTHON, TTYWARD, RunTest, eventually, main, processes


class Input(RunTest):
    def setUp(self):
        super().setUp()
        self.data = os.urandom(1 << 20)
        self.sum = hashlib.md5(self.data).hexdigest()

    def test_a_pipe_arrives_unchanged(self):
        for how in ([], ["--pipe"]):
            done = self.run_it(*how, "md5sum; wc -c </dev/null", input=self.data)
            self.assertEqual(done.stdout.split()[0].decode(), self.sum)
            self.assertEqual(done.stdout.split()[-1], b"0")

    def test_a_file_arrives_unchanged(self):
        with open(self.folder + "/data", "wb") as f:
            f.write(self.data)
        for how in ([], ["--pipe"]):
            with open(self.folder + "/data", "rb") as f:
                done = subprocess.run([TTYWARD, "run", *how, "cat | md5sum"], env=self.environment, stdin=f,
                                      stdout=subprocess.PIPE, timeout=60)
            self.assertEqual(done.stdout.split()[0].decode(), self.sum)

    def test_text_through_cat_is_the_same_text(self):
        text = "".join(f"line {i} {'x' * (1 + i % 200)}\n" for i in range(10000)).encode()
        for how in ([], ["--pipe"]):
            self.assertEqual(self.run_it(*how, "cat", input=text).stdout, text)

    def test_input_that_is_not_read_is_not_taken(self):
        done = subprocess.run(["bash", "-c", f"printf 'a\\nb\\n' | (ttyward=1; {TTYWARD} run true; cat)"],
                              env=self.environment, stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(done.stdout, b"a\nb\n")

    def test_null_is_end_of_input_in_pipes(self):
        self.assertEqual(self.result("--pipe", "cat; echo over")["output"], "over\n")

    def test_a_closed_stdin_is_no_input(self):
        done = subprocess.run(["bash", "-c", f"exec {TTYWARD} run --pipe 'cat; echo over' <&-"], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.stdout, b"over\n", done)

    def test_closed_output_is_nobodys_and_the_command_ends_as_usual(self):
        for closed in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                done = subprocess.run(["bash", "-c", f"exec {TTYWARD} run 'echo hi; echo no >&2; exit 7' {closed}"],
                                      env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, timeout=60)
                self.assertEqual(done.returncode, 7)

    def test_a_reader_that_goes_away_ends_the_command(self):
        command = f"{TTYWARD} run 'yes {self.token}' | head -1; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60)
        lines = done.stdout.split()
        self.assertEqual(lines[0].decode(), self.token)
        self.assertNotEqual(lines[1], b"0")
        self.assert_nothing_left()

    def test_a_slow_reader_loses_nothing(self):
        read_slowly = "import os\nn = 0\nwhile d := os.read(0, 3000): n += d.count(b'\\n')\nprint(n)"
        done = subprocess.run(["bash", "-c", f"{TTYWARD} run 'seq 1 300000' | {PYTHON} -c \"{read_slowly}\""],
                              env=self.environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.stdout, b"300000\n")

    def test_a_reader_that_does_not_read_can_be_given_up(self):
        process = self.start("run", "seq 1 200000; echo over >&2")
        # Its output is more than a pipe holds and nobody takes it; the command itself ends.
        self.assertTrue(eventually(lambda: select.select([process.stdout], [], [], 0)[0]))
        self.assertTrue(eventually(lambda: not self.children(process.pid)))

        def given_up():  # one that comes just when the command ends is still the command's
            process.send_signal(signal.SIGINT)
            return process.poll() is not None
        self.assertTrue(eventually(given_up))

    def test_a_result_that_nobody_reads_does_not_keep_the_command_alive(self):
        process = self.start("--json", "run", "--view", "full", "--timeout", "4", "--kill-grace", "0.1",
                             f"trap '' INT TERM; seq 1 200000; while :; do sleep 0.{self.token}; done")
        self.assertTrue(eventually(lambda: processes(self.token)))
        self.assertTrue(eventually(lambda: not self.children(process.pid)))  # it is ended, read or not
        self.assertIsNone(process.poll())
        result = json.loads(process.communicate(timeout=60)[0])
        self.assertEqual((process.returncode, result["state"], result["total_lines"]), (124, "timed_out", 200000))
        process = self.start("--json", "run", "--view", "full", "seq 1 200000")
        self.assertTrue(eventually(lambda: select.select([process.stdout], [], [], 0)[0]))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 143)

    def children(self, pid):
        try:
            with open(f"/proc/{pid}/task/{pid}/children") as f:
                return f.read().split()
        except OSError:
            return []


class Signals(RunTest):
    def started(self, command, *options):
        process = self.start("run", *options, command)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def output_of(self, process):
        """What it still prints; if it does not end, the failure tells which process had which signals."""
        try:
            return process.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            seen = self.signals_in_tree(process.pid)
            process.kill()
            out = process.communicate()[0]
            self.fail(f"it did not end; it had printed {out!r}\n{seen}")

    def signals_in_tree(self, pid):
        try:
            with open(f"/proc/{pid}/status") as f:
                wanted = ("Name", "State", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt")
                told = " ".join(line.split(":")[0] + "=" + line.split()[1] for line in f if line.split(":")[0] in wanted)
            with open(f"/proc/{pid}/task/{pid}/children") as f:
                children = f.read().split()
        except OSError:
            return f"{pid} is gone"
        return "\n".join([f"{pid} {told}", *(self.signals_in_tree(int(child)) for child in children)])

    def test_interrupt_reaches_the_command(self):
        for how in ([], ["--pipe"]):
            process = self.started("trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.01; done", *how)
            process.send_signal(signal.SIGINT)
            out = self.output_of(process)
            self.assertEqual((process.returncode, out), (5, b"caught\n" if how else b"^Ccaught\n"))

    def test_interrupt_ends_an_ordinary_command(self):
        process = self.started(f"echo ready; sleep {self.token}")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assert_nothing_left()

    def test_a_second_interrupt_means_it(self):
        process = self.started(f"trap 'echo no' INT; echo ready; while :; do sleep 0.01; : {self.token}; done",
                               "--kill-grace", "0.1")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stdout.readline(), b"^Cno\n")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assert_nothing_left()

    def test_term_ends_everything(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            process = self.started(f"setsid sleep {self.token} & trap '' TERM; echo ready; while :; do sleep 0.01; done",
                                   "--kill-grace", "0.1")
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number)
            self.assert_nothing_left()
            self.assertEqual(self.journals(), [])


if __name__ == "__main__":
    main()
