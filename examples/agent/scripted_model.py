#!/usr/bin/env python3
"""A model that follows a script, for trying an agent without one: chat completions on a loopback port.

    scripted_model.py [PORT] [COMMAND…]      asks for each command in turn, then says what the last tool result was
"""
import http.server
import json
import sys

COMMANDS = ["cd /tmp && pwd", "pwd; (exit 3)", "rm -rf /"]


class Model(http.server.BaseHTTPRequestHandler):
    commands = COMMANDS

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        results = [message["content"] for message in asked["messages"] if message["role"] == "tool"]
        if len(results) < len(self.commands):
            arguments = json.dumps({"command": self.commands[len(results)]})
            call = {"id": f"call_{len(results)}", "type": "function", "function": {"name": "run", "arguments": arguments}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        else:
            message = {"role": "assistant", "content": "Done. I was told:\n" + "\n".join(text.splitlines()[0] for text in results)}
        body = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(port=8080, commands=None):
    Model.commands = commands or COMMANDS
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), Model)


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8080, sys.argv[2:]).serve_forever()
