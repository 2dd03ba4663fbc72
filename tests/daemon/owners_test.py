"""Who may touch what: agents and persons on one daemon, each connection as the real daemon judges it."""
import os
import signal
import subprocess
import threading
import unittest

from daemon_client import PATIENCE, TTYWARD, CallFailed, Daemon, eventually, lives

SECRET = "the secret of this session"


class OwnersTest(unittest.TestCase):
    CONFIG = ""

    def setUp(self):
        self.daemon = Daemon(self.CONFIG)
        self.addCleanup(self.daemon.close)
        self.person = self.daemon.client
        self.work = self.daemon.folder + "/work"
        os.mkdir(self.work)

    def agent(self, session="alpha", secret=None, role="agent"):
        client = self.daemon.connect(role, session=session, secret=secret or SECRET + " " + (session or ""))
        self.addCleanup(client.close)
        return client

    def refused(self, code, client, call, /, **args):
        with self.assertRaises(CallFailed, msg=call) as failed:
            client.call(call, **args)
        self.assertEqual(failed.exception.code, code, (call, str(failed.exception)))
        return str(failed.exception)

    def open(self, client, **args):
        return client.call("open", cwd=self.work, **args)["terminal"]["id"]

    def in_work(self):
        return sorted(os.listdir(self.work))

    def restart(self, number=signal.SIGKILL):
        os.kill(self.daemon.pid, number)
        eventually(lambda: not lives(self.daemon.pid), "the daemon's end")
        subprocess.run([TTYWARD, "daemon", "run", "--detach"], env=self.daemon.environment, check=True,
                       stdin=subprocess.DEVNULL, timeout=PATIENCE)
        self.person.close()
        self.person = self.daemon.client = self.daemon.connect()
        self.daemon.pid = self.person.call("status")["pid"]

    def waiting(self, client, terminal, program):
        """Until that program asks for input."""
        def asks():
            now = client.call("wait", terminal=terminal, input=True, timeout_ms=1000)
            command = now["terminal"]["command"]
            return command and command["waiting"] and program in command["waiting"]["program"]
        eventually(asks, program + " asking")

    def decisions(self, action):
        return [row for row in self.person.call("decisions", limit=200)["decisions"] if row["action"] == action]


