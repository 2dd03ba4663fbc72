"""An agent for tests of clients: it does what the prompt says, one word each.

  plan        shows a plan                say:TEXT    says it
  run:LINE    runs it in a terminal of the client, and shows it
  ask:LINE    asks for permission to run it itself; says what was answered
  edit        asks for permission to edit a file
  wait        does nothing until the turn is cancelled
  die         ends without an answer
"""
import json
import os
import sys
import threading

out = threading.Lock()
answers = {}
arrived = threading.Condition()
cancelled = threading.Event()
last = 0


def send(message):
    with out:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def request(method, **params):
    global last
    number, last = last, last + 1
    send({"id": number, "method": method, "params": {"sessionId": "actor-1", **params}})
    with arrived:
        arrived.wait_for(lambda: number in answers)
        return answers.pop(number)


def update(what, **fields):
    send({"method": "session/update", "params": {"sessionId": "actor-1", "update": {"sessionUpdate": what, **fields}}})


def say(text):
    update("agent_message_chunk", content={"type": "text", "text": text})


def permission(**call):
    options = [{"optionId": "yes", "name": "Allow once", "kind": "allow_once"}, {"optionId": "no", "name": "Reject", "kind": "reject_once"}]
    answer = request("session/request_permission", toolCall={"toolCallId": "ask", **call}, options=options)
    say("permission: " + json.dumps(answer.get("result", answer.get("error"))) + "\n")


def run(line):
    update("tool_call", toolCallId="run", title=line, kind="execute", status="pending", rawInput={"command": line})
    made = request("terminal/create", command="bash", args=["-c", line])
    if "error" in made:
        update("tool_call_update", toolCallId="run", status="failed")
        return say("refused: " + made["error"]["message"] + "\n")
    terminal = made["result"]["terminalId"]
    update("tool_call_update", toolCallId="run", status="in_progress", content=[{"type": "terminal", "terminalId": terminal}])
    status = request("terminal/wait_for_exit", terminalId=terminal)["result"]
    text = request("terminal/output", terminalId=terminal)["result"]["output"]
    request("terminal/release", terminalId=terminal)
    update("tool_call_update", toolCallId="run", status="completed" if status["exitCode"] == 0 else "failed")
    say(f"exit {status['exitCode']}, {len(text)} characters\n")


def turn(number, words):
    cancelled.clear()
    for word in words:
        what, _, text = word.partition(":")
        if what == "plan":
            update("plan", entries=[{"content": "first", "priority": "high", "status": "completed"},
                                    {"content": "second", "priority": "high", "status": "in_progress"}])
        elif what == "say":
            say(text + "\n")
        elif what == "run":
            run(text)
        elif what == "ask":
            permission(title="Bash", kind="execute", rawInput={"command": text})
        elif what == "edit":
            permission(title="Edit a file", kind="edit")
        elif what == "wait":
            update("tool_call", toolCallId="wait", title="waiting", kind="other", status="in_progress")
            cancelled.wait()
        elif what == "die":
            os._exit(3)
    send({"id": number, "result": {"stopReason": "cancelled" if cancelled.is_set() else "end_turn"}})


for line in sys.stdin:
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params", {})
    if method is None:
        with arrived:
            answers[number] = message
            arrived.notify_all()
    elif method == "initialize":
        send({"id": number, "result": {"protocolVersion": 1, "agentInfo": {"name": "actor", "version": "1"}, "authMethods": [],
                                       "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"list": {}, "resume": {}}}}})
    elif method == "session/new":
        send({"id": number, "result": {"sessionId": "actor-1"}})
    elif method == "session/resume":
        send({"id": number, "result": {} if params["sessionId"] == "actor-1" else None})
    elif method == "session/list":
        page = int(params.get("cursor", "0"))
        send({"id": number, "result": {"sessions": [{"sessionId": f"actor-{page + 1}", "cwd": params["cwd"], "title": ["The first", "The second"][page],
                                                     "updatedAt": "2026-11-16T00:00:00Z"}], **({"nextCursor": "1"} if page == 0 else {})}})
    elif method == "session/prompt":
        threading.Thread(target=turn, args=(number, params["prompt"][0]["text"].split("|")), daemon=True).start()
    elif method == "session/cancel":
        cancelled.set()
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "no such method"}})
