"""Policy without a daemon: what a person is asked on their terminal, and what an agent is refused."""
import json
import os
import subprocess
import termios

from harness import PATIENCE, TTYWARD, Person, RunTest, main

CRITICAL = "rm -rf build"


class Policy(RunTest):
    def setUp(self):
        super().setUp()
        self.environment.pop("TTYWARD_ROLE", None)
        os.mkdir(self.folder + "/build")

    def built(self):
        return os.path.isdir(self.folder + "/build")

    def rules(self, text, file="rules.toml"):
        os.makedirs(self.home + "/config", exist_ok=True)
        with open(f"{self.home}/config/{file}", "w") as f:
            f.write(text)

    def judge_without_a_sandbox(self):
        self.rules("[policy]\nconfine = false\n", "config.toml")


class AtATerminal(Policy):
    def ask(self, *args):
        person = Person(self, *args)
        person.wait_for("[y/N] ")
        return person

    def test_only_an_explicit_yes_is_a_yes(self):
        for answer, runs in [("y\r", True), ("yes\r", True), ("Y\r", True), ("\r", False), ("n\r", False),
                             ("yep\r", False), ("yy\r", False), ("ja\r", False), ("\x04", False), ("\x03", False),
                             ("\x1c", False), (" \r", False), ("y" * 200 + "\r", False)]:
            with self.subTest(answer=answer):
                os.makedirs(self.folder + "/build", exist_ok=True)
                person = self.ask("run", CRITICAL)
                person.type(answer)
                self.assertEqual(person.end(), 0 if runs else 126, person.seen)
                self.assertEqual(self.built(), not runs)
                self.assertEqual(termios.tcgetattr(person.slave), person.before)

    def test_what_was_typed_before_the_question_is_no_answer(self):
        person = Person(self, command=["bash", "-c", f"echo ready; read -t 60 -n 1 go; exec {TTYWARD} run '{CRITICAL}'"])
        person.wait_for("ready")
        person.type("gy\ry\ry\r")  # the first key lets the question come; the rest is there before it
        person.wait_for("[y/N] ")
        person.type("n\r")
        self.assertEqual(person.end(), 126)
        self.assertTrue(self.built())

    def test_the_question_shows_escapes_parts_and_reasons(self):
        person = self.ask("run", "echo a '\x1b[2K\u202e' && rm -rf build")
        person.type("n\r")
        person.end()
        for shown in (b"\\x1b[2K", b"\\u202e", b"risk critical"):
            self.assertIn(shown, person.seen)
        self.assertNotIn(b"\x1b[2K", person.seen)
        person = self.ask("run", "echo a && rm -rf build")
        person.type("n\r")
        person.end()
        for shown in (b"it would run:\r\n  echo a\r\n  rm -rf build\r\n", b"risk critical"):
            self.assertIn(shown, person.seen)

    def test_what_is_not_critical_is_not_asked_about(self):
        person = Person(self, "run", "touch made")
        self.assertEqual(person.end(), 0)
        self.assertNotIn(b"[y/N]", person.seen)

    def test_default_asks_about_more_and_off_about_nothing(self):
        person = self.ask("run", "--policy", "default", "touch made")
        person.type("n\r")
        self.assertEqual(person.end(), 126)
        self.assertFalse(os.path.exists(self.folder + "/made"))
        person = Person(self, "run", "--policy", "off", CRITICAL)
        self.assertEqual(person.end(), 0)
        self.assertFalse(self.built())

    def test_json_asks_too_and_tells_of_it(self):
        person = self.ask("--json", "run", CRITICAL)
        person.type("n\r")
        self.assertEqual(person.end(), 126)
        self.assertIn(b'"state":"denied"', person.seen)

    def test_a_batch_is_asked_about_as_a_whole(self):
        person = self.ask("batch", "echo one", CRITICAL, "rm -rf other")
        self.assertIn(b"Run all 2 of them?", person.seen)
        person.type("y\r")
        self.assertEqual(person.end(), 0)
        self.assertFalse(self.built())

    def test_a_pipe_full_of_yes_is_no_answer(self):
        person = Person(self, command=["bash", "-c", f"yes | {TTYWARD} run '{CRITICAL}'"])
        person.wait_for("[y/N] ")
        person.type("n\r")
        self.assertEqual(person.end(), 126)
        self.assertTrue(self.built())


