"""A daemon of one's own and its socket, for tests of many commands: one connection, no process per call."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person  # noqa: E402
from patience import PATIENCE, eventually  # noqa: E402,F401
from processes import lives  # noqa: E402

TTYWARD = os.environ["TTYWARD"]


class CallFailed(Exception):
    def __init__(self, call, error):
        super().__init__(f"{call}: {error['code']}: {error['message']}")
        self.code = error["code"]


class Client:
    def __init__(self, path, role="person", session=None, secret=None, token=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rwb")
        self.last = 0
        self.waiting = {}
        self.events = []
        self.send({"hello": {"protocol": 1, "role": role, "client": "test", "reader": "test", "session": session,
                             "secret": secret, "token": token}})
        hello = json.loads(self.lines.readline())
        if "error" in hello:
            self.close()
            raise CallFailed("hello", hello["error"])
        self.welcome = hello["welcome"]

    def close(self):
        self.lines.close()
        self.socket.close()

    def send(self, message):
        self.lines.write(json.dumps(message).encode() + b"\n")
        self.lines.flush()

    def start(self, call, /, **args):
        self.last += 1
        self.send({"id": self.last, "call": call, "args": args})
        return self.last

    def answer(self, number, call="call"):
        while number not in self.waiting:
            line = self.lines.readline()
            if not line:
                raise AssertionError("the daemon closed the connection")
            message = json.loads(line)
            if "event" in message:  # some have an id, too: the terminal's
                self.events.append(message)
            elif "id" in message and "part" not in message:
                self.waiting[message["id"]] = message
        message = self.waiting.pop(number)
        if "error" in message:
            raise CallFailed(call, message["error"])
        return message["ok"]

    def call(self, name, /, **args):
        return self.answer(self.start(name, **args), name)


class Daemon:
    """Runs until close(), with a home of its own; every process it started is gone then."""

    def __init__(self, config="", mount=None):
        self.folder = tempfile.mkdtemp(prefix="ttyward-daemon-")
        self.mounted = mount is not None
        self.home = self.folder + "/home"
        os.mkdir(self.home)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.home, "TTYWARD_HOME": self.folder + "/tw",
                            "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        if mount:
            os.mkdir(self.folder + "/tw", 0o700)
            subprocess.run(["mount", "-t", "tmpfs", "-o", mount + ",mode=700", "tmpfs", self.folder + "/tw"], check=True)
        self.environment[person.VARIABLE] = person.make_token(self.folder + "/tw")
        if config:
            os.makedirs(self.folder + "/tw/config", mode=0o700)
            with open(self.folder + "/tw/config/config.toml", "w") as f:
                f.write(config)
        self.start()

    def start(self):
        subprocess.run([TTYWARD, "daemon", "run", "--detach"], env=self.environment, check=True, timeout=PATIENCE,
                       stdin=subprocess.DEVNULL)
        self.client = self.connect()
        self.pid = self.client.call("status")["pid"]

    def connect(self, role="person", **hello):
        if role == "person":
            hello = {"token": person.token_in(self.folder + "/tw"), **hello}
        return Client(self.folder + "/tw/run/daemon.sock", role, **hello)

    def wait_for_end(self):
        give_up = time.monotonic() + PATIENCE
        while lives(self.pid) and time.monotonic() < give_up:
            time.sleep(0.01)  # spares the processor

    def close(self):
        self.client.close()
        subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=self.environment, timeout=PATIENCE,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for_end()
        if self.mounted:
            subprocess.run(["umount", "-l", self.folder + "/tw"])
        shutil.rmtree(self.folder, ignore_errors=True)
