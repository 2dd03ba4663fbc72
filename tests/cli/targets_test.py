"""How terminals and commands are named on the command line, and what verbs say about them."""
import json

from harness import CliTest, main


class Targets(CliTest):
    def test_a_living_terminal_comes_before_those_of_its_name_that_have_ended(self):
        first = self.open("dd")
        self.ok("exec", "dd", "echo first")
        self.ok("kill", "dd")
        self.assertIn("first", self.ok("read", "dd"))
        second = self.open("dd")
        self.ok("exec", "dd", "echo second")
        self.assertIn("second", self.ok("read", "dd"))
        self.ok("wait", "dd", "--prompt")
        self.ok("interrupt", "dd")
        self.ok("kill", "dd")
        done = self.ttyward("read", "dd")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("is the name of several terminals: give one of the ids", done.stderr)
        self.assertIn(first, done.stderr)
        self.assertIn(second, done.stderr)
        self.assertIn("second", self.ok("read", second))

    def test_news_that_are_complete_are_not_said_to_go_on(self):
        self.open()
        for command in ("echo one", "echo two"):
            self.ok("exec", "build", command)
            done = self.ttyward("read", "build", "--new")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
            self.assertIn(command.split()[1], done.stdout)
        self.assertIn("there is more", self.ttyward("read", "build", "--tail", "1").stderr)

    def test_a_wait_says_that_a_command_runs_only_if_one_does(self):
        self.open()
        done = self.ttyward("wait", "build", "--for", "zzz", "--timeout", "0.1")
        self.assertEqual(done.returncode, 124, done)
        self.assertNotIn("keeps running", done.stderr)
        self.ttyward("exec", "build", "sleep 1000", "--yield", "0.1")
        self.assertIn("keeps running", self.ttyward("wait", "build", "--for", "zzz", "--timeout", "0.1").stderr)

    def test_json_is_one_object_everywhere(self):
        self.assertEqual(self.json("approvals"), {"approvals": []})
        for verb in ("config", "rules"):
            self.assertEqual(self.json(verb, "path")["path"], self.ok(verb, "path").strip())
        self.assertIn("ttyward", self.ok("--json", "help"))
        self.assertEqual(self.ok("--json", "help", "exec"), self.ok("help", "exec"))

    def test_a_batch_goes_on_after_a_quote_that_is_not_closed(self):
        done = self.ttyward("batch", "--keep-going", "echo 'x", "echo after")
        self.assertNotIn("__ttyward", done.stdout + done.stderr)
        self.assertIn("after\n", done.stdout)

    def test_a_verdict_names_settings_as_they_are_called(self):
        self.open()
        verdict = self.json("exec", "build", "touch made")["verdict"]
        self.assertEqual(verdict["rule"], "people are asked about critical commands only")
        self.assertTrue(verdict["waived"], verdict)
        self.configure("[policy]\nauto_approve_safe_commands = false\n")
        verdict = json.loads(self.ttyward("--json", "check", "--mode", "default", "ls").stdout)
        self.assertEqual(verdict["rule"], "setting policy.auto_approve_safe_commands = false")

    def test_a_terminal_that_reads_says_how_to_go_on(self):
        self.open()
        self.ttyward("exec", "build", "cat")
        done = self.ttyward("exec", "build", "echo hi")
        self.assertEqual(done.returncode, 125, done)
        self.assertIn("sentinel", done.stderr)


if __name__ == "__main__":
    main()
