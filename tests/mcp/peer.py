"""A client of `ttyward mcp` that says exactly what a test wants to say: JSON-RPC lines over stdio.

Answers are waited for by id; what comes meanwhile is kept.
"""
import json
import os
import queue
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from home_test import PATIENCE, TTYWARD, HomeTest  # noqa: E402
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
