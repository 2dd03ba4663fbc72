"""A client of `ttyward mcp` that says exactly what a test wants to say: JSON-RPC lines over stdio.

Answers are waited for by id; what comes meanwhile is kept. Every test has a home of its own, and with it a
daemon, which is ended with everything in it.
"""
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person  # noqa: E402
from processes import lives  # noqa: E402

TTYWARD = os.environ["TTYWARD"]
PATIENCE = float(os.environ.get("TTYWARD_TEST_PATIENCE", "60"))
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


class Peer:
    """One conversation. `version` chooses the era; a legacy one is initialized at once."""

    def __init__(self, test, *args, version=MODERN, capabilities=None, environment=None):
        self.process = subprocess.Popen([TTYWARD, "mcp", *args], env=environment or test.environment, cwd=test.work,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        test.addCleanup(self.close)
        self.version = version
        self.capabilities = capabilities or {}
        self.last = 0
        self.kept = []
        self.lines = queue.Queue()
        self.pumping = threading.Thread(target=self.pump, daemon=True)
        self.pumping.start()
        if version != MODERN:
            self.request("initialize", {"protocolVersion": version, "capabilities": self.capabilities,
                                        "clientInfo": {"name": "test", "version": "1"}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def pump(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.pumping.join()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def start(self, method, params=None, **meta):
        self.last += 1
        params = dict(params or {})
        if self.version == MODERN:
            meta = {**META, "io.modelcontextprotocol/clientCapabilities": self.capabilities, **meta}
        if meta:
            params["_meta"] = meta
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def await_message(self, wanted):
        """The first message for which `wanted` is true; the others are kept for later."""
        for message in self.kept:
            if wanted(message):
                self.kept.remove(message)
                return message
        give_up = time.monotonic() + PATIENCE
        while True:
            message = self.lines.get(timeout=max(0.01, give_up - time.monotonic()))
            if message is None:
                raise AssertionError(f"the server ended with {self.process.wait()}")
            if wanted(message):
                return message
            self.kept.append(message)

    def answer(self, number):
        return self.await_message(lambda m: m.get("id") == number and "method" not in m)

    def asked(self, method):
        """What the server asks or tells by itself."""
        return self.await_message(lambda m: m.get("method") == method)

    def request(self, method, params=None, **meta):
        return self.answer(self.start(method, params, **meta))

    def start_tool(self, name, arguments=None, **more):
        return self.start("tools/call", {"name": name, "arguments": arguments or {}, **more})

    def tool(self, name, /, **arguments):
        answer = self.answer(self.start_tool(name, arguments))
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["result"]


class McpTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tw-mcp-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.home = self.folder + "/home"
        self.work = self.folder + "/work"
        os.mkdir(self.work)
        self.environment = dict(os.environ, TTYWARD_HOME=self.home, HOME=self.folder, SHELL="/bin/bash", LC_ALL="C.UTF-8")
        self.environment.pop("TTYWARD_ROLE", None)
        os.makedirs(self.home + "/config", mode=0o700)
        os.chmod(self.home, 0o700)
        with open(self.home + "/config/config.toml", "w") as f:
            f.write('[policy]\nmode = "auto-edit"\n')  # files in the work folder may be written unasked
        self.environment[person.VARIABLE] = person.make_token(self.home)
        self.addCleanup(self.ttyward, "daemon", "stop", "--kill-terminals")

    def ttyward(self, *args, **options):
        return subprocess.run([TTYWARD, *args], env=self.environment, cwd=self.work, capture_output=True, text=True,
                              timeout=PATIENCE, stdin=None if "input" in options else subprocess.DEVNULL, **options)

    def json(self, *args):
        done = self.ttyward("--json", *args)
        return json.loads(done.stdout)

    def kill_daemon(self):
        """As a crash would."""
        pid = self.json("daemon", "status")["pid"]
        os.kill(pid, signal.SIGKILL)
        self.eventually(lambda: not lives(pid))

    def eventually(self, holds):
        give_up = time.monotonic() + PATIENCE
        while True:
            found = holds()
            if found:
                return found
            if time.monotonic() > give_up:
                raise AssertionError("it never came true")
            time.sleep(0.02)  # spares the processor; nothing depends on its length

    def path(self, name):
        return os.path.join(self.work, name)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()
