"""`ttyward agent`: a person's terminal and a script as clients of an agent."""
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import unittest

from sides import HERE, PATIENCE, TTYWARD, AcpTest

ACTOR = f"{sys.executable} {HERE}/actor.py"


class Agent(AcpTest):
    def setUp(self):
        super().setUp()
        with open(self.home + "/config/config.toml", "a") as f:
            f.write(f'[agents.actor]\nmode = "stdio"\ncommand = ["{sys.executable}", "{HERE}/actor.py"]\n'
                    'participant = "actor-1"\ndisplay_name = "The actor"\n')

    def agent(self, *args):
        return self.ttyward("agent", *args)

    def test_a_turn(self):
        done = self.agent("actor", "plan|say:Hello.|run:echo in the terminal; exit 3|say:Bye.")
        self.assertEqual(done.returncode, 0, done)
        lines = done.stdout.splitlines()
        for wanted in ("Plan", "  [x] first", "  [>] second", "Hello.", "Running echo in the terminal; exit 3…", "in the terminal",
                       "exit 3, 16 characters", "Bye."):
            self.assertIn(wanted, lines)
        self.assertRegex(done.stdout, r"Executed echo in the terminal; exit 3 \(exit 3, \d+\.\d s\)")
        [row] = self.eventually(lambda: [r for r in self.history(task="actor-1") if r["duration_ms"] is not None])
        self.assertEqual(row["exit_code"], 3)

    def test_by_its_command(self):
        done = self.agent("--command", ACTOR, "say:here")
        self.assertEqual((done.returncode, done.stdout), (0, "here\n"))
        self.assertEqual(self.ttyward("agent", "--command", ACTOR, "-", input="say:from standard input").stdout, "from standard input\n")

    def test_for_a_script(self):
        done = self.ttyward("--json", "agent", "actor", "say:text|run:printf hi")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(lines[0], {"session": "actor-1", "participant": "actor-1", "display_name": "The actor"})
        self.assertEqual(lines[-1], {"result": {"stopReason": "end_turn"}})
        updates = [line["update"] for line in lines if "update" in line]
        self.assertEqual(updates[0], {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "text\n"}})
        exits = [u["_meta"]["terminal_exit"] for u in updates if "terminal_exit" in u.get("_meta", {})]
        self.assertEqual([e["exit_code"] for e in exits], [0])

    def test_sessions(self):
        done = self.agent("actor", "--list")
        self.assertIn("actor-1", done.stdout)
        self.assertIn("The first", done.stdout)
        self.assertIn("The second", done.stdout)  # of the next page
        self.assertEqual([s["sessionId"] for s in self.json("agent", "actor", "--list")["sessions"]], ["actor-1", "actor-2"])
        self.assertEqual(self.agent("actor", "--resume", "actor-1", "say:again").stdout, "again\n")

    def test_nobody_to_ask(self):
        """A question that ttyward has, too, waits there; another one is rejected."""
        done = self.agent("actor", "edit")
        self.assertIn('"optionId": "no"', done.stdout)
        running = subprocess.Popen([TTYWARD, "agent", "actor", "ask:touch ../marker"], env=self.environment, cwd=self.work,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(running.stdout.close)
        self.ttyward("approvals", "allow", self.question()["id"])
        self.assertIn('"optionId": "yes"', running.stdout.read())
        self.assertEqual(running.wait(timeout=PATIENCE), 0)

    def in_terminal(self, *args):
        main, other = pty.openpty()
        process = subprocess.Popen([TTYWARD, "agent", *args], env=self.environment, cwd=self.work, stdin=other, stdout=other, stderr=other)
        os.close(other)
        self.addCleanup(os.close, main)
        seen = bytearray()

        def pump():
            try:
                while data := os.read(main, 4096):
                    seen.extend(data)
            except OSError:
                pass
        thread = threading.Thread(target=pump, daemon=True)
        thread.start()

        def until(text):
            self.eventually(lambda: text.encode() in seen or (process.poll() is not None and self.fail(bytes(seen))))
        return process, (lambda text: os.write(main, text.encode())), until, seen

    def test_permission_in_place(self):
        for typed, option in (("1\n", "yes"), ("n\n", "no"), ("y\n", "yes"), ("9\n2\n", "no")):
            process, write, until, seen = self.in_terminal("actor", "ask:touch ../marker")
            until("Which? ")
            self.assertIn(b"touch ../marker", seen)
            write(typed)
            self.assertEqual(process.wait(timeout=PATIENCE), 0)
            self.eventually(lambda: f'"optionId": "{option}"'.encode() in seen)
        process, write, until, seen = self.in_terminal("actor", "run:touch ../marker")
        until("Which? ")
        self.ttyward("approvals", "allow", self.question()["id"])
        until("answered elsewhere")
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        self.assertTrue(os.path.exists(self.folder + "/marker"))

    def test_turn_after_turn(self):
        process, write, until, seen = self.in_terminal("actor")
        until("> ")
        write("say:one\n")
        until("one\r\n> ")
        write("say:two\n")
        until("two\r\n> ")
        write("\x04")
        self.assertEqual(process.wait(timeout=PATIENCE), 0)

    def test_cancelled(self):
        process, write, until, seen = self.in_terminal("actor", "wait")
        until("waiting")
        process.send_signal(signal.SIGINT)
        until("Cancelling")
        self.assertEqual(process.wait(timeout=PATIENCE), 130)

    def test_an_agent_that_dies(self):
        done = self.agent("actor", "die")
        self.assertEqual(done.returncode, 125)
        self.assertIn("session/prompt", done.stderr)

    def test_wrong_words(self):
        done = self.agent("nobody", "hi")
        self.assertEqual(done.returncode, 2)
        self.assertIn("[agents.nobody]", done.stderr)
        self.assertIn("actor", self.agent().stderr)


if __name__ == "__main__":
    unittest.main()