class Terminals(OwnersTest):
    def test_a_persons_terminal_is_not_an_agents(self):
        terminal = self.open(self.person, name="mine")
        self.person.call("exec", terminal=terminal, command="echo private")
        command = self.person.call("show", terminal=terminal)["commands"][-1]["command_id"]
        agent = self.agent()
        for name in (terminal, "mine", terminal[:6]):
            for call, args in (("input", {"text": "touch pwned\r"}), ("input", {"keys": "C-c"}), ("input", {"secret": "x"}),
                               ("interrupt", {}), ("signal", {"signal": "KILL"}), ("kill", {}), ("kill", {"force": True}),
                               ("resize", {"cols": 20, "rows": 5}), ("rename", {"name": "stolen"}),
                               ("assign", {"task": "stolen"}), ("associate", {"session": "alpha"}), ("read", {}), ("read", {"new": True}),
                               ("read", {"raw": {"offset": 0}}), ("screen", {}), ("show", {}), ("attach", {}),
                               ("wait", {"prompt": True}), ("subscribe", {}), ("exec", {"command": "true"}),
                               ("exec", {"command": "true", "sentinel": True})):
                self.refused("permission_denied", agent, call, terminal=name, **args)
        for call in ("interrupt", "kill", "result", "read", "wait"):
            self.refused("permission_denied", agent, call, command=command)
        self.refused("permission_denied", agent, "signal", command=command, signal="TERM")
        self.refused("permission_denied", agent, "lend", terminal=terminal)
        self.refused("already_exists", agent, "exec", terminal=self.open(agent), command="echo private", command_id=command)
        self.assertNotIn(terminal, [each["id"] for each in agent.call("list", all=True)["terminals"]])
        self.assertNotIn("private", str(agent.call("environment")))
        self.assertNotIn(terminal, str(agent.call("subscribe")["terminals"]))
        self.assertNotIn("private", str(agent.call("history")))
        now = self.person.call("show", terminal=terminal)["terminal"]
        self.assertEqual((now["name"], now["task"], now["cols"], now["state"]), ("mine", None, 80, "idle"))
        self.assertEqual(self.in_work(), [])
        self.assertEqual(self.person.call("exec", terminal=terminal, command="echo on")["exit_code"], 0)

    def test_each_session_has_its_own(self):
        alpha, beta = self.agent("alpha"), self.agent("beta")
        terminal = self.open(alpha)
        self.assertEqual(alpha.call("exec", terminal=terminal, command="echo hi")["output"].strip(), "hi")
        for call, args in (("input", {"text": "x"}), ("interrupt", {}), ("kill", {}), ("read", {}), ("screen", {}),
                           ("exec", {"command": "true"}), ("rename", {"name": "x"})):
            self.refused("permission_denied", beta, call, terminal=terminal, **args)
        self.assertEqual(beta.call("list")["terminals"], [])
        self.assertEqual([each["id"] for each in alpha.call("list")["terminals"]], [terminal])
        # The same session again, from another connection.
        self.assertEqual(self.agent("alpha").call("exec", terminal=terminal, command="echo again")["exit_code"], 0)
        # A person may do everything.
        self.assertEqual(self.person.call("exec", terminal=terminal, command="echo me")["exit_code"], 0)
        self.assertTrue(self.person.call("kill", terminal=terminal)["killed"])

    def test_events_are_for_those_who_may_see(self):
        alpha, beta = self.agent("alpha"), self.agent("beta")
        for client in (alpha, beta):
            client.call("subscribe")
        terminal = self.open(alpha)
        alpha.call("exec", terminal=terminal, command="echo hi")
        self.person.call("run", command="true")
        for client in (alpha, beta):
            client.call("list")  # whatever was told came before this answer
        self.assertTrue(any(terminal in str(message) for message in alpha.events))
        self.assertEqual(beta.events, [])

    def test_events_end_with_a_loan(self):
        terminal = self.open(self.person)
        agent = self.agent()
        self.person.call("lend", terminal=terminal)
        agent.call("subscribe", terminal=terminal, kinds=["output"])
        for word in ("one", "two"):  # so close that the event of the second is put off
            self.person.call("exec", terminal=terminal, command="echo " + word)
        self.person.call("lend", terminal=terminal, back=True)
        agent.call("list")
        before = len(agent.events)
        agent.call("run", command="sleep 0.4", cwd=self.work)  # longer than it would have been put off
        self.assertEqual(agent.events[before:], [])

    def test_a_session_is_claimed_with_its_secret_only(self):
        terminal = self.open(self.agent("alpha"))
        for secret in ("", "short", "another secret of somebody else"):
            with self.assertRaises(CallFailed) as failed:
                self.daemon.connect("agent", session="alpha", secret=secret)
            self.assertEqual(failed.exception.code, "permission_denied")
        stranger = self.daemon.connect("agent")
        self.addCleanup(stranger.close)
        self.refused("permission_denied", stranger, "exec", terminal=terminal, command="true")
        self.restart()
        with self.assertRaises(CallFailed):
            self.daemon.connect("agent", session="alpha", secret="another secret of somebody else")
        self.assertEqual(self.agent("alpha").call("exec", terminal=terminal, command="echo hi")["exit_code"], 0)
        with open(self.daemon.folder + "/tw/state/sessions") as f:
            self.assertNotIn(SECRET, f.read())

    def test_acquire_and_release_stay_in_the_family(self):
        mine = self.open(self.person, task="work")
        alpha, beta = self.agent("alpha"), self.agent("beta")
        theirs = alpha.call("acquire", cwd=self.work, task="work")["terminal"]["id"]
        self.assertNotEqual(theirs, mine)
        other = beta.call("acquire", cwd=self.work, task="work")["terminal"]["id"]
        self.assertNotIn(other, (mine, theirs))
        self.assertEqual([each["id"] for each in beta.call("release", task="work")["terminals"]], [other])
        self.assertEqual(self.person.call("show", terminal=mine)["terminal"]["task"], "work")
        self.assertEqual(beta.call("acquire", cwd=self.work, task="work")["terminal"]["id"], other)

    def test_questions_are_for_those_who_asked(self):
        alpha, beta = self.agent("alpha"), self.agent("beta")
        asks = alpha.call("run", command="rm made", cwd=self.work, yield_after_ms=1)
        self.assertEqual(asks["state"], "pending_approval")
        self.assertEqual(beta.call("approvals")["approvals"], [])
        self.refused("permission_denied", beta, "result", command=asks["command_id"])
        self.refused("permission_denied", beta, "wait", approval=asks["approval"])
        self.refused("permission_denied", beta, "wait", command=asks["command_id"])
        self.refused("permission_denied", alpha, "answer", approval=asks["approval"], decision="allow")
        self.assertEqual(len(alpha.call("approvals")["approvals"]), 1)
        self.assertEqual(self.in_work(), [])

    def test_a_viewer_in_doubt_sees_what_an_agent_sees(self):
        terminal = self.open(self.person)
        viewer = self.daemon.connect("viewer")
        self.addCleanup(viewer.close)
        self.assertEqual(viewer.welcome["role"], "viewer")
        self.refused("permission_denied", viewer, "screen", terminal=terminal)
        with open(self.daemon.environment["TTYWARD_PERSON_TOKEN_FILE"]) as f:
            certain = self.daemon.connect("viewer", token=f.read().strip())
        self.addCleanup(certain.close)
        self.assertEqual(certain.call("screen", terminal=terminal)["terminal"], terminal)


