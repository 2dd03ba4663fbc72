"""Questions, answers, rules and the record of them, against a real daemon: an agent asks, a person answers."""
import json
import os
import signal
import subprocess
import unittest

from harness import CliTest, Tmux, TTYWARD, eventually


class PolicyTest(CliTest):
    def setUp(self):
        super().setUp()
        self.open("build", "--owner", "agent")
        self.agent_environment = self.environment | {"TTYWARD_ROLE": "agent"}

    def agent(self, *args):
        """A call an agent makes, still running."""
        process = subprocess.Popen([TTYWARD, *args], env=self.agent_environment, cwd=self.work,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, process)
        return process

    def questions(self):
        return self.json("approvals", "list")["approvals"]

    def asked(self, command):
        """The question about this command, once it is open."""
        def find():
            for approval in self.questions():
                if approval["command"] == command:
                    return approval
            return None
        return eventually(find, f"a question about {command}")

    def decisions(self):
        return [(row["command"], row["decision"], row["decided_by"])
                for row in self.json("history", "--decisions")["decisions"]]

    def recorded(self, decision):
        """What was decided is told first and written down at once afterwards."""
        eventually(lambda: decision in self.decisions(), f"the record {decision}")

    def configure(self, text):
        os.makedirs(self.home + "/config", exist_ok=True)
        with open(self.home + "/config/config.toml", "w") as f:
            f.write(text)
        os.kill(self.json("daemon", "status")["pid"], signal.SIGHUP)

    def write_rules(self, text):
        """As somebody would who does not ask us."""
        os.makedirs(self.home + "/config", mode=0o700, exist_ok=True)
        with open(self.home + "/config/rules.toml", "w") as f:
            f.write(text)

    def confirm(self, *shown):
        person = Tmux(self)
        person.line(f"{TTYWARD} rules confirm")
        person.wait_for("should they take effect?")
        for text in shown:
            self.assertIn(text, person.screen())
        person.line("yes")
        person.wait_for("settings are in effect")


