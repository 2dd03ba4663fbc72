"""What passes the proxy, and what it changes: lines, ids, ends, and lines that are not to be passed."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from sides import HERE, PATIENCE, TTYWARD, AcpTest, Side, lives


class Lines(AcpTest):
    def test_what_is_not_touched_passes_byte_for_byte(self):
        self.begin()
        odd = (b'{"jsonrpc":"2.0",  "id" : 7.5e0 ,"method":"session/prompt","params":{"sessionId":"s1","b":1.0,"a":1e400,'
               b'"x":"\\u00e9\\/","_meta":{"n":123456789012345678901234567890}}}')
        self.editor.write(odd + b"\n")
        self.assertEqual(self.agent.line().rstrip(b"\n"), odd)
        for line in (b'{"method":"_auth/status_update","jsonrpc":"2.0","params":{"z":0.10,"a":[ ]}}',
                     b'{"jsonrpc":"2.0","id":0,"method":"craft/drainMidTurnQueue"}',
                     b'{"jsonrpc":"2.0","id":"fs","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/x"}}',
                     b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\xf0\x9f\x98\x80"}}}}'):
            self.agent.write(line + b"\n")
            self.assertEqual(self.editor.line().rstrip(b"\n"), line)

    def test_ids_of_both_sides_are_the_same_and_do_not_meet(self):
        self.begin()
        prompt = self.editor.start("session/prompt", {"sessionId": "s1", "prompt": []}, 0)
        self.agent.asked("session/prompt")
        terminal = self.agent.request("terminal/create", {"sessionId": "s1", "command": "echo", "args": ["hi"]}, 0)["result"]["terminalId"]
        waiting = self.agent.start("terminal/wait_for_exit", {"sessionId": "s1", "terminalId": terminal}, 0)
        self.assertEqual(self.agent.answer(waiting)["result"], {"exitCode": 0, "signal": None})
        read = self.agent.start("fs/read_text_file", {"sessionId": "s1", "path": "/x"}, 0)
        self.assertEqual(self.editor.asked("fs/read_text_file")["id"], 0)
        self.editor.reply(0, {"content": "text"})
        self.assertEqual(self.agent.answer(read)["result"], {"content": "text"})
        self.agent.reply(prompt, {"stopReason": "end_turn"})
        self.assertEqual(self.editor.answer(prompt)["result"], {"stopReason": "end_turn"})

    def test_terminals_are_offered_and_the_rest_of_initialize_stays(self):
        self.start()
        asked = self.initialize({"fs": {"readTextFile": True, "writeTextFile": False}, "session": {"x": 1}})
        self.assertEqual(asked["params"]["clientCapabilities"],
                         {"fs": {"readTextFile": True, "writeTextFile": False}, "session": {"x": 1}, "terminal": True,
                          "_meta": {"terminal_output": True}})
        self.assertEqual(asked["params"]["clientInfo"], {"name": "test", "version": "1"})

    def test_our_server_is_added_once(self):
        self.start()
        self.initialize()
        other = {"name": "other", "command": "/bin/other", "args": [], "env": []}
        servers = self.session("s1", mcpServers=[other])["params"]["mcpServers"]
        self.assertEqual(servers[0], other)
        self.assertRegex(servers[1]["name"], "^ttyward[0-9a-z]{8}$")
        self.assertEqual(servers[1]["args"][:2], ["mcp", "--session"])
        self.assertEqual(len(servers[1]["args"]), 3)
        self.assertTrue(os.path.isabs(servers[1]["command"]))
        self.assertIn({"name": "TTYWARD_HOME", "value": self.home}, servers[1]["env"])
        mine = {"name": "ttyward", "command": "/usr/bin/ttyward", "args": ["mcp"], "env": []}
        self.assertEqual(self.session("s2", mcpServers=[mine])["params"]["mcpServers"], [mine])
        # The next proxy gives it the same name, so an agent that remembers our tools finds them again.
        self.end()
        self.start()
        self.initialize()
        self.assertEqual(self.session()["params"]["mcpServers"][0]["name"], servers[1]["name"])

    def test_no_server_without_wanting_one(self):
        self.start("--no-mcp")
        self.initialize()
        self.assertEqual(self.session()["params"]["mcpServers"], [])

    def test_an_older_version_is_spoken(self):
        self.start()
        self.assertEqual(self.initialize(version=2)["params"]["protocolVersion"], 1)

    def test_the_draft_when_it_is_wanted(self):
        self.start("--protocol", "2")
        number = self.editor.start("initialize", {"protocolVersion": 2, "info": {"name": "e", "version": "1"}, "capabilities": {}})
        asked = self.agent.asked("initialize")
        self.assertEqual(asked["params"], {"protocolVersion": 2, "info": {"name": "e", "version": "1"}, "capabilities": {}})
        self.agent.reply(asked["id"], {"protocolVersion": 2, "info": self.AGENT, "capabilities": {"session": {}}})
        self.editor.answer(number)
        server = self.session()["params"]["mcpServers"][0]
        self.assertEqual(server["type"], "stdio")
        self.assertTrue(server["name"].startswith("ttyward"))
        self.agent.notify("session/update", {"sessionId": "s1", "update": {
            "sessionUpdate": "terminal_update", "terminalId": "t", "command": "make all", "cwd": self.work}})
        self.agent.notify("session/update", {"sessionId": "s1", "update": {
            "sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "aGkK"}})
        self.agent.notify("session/update", {"sessionId": "s1", "update": {
            "sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": {"exitCode": 2}}})
        for _ in range(3):
            self.assertEqual(self.editor.asked("session/update")["params"]["update"]["terminalId"], "t")
        row = self.eventually(lambda: self.history(command="make all"))[0]
        self.assertEqual((row["known_by"], row["exit_code"], row["total_bytes"], row["task"]), ("told", 2, 3, "s1"))
        # A permission request there names the command itself.
        asked = self.agent.start("session/request_permission", {
            "sessionId": "s1", "title": "Run it", "subject": {"type": "command", "command": "echo hi", "cwd": self.work},
            "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n", "name": "No", "kind": "reject_once"}]})
        self.assertEqual(self.agent.answer(asked)["result"], {"outcome": {"outcome": "selected", "optionId": "y"}})

    def test_large_messages_and_split_reads(self):
        self.begin()
        text = "x" * (20 << 20)
        line = json.dumps({"jsonrpc": "2.0", "method": "_big", "params": {"text": text}}).encode() + b"\n"
        for at in range(0, len(line), 1 << 20):
            self.agent.write(line[at:at + (1 << 20)])
        self.assertEqual(self.editor.line(), line)
        for byte in b'{"jsonrpc":"2.0","method":"_small"}\r\n':
            self.editor.write(bytes([byte]))
        self.assertEqual(self.agent.line(), b'{"jsonrpc":"2.0","method":"_small"}\n')
        # One that is too long is dropped, its sender is told, and the conversation goes on.
        self.agent.write(b'{"jsonrpc":"2.0","method":"_huge","params":{"text":"' + b"y" * (33 << 20) + b'"}}\n')
        self.assertEqual(json.loads(self.agent.line())["error"]["code"], -32700)
        self.agent.notify("_after", {})
        self.assertEqual(self.editor.asked("_after")["method"], "_after")

    def test_what_cannot_be_judged_is_not_passed(self):
        """An editor that reads such a line differently would run a command that nobody judged."""
        self.begin()
        create = '"method":"terminal/create","params":{"sessionId":"s1","command":"touch","args":["../marker"]}'
        for line in ('{"jsonrpc":"2.0","id":1,%s,"method":"_x"}' % create, '{"jsonrpc":"2.0","id":1,"method":"_x",%s}' % create,
                     '[{"jsonrpc":"2.0","id":1,%s}]' % create, '{"jsonrpc":"2.0","id":1,%s} {}' % create,
                     '{"jsonrpc":"2.0","id":[1],%s}' % create, 'nonsense',
                     '{"jsonrpc":"2.0","id":1,%s,"_":%s1%s}' % (create, "[" * 2000, "]" * 2000)):
            self.agent.write(line.encode() + b"\n")
            self.assertIn("error", json.loads(self.agent.line()), line[:60])
        # Escapes in names mean what they say.
        self.agent.write(b'{"jsonrpc":"2.0","id":9,"m\\u0065thod":"terminal\\/create","params":{"sessionId":"s1","command":""}}\n')
        self.assertEqual(self.agent.answer(9)["error"]["code"], -32602)
        self.agent.notify("_end", {})
        self.assertEqual(json.loads(self.editor.line())["method"], "_end")
        self.assertFalse(os.path.exists(self.folder + "/marker"))

    def test_an_answer_that_nobody_asked_for(self):
        self.begin()
        self.agent.reply(77, {"stopReason": "end_turn"})
        self.agent.notify("_end", {})
        self.assertEqual(json.loads(self.editor.line())["method"], "_end")
        self.editor.reply(77, {"content": "text"})
        self.editor.reply("x", {"content": "text"})
        self.editor.notify("_end", {})
        self.assertEqual(json.loads(self.agent.line())["method"], "_end")
        # The second answer to a request is one, too.
        self.agent.start("fs/read_text_file", {"sessionId": "s1", "path": "/x"}, 5)
        self.editor.asked("fs/read_text_file")
        for text in ("first", "second"):
            self.editor.reply(5, {"content": text})
        self.editor.notify("_end", {})
        self.assertEqual(json.loads(self.agent.line())["result"]["content"], "first")
        self.assertEqual(json.loads(self.agent.line())["method"], "_end")

    def test_a_request_of_the_agent_that_it_cancels(self):
        """The editor hears of it if the request is the editor's to answer, and not otherwise."""
        self.begin()
        self.agent.start("fs/read_text_file", {"sessionId": "s1", "path": "/x"}, 5)
        self.editor.asked("fs/read_text_file")
        self.agent.notify("$/cancel_request", {"requestId": 6})
        self.agent.notify("$/cancel_request", {"requestId": 5})
        self.assertEqual(json.loads(self.editor.line())["params"], {"requestId": 5})
        self.editor.send({"jsonrpc": "2.0", "id": 5, "error": {"code": -32800, "message": "cancelled"}})
        self.assertEqual(self.agent.answer(5)["error"]["code"], -32800)
        self.agent.notify("$/cancel_request", {"requestId": 5})  # too late
        self.agent.notify("_end", {})
        self.assertEqual(json.loads(self.editor.line())["method"], "_end")

    def test_an_id_that_the_agent_uses_twice(self):
        self.begin()
        for _ in range(2):
            self.agent.start("fs/read_text_file", {"sessionId": "s1", "path": "/x"}, 5)
        self.assertEqual(self.agent.answer(5)["error"]["code"], -32600)
        self.editor.asked("fs/read_text_file")
        self.editor.reply(5, {"content": "text"})
        self.assertEqual(self.agent.answer(5)["result"], {"content": "text"})

    def test_an_id_that_the_agent_writes_differently(self):
        """The same value, by another JSON library."""
        self.begin()
        for sent, answered in (('"a\\/b"', '"a/b"'), ('"\\u00e9"', '"é"'), ("1.0", "1"), ("7e2", "700"), ('"5"', '"5"')):
            self.editor.write(b'{"jsonrpc":"2.0","id":%s,"method":"_x"}\n' % sent.encode())
            self.agent.asked("_x")
            line = b'{"jsonrpc":"2.0","id":%s,"result":{}}\n' % answered.encode()
            self.agent.write(line)
            self.assertEqual(self.editor.line(), line)

    def test_an_agent_that_asks_and_does_not_read(self):
        """Its answers wait, without filling the memory, and none is lost."""
        asks = 150
        agent = r"""
import json, sys
def send(**message): sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n"); sys.stdout.flush()
def read(): return json.loads(sys.stdin.readline())
send(id=read()["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
send(id=read()["id"], result={"sessionId": "s"})
send(id="c", method="terminal/create", params={"sessionId": "s", "command": "seq", "args": ["200000"]})
terminal = read()["result"]["terminalId"]
send(id="w", method="terminal/wait_for_exit", params={"sessionId": "s", "terminalId": terminal})
read()
for i in range(ASKS): send(id=i, method="terminal/output", params={"sessionId": "s", "terminalId": terminal})
send(method="_asked")
open("gate").read()
whole = sum(len(read()["result"]["output"]) == 1 << 20 for i in range(ASKS))
send(method="_read", params={"whole": whole})
sys.stdin.read()
""".replace("ASKS", str(asks))
        os.mkfifo(self.work + "/gate")
        log = open(self.folder + "/stderr", "w")
        self.addCleanup(log.close)
        self.proxy = subprocess.Popen([TTYWARD, "acp", "--", sys.executable, "-c", agent], env=self.environment, cwd=self.work,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.addCleanup(self.end)

        def write(data):
            self.proxy.stdin.write(data)
            self.proxy.stdin.flush()
        self.editor = Side(write)
        threading.Thread(target=self.editor.pump, args=(self.proxy.stdout,), daemon=True).start()
        self.editor.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        self.editor.request("session/new", {"cwd": self.work, "mcpServers": []})
        self.editor.asked("_asked")
        with open(self.work + "/gate", "w") as f:
            f.write("\n")
        self.assertEqual(self.editor.asked("_read")["params"]["whole"], asks)
        with open(f"/proc/{self.proxy.pid}/status") as f:
            most = int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1)) >> 10
        if not os.environ.get("TTYWARD_SANITIZED"):
            self.assertLess(most, 120, "MiB")

    def test_a_flood_of_nonsense(self):
        self.begin()
        self.agent.write(b"nonsense\n" * 20_000)
        self.agent.write(b'{"jsonrpc":"2.0","id":77,"result":{}}\n' * 20_000)
        self.agent.notify("_end", {})
        self.editor.asked("_end")
        self.editor.write(b'{"jsonrpc":"2.0","id":77,"result":{}}\n' * 20_000)
        self.editor.notify("_end", {})
        self.agent.asked("_end")
        with open(self.home + "/state/acp.log") as f:
            self.assertLess(f.read().count("was dropped"), 40)


