#!/usr/bin/env python3
"""A coding agent in sixty lines: a model decides, ttyward runs what it asks for.

    scripted_model.py & agent.py http://127.0.0.1:8080/v1 'Which test fails?'

Any server that speaks chat completions will do as the model. What policy does not allow is refused or put to a person
(`ttyward approvals watch`), and the model is told so.
"""
import json
import sys
import urllib.request

from ttyward import Client, DaemonError

TOOLS = [{"type": "function", "function": {
    "name": "run", "description": "Run a command line in the shell; state stays from call to call.",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}]


def ask_model(url, messages):
    body = json.dumps({"model": "any", "messages": messages, "tools": TOOLS}).encode()
    request = urllib.request.Request(url + "/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)["choices"][0]["message"]


def run(ttyward, terminal, command):
    try:
        result = ttyward.exec(terminal, command, timeout_ms=120_000, view="default")
    except DaemonError as error:
        return f"error: {error}"
    told = f"state: {result['state']}, exit code: {result['exit_code']}, now in {result['cwd_after']}"
    if result.get("waiting"):
        told += f", waits for {result['waiting']['kind']}: {result['waiting']['prompt']}"
    if result.get("reason"):
        told += f", because {result['reason']}"
    return told + "\n" + result["output"]


def main(url, task):
    messages = [{"role": "system", "content": "You work in a terminal. Use run. Say when you are done."},
                {"role": "user", "content": task}]
    with Client(role="agent", name="sixty lines", session="sixty-lines") as ttyward:
        terminal = ttyward.open()["terminal"]["id"]
        for _ in range(50):
            message = ask_model(url, messages)
            messages.append(message)
            if not message.get("tool_calls"):
                print(message["content"])
                break
            for call in message["tool_calls"]:
                command = json.loads(call["function"]["arguments"])["command"]
                print("$", command)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": run(ttyward, terminal, command)})
        ttyward.kill(terminal=terminal)


if __name__ == "__main__":
    main(*sys.argv[1:3])
