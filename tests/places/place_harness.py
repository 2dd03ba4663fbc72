"""What the tests of other places share: an sshd of our own, and an `ssh` that is a proxy of ours.

Both are found through PATH, as the program finds ssh: a folder with a script named `ssh` comes first.
"""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from harness import PATIENCE, TTYWARD, RunTest, eventually, main, processes  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))


class PlaceTest(RunTest):
    def setUp(self):
        super().setUp()
        self.bin = self.folder + "/bin"
        self.far_home = self.folder + "/far home".replace(" ", "-")
        os.mkdir(self.bin)
        os.mkdir(self.far_home)
        self.environment["PATH"] = self.bin + ":" + self.environment["PATH"]
        self.environment["TTYWARD_LINK_IDLE_MS"] = "2000"
        self.addCleanup(self.end_all)

    def end_all(self):
        for pid in processes(self.folder):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def script(self, name, text):
        path = f"{self.bin}/{name}"
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path

    def start_sshd(self, *options, environment=""):
        """An sshd on loopback; afterwards ssh:far leads to it. `environment`: more variables that its logins have."""
        sshd, ssh = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin"), shutil.which("ssh", path="/usr/bin:/bin")
        if not sshd or not ssh:
            self.skipTest("no sshd here: ./setup --tests installs one")
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.folder}/{name}"], check=True)
        shutil.copy(f"{self.folder}/user.pub", f"{self.folder}/authorized")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        os.makedirs("/run/sshd", exist_ok=True)
        self.sshd_words = [sshd, "-D", "-e", "-f", "/dev/null", "-p", str(self.port), "-h", f"{self.folder}/host",
                           "-o", "ListenAddress=127.0.0.1", "-o", f"AuthorizedKeysFile={self.folder}/authorized",
                           "-o", "StrictModes=no", "-o", "PidFile=none", "-o", "UsePAM=no",
                           "-o", f"SetEnv=HOME={self.far_home} {environment}".strip(), *options]
        self.run_sshd()
        with open(f"{self.folder}/ssh_config", "w") as f:
            f.write(f"Host far\n  HostName 127.0.0.1\n  Port {self.port}\n  IdentityFile {self.folder}/user\n"
                    f"  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n")
        self.script("ssh", f"#!/bin/sh\nexec {ssh} -F {self.folder}/ssh_config \"$@\"\n")
        return "ssh:far"

    def run_sshd(self):
        self.sshd = subprocess.Popen(self.sshd_words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE)
        server = self.sshd
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for line in server.stderr:
            if b"listening" in line:
                break
        else:
            self.skipTest("sshd does not run here")
        threading.Thread(target=lambda: [None for _ in iter(lambda: self.read_quietly(server.stderr), b"")],
                         daemon=True).start()

    @staticmethod
    def read_quietly(stream):
        try:
            return stream.readline()
        except ValueError:
            return b""

    def use_proxy(self, **plan):
        """ssh:far is this machine, with another home, behind the proxy in proxy.py."""
        with open(f"{self.folder}/plan.json", "w") as f:
            json.dump(plan, f)
        self.script("ssh", f"#!/bin/sh\nexec env HOME={self.far_home} {sys.executable} -B {HERE}/proxy.py "
                           f"{self.folder} \"$@\"\n")
        return "ssh:far"

    def plan(self, **plan):
        with open(f"{self.folder}/plan.json.new", "w") as f:
            json.dump(plan, f)
        os.rename(f"{self.folder}/plan.json.new", f"{self.folder}/plan.json")

    def far_state(self):
        return f"{self.far_home}/.local/state/ttyward/far"

    def far_program(self):
        folder = f"{self.far_state()}/bin"
        return [f for f in os.listdir(folder) if f.startswith("hold-")]

    def relays(self):
        return [pid for pid in processes(self.far_state()) if "relay" in command_line(pid)]

    def streams(self):
        """The programs here whose stdin and stdout are the stream."""
        return [pid for pid in processes("TTYWARD-STAGE") if self.folder in command_line(pid) + environment_of(pid)
                and "sh -c" not in command_line(pid)[:8]]

    def run_in(self, place, *args, **options):
        return self.result("--in", place, *args, **options)


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def environment_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def cut_count(folder):
    """How often the proxy has cut the stream."""
    try:
        with open(folder + "/cuts.log") as f:
            return len(f.readlines())
    except OSError:
        return 0


def journal_bytes(folder, command_id):
    """The bytes of a journal on disk, by its own format: docs/protocol/journal.md."""
    with open(f"{folder}/{command_id}.main", "rb") as f:
        main_file = f.read()
    end = struct.unpack_from("<Q", main_file, 256)[0]
    header = struct.unpack_from("<I", main_file, 12)[0]
    parts = [main_file[header:]]
    if os.path.isdir(f"{folder}/{command_id}"):
        for name in sorted(os.listdir(f"{folder}/{command_id}")):
            with open(f"{folder}/{command_id}/{name}", "rb") as f:
                parts.append(f.read())
    out = b""
    for part in parts:
        base, offset = struct.unpack_from("<QQ", part, 16)
        length = struct.unpack_from("<Q", part, 64)[0]
        length = min(length, end - base)
        out = out[:base] + part[offset:offset + length]
    return out[:end], end
