"""One decision, in the daemon: what policy allows, denies and asks; who may answer; and agents that lie."""
import os
import re
import sys
import threading
import unittest

from sides import HERE, PATIENCE, AcpTest

OPTIONS = [{"optionId": "always", "name": "Always", "kind": "allow_always"}, {"optionId": "once", "name": "Once", "kind": "allow_once"},
           {"optionId": "no", "name": "No", "kind": "reject_once"}, {"optionId": "never", "name": "Never", "kind": "reject_always"}]
ONCE = {"outcome": {"outcome": "selected", "optionId": "once"}}
NO = {"outcome": {"outcome": "selected", "optionId": "no"}}
ASKS = "touch ../marker"  # outside the work folder
DENIED = "rm -rf /"


class Permission(AcpTest):
    def ask(self, command=None, options=None, number=None, **call):
        if command is not None:
            call["rawInput"] = {"command": command}
        return self.agent.start("session/request_permission",
                                {"sessionId": "s1", "toolCall": {"toolCallId": "call", "title": "Bash", "kind": "execute", **call},
                                 "options": options or OPTIONS}, number)

    def decided(self, *args, **more):
        return self.agent.answer(self.ask(*args, **more))["result"]

    def marker(self):
        return os.path.exists(self.folder + "/marker")

    def nothing_for_the_editor(self):
        self.agent.notify("_end", {})
        self.assertEqual(self.editor.asked("_end")["method"], "_end")
        self.assertFalse([m for m in self.editor.kept if m.get("method") == "session/request_permission"])

    def test_policy_allows_once(self):
        self.begin()
        self.assertEqual(self.decided("echo hi"), ONCE)
        self.assertEqual(self.decided(rawInput={"command": ["bash", "-c", "ls -la"]}), ONCE)
        self.nothing_for_the_editor()

    def test_policy_denies(self):
        self.begin()
        self.assertEqual(self.decided(DENIED), NO)
        self.assertEqual(self.decided(DENIED, options=OPTIONS[:2]), {"outcome": {"outcome": "cancelled"}})
        self.assertEqual(self.decided(DENIED, options=[OPTIONS[0], OPTIONS[3]])["outcome"]["optionId"], "never")
        self.nothing_for_the_editor()
        self.assertIn("deny", [row["decision"] for row in self.json("history", "--decisions")["decisions"]])

    def test_the_editor_answers_first(self):
        self.begin()
        for option, decision in (("once", "allowed"), ("no", "denied"), ("always", "allowed")):
            number = self.ask(ASKS)
            asked = self.editor.asked("session/request_permission")
            self.assertEqual(asked["params"]["options"], OPTIONS)
            self.assertEqual(asked["params"]["toolCall"]["rawInput"], {"command": ASKS})
            question = self.question()
            self.assertEqual((question["command"], question["task"]), (ASKS, "s1"))
            self.editor.reply(asked["id"], {"outcome": {"outcome": "selected", "optionId": option}})
            self.assertEqual(self.agent.answer(number)["result"], {"outcome": {"outcome": "selected", "optionId": option}})
            [closed] = [a for a in self.json("approvals", "list", "--all")["approvals"] if a["id"] == question["id"]]
            self.assertEqual((closed["state"], closed["answered_by"]), (decision, "ttyward acp (editor)"))

    def test_a_person_answers_elsewhere_first(self):
        self.begin()
        for word, wanted in (("allow", ONCE), ("deny", NO)):
            number = self.ask(ASKS)
            asked = self.editor.asked("session/request_permission")
            self.ttyward("approvals", word, self.question()["id"])
            self.assertEqual(self.agent.answer(number)["result"], wanted)
            self.assertEqual(self.editor.asked("$/cancel_request")["params"]["requestId"], asked["id"])
            # Too late: it reaches nobody.
            self.editor.reply(asked["id"], {"outcome": {"outcome": "selected", "optionId": "always"}})
        self.agent.notify("_end", {})
        self.editor.asked("_end")
        self.assertFalse([m for m in self.agent.kept if "result" in m])

    def test_never_the_first_allow(self):
        self.begin()
        always = [OPTIONS[0], OPTIONS[2]]
        number = self.ask("echo hi", options=always)
        asked = self.editor.asked("session/request_permission")  # nobody but a person says "always"
        self.editor.reply(asked["id"], {"outcome": {"outcome": "selected", "optionId": "always"}})
        self.assertEqual(self.agent.answer(number)["result"]["outcome"]["optionId"], "always")
        two = [{"optionId": "switch_mode", "name": "Once, and switch", "kind": "allow_once"},
               {"optionId": "proceed_once", "name": "Once", "kind": "allow_once"}]
        self.assertEqual(self.decided("echo hi", options=two)["outcome"]["optionId"], "proceed_once")
        unknown = [{"optionId": "a", "name": "A", "kind": "allow_once"}, {"optionId": "b", "name": "B", "kind": "allow_once"}]
        number = self.ask("echo hi", options=unknown)
        self.editor.reply(self.editor.asked("session/request_permission")["id"], {"outcome": {"outcome": "cancelled"}})
        self.assertEqual(self.agent.answer(number)["result"]["outcome"]["outcome"], "cancelled")

    def test_the_command_of_an_earlier_update(self):
        self.begin()
        self.update("call", what="tool_call", title="Bash", status="pending", rawInput={"command": DENIED})
        self.assertEqual(self.decided(), NO)

    def test_a_title_is_a_hint_and_no_more(self):
        self.begin()
        self.assertEqual(self.decided(title=DENIED, toolCallId="t1"), NO)
        number = self.ask(title="echo hi", toolCallId="t2")
        asked = self.editor.asked("session/request_permission")
        self.editor.reply(asked["id"], NO)
        self.assertEqual(self.agent.answer(number)["result"], NO)

    def test_what_is_no_command_is_the_editors(self):
        self.begin()
        number = self.ask(kind="edit", title="Edit file", toolCallId="e")
        asked = self.editor.asked("session/request_permission")
        self.assertEqual(self.questions(), [])
        self.editor.reply(asked["id"], ONCE)
        self.assertEqual(self.agent.answer(number)["result"], ONCE)

    def test_asked_before_a_terminal_is_created(self):
        self.begin()
        for answer, ran in (("reject_once", False), ("allow_once", True)):
            number = self.agent.start("terminal/create", {"sessionId": "s1", "command": "touch", "args": ["../marker"]})
            asked = self.editor.asked("session/request_permission")
            self.assertIn("touch ../marker", asked["params"]["toolCall"]["title"])
            self.assertEqual([o["kind"] for o in asked["params"]["options"]], ["allow_once", "reject_once"])
            self.editor.reply(asked["id"], {"outcome": {"outcome": "selected", "optionId": answer}})
            made = self.agent.answer(number)
            if ran:
                self.terminal("wait_for_exit", made["result"]["terminalId"])
            else:
                self.assertEqual(made["error"]["code"], -32603)
                self.assertEqual(made["error"]["data"]["decision"], "denied")
            self.assertEqual(self.marker(), ran)

    def test_a_denied_terminal(self):
        self.begin()
        answer = self.agent.request("terminal/create", {"sessionId": "s1", "command": "bash", "args": ["-c", DENIED]})
        self.assertEqual((answer["error"]["code"], answer["error"]["data"]["decision"]), (-32603, "denied"))
        self.nothing_for_the_editor()

    def test_permission_for_one_command_and_another_created(self):
        self.begin()
        self.assertEqual(self.decided("echo hi"), ONCE)
        answer = self.agent.request("terminal/create", {"sessionId": "s1", "command": "bash", "args": ["-c", DENIED]})
        self.assertIn("error", answer)
        number = self.agent.start("terminal/create", {"sessionId": "s1", "command": "bash", "args": ["-c", ASKS]})
        asked = self.editor.asked("session/request_permission")
        self.assertIn(ASKS, asked["params"]["toolCall"]["title"])
        self.editor.reply(asked["id"], {"outcome": {"outcome": "selected", "optionId": "once"}})  # not one that was offered
        self.assertIn("error", self.agent.answer(number))
        self.assertFalse(self.marker())

    def test_an_answer_that_the_agent_forges(self):
        """It answers the question itself, by the id that the editor was asked with; and guesses others."""
        self.begin()
        number = self.ask(ASKS)
        asked = self.editor.asked("session/request_permission")
        self.agent.reply(asked["id"], ONCE)
        self.agent.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "once"}}})
        self.assertEqual(self.question()["state"], "open")
        self.editor.reply(asked["id"], NO)
        self.assertEqual(self.agent.answer(number)["result"], NO)

    def test_a_cancelled_turn(self):
        self.begin()
        permission = self.ask(ASKS)
        create = self.agent.start("terminal/create", {"sessionId": "s1", "command": "touch", "args": ["../marker"]})
        for _ in range(2):
            self.editor.asked("session/request_permission")
        self.editor.notify("session/cancel", {"sessionId": "s1"})
        self.assertEqual(self.agent.answer(permission)["result"], {"outcome": {"outcome": "cancelled"}})
        self.assertEqual(self.agent.answer(create)["error"]["code"], -32800)
        self.assertEqual(self.agent.asked("session/cancel")["params"], {"sessionId": "s1"})
        self.eventually(lambda: not self.questions())
        self.assertFalse(self.marker())

    def test_a_request_that_the_agent_withdraws(self):
        self.begin()
        for ask in (lambda: self.ask(ASKS),
                    lambda: self.agent.start("terminal/create", {"sessionId": "s1", "command": "touch", "args": ["../marker"]})):
            number = ask()
            asked = self.editor.asked("session/request_permission")
            self.agent.notify("$/cancel_request", {"requestId": number})
            self.assertEqual(self.agent.answer(number)["error"]["code"], -32800)
            self.assertEqual(self.editor.asked("$/cancel_request")["params"]["requestId"], asked["id"])
            self.eventually(lambda: not self.questions())

    def test_the_editor_goes_while_it_is_asked(self):
        self.begin()
        self.agent.start("terminal/create", {"sessionId": "s1", "command": "touch", "args": ["../marker"]})
        self.editor.asked("session/request_permission")
        self.proxy.stdin.close()
        self.proxy.wait(timeout=60)
        self.eventually(lambda: not self.questions())
        self.assertFalse(self.marker())

    def test_a_flood(self):
        """What an agent sends faster than the editor reads waits; nothing is lost, and the editor is not kept from being heard."""
        self.begin()
        text = "x" * 10_000
        count = 3000

        def flood():
            for i in range(count):
                self.agent.notify("_flood", {"i": i, "text": text})
        sender = threading.Thread(target=flood)
        sender.start()
        seen = 0
        while seen < count:
            message = self.editor.asked("_flood")
            self.assertEqual(message["params"]["i"], seen)
            seen += 1
        sender.join()
        numbers = [self.ask(ASKS, number=f"p{i}") for i in range(300)]
        # More than can be open at once: told so by the proxy, or rejected because the daemon has too many questions.
        for answer in map(self.agent.answer, numbers[256:]):
            self.assertTrue("error" in answer or answer["result"]["outcome"].get("optionId") not in ("always", "once"), answer)


