"""An agent with nothing but MCP: it cannot answer its own question, nor use what is not its own. A marker file tells."""
import json
import os
import unittest

from peer import LEGACY, TTYWARD, HomeTest, Peer


class Gate(HomeTest):
    QUESTION = "touch ../marker"

    def marker(self):
        return os.path.exists(self.folder + "/marker")

    def asked(self, agent):
        made = agent.start_tool("run_command", {"command": self.QUESTION})
        self.eventually(lambda: self.questions())
        return made, self.questions()[0]["id"]

    def questions(self):
        done = self.ttyward("--json", "approvals", "list")
        return json.loads(done.stdout)["approvals"]

    def log(self):
        with open(self.home + "/state/daemon.log") as f:
            return f.read()

    def allow(self, *programs):
        with open(self.home + "/config/rules.toml", "w") as f:
            for program in programs:
                f.write(f'[[rule]]\nname = "{program}"\ndecision = "allow"\nprogram = "{program}"\nargs = ["..."]\n')
        os.chmod(self.home + "/config/rules.toml", 0o600)

    def test_a_persons_terminal_is_out_of_reach(self):
        mine = self.ttyward("open", "--name", "mine").stdout.strip()
        self.ttyward("exec", "mine", "echo private")
        agent = Peer(self)
        for tool, arguments in (("run_persistent_command", {"id": mine, "command": "echo hi"}),
                                ("run_persistent_command", {"id": "mine", "command": "echo hi"}),
                                ("send_input", {"id": mine, "text": "touch ../marker"}), ("send_input", {"id": mine, "keys": "C-c"}),
                                ("read_output", {"id": mine}), ("get_screen", {"id": mine}), ("interrupt_command", {"id": mine}),
                                ("kill_persistent_terminal", {"id": mine}), ("wait_for", {"id": mine, "prompt": True})):
            result = agent.tool(tool, **arguments)
            self.assertTrue(result.get("isError"), (tool, result))
            self.assertIn("belongs to a person", str(result["content"]), tool)
        self.assertNotIn(mine, str(agent.tool("list_terminals", all=True, new_output=True)))
        self.assertNotIn(mine, str(agent.request("resources/list")))
        self.assertIn("error", agent.request("resources/read", {"uri": f"ttyward://terminals/{mine}/screen"}))
        self.assertFalse(self.marker())
        self.assertEqual(self.ttyward("exec", "mine", "echo still here").stdout.strip(), "still here")
        # Lent, it is in reach.
        self.assertEqual(self.ttyward("lend", "mine").returncode, 0)
        self.assertFalse(agent.tool("run_persistent_command", id=mine, command="echo hi").get("isError"))
        self.assertIn(mine, str(agent.tool("list_terminals")))

    def test_a_person_sees_what_an_interpreter_is_given(self):
        agent = Peer(self)
        agent.start_tool("run_command", {"command": "python3 -", "stdin": "open('../marker', 'w') #\x1b[2K\n"})
        question = self.eventually(self.questions)[0]
        self.assertIn("open('../marker', 'w') #\\x1b[2K", question["shown"])
        self.assertIn("29 bytes, 1 line", question["shown"])
        self.assertIn("open('../marker', 'w') #\\x1b[2K", self.ttyward("approvals", "list").stdout)
        refused = agent.tool("run_command", command="bash", stdin="rm -rf / --no-preserve-root\n")
        self.assertTrue(refused.get("isError"), refused)
        self.assertIn("refused by policy", str(refused["content"]).lower())
        self.ttyward("approvals", "allow", question["id"])
        self.eventually(self.marker)

    def test_no_program_it_runs_answers(self):
        """Allowed to run anything by these names, with every claim and secret there is."""
        self.allow("bash", "python3", "script", "setsid")
        with open(self.path("answer.sh"), "w") as f:
            f.write(f"""
export TTYWARD_HOME={self.home} TTYWARD_PERSON_TOKEN_FILE={self.home}/state/person-token
unset TTYWARD_ROLE
{TTYWARD} approvals allow "$1"
script -qec "{TTYWARD} approvals allow $1" /dev/null
setsid -w {TTYWARD} approvals allow "$1"
(setsid -f {TTYWARD} approvals allow "$1" &)
env -u TTYWARD_PERSON_TOKEN_FILE {TTYWARD} approvals allow "$1"
{TTYWARD} person token
true
""")
        agent = Peer(self, "--session", "one")
        pending, question = self.asked(agent)
        done = agent.tool("run_command", command=f"bash answer.sh {question}")
        self.assertFalse(done.get("isError"), done)
        self.assertIn("not for agents", str(done["content"]))
        self.assertEqual([each["id"] for each in self.questions()], [question],
                         (self.ttyward("approvals", "list", "--all"), self.marker(), self.log()))
        # An adapter of its own that answers its own dialogue, with the session's own secret.
        other = self.path("adapter.py")
        with open(other, "w") as f:
            f.write(f"""
import json, subprocess
p = subprocess.Popen([{TTYWARD!r}, "mcp", "--session", "one"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                     env={{"TTYWARD_HOME": {self.home!r}, "HOME": {self.folder!r}, "PATH": "/usr/bin:/bin"}}, cwd={self.work!r})
def say(m): p.stdin.write(json.dumps(m) + "\\n"); p.stdin.flush()
say({{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {{"protocolVersion": "{LEGACY}",
     "capabilities": {{"elicitation": {{}}}}, "clientInfo": {{"name": "x", "version": "1"}}}}}})
p.stdout.readline()
say({{"jsonrpc": "2.0", "method": "notifications/initialized"}})
say({{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {{"name": "run_command", "arguments": {{"command": "{self.QUESTION}"}}}}}})
while True:
    m = json.loads(p.stdout.readline())
    if m.get("method") == "elicitation/create":
        say({{"jsonrpc": "2.0", "id": m["id"], "result": {{"action": "accept", "content": {{"decision": "allow_once"}}}}}})
    if m.get("id") == 2 and "result" in m:
        print(m["result"]["structuredContent"]["state"])
        break
p.kill()
""")
        done = agent.tool("run_command", command="python3 adapter.py")
        self.assertEqual(done["structuredContent"]["output"].strip(), "pending_approval", done)
        self.assertFalse(self.marker())
        # The person's yes counts.
        self.assertEqual(self.ttyward("approvals", "allow", question).returncode, 0)
        self.eventually(self.marker)
        agent.answer(pending)

    def test_the_mode_of_a_server_is_for_whoever_starts_it(self):
        self.allow("bash")
        agent = Peer(self, "--mode", "auto")
        done = agent.tool("run_command", command="echo 'echo $((6*7))' > made; sh made; rm made")["structuredContent"]
        self.assertEqual((done["state"], done["output"].strip()), ("exited", "42"), done)
        self.assertFalse(os.path.exists(self.path("made")))
        # An agent's program does not loosen anything.
        with open(self.path("looser.sh"), "w") as f:
            f.write(f"export TTYWARD_HOME={self.home}\n{TTYWARD} mcp --mode yolo </dev/null 2>&1\n")
        plain = Peer(self)
        done = plain.tool("run_command", command="bash looser.sh")["structuredContent"]
        self.assertNotEqual(done["exit_code"], 0, done)
        self.assertIn("--mode yolo", done["output"])

    def test_what_the_sandbox_made_fail_can_be_asked_for(self):
        with open(self.home + "/config/config.toml", "a") as f:
            f.write("confine = true\n")
        agent = Peer(self)
        write = f"python3 -c 'open(\"{self.folder}/outside/made\", \"w\")'"
        os.mkdir(self.folder + "/outside")
        failed = agent.tool("run_command", command=write)
        self.assertNotEqual(failed["structuredContent"]["exit_code"], 0, failed)
        self.assertIn("and a person is asked", failed["content"][0]["text"])
        number = agent.start_tool("run_command", {"command": write, "sandbox": "none"})
        self.eventually(lambda: self.questions())
        self.assertEqual(self.ttyward("approvals", "allow", self.questions()[0]["id"]).returncode, 0)
        agent.answer(number)
        self.assertTrue(os.path.exists(self.folder + "/outside/made"))

    def test_the_clients_dialogue_counts_where_it_is_trusted(self):
        for trusted in (True, False):
            if not trusted:
                with open(self.home + "/config/config.toml", "a") as f:
                    f.write("client_dialogue = false\n")
                self.ttyward("daemon", "stop", "--kill-terminals")
                os.unlink(self.folder + "/marker")
            agent = Peer(self, version=LEGACY, capabilities={"elicitation": {}})
            number = agent.start_tool("run_command", {"command": self.QUESTION})
            question = agent.asked("elicitation/create")
            agent.send({"jsonrpc": "2.0", "id": question["id"],
                        "result": {"action": "accept", "content": {"decision": "allow_once"}}})
            state = agent.answer(number)["result"]["structuredContent"]["state"]
            self.assertEqual((state, self.marker()), ("exited", True) if trusted else ("pending_approval", False))


if __name__ == "__main__":
    unittest.main()
