"""The Python client against the real daemon: calls, streams, events, questions, and a daemon that is killed."""
import asyncio
import base64
import os
import signal
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "sdk", "python", "src"))
from harness import TTYWARD, CliTest, eventually, lives, main  # noqa: E402

import ttyward  # noqa: E402


class PythonClient(CliTest):
    def setUp(self):
        super().setUp()
        self.before = dict(os.environ)
        os.environ.update(self.environment)
        os.environ["PATH"] = os.path.dirname(TTYWARD) + ":" + os.environ["PATH"]
        self.addCleanup(self.give_environment_back)

    def give_environment_back(self):
        os.environ.clear()
        os.environ.update(self.before)

    def kill(self, pid):
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not lives(pid))

    def test_runs_a_command_and_starts_the_daemon_for_it(self):
        with ttyward.Client() as client:
            result = client.run("echo hello; exit 3", cwd=self.work)
            self.assertEqual((result["exit_code"], result["output"], result["state"]), (3, "hello\n", "exited"))
            self.assertEqual(client.welcome["role"], "agent")

    def test_errors_have_the_code_of_the_protocol(self):
        with ttyward.Client() as client:
            with self.assertRaises(ttyward.DaemonError) as caught:
                client.exec("nowhere", "true")
            self.assertEqual(caught.exception.code, "not_found")

    def test_a_terminal_and_what_is_printed_there(self):
        with ttyward.Client(role="person") as client:
            terminal = client.open(cwd=self.work)["terminal"]["id"]
            stream = client.exec_stream(terminal, "echo one; sleep 0.3; echo two; (exit 4)")
            text = "".join(part.get("output", "") for part in stream)
            self.assertEqual(text, "one\ntwo\n")
            self.assertEqual(stream.result()["exit_code"], 4)
            self.assertEqual(client.read(terminal=terminal, grep="^two$")["matches"][0]["text"], "two")

    def test_events_come_as_they_happen(self):
        async def go():
            async with ttyward.AsyncClient(role="person") as client:
                events = client.events("command_finished")
                first = asyncio.ensure_future(events.__anext__())
                await asyncio.sleep(0)
                await client.status()  # answered after the subscription
                await client.run("true", cwd=self.work)
                last = await first
                self.assertEqual((last["event"], last["result"]["exit_code"]), ("command_finished", 0))
                await events.aclose()

        asyncio.run(asyncio.wait_for(go(), 60))

    def test_a_person_answers_what_an_agent_asks(self):
        async def go():
            async with ttyward.AsyncClient(role="person") as person, ttyward.AsyncClient(role="agent") as agent:
                asked = asyncio.ensure_future(agent.run("rm -rf build", cwd=self.work))
                async for question in person.questions():
                    self.assertEqual(question["command"], "rm -rf build")
                    await person.answer(question["id"], decision="deny", reason="not now")
                    break
                result = await asked
                self.assertEqual(result["state"], "denied")
                self.assertIn("not now", result["reason"])
                with self.assertRaises(ttyward.DaemonError) as caught:
                    await agent.answer(question["id"], decision="allow")
                self.assertEqual(caught.exception.code, "permission_denied")

        asyncio.run(asyncio.wait_for(go(), 60))

    def test_a_command_outlives_the_daemon_and_its_stream_goes_on(self):
        with ttyward.Client(role="person") as client:
            terminal = client.open(cwd=self.work)["terminal"]["id"]
            pid = client.welcome["pid"]
            stream = client.exec_stream(terminal, "echo one; echo x >> runs; while [ ! -e go ]; do sleep 0.05; done; echo two; (exit 5)")
            lines = ""
            for part in stream:
                lines += part.get("output", "")
                if lines == "one\n" and lives(pid):
                    self.kill(pid)
                    open(self.path("go"), "w").close()
            self.assertEqual((lines, stream.result()["exit_code"]), ("one\ntwo\n", 5))
            with open(self.path("runs")) as f:
                self.assertEqual(f.read(), "x\n", "it ran once")
            self.assertNotEqual(client.status()["pid"], pid)

    def test_events_go_on_after_a_kill(self):
        with ttyward.Client(role="person") as client:
            terminal = client.open(name="kept", cwd=self.work)["terminal"]["id"]
            seen, subscribed = [], threading.Event()

            def follow():
                try:
                    for event in client.events("command_finished"):
                        seen.append(event)
                        subscribed.set()
                        if event["event"] == "command_finished" and event["result"]["command"] == "echo last":
                            return
                except ttyward.DaemonError as error:
                    seen.append({"event": "failed", "error": str(error)})

            follower = threading.Thread(target=follow)
            follower.start()
            while not subscribed.is_set():
                client.exec(terminal, "echo first")
            self.kill(client.welcome["pid"])
            eventually(lambda: seen[-1]["event"] != "command_finished", "a new subscription")
            self.assertEqual("resubscribed", seen[-1]["event"], seen)
            renewed = next(event for event in seen if event["event"] == "resubscribed")
            self.assertIn("kept", [each["name"] for each in renewed["terminals"]])
            client.exec(terminal, "echo last")
            follower.join(60)
            self.assertFalse(follower.is_alive())

    def test_an_attachment_shows_the_screen_types_and_outlives_the_daemon(self):
        with ttyward.Client(role="person") as client:
            terminal = client.open(cwd=self.work)["terminal"]["id"]
            events = client.watch(terminal, size={"cols": 60, "rows": 10})
            first = next(events)
            self.assertEqual((first["event"], first["writable"]), ("attach_keyboard", True))
            rows = {}

            def until(text):
                for event in iter(lambda: next(events), None):
                    if event["event"] != "attach_screen":
                        continue
                    if event["screen"]["reset"]:
                        rows.clear()
                    for line in event["screen"]["lines"]:
                        rows[line["row"]] = "".join(run["text"] for run in line["runs"])
                    if any(row.startswith(text) for row in rows.values()):
                        return event

            def type_in(text, subscription):
                client.attach_input(subscription=subscription, base64=base64.b64encode(text.encode()).decode())

            type_in("echo $((6 * 7))\r", first["subscription"])
            self.assertEqual(until("42")["screen"]["cols"], 60)
            self.kill(client.welcome["pid"])
            again = next(event for event in iter(lambda: next(events), None) if event["event"] == "attach_keyboard")
            self.assertTrue(again["writable"])
            until("42")
            type_in("echo $((7 * 8))\r", again["subscription"])
            until("56")
            events.close()
            eventually(lambda: client.list()["terminals"][0]["lease"] is None)

    def test_a_call_that_must_not_be_repeated_fails_with_the_connection(self):
        with ttyward.Client(role="person") as client:
            terminal = client.open(cwd=self.work)["terminal"]["id"]
            pid = client.welcome["pid"]
            os.kill(pid, signal.SIGSTOP)
            failed = []

            def type_there():
                try:
                    client.input(terminal, text="x")
                except ttyward.ConnectionLost as error:
                    failed.append(error)

            typing = threading.Thread(target=type_there)
            typing.start()
            self.kill(pid)
            typing.join(60)
            if not failed:  # it was sent after the loss was seen, to the next daemon
                self.assertNotEqual(client.status()["pid"], pid)

    def test_a_stopped_daemon_is_not_started_again(self):
        with ttyward.Client(role="person") as client:
            terminal = client.open(cwd=self.work)["terminal"]["id"]
            waiting = threading.Thread(target=lambda: self.assertRaises(ttyward.DaemonError, client.exec, terminal, "sleep 100"))
            waiting.start()
            eventually(lambda: client.list()["terminals"][0]["state"] == "busy")
            self.ok("daemon", "stop", "--kill-terminals")
            waiting.join(60)
            self.assertFalse(waiting.is_alive())
            self.assertRaises(ttyward.DaemonError, client.list)

    def test_many_calls_at_once_from_threads(self):
        with ttyward.Client(role="person") as client:
            results = {}
            threads = [threading.Thread(target=lambda n=n: results.update({n: client.run(f"exit {n}", cwd=self.work)["exit_code"]}))
                       for n in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            self.assertEqual(results, {n: n for n in range(20)})

    def test_without_a_program_it_says_how_to_start_a_daemon(self):
        with self.assertRaises(ttyward.DaemonError) as caught:
            ttyward.Client(program=None).__enter__()
        self.assertIn("ttyward daemon run", str(caught.exception))

    def test_a_folder_that_others_can_enter_is_refused(self):
        os.makedirs(self.home + "/run")
        os.chmod(self.home + "/run", 0o755)
        with self.assertRaises(ttyward.DaemonError) as caught:
            ttyward.Client().__enter__()
        self.assertEqual(caught.exception.code, "permission_denied")

    def test_the_example_of_the_readme_runs(self):
        with open(os.path.join(HERE, "..", "..", "sdk", "python", "README.md")) as f:
            example = f.read().split("```python\n")[1].split("```")[0]
        self.assertLessEqual(len(example.splitlines()), 12)
        os.chdir(self.work)
        printed = []
        exec(compile(example, "README.md", "exec"), {"print": lambda *words: printed.append(" ".join(map(str, words)))})
        self.assertIn("exit code 3", printed)


if __name__ == "__main__":
    main()
