"""Things that run out: terminals, descriptors, disk, rights."""
import json
import os
import subprocess
import unittest

from harness import TTYWARD, RunTest, main


def may_unshare():
    return subprocess.run(["unshare", "-rm", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


class Faults(RunTest):
    def in_namespace(self, setup, *args):
        command = ["unshare", "-rm", "sh", "-c", setup + ' && exec "$@"', "sh", TTYWARD, *args]
        return subprocess.run(command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    @unittest.skipUnless(may_unshare(), "mount namespaces are not allowed here")
    def test_without_terminals_it_runs_in_pipes_and_says_so(self):
        hide = "mount --bind /dev/null /dev/ptmx"
        done = self.in_namespace(hide, "--json", "run", "echo hi; test -t 1 || echo no tty")
        result = json.loads(done.stdout)
        self.assertEqual((result["exit_code"], result["provider"]), (0, "pipe"), done)
        self.assertEqual(result["output"], "hi\nno tty\n")
        self.assertTrue(result["fallback_reason"])
        done = self.in_namespace(hide, "run", "echo hi")
        self.assertEqual((done.returncode, done.stdout), (0, b"hi\n"))
        self.assertIn(b"it ran in pipes", done.stderr)

    @unittest.skipUnless(may_unshare(), "mount namespaces are not allowed here")
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

    @unittest.skipUnless(may_unshare(), "mount namespaces are not allowed here")
    def test_a_read_only_home_is_said_and_survived(self):
        os.mkdir(self.home)
        done = self.in_namespace(f"mount -t tmpfs -o ro none {self.home}", "run", "echo hi; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, b"hi\n"), done)
        self.assertIn(b"instead", done.stderr)

    @unittest.skipIf(b"__asan_init" in open(TTYWARD, "rb").read(), "a sanitizer needs descriptors of its own")
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

    def test_few_processes_end_in_a_result_or_a_reason(self):
        done = subprocess.run(["bash", "-c", 'ulimit -u 1; exec "$@"', "bash", TTYWARD, "run", "echo hi"],
                              env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertIn(done.returncode, (0, 125), done)  # root has no such limit

    def test_a_home_that_is_not_ours_is_refused(self):
        os.makedirs(self.home + "/state")
        os.symlink("/tmp", self.home + "/state/journals")
        done = self.run_it("echo hi")
        self.assertEqual((done.returncode, done.stdout), (0, b"hi\n"))
        self.assertIn(b"instead", done.stderr)


if __name__ == "__main__":
    main()