class Shared(OwnersTest):
    CONFIG = "[policy]\nshare_agent_terminals = true\n"

    def test_agents_may_share_but_not_with_persons(self):
        terminal = self.open(self.agent("alpha"))
        beta = self.agent("beta")
        self.assertEqual(beta.call("exec", terminal=terminal, command="echo hi")["exit_code"], 0)
        self.refused("permission_denied", beta, "read", terminal=self.open(self.person))


class Lending(OwnersTest):
    def test_for_reading(self):
        terminal = self.open(self.person)
        self.person.call("exec", terminal=terminal, command="echo shown")
        agent = self.agent()
        shown = self.person.call("lend", terminal=terminal, read_only=True)["terminal"]["lent"]
        self.assertEqual((shown["to"], shown["read_only"]), (None, True))
        self.assertIn("shown", agent.call("read", terminal=terminal)["text"])
        self.assertIn(terminal, [each["id"] for each in agent.call("list")["terminals"]])
        for call, args in (("exec", {"command": "true"}), ("input", {"text": "x"}), ("kill", {}), ("resize", {"cols": 9, "rows": 9})):
            self.assertIn("reading only", self.refused("permission_denied", agent, call, terminal=terminal, **args))
        self.person.call("lend", terminal=terminal, back=True)
        self.refused("permission_denied", agent, "read", terminal=terminal)

    def test_for_use_to_one_session_over_the_daemons_death_and_back(self):
        terminal = self.open(self.person)
        self.person.call("lend", terminal=terminal, to="alpha")
        self.refused("permission_denied", self.agent("beta"), "read", terminal=terminal)
        self.assertEqual(self.agent().call("exec", terminal=terminal, command="cd /; echo hi")["exit_code"], 0)
        asks = self.agent().call("exec", terminal=terminal, command="touch made", yield_after_ms=1)
        self.assertEqual(asks["state"], "pending_approval", "lent is not trusted")
        eventually(lambda: self.decisions("lend"), "the record")
        self.restart()
        lent = self.person.call("show", terminal=terminal)["terminal"]["lent"]
        self.assertEqual((lent["to"], lent["read_only"]), ("alpha", False))
        self.assertEqual(self.agent().call("exec", terminal=terminal, command="echo hi")["exit_code"], 0)
        self.refused("permission_denied", self.agent("beta"), "read", terminal=terminal)
        self.person.call("lend", terminal=terminal, back=True)
        self.refused("permission_denied", self.agent(), "exec", terminal=terminal, command="echo hi")
        self.assertEqual([row["command"].split(" terminal")[0] for row in reversed(self.decisions("lend"))], ["lend", "take back"])
        self.restart()
        self.refused("permission_denied", self.agent(), "exec", terminal=terminal, command="echo hi")

    def test_what_runs_in_a_lent_terminal_is_an_agents(self):
        terminal = self.open(self.person)
        with open(self.work + "/check.sh", "w") as f:
            f.write(f"TTYWARD_HOME={self.daemon.folder}/tw {TTYWARD} person check\n")
        check = "bash check.sh"
        before = self.person.call("exec", terminal=terminal, command=check)
        self.assertEqual((before["exit_code"], before["output"].strip()), (0, "a person"), before)
        self.person.call("lend", terminal=terminal)
        for _ in range(2):
            now = self.person.call("exec", terminal=terminal, command=check)
            self.assertEqual(now["exit_code"], 1)
            self.assertIn("which agents use", now["output"])
            self.person.call("lend", terminal=terminal, back=True)  # what they left running stays theirs
        self.restart()
        self.assertEqual(self.person.call("exec", terminal=terminal, command=check)["exit_code"], 1)
        other = self.open(self.person)
        self.assertEqual(self.person.call("exec", terminal=other, command=check)["exit_code"], 0)

    def test_agents_lend_nothing(self):
        agent = self.agent()
        self.refused("permission_denied", agent, "lend", terminal=self.open(agent))
        self.refused("permission_denied", agent, "person_token")


