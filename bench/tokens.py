#!/usr/bin/env python3
"""What a model pays for: tokens of the list of tools and of results, in each form.

Usage: tokens.py TTYWARD MODULES.  MODULES is a node_modules with gpt-tokenizer (o200k_base).  Prints one JSON object.
"""
import json
import os
import subprocess
import sys
import tempfile

TTYWARD = os.path.abspath(sys.argv[1])
MODULES = os.path.abspath(sys.argv[2])
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
CALLS = {
    "echo": ("run_command", {"command": "echo hi"}),
    "false": ("run_command", {"command": "false"}),
    "running": ("run_command", {"command": "sleep 60", "wait_ms": 200}),
    "log": ("run_command", {"command": "for i in $(seq 3000); do echo copied block $i; done; echo cannot read block 7"}),
    "list": ("list_terminals", {}),
}


def count(texts):
    program = ("const {encode} = require(process.argv[1] + '/gpt-tokenizer');"
               "console.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0)).map((t) => encode(t).length)));")
    done = subprocess.run(["node", "-e", program, MODULES], input=json.dumps(texts).encode(), capture_output=True, check=True)
    return json.loads(done.stdout)


def main():
    with tempfile.TemporaryDirectory(prefix="tw-tokens-", ignore_cleanup_errors=True) as home:
        env = dict(os.environ, TTYWARD_HOME=home, HOME=home)
        server = subprocess.Popen([TTYWARD, "mcp"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        last = 0

        def ask(method, params):
            nonlocal last
            last += 1
            message = {"jsonrpc": "2.0", "id": last, "method": method, "params": {**params, "_meta": META}}
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            while True:
                answer = json.loads(server.stdout.readline())
                if answer.get("id") == last:
                    return answer["result"]

        def plain(value):
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

        tools = ask("tools/list", {})["tools"]
        texts = {"tools": plain(tools),
                 "tools as a model sees them": plain([{k: t[k] for k in ("name", "description", "inputSchema")} for t in tools])}
        for name, (tool, arguments) in CALLS.items():
            result = ask("tools/call", {"name": tool, "arguments": arguments})
            texts[name + " text"] = result["content"][0]["text"]
            texts[name + " structured"] = plain(result["structuredContent"])
        server.stdin.close()
        server.wait()
        subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=env, capture_output=True, timeout=60)
        print(json.dumps(dict(zip(texts, count(list(texts.values())))), indent=1))
        if os.environ.get("TOKENS_SHOW"):
            for name, text in texts.items():
                print(f"--- {name}\n{text}")


main()
