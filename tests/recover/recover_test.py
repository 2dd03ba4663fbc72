"""The daemon is killed (SIGKILL) again and again while terminals work: nothing may be lost.

Each command leaves a line in a file of its own, so that "exactly once" is seen from outside; its output and
exit code are known beforehand and compared after the next daemon has found everything again.
TTYWARD_KILLS sets how often it is killed (25 unless set).
"""
import base64
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person  # noqa: E402

TTYWARD = os.environ["TTYWARD"]
KILLS = int(os.environ.get("TTYWARD_KILLS", "25"))
PATIENCE = float(os.environ.get("TTYWARD_TEST_PATIENCE", "60"))
TERMINALS = 4


class Lost(Exception):
    """The daemon went away while it was asked."""


class Client:
    def __init__(self, path, token):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        try:
            self.socket.connect(path)
        except OSError:
            self.socket.close()
            raise
        self.lines = self.socket.makefile("rwb")
        self.last = 0
        self.send({"hello": {"protocol": 1, "role": "person", "client": "recover", "reader": "recover",
                             "session": None, "token": token}})
        self.receive()

    def close(self):
        self.lines.close()
        self.socket.close()

    def send(self, message):
        try:
            self.lines.write(json.dumps(message).encode() + b"\n")
            self.lines.flush()
        except OSError as error:
            raise Lost() from error

    def receive(self):
        try:
            line = self.lines.readline()
        except OSError as error:
            raise Lost() from error
        if not line:
            raise Lost()
        return json.loads(line)

    def start(self, call, **args):
        self.last += 1
        self.send({"id": self.last, "call": call, "args": args})
        return self.last

    def answer(self, number):
        while True:
            message = self.receive()
            if message.get("id") == number:
                return message

    def call(self, name, /, **args):
        message = self.answer(self.start(name, **args))
        if "error" in message:
            raise AssertionError(f"{name}: {message['error']}")
        return message["ok"]


