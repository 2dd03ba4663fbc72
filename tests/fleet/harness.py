"""A fleet of its own for each test: servers, hosts with a daemon and a worker, and a way to look at the bus by hand.

Effects are counted in a file: a command appends its number, and each number has to be there exactly once.
"""
import collections
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person  # noqa: E402
from patience import PATIENCE, eventually  # noqa: E402,F401
from processes import lives  # noqa: E402

TTYWARD = os.environ["TTYWARD"]
NATS_SERVER = os.environ.get("NATS_SERVER", "/usr/sbin/nats-server")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def processes_of(home):
    """Processes that were started with this TTYWARD_HOME, or name it in their arguments."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                mine = b"TTYWARD_HOME=" + home.encode() + b"\0" in f.read()
            with open(f"/proc/{name}/cmdline", "rb") as f:
                mine = mine or home.encode() in f.read()
        except OSError:
            continue
        if mine and lives(int(name)):
            found.append(int(name))
    return found


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return int(f.read().rpartition(") ")[2].split()[1])
    except OSError:
        return None


class Server:
    """One nats-server. With `cluster` it is one of several; `more` is added to its configuration."""

    def __init__(self, folder, name="n1", port=None, cluster=None, more=""):
        self.folder = f"{folder}/{name}"
        os.makedirs(self.folder, exist_ok=True)
        self.name = name
        self.port = port or free_port()
        self.monitor = free_port()
        self.config = self.folder + "/server.conf"
        text = f'server_name: {name}\nlisten: "127.0.0.1:{self.port}"\nhttp: "127.0.0.1:{self.monitor}"\n'
        text += f'jetstream {{ store_dir: "{self.folder}/store", max_mem: 64M, max_file: 2G }}\n{more}\n'
        if cluster:
            own, others = cluster
            routes = ", ".join(f'"nats://127.0.0.1:{each}"' for each in others)
            text += f'cluster {{ name: test, listen: "127.0.0.1:{own}", routes: [{routes}] }}\n'
        with open(self.config, "w") as f:
            f.write(text)
        self.process = None

    @property
    def url(self):
        return f"nats://127.0.0.1:{self.port}"

    def start(self):
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen([NATS_SERVER, "-c", self.config], stdout=log, stderr=log)
        eventually(self.accepts, "the server")
        return self

    def accepts(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def look(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/{path}", timeout=5) as answer:
            return json.load(answer)


class Host:
    """A home with a daemon and a worker."""

    def __init__(self, test, name, settings='[policy]\nmode = "yolo"\n', environment=None):
        self.test = test
        self.name = name
        self.home = f"{test.folder}/{name}"
        os.makedirs(self.home + "/config", mode=0o700)
        os.chmod(self.home, 0o700)
        with open(self.home + "/config/config.toml", "w") as f:
            f.write(settings)
        os.chmod(self.home + "/config/config.toml", 0o600)
        self.token = person.make_token(self.home)
        self.environment = dict(test.environment, TTYWARD_HOME=self.home, **(environment or {}))
        self.worker = None
        self.log = self.home + "/worker.log"

    def start(self, *options, server=None, through=()):
        """`through`: words before the command, such as of a program that enters a network."""
        with open(self.log, "ab") as log:
            self.worker = subprocess.Popen(
                [*through, TTYWARD, "fleet", "worker", "--server", server or self.test.url, "--name", self.name, "--lease", str(self.test.lease), *options],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def said(self):
        with open(self.log) as f:
            return f.read()

    def ready(self):
        eventually(lambda: self.name in [h["host"] for h in self.test.hosts()] or self.worker.poll() is not None, f"worker {self.name}")
        self.test.assertIsNone(self.worker.poll(), self.said())
        return self

    def kill_worker(self):
        self.worker.kill()
        self.worker.wait()

    def daemon_pid(self):
        """Of the last daemon of this home; it may have ended."""
        try:
            with open(self.home + "/state/daemon.lock") as f:
                return int(f.read().split()[-1])
        except (OSError, ValueError, IndexError):
            return None

    def kill_daemon(self):
        pid = eventually(self.daemon_pid, "a daemon")
        if lives(pid):
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: not lives(pid))

    def destroy(self):
        """The machine is gone: worker, daemon, holders, commands. What the test itself started stays."""
        def here():
            return processes_of(self.home) + [pid for pid in processes_of(self.test.effects) if parent_of(pid) != os.getpid()]
        for _ in range(5):
            for pid in here():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if self.worker:
            self.worker.wait()
        eventually(lambda: not here(), "the end of all processes")

    def end(self):
        if self.worker and self.worker.poll() is None:
            self.worker.terminate()
            try:
                self.worker.wait(20)
            except subprocess.TimeoutExpired:
                self.worker.kill()
        subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=dict(self.environment, **{person.VARIABLE: self.token}), timeout=PATIENCE,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for pid in processes_of(self.home):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Bus:
    """NATS by hand: what a test wants to see or do without the program that it tests."""

    def __init__(self, port, **connect):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.file = self.socket.makefile("rb")
        self.info = json.loads(self.file.readline().split(b" ", 1)[1])
        self.write(b"CONNECT " + json.dumps({"verbose": False, "pedantic": False, "headers": True, "lang": "test", "version": "1", "protocol": 1,
                                             "no_responders": True, **connect}).encode() + b"\r\nPING\r\n")
        line = self.file.readline()
        if not line.startswith(b"PONG"):
            raise PermissionError(line.decode())
        self.number = 0

    def close(self):
        self.file.close()
        self.socket.close()

    def write(self, data):
        self.socket.sendall(data)

    def publish(self, subject, data, reply="", message_id=None):
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        if message_id is None:
            self.write(f"PUB {subject} {reply + ' ' if reply else ''}{len(data)}\r\n".encode() + data + b"\r\n")
            return
        head = f"NATS/1.0\r\nNats-Msg-Id: {message_id}\r\n\r\n".encode()
        self.write(f"HPUB {subject} {reply + ' ' if reply else ''}{len(head)} {len(head) + len(data)}\r\n".encode() + head + data + b"\r\n")

    def subscribe(self, subject):
        self.number += 1
        self.write(f"SUB {subject} {self.number}\r\n".encode())

    def next(self):
        while True:
            line = self.file.readline()
            if not line:
                raise EOFError
            words = line.split()
            if words[0] == b"PING":
                self.write(b"PONG\r\n")
            elif words[0] in (b"MSG", b"HMSG"):
                data = self.file.read(int(words[-1]) + 2)[:-2]
                head = b""
                if words[0] == b"HMSG":
                    head, data = data[:int(words[-2])], data[int(words[-2]):]
                return words[1].decode(), head, data

    def request(self, subject, data=b"", message_id=None):
        self.number += 1
        inbox = f"_INBOX.test.{os.getpid()}.{id(self)}.{self.number}"
        self.write(f"SUB {inbox} {self.number}\r\nUNSUB {self.number} 1\r\n".encode())
        self.publish(subject, data, inbox, message_id)
        _, head, answer = self.next()
        if b" 503" in head.split(b"\r\n")[0]:
            raise LookupError("no responders")
        return json.loads(answer)

    def queued(self):
        return self.request("$JS.API.STREAM.INFO.TW_CMD")["state"]["messages"]


class Proxy:
    """A TCP relay on loopback whose wire can be cut: `hold` lets nothing through and closes nothing, `cut` closes."""

    def __init__(self, to, address="127.0.0.1"):
        self.to = to
        self.address = address
        self.listener = socket.socket()
        self.listener.bind((address, 0))
        self.listener.listen(50)
        self.port = self.listener.getsockname()[1]
        self.passing = threading.Event()
        self.passing.set()
        self.pairs = []
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self):
        return f"nats://{self.address}:{self.port}"

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if not self.passing.is_set():
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.to), 5)
            except OSError:
                near.close()
                continue
            self.pairs.append((near, far))
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.relay, args=(a, b), daemon=True).start()

    def relay(self, a, b):
        try:
            while data := a.recv(65536):
                self.passing.wait()
                b.sendall(data)
        except OSError:
            pass
        for each in (a, b):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()

    def hold(self):
        self.passing.clear()

    def cut(self):
        self.passing.clear()
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for each in pair:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def mend(self):
        self.passing.set()

    def close(self):
        self.listener.close()
        self.cut()
        self.passing.set()


class FleetTest(unittest.TestCase):
    maxDiff = None
    lease = 15  # a host that is to come back may take long on a busy machine

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ttyward-fleet-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        keep = ("PATH", "LANG", "ASAN_OPTIONS", "UBSAN_OPTIONS")
        self.environment = {name: os.environ[name] for name in keep if name in os.environ}
        self.environment |= {"HOME": self.folder, "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8", "TTYWARD_HOME": self.folder + "/nobody"}
        self.effects = self.folder + "/effects"
        open(self.effects, "w").close()
        self.url = None

    def server(self, **options):
        server = Server(self.folder, **options).start()
        self.addCleanup(server.kill)
        self.url = self.url or server.url
        return server

    def host(self, name, *options, settings='[policy]\nmode = "yolo"\n', environment=None, server=None):
        host = Host(self, name, settings, environment)
        self.addCleanup(host.end)
        return host.start(*options, server=server)

    def bus(self, server, **connect):
        bus = Bus(server.port, **connect)
        self.addCleanup(bus.close)
        return bus

    def command(self, verb, *args):
        return [TTYWARD, "fleet", verb, "--server", self.url, *args]

    def fleet(self, verb, *args, environment=None, **more):
        return subprocess.run(self.command(verb, *args), env=dict(self.environment, **(environment or {})), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE * 3, **more)

    def json(self, verb, *args, **more):
        done = self.fleet(verb, "--json", *args, **more)
        self.assertTrue(done.stdout, done)
        return json.loads(done.stdout)

    def start(self, verb, *args, environment=None):
        """In the background; `self.finish(it)` has what came of it."""
        process = subprocess.Popen(self.command(verb, *args), env=dict(self.environment, **(environment or {})), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def finish(self, process):
        out, err = process.communicate(timeout=PATIENCE * 3)
        return process.returncode, out, err

    def hosts(self):
        done = self.fleet("ls", "--json")
        return json.loads(done.stdout)["hosts"] if done.returncode == 0 else []

    def record(self, job):
        done = self.fleet("show", "--json", job)
        return json.loads(done.stdout) if done.returncode == 0 else None

    # --- effects
    def effect(self, number, then=""):
        return f"echo {number} >> {self.effects}{then}"

    def counts(self):
        with open(self.effects) as f:
            return collections.Counter(f.read().split())

    def each_once(self, numbers):
        self.assertEqual(self.counts(), {str(n): 1 for n in numbers})

    def batch_file(self, commands):
        path = f"{self.folder}/batch-{time.monotonic_ns()}"
        with open(path, "w") as f:
            f.write("\n".join(commands) + "\n")
        return path
