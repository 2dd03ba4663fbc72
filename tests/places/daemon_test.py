"""Terminals that stay, in another place: opened, used, followed over lost links, dead daemons and dead links."""
import json
import os
import shutil
import signal
import subprocess
import sys
import threading

from place_harness import (HERE, PATIENCE, PlaceTest, TTYWARD, command_line, cut_count, eventually, journal_bytes, main,
                           processes)

sys.path.insert(0, os.path.join(HERE, "..", "support"))
import person  # noqa: E402
from processes import lives  # noqa: E402
from daemon_client import CallFailed, Client  # noqa: E402


class There(PlaceTest):
    def setUp(self):
        super().setUp()
        self.place = self.use_proxy()
        self.environment[person.VARIABLE] = person.make_token(self.home)
        self.start_daemon()

    def start_daemon(self):
        subprocess.run([TTYWARD, "daemon", "run", "--detach"], env=self.environment, check=True, timeout=PATIENCE,
                       stdin=subprocess.DEVNULL)
        self.client = self.connect()
        self.pid = self.client.call("status")["pid"]
        self.addCleanup(self.stop_daemon)

    def stop_daemon(self):
        subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=self.environment, timeout=PATIENCE,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def connect(self, role="person", **hello):
        if role == "person":
            hello["token"] = person.token_in(self.home)
        client = Client(self.home + "/run/daemon.sock", role, **hello)
        self.addCleanup(client.close)
        return client

    def open(self, **args):
        return self.client.call("open", place=self.place, **args)["terminal"]

    def exec(self, terminal, command, **args):
        return self.client.call("exec", terminal=terminal, command=command, yield_after_ms=int(PATIENCE * 1000), **args)

    def show(self, terminal):
        return self.client.call("show", terminal=terminal)["terminal"]

    def cut(self):
        for pid in [p for p in processes(self.folder) if "proxy.py" in command_line(p)]:
            os.kill(pid, signal.SIGKILL)

    def links(self):
        return [pid for pid in processes(self.home) if "link --place" in command_line(pid)]

    def test_a_shell_there_is_a_shell_with_integration(self):
        terminal = self.open(shell="bash", name="far")
        self.assertEqual((terminal["place"], terminal["integration"], terminal["cwd"]),
                         ("ssh:far", "rich", self.far_home), terminal)
        result = self.exec("far", "cd /usr && echo hi && (exit 5)")
        self.assertEqual((result["state"], result["exit_code"], result["output"], result["known_by"], result["cwd_after"],
                          result["place"]), ("exited", 5, "hi\n", "shell_mark", "/usr", "ssh:far"), result)
        # It stays: folder and variables are as they were left.
        self.exec("far", "X=kept")
        self.assertEqual(self.exec("far", "pwd; echo $X")["output"], "/usr\nkept\n")
        long = "echo begin\n" + "\n".join(f"echo {i}" for i in range(300)) + "\necho end"
        self.assertEqual(self.exec("far", long)["total_lines"], 302)
        self.assertIn("ssh:far", json.dumps(self.client.call("list")))
        self.client.call("kill", terminal="far")
        self.assertTrue(eventually(lambda: os.listdir(self.far_state() + "/shells") == []))

    def test_what_runs_and_waits_is_asked_there(self):
        self.open(shell="bash", name="far")
        self.client.call("exec", terminal="far", command="read -p 'name? ' n; echo hello $n", yield_after_ms=1)
        came = self.client.call("wait", terminal="far", input=True, timeout_ms=int(PATIENCE * 1000))
        self.assertEqual(came["condition"], "input", came)
        self.client.call("input", terminal="far", text="bob\r")
        self.client.call("wait", terminal="far", prompt=True, timeout_ms=int(PATIENCE * 1000))
        self.assertIn("hello bob", self.client.call("screen", terminal="far")["content"])
        left = self.exec("far", f"sleep {self.token} & echo up")
        self.assertEqual(left["output"].splitlines()[-1], "up")
        self.assertTrue(eventually(lambda: processes(self.token)))
        self.client.call("kill", terminal="far")
        self.assertTrue(eventually(lambda: not processes(self.token)))

    def test_a_lost_link_is_said_and_everything_goes_on(self):
        terminal = self.open(shell="bash", name="far")["id"]
        go = self.folder + "/go"
        began = self.client.call("exec", terminal="far", yield_after_ms=1,
                                 command=f"echo begun; until test -e {go}; do sleep 0.02; done; echo ended; (exit 9)")
        self.assertTrue(eventually(lambda: "begun" in self.client.call("screen", terminal="far")["content"]))
        self.plan(refuse="no route to host")
        self.cut()
        self.assertTrue(eventually(lambda: self.show("far").get("link_lost")))
        now = self.show("far")
        self.assertIn("was lost", now["link_lost"])
        self.assertEqual(now["state"], "busy")
        with self.assertRaises(CallFailed) as refused:
            self.client.call("input", terminal="far", text="x")
        self.assertEqual(refused.exception.code, "unavailable")
        open(go, "w").close()
        self.plan()
        came = self.client.call("wait", command=began["command_id"], exit=True, timeout_ms=int(PATIENCE * 1000))
        self.assertEqual(came["condition"], "exit", came)
        self.assertNotIn("link_lost", self.show("far"))
        self.assertEqual(self.exec("far", "echo $?")["output"], "9\n")
        self.assertEqual(self.show("far")["id"], terminal)

    def test_a_daemon_that_is_killed_and_a_link_that_is_killed_with_it(self):
        for links_too in (False, True):
            with self.subTest(links_too=links_too):
                name = f"far{int(links_too)}"
                terminal = self.open(shell="bash", name=name)["id"]
                self.exec(name, "X=kept; cd /usr")
                os.kill(self.pid, signal.SIGKILL)
                for pid in self.links() if links_too else []:
                    os.kill(pid, signal.SIGKILL)
                self.assertTrue(eventually(lambda: not lives(self.pid)))
                self.start_daemon()
                self.assertTrue(eventually(lambda: not self.show(name).get("link_lost")))
                self.assertEqual(self.show(name)["id"], terminal)
                result = self.exec(name, "echo $X; pwd; (exit 3)")
                self.assertEqual((result["exit_code"], result["output"]), (3, "kept\n/usr\n"), result)

    def test_a_run_there_and_its_history(self):
        result = self.client.call("run", place=self.place, command="pwd; exit 3")
        self.assertEqual((result["exit_code"], result["output"], result["place"]), (3, self.far_home + "\n", "ssh:far"), result)
        fed = self.client.call("run", place=self.place, command="cat", stdin="some text\n")
        self.assertEqual(fed["output"], "some text\n", fed)

    def test_a_call_that_is_repeated_while_the_place_is_reached_starts_once(self):
        go, effects = self.folder + "/go", self.folder + "/effects"
        self.plan(wait=go)
        call = dict(place=self.place, command=f"echo ran >> {effects}; exit 4", command_id="c" + "a" * 12)
        other = self.connect()
        calls = [(client, client.start("run", **call)) for client in (self.client, other, self.client)]
        self.assertTrue(eventually(lambda: [p for p in processes(self.folder) if "proxy.py" in command_line(p)]))
        open(go, "w").close()
        for client, number in calls:
            self.assertEqual(client.answer(number, "run")["exit_code"], 4)
        with open(effects) as f:
            self.assertEqual(f.read(), "ran\n")

    def test_cut_at_each_frame_and_the_journals_are_the_same(self):
        """The copy here is the journal there, byte for byte, wherever between two frames the stream is cut."""
        terminal = self.open(shell="bash", name="far")["id"]
        near, far = self.home + "/state/journals", self.far_state() + "/journals"
        for frames in range(1, 13):
            with self.subTest(frames=frames):
                go = f"{self.folder}/go-{frames}"
                # In pieces, so that there are many frames.
                began = self.client.call("exec", terminal="far", yield_after_ms=1,
                                         command=f"echo be''gun-{frames}; until test -e {go}; do sleep 0.02; done; "
                                                 f"for i in $(seq {frames}000 {frames}099); do echo $i; sleep 0.01; done")
                self.assertTrue(eventually(lambda: f"begun-{frames}" in self.client.call("screen", terminal="far")["content"]))
                self.plan(frames=frames, cuts=cut_count(self.folder) + 1)
                before = cut_count(self.folder)
                self.cut()
                open(go, "w").close()
                came = self.client.call("wait", command=began["command_id"], exit=True, timeout_ms=int(PATIENCE * 1000))
                self.assertEqual(came["condition"], "exit", came)
                self.assertEqual(cut_count(self.folder), before + 1)
                self.assertTrue(eventually(lambda: journal_bytes(near, terminal) == journal_bytes(far, terminal)))
                self.plan()
        told = self.exec("far", "echo whole")
        self.assertEqual(told["output"], "whole\n")
        text, _ = journal_bytes(near, terminal)
        for frames in range(1, 13):
            for number in range(frames * 1000, frames * 1000 + 100):
                self.assertEqual(text.count(b"\n%d\r\n" % number), 1, number)

    def test_a_hundred_at_once_and_one_that_floods(self):
        """While one prints without end, the others end: it is stopped only after all of them have."""
        gate, stop = self.folder + "/gate", self.folder + "/stop"
        os.mkfifo(gate)
        flood = self.connect()
        flooding = flood.start("run", place=self.place, timeout_ms=0, idle_timeout_ms=0, view="tail",
                               command=f"until test -e {stop}; do head -c 2000000 /dev/zero | tr '\\0' x | fold; done; echo flooded")
        waiting = []
        for i in range(99):
            client = self.connect()
            waiting.append((client, client.start("run", place=self.place, timeout_ms=0, idle_timeout_ms=0,
                                                 command=f"echo begun {self.token}; cat {gate}; echo {i}")))
        readers = [f"cat {gate}"]
        self.assertTrue(eventually(lambda: len([p for p in processes(gate) if command_line(p).strip() in readers]) == 99))
        self.assertEqual(len(self.links()), 1)
        released = threading.Event()

        def release():
            while not released.is_set():  # whoever opened it later than the others
                with open(gate, "w"):
                    pass
        threading.Thread(target=release, daemon=True).start()
        for i, (client, number) in enumerate(waiting):
            result = client.answer(number, "run")
            self.assertEqual((result["exit_code"], result["output"]), (0, f"begun {self.token}\n{i}\n"))
        released.set()
        with open(gate):  # lets the thread go
            pass
        open(stop, "w").close()
        result = flood.answer(flooding, "run")
        self.assertEqual((result["exit_code"], result["output"][-8:]), (0, "flooded\n"))
        self.assertGreater(result["total_bytes"], 2000000)

    def test_an_agent_is_asked_about_a_place_and_about_each_command_there(self):
        agent = self.connect("agent")
        asked = agent.start("open", place=self.place, shell="bash")
        self.assertTrue(eventually(lambda: self.client.call("approvals")["approvals"]))
        question = self.client.call("approvals")["approvals"][0]
        self.assertEqual(question["command"], "ssh far bash", question)
        self.client.call("answer", approval=question["id"], decision="allow")
        terminal = agent.answer(asked, "open")["terminal"]["id"]
        asked = agent.start("exec", terminal=terminal, command="echo hi")
        self.assertTrue(eventually(lambda: self.client.call("approvals")["approvals"]))
        question = self.client.call("approvals")["approvals"][0]
        self.assertEqual(question["command"], "ssh far 'echo hi'", question)
        self.client.call("answer", approval=question["id"], decision="deny")
        self.assertEqual(agent.answer(asked, "exec")["state"], "denied")

    def test_a_place_that_cannot_be_reached(self):
        self.plan(refuse="ssh: Could not resolve hostname far: Name or service not known")
        with self.assertRaises(CallFailed) as failed:
            self.open()
        self.assertEqual(failed.exception.code, "unavailable")
        self.assertIn("Could not resolve hostname", str(failed.exception))
        with self.assertRaises(CallFailed) as wrong:
            self.client.call("open", place="ssh:-oProxyCommand=x")
        self.assertEqual(wrong.exception.code, "invalid_argument")


main()