class Keyboard(OwnersTest):
    def test_a_person_keeps_it(self):
        agent = self.agent()
        terminal = self.open(agent, task="job")
        command = agent.call("exec", terminal=terminal, command="cat", yield_after_ms=1)["command_id"]
        self.waiting(agent, terminal, "cat")
        attached = self.person.call("attach", terminal=terminal)["subscription"]
        for call, args in (("kill", {}), ("kill", {"force": True}), ("interrupt", {}), ("signal", {"signal": "KILL", "to": "all"}),
                           ("resize", {"cols": 20, "rows": 5}), ("input", {"text": "x\r"}), ("input", {"keys": "C-c"}),
                           ("rename", {"name": "x"}), ("assign", {"task": ""})):
            self.assertIn("keyboard", self.refused("busy", agent, call, terminal=terminal, **args))
        for call in ("kill", "interrupt"):
            self.refused("busy", agent, call, command=command)
        self.assertEqual(agent.call("release", task="job")["terminals"], [])
        self.assertEqual(agent.call("screen", terminal=terminal)["cols"], 80)  # looking is no harm
        now = self.person.call("show", terminal=terminal)["terminal"]
        self.assertEqual((now["task"], now["cols"], now["running"]), ("job", 80, True))
        self.person.call("detach", subscription=attached)
        self.assertTrue(agent.call("interrupt", terminal=terminal)["interrupted"])
        self.assertTrue(agent.call("kill", terminal=terminal)["killed"])

    def test_a_cancelled_call_does_not_interrupt_under_a_persons_hands(self):
        agent = self.agent()
        terminal = self.open(agent)
        number = agent.start("exec", terminal=terminal, command="cat", on_cancel="interrupt", wait_for_input=True)
        self.waiting(agent, terminal, "cat")
        self.person.call("attach", terminal=terminal)
        agent.send({"cancel": number})
        self.assertEqual(self.refused_answer(agent, number), "cancelled")
        self.assertTrue(self.person.call("show", terminal=terminal)["terminal"]["running"])

    def refused_answer(self, client, number):
        with self.assertRaises(CallFailed) as failed:
            client.answer(number)
        return failed.exception.code


class Opening(OwnersTest):
    def test_shells_that_are_known_open(self):
        agent = self.agent()
        for shell in ("/bin/bash", "bash", "dash", "/bin/sh"):
            self.assertEqual(agent.call("open", cwd=self.work, shell=shell)["terminal"]["owner"], "agent", shell)
        opened = self.decisions("open")
        self.assertEqual(len(opened), 4)
        self.assertEqual({row["decision"] for row in opened}, {"allow"})
        self.assertTrue(all(row["terminal_id"] for row in opened))

    def test_anything_else_is_a_command(self):
        agent = self.agent()
        fake = self.daemon.folder + "/fake"
        os.mkdir(fake)
        for name in ("bash", "evil"):
            with open(f"{fake}/{name}", "w") as f:
                f.write(f"#!/bin/sh\ntouch {self.work}/pwned\nexec /bin/sh\n")
            os.chmod(f"{fake}/{name}", 0o755)
        for args in ({"shell": fake + "/evil"}, {"shell": fake + "/bash"}, {"shell": "python3"}, {"shell": "/usr/bin/tmux"},
                     {"shell": "vim"}):
            number = agent.start("open", cwd=self.work, **args)
            question = eventually(lambda: self.person.call("approvals")["approvals"], str(args))[0]
            self.assertIn(os.path.basename(args["shell"]), question["command"])
            self.person.call("answer", approval=question["id"], decision="deny")
            with self.assertRaises(CallFailed) as failed:
                agent.answer(number)
            self.assertEqual(failed.exception.code, "denied")
        # A name is found where the daemon finds it, not where the agent says.
        agent.call("open", cwd=self.work, shell="bash", env={"PATH": fake + ":/usr/bin:/bin"})
        self.assertEqual(self.in_work(), [])
        self.assertEqual(agent.call("list")["terminals"][0]["argv"][0][-9:], "/bin/bash")
        # Allowed, it opens.
        number = agent.start("open", cwd=self.work, shell=fake + "/evil")
        question = eventually(lambda: self.person.call("approvals")["approvals"])[0]
        self.person.call("answer", approval=question["id"], decision="allow")
        agent.answer(number)
        eventually(lambda: self.in_work() == ["pwned"], "the program that was allowed")

    def test_a_person_opens_what_they_like(self):
        self.open(self.person, shell="python3")

    def test_a_shell_may_have_arguments(self):
        with open(self.daemon.home + "/.bashrc", "w") as f:
            f.write("FROM_FILE=yes\n")
        for arguments, expected in (([], "yes"), (["--norc"], "no")):
            terminal = self.open(self.person, shell="bash", shell_args=arguments)
            result = self.person.call("exec", terminal=terminal, command="echo ${FROM_FILE:-no}; (exit 3)")
            self.assertEqual((result["exit_code"], result["output"]), (3, expected + "\n"), result)
        self.refused("invalid_argument", self.person, "open", cwd=self.work, shell_args=["--norc"])
        # An agent's may be commands: they are judged.
        agent = self.agent()
        number = agent.start("open", cwd=self.work, shell="bash", shell_args=["-c", "touch pwned"])
        question = eventually(lambda: self.person.call("approvals")["approvals"])[0]
        self.assertIn("touch pwned", question["command"])
        self.person.call("answer", approval=question["id"], decision="deny")
        with self.assertRaises(CallFailed) as failed:
            agent.answer(number)
        self.assertEqual(failed.exception.code, "denied")
        self.assertIn("shell_args", str(failed.exception))
        self.assertNotIn("/etc/shells", str(failed.exception))
        self.assertEqual(self.in_work(), [])