class WithoutATerminal(Policy):
    def run_it(self, *args, command=None, input=None, environment=None):
        options = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
        return subprocess.run(command or [TTYWARD, *args], env=environment or self.environment, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE,
                              start_new_session=True, **options)

    def test_a_critical_command_is_not_run(self):
        for given in (None, b"y\n" * 10):
            done = self.run_it("run", CRITICAL, input=given)
            self.assertEqual(done.returncode, 126)
            self.assertIn(b"no terminal to ask on", done.stderr)
            self.assertIn(b"--policy off", done.stderr)
            self.assertTrue(self.built())
        self.assertEqual(self.run_it("run", "--policy", "off", CRITICAL).returncode, 0)
        self.assertFalse(self.built())

    def test_an_agent_gets_the_whole_policy_and_no_question(self):
        self.judge_without_a_sandbox()
        agent = {**self.environment, "TTYWARD_ROLE": "agent"}
        for args, environment in ((["--as-agent"], self.environment), ([], agent)):
            self.assertEqual(self.run_it("run", *args, "ls", environment=environment).returncode, 0)
            done = self.run_it("--json", "run", *args, "touch made", environment=environment)
            self.assertEqual(done.returncode, 126)
            result = json.loads(done.stdout)
            self.assertEqual(result["state"], "denied")
            self.assertIsNone(result["exit_code"])
            self.assertEqual(result["verdict"]["decision"], "ask")
            self.assertTrue(result["verdict"]["reasons"])
            self.assertIn("approval", result["reason"])
            self.assertFalse(os.path.exists(self.folder + "/made"))
            done = self.run_it("--json", "run", *args, "--", "rm", "-rf", "/usr", environment=environment)
            self.assertEqual(json.loads(done.stdout)["verdict"]["decision"], "deny")
        self.assertEqual(self.journals(), [])

    def test_an_agent_cannot_loosen_it(self):
        agent = {**self.environment, "TTYWARD_ROLE": "agent"}
        for args in (["--policy", "off"], ["--policy", "critical"], ["--mode", "yolo"], ["--mode", "auto-edit"]):
            for verb in (["run", "ls"], ["batch", "ls"]):
                done = self.run_it(verb[0], *args, verb[1], environment=agent)
                self.assertEqual(done.returncode, 2, (args, done))
        self.assertEqual(self.run_it("run", "--as-agent", "--policy", "off", "ls").returncode, 2)
        self.assertEqual(self.run_it("run", "--mode", "plan", "ls", environment=agent).returncode, 0)

    def test_rules_count_and_mistakes_are_named(self):
        self.judge_without_a_sandbox()
        self.rules('[[rule]]\ndecision = "allow"\nprogram = "touch"\nargs = ["made"]\n')
        self.assertEqual(self.run_it("run", "--as-agent", "touch made").returncode, 0)
        self.assertEqual(self.run_it("run", "--as-agent", "touch -r x made").returncode, 126)
        with open(self.folder + "/.ttyward.toml", "w") as f:
            f.write('[[rule]]\ndecision = "deny"\nprogram = "touch"\nreason = "not here"\n')
        done = self.run_it("run", "--as-agent", "touch made")
        self.assertEqual(done.returncode, 126)
        self.assertIn(b"not here", done.stderr)
        self.rules('[[rule]]\ndecision = "perhaps"\n')
        done = self.run_it("run", "--as-agent", "ls")
        self.assertEqual(done.returncode, 126)
        self.assertIn(b"rules.toml:2:12", done.stderr)
        done = self.run_it("run", "echo fine")  # a person's own command goes on, with a warning
        self.assertEqual((done.returncode, done.stdout), (0, b"fine\n"))
        self.assertIn(b"rules.toml:2:12", done.stderr)

    def test_variables_and_other_shells_are_judged(self):
        self.judge_without_a_sandbox()
        done = self.run_it("run", "--as-agent", "--env", "PATH=/tmp/x", "ls")
        self.assertNotEqual(done.returncode, 0)
        done = self.run_it("--json", "run", "--as-agent", "--env", "FOO=bar", "ls")
        self.assertEqual(done.returncode, 126)
        self.assertIn("environment: ", json.loads(done.stdout)["verdict"]["reasons"][0]["text"])
        done = self.run_it("run", "--as-agent", "--shell", "/usr/bin/fish", "set -x PATH .")
        self.assertEqual(done.returncode, 126)
        done = self.run_it("run", "--as-agent", "--shell", "/usr/bin/fish", "echo (touch made)")
        self.assertEqual(done.returncode, 126)

    def test_a_batch_with_a_forbidden_command_runs_nothing(self):
        done = self.run_it("--json", "batch", "--as-agent", "echo one", "touch made", "ls")
        self.assertEqual(done.returncode, 126)
        batch = json.loads(done.stdout)
        self.assertEqual(batch["state"], "denied")
        self.assertEqual([r["command"] for r in batch["results"]], ["touch made"])
        self.assertEqual(batch["results"][0]["verdict"]["decision"], "ask")
        self.assertEqual(batch["not_run"], ["echo one", "ls"])

    def test_a_batch_is_judged_by_what_its_parts_do_together(self):
        done = self.run_it("--json", "batch", "--as-agent", "x=rm", "$x -rf build")
        self.assertEqual(done.returncode, 126)
        self.assertTrue(self.built())
        done = self.run_it("--json", "batch", "--as-agent", "cd /", "cat etc/shadow")
        self.assertEqual(done.returncode, 126)

    def test_results_carry_the_verdict(self):
        result = json.loads(self.run_it("--json", "run", "ls").stdout)
        self.assertEqual(result["verdict"]["decision"], "allow")
        result = json.loads(self.run_it("--json", "run", "--policy", "off", "ls").stdout)
        self.assertIsNone(result["verdict"])
        batch = json.loads(self.run_it("--json", "batch", "ls", "pwd").stdout)
        self.assertEqual([r["verdict"]["decision"] for r in batch["results"]], ["allow", "allow"])


if __name__ == "__main__":
    main()
