#!/usr/bin/env python3
"""What `ttyward acp` costs: requests through the proxy beside requests to the agent itself.

Usage: acp.py TTYWARD [ROUNDS].  Prints one JSON object; times in milliseconds.
  direct      a request to an agent that answers at once, over pipes: median and 95th percentile
  proxied     the same through the proxy
  overhead    proxied - direct, at the median; ratio: proxied / direct, there
  large       a message of 1 MiB, both ways
  terminal    terminal/create, wait_for_exit, output and release of `true`, served by the daemon
The rounds of both kinds alternate, so that what else the machine does hits both.
"""
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

AGENT = r"""
import json, sys
read, write = sys.stdin.buffer.readline, sys.stdout.buffer.write
number = [0]
def request(method, **params):
    number[0] += 1
    write(json.dumps({"jsonrpc": "2.0", "id": number[0], "method": method, "params": {"sessionId": "s", **params}}).encode() + b"\n")
    sys.stdout.buffer.flush()
    return json.loads(read())["result"]
while line := read():
    message = json.loads(line)
    method, result = message["method"], {}
    if method == "initialize":
        result = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "bench", "version": "1"}}
    elif method == "session/new":
        result = {"sessionId": "s"}
    elif method == "_terminal":
        terminal = request("terminal/create", command="true")["terminalId"]
        for each in ("wait_for_exit", "output", "release"):
            request("terminal/" + each, terminalId=terminal)
    elif method == "_echo":
        result = message["params"]
    write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() + b"\n")
    sys.stdout.buffer.flush()
"""


class Peer:
    def __init__(self, argv, env):
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last = 0

    def request(self, method, params):
        self.last += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).encode() + b"\n"
        begin = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        self.process.stdout.readline()
        return (time.perf_counter() - begin) * 1000

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def summary(times):
    return {"p50": round(statistics.median(times), 3), "p95": round(sorted(times)[int(len(times) * 0.95)], 3)}


def main():
    ttyward = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ, TTYWARD_HOME=home + "/home", HOME=home, SHELL="/bin/bash")
        agent = [sys.executable, "-c", AGENT]
        direct = Peer(agent, env)
        proxied = Peer([ttyward, "acp", "--no-mcp", "--", *agent], env)
        for peer in (direct, proxied):
            peer.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            peer.request("session/new", {"cwd": home, "mcpServers": []})
        small = {"sessionId": "s", "text": "x" * 200}
        large = {"sessionId": "s", "text": "x" * (1 << 20)}
        times = {"direct": [], "proxied": [], "direct_large": [], "proxied_large": [], "terminal": []}
        for i in range(rounds + 100):
            d, p = direct.request("_echo", small), proxied.request("_echo", small)
            if i >= 100:  # the first ones warm up
                times["direct"].append(d)
                times["proxied"].append(p)
        for _ in range(30):
            times["direct_large"].append(direct.request("_echo", large))
            times["proxied_large"].append(proxied.request("_echo", large))
        for _ in range(100):
            times["terminal"].append(proxied.request("_terminal", {}))
        direct.close()
        proxied.close()
        # Only a person can stop a daemon, and a script is none.
        status = subprocess.run([ttyward, "--json", "daemon", "status"], env=env, capture_output=True, text=True).stdout
        os.kill(json.loads(status)["pid"], signal.SIGTERM)
    out = {name: summary(values) for name, values in times.items()}
    out["overhead"] = round(out["proxied"]["p50"] - out["direct"]["p50"], 3)
    out["ratio"] = round(out["proxied"]["p50"] / out["direct"]["p50"], 2)
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
