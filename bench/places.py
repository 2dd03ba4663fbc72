#!/usr/bin/env python3
"""What another place costs: a short command here, over ssh to this machine, and in a container, in turns.

Usage: places.py BIN [--n COUNT]
BIN is a build's folder of programs (build/release/bin). Prints one JSON object a line:
  place          local, ssh (an sshd of its own on loopback) or podman (a container with this machine's files, read-only)
  exec_ms        `exec true` in an open shell, from the call on the daemon's socket to its answer: median, and the 90th of a hundred
  round_trip_ms  of the bare link: a byte to a `cat` there and back, over the same ssh or `podman exec` as the link uses
  above_ms       the median of exec_ms above that of local, and above_link_ms: less the link's round trip
  peer_ms        what one gets without ttyward: a new `ssh HOST true` or `podman exec NAME true` for each command
All three places take turns in one loop, so that what else the machine does meets each of them alike.
"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def spread(values):
    values = sorted(values)
    return round(values[len(values) // 2], 2), round(values[len(values) * 9 // 10], 2)


def timed(what):
    began = time.perf_counter()
    what()
    return (time.perf_counter() - began) * 1000


class Ssh:
    name = "ssh"

    def __init__(self, folder):
        ssh, sshd = shutil.which("ssh"), shutil.which("sshd", path="/usr/sbin:/sbin")
        if not ssh or not sshd:
            raise OSError("no sshd is installed")
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        os.makedirs("/run/sshd", exist_ok=True)
        os.mkdir(folder + "/far")
        self.server = subprocess.Popen(
            [sshd, "-D", "-e", "-f", "/dev/null", "-p", str(port), "-h", f"{folder}/host", "-o", "ListenAddress=127.0.0.1", "-o",
             f"AuthorizedKeysFile={folder}/user.pub", "-o", "StrictModes=no", "-o", "PidFile=none", "-o", "UsePAM=no", "-o",
             f"SetEnv=HOME={folder}/far"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if not any(b"listening" in line for line in iter(self.server.stderr.readline, b"")):
            raise OSError("sshd does not run")
        with open(f"{folder}/ssh_config", "w") as f:
            f.write(f"Host far\n HostName 127.0.0.1\n Port {port}\n IdentityFile {folder}/user\n IdentitiesOnly yes\n"
                    " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n")
        with open(f"{folder}/bin/ssh", "w") as f:
            f.write(f'#!/bin/sh\nexec {ssh} -F {folder}/ssh_config "$@"\n')
        os.chmod(f"{folder}/bin/ssh", 0o755)
        self.place, self.command = "ssh:far", [f"{folder}/bin/ssh", "-T", "far"]

    def end(self):
        self.server.kill()
        self.server.wait()


class Podman:
    name = "podman"

    def __init__(self, folder):
        podman = shutil.which("podman")
        if not podman:
            raise OSError("no podman is installed")
        runtime = ["--runtime", "runc"] if shutil.which("runc") else []
        self.container = f"ttyward-bench-{os.getpid()}"
        self.podman = [podman, *runtime]
        # This machine's programs, so that there is a shell; nothing of it can be written.
        words = ["run", "-d", "--name", self.container, "--net=none", "--ulimit", "nofile=20000:20000", "--ulimit", "nproc=4096:4096",
                 "--tmpfs", "/tmp:exec,notmpcopyup", "--rootfs", "/:O", "sleep", "100000"]
        made = subprocess.run([*self.podman, *words], capture_output=True, text=True)
        if made.returncode != 0:
            self.end()
            raise OSError("podman runs no container: " + made.stderr.strip()[-200:])
        with open(f"{folder}/bin/podman", "w") as f:
            f.write(f'#!/bin/sh\nexec {" ".join(self.podman)} "$@"\n')
        os.chmod(f"{folder}/bin/podman", 0o755)
        self.place, self.command = f"podman:{self.container}", [f"{folder}/bin/podman", "exec", "-i", self.container]

    def end(self):
        subprocess.run([*self.podman, "rm", "-f", "-t", "0", self.container], capture_output=True)


class Echo:
    """A byte there and back."""

    def __init__(self, command):
        self.process = subprocess.Popen([*command, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.turn()

    def turn(self):
        self.process.stdin.write(b"x")
        self.process.stdout.read(1)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--n", type=int, default=300)
    args = parser.parse_args()
    ttyward = os.path.abspath(args.bin) + "/ttyward"
    os.environ["TTYWARD"] = ttyward
    sys.path.insert(0, os.path.join(HERE, "..", "tests", "daemon"))
    from daemon_client import Client, person  # noqa: E402

    folder = tempfile.mkdtemp(prefix="ttyward-bench-")
    os.mkdir(folder + "/bin")
    home = folder + "/home"
    person.make_token(home)
    environment = dict(os.environ, TTYWARD_HOME=home, PATH=f"{folder}/bin:{os.environ['PATH']}", SHELL="/bin/bash")
    places = []
    try:
        for make in (Ssh, Podman):
            try:
                places.append(make(folder))
            except OSError as error:
                print(f"without {make.name}: {error}", file=sys.stderr)
        subprocess.run([ttyward, "daemon", "run", "--detach"], env=environment, check=True, stdin=subprocess.DEVNULL)
        client = Client(home + "/run/daemon.sock", token=person.token_in(home))
        client.call("open", name="local", shell="bash")
        echoes = {}
        for each in places:
            client.call("open", name=each.name, shell="bash", place=each.place)
            echoes[each.name] = Echo(each.command)
        times = {name: {"exec": [], "link": [], "peer": []} for name in ["local", *echoes]}

        def run(name):
            result = client.call("exec", terminal=name, command="true", yield_after_ms=60000)
            assert result["exit_code"] == 0, result

        for turn in range(args.n + 10):
            for name in times:
                took = timed(lambda: run(name))
                if turn >= 10:  # the first ones start what is started once
                    times[name]["exec"].append(took)
            for each in places:
                times[each.name]["link"].append(timed(echoes[each.name].turn))
                if turn % 20 == 0:
                    times[each.name]["peer"].append(timed(lambda: subprocess.run([*each.command, "true"], check=True)))
        local = spread(times["local"]["exec"])[0]
        for name, took in times.items():
            median, high = spread(took["exec"])
            line = {"place": name, "n": args.n, "exec_ms": median, "exec_p90_ms": high}
            if name != "local":
                link = spread(took["link"])[0]
                line |= {"round_trip_ms": link, "above_ms": round(median - local, 2), "above_link_ms": round(median - local - link, 2),
                         "peer_ms": spread(took["peer"])[0]}
            print(json.dumps(line), flush=True)
        for each in echoes.values():
            each.end()
        client.close()
    finally:
        subprocess.run([ttyward, "daemon", "stop", "--kill-terminals"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=dict(environment, **{person.VARIABLE: home + "/state/person-token"}))
        for each in places:
            each.end()
        shutil.rmtree(folder, ignore_errors=True)


main()
