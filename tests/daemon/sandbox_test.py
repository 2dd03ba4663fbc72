"""Terminals and commands in a sandbox: what they can do, what results say, and that they stay as they are when a daemon dies."""
import os
import shutil
import signal
import tempfile
import unittest

from daemon_client import CallFailed, Daemon, eventually


def has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(") ", 1)[1].startswith("Z")
    except FileNotFoundError:
        return True


class Sandbox(unittest.TestCase):
    CONFIG = "[pool]\nsize = 0\n"

    def setUp(self):
        self.daemon = Daemon(self.CONFIG)
        self.addCleanup(self.daemon.close)
        # Not in /tmp: a test has to tell the machine's from the sandbox's own.
        self.work = os.path.realpath(tempfile.mkdtemp(prefix="ttyward-sandbox-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.work, True)
        self.person = self.daemon.client

    def open(self, profile="workspace", client=None):
        return (client or self.person).call("open", cwd=self.work, sandbox=profile)["terminal"]

    def exec(self, terminal, command, client=None, **more):
        return (client or self.person).call("exec", terminal=terminal, command=command, yield_after_ms=60000, **more)

    def agent(self):
        return self.daemon.connect("agent")


class Terminals(Sandbox):
    def test_integration_works_inside(self):
        terminal = self.open()
        self.assertEqual(terminal["sandbox"], "workspace")
        self.assertEqual(terminal["integration"], "rich")
        ran = self.exec(terminal["id"], "echo x > inside; cat inside; (exit 3)")
        self.assertEqual((ran["output"], ran["exit_code"], ran["known_by"]), ("x\n", 3, "shell_mark"))
        self.assertEqual(ran["sandbox"]["profile"], "workspace")
        self.assertEqual(ran["sandbox"]["workspace"], self.work)
        self.assertIn("seccomp", ran["sandbox"]["layers"])
        self.exec(terminal["id"], "cd /usr && export HERE=1")
        self.assertEqual(self.exec(terminal["id"], "echo $PWD $HERE")["output"], "/usr 1\n")

    def test_our_own_files_and_sockets_are_not_there(self):
        terminal = self.open()["id"]
        ran = self.exec(terminal, f"ls -A {self.daemon.folder} {self.daemon.folder}/tw/run/daemon.sock "
                                  f"{self.daemon.folder}/tw/state/person-token; echo end")
        self.assertNotIn("person-token\n", ran["output"].replace("cannot access", ""))
        self.assertIn("No such file", ran["output"])
        outside = self.work + "-outside"
        self.exec(terminal, f"echo x > {outside}")
        self.assertFalse(os.path.exists(outside))

    def test_interrupt_kill_and_waiting_work_inside(self):
        terminal = self.open()["id"]
        running = self.person.start("exec", terminal=terminal, command="sleep 1000", yield_after_ms=0)
        self.assertTrue(eventually(lambda: self.person.call("show", terminal=terminal)["terminal"]["running"]))
        self.person.call("interrupt", terminal=terminal)
        self.assertEqual(self.person.answer(running)["exit_code"], 130)
        asks = self.exec(terminal, "read -p 'name? ' name")
        self.assertEqual(asks["state"], "awaiting_input")
        self.person.call("kill", terminal=terminal)
        self.assertTrue(eventually(lambda: os.listdir(self.work) == []))

    def test_it_stays_confined_after_the_daemon_was_killed(self):
        terminal = self.open()["id"]
        self.exec(terminal, "export KEPT=1")
        os.kill(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait_for_end()
        self.person.close()
        self.daemon.start()
        self.person = self.daemon.client
        self.assertEqual(self.person.call("show", terminal=terminal)["terminal"]["sandbox"], "workspace")
        ran = self.exec(terminal, "echo $KEPT; echo 'touch /etc/ttyward-test' > made; sh made 2>/dev/null || echo confined")
        self.assertEqual(ran["output"], "1\nconfined\n")
        self.assertEqual(ran["sandbox"]["profile"], "workspace")

    def test_nothing_is_left_when_its_holder_was_killed(self):
        terminal = self.open()["id"]
        self.assertIn(".envrc", os.listdir(self.work))
        shell = self.person.call("show", terminal=terminal)["terminal"]["pid"]
        with open(f"/proc/{shell}/stat", encoding="utf-8") as f:
            holder = int(f.read().rsplit(") ", 1)[1].split()[1])
        os.kill(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait_for_end()
        self.person.close()
        os.kill(holder, signal.SIGKILL)
        self.assertTrue(eventually(lambda: has_ended(holder)))
        self.daemon.start()
        self.person = self.daemon.client
        self.assertTrue(eventually(lambda: os.listdir(self.work) == []), os.listdir(self.work))

    def test_a_stricter_command_runs_beside_its_terminal(self):
        terminal = self.person.call("open", cwd=self.work)["terminal"]["id"]
        ran = self.exec(terminal, "touch made; echo $?", sandbox="read-only")
        self.assertIn("1\n", ran["output"])
        self.assertFalse(os.path.exists(self.work + "/made"))
        self.assertIn("beside the terminal", ran["sandbox"]["notes"][-1])
        self.assertNotEqual(ran["terminal_id"], terminal)


class Commands(Sandbox):
    def test_a_command_on_its_own(self):
        ran = self.person.call("run", command="echo a | tee file; false | true; echo $PPID; id -u", cwd=self.work,
                               sandbox="workspace", yield_after_ms=60000)
        self.assertEqual((ran["exit_code"], ran["sandbox"]["profile"]), (0, "workspace"))
        self.assertTrue(os.path.exists(self.work + "/file"))
        # What stands for files that must not be made goes when the last process of the sandbox has.
        self.assertTrue(eventually(lambda: os.listdir(self.work) == ["file"]))

    def test_statuses_of_a_pipe_are_known(self):
        ran = self.person.call("run", command="false | true", cwd=self.work, sandbox="workspace", yield_after_ms=60000)
        self.assertEqual(ran["pipeline"], [1, 0])

    def test_what_it_leaves_behind_lives_on_and_can_be_ended(self):
        ran = self.person.call("run", command="sleep 1000 & echo $!", cwd=self.work, sandbox="workspace",
                               yield_after_ms=60000)
        self.assertEqual(len(ran["background"]), 1, ran)
        self.assertIn("sleep", ran["background"][0]["command"])
        self.person.call("kill", terminal=ran["terminal_id"])
        self.assertTrue(eventually(lambda: os.listdir(self.work) == []))

    def test_a_profile_that_does_not_exist(self):
        with self.assertRaises(CallFailed) as failed:
            self.person.call("run", command="true", cwd=self.work, sandbox="strict")
        self.assertIn("read-only, workspace", str(failed.exception))


class Agents(Sandbox):
    CONFIG = Sandbox.CONFIG + '[sandbox]\nprofile = "workspace"\n'

    def test_agents_are_confined_and_can_only_tighten(self):
        agent = self.agent()
        self.addCleanup(agent.close)
        ran = agent.call("run", command="pwd", cwd=self.work, yield_after_ms=60000)
        self.assertEqual(ran["sandbox"]["profile"], "workspace")
        ran = agent.call("run", command="pwd", cwd=self.work, sandbox="read-only", yield_after_ms=60000)
        self.assertEqual(ran["sandbox"]["profile"], "read-only")
        for looser in ("none", "workspace+net", "workspace-landlock"):
            with self.assertRaises(CallFailed, msg=looser):
                agent.call("run", command="pwd", cwd=self.work, sandbox=looser, yield_after_ms=60000)
        self.assertEqual(self.open(None or "", agent)["sandbox"], "workspace")
        batch = agent.call("batch", commands=["pwd"], cwd=self.work)
        self.assertEqual(batch["results"][0]["sandbox"]["profile"], "workspace")

    def test_a_person_is_not_confined(self):
        ran = self.person.call("run", command="pwd", cwd=self.work, yield_after_ms=60000)
        self.assertNotIn("sandbox", ran)


class Auto(Sandbox):
    CONFIG = Sandbox.CONFIG + '[policy]\nmode = "auto"\nask = "never"\n'

    def test_what_the_sandbox_contains_runs_in_it(self):
        agent = self.agent()
        self.addCleanup(agent.close)
        ran = agent.call("run", command="echo x > made; ./made || touch /etc/x; echo end", cwd=self.work,
                         yield_after_ms=60000)
        self.assertEqual((ran["state"], ran["verdict"]["decision"]), ("denied", "ask"), ran)
        ran = agent.call("run", command="echo 'touch /etc/ttyward-test' > made; sh made; echo end", cwd=self.work,
                         yield_after_ms=60000)
        self.assertEqual(ran["verdict"]["decision"], "allow_confined", ran)
        self.assertEqual(ran["sandbox"]["profile"], "workspace")
        self.assertFalse(os.path.exists("/etc/ttyward-test"))
        self.assertTrue(os.path.exists(self.work + "/made"))

    def test_terminals_of_agents_are_confined(self):
        agent = self.agent()
        self.addCleanup(agent.close)
        terminal = self.open("", agent)
        self.assertEqual(terminal["sandbox"], "workspace")
        ran = self.exec(terminal["id"], "echo 'touch /etc/ttyward-test' > made; sh made; echo $?", agent)
        self.assertEqual(ran["sandbox"]["profile"], "workspace")
        self.assertFalse(os.path.exists("/etc/ttyward-test"))

    def test_what_needs_more_is_asked_about(self):
        agent = self.agent()
        self.addCleanup(agent.close)
        for command in ("curl http://127.0.0.1:1/", "echo x > /etc/ttyward-test", "pip install x"):
            ran = agent.call("run", command=command, cwd=self.work, yield_after_ms=60000)
            self.assertEqual(ran["state"], "denied", command)


class Asked(Sandbox):
    CONFIG = Sandbox.CONFIG + '[policy]\nmode = "auto"\n'

    def approved(self, command):
        agent = self.agent()
        self.addCleanup(agent.close)
        asked = agent.start("run", command=command, cwd=self.work, yield_after_ms=60000)
        self.assertTrue(eventually(lambda: self.person.call("approvals")["approvals"]))
        question = self.person.call("approvals")["approvals"][0]
        self.person.call("answer", approval=question["id"], decision="allow")
        return agent.answer(asked)

    def test_a_change_outside_that_was_allowed_lasts(self):
        handle, outside = tempfile.mkstemp(prefix="ttyward-test-", dir=os.path.realpath(os.path.expanduser("~")))
        self.addCleanup(os.unlink, outside)
        os.write(handle, b"a\n")
        os.close(handle)
        ran = self.approved(f"echo b >> {outside}")
        self.assertEqual((ran["exit_code"], ran["sandbox"]["profile"]), (0, "workspace"), ran)
        with open(outside, encoding="utf-8") as f:
            self.assertEqual(f.read(), "a\nb\n")

    def test_a_control_file_that_was_allowed_can_be_made(self):
        ran = self.approved("echo x > .envrc")
        self.assertEqual(ran["exit_code"], 0, ran)
        self.assertTrue(eventually(lambda: os.listdir(self.work) == [".envrc"]))

    def test_a_change_that_cannot_last_is_told(self):
        missing = os.path.expanduser("~/.ttyward-there-is-no-such-file")
        ran = self.approved(f"echo b >> {missing}")
        self.assertFalse(os.path.exists(missing))
        self.assertTrue(any(missing in each for each in ran["sandbox"]["denied"]), ran)
        self.assertTrue(any("does not exist" in note for note in ran["sandbox"]["notes"]), ran)

    def test_an_allowed_host_is_reached_through_the_proxy(self):
        ran = self.approved("curl -sS -m 5 http://ttyward.invalid/")
        self.assertIn("proxy", ran["sandbox"]["layers"])
        self.assertIn("network namespace", ran["sandbox"]["layers"])
        self.assertTrue(any("ttyward.invalid" in note for note in ran["sandbox"]["notes"]), ran)


if __name__ == "__main__":
    unittest.main()