class Sessions(AcpTest):
    def sockets(self):
        """Connections of the proxy to the daemon."""
        folder = f"/proc/{self.proxy.pid}/fd"
        found = 0
        for name in os.listdir(folder):
            try:
                found += os.readlink(f"{folder}/{name}").startswith("socket:")
            except FileNotFoundError:
                pass
        return found

    def answer_of(self, method, **fields):
        """The editor's request and what the agent answers; what the editor gets."""
        number = self.editor.start(method, {"cwd": self.work, "mcpServers": [], **fields.pop("params")})
        asked = self.agent.asked(method)
        self.agent.send({"jsonrpc": "2.0", "id": asked["id"], **fields})
        return self.editor.answer(number)

    def test_a_session_that_is_closed_leaves_nothing(self):
        self.begin()
        self.terminal("wait_for_exit", self.create("true"))
        before = self.eventually(self.sockets)
        for method in ("session/close", "session/delete"):
            self.session("s2")
            terminal = self.create("sleep", "1000", session="s2")
            self.assertTrue(terminal)
            self.assertGreater(self.sockets(), before)
            self.answer_of(method, params={"sessionId": "s2"}, result={})
            self.eventually(lambda: self.sockets() == before)
            self.eventually(lambda: all(row["duration_ms"] is not None for row in self.history(task="s2")))
            self.assertEqual(self.terminal("output", terminal, "s2")["code"], -32002)
        # It can be opened again.
        self.answer_of("session/load", params={"sessionId": "s2"}, result={})
        self.terminal("wait_for_exit", self.create("true", session="s2"), "s2")

    def test_a_session_that_cannot_be_loaded_leaves_nothing(self):
        self.begin()
        self.terminal("wait_for_exit", self.create("true"))
        before = self.eventually(self.sockets)
        for method in ("session/load", "session/resume"):
            for i in range(3):
                answer = self.answer_of(method, params={"sessionId": f"gone-{i}"}, error={"code": -32002, "message": "no such session"})
                self.assertEqual(answer["error"]["code"], -32002)
        self.eventually(lambda: self.sockets() == before)
        # One that is open stays, also if it cannot be loaded again.
        self.answer_of("session/load", params={"sessionId": "s1"}, error={"code": -32603, "message": "busy"})
        self.terminal("wait_for_exit", self.create("true"))

    def test_two_loads_of_one_session(self):
        self.begin()
        numbers = [self.editor.start("session/load", {"cwd": self.work, "mcpServers": [], "sessionId": "s2"}) for _ in range(2)]
        first, second = (self.agent.asked("session/load")["id"] for _ in range(2))
        self.agent.send({"jsonrpc": "2.0", "id": first, "error": {"code": -32603, "message": "busy"}})
        self.agent.reply(second, {})
        for number in numbers:
            self.editor.answer(number)
        self.terminal("wait_for_exit", self.create("true", session="s2"), "s2")

    def test_the_editor_goes_after_it_closed_a_session(self):
        """What ran in it is ended all the same."""
        self.begin()
        self.create("sleep", "1000")
        number = self.editor.start("session/close", {"sessionId": "s1"})
        self.agent.reply(self.agent.asked("session/close")["id"], {})
        self.editor.answer(number)
        self.proxy.stdin.close()
        self.proxy.wait(timeout=PATIENCE)
        [row] = self.eventually(lambda: [r for r in self.history(task="s1") if r["duration_ms"] is not None])
        self.assertTrue(row["signal"], row)


