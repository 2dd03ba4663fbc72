"""Questions of all hosts in one inbox: who may answer, that the first answer wins, and terminals over the bus."""
import json
import os
import pty
import select
import signal
import subprocess
import unittest

import harness
from harness import FleetTest, eventually, lives

ASKING = '[policy]\nmode = "default"\n'


class People(FleetTest):
    def setUp(self):
        super().setUp()
        self.main = self.server()

    def ask(self, number, *options):
        """A command that the host's policy asks about."""
        return self.start("run", *options, f"touch {self.folder}/marker{number}")

    def questions(self, *options):
        return self.json("approvals", *options)["questions"]

    def question(self):
        [found] = eventually(self.questions, "a question")
        return found

    def answer(self, host, decision, question, *more):
        return self.fleet("approvals", decision, question, "--person-key", host.token, *more)

    def test_an_answer_from_elsewhere(self):
        host = self.host("one", settings=ASKING).ready()
        running = self.ask(1)
        question = self.question()
        self.assertEqual((question["host"], question["approval"]["command"]), ("one", f"touch {self.folder}/marker1"))
        self.assertFalse(os.path.exists(self.folder + "/marker1"))
        eventually(lambda: [j for j in self.json("ls", "--jobs").get("jobs", []) if j["state"] == "pending_approval"], "a record that says so")
        done = self.answer(host, "allow", question["approval"]["id"])
        self.assertEqual((done.returncode, done.stdout), (0, "allowed on one\n"), done)
        code, _, err = self.finish(running)
        self.assertEqual(code, 0, err)
        self.assertIn("asks a person", err)
        self.assertTrue(os.path.exists(self.folder + "/marker1"))
        eventually(lambda: not self.questions(), "an empty inbox")
        running = self.ask(2)
        question = self.question()
        self.assertEqual(self.answer(host, "deny", question["approval"]["id"], "--reason", "not today").returncode, 0)
        code, _, err = self.finish(running)
        self.assertEqual(code, 126)
        self.assertIn("not today", err)
        self.assertFalse(os.path.exists(self.folder + "/marker2"))

    def test_the_first_answer_wins(self):
        host = self.host("one", settings=ASKING).ready()
        running = self.ask(1)
        question = self.question()["approval"]["id"]
        both = [self.start("approvals", "--json", decision, question, "--person-key", host.token) for decision in ("allow", "deny")]
        outcomes = [json.loads(self.finish(each)[1]) for each in both]
        self.assertEqual(sorted(o["answered"] for o in outcomes), [False, True], outcomes)
        [late] = [o for o in outcomes if not o["answered"]]
        self.assertIn("already", late["error"])
        allowed = outcomes[0]["answered"]
        self.assertEqual(self.finish(running)[0], 0 if allowed else 126)
        self.assertEqual(os.path.exists(self.folder + "/marker1"), allowed)
        self.assertIn("already", self.answer(host, "deny", question).stderr)

    def test_answered_on_the_host_itself(self):
        host = self.host("one", settings=ASKING).ready()
        running = self.ask(1)
        question = self.question()["approval"]["id"]
        mine = dict(host.environment, TTYWARD_PERSON_TOKEN_FILE=host.token)
        subprocess.run([harness.TTYWARD, "approvals", "allow", question], env=mine, check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.finish(running)[0], 0)
        eventually(lambda: not self.questions(), "an empty inbox")

    def test_who_may_not_answer(self):
        host = self.host("one", settings=ASKING).ready()
        running = self.ask(1)
        found = self.question()
        question = found["approval"]["id"]
        nobody = self.fleet("approvals", "allow", question)
        self.assertEqual(nobody.returncode, 126)
        self.assertIn("only a person answers", nobody.stderr)
        wrong = self.folder + "/wrong-key"
        with open(os.open(wrong, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write("0" * 64 + "\n")
        refused = self.fleet("approvals", "allow", question, "--person-key", wrong)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("not the one that this host knows", refused.stderr)
        # An answer for another question, or to another text, is no answer.
        bus = self.bus(self.main)
        answer = bus.request(f"tw1.ans.one.{question}", {"decision": "allow", "shown": "0" * 64, "proof": {"by": "", "code": "0" * 64}})
        self.assertFalse(answer["answered"])
        self.assertFalse(os.path.exists(self.folder + "/marker1"))
        self.assertEqual(self.answer(host, "deny", question).returncode, 0)
        self.assertEqual(self.finish(running)[0], 126)

    def test_a_daemon_that_dies_asks_again(self):
        host = self.host("one", settings=ASKING).ready()
        running = self.ask(1)
        first = self.question()["approval"]["id"]
        host.kill_daemon()
        second = eventually(lambda: [q for q in self.questions() if q["approval"]["id"] != first], "the question again")
        eventually(lambda: len(self.questions()) == 1, "one question")
        self.assertEqual(self.answer(host, "allow", second[0]["approval"]["id"]).returncode, 0)
        self.assertEqual(self.finish(running)[0], 0)

    def test_questions_of_all_hosts(self):
        hosts = {name: self.host(name, settings=ASKING).ready() for name in ("one", "two")}
        running = {name: self.ask(name, "--host", name) for name in hosts}
        eventually(lambda: len(self.questions()) == 2)
        for question in self.questions():
            name = question["host"]
            self.assertEqual(self.answer(hosts[name], "allow", question["approval"]["id"]).returncode, 0)
            self.assertEqual(self.finish(running[name])[0], 0)

    def test_watching_a_terminal(self):
        host = self.host("one").ready()
        job = self.fleet("run", "--detach", f"seq 1 20000; while [ ! -e {self.folder}/gate ]; do sleep 0.05; done; echo end").stdout.strip()
        eventually(lambda: (self.record(job) or {}).get("state") == "running")
        watching = self.start("attach", "--read-only", job, "--person-key", host.token)
        agent = self.start("attach", "--read-only", job)
        lines = [watching.stdout.readline().strip() for _ in range(20000)]
        self.assertEqual(lines, [str(n) for n in range(1, 20001)])
        open(self.folder + "/gate", "w").close()
        code, out, err = self.finish(watching)
        self.assertEqual((code, out.strip()), (0, "end"), err)
        code, out, err = self.finish(agent)
        self.assertEqual((code, out.split()[-1]), (0, "end"), err)

    def test_typing_into_a_terminal(self):
        """A person takes the keyboard of a command on another host, over the bus."""
        host = self.host("one").ready()
        job = self.fleet("run", "--detach", "echo who are you; read -r line; echo hello $line").stdout.strip()
        eventually(lambda: (self.record(job) or {}).get("state") == "awaiting_input", "a command that waits")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(harness.TTYWARD, self.command("attach", job, "--person-key", host.token), dict(self.environment, TERM="xterm"))
        self.addCleanup(os.close, terminal)
        self.addCleanup(lambda: os.kill(pid, signal.SIGKILL) if lives(pid) else None)
        seen = b""

        def shows(text):
            nonlocal seen
            while select.select([terminal], [], [], 0.05)[0]:
                try:
                    seen += os.read(terminal, 65536)
                except OSError:
                    break
            return text in seen
        eventually(lambda: shows(b"who are you"), "the screen")
        os.write(terminal, b"ada\r")
        record = eventually(lambda: (self.record(job) or {}).get("state") == "exited" and self.record(job), "its end")
        self.assertIn("hello ada", record["result"]["output"])
        eventually(lambda: shows(b"") or not lives(pid), "the end of attach")

    def test_a_tunnel_gives_no_more_than_it_should(self):
        host = self.host("one").ready()
        # A terminal of the person's on that host is none of the fleet's business.
        mine = dict(host.environment, TTYWARD_PERSON_TOKEN_FILE=host.token)
        subprocess.run([harness.TTYWARD, "open", "--name", "private"], env=mine, check=True, stdout=subprocess.DEVNULL)
        as_agent = self.fleet("attach", "--read-only", "one:private")
        self.assertNotEqual(as_agent.returncode, 0)
        wrong = self.folder + "/wrong-key"
        with open(os.open(wrong, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write("0" * 64 + "\n")
        refused = self.fleet("attach", "--read-only", "one:private", "--person-key", wrong)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("not the one that this host knows", refused.stderr)
        bus = self.bus(self.main)
        self.assertIn("error", bus.request("tw1.req.one.answer", {"approval": "a"}))
        self.assertIn("error", bus.request("tw1.req.one.read", {"terminal": "private"}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