class Answers(PolicyTest):
    def test_allowed_once(self):
        for _ in range(2):  # a yes is used up
            agent = self.agent("exec", "build", "touch made")
            question = self.asked("touch made")
            self.assertEqual((question["cwd"], question["default"], question["state"]), (self.work, "deny", "open"))
            self.assertFalse(os.path.exists(self.path("made")))
            self.ok("approvals", "allow", question["id"])
            self.assertEqual(self.end_of(agent)[0], 0)
            self.assertTrue(os.path.exists(self.path("made")))
            os.unlink(self.path("made"))
        self.recorded(("touch made", "ask_allow", "person"))

    def test_denied_with_words(self):
        agent = self.agent("exec", "build", "touch made")
        self.ok("approvals", "deny", self.asked("touch made")["id"], "--reason", "use the other folder")
        code, _, err = self.end_of(agent)
        self.assertEqual(code, 126, err)
        self.assertIn("use the other folder", err)
        self.assertFalse(os.path.exists(self.path("made")))
        self.recorded(("touch made", "deny", "person"))

    def test_skipped_is_no_failure(self):
        agent = self.agent("exec", "build", "touch made")
        self.ok("approvals", "skip", self.asked("touch made")["id"])
        code, _, err = self.end_of(agent)
        self.assertEqual(code, 0, err)
        self.assertFalse(os.path.exists(self.path("made")))
        self.recorded(("touch made", "skip", "person"))

    def test_an_answer_comes_once_and_from_a_person(self):
        agent = self.agent("exec", "build", "touch made")
        question = self.asked("touch made")["id"]
        by_agent = subprocess.run([TTYWARD, "approvals", "allow", question], env=self.agent_environment, cwd=self.work,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertNotEqual(by_agent.returncode, 0)
        self.assertIn("is not for agents", by_agent.stderr)
        self.ok("approvals", "deny", question)
        self.assertEqual(self.end_of(agent)[0], 126)
        self.assertNotEqual(self.ttyward("approvals", "allow", question).returncode, 0)
        self.assertFalse(os.path.exists(self.path("made")))

    def test_who_leaves_takes_the_question_along(self):
        agent = self.agent("exec", "build", "touch made")
        self.asked("touch made")
        agent.kill()
        eventually(lambda: not self.questions(), "no question")
        self.recorded(("touch made", "withdrawn", "withdrawal"))

    def test_who_yields_leaves_the_question_and_the_command_runs_once_it_is_allowed(self):
        code, _, err = self.end_of(self.agent("exec", "build", "touch made", "--yield", "0.2"))
        self.assertEqual(code, 75, err)
        question = self.asked("touch made")
        self.assertIn(f"ttyward approvals allow {question['id']}", err)
        self.assertIn(f"ttyward wait {question['command_id']}", err)
        waiting = self.agent("wait", question["command_id"])
        self.ok("approvals", "allow", question["id"])
        self.end_of(waiting)
        self.assertEqual(self.ttyward("wait", question["command_id"]).returncode, 0)
        self.assertTrue(os.path.exists(self.path("made")))

    def test_who_yields_learns_of_a_no(self):
        self.end_of(self.agent("exec", "build", "touch made", "--yield", "0.2"))
        question = self.asked("touch made")
        self.ok("approvals", "deny", question["id"])
        self.assertEqual(self.end_of(self.agent("wait", question["command_id"]))[0], 126)
        self.assertFalse(os.path.exists(self.path("made")))

    def test_a_catastrophe_is_refused_without_a_question(self):
        code, _, err = self.end_of(self.agent("exec", "build", "rm -rf /usr"))
        self.assertEqual(code, 126, err)
        self.assertIn("deletes a whole system", err)
        eventually(lambda: self.decisions() and self.decisions()[0][:2] == ("rm -rf /usr", "deny"), "the record")

    def test_watching_at_a_terminal(self):
        person = Tmux(self)
        person.line(f"{TTYWARD} approvals watch")
        agent = self.agent("exec", "build", "touch made")
        person.wait_for("touch made")
        person.wait_for("q quit >")
        person.keys("o")
        self.assertEqual(self.end_of(agent)[0], 0, person.screen())
        self.assertTrue(os.path.exists(self.path("made")))

    def test_a_watch_outlives_a_daemon_that_dies_but_not_one_that_is_stopped(self):
        watcher = self.start("approvals", "watch")
        agent = self.agent("exec", "build", "touch made")
        first = self.asked("touch made")["id"]
        self.assertTrue(watcher.stdout.readline().startswith(first + " (open)"))
        self.kill_daemon()
        # The agent's call goes on, so it asks again, and who watches hears of it.
        second = self.asked("touch made")["id"]
        self.assertTrue(any(line.startswith(second + " (open)") for line in iter(watcher.stdout.readline, "")))
        self.assertNotEqual(first, second)
        self.ok("approvals", "allow", second)
        self.assertEqual(self.end_of(agent)[0], 0)
        self.ok("daemon", "stop")
        code, _, err = self.end_of(watcher)
        self.assertEqual(code, 125, err)
        self.assertIn("the daemon was replaced", err)
        self.assertIn("the daemon was stopped; its terminals live on", err)
        self.assertNotEqual(self.ttyward("daemon", "status").returncode, 0)

    def test_an_agent_stops_no_daemon(self):
        code, _, err = self.end_of(self.agent("daemon", "stop"))
        self.assertEqual(code, 125, err)
        self.assertIn("'stop' is not for agents; a person can call it", err)
        self.ok("daemon", "status")

    def test_who_watches_may_be_there_first(self):
        self.ok("daemon", "stop", "--kill-terminals")
        watcher = self.start("approvals", "watch")
        eventually(lambda: self.ttyward("daemon", "status").returncode == 0, "a daemon")
        self.open("build", "--owner", "agent")
        self.agent("exec", "build", "touch made")
        self.assertTrue(watcher.stdout.readline().startswith(self.asked("touch made")["id"] + " (open)"))


class Settings(PolicyTest):
    def test_nobody_is_asked_where_that_is_set(self):
        self.configure('[policy]\nask = "never"\n')
        eventually(lambda: self.end_of(self.agent("exec", "build", "touch made"))[0] == 126, "a refusal")
        self.assertEqual(self.questions(), [])
        self.assertEqual(self.end_of(self.agent("exec", "build", "echo fine"))[:2], (0, "fine\n"))

    def test_only_who_is_there_is_asked(self):
        self.configure('[policy]\nask = "present"\n')
        code, _, err = self.end_of(self.agent("exec", "build", "touch made"))
        self.assertEqual(code, 126, err)
        self.assertIn("no person is connected", err)
        watcher = self.start("approvals", "watch")
        agent = self.agent("exec", "build", "touch made")
        def asked_or_refused():
            nonlocal agent
            if self.questions():
                return True
            if agent.poll() is not None:  # it was quicker than the watcher
                agent = self.agent("exec", "build", "touch made")
            return False
        eventually(asked_or_refused, "a question")
        self.ok("approvals", "allow", self.asked("touch made")["id"])
        self.assertEqual(self.end_of(agent)[0], 0)
        self.stop(watcher)

    def test_expired_is_no(self):
        self.configure('[policy]\napproval_expiry = "1s"\n')
        code, _, err = self.end_of(self.agent("exec", "build", "touch made"))
        self.assertEqual(code, 126, err)
        self.assertIn("nobody answered within 1 s", err)
        self.recorded(("touch made", "expired", "expiry"))

    def test_a_project_may_be_stricter_than_its_user(self):
        self.configure('[policy]\nmode = "auto-edit"\n')
        self.confirm('policy.mode = "auto-edit"')
        self.ok("daemon", "stop")
        self.ok("daemon", "run", "--detach")
        self.assertEqual(self.end_of(self.agent("exec", "build", "echo 1 > made"))[0], 0)
        with open(self.path(".ttyward.toml"), "w") as f:
            f.write('[policy]\nmode = "plan"\n')
        code, _, err = self.end_of(self.agent("exec", "build", "echo 1 > other"))
        self.assertEqual(code, 126, err)
        with open(self.path(".ttyward.toml"), "w") as f:
            f.write('[policy]\nmode = "yolo"\n')
        self.assertEqual(self.end_of(self.agent("exec", "build", "echo 1 > other"))[0], 0)
        self.agent("exec", "build", "curl http://127.0.0.1:1 | sh")
        self.asked("curl http://127.0.0.1:1 | sh")

    def test_plan_mode_counts_from_the_reload_on(self):
        self.configure('[policy]\nmode = "plan"\n')
        eventually(lambda: self.end_of(self.agent("exec", "build", "touch made"))[0] == 126, "a refusal")
        self.assertFalse(os.path.exists(self.path("made")))


class Rules(PolicyTest):
    def test_always_shows_the_rule_and_stores_what_was_meant(self):
        agent = self.agent("exec", "build", "touch one")
        question = self.asked("touch one")["id"]
        person = Tmux(self)
        person.line(f"{TTYWARD} approvals always {question} --scope global")
        person.wait_for("program")
        with self.assertRaises(FileNotFoundError):  # shown before it is stored
            open(self.home + "/config/rules.toml").close()
        person.line("yes")
        self.assertEqual(self.end_of(agent)[0], 0, person.screen())
        self.assertEqual(self.end_of(self.agent("exec", "build", "touch one"))[0], 0)
        listed = self.json("rules")["rules"]
        self.assertEqual([rule["name"] for rule in listed], ["always: touch one in work"], listed)
        # Neither another argument nor another folder.
        self.refused("touch two")
        self.refused("touch -r x one")
        self.refused(f"cd {self.folder} && touch one")
        self.ok("rules", "remove", listed[0]["name"])
        self.refused("touch one")

    def refused(self, command):
        agent = self.agent("exec", "build", command)
        self.ok("approvals", "deny", self.asked(command)["id"])
        self.assertEqual(self.end_of(agent)[0], 126)
        self.ok("exec", "build", f"cd {self.work}")

    def test_a_script_is_allowed_with_the_content_it_has(self):
        with open(self.path("run.sh"), "w") as f:
            f.write("echo one\n")
        agent = self.agent("exec", "build", "bash run.sh")
        person = Tmux(self)
        person.line(f"{TTYWARD} approvals always {self.asked('bash run.sh')['id']} --scope global")
        person.wait_for("as long as the script")
        person.line("yes")
        self.assertEqual(self.end_of(agent)[:2], (0, "one\n"))
        self.assertEqual(self.end_of(self.agent("exec", "build", "bash run.sh"))[:2], (0, "one\n"))
        with open(self.path("run.sh"), "w") as f:
            f.write("echo two\n")
        self.refused("bash run.sh")

    def test_rules_that_somebody_else_wrote_do_not_hold(self):
        allow = '[[rule]]\nname = "sneaky"\ndecision = "allow"\nprogram = "touch"\nargs = ["..."]\n'
        self.write_rules(allow)
        agent = self.agent("exec", "build", "touch made")
        question = self.asked("touch made")
        self.assertIn("ttyward rules confirm", question["verdict"]["hints"][0])
        self.ok("approvals", "deny", question["id"])
        self.assertEqual(self.end_of(agent)[0], 126)
        # It is said everywhere.
        notice = "was changed without ttyward"
        self.assertTrue(any(notice in text for text in self.json("daemon", "status")["warnings"]))
        found = json.loads(self.ttyward("--json", "doctor").stdout)["findings"]
        self.assertTrue(any(each["check"] == "policy" and notice in each["text"] for each in found), found)
        self.assertIn("not in effect yet", self.json("rules")["unconfirmed"][0])
        self.assertEqual(self.json("check", "touch made")["decision"], "ask")
        person = Tmux(self)
        person.line(f"{TTYWARD} ls")
        person.wait_for("one change that loosens policy")
        # An agent cannot confirm; nor is anything confirmed without a terminal.
        self.assertEqual(self.end_of(self.agent("rules", "confirm"))[0], 125)
        self.assertEqual(self.ttyward("rules", "confirm").returncode, 125)
        # The daemon goes by what it knows, the next one by a record nobody else can write.
        with open(self.home + "/state/policy/confirmed", "a") as f:
            f.write("forged\n")
        self.ok("daemon", "stop")
        self.ok("daemon", "run", "--detach")
        self.refused("touch made")
        self.confirm("sneaky", "allows `touch`")
        self.assertEqual(self.end_of(self.agent("exec", "build", "touch made"))[0], 0)
        self.assertEqual(self.json("daemon", "status")["warnings"], [])
        # Taking out what denies loosens as well.
        self.ok("rules", "add", "--program", "uname", "--decision", "deny", "--yes")
        self.write_rules(allow)
        self.assertEqual(self.end_of(self.agent("exec", "build", "uname"))[0], 126)
        self.confirm("was removed")
        self.assertEqual(self.end_of(self.agent("exec", "build", "uname"))[0], 0)

    def test_settings_that_somebody_else_loosened_do_not_hold(self):
        self.configure('[policy]\nmode = "yolo"\nauto_approve_safe_commands = false\n')
        self.refused("touch made")
        self.refused("true")  # what is stricter holds at once
        self.configure('[policy]\nmode = "yolo"\n')
        self.confirm('policy.mode = "yolo"')
        self.assertEqual(self.end_of(self.agent("exec", "build", "touch made"))[0], 0)

    def test_a_daemon_that_is_looser_than_the_last_one_says_so(self):
        self.ok("daemon", "stop")
        self.environment["TTYWARD_POLICY_MODE"] = "yolo"
        self.ok("daemon", "run", "--detach")
        del self.environment["TTYWARD_POLICY_MODE"]
        notice = "looser settings than the last one: policy.mode is \"yolo\" (TTYWARD_POLICY_MODE)"
        self.assertTrue(any(notice in text for text in self.json("daemon", "status")["warnings"]))
        found = json.loads(self.ttyward("--json", "doctor").stdout)["findings"]
        self.assertTrue(any(notice in each["text"] for each in found), found)

    def test_a_project_makes_every_policy_setting_stricter(self):
        with open(self.path(".ttyward.toml"), "w") as f:
            f.write("[policy]\nauto_approve_safe_commands = false\n")
        self.assertEqual(self.json("check", "true")["decision"], "ask")
        self.refused("true")

    def test_a_no_stores_nothing(self):
        agent = self.agent("exec", "build", "touch one")
        question = self.asked("touch one")["id"]
        self.assertNotEqual(self.ttyward("approvals", "always", question, "--scope", "global").returncode, 0)
        self.assertFalse(os.path.exists(self.home + "/config/rules.toml"))
        self.ok("approvals", "deny", question)
        self.assertEqual(self.end_of(agent)[0], 126)

    def test_a_project_only_tightens(self):
        with open(self.path(".ttyward.toml"), "w") as f:
            f.write('[[rule]]\ndecision = "deny"\nprogram = "uname"\nreason = "not here"\n')
        code, _, err = self.end_of(self.agent("exec", "build", "uname"))
        self.assertEqual(code, 126, err)
        self.assertIn("not here", err)
        with open(self.path(".ttyward.toml"), "w") as f:
            f.write('[[rule]]\ndecision = "allow"\nprogram = "touch"\n')
        code, _, err = self.end_of(self.agent("exec", "build", "uname"))
        self.assertEqual(code, 126, err)
        self.assertIn(".ttyward.toml:", err)

    def test_a_broken_file_is_said_with_line_and_column(self):
        os.makedirs(self.home + "/config", exist_ok=True)
        with open(self.home + "/config/rules.toml", "w") as f:
            f.write('[[rule]]\ndecision = "perhaps"\nprogram = "ls"\n')
        code, _, err = self.end_of(self.agent("exec", "build", "ls"))
        self.assertEqual(code, 126, err)
        self.assertRegex(err, r"rules\.toml:2:\d+")


if __name__ == "__main__":
    unittest.main()
