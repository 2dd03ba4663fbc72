#!/usr/bin/env python3
"""What a fleet costs: short commands over several workers, beside the same commands without a bus.

Usage: fleet.py BIN [--n COUNT] [--workers 1,2,4,8] [--slots SLOTS] [--command LINE] [--replicas 3]
BIN is a build's folder of programs (build/release/bin). Prints one JSON object a line:
  workers, slots          each worker has a daemon of its own, all on this machine
  bus_per_s, direct_per_s commands a second, by `fleet batch` and straight to the daemons over as many connections
  bus_ms, direct_ms       time of all, divided by the number of commands
  overhead_ms             bus_ms - direct_ms
  worker_cpu_ms, server_cpu_ms, submitter_cpu_ms   processor time of a command in the programs that the bus adds
The last two do not depend on what else the machine does.
"""
import argparse
import json
import os
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_of(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Servers:
    def __init__(self, folder, count):
        ports = [free_port() for _ in range(count)]
        routes = [free_port() for _ in range(count)]
        self.processes = []
        self.url = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
        for i in range(count):
            config = f"{folder}/server{i}.conf"
            with open(config, "w") as f:
                f.write(f'server_name: n{i}\nlisten: "127.0.0.1:{ports[i]}"\njetstream {{ store_dir: "{folder}/store{i}", max_mem: 256M, max_file: 4G }}\n')
                if count > 1:
                    others = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
                    f.write(f'cluster {{ name: bench, listen: "127.0.0.1:{routes[i]}", routes: [{others}] }}\n')
            log = open(f"{folder}/server{i}.log", "w")
            self.processes.append(subprocess.Popen([shutil.which("nats-server") or "/usr/sbin/nats-server", "-c", config], stdout=log, stderr=log))

    def cpu(self):
        return sum(cpu_of(p.pid) for p in self.processes)

    def end(self):
        for process in self.processes:
            process.terminate()
            process.wait()


def measure(bin_folder, workers, args):
    folder = tempfile.mkdtemp(prefix="ttyward-bench-fleet-")
    ttyward = bin_folder + "/ttyward"
    servers = Servers(folder, args.replicas)
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8", "TTYWARD_FLEET_SERVER": servers.url}
    homes, running = [], []
    try:
        for i in range(workers):
            home = f"{folder}/h{i}"
            os.makedirs(home + "/config", mode=0o700)
            os.chmod(home, 0o700)
            with open(os.open(home + "/config/config.toml", os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
                f.write('[policy]\nmode = "yolo"\n')
            os.makedirs(home + "/state", mode=0o700)
            with open(os.open(home + "/state/person-token", os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
                f.write(secrets.token_hex(32) + "\n")  # to stop the daemon at the end
            homes.append(home)
            log = open(f"{folder}/worker{i}.log", "w")
            running.append(subprocess.Popen([ttyward, "fleet", "worker", "--name", f"w{i}", "--slots", str(args.slots), "--replicas", str(args.replicas)],
                                            env=dict(environment, TTYWARD_HOME=home), stdout=log, stderr=log, stdin=subprocess.DEVNULL))
        give_up = time.monotonic() + 60
        while True:
            listed = subprocess.run([ttyward, "fleet", "ls", "--json"], env=environment, capture_output=True, text=True)
            if listed.returncode == 0 and len(json.loads(listed.stdout)["hosts"]) == workers:
                break
            if time.monotonic() > give_up:
                sys.exit(f"the workers did not get ready: see {folder}")
            time.sleep(0.1)

        def batch(count):
            path = f"{folder}/commands"
            with open(path, "w") as f:
                f.write((args.command + "\n") * count)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begin = time.perf_counter()
            done = subprocess.run([ttyward, "fleet", "batch", "--json", "--file", path], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            took = time.perf_counter() - begin
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode != 0 or done.stdout.count(b"\n") != count:
                sys.exit(f"the batch went wrong: {done.stderr.decode()}")
            return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        def direct(count):
            done = subprocess.run([bin_folder + "/bench_fleet", str(count), str(args.slots), args.command, *homes], capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"bench_fleet went wrong: {done.stdout} {done.stderr}")
            return json.loads(done.stdout)["seconds"]

        batch(workers * args.slots * 4)  # daemons, shells and files are warm
        direct(workers * args.slots * 4)
        half = args.n // 2
        worker_cpu, server_cpu = sum(cpu_of(p.pid) for p in running), servers.cpu()
        bus, straight, submitter = 0, 0, 0
        for _ in range(2):  # in turns: what else the machine does hits both
            took, cpu = batch(half)
            bus += took
            submitter += cpu
            straight += direct(half)
        count = 2 * half
        print(json.dumps({
            "workers": workers, "slots": args.slots, "replicas": args.replicas, "commands": count,
            "bus_per_s": round(count / bus, 1), "direct_per_s": round(count / straight, 1),
            "bus_ms": round(bus * 1000 / count, 3), "direct_ms": round(straight * 1000 / count, 3),
            "overhead_ms": round((bus - straight) * 1000 / count, 3),
            "worker_cpu_ms": round((sum(cpu_of(p.pid) for p in running) - worker_cpu) * 1000 / count, 3),
            "server_cpu_ms": round((servers.cpu() - server_cpu) * 1000 / count, 3),
            "submitter_cpu_ms": round(submitter * 1000 / count, 3)}), flush=True)
    finally:
        for process in running:
            process.terminate()
            process.wait()
        for home in homes:
            subprocess.run([ttyward, "daemon", "stop", "--kill-terminals"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env=dict(environment, TTYWARD_HOME=home, TTYWARD_PERSON_TOKEN_FILE=home + "/state/person-token"))
        servers.end()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--workers", default="1,2,4,8")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--command", default="true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for workers in args.workers.split(","):
        measure(os.path.abspath(args.bin), int(workers), args)


if __name__ == "__main__":
    main()