class NoDialogue(AcpTest):
    CONFIG = '[policy]\nmode = "auto-edit"\nclient_dialogue = false\n'

    def test_answers_in_the_editor_do_not_count(self):
        self.begin()
        number = self.agent.start("terminal/create", {"sessionId": "s1", "command": "touch", "args": ["../marker"]})
        question = self.question()
        self.agent.notify("_end", {})
        self.editor.asked("_end")
        self.assertFalse([m for m in self.editor.kept if m.get("method") == "session/request_permission"])
        self.ttyward("approvals", "allow", question["id"])
        self.terminal("wait_for_exit", self.agent.answer(number)["result"]["terminalId"])
        self.assertTrue(os.path.exists(self.folder + "/marker"))


class Profiles(AcpTest):
    def status(self):
        self.ttyward("ls")  # the proxy starts the daemon at its own time
        return self.eventually(lambda: self.json("daemon", "status").get("agents"))

    def test_an_unknown_agent_is_not_governed(self):
        self.begin()
        [agent] = self.status()
        self.assertEqual((agent["name"], agent["shell"]), ("puppet", "not_governed"))
        with open(self.home + "/state/acp.log") as f:
            self.assertIn("its own shell is not governed", f.read())
        self.proxy.stdin.close()
        self.proxy.wait(timeout=60)
        self.eventually(lambda: not self.json("daemon", "status").get("agents"))

    def test_an_agent_whose_tools_are_switched_off(self):
        self.start("--profile", "claude")
        self.initialize(info={"name": "@agentclientprotocol/claude-agent-acp", "version": "0.99.1"})
        asked = self.session("s1", _meta={"claudeCode": {"options": {"disallowedTools": ["Web"], "model": "m"}}, "x": 1})
        self.assertEqual(asked["params"]["_meta"],
                         {"claudeCode": {"options": {"disallowedTools": ["Web", "Bash", "BashOutput", "KillShell"], "model": "m"}}, "x": 1})
        self.assertEqual(self.status()[0]["shell"], "mcp")
        # A permission for one of our tools is given: the daemon asks by itself, about what really runs.
        number = self.agent.start("session/request_permission", {
            "sessionId": "s1", "toolCall": {"toolCallId": "c", "title": f"mcp__{self.server}__run_command", "kind": "other",
                                            "rawInput": {"command": ASKS}}, "options": OPTIONS})
        self.assertEqual(self.agent.answer(number)["result"], ONCE)
        self.assertEqual(self.questions(), [])

    def test_a_command_that_begins_like_our_tool(self):
        """The title of a call may be its command line, and whoever talks to the model has a say in that."""
        cases = [("claude", "@agentclientprotocol/claude-agent-acp", "mcp__%s__run_command"),
                 ("opencode", "OpenCode", "%s_run_command"), ("codex", "@agentclientprotocol/codex-acp", "mcp.%s.run_command"),
                 ("qwen", "qwen-code", "mcp__%s__run_command")]
        for profile, name, pattern in cases:
            self.start("--profile", profile)
            self.initialize(info={"name": name, "version": "1"})
            self.session()
            tool = pattern % self.server
            for title in (tool + "; " + ASKS, tool + " " + ASKS, ASKS + " # " + tool, tool + "\n" + ASKS):
                number = self.agent.start("session/request_permission", {
                    "sessionId": "s1", "toolCall": {"toolCallId": "c-" + title, "title": title, "kind": "execute"}, "options": OPTIONS})
                asked = self.editor.asked("session/request_permission")
                self.editor.reply(asked["id"], NO)
                self.assertEqual(self.agent.answer(number)["result"], NO)
            number = self.agent.start("session/request_permission", {
                "sessionId": "s1", "toolCall": {"toolCallId": "d", "title": tool, "kind": "other"}, "options": OPTIONS})
            self.assertEqual(self.agent.answer(number)["result"], ONCE, profile)
            self.end()

    def test_our_tool_by_the_id_of_its_call(self):
        self.start("--profile", "gemini")
        self.initialize(info={"name": "gemini-cli", "version": "1"})
        self.session()
        call = {"title": ASKS, "kind": "other", "status": "pending"}
        number = self.agent.start("session/request_permission", {
            "sessionId": "s1", "toolCall": {"toolCallId": f"mcp_{self.server}_run_command__call_1", **call}, "options": OPTIONS})
        self.assertEqual(self.agent.answer(number)["result"], ONCE)
        for other in (f"run_shell_command__mcp_{self.server}_", "mcp_ttyward_run_command__call_1"):
            number = self.agent.start("session/request_permission", {
                "sessionId": "s1", "toolCall": {"toolCallId": other, **call}, "options": OPTIONS})
            self.editor.reply(self.editor.asked("session/request_permission")["id"], NO)
            self.assertEqual(self.agent.answer(number)["result"], NO)

    def test_another_server_that_calls_itself_ttyward(self):
        """A project's settings may name one so, and so may the editor: its tools are not ours."""
        self.start("--profile", "claude")
        self.initialize(info={"name": "@agentclientprotocol/claude-agent-acp", "version": "1"})
        self.session("s1")
        self.session("s2", mcpServers=[{"name": "ttyward", "command": "/bin/other", "args": [], "env": []}])
        ours = f"mcp__{self.server}__run_command"
        for session, title, wanted in (("s1", "mcp__ttyward__run_command", NO), ("s2", "mcp__ttyward__run_command", NO), ("s2", ours, NO), ("s1", ours, ONCE)):
            number = self.agent.start("session/request_permission", {
                "sessionId": session, "toolCall": {"toolCallId": session + title, "title": title, "kind": "other", "rawInput": {"command": "echo hi"}},
                "options": OPTIONS})
            if wanted == NO:
                self.editor.reply(self.editor.asked("session/request_permission")["id"], NO)
            self.assertEqual(self.agent.answer(number)["result"], wanted, (session, title))

    def test_our_tool_by_the_name_beside_its_title(self):
        self.start("--profile", "qwen")
        self.initialize(info={"name": "qwen-code", "version": "1"})
        self.session()
        call = {"toolCallId": "call_1", "title": '{"command":"%s"}' % ASKS, "kind": "other", "rawInput": {"command": ASKS}}
        number = self.agent.start("session/request_permission", {
            "sessionId": "s1", "toolCall": {**call, "_meta": {"toolName": f"mcp__{self.server}__run_command"}}, "options": OPTIONS})
        self.assertEqual(self.agent.answer(number)["result"], ONCE)

    def test_a_tool_of_another_server_is_not_ours_to_judge(self):
        """It may call an argument "command", too."""
        self.begin()
        number = self.agent.start("session/request_permission", {
            "sessionId": "s1", "toolCall": {"toolCallId": "c", "title": "cluster_exec", "kind": "other",
                                            "rawInput": {"command": "echo hi"}}, "options": OPTIONS})
        self.editor.reply(self.editor.asked("session/request_permission")["id"], NO)
        self.assertEqual(self.agent.answer(number)["result"], NO)

    def test_the_id_of_a_call_that_is_over(self):
        """Some agents take it from the model. What was known of the old call says nothing about the new one."""
        self.begin()
        self.update("c", what="tool_call", title="Bash", kind="execute", rawInput={"command": "echo hi"}, status="completed")
        self.update("c", what="tool_call", title="Bash", kind="execute", status="pending")
        number = self.agent.start("session/request_permission", {"sessionId": "s1", "toolCall": {"toolCallId": "c"}, "options": OPTIONS})
        self.editor.reply(self.editor.asked("session/request_permission")["id"], NO)
        self.assertEqual(self.agent.answer(number)["result"], NO)

    def test_a_shell_that_was_thought_to_be_off(self):
        self.start("--profile", "claude")
        self.initialize(info={"name": "@agentclientprotocol/claude-agent-acp", "version": "0.99.1"})
        self.session()
        self.assertEqual(self.status()[0]["shell"], "mcp")
        self.update("a", what="tool_call", title=f"mcp__{self.server}__run_command", kind="other", status="in_progress")
        self.update("b", what="tool_call", title="Edit", kind="edit", status="completed")
        self.editor.asked("session/update")
        self.assertEqual(self.status()[0]["shell"], "mcp")
        self.update("c", what="tool_call", title="Bash", kind="execute", status="in_progress", rawInput={"command": "ls"})
        self.eventually(lambda: [a["shell"] for a in self.status()] == ["not_governed"])
        self.assertIn("a shell of its own", self.status()[0]["note"])

    def test_a_variable_that_the_person_has_set(self):
        """What only helps is left as it is; where the switch itself is taken, the agent is not governed."""
        self.environment["INITIAL_AGENT_MODE"] = "read-only"
        puppet = [sys.executable, "-c", "import os, runpy, sys; print(os.environ['INITIAL_AGENT_MODE'], os.environ['CODEX_CONFIG'], "
                  "file=sys.stderr); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')", os.path.join(HERE, "puppet.py")]
        for config, shell in (("", "mcp"), ('{"model":"m"}', "not_governed")):
            if config:
                self.environment["CODEX_CONFIG"] = config
            self.start("--profile", "codex", agent=puppet)
            self.initialize(info={"name": "@agentclientprotocol/codex-acp", "version": "1"})
            self.eventually(lambda: [a["shell"] for a in self.status()] == [shell])
            self.log.seek(0)
            seen = self.log.read()
            self.assertIn("read-only " + (config or '{"features"'), seen)
            self.end()
            self.eventually(lambda: not self.json("daemon", "status").get("agents"))

    def test_a_file_that_an_option_names(self):
        """It is there while the agent runs. Where the option is taken, or the agent ignores it, the agent is not governed."""
        profile = self.folder + "/puppet.toml"
        with open(profile, "w") as f:
            f.write(f'names = ["puppet"]\nshell = "mcp"\nignored_where = ["{self.folder}/system/*.toml"]\n'
                    '[[argument_files]]\noption = "--rules"\nending = ".toml"\ntext = "no = \'{server}\'"\n')
        show = [sys.executable, "-c", "import os, runpy, sys; sys.argv = sys.argv[1:]; print('more:', *sys.argv[2:], file=sys.stderr, flush=True); "
                "runpy.run_path(sys.argv[0], run_name='__main__')", os.path.join(HERE, "puppet.py")]

        def run(*options, agent, shell):
            self.start("--profile", profile, *options, agent=agent)
            self.initialize()
            self.session()
            self.eventually(lambda: [a["shell"] for a in self.status()] == [shell])
            self.log.seek(0)
            return self.log.read()

        def end():
            self.proxy.stdin.close()
            self.proxy.wait(PATIENCE)
            self.eventually(lambda: not self.json("daemon", "status").get("agents"))

        option, file = re.search("^more: (.*)$", run(agent=show, shell="mcp"), re.M)[1].split(" ")
        self.assertEqual(option, "--rules")
        self.assertTrue(file.endswith(".toml"), file)
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        with open(file) as f:
            self.assertEqual(f.read(), f"no = '{self.server}'")
        end()
        self.assertFalse(os.path.exists(file))

        seen = run(agent=[*show[:2], show[2].replace("sys.argv[1:]", "sys.argv[2:]"), "--rules=mine", show[3]], shell="not_governed")
        self.assertIn("is not switched off: its command line already has --rules", seen)
        self.assertRegex(seen, "(?m)^more: *$")
        end()

        os.mkdir(self.folder + "/system")
        with open(self.folder + "/system/a.toml", "w"):
            pass
        seen = run(agent=show, shell="not_governed")
        self.assertIn(f"is not switched off: it takes its rules from {self.folder}/system/a.toml only", seen)
        self.assertRegex(seen, "(?m)^more: *$")
        end()

        os.rename(self.folder + "/system", self.folder + "/elsewhere")
        os.mkdir(self.folder + "/a,b", 0o700)
        self.environment["TTYWARD_HOME"] = self.folder + "/a,b"
        try:
            self.start("--profile", profile, agent=show)
        finally:
            self.environment["TTYWARD_HOME"] = self.home
        self.log.seek(0)
        seen = self.log.read()
        self.assertIn("has a comma", seen)
        self.assertRegex(seen, "(?m)^more: *$")

    def test_an_agent_that_uses_our_terminals(self):
        self.begin(info={"name": "Kimi Code CLI", "version": "2.1.0"})
        self.assertEqual(self.status()[0]["shell"], "terminals")
        number = self.agent.start("session/request_permission", {
            "sessionId": "s1", "toolCall": {"toolCallId": "c", "title": "Bash", "kind": "execute"}, "options": OPTIONS})
        self.assertEqual(self.agent.answer(number)["result"], ONCE)

    def test_questions_of_our_server_are_shown_in_the_editor(self):
        self.start()
        self.initialize()
        server = self.session()["params"]["mcpServers"][0]
        environment = {**self.environment, **{v["name"]: v["value"] for v in server["env"]}}
        environment.pop("TTYWARD_PERSON_TOKEN_FILE")
        import json
        import subprocess
        mcp = subprocess.Popen([server["command"], *server["args"]], env=environment, cwd=self.work, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        self.addCleanup(mcp.stdout.close)
        self.addCleanup(mcp.wait)
        self.addCleanup(mcp.stdin.close)

        def call(number, method, params):
            mcp.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
            mcp.stdin.flush()
        call(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        mcp.stdout.readline()
        call(2, "tools/call", {"name": "run_command", "arguments": {"command": ASKS, "cwd": self.work}})
        asked = self.editor.asked("session/request_permission")
        self.assertEqual(asked["params"]["sessionId"], "s1")
        self.assertIn("touch", asked["params"]["toolCall"]["title"])
        self.editor.reply(asked["id"], {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        self.eventually(lambda: os.path.exists(self.folder + "/marker"))
        while json.loads(mcp.stdout.readline()).get("id") != 2:
            pass
        # A question that is open when the session is closed is withdrawn from the editor.
        call(3, "tools/call", {"name": "run_command", "arguments": {"command": ASKS + "2", "cwd": self.work}})
        asked = self.editor.asked("session/request_permission")
        number = self.editor.start("session/close", {"sessionId": "s1"})
        self.agent.reply(self.agent.asked("session/close")["id"], {})
        self.editor.answer(number)
        self.assertEqual(self.editor.asked("$/cancel_request")["params"]["requestId"], asked["id"])


if __name__ == "__main__":
    unittest.main()