class Typing(OwnersTest):
    def setUp(self):
        super().setUp()
        for program in ("python3", "bash", "less", "dash", "vim"):
            rule = f'[[rule]]\nname = "{program}"\ndecision = "allow"\nprogram = "{program}"\nargs = ["..."]\n'
            self.person.call("rule_add", text=rule)
        self.one = self.agent()
        self.terminal = self.open(self.one)

    def begin(self, command, program):
        made = self.one.call("exec", terminal=self.terminal, command=command, yield_after_ms=1)
        self.assertIn(made["state"], ("running", "awaiting_input"), made)
        self.waiting(self.one, self.terminal, program)

    def at_prompt(self):
        came = self.one.call("wait", terminal=self.terminal, prompt=True)
        self.assertEqual(came["condition"], "prompt", came)

    def types(self, text):
        return self.one.call("input", terminal=self.terminal, text=text)

    def must_ask(self, text):
        answer = self.types(text)
        self.assertEqual(answer.get("state"), "pending_approval", (text, answer))
        self.assertEqual(self.in_work(), [])
        return answer["approval"]

    def test_an_interpreter_that_nobody_asked_about(self):
        self.begin("python3 -q", "python3")
        first = self.must_ask("open('pwned', 'w')\r")
        shown = next(each for each in self.person.call("approvals")["approvals"] if each["id"] == first)
        self.assertIn("python3", str(shown["verdict"]["reasons"]))
        self.person.call("answer", approval=first, decision="deny")
        second = self.must_ask("open('wanted', 'w').close()\r")
        self.person.call("answer", approval=second, decision="allow")
        eventually(lambda: self.in_work() == ["wanted"], "what was allowed")
        self.assertEqual(self.types("\x03")["bytes"], 1)

    def test_what_a_person_allowed_reaches_a_program_in_raw_mode_that_is_busy(self):
        """It does not read at the moment, but nobody else would get the keys."""
        gate = self.daemon.folder + "/gate"
        os.mkfifo(gate)
        program = self.daemon.folder + "/program.py"
        with open(program, "w") as f:
            f.write("import os,termios,tty\nbefore=termios.tcgetattr(0)\ntty.setraw(0)\nprint('drawing',flush=True)\n"
                    f"open('{gate}').read()\ntyped=b''\nwhile not typed.endswith(b'\\r'): typed+=os.read(0,9)\n"
                    "termios.tcsetattr(0,termios.TCSADRAIN,before)\nprint(typed.decode()[:-1]+'!')\n")
        made = self.one.call("exec", terminal=self.terminal, command="python3 " + program, yield_after_ms=1)
        self.assertEqual(made["state"], "running", made)
        eventually(lambda: "drawing" in self.one.call("screen", terminal=self.terminal)["content"], "the program")
        self.person.call("answer", approval=self.must_ask("hey\r"), decision="allow")
        with open(gate, "w"):
            pass
        eventually(lambda: "hey!" in self.one.call("screen", terminal=self.terminal)["content"], "what was typed")
        self.at_prompt()

    def test_a_person_who_takes_the_keyboard_meanwhile(self):
        self.begin("python3 -c 'input()'", "python3")
        holder = self.person.call("show", terminal=self.terminal)["terminal"]["holder_pid"]
        os.kill(holder, signal.SIGSTOP)  # the question who reads is open until it goes on
        try:
            number = self.one.start("input", terminal=self.terminal, text="y\r")
            self.one.call("status")
            self.person.call("attach", terminal=self.terminal)
        finally:
            os.kill(holder, signal.SIGCONT)
        with self.assertRaises(CallFailed) as failed:
            self.one.answer(number)
        self.assertEqual(failed.exception.code, "busy", str(failed.exception))

    def test_an_interpreter_that_a_person_allowed(self):
        os.unlink(self.daemon.folder + "/tw/config/rules.toml")
        number = self.one.start("exec", terminal=self.terminal, command="python3 -q", yield_after_ms=PATIENCE * 1000)
        question = eventually(lambda: self.person.call("approvals")["approvals"])[0]
        self.assertIn("accepts input later", str(question["verdict"]["reasons"]))
        self.person.call("answer", approval=question["id"], decision="allow")
        self.one.answer(number)
        self.waiting(self.one, self.terminal, "python3")
        self.assertGreater(self.types("open('made', 'w').close()\r")["bytes"], 0)
        eventually(lambda: self.in_work() == ["made"], "what was typed")

    def test_lines_for_a_nested_shell_are_commands(self):
        """A shell started inside is taken over: it is at its prompt, where nothing is typed and exec is judged."""
        for shell in ("bash --norc", "dash"):
            with self.subTest(shell=shell):
                self.terminal = self.open(self.one)
                self.one.call("exec", terminal=self.terminal, command=shell, yield_after_ms=1)
                came = self.one.call("wait", terminal=self.terminal, prompt=True, timeout_ms=40_000)
                self.assertEqual(came["condition"], "prompt", came)
                for text in ("touch pwned\r", "touch pw", "echo a\rtouch pwned\r", "\x1b[A\r"):
                    self.refused("permission_denied", self.one, "input", terminal=self.terminal, text=text)
                made = self.one.call("exec", terminal=self.terminal, command="touch pwned", yield_after_ms=500)
                self.assertEqual(made["state"], "pending_approval", made)
                self.person.call("answer", approval=made["approval"], decision="deny")
                made = self.one.call("exec", terminal=self.terminal, command="echo harmless-$((1+1))")
                self.assertEqual(made["output"], "harmless-2\n", made)
        self.assertEqual(self.in_work(), [])

    def test_a_pager_is_read_and_left(self):
        with open(self.work + "/text", "w") as f:
            f.write("".join(f"line {i}\n" for i in range(200)))
        self.begin("less text", "less")
        for keys in ("Space", "PageDown", "Up"):
            self.assertGreater(self.one.call("input", terminal=self.terminal, keys=keys)["bytes"], 0)
            self.waiting(self.one, self.terminal, "less")
        answer = self.types("!touch pwned\r")
        # Asked about; or typed to a pager that runs nothing, as agents' pagers are told to be (LESSSECURE).
        self.assertTrue(answer.get("state") == "pending_approval" or answer["bytes"] > 0, answer)
        self.waiting(self.one, self.terminal, "less")
        self.types("\r")
        self.waiting(self.one, self.terminal, "less")
        self.types("q")  # the help, which the h of touch asked for
        self.waiting(self.one, self.terminal, "less")
        self.types("q")
        self.at_prompt()
        self.assertEqual(self.in_work(), ["text"])

    def test_an_editor_asks(self):
        self.begin("vim -n -u NONE new", "vim")
        self.must_ask(":!touch pwned\r")
        self.types("\x1b:q!\r")
        self.at_prompt()
        self.assertEqual(self.in_work(), [])

    def test_ordinary_questions_are_answered(self):
        self.begin("bash -c 'read -p \"Name? \" x; echo \"<$x>\"'", "bash")
        self.assertGreater(self.types("Ada\r")["bytes"], 0)
        self.at_prompt()
        self.begin("python3 -c 'print(\"[\" + input(\"y/n \") + \"]\")'", "python3")
        self.assertGreater(self.types("y\r")["bytes"], 0)
        self.at_prompt()
        text = self.one.call("read", terminal=self.terminal)["text"]
        self.assertIn("<Ada>", text)
        self.assertIn("[y]", text)
        self.assertEqual(self.in_work(), [])

    def test_one_command_of_its_own_is_no_way_around(self):
        made = self.one.call("run", command="python3 -q", cwd=self.work, yield_after_ms=1)
        terminal = made["terminal_id"]
        self.waiting(self.one, terminal, "python3")
        answer = self.one.call("input", terminal=terminal, text="open('pwned', 'w')\r")
        self.assertEqual(answer.get("state"), "pending_approval")
        self.assertEqual(self.in_work(), [])
        self.assertTrue(self.one.call("kill", terminal=terminal)["killed"])

    def test_replies_given_ahead_are_no_way_around(self):
        made = self.one.call("exec", terminal=self.terminal, command="python3 -q",
                             replies=[{"when": ">>>", "text": "open('pwned', 'w')"}], replies_timeout_ms=20000)
        self.assertEqual(made["dialogue"]["end"], "failed", made)
        self.assertIn("runs its input as commands", made["dialogue"]["reason"])
        self.assertEqual(self.in_work(), [])

    def test_it_is_all_recorded(self):
        self.begin("bash -c 'read -p \"Name? \" x; read -s -p \"Password: \" y'", "bash")
        self.types("Ada\r")
        eventually(lambda: "Password" in self.one.call("screen", terminal=self.terminal)["content"], "the second question")
        self.waiting(self.one, self.terminal, "bash")
        self.types("swordfish\r")
        self.at_prompt()
        self.one.call("exec", terminal=self.terminal, command="sleep 60", yield_after_ms=1)
        self.one.call("interrupt", terminal=self.terminal)
        self.one.call("kill", terminal=self.terminal)
        self.person.call("status")
        self.assertEqual(len(self.decisions("open")), 1)
        typed = [row["command"] for row in self.decisions("type")]
        self.assertEqual(len(typed), 2)
        self.assertTrue(any("Ada" in each for each in typed), typed)
        self.assertNotIn("swordfish", str(typed))
        self.assertEqual(len(self.decisions("interrupt")), 1)
        self.assertEqual(len(self.decisions("kill")), 1)


