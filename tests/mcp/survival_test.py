"""What an agent has when something dies under it: the daemon in the middle of a call, the server, the client."""
import json
import os
import re
import signal
import socket
import subprocess
import unittest

from peer import LEGACY, META, MODERN, PATIENCE, TTYWARD, HomeTest, Peer


class Survival(HomeTest):
    def begun(self, name):
        self.eventually(lambda: os.path.exists(self.path(name)))

    def open_gate(self, name):
        """Lets `until NAME` go on."""
        open(self.path(name), "w").close()

    def test_calls_go_on_when_the_daemon_is_killed(self):
        agent = Peer(self)
        terminal = agent.tool("open_persistent_terminal", cwd=self.work)["structuredContent"]["id"]
        wait = "until [ -e gate ]; do sleep 0.02; done"
        alone = agent.start_tool("run_command", {"command": f"echo once >> alone; {wait}; echo alone ended; exit 3",
                                                 "cwd": self.work})
        inside = agent.start_tool("run_persistent_command",
                                  {"id": terminal, "command": f"echo once >> inside; {wait}; echo inside ended; (exit 4)"})
        self.begun("alone")
        self.begun("inside")
        file = agent.start_tool("wait_for", {"id": terminal, "file": "later"})
        self.kill_daemon()
        self.open_gate("gate")
        self.open_gate("later")
        for number, words, code in ((alone, "alone ended\n", 3), (inside, "inside ended\n", 4)):
            result = agent.answer(number)["result"]["structuredContent"]
            self.assertEqual((result["state"], result["exit_code"], result["output"]), ("exited", code, words), result)
        self.assertEqual(agent.answer(file)["result"]["structuredContent"]["condition"], "file")
        self.assertEqual((self.read("alone"), self.read("inside")), ("once\n", "once\n"), "each ran once")
        after = agent.tool("run_persistent_command", id=terminal, command="echo still here")["structuredContent"]
        self.assertEqual(after["output"], "still here\n")

    def test_a_long_call_survives_any_number_of_daemons(self):
        agent = Peer(self)
        number = agent.start_tool("run_command", {"command": "echo once >> begun; until [ -e gate ]; do sleep 0.02; done; exit 6",
                                                  "cwd": self.work, "timeout_ms": 0, "wait_ms": PATIENCE * 1000})
        self.begun("begun")
        for _ in range(15):
            self.kill_daemon()
            self.eventually(lambda: self.ttyward("daemon", "status").returncode == 0)  # the call brought it back
        self.open_gate("gate")
        result = agent.answer(number)["result"]["structuredContent"]
        self.assertEqual((result["state"], result["exit_code"]), ("exited", 6), result)
        self.assertEqual(self.read("begun"), "once\n", "it ran once")

    def test_what_may_have_been_typed_is_not_typed_again(self):
        agent = Peer(self)
        terminal = agent.tool("open_persistent_terminal", cwd=self.work)["structuredContent"]["id"]
        asks = agent.tool("run_persistent_command", id=terminal, command="read -p 'Name? ' n; echo \"hello $n\"")
        self.assertEqual(asks["structuredContent"]["state"], "awaiting_input", asks)
        self.kill_daemon()
        answered = agent.tool("send_input", id=terminal, text="Ada")
        self.assertFalse(answered.get("isError"), answered)  # it was never sent to the daemon that died
        ended = agent.tool("wait_for", id=asks["structuredContent"]["command_id"], exit=True)
        told = [answered["structuredContent"], ended["structuredContent"]["result"]]
        self.assertEqual("".join(each.get("output", "") for each in told).splitlines()[-1], "hello Ada", told)

    def test_terminals_are_there_again_for_the_next_server(self):
        for version in (LEGACY, MODERN):
            with self.subTest(version):
                first = Peer(self, "--session", "mine", version=version)
                terminal = first.tool("open_persistent_terminal", cwd=self.work)["structuredContent"]["id"]
                first.tool("run_persistent_command", id=terminal, command="X=41")
                running = first.tool("run_persistent_command", id=terminal, wait_ms=100,
                                     command=f"until [ -e gate-{version} ]; do sleep 0.02; done; echo ended; (exit 5)")
                first.process.send_signal(signal.SIGKILL)
                first.process.wait()
                second = Peer(self, "--session", "mine", version=version)
                self.assertIn(terminal, [t["id"] for t in second.tool("list_terminals")["structuredContent"]["terminals"]])
                self.open_gate(f"gate-{version}")
                over = second.tool("wait_for", id=running["structuredContent"]["command_id"], exit=True)
                self.assertEqual(over["structuredContent"]["result"]["exit_code"], 5, over)
                self.assertEqual(second.tool("run_persistent_command", id=terminal, command="echo $X")["structuredContent"]["output"],
                                 "41\n")

    def test_a_client_that_vanishes_in_the_middle_of_a_call_leaves_its_command(self):
        agent = Peer(self)
        agent.start_tool("run_command", {"command": "echo once >> begun; until [ -e gate ]; do sleep 0.02; done; echo ended > ended",
                                         "cwd": self.work, "timeout_ms": 0})
        self.begun("begun")
        agent.process.stdin.close()
        self.assertEqual(agent.process.wait(60), 0, "the server ends with its client")
        self.open_gate("gate")
        self.begun("ended")
        row = self.eventually(lambda: [r for r in self.json("history")["commands"] if r["exit_code"] is not None])[0]
        self.assertEqual(row["exit_code"], 0)

    def test_an_http_client_that_vanishes_leaves_its_command_and_the_server(self):
        server = subprocess.Popen([TTYWARD, "mcp", "--http", "127.0.0.1:0"], env=self.environment, cwd=self.work,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        port = int(re.search(r":(\d+)/mcp", server.stderr.readline()).group(1))
        token_file = re.search(r"token is in (.*)$", server.stderr.readline()).group(1)
        with open(token_file) as f:
            token = f.read().strip()

        def post(tool, **arguments):
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                               "params": {"name": tool, "arguments": arguments, "_meta": META}})
            connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            connection.sendall((f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
                                "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
                                f"Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nMCP-Protocol-Version: {MODERN}\r\n"
                                f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
            return connection

        vanishing = post("run_command", command="echo once >> begun; until [ -e gate ]; do sleep 0.02; done; echo > ended",
                         cwd=self.work, timeout_ms=0)
        self.begun("begun")
        vanishing.close()
        with post("list_terminals") as still, still.makefile() as answer:
            self.assertIn("until [ -e gate ]", answer.read())
        self.open_gate("gate")
        self.begun("ended")
        server.terminate()
        self.assertEqual(server.wait(PATIENCE), 128 + signal.SIGTERM)
        self.assertFalse(os.path.exists(token_file), "the token goes with its server")


if __name__ == "__main__":
    unittest.main()
