"""Both sides of `ttyward acp`: a test is the editor and, through a puppet, the agent.

Messages are waited for; what comes meanwhile is kept.
"""
import json
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from home_test import PATIENCE, TTYWARD, HomeTest  # noqa: E402
from processes import lives  # noqa: E402


class Side:
    """One end of the conversation: lines out by `write`, lines in from `lines`."""

    def __init__(self, write):
        self.write = write
        self.lines = queue.Queue()
        self.kept = []
        self.last = 0

    def pump(self, stream):
        for line in stream:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def start(self, method, params, number=None):
        if number is None:
            number = self.last
            self.last += 1
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def reply(self, number, result):
        self.send({"jsonrpc": "2.0", "id": number, "result": result})

    def line(self, timeout=PATIENCE):
        """The next line as bytes; None: the other side is gone."""
        return self.lines.get(timeout=timeout)

    def await_message(self, wanted):
        for message in self.kept:
            if wanted(message):
                self.kept.remove(message)
                return message
        give_up = time.monotonic() + PATIENCE
        while True:
            line = self.line(max(0.01, give_up - time.monotonic()))
            if line is None:
                raise AssertionError("the other side is gone")
            message = json.loads(line)
            if wanted(message):
                return message
            self.kept.append(message)

    def answer(self, number):
        return self.await_message(lambda m: m.get("id") == number and "method" not in m)

    def asked(self, method):
        return self.await_message(lambda m: m.get("method") == method)

    def request(self, method, params, number=None):
        return self.answer(self.start(method, params, number))

    def gone(self):
        """Reads to the end."""
        while True:
            line = self.line()
            if line is None:
                return
            self.kept.append(json.loads(line))


class AcpTest(HomeTest):
    EDITOR = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    AGENT = {"name": "puppet", "version": "1"}

    def start(self, *options, agent=None):
        """Starts the proxy with a puppet behind it; self.editor and self.agent are the two ends."""
        path = tempfile.mktemp(dir=self.folder)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        listener.settimeout(PATIENCE)
        self.addCleanup(listener.close)
        command = agent or [sys.executable, os.path.join(HERE, "puppet.py")]
        self.log = open(self.folder + "/proxy.stderr", "w+")
        self.addCleanup(self.log.close)
        self.proxy = subprocess.Popen([TTYWARD, "acp", *options, "--", *command, path], env=self.environment, cwd=self.work,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.addCleanup(self.end)
        link, _ = listener.accept()
        self.link = link
        self.addCleanup(link.close)

        def write(data):
            self.proxy.stdin.write(data)
            self.proxy.stdin.flush()
        self.editor = Side(write)
        self.agent = Side(link.sendall)
        threading.Thread(target=self.editor.pump, args=(self.proxy.stdout,), daemon=True).start()
        threading.Thread(target=self.agent.pump, args=(link.makefile("rb"),), daemon=True).start()

    def end(self):
        if self.proxy.poll() is None:
            self.proxy.kill()
        self.proxy.wait()
        try:
            self.proxy.stdin.close()
        except BrokenPipeError:
            pass

    def initialize(self, abilities=None, info=None, version=1):
        number = self.editor.start("initialize", {"protocolVersion": version, "clientCapabilities": abilities or self.EDITOR,
                                                  "clientInfo": {"name": "test", "version": "1"}})
        asked = self.agent.asked("initialize")
        self.agent.reply(asked["id"], {"protocolVersion": asked["params"]["protocolVersion"], "agentCapabilities": {},
                                       "authMethods": [], "agentInfo": info or self.AGENT})
        self.editor.answer(number)
        return asked

    def session(self, name="s1", **more):
        number = self.editor.start("session/new", {"cwd": self.work, "mcpServers": [], **more})
        asked = self.agent.asked("session/new")
        self.agent.reply(asked["id"], {"sessionId": name})
        self.editor.answer(number)
        for server in asked["params"]["mcpServers"]:
            if "--session" in server["args"]:
                self.server = server["name"]  # what our tools are called after
        return asked

    def begin(self, *options, abilities=None, info=None):
        self.start(*options)
        self.initialize(abilities, info)
        self.session()

    # --- as the agent

    def create(self, command, *args, session="s1", **more):
        answer = self.agent.request("terminal/create", {"sessionId": session, "command": command, "args": list(args), **more})
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["result"]["terminalId"]

    def terminal(self, method, terminal, session="s1"):
        answer = self.agent.request("terminal/" + method, {"sessionId": session, "terminalId": terminal})
        return answer.get("result", answer.get("error"))

    def update(self, call, session="s1", what="tool_call_update", **fields):
        self.agent.notify("session/update", {"sessionId": session, "update": {"sessionUpdate": what, "toolCallId": call, **fields}})

    # --- as a person

    def questions(self):
        return self.json("approvals", "list")["approvals"]

    def question(self):
        return self.eventually(self.questions)[0]

    def history(self, **wanted):
        rows = self.json("history")["commands"]
        return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]