class Persons(OwnersTest):
    def test_without_a_terminal_or_a_token_nobody_is_one(self):
        client = self.daemon.connect("person", token=None)
        self.addCleanup(client.close)
        self.assertEqual(client.welcome["role"], "agent")
        self.assertTrue(client.welcome["why"])
        self.refused("permission_denied", client, "stop")
        self.refused("permission_denied", client, "reload")
        with self.assertRaises(CallFailed):
            self.daemon.connect("person", token="0" * 64)

    def test_a_dialogue_answers_for_its_own_session_only(self):
        alpha, beta = self.agent("alpha"), self.agent("beta")
        mine = alpha.call("run", command="rm -f old; touch mine", cwd=self.work, yield_after_ms=1)
        theirs = beta.call("run", command="rm -f old; touch theirs", cwd=self.work, yield_after_ms=1)
        dialogue = self.agent("alpha", role="dialogue")
        self.assertEqual(dialogue.welcome["role"], "dialogue")
        self.refused("permission_denied", dialogue, "answer", approval=theirs["approval"], decision="allow")
        self.refused("permission_denied", dialogue, "answer", approval=mine["approval"], decision="allow", always="global")
        for call, args in (("run", {"command": "true"}), ("list", {}), ("approvals", {}), ("rule_remove", {"name": "x"}),
                           ("mode", {"set": "yolo"}), ("stop", {})):
            self.refused("permission_denied", dialogue, call, **args)
        dialogue.call("answer", approval=mine["approval"], decision="allow")
        eventually(lambda: self.in_work() == ["mine"], "what was allowed")

    def test_a_dialogue_needs_its_session(self):
        with self.assertRaises(CallFailed):
            self.agent("alpha"), self.agent("alpha", secret="another secret entirely", role="dialogue")
        nobody = self.daemon.connect("dialogue")
        self.addCleanup(nobody.close)
        self.assertEqual(nobody.welcome["role"], "agent")

    def test_what_an_agent_runs_is_its_own_session(self):
        """And nobody's dialogue, and never a person, whatever it says or brings."""
        rule = '[[rule]]\nname = "p"\ndecision = "allow"\nprogram = "python3"\nargs = ["..."]\n'
        self.person.call("rule_add", text=rule)
        token = self.daemon.environment["TTYWARD_PERSON_TOKEN_FILE"]
        script = self.work + "/hello.py"
        with open(script, "w") as f:
            f.write(f"""
import json, socket
def hello(**more):
    s = socket.socket(socket.AF_UNIX)
    s.connect({self.daemon.folder + "/tw/run/daemon.sock"!r})
    f = s.makefile("rwb")
    f.write(json.dumps({{"hello": {{"protocol": 1, "client": "evil", **more}}}}).encode() + b"\\n")
    f.flush()
    answer = json.loads(f.readline())
    f.write(json.dumps({{"id": 1, "call": "list", "args": {{}}}}).encode() + b"\\n")
    f.flush()
    return answer, json.loads(f.readline())
token = open({token!r}).read().strip()
for hello_ in (dict(role="person"), dict(role="person", token=token), dict(role="viewer", token=token), dict(role="agent"),
               dict(role="dialogue", session="alpha", secret={SECRET + " alpha"!r})):
    welcome, listed = hello(**hello_)
    print(welcome["welcome"]["role"], len(listed["ok"]["terminals"]))
""")
        self.open(self.person)
        alpha = self.agent("alpha")
        done = alpha.call("run", command=f"python3 {script}", cwd=self.work)
        self.assertEqual(done["output"].split("\n")[:5], ["agent 1", "agent 1", "viewer 1", "agent 1", "agent 1"], done)

    def test_scripts_that_make_a_terminal_are_no_persons(self):
        environment = {name: value for name, value in self.daemon.environment.items() if name != "TTYWARD_PERSON_TOKEN_FILE"}
        for command in (["script", "-qec", f"{TTYWARD} person check", "/dev/null"], ["setsid", "-w", TTYWARD, "person", "check"],
                        ["python3", "-c", f"import pty, sys; sys.exit(pty.spawn(['{TTYWARD}', 'person', 'check']) >> 8)"]):
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                  timeout=PATIENCE)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("agent, since", done.stdout)

    def test_the_token_never_reaches_a_terminal(self):
        for client in (self.person, self.agent()):
            result = client.call("exec", terminal=self.open(client), command="env", yield_after_ms=1)
            if result["state"] == "pending_approval":
                self.person.call("answer", approval=result["approval"], decision="allow")
            result = client.call("wait", command=result["command_id"], exit=True)["result"]
            self.assertIn("PATH=", result["output"], result)
            self.assertNotIn("TOKEN", result["output"])
            self.refused("invalid_argument", client, "open", cwd=self.work, env={"TTYWARD_PERSON_TOKEN_FILE": "/x"})


