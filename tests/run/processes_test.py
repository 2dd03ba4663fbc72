"""Everything a command starts is found and ended, or named."""
import os
import subprocess
import time

from harness import PYTHON, RunTest, eventually, main, processes


class Processes(RunTest):
    def ended_with_everything(self, command, *options):
        result = self.result(*options, command)
        self.assert_nothing_left()
        return result

    def test_a_background_child(self):
        result = self.ended_with_everything(f"sleep {self.token} & exit 3")
        self.assertEqual(result["exit_code"], 3)

    def test_nohup(self):
        self.ended_with_everything(f"nohup sleep {self.token} >/dev/null 2>&1 & exit 0")

    def test_setsid(self):
        self.ended_with_everything(f"setsid sleep {self.token} & exit 0")

    def test_a_daemon_that_forks_twice(self):
        script = f"""
import os, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir("/")
for fd in range(3): os.close(fd)
os.execvp("sleep", ["sleep", "{self.token}"])
"""
        result = self.ended_with_everything(f"{PYTHON} -c '{script}'; sleep 0.1; echo started")
        self.assertEqual(result["output"], "started\n")

    def test_one_that_ignores_term(self):
        command = f"trap '' INT TERM HUP; echo ready; while :; do sleep 0.{self.token}; done"
        result = self.ended_with_everything(command, "--timeout", "3", "--kill-grace", "0.1")
        self.assertEqual((result["state"], result["output"]), ("timed_out", "ready\n"))

    def test_one_that_is_stopped(self):
        result = self.ended_with_everything(f"sleep {self.token} & kill -STOP $!; kill -STOP $$",
                                            "--timeout", "3", "--kill-grace", "0.1")
        self.assertEqual(result["state"], "timed_out")

    def test_a_storm_of_children(self):
        # 150 at most, in two generations.
        command = f"for i in $(seq 10); do (for j in $(seq 14); do sleep {self.token} & done; wait) & done; echo up; wait"
        result = self.ended_with_everything(command, "--timeout", "5", "--kill-grace", "0.2")
        self.assertEqual((result["state"], result["output"]), ("timed_out", "up\n"))

    def test_children_that_go_on_being_made(self):
        # Each child starts the next and ends: bounded by a count, and by one living at a time.
        script = ("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); sleep 0.01; done # " + self.token)
        result = self.ended_with_everything(f"setsid bash -c '{script}' & exit 0", "--kill-grace", "0.1")
        self.assertEqual(result["exit_code"], 0)

    def test_a_crash(self):
        result = self.result("ulimit -c 0; " + PYTHON + " -c 'import os, signal; os.kill(os.getpid(), signal.SIGSEGV)'; exit $?")
        self.assertEqual(result["exit_code"], 139)  # the shell's word for it
        result = self.result("--", PYTHON, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
        self.assertEqual((result["signal"], result["_code"]), ("SIGSEGV", 139))

    def test_a_grandchild_that_holds_the_output_open_delays_nothing(self):
        for how in ([], ["--pipe"]):
            before = time.monotonic()
            result = self.result(*how, "--keep-background", f"setsid sleep {self.token} & echo done")
            self.assertLess(time.monotonic() - before, 20)
            self.assertEqual((result["state"], result["output"]), ("exited", "done\n"))
            self.assertEqual([p["command"] for p in result["background"]], [f"sleep {self.token}"])
            for pid in processes(self.token):
                os.kill(pid, 9)
            self.assertTrue(eventually(lambda: not processes(self.token)))

    def test_two_hundred_at_once(self):
        running = [self.start("--json", "run", f"echo number {i}; exit {i % 100}") for i in range(200)]
        import json
        for i, process in enumerate(running):
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, i % 100, err)
            result = json.loads(out)
            self.assertEqual((result["output"], result["exit_code"]), (f"number {i}\n", i % 100))
        self.assertEqual(self.journals(), [])

    def test_many_in_a_row_leave_nothing(self):
        for i in range(200):
            done = subprocess.run([os.environ["TTYWARD"], "run", "true"], env=self.environment, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0)
        self.assertEqual(self.journals(), [])
        # A terminal lives as long as somebody has it open: nobody of ours is left. Those of others do not count.
        self.assertEqual(self.of_this_home(), [])

    def of_this_home(self):
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                with open(f"/proc/{name}/environ", "rb") as f:
                    if self.home.encode() in f.read():
                        found.append(int(name))
            except OSError:
                continue
        return found


if __name__ == "__main__":
    main()