class Recover(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ttyward-recover-")
        self.home = self.folder + "/home"
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.folder, "TTYWARD_HOME": self.home,
                            "SHELL": "/bin/bash", "LANG": "C.UTF-8"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.environment[person.VARIABLE] = person.make_token(self.home)
        self.daemon = None
        self.complaints = open(self.folder + "/complaints", "w+b")
        self.addCleanup(self.complaints.close)
        self.random = random.Random(20261115)

    def tearDown(self):
        if self.daemon is not None and self.daemon.poll() is not None:
            self.start_daemon()
        subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=self.environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        if self.daemon is not None:
            self.daemon.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_daemon(self):
        self.daemon = subprocess.Popen([TTYWARD, "daemon", "run"], env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=self.complaints)
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                return Client(self.home + "/run/daemon.sock", person.token_in(self.home))
            except (OSError, Lost):
                if time.monotonic() > give_up or self.daemon.poll() is not None:
                    self.complaints.seek(0)
                    raise AssertionError(f"no daemon (exit {self.daemon.poll()}): {self.complaints.read()}")
                time.sleep(0.005)  # spares the processor; nothing depends on its length

    def kill_daemon(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait(PATIENCE)

    def check(self, client, command, expected):
        lines, code = expected
        came = client.call("wait", command=command, exit=True, timeout_ms=int(PATIENCE * 1000), view="full")
        result = came["result"]
        self.assertEqual(came["condition"], "exit", came)
        self.assertEqual(result["state"], "exited", result)
        self.assertEqual(result["exit_code"], code, result)
        self.assertEqual(result["output"], lines, result)
        self.assertEqual(result["lost_bytes"], 0, result)

    def test_nothing_is_lost_when_the_daemon_is_killed_again_and_again(self):
        ran = self.folder + "/ran"
        client = self.start_daemon()
        terminals = [client.call("open", cwd=self.folder)["terminal"]["id"] for _ in range(TERMINALS)]
        flood = os.urandom(600_000).hex()
        with open(self.folder + "/flood", "w") as f:
            for at in range(0, len(flood), 100):
                f.write(flood[at:at + 100] + "\n")
        flood_runs = []
        known = {}      # command id → (output, exit code)
        tags = {}       # tag → (command text, output, exit code)
        sent = set()    # tags whose call was answered
        for round_number in range(KILLS):
            open_calls = []
            if round_number % 5 == 0:
                begun = client.call("run", command=f"cat {self.folder}/flood; exit 7", yield_after_ms=1,
                                    timeout_ms=0, idle_timeout_ms=0)
                flood_runs.append(begun["command_id"])
            for place, terminal in enumerate(terminals):
                tag = f"r{round_number}t{place}"
                count = self.random.randrange(1, 400)
                code = self.random.randrange(0, 100)
                text = (f"echo {tag} >> {ran}; for i in $(seq {count}); do echo {tag}-$i; done; "
                        f"sleep 0.0{self.random.randrange(0, 10)}; (exit {code})")
                output = "".join(f"{tag}-{i}\n" for i in range(1, count + 1))
                tags[tag] = (text, output, code)
                open_calls.append((tag, client.start("exec", terminal=terminal, command=text, on_busy="wait",
                                                     yield_after_ms=1)))
            stop_at = time.monotonic() + self.random.random() * 0.06
            try:
                while open_calls and time.monotonic() < stop_at:
                    client.socket.settimeout(max(0.001, stop_at - time.monotonic()))
                    message = client.receive()
                    for entry in list(open_calls):
                        if message.get("id") != entry[1]:
                            continue
                        open_calls.remove(entry)
                        self.assertIn("ok", message)
                        known[message["ok"]["command_id"]] = tags[entry[0]][1:]
                        sent.add(entry[0])
            except (Lost, TimeoutError):
                pass
            self.kill_daemon()
            client.close()
            client = self.start_daemon()
            # Commands whose answer did not come back either never began, or are there like the others.
            for terminal in terminals:
                shown = client.call("show", terminal=terminal, most=1000)
                self.assertIn(shown["terminal"]["state"], ("idle", "busy", "awaiting_input"), shown["terminal"])
                for command in shown["commands"]:
                    for tag, (text, output, code) in tags.items():
                        if command["command"] == text:
                            known[command["command_id"]] = (output, code)
                            sent.add(tag)
            for command in [c for c in known if c not in self.checked]:
                self.check(client, command, known[command])
                self.checked.add(command)
        with open(ran) as f:
            lines = f.read().split()
        self.assertEqual(len(lines), len(set(lines)), "a command ran twice")
        self.assertEqual(set(lines), sent, "a command ran that nobody knows of, or one is lost")
        self.assertGreater(len(sent), KILLS)
        rows = client.call("history", limit=10000)["commands"]
        history = {row["command_id"]: row for row in rows}
        for command, (_, code) in known.items():
            self.assertIn(command, history)
            self.assertEqual(history[command]["exit_code"], code)
        with open(self.folder + "/flood") as f:
            expected = hashlib.sha256(f.read().replace("\n", "\r\n").encode()).hexdigest()
        for command in flood_runs:
            came = client.call("wait", command=command, exit=True, timeout_ms=int(PATIENCE * 1000))
            if came["result"]["state"] == "failed_to_start":
                # Killed between the log and the holder: it was not run, and that is what it says.
                self.assertIn("before the command was started", came["result"]["reason"])
                continue
            self.assertEqual(came["result"]["exit_code"], 7, came["result"])
            digest = hashlib.sha256()
            offset = 0
            while True:
                part = client.call("read", command=command, raw={"offset": offset, "bytes": 1 << 20})
                data = base64.b64decode(part["base64"])
                if not data:
                    break
                digest.update(data)
                offset += len(data)
            self.assertEqual(digest.hexdigest(), expected, f"{command} of {offset} bytes")

    checked = set()


if __name__ == "__main__":
    unittest.main()