class Ends(AcpTest):
    def test_the_editor_goes(self):
        self.begin()
        terminal = self.create("sleep", "1000")
        self.assertTrue(terminal)
        self.proxy.stdin.close()
        self.assertEqual(self.proxy.wait(timeout=PATIENCE), 0)
        [row] = self.eventually(lambda: [r for r in self.history(task="s1") if r["duration_ms"] is not None])
        self.assertTrue(row["signal"], row)

    def test_the_agent_goes_and_its_command_stays(self):
        self.begin()
        prompt = self.editor.start("session/prompt", {"sessionId": "s1", "prompt": []})
        self.agent.asked("session/prompt")
        os.mkfifo(self.work + "/gate")
        self.create("sh", "-c", "echo before; read line < gate; echo after")
        [terminal] = [t for t in self.json("ls")["terminals"] if t["task"] == "s1"]
        self.link.shutdown(socket.SHUT_RDWR)
        answer = self.editor.answer(prompt)
        self.assertEqual(answer["error"]["code"], -32603)
        self.assertIn("session/prompt", answer["error"]["message"])
        self.proxy.wait(timeout=PATIENCE)
        self.eventually(lambda: "before" in self.json("read", terminal["id"])["text"])
        with open(self.work + "/gate", "w") as f:
            f.write("\n")
        [row] = self.eventually(lambda: [r for r in self.history(task="s1") if r["duration_ms"] is not None])
        self.assertEqual(row["exit_code"], 0)

    def test_a_child_of_the_agent_does_not_stay(self):
        """Some agents start themselves again: ending the first process leaves the real one."""
        parent = "import subprocess, sys; p = subprocess.Popen([sys.executable, *sys.argv[1:]]); open('child', 'w').write(str(p.pid)); p.wait()"
        self.start(agent=[sys.executable, "-c", parent, os.path.join(HERE, "puppet.py")])
        self.initialize()
        with open(self.work + "/child") as f:
            child = int(f.read())
        prompt = self.editor.start("session/prompt", {"sessionId": "s1", "prompt": []})
        self.agent.asked("session/prompt")
        with open(f"/proc/{child}/stat") as f:
            os.kill(int(f.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
        self.assertIn("SIGKILL", self.editor.answer(prompt)["error"]["message"])
        self.assertEqual(self.proxy.wait(timeout=PATIENCE), 128 + signal.SIGKILL)
        self.eventually(lambda: not lives(child))

    def test_an_agent_that_does_not_end_is_ended(self):
        self.start(agent=[sys.executable, os.path.join(HERE, "puppet.py"), "--stay"])
        self.initialize()
        before = time.monotonic()
        self.proxy.stdin.close()
        self.assertEqual(self.proxy.wait(timeout=PATIENCE), 128 + signal.SIGKILL)
        self.assertGreater(time.monotonic() - before, 2)

    def test_the_proxy_is_killed_with_its_editor(self):
        """Nobody is left to tell the agent; it ends, and what it runs in ttyward stays."""
        self.begin()
        os.mkfifo(self.work + "/gate")
        self.create("sh", "-c", "echo before; read line < gate; echo after")
        [terminal] = [t for t in self.json("ls")["terminals"] if t["task"] == "s1"]
        self.proxy.kill()
        self.proxy.wait()
        self.agent.gone()
        self.eventually(lambda: "before" in self.json("read", terminal["id"])["text"])
        with open(self.work + "/gate", "w") as f:
            f.write("\n")
        [row] = self.eventually(lambda: [r for r in self.history(task="s1") if r["duration_ms"] is not None])
        self.assertEqual(row["exit_code"], 0)
        self.assertFalse(self.json("daemon", "status").get("agents"))

    def test_an_agent_that_cannot_be_started(self):
        done = self.ttyward("acp", "--", "/nowhere/agent")
        self.assertEqual(done.returncode, 127)
        self.assertIn("/nowhere/agent", done.stderr)

    def test_the_daemon_dies_and_calls_go_on(self):
        self.begin()
        os.mkfifo(self.work + "/gate")
        terminal = self.create("sh", "-c", "echo before; read line < gate; echo $line; exit 3")
        waiting = self.agent.start("terminal/wait_for_exit", {"sessionId": "s1", "terminalId": terminal})
        self.eventually(lambda: "before" in self.terminal("output", terminal)["output"])
        self.kill_daemon()
        with open(self.work + "/gate", "w") as f:
            f.write("after\n")
        self.assertEqual(self.agent.answer(waiting)["result"], {"exitCode": 3, "signal": None})
        self.assertEqual(self.terminal("output", terminal),
                         {"output": "before\nafter\n", "truncated": False, "exitStatus": {"exitCode": 3, "signal": None}})


if __name__ == "__main__":
    unittest.main()
