"""terminal/* of an agent, served by the daemon: what runs, what is shown of it, and what ids mean."""
import json
import os
import shutil
import unittest

from sides import PATIENCE, AcpTest


class WithPython(AcpTest):
    """It may do anything."""

    def setUp(self):
        super().setUp()
        with open(self.home + "/config/rules.toml", "w") as f:
            f.write('[[rule]]\nname = "python"\ndecision = "allow"\nprogram = "python3"\nargs = ["..."]\n')
        os.chmod(self.home + "/config/rules.toml", 0o600)


class Terminals(WithPython):
    CONFIG = '[policy]\nmode = "auto-edit"\n[limits]\nterminals = 200\n'

    def run_to_end(self, command, *args, **more):
        terminal = self.create(command, *args, **more)
        status = self.terminal("wait_for_exit", terminal)
        return status, self.terminal("output", terminal)

    def test_the_whole_life(self):
        self.begin()
        terminal = self.create("/bin/bash", "-c", "cd '%s' && echo from-agent-$((40+2)); exit 3" % self.work,
                               env=[{"name": "NO_COLOR", "value": "1"}, {"name": "TERM", "value": "dumb"},
                                    {"name": "GIT_TERMINAL_PROMPT", "value": "0"}, {"name": "SHELL", "value": "/bin/bash"}],
                               cwd=self.work, outputByteLimit=4194304)
        exit_status = {"exitCode": 3, "signal": None}
        self.assertEqual(self.terminal("wait_for_exit", terminal), exit_status)
        self.assertEqual(self.terminal("wait_for_exit", terminal), exit_status)
        self.assertEqual(self.terminal("output", terminal),
                         {"output": "from-agent-42\n", "truncated": False, "exitStatus": exit_status})
        self.assertEqual(self.terminal("kill", terminal), {})
        self.assertEqual(self.terminal("release", terminal), {})
        for method in ("output", "wait_for_exit", "kill", "release"):
            self.assertEqual(self.terminal(method, terminal)["code"], -32002)
        [row] = self.eventually(lambda: [r for r in self.history(task="s1") if r["duration_ms"] is not None])
        self.assertEqual((row["exit_code"], row["owner"], row["known_by"]), (3, "agent", "wait"))
        # What was printed is there after the release.
        self.assertIn("from-agent-42", self.json("read", row["terminal_id"])["text"])

    def test_arguments_are_arguments(self):
        """No shell comes between: what would mean something there is text."""
        self.begin()
        words = ["a b", "$HOME", "`id`", "'", '"', "", "*", "\\", "é\n2", ";", "&&", "-n"]
        _, output = self.run_to_end("python3", "-c", "import sys, json; print(json.dumps(sys.argv[1:]))", *words)
        self.assertEqual(json.loads(output["output"]), words)

    def test_a_line_in_place_of_a_program(self):
        """Many agents put a whole line there."""
        self.begin()
        self.assertEqual(self.run_to_end("echo one; echo two | tr a-z A-Z; exit 4"),
                         ({"exitCode": 4, "signal": None},
                          {"output": "one\nTWO\n", "truncated": False, "exitStatus": {"exitCode": 4, "signal": None}}))
        program = self.work + "/a program"
        with open(program, "w") as f:
            f.write("#!/bin/sh\necho ran\n")
        os.chmod(program, 0o755)
        answer = self.agent.start("terminal/create", {"sessionId": "s1", "command": program})
        asked = self.editor.asked("session/request_permission")  # a script nobody knows
        self.editor.reply(asked["id"], {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        terminal = self.agent.answer(answer)["result"]["terminalId"]
        self.terminal("wait_for_exit", terminal)
        self.assertEqual(self.terminal("output", terminal)["output"], "ran\n")

    def test_a_program_that_is_not_there(self):
        """An error that names it, as other clients answer, and no terminal that ends with 127."""
        self.begin()
        for command, args in (("no-such-program", ["x"]), ("no-such-program", []), ("/nowhere/tool", []), ("./tool", ["a"])):
            answer = self.agent.request("terminal/create", {"sessionId": "s1", "command": command, "args": args})
            self.assertEqual(answer["error"]["code"], -32603, command)
            self.assertIn(command, answer["error"]["message"])
            self.assertEqual(answer["error"]["data"]["decision"], "failed_to_start")
        # A folder is no program, and a file must be executable.
        with open(self.work + "/notes", "w") as f:
            f.write("text")
        for command in ("./notes", self.work):
            self.assertIn("error", self.agent.request("terminal/create", {"sessionId": "s1", "command": command}), command)
        # A line stays a line, with the exit code of its shell; and so does what only a shell knows.
        self.assertEqual(self.run_to_end("exit 7")[0]["exitCode"], 7)
        self.assertEqual(self.run_to_end("exit")[0]["exitCode"], 0)
        self.assertEqual(self.run_to_end("pwd")[1]["output"], self.work + "\n")

    def test_folder_and_variables(self):
        self.begin()
        os.mkdir(self.work + "/inner")
        self.assertEqual(self.run_to_end("pwd", cwd=self.work + "/inner")[1]["output"], self.work + "/inner\n")
        self.assertEqual(self.run_to_end("pwd")[1]["output"], self.work + "\n")
        output = self.run_to_end("printenv", "NO_COLOR", env=[{"name": "NO_COLOR", "value": "1"}])[1]
        self.assertEqual(output["output"], "1\n")
        for wrong in ({"cwd": "inner"}, {"cwd": self.work + "/nowhere"}, {"env": [{"name": "A=B", "value": ""}]}, {"env": ["A=B"]},
                      {"args": [1]}, {"args": "x"}, {"command": ""}, {"command": "a\0b"}):
            answer = self.agent.request("terminal/create", {"sessionId": "s1", "command": "echo", "args": ["x"], **wrong})
            self.assertEqual(answer["error"]["code"], -32602, wrong)

    def test_a_signal(self):
        self.begin()
        terminal = self.create("sleep", "1000")
        first = self.agent.start("terminal/wait_for_exit", {"sessionId": "s1", "terminalId": terminal})
        second = self.agent.start("terminal/wait_for_exit", {"sessionId": "s1", "terminalId": terminal})
        self.assertNotIn("exitStatus", self.terminal("output", terminal))
        self.assertEqual(self.terminal("kill", terminal), {})
        for number in (first, second):
            status = self.agent.answer(number)["result"]
            self.assertIsNone(status["exitCode"])
            self.assertTrue(status["signal"].startswith("SIG"), status)
        self.assertEqual(self.terminal("output", terminal)["exitStatus"], status)

    def test_a_release_ends_what_runs(self):
        self.begin()
        terminal = self.create("sleep", "1000")
        waiting = self.agent.start("terminal/wait_for_exit", {"sessionId": "s1", "terminalId": terminal})
        self.assertEqual(self.terminal("release", terminal), {})
        self.assertTrue(self.agent.answer(waiting)["result"]["signal"])

    def test_ids_belong_to_their_session(self):
        self.begin()
        self.session("s2")
        terminal = self.create("echo", "secret")
        for session, code in (("s2", -32002), ("nobody", -32002)):
            self.assertEqual(self.terminal("output", terminal, session)["code"], code)
        self.assertEqual(self.terminal("output", "term_1")["code"], -32002)
        answer = self.agent.request("terminal/steal", {"sessionId": "s1", "terminalId": terminal})
        self.assertEqual(answer["error"]["code"], -32601)

    def test_output_only_grows(self):
        self.begin()
        os.mkfifo(self.work + "/gate")
        script = ("import sys\ngate = open('gate')\n"
                  "for line in gate:\n  sys.stdout.write(eval(line)); sys.stdout.flush()\n")
        terminal = self.create("python3", "-c", script)
        gate = open(self.work + "/gate", "w", buffering=1)
        seen = ""

        def poll():
            nonlocal seen
            output = self.terminal("output", terminal)["output"]
            self.assertTrue(output.startswith(seen), (seen, output))
            seen = output
            return output
        for text, wanted in (("'line 1\\r\\n'", "line 1\n"), ("'10%\\r20%\\r30%\\n'", "line 1\n30%\n"),
                             ("'\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07end\\n'", "line 1\n30%\nred end\n"),
                             ("'Password: '", "line 1\n30%\nred end\nPassword: "),
                             ("'\\rthe new line\\n'", "line 1\n30%\nred end\nPassword: \nthe new line\n")):
            gate.write(text + "\n")
            self.eventually(lambda: poll() == wanted)
        gate.close()
        self.terminal("wait_for_exit", terminal)
        self.assertEqual(poll(), wanted)

    def test_truncation_at_every_place_of_a_character(self):
        self.begin()
        for character in ("é", "€", "😀"):
            size = len(character.encode())
            for limit in range(0, 2 * size + 2):
                output = self.run_to_end("printf", character * 5, outputByteLimit=limit)[1]
                self.assertEqual(output["output"], character * min(5, limit // size), (character, limit))
                self.assertTrue(output["truncated"])
        self.assertEqual(self.run_to_end("printf", "12345", outputByteLimit=5)[1]["output"], "12345")
        self.assertFalse(self.run_to_end("printf", "12345", outputByteLimit=5)[1]["truncated"])
        self.assertEqual(self.run_to_end("true", outputByteLimit=0)[1]["truncated"], False)

    def test_much_output_and_a_small_limit(self):
        self.begin()
        output = self.run_to_end("seq", "3000000", outputByteLimit=1000)[1]
        self.assertTrue(output["truncated"])
        self.assertLessEqual(len(output["output"]), 1000)
        self.assertTrue(output["output"].endswith("2999999\n3000000\n"))

    def test_bytes_that_are_not_text(self):
        self.begin()
        output = self.run_to_end("printf", r"a\xff\xe2\x82b\n")[1]["output"]
        self.assertEqual(output, "a\ufffd\ufffdb\n")

    def test_a_hundred_at_once(self):
        self.begin()
        numbers = [self.agent.start("terminal/create", {"sessionId": "s1", "command": "sh", "args": ["-c", f"echo {i}; exit {i % 7}"]})
                   for i in range(100)]
        terminals = [self.agent.answer(number)["result"]["terminalId"] for number in numbers]
        self.assertEqual(len(set(terminals)), 100)
        waiting = [self.agent.start("terminal/wait_for_exit", {"sessionId": "s1", "terminalId": t}) for t in terminals]
        for i, number in enumerate(waiting):
            self.assertEqual(self.agent.answer(number)["result"], {"exitCode": i % 7, "signal": None})
        for i, terminal in enumerate(terminals):
            self.assertEqual(self.terminal("output", terminal)["output"], f"{i}\n")
            self.assertEqual(self.terminal("release", terminal), {})

    def test_a_withdrawn_wait_is_answered(self):
        self.begin()
        terminal = self.create("sleep", "1000")
        waiting = self.agent.start("terminal/wait_for_exit", {"sessionId": "s1", "terminalId": terminal})
        self.agent.notify("$/cancel_request", {"requestId": waiting})
        self.assertEqual(self.agent.answer(waiting)["error"]["code"], -32800)

    def test_a_withdrawn_wait_whose_id_is_written_differently(self):
        self.begin()
        terminal = self.create("sleep", "1000")
        for sent, cancelled in (("7e2", "700"), ('"a\\/b"', '"a/b"')):
            self.agent.write(('{"jsonrpc":"2.0","id":%s,"method":"terminal/wait_for_exit","params":{"sessionId":"s1","terminalId":"%s"}}\n'
                              % (sent, terminal)).encode())
            self.agent.write(('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}\n' % cancelled).encode())
            self.assertEqual(self.agent.answer(json.loads(sent))["error"]["code"], -32800)


class Confined(WithPython):
    def test_the_sandbox_of_the_proxy(self):
        self.start("--sandbox", "workspace")
        self.initialize()
        server = self.session()["params"]["mcpServers"][0]
        self.assertEqual(server["args"][3:], ["--sandbox", "workspace"])
        # The system's: one in a home folder is not visible inside.
        python = shutil.which("python3", path="/usr/bin:/bin")
        terminal = self.create(python, "-c", "open('inside', 'w'); open('../outside', 'w')")
        self.terminal("wait_for_exit", terminal)
        self.assertTrue(os.path.exists(self.work + "/inside"), self.terminal("output", terminal))
        self.assertFalse(os.path.exists(self.folder + "/outside"))

    def test_a_sandbox_that_does_not_exist(self):
        for verb in (["acp", "--sandbox", "wall", "--", "true"], ["agent", "--sandbox", "wall", "--command", "true", "x"], ["mcp", "--sandbox", "wall"]):
            done = self.ttyward(*verb)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("there is no sandbox 'wall'", done.stderr)


class Display(AcpTest):
    def shown(self, call):
        return self.editor.await_message(lambda m: m.get("method") == "session/update" and
                                         m["params"]["update"]["toolCallId"] == call)["params"]["update"]

    def test_in_an_editor_that_draws_from_meta(self):
        self.begin(abilities={**self.EDITOR, "_meta": {"terminal_output": True}})
        os.mkfifo(self.work + "/gate")
        terminal = self.create("sh", "-c", "printf 'caf\\303'; read x < gate; printf '\\251 \\033[1mbold\\033[0m\\n'; exit 2")
        content = [{"type": "terminal", "terminalId": terminal}]
        self.update("call", content=content, status="in_progress")
        first = self.shown("call")
        self.assertEqual(first["content"], content)
        self.assertEqual(first["_meta"]["terminal_info"], {"terminal_id": terminal, "cwd": self.work})
        with open(self.work + "/gate", "w") as f:
            f.write("\n")
        text = ""
        while "terminal_exit" not in (meta := self.shown("call")["_meta"]):
            self.assertEqual(meta["terminal_output"]["terminal_id"], terminal)
            text += meta["terminal_output"]["data"]
        self.assertEqual(text, "café \x1b[1mbold\x1b[0m\r\n")
        self.assertEqual(meta["terminal_exit"], {"terminal_id": terminal, "exit_code": 2, "signal": None})

    def test_in_an_editor_with_terminals(self):
        self.begin(abilities={**self.EDITOR, "terminal": True})
        number = self.agent.start("terminal/create", {"sessionId": "s1", "command": "sh", "args": ["-c", "echo shown; exit 1"]})
        viewer = self.editor.asked("terminal/create")
        self.assertEqual(viewer["params"]["args"][:2], ["attach", "--read-only"])
        # As an editor would run it.
        done = self.ttyward(*viewer["params"]["args"])
        self.assertIn("shown", done.stdout)
        self.editor.reply(viewer["id"], {"terminalId": "editor-1"})
        terminal = self.agent.answer(number)["result"]["terminalId"]
        self.update("call", content=[{"type": "terminal", "terminalId": terminal}, {"type": "content", "content": {"type": "text", "text": "x"}}])
        self.assertEqual(self.shown("call")["content"][0], {"type": "terminal", "terminalId": "editor-1"})
        waiting = self.editor.asked("terminal/wait_for_exit")
        self.assertEqual(waiting["params"], {"sessionId": "s1", "terminalId": "editor-1"})
        self.editor.reply(waiting["id"], {"exitCode": 0, "signal": None})
        self.assertEqual(self.editor.asked("terminal/release")["params"]["terminalId"], "editor-1")

    def test_in_an_editor_with_neither(self):
        self.begin()
        os.mkfifo(self.work + "/gate")
        terminal = self.create("sh", "-c", "echo one; read x < gate; echo two")
        self.update("call", content=[{"type": "terminal", "terminalId": terminal}], status="in_progress")

        def until(text):
            while True:
                [item] = self.shown("call")["content"]
                if item["content"]["text"] == text:
                    return
        until("```\none\n```")
        with open(self.work + "/gate", "w") as f:
            f.write("\n")
        until("```\none\ntwo\n```")
        self.terminal("release", terminal)
        self.update("call", content=[{"type": "terminal", "terminalId": terminal}], status="completed")
        until("```\none\ntwo\n```")  # it stays after the release

    def test_what_the_agent_tells_of_its_own(self):
        self.begin()
        self.update("call", what="tool_call", title="make", kind="execute", status="pending", rawInput={"command": "make -j4"},
                    content=[{"type": "terminal", "terminalId": "own"}], _meta={"terminal_info": {"terminal_id": "own", "cwd": self.work}})
        self.update("call", _meta={"terminal_output": {"terminal_id": "own", "data": "building\r\n"}})
        self.update("call", status="failed", _meta={"terminal_exit": {"terminal_id": "own", "exit_code": 2, "signal": None}})
        while not (content := self.shown("call").get("content")) or "building" not in content[0]["content"]["text"]:
            pass
        [row] = self.eventually(lambda: self.history(command="make -j4"))
        self.assertEqual((row["known_by"], row["exit_code"], row["cwd"], row["task"]), ("told", 2, self.work, "s1"))
        self.assertIn("told by the agent", row["reason"])

    def test_an_agent_that_tells_of_many(self):
        self.begin()
        for i in range(1100):
            self.update(f"c{i}", what="tool_call", title="make", kind="execute", status="pending", rawInput={"command": f"make {i}"},
                        _meta={"terminal_info": {"terminal_id": f"t{i}"}})
            self.update(f"c{i}", status="completed", _meta={"terminal_exit": {"terminal_id": f"t{i}", "exit_code": 0, "signal": None}})
        self.eventually(lambda: len(self.json("history", "--limit", "2000")["commands"]) == 1100)

    def test_an_agent_that_tells_of_ours(self):
        """What our terminals print, and how they end, only we say."""
        self.begin(abilities={"_meta": {"terminal_output": True}})
        terminal = self.create("sh", "-c", "exit 3")
        self.update("call", what="tool_call", title="t", kind="execute", status="in_progress", content=[{"type": "terminal", "terminalId": terminal}],
                    _meta={"terminal_output": {"terminal_id": terminal, "data": "forged"}})
        self.update("call", _meta={"terminal_exit": {"terminal_id": terminal, "exit_code": 0, "signal": None}, "other": 1})
        exits = []
        while 3 not in exits:
            meta = self.shown("call").get("_meta") or {}
            self.assertIsNone((meta.get("terminal_output") or {}).get("data"))
            if meta.get("terminal_exit"):
                exits.append(meta["terminal_exit"]["exit_code"])
        self.assertEqual(exits, [3])

    def test_output_that_would_end_its_frame(self):
        self.begin()
        terminal = self.create("printf", "a\\n````\\n# b\\n")
        self.update("call", what="tool_call", title="t", kind="execute", content=[{"type": "terminal", "terminalId": terminal}])
        while "# b" not in (text := self.shown("call")["content"][0]["content"]["text"]):
            pass
        self.assertEqual(text, "`````\na\n````\n# b\n`````")


if __name__ == "__main__":
    unittest.main()
