"""Calls that are sent again to the next daemon have the effect of one; and what comes up or goes down is waited for."""
import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../daemon"))
from daemon_client import PATIENCE, TTYWARD, CallFailed, Daemon  # noqa: E402


class Again(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon('[policy]\nmode = "yolo"\n')
        self.addCleanup(self.daemon.close)

    def kill_and_restart(self):
        os.kill(self.daemon.pid, signal.SIGKILL)
        self.daemon.client.close()
        self.daemon.wait_for_end()
        self.daemon.start()

    def until(self, holds):
        give_up = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), give_up, "waited in vain")
            time.sleep(0.005)  # spares the processor

    def test_a_batch_goes_on(self):
        home = self.daemon.home
        os.mkfifo(home + "/gate")
        commands = ["cd /usr", f"echo ran >> {home}/first; echo one", f"cat {home}/gate; echo two", "pwd; (exit 3)", "echo not run"]
        args = {"commands": commands, "cwd": home, "batch_id": "b-again"}
        self.daemon.client.start("batch", **args)
        self.until(lambda: os.path.exists(home + "/first"))
        self.kill_and_restart()
        call = self.daemon.client.start("batch", **args)
        with open(home + "/gate", "w") as f:
            f.write("through\n")
        answer = self.daemon.client.answer(call)
        self.assertEqual([r["output"] for r in answer["results"]], ["", "one\n", "through\ntwo\n", "/usr\n"], answer)
        self.assertEqual([r["exit_code"] for r in answer["results"]], [0, 0, 0, 3])
        self.assertEqual(answer["not_run"], ["echo not run"])
        with open(home + "/first") as f:
            self.assertEqual(f.read(), "ran\n", "it ran once")
        # Ended before the answer came: the same answer.
        again = self.daemon.client.call("batch", **args)
        self.assertEqual([r["output"] for r in again["results"]], [r["output"] for r in answer["results"]])
        with open(home + "/first") as f:
            self.assertEqual(f.read(), "ran\n")

    def test_a_run_that_is_sent_again_while_its_environment_is_made(self):
        """What the login shell sets up takes a while: a second call for the same command finds no command yet."""
        daemon = Daemon('[policy]\nmode = "yolo"\n[shell]\nenvironment = "login"\n')
        self.addCleanup(daemon.close)
        home = daemon.home
        os.mkfifo(home + "/gate")
        with open(home + "/.bash_profile", "w") as f:
            f.write(f"read -r line < {home}/gate\n")
        args = {"command": f"echo ran >> {home}/ran", "command_id": "c" + "a" * 12, "cwd": home}
        clients = [daemon.connect(), daemon.connect()]
        calls = [client.start("run", **args) for client in clients]
        for client in clients:
            client.call("status")  # it has read the call before
        with open(home + "/gate", "w") as f:
            f.write("go\n")
        for client, call in zip(clients, calls):
            self.assertEqual(client.answer(call)["exit_code"], 0)
        with open(home + "/ran") as f:
            self.assertEqual(f.read(), "ran\n", "it ran once")

    def test_an_open_that_is_sent_again_opens_no_second(self):
        first = self.daemon.client.call("open", request="o-again", cwd="/")["terminal"]["id"]
        self.assertEqual(self.daemon.client.call("open", request="o-again", cwd="/")["terminal"]["id"], first)
        self.kill_and_restart()
        self.assertEqual(self.daemon.client.call("open", request="o-again", cwd="/")["terminal"]["id"], first)
        self.assertEqual(len(self.daemon.client.call("list")["terminals"]), 1)
        # From the pool, too.
        self.until(lambda: self.daemon.client.call("status").get("pooled", 1) > 0)
        second = self.daemon.client.call("open", request="o-second", cwd="/")["terminal"]["id"]
        self.kill_and_restart()
        self.assertEqual(self.daemon.client.call("open", request="o-second", cwd="/")["terminal"]["id"], second)

    def test_results_are_forgotten_in_the_order_in_which_they_came(self):
        ids = []
        for i in range(70):  # more than are kept
            ids.append(self.daemon.client.call("run", command=f"echo {i}", cwd="/")["command_id"])
        for _ in range(3):
            self.kill_and_restart()
            known = []
            for command in ids:
                try:
                    self.daemon.client.call("result", command=command)
                    known.append(command)
                except CallFailed:
                    pass
            self.assertEqual(known, ids[-len(known):])
            self.assertGreaterEqual(len(known), 60)

    def test_names_are_not_given_twice(self):
        one = self.daemon.client.call("open", cwd="/", name="work")["terminal"]["id"]
        two = self.daemon.client.call("open", cwd="/")["terminal"]["id"]
        with self.assertRaises(CallFailed) as raised:
            self.daemon.client.call("rename", terminal=two, name="work")
        self.assertIn(one, str(raised.exception))

    def test_stop_waits_for_a_daemon_that_is_just_starting(self):
        subprocess.run([TTYWARD, "daemon", "stop"], env=self.daemon.environment, check=True, timeout=PATIENCE)
        self.daemon.wait_for_end()
        # As somebody does who is about to start one.
        os.umask(0o077)
        with open(self.daemon.folder + "/tw/state/daemon.starting", "w+b") as mark:
            fcntl.fcntl(mark, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0))  # F_OFD_SETLK
            stop = subprocess.Popen([TTYWARD, "daemon", "stop"], env=self.daemon.environment, stdout=subprocess.PIPE)
            with self.assertRaises(subprocess.TimeoutExpired):
                stop.wait(timeout=0.3)
            subprocess.run([TTYWARD, "daemon", "run", "--detach"], env=self.daemon.environment, timeout=PATIENCE)
        self.assertEqual(stop.communicate(timeout=PATIENCE)[0], b"", "it found no daemon")
        self.assertEqual(stop.returncode, 0)
        status = subprocess.run([TTYWARD, "daemon", "status"], env=self.daemon.environment, capture_output=True)
        self.assertEqual(status.returncode, 1, status.stdout)

    def test_a_daemon_that_is_killed_as_it_starts_is_started_again(self):
        subprocess.run([TTYWARD, "daemon", "stop"], env=self.daemon.environment, check=True, timeout=PATIENCE)
        self.daemon.wait_for_end()
        # Holders are looked for beside the program, and found by its real name.
        killer = subprocess.Popen(["bash", "-c", f"""
            for n in 1 2 3; do
              until pid=$(pgrep -f "^{TTYWARD} daemon run --detach --state {self.daemon.folder}/"); do :; done
              kill -9 $pid
              while kill -0 $pid 2>/dev/null; do :; done
            done"""], stderr=subprocess.DEVNULL)
        listed = subprocess.run([TTYWARD, "--json", "ls"], env=self.daemon.environment, capture_output=True, text=True,
                                timeout=PATIENCE)
        killer.terminate()
        killer.wait()
        self.assertEqual(listed.returncode, 0, listed.stderr)
        json.loads(listed.stdout)
        # The one that answered may have been killed right afterwards, and be dying while it is connected to.
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                return self.daemon.start()
            except (OSError, ValueError):
                if time.monotonic() > give_up:
                    raise


if __name__ == "__main__":
    unittest.main()
