"""Things that run out: terminals, descriptors, disk, rights."""
import json
import os
import shutil
import subprocess
import unittest

from harness import PATIENCE, PYTHON, TTYWARD, RunTest, eventually, main, may_unshare, processes


with open(TTYWARD, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()


class Faults(RunTest):
    def in_namespace(self, setup, *args):
        command = ["unshare", "-rm", "sh", "-c", setup + ' && exec "$@"', "sh", TTYWARD, *args]
        return subprocess.run(command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    @unittest.skipUnless(may_unshare("-rm"), "mount namespaces are not allowed here")
    def test_without_terminals_it_runs_in_pipes_and_says_so(self):
        hide = "mount --bind /dev/null /dev/ptmx"
        done = self.in_namespace(hide, "--json", "run", "echo hi; test -t 1 || echo no tty")
        result = json.loads(done.stdout)
        self.assertEqual((result["exit_code"], result["provider"]), (0, "pipe"), done)
        self.assertEqual(result["output"], "hi\nno tty\n")
        self.assertTrue(result["fallback_reason"])
        done = self.in_namespace(hide, "run", "echo hi")
        self.assertEqual((done.returncode, done.stdout), (0, b"hi\n"))
        self.assertIn(b"it ran on pipes", done.stderr)

    @unittest.skipUnless(may_unshare("-rm"), "mount namespaces are not allowed here")
    def test_a_full_disk_is_never_a_crash_and_never_a_claim(self):
        os.mkdir(self.home)
        small = f"mount -t tmpfs -o size=1m none {self.home}"
        done = self.in_namespace(small, "--json", "run", "seq 1 300000")
        result = json.loads(done.stdout)
        self.assertIn(done.returncode, (0, 125), done)
        if done.returncode == 0:
            self.assertEqual(result["exit_code"], 0)
            self.assertEqual(result["total_lines"] == 300000 or result["lost_bytes"] > 0, True, result)
        done = self.in_namespace(small, "run", "seq 1 300000")
        self.assertIn(done.returncode, (0, 125), done)
        if done.stdout.count(b"\n") != 300000:
            self.assertIn(b"could not be kept", done.stderr)

    @unittest.skipUnless(may_unshare("-rm"), "mount namespaces are not allowed here")
    def test_a_read_only_home_is_said_and_survived(self):
        os.mkdir(self.home)
        done = self.in_namespace(f"mount -t tmpfs -o ro none {self.home}", "run", "echo hi; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, b"hi\n"), done)
        self.assertIn(b"instead", done.stderr)

    @unittest.skipIf(SANITIZED, "a sanitizer needs descriptors of its own")
    def test_few_descriptors_end_in_a_result_or_a_reason(self):
        def starts(limit):  # a program the loader or a sanitizer cannot start says nothing about us
            return subprocess.run(["bash", "-c", f'ulimit -n {limit}; exec "$@"', "bash", TTYWARD, "--version"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

        for limit in filter(starts, range(4, 40)):
            done = subprocess.run(["bash", "-c", f'ulimit -n {limit}; exec "$@"', "bash", TTYWARD, "run", "echo hi"],
                                  env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            if done.returncode == 0:
                self.assertEqual(done.stdout, b"hi\n", (limit, done))
            else:
                self.assertEqual(done.returncode, 125, (limit, done))
                self.assertTrue(done.stderr.startswith(b"ttyward"), (limit, done))
        self.assertEqual(done.returncode, 0)

    def as_nobody(self, processes, *args):
        """ttyward as a user of its own, who may have so many processes."""
        uid = 61848 + os.getpid() % 1000
        program = f"{self.folder}/ttyward"
        shutil.copy(TTYWARD, program)
        os.chown(self.folder, uid, uid)
        os.chmod(self.folder, 0o755)
        command = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups",
                   "prlimit", f"--nproc={processes}", program, *args]
        # A sanitizer that looks for leaks at the end starts a process for it, and may not either.
        options = "detect_leaks=0:" + self.environment.get("ASAN_OPTIONS", "")
        return subprocess.run(command, env={**self.environment, "ASAN_OPTIONS": options}, cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE)

    @unittest.skipUnless(os.geteuid() == 0, "a user of its own, whose processes are counted, needs root")
    def test_no_process_to_be_had_is_a_reason(self):
        done = self.as_nobody(1, "--json", "run", "echo hi")
        result = json.loads(done.stdout)
        self.assertEqual((result["state"], done.returncode), ("failed_to_start", 125), done)
        self.assertIn("process", result["reason"])
        self.assertIsNone(result["exit_code"])
        self.assertEqual(self.journals(), [])
        done = self.as_nobody(1, "run", "echo hi")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (125, b"", 1), done)

    @unittest.skipUnless(os.geteuid() == 0, "a user of its own, whose processes are counted, needs root")
    def test_a_command_that_can_start_nothing_ends_with_its_own_code(self):
        done = self.as_nobody(2, "--json", "run", "--", "perl", "-e", "defined(fork) or print qq(no more\\n) and exit 9")
        result = json.loads(done.stdout)
        self.assertEqual((result["exit_code"], result["output"]), (9, "no more\n"), done)

    @unittest.skipUnless(os.geteuid() == 0, "a user of its own, whose processes are counted, needs root")
    def test_a_storm_of_refused_forks_leaves_nothing(self):
        script = ("my ($made, $refused) = (0, 0); for (1..5000) { my $child = fork; if (!defined $child) { $refused++ }"
                  f" elsif ($child) {{ $made++ }} else {{ exec 'sleep', {self.token} }} }} print qq($made $refused\\n);")
        done = self.as_nobody(40, "--json", "run", "--kill-grace", "0.2", "--", "perl", "-e", script)
        result = json.loads(done.stdout)
        self.assertEqual((result["state"], result["exit_code"]), ("exited", 0), done)
        made, refused = (int(word) for word in result["output"].split())
        self.assertEqual(made + refused, 5000)
        self.assertLess(made, 40)
        self.assert_nothing_left()

    def test_interrupted_and_refused_calls_change_nothing(self):
        # Half of the reads, writes and waits of ttyward itself say EAGAIN or EINTR.
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None or SANITIZED:
            self.skipTest("a library put before libc needs a C compiler, and no sanitizer that is such a one itself")
        shim = f"{self.folder}/storm.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", shim,
                        os.path.dirname(os.path.abspath(__file__)) + "/storm.c", "-ldl"], check=True)
        want = "".join(f"{i}\n" for i in range(1, 50001)).encode()
        self.environment["LD_PRELOAD"] = shim
        for how in ([], ["--pipe"]):
            done = self.run_it(*how, "seq 1 50000; exit 4")
            self.assertEqual((done.returncode, done.stdout == want), (4, True), done.stderr)
            self.assertEqual(self.result(*how, f"sleep {self.token} & read x </dev/null; echo hi")["output"], "hi\n")
            self.assert_nothing_left()

    def test_killed_from_outside_as_a_machine_out_of_memory_does(self):
        # The kernel's killer sends SIGKILL to one process; from here on it is the same.
        process = self.start("--json", "run", "--", "sleep", self.token)
        self.assertTrue(eventually(lambda: self.sleepers()))
        os.kill(self.sleepers()[0], 9)
        result = json.loads(process.communicate(timeout=PATIENCE)[0])
        self.assertEqual((result["state"], result["signal"], process.returncode), ("signaled", "SIGKILL", 137))
        self.assertIsNone(result["exit_code"])
        process = self.start("--json", "run", f"echo begun; sleep {self.token}; echo $?; exit 3")
        self.assertTrue(eventually(lambda: self.sleepers()))
        os.kill(self.sleepers()[0], 9)
        result = json.loads(process.communicate(timeout=PATIENCE)[0])
        self.assertEqual((result["state"], result["exit_code"]), ("exited", 3))
        self.assertTrue(result["output"].startswith("begun\n") and result["output"].endswith("137\n"), result)

    def sleepers(self):
        found = []
        for pid in processes(self.token):
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read() == b"sleep\0" + self.token.encode() + b"\0":
                    found.append(pid)
        return found

    def test_a_command_without_memory_says_so_itself(self):
        result = self.result(f"ulimit -v 300000; {PYTHON} -c 'x = bytearray(1 << 30)'")
        self.assertEqual(result["exit_code"], 1)
        self.assertIn("MemoryError", result["output"])

    def test_killed_ourselves_we_leave_no_command_behind(self):
        process = self.start("run", f"echo up; sleep {self.token}")
        self.assertEqual(process.stdout.readline(), b"up\n")
        process.kill()
        process.wait()
        self.assertTrue(eventually(lambda: not processes(self.token)))

    def test_a_home_that_is_not_ours_is_refused(self):
        os.makedirs(self.home + "/state")
        os.symlink("/tmp", self.home + "/state/journals")
        done = self.run_it("echo hi")
        self.assertEqual((done.returncode, done.stdout), (0, b"hi\n"))
        self.assertIn(b"instead", done.stderr)


if __name__ == "__main__":
    main()