class AtTheMomentItBegins(OwnersTest):
    """What was decided holds for what the terminal was then; it is looked at again when the command begins."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.work + "/other")
        with open(self.work + "/note", "w") as f:
            f.write("harmless\n")
        with open(self.work + "/.env", "w") as f:
            f.write("KEY=sesame\n")
        os.symlink("../.env", self.work + "/other/note")
        os.mkfifo(self.work + "/until")
        self.one = self.agent()

    def release(self):
        with open(self.work + "/until", "w") as f:
            f.write("now\n")

    def exec(self, terminal, command, **args):
        return self.one.call("exec", terminal=terminal, command=command, yield_after_ms=PATIENCE * 1000, **args)

    def asked(self, terminal, command):
        number = self.one.start("exec", terminal=terminal, command=command, yield_after_ms=PATIENCE * 1000)
        return number, eventually(lambda: self.person.call("approvals")["approvals"], command)[0]["id"]

    def test_a_command_that_waits_for_its_turn_is_judged_where_it_begins(self):
        terminal = self.open(self.one)
        first = self.one.start("exec", terminal=terminal, command="cat until; cd other", yield_after_ms=PATIENCE * 1000)
        eventually(lambda: self.person.call("show", terminal=terminal)["terminal"]["state"] == "busy", "cat")
        second = self.one.start("exec", terminal=terminal, command="cat note", on_busy="wait", yield_after_ms=PATIENCE * 1000)
        self.release()
        self.assertEqual(self.one.answer(first)["exit_code"], 0)
        question = eventually(lambda: self.person.call("approvals")["approvals"], "a question")[0]
        self.assertEqual(question["cwd"], self.work + "/other")
        self.person.call("answer", approval=question["id"], decision="deny")
        self.assertEqual(self.one.answer(second)["state"], "denied")
        # The harmless neighbour.
        third = self.one.start("exec", terminal=terminal, command="cat ../until; cd ..", yield_after_ms=PATIENCE * 1000)
        eventually(lambda: self.person.call("show", terminal=terminal)["terminal"]["state"] == "busy", "cat")
        fourth = self.one.start("exec", terminal=terminal, command="cat note", on_busy="wait", yield_after_ms=PATIENCE * 1000)
        self.release()
        self.one.answer(third)
        # It was asked about when it was sent, in other/; it is what it was asked about or does not run.
        for question in self.person.call("approvals")["approvals"]:
            self.person.call("answer", approval=question["id"], decision="allow")
        self.assertNotIn("sesame", str(self.one.answer(fourth)))

    def test_a_yes_holds_for_the_folder_that_was_shown(self):
        terminal = self.open(self.one)
        number, question = self.asked(terminal, "touch made")
        other = self.agent()
        self.assertEqual(other.call("exec", terminal=terminal, command="cd other")["exit_code"], 0)
        self.person.call("answer", approval=question, decision="allow")
        answer = self.one.answer(number)
        self.assertEqual(answer["state"], "denied", answer)
        self.assertIn("different folder", answer["reason"])
        self.assertEqual(os.listdir(self.work + "/other"), ["note"])
        self.assertNotIn("made", self.in_work())
        number, question = self.asked(terminal, "touch made")
        self.person.call("answer", approval=question, decision="allow")
        self.assertEqual(self.one.answer(number)["exit_code"], 0)
        self.assertIn("made", os.listdir(self.work + "/other"))

    @unittest.skipUnless(os.path.exists("/bin/dash"), "needs dash")
    def test_a_shell_that_says_nothing_is_trusted_until_it_may_have_changed(self):
        terminal = self.open(self.one, shell="/bin/dash")
        for command in ("ls", "cd other", "x=5", "echo $x", "cd .."):
            self.assertEqual(self.exec(terminal, command)["state"], "exited", command)
        number, question = self.asked(terminal, "alias ls='touch pwned'")
        self.person.call("answer", approval=question, decision="allow")
        self.one.answer(number)
        number, question = self.asked(terminal, "ls")
        self.person.call("answer", approval=question, decision="deny")
        self.assertEqual(self.one.answer(number)["state"], "denied")
        self.assertNotIn("pwned", self.in_work())


if __name__ == "__main__":
    unittest.main()
