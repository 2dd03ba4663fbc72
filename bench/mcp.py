#!/usr/bin/env python3
"""What a command costs over MCP, beside the same command in a bare pseudo terminal.

Usage: mcp.py TTYWARD [ROUNDS].  Prints one JSON object; times in milliseconds.
  cold_ms     from starting `ttyward mcp` with no daemon to the first result
  warm        run_command again and again on one connection: median and 95th percentile
  persistent  run_persistent_command in one open terminal
  bare        bash -c in a pty made for it: spawn, read to the end, wait; by bench_exec, which is built beside ttyward,
              because a fork of this script takes longer than all the rest
  at_once     500 calls sent together: all answered after, and how many of them right
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TTYWARD = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 200
AT_ONCE = 500
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Server:
    def __init__(self, env):
        self.process = subprocess.Popen([TTYWARD, "mcp"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0

    def send(self, tool, **arguments):
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments, "_meta": META}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self.last

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def call(self, tool, **arguments):
        self.send(tool, **arguments)
        return self.receive()["result"]["structuredContent"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def bare():
    program = os.path.join(os.path.dirname(TTYWARD), "bench_exec")
    lines = subprocess.run([program, "latency", str(ROUNDS)], capture_output=True, text=True, check=True).stdout
    figures = [json.loads(line) for line in lines.splitlines()]
    return {f["bench"]: {"median": f["bare_p50_ms"], "p99": f["bare_p99_ms"]} for f in figures if f["provider"] == "pty"}


def measure(work):
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1000)
    times.sort()
    return {"median": round(statistics.median(times), 3), "p95": round(times[int(len(times) * 0.95)], 3)}


def main():
    with tempfile.TemporaryDirectory(prefix="tw-bench-") as home:
        env = dict(os.environ, TTYWARD_HOME=home, HOME=home)
        begin = time.perf_counter()
        server = Server(env)
        server.call("run_command", command="true")
        result = {"rounds": ROUNDS, "cold_ms": round((time.perf_counter() - begin) * 1000, 1)}
        terminal = server.call("open_persistent_terminal")["persistent_terminal_id"]
        limits = bare()
        for name, command in (("true", "true"), ("echo", "echo hi")):
            result[name] = {"bare": limits[f"latency {command}"],
                            "warm": measure(lambda: server.call("run_command", command=command)),
                            "persistent": measure(lambda: server.call("run_persistent_command", id=terminal, command=command))}
            result[name]["warm_to_bare"] = round(result[name]["warm"]["median"] / result[name]["bare"]["median"], 2)
        begin = time.perf_counter()
        wanted = {server.send("run_command", command=f"echo n{i}", wait_ms=120000): f"n{i}\n" for i in range(AT_ONCE)}
        right = 0
        for _ in range(AT_ONCE):
            answer = server.receive()
            content = answer.get("result", {}).get("structuredContent") or {}
            right += content.get("output") == wanted[answer["id"]]
        result["at_once"] = {"calls": AT_ONCE, "right": right, "ms": round((time.perf_counter() - begin) * 1000, 1)}
        server.close()
        subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=env, capture_output=True, timeout=60)
        print(json.dumps(result, indent=1))


main()
