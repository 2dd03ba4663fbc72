"""`ttyward --host ssh:HOST VERB`: verbs here, terminals and approvals of the daemon there."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person  # noqa: E402
from place_harness import PATIENCE, TTYWARD, PlaceTest, eventually, main  # noqa: E402


class Host(PlaceTest):
    def setUp(self):
        super().setUp()
        far_bin = f"{self.folder}/far-bin"
        os.mkdir(far_bin)
        os.symlink(os.path.abspath(TTYWARD), f"{far_bin}/ttyward")
        self.far = f"{self.folder}/far-ttyward"
        os.makedirs(self.far + "/config", mode=0o700)
        os.chmod(self.far, 0o700)
        self.start_sshd(environment=f"PATH={far_bin}:/usr/bin:/bin TTYWARD_HOME={self.far} SHELL=/bin/bash")
        self.far_environment = dict(os.environ, HOME=self.far_home, TTYWARD_HOME=self.far, SHELL="/bin/bash")
        self.addCleanup(self.there, "daemon", "stop", "--kill-terminals")
        self.environment.pop(person.VARIABLE, None)
        os.mkdir(self.temporary())
        self.environment["TMPDIR"] = self.temporary()

    def there(self, *args):
        return subprocess.run([TTYWARD, *args], env=self.far_environment, cwd=self.far_home, capture_output=True, text=True,
                              timeout=PATIENCE, stdin=subprocess.DEVNULL)

    def here(self, *args, **options):
        return subprocess.run([TTYWARD, "--host", "ssh:far", *args], env=self.environment, cwd=self.folder,
                              capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, **options)

    def temporary(self):
        return self.folder + "/t"

    def leftovers(self):
        return {name for name in os.listdir(self.temporary()) if name.startswith("ttyward-host-")}

    def test_terminals_are_opened_and_used_there(self):
        before = self.leftovers()
        opened = self.here("--json", "open", "--name", "far-one", "--cwd", self.far_home)
        self.assertEqual(opened.returncode, 0, opened)
        done = self.here("exec", "far-one", "echo $HOME; pwd; (exit 3)")
        self.assertEqual((done.stdout, done.returncode), (f"{self.far_home}\n{self.far_home}\n", 3), done)
        self.assertIn("far-one", self.here("ls").stdout)
        known_there = json.loads(self.there("--json", "ls").stdout)["terminals"]
        self.assertEqual([each["name"] for each in known_there], ["far-one"])
        # Nothing of it is known here, and the forwarded sockets are gone.
        self.assertEqual(json.loads(subprocess.run([TTYWARD, "--json", "ls"], env=self.environment, capture_output=True,
                                                   text=True, timeout=PATIENCE).stdout)["terminals"], [])
        self.assertEqual(self.leftovers() - before, set())

    def test_without_a_token_there_one_is_an_agent(self):
        self.addCleanup(self.end_all)
        refused = self.here("approvals", "deny", self.ask_there())
        self.assertNotEqual(refused.returncode, 0, refused)
        self.assertIn("person", refused.stderr)

    def test_with_the_token_there_one_is_a_person(self):
        person.make_token(self.far)
        denied = self.here("approvals", "deny", self.ask_there())
        self.assertEqual(denied.returncode, 0, denied)
        self.assertEqual(self.there_as_agent("approvals", "list")["approvals"], [])

    def there_as_agent(self, *args):
        done = subprocess.run([TTYWARD, "--json", *args], env=dict(self.far_environment, TTYWARD_ROLE="agent"),
                              cwd=self.far_home, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        return json.loads(done.stdout)

    def ask_there(self):
        """An agent there asks; the id of the question."""
        opened = self.there_as_agent("open")
        self.there_as_agent("exec", "--yield", "0.1", opened["terminal"]["id"], "touch made-by-an-agent")
        return self.there_as_agent("approvals", "list")["approvals"][0]["id"]

    def test_nothing_stays_when_it_is_killed(self):
        person.make_token(self.far)
        before = self.leftovers()
        opened = self.here("--json", "open", "--name", "far-one", "--cwd", self.far_home)
        self.assertEqual(opened.returncode, 0, opened)
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP):
            waiting = subprocess.Popen([TTYWARD, "--host", "ssh:far", "wait", "far-one", "--for", "never printed"],
                                       env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(waiting.wait)
            self.addCleanup(waiting.kill)
            self.assertTrue(eventually(lambda: any(os.path.exists(f"{self.temporary()}/{name}/person-token")
                                                   for name in self.leftovers() - before)))
            waiting.send_signal(number)
            self.assertTrue(eventually(lambda: self.leftovers() == before), number)

    def test_an_agent_gets_no_token_of_a_person(self):
        person.make_token(self.far)
        log = self.folder + "/asked"
        with open(f"{self.bin}/ssh") as f:
            real = f.read().splitlines()[-1]
        self.script("ssh", f"#!/bin/sh\nfor last; do :; done; printf '%s\\n' \"$last\" >> {log}\n{real}\n")
        self.environment["TTYWARD_ROLE"] = "agent"
        done = self.here("ls")
        self.assertEqual(done.returncode, 0, done)
        with open(log) as f:
            self.assertNotIn("person-token", f.read())
        refused = self.here("approvals", "deny", self.ask_there())
        self.assertNotEqual(refused.returncode, 0, refused)

    def test_what_works_here_only_says_so(self):
        done = self.here("run", "true")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("--in ssh:HOST", done.stderr)
        relative = self.here("open", "--cwd", "src")
        self.assertEqual(relative.returncode, 2, relative)
        self.assertIn("whole path", relative.stderr)

    def test_what_is_missing_there_is_said(self):
        os.unlink(f"{self.folder}/far-bin/ttyward")
        done = self.here("ls")
        self.assertEqual(done.returncode, 125, done)
        self.assertIn("ttyward is not installed on ssh:far", done.stderr)


if __name__ == "__main__":
    main()
