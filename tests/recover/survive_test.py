"""Verbs that wait outlive the daemon: it is killed under them, and they tell the true end all the same.

That a command ran once is seen from outside, by the lines it leaves in a file.
TTYWARD_KILLS sets how often it is killed at a random moment (12 unless set).
"""
import contextlib
import os
import random
import signal
import sqlite3
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import CliTest, eventually  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from daemon_client import CallFailed, Client, lives  # noqa: E402
from daemon_client import person as person_token  # noqa: E402

KILLS = int(os.environ.get("TTYWARD_KILLS", "12"))


class Survive(CliTest):
    def daemon_pid(self):
        """Of the one that answers; waits for it if need be."""
        eventually(lambda: self.ttyward("daemon", "status").returncode == 0)
        return self.json("daemon", "status")["pid"]

    def kill(self, pid):
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not lives(pid))

    def text_of(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def touch(self, name):
        open(self.path(name), "w").close()

    def until(self, name):
        """Shell words that wait for a file."""
        return f"until [ -e {self.path(name)} ]; do sleep 0.02; done"

    def begun(self, name="begun"):
        eventually(lambda: os.path.exists(self.path(name)), name)

    def frozen(self, process):
        """Stops a client, so that things happen while nobody asks."""
        process.send_signal(signal.SIGSTOP)

        def stopped():
            with open(f"/proc/{process.pid}/stat") as f:
                return f.read().rpartition(")")[2].split()[0] == "T"
        eventually(stopped)

    def without_daemon(self, client, go, until):
        """What the command does from the file `go` until it makes the other, nobody sees happen."""
        self.begun()
        self.frozen(client)
        self.kill(self.daemon_pid())
        self.touch(go)
        self.begun(until)
        client.send_signal(signal.SIGCONT)

    def test_exec_tells_the_true_end_and_every_line_once(self):
        self.open()
        for way in ("stream", "json"):
            for name in ("begun", "go", "ran"):
                if os.path.exists(self.path(name)):
                    os.unlink(self.path(name))
            options = ["--json"] if way == "json" else []
            running = self.start(*options, "exec", "build",
                                 f"echo x >> ran; echo first; touch begun; {self.until('go')}; echo last; (exit 7)")
            self.begun()
            pid = self.daemon_pid()
            self.kill(pid)
            self.daemon_pid()  # the client has started another one
            self.touch("go")
            code, out, err = self.end_of(running)
            self.assertEqual((code, err), (7, ""), out)
            if way == "stream":
                self.assertEqual(out, "first\nlast\n")
            else:
                self.assertIn('"output":"first\\nlast\\n"', out)
            self.assertEqual(self.text_of("ran"), "x\n")

    def test_what_was_printed_while_there_was_no_daemon_is_shown(self):
        self.open()
        running = self.start("exec", "build", f"echo one; touch begun; {self.until('go')}; echo two; touch done; "
                                              f"{self.until('end')}; echo -n three; (exit 3)")
        self.without_daemon(running, "go", until="done")
        self.touch("end")
        self.assertEqual(self.end_of(running), (3, "one\ntwo\nthree\n", ""))

    def test_a_command_that_ended_meanwhile_has_ended(self):
        self.open()
        running = self.start("exec", "build", f"touch begun; {self.until('go')}; echo over; touch done; exit 5")
        self.without_daemon(running, "go", until="done")
        code, out, err = self.end_of(running)
        self.assertEqual((code, out), (5, "over\nexit\n"))  # the second is bash's own word

    def test_killed_at_any_moment_each_command_runs_once_and_its_code_comes(self):
        chance = random.Random(20261115)
        self.open()
        for i in range(KILLS):
            self.ok("ls")  # starts one if the last command was faster than its end
            pid = self.daemon_pid()
            running = self.start("exec", "build", "--wait", f"echo {i} >> ran; echo {i}-out; (exit {i % 90})")
            try:
                running.wait(chance.random() * 0.08)
            except Exception:
                pass
            self.kill(pid)
            code, out, err = self.end_of(running)
            self.assertEqual((code, out), (i % 90, f"{i}-out\n"), err)
        self.assertEqual(self.text_of("ran").split(), [str(i) for i in range(KILLS)])

    def test_the_id_of_a_command_that_only_the_history_knows_is_not_used_again(self):
        self.ok("daemon", "run", "--detach")
        self.ok("daemon", "stop")
        with contextlib.closing(sqlite3.connect(self.home + "/state/history.db")) as history:
            history.execute("INSERT INTO commands VALUES ('cabcdefghijkl', 't', '', '', 'user', 'touch old', '/', NULL, 'exited',"
                            " 0, NULL, 'wait', 'pty', 'none', ?, 1, 't', 0, 0, 0, 0, '', '')", (int(time.time() * 1000),))
            history.commit()
        self.ok("daemon", "run", "--detach")
        client = Client(self.home + "/run/daemon.sock", token=person_token.token_in(self.home))
        self.addCleanup(client.close)
        for command in ("touch old", "touch new"):
            with self.assertRaises(CallFailed) as refused:
                client.call("run", command=command, cwd=self.work, command_id="cabcdefghijkl")
            self.assertEqual(refused.exception.code, "not_found")
        self.assertEqual(os.listdir(self.work), [])
        self.assertEqual([row["command"] for row in client.call("history")["commands"]], ["touch old"])

    def test_what_was_allowed_for_a_session_stays_allowed(self):
        self.ok("daemon", "run", "--detach")
        socket = self.home + "/run/daemon.sock"
        agent = Client(socket, role="agent", session="s", secret="a secret of this session")
        person = Client(socket, token=person_token.token_in(self.home))
        self.addCleanup(agent.close)
        self.addCleanup(person.close)
        asks = agent.start("run", command="rm -f one", cwd=self.work)
        question = eventually(lambda: person.call("approvals")["approvals"])[0]
        person.call("answer", approval=question["id"], decision="allow", always="session")
        self.assertEqual(agent.answer(asks)["exit_code"], 0)
        rules = person.call("rules", session="s")["rules"]
        self.assertTrue(rules)
        self.ok("daemon", "stop")
        self.ok("daemon", "run", "--detach")
        person = Client(socket, token=person_token.token_in(self.home))
        self.addCleanup(person.close)
        eventually(lambda: person.call("rules", session="s")["rules"] == rules, "the rule")

    def test_wait_means_the_command_that_ran_and_the_lines_since(self):
        self.open()
        self.ttyward("exec", "build", "--yield", "0.01",
                     f"echo ready; touch begun; {self.until('go')}; echo ready again; touch done; {self.until('end')}; (exit 9)")
        self.begun()
        ends = self.start("wait", "build", "--exit", "--timeout", "50")
        default = self.start("wait", "build", "--timeout", "50")
        line = self.start("wait", "build", "--for", "ready", "--timeout", "50")
        eventually(lambda: self.json("daemon", "status")["connections"] >= 4)
        # A wait that answers says that those before it have begun.
        self.ttyward("wait", "build", "--quiet", "0.2")
        for client in (ends, default, line):
            self.frozen(client)
        self.kill(self.daemon_pid())
        self.touch("go")
        self.begun("done")
        self.touch("end")
        self.ok("exec", "build", "--wait", "echo another")
        for client in (ends, default, line):
            client.send_signal(signal.SIGCONT)
        self.assertEqual(self.end_of(ends)[0], 9)
        self.assertEqual(self.end_of(default)[0], 9)
        code, out, err = self.end_of(line)
        self.assertEqual((code, out), (0, "pattern 2:ready again\n"), err)

    def test_a_dialogue_goes_on_after_what_it_said(self):
        self.open()
        script = ("for i in 1 2 3; do read -p \"name $i? \" x; echo \"got $x\"; touch got$i; "
                  "until [ -e go$i ]; do sleep 0.02; done; done; (exit 4)")
        running = self.start("expect", "build", script, "--when", r"name 1\?", "--reply", "ann",
                             "--when", r"name 2\?", "--reply", "bob", "--when", r"name \d\?", "--reply", "eve", "--repeat")
        for i in (1, 2):
            self.begun(f"got{i}")
            self.kill(self.daemon_pid())
            self.touch(f"go{i}")
        self.touch("go3")
        code, out, err = self.end_of(running)
        self.assertEqual(code, 4, err)
        said = [line for line in out.splitlines() if line.startswith("got")]
        self.assertEqual(said, ["got ann", "got bob", "got eve"], out)


if __name__ == "__main__":
    unittest.main()
