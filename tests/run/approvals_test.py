"""approvals, rules and history: a person's side of policy. The daemon is a script that speaks its protocol."""
import json
import os
import socket
import sqlite3
import subprocess
import threading
import time

from harness import PATIENCE, TTYWARD, Person, RunTest, eventually, main

RULE = '[[rule]]\nname = "always: npm"\ndecision = "allow"\nprogram = "npm install"\nargs = ["..."]\n'
WIDER = '[[rule]]\nname = "wider"\ndecision = "allow"\nprogram = "npm"\nargs = ["..."]\n'


def approval(id, command="npm install", state="open", always=(RULE,)):
    return {"id": id, "command": command, "shown": command, "cwd": "/p", "environment": [], "terminal_id": None,
            "task": None, "session": "s", "asked_by": "agent \x1b[2K", "created_at": "1970-01-01T00:00:00.000Z",
            "expires_at": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 60)), "default": "deny", "state": state, "answered_by": None,
            "answered_at": None, "reason": None, "always": list(always),
            "always_words": ["allows `npm install`"], "always_scope": "global", "wider": [WIDER],
            "wider_words": ["allows `npm` and more"],
            "verdict": {"decision": "ask", "risk": "medium", "effects": [], "rule": "built-in", "commands": [command],
                        "reasons": [{"text": "installs software", "begin": 0, "end": 3, "risk": "medium",
                                     "decision": "ask"}]}}


class Daemon:
    """Answers approvals, answer, subscribe and rules; keeps what it was told."""

    def __init__(self, home, approvals):
        os.makedirs(home + "/run", mode=0o700, exist_ok=True)
        os.chmod(home, 0o700)
        self.path = home + "/run/daemon.sock"
        self.approvals = {a["id"]: a for a in approvals}
        self.calls = []
        self.hellos = []
        self.streams = []
        self.peers = []
        self.subscribed = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        old = os.umask(0o077)
        self.listener.bind(self.path)
        os.umask(old)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()
        for peer in self.peers:
            peer.close()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
                self.peers.append(peer)
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        stream = peer.makefile("rwb", buffering=0)
        self.streams.append(stream)
        try:
            for line in stream:
                self.handle(stream, json.loads(line))
        except (OSError, ValueError):
            pass

    def send(self, stream, message):
        stream.write(json.dumps(message).encode() + b"\n")

    def handle(self, stream, message):
        if "hello" in message:
            self.hellos.append(message["hello"])
            self.send(stream, {"welcome": {"protocol": 1, "version": "0", "daemon": "d", "pid": os.getpid(),
                                           "role": message["hello"]["role"]}})
            return
        name, args, id = message["call"], message.get("args", {}), message["id"]
        self.calls.append((name, args))
        if name == "approvals":
            out = [a for a in self.approvals.values() if args.get("all") or a["state"] == "open"]
            self.send(stream, {"id": id, "ok": {"approvals": out}})
        elif name == "answer":
            a = self.approvals[args["approval"]]
            a["state"] = {"allow": "allowed", "deny": "denied", "skip": "skipped"}[args["decision"]]
            self.send(stream, {"id": id, "ok": {"approval": a}})
        elif name == "subscribe":
            self.send(stream, {"id": id, "ok": {"subscription": 1, "terminals": []}})
            self.subscribed.set()
        elif name == "rules":
            self.send(stream, {"id": id, "ok": {"rules": [{"name": "s1", "level": "session", "text": RULE,
                                                           "source": "session"}], "errors": []}})
        elif name == "rule_remove":
            self.send(stream, {"id": id, "ok": {"removed": 1}})
        else:
            self.send(stream, {"id": id, "error": {"code": "invalid_argument", "message": "no such call"}})

    def open(self, a):
        self.approvals[a["id"]] = a
        for stream in self.streams:
            try:
                self.send(stream, {"event": "approval_opened", "subscription": 1, "approval": a})
            except OSError:
                pass

    def close_one(self, id, state):
        """As if somebody else had answered."""
        self.approvals[id]["state"] = state
        for stream in self.streams:
            try:
                self.send(stream, {"event": "approval_closed", "subscription": 1, "approval": self.approvals[id]})
            except OSError:
                pass

    def answers(self):
        return [args for name, args in self.calls if name == "answer"]


class WithDaemon(RunTest):
    def setUp(self):
        super().setUp()
        self.environment.pop("TTYWARD_ROLE", None)
        os.makedirs(self.home, mode=0o700)
        self.daemon = Daemon(self.home, [approval("aaaa1"), approval("aaab2", "make deploy", always=())])
        self.addCleanup(self.daemon.close)

    def verb(self, *args, environment=None, input=b""):
        return subprocess.run([TTYWARD, *args], env=environment or self.environment, cwd=self.folder,
                              input=input, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE, start_new_session=True)

    def test_list_shows_everything_escaped(self):
        done = self.verb("approvals")
        self.assertEqual(done.returncode, 0, done)
        for text in (b"aaaa1 (open)", b"npm install", b"in /p", b"installs software", b"\\x1b[2K"):
            self.assertIn(text, done.stdout)
        self.assertNotIn(b"\x1b", done.stdout)
        self.assertEqual(self.daemon.hellos[0]["role"], "person")
        listed = json.loads(self.verb("--json", "approvals", "list", "--all").stdout)
        self.assertEqual([approval["id"] for approval in listed["approvals"]], ["aaaa1", "aaab2"])

    def test_answers_by_id_or_its_beginning(self):
        self.assertEqual(self.verb("approvals", "allow", "aaaa1").returncode, 0)
        self.assertEqual(self.verb("approvals", "deny", "aaab", "--reason", "not today").returncode, 0)
        self.assertEqual(self.daemon.answers(), [{"approval": "aaaa1", "decision": "allow"},
                                                 {"approval": "aaab2", "decision": "deny", "reason": "not today"}])
        self.assertEqual(self.verb("approvals", "skip", "aaaa1").returncode, 2)  # over already

    def test_an_ambiguous_beginning_answers_nothing(self):
        done = self.verb("approvals", "allow", "aaa")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"several questions begin", done.stderr)
        self.assertEqual(self.daemon.answers(), [])

    def test_an_agent_says_that_it_is_one(self):
        self.verb("approvals", "list", environment={**self.environment, "TTYWARD_ROLE": "agent"})
        self.assertEqual(self.daemon.hellos[-1]["role"], "agent")

    def test_always_shows_the_rules_and_wants_a_yes(self):
        done = self.verb("approvals", "always", "aaaa1", "--scope", "global")  # nobody to ask
        self.assertEqual(done.returncode, 125)
        self.assertEqual(self.daemon.answers(), [])
        person = Person(self, "approvals", "always", "aaaa1")
        person.wait_for("[y/N] ")
        self.assertIn(b'program = "npm install"', person.seen)
        self.assertIn(b"it allows `npm install`, with any further options and arguments, in any folder", person.seen)
        self.assertIn(b"One step wider (--wider)", person.seen)
        self.assertIn(b"it allows `npm` and more", person.seen)
        person.type("y\r")
        self.assertEqual(person.end(), 0, person.seen)
        self.assertEqual(self.daemon.answers(), [{"approval": "aaaa1", "decision": "allow", "always": "session"}])

    def test_always_wider_and_edited(self):
        person = Person(self, "approvals", "always", "aaaa1", "--wider", "--scope", "global")
        person.wait_for("[y/N] ")
        self.assertIn(b'name = "wider"', person.seen)
        self.assertNotIn(b"One step wider", person.seen)
        person.type("y\r")
        self.assertEqual(person.end(), 0, person.seen)
        self.assertEqual(self.daemon.answers()[-1],
                         {"approval": "aaaa1", "decision": "allow", "always": "global", "wider": True})
        self.environment["EDITOR"] = "sed -i s/install/ci/"
        self.daemon.open(approval("aaac3"))
        person = Person(self, "approvals", "always", "aaac3", "--edit")
        person.wait_for("[y/N] ")
        self.assertIn(b"it allows `npm ci`", person.seen)
        person.type("y\r")
        self.assertEqual(person.end(), 0, person.seen)
        self.assertIn('program = "npm ci"', self.daemon.answers()[-1]["rules"])

    def watch(self, **environment):
        self.environment |= environment
        return Person(self, "approvals", "watch", size=(120, 24))

    def test_watch_asks_about_each_as_it_comes_and_takes_single_keys(self):
        person = self.watch()
        person.wait_for("q quit > ")
        self.assertIn(b"npm install", person.seen)
        self.assertNotIn(b"  make deploy", person.seen)  # one at a time
        seen = len(person.seen)
        person.type("o")
        person.wait_for("q quit > ", since=seen)
        self.assertIn(b"make deploy", person.seen)
        seen = len(person.seen)
        person.type("d")
        person.wait_for("aaab2 denied", since=seen)
        self.daemon.open(approval("aaac3", "npm ci"))
        person.wait_for("q quit > ", since=seen)
        person.type("y")
        person.wait_for("aaac3 allowed", since=seen)
        self.assertEqual([a["decision"] for a in self.daemon.answers()], ["allow", "deny", "allow"])
        person.type("q")
        self.assertEqual(person.end(), 0)
        self.assertFalse(person.is_raw())

    def test_watch_denies_with_a_reason(self):
        person = self.watch()
        person.wait_for("q quit > ")
        person.type("r")
        person.wait_for("why not?")
        person.type("not on a Fridayx\x7f\r")
        person.wait_for("aaaa1 denied")
        self.assertEqual(self.daemon.answers(), [{"approval": "aaaa1", "decision": "deny", "reason": "not on a Friday"}])

    def test_watch_always_shows_the_rules_and_a_no_leaves_the_question_open(self):
        person = self.watch()
        person.wait_for("q quit > ")
        seen = len(person.seen)
        person.type("a")
        person.wait_for("[y/N] ", since=seen)
        self.assertIn(b'program = "npm install"', person.seen)
        seen = len(person.seen)
        person.type("n\r")
        person.wait_for("q quit > ", since=seen)
        self.assertEqual(self.daemon.answers(), [])
        seen = len(person.seen)
        person.type("s")
        person.wait_for("[y/N] ", since=seen)
        person.type("y\r")
        person.wait_for("aaaa1 allowed", since=seen)
        self.assertEqual(self.daemon.answers(), [{"approval": "aaaa1", "decision": "allow", "always": "session"}])

    def test_watch_drops_what_was_typed_before_the_question_and_ignores_slips(self):
        person = self.watch()
        person.wait_for("aaaa1")
        person.type("ooo")  # before the keys are offered
        person.wait_for("q quit > ")
        person.type("zx\r ")
        person.type("?")
        person.wait_for("run it once")
        self.assertEqual(self.daemon.answers(), [])
        person.type("\x03")
        self.assertEqual(person.end(), 0)
        self.assertEqual(self.daemon.answers(), [])

    def test_watch_takes_off_what_was_answered_elsewhere(self):
        person = self.watch()
        person.wait_for("q quit > ")
        seen = len(person.seen)
        self.daemon.close_one("aaaa1", "denied")
        person.wait_for("aaaa1 denied", since=seen)
        person.wait_for("make deploy", since=seen)
        person.wait_for("q quit > ", since=seen)
        seen = len(person.seen)
        person.type("l")  # nothing is answered, and it comes back with the next one
        person.wait_for("set aside", since=seen)
        self.daemon.open(approval("aaac3", "npm ci"))
        person.wait_for("npm ci", since=seen)
        person.wait_for("q quit > ", since=seen)
        seen = len(person.seen)
        person.type("k")
        person.wait_for("make deploy", since=seen)
        self.assertEqual([a["approval"] for a in self.daemon.answers()], ["aaac3"])

    def test_watch_rings_and_asks_the_terminal_for_a_notification(self):
        person = self.watch(TERM="xterm-256color", DBUS_SESSION_BUS_ADDRESS="", XDG_RUNTIME_DIR="")
        person.wait_for("q quit > ")
        self.assertIn(b"\a", person.seen)
        self.assertIn(b"\x1b]9;ttyward asks: npm install\x1b\\", person.seen)

    def test_notify_send_is_used_where_it_is(self):
        os.makedirs(self.folder + "/bin")
        with open(self.folder + "/bin/notify-send", "w") as f:
            f.write(f'#!/bin/sh\nprintf "%s\\n" "$@" > {self.folder}/told.new\nmv {self.folder}/told.new {self.folder}/told\n')
        os.chmod(self.folder + "/bin/notify-send", 0o755)
        self.daemon.approvals = {"aaaa1": approval("aaaa1", "deploy --password hunter2 <b>")}
        person = self.watch(PATH=self.folder + "/bin:" + os.environ["PATH"], DBUS_SESSION_BUS_ADDRESS="unix:path=/nowhere")
        person.wait_for("q quit > ")
        self.assertTrue(eventually(lambda: os.path.exists(self.folder + "/told")))
        with open(self.folder + "/told") as f:
            told = f.read()
        self.assertIn("deploy --password *** &lt;b&gt;", told)
        self.assertNotIn(b"\x1b]9;", person.seen)

    def test_quiet_where_the_configuration_says_so(self):
        person = self.watch(TTYWARD_NOTIFY_BELL="false", TTYWARD_NOTIFY_DESKTOP="false")
        person.wait_for("q quit > ")
        self.assertNotIn(b"\a", person.seen)
        self.assertNotIn(b"\x1b]", person.seen)

    def test_session_rules_come_from_the_daemon(self):
        done = self.verb("--json", "rules", "list", "--session", "s")
        self.assertEqual([r["name"] for r in json.loads(done.stdout)["rules"]], ["s1"])
        self.assertEqual(self.verb("rules", "remove", "s1", "--session", "s").returncode, 0)
        self.assertIn(("rule_remove", {"name": "s1", "scope": "session", "session": "s"}), self.daemon.calls)


class WithoutDaemon(RunTest):
    def setUp(self):
        super().setUp()
        self.environment.pop("TTYWARD_ROLE", None)
        os.makedirs(self.home + "/config", mode=0o700)
        os.chmod(self.home, 0o700)
        self.file = self.home + "/config/rules.toml"

    verb = WithDaemon.verb

    def rules(self, text, path=None):
        with open(path or self.file, "w") as f:
            f.write(text)

    def test_without_a_daemon_nothing_waits(self):
        done = self.verb("approvals")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"no daemon is running", done.stderr)
        self.assertEqual(self.verb("approvals", "allow", "a").returncode, 125)

    def test_rules_of_files(self):
        self.assertEqual(self.verb("rules", "path").stdout.decode().strip(), self.file)
        self.assertEqual(self.verb("rules").returncode, 0)
        self.rules("# mine\n" + RULE)
        self.rules('[[rule]]\nname = "p"\ndecision = "deny"\nprogram = "ls"\n', self.folder + "/.ttyward.toml")
        listed = json.loads(self.verb("--json", "rules", "list").stdout)
        self.assertEqual([(r["name"], r["level"]) for r in listed["rules"]],
                         [("always: npm", "global"), ("p", "project")])
        agent = {**self.environment, "TTYWARD_ROLE": "agent"}
        self.assertEqual(self.verb("rules", "remove", "always: npm", environment=agent).returncode, 125)
        self.assertEqual(self.verb("rules", "remove", "always: npm").returncode, 0)
        self.assertEqual(self.verb("rules", "remove", "always: npm").returncode, 1)
        with open(self.file) as f:
            self.assertEqual(f.read(), "# mine\n")

    def test_rules_are_added_tested_explained_and_edited(self):
        done = self.verb("rules", "add", "--program", "make", "--args", "test '<words>'", "--folder", ".",
                         "--match", "make test", "--not-match", "make -f x", "--name", "tests", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"rule 'tests' allows `make test`, with any further plain words but no options, in {self.folder}",
                      done.stdout.decode())
        with open(self.file) as f:
            self.assertIn('args = ["test", "<words>"]', f.read())
        # Without a yes, or with an example that does not fit, nothing is stored.
        self.assertEqual(self.verb("rules", "add", "--program", "ls").returncode, 125)
        done = self.verb("rules", "add", "--program", "make", "--args", "x", "--match", "make y", "--yes")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"should match its example 'make y'", done.stderr)
        self.assertEqual(len(json.loads(self.verb("--json", "rules").stdout)["rules"]), 1)
        # From a text on standard input.
        text = b'[[rule]]\nname = "no date"\ndecision = "deny"\nprogram = "date"\n'
        done = self.verb("rules", "add", "--yes", input=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Which rule decides, and what would be without it.
        done = self.verb("rules", "test", "make test unit")
        self.assertIn(b"decided by: tests", done.stdout)
        self.assertIn(b"without rules: ask", done.stdout)
        tried = json.loads(self.verb("--json", "rules", "test", "make test -f x").stdout)
        self.assertEqual((tried["decision"], tried["without_rules"]["decision"]), ("ask", "ask"))
        self.assertIn("rule 'tests' does not cover it", tried["hints"][0])
        self.assertIn(b"decided by: no date", self.verb("rules", "test", "date").stdout)
        self.assertIn(b"no rule decides", self.verb("rules", "test", "ls").stdout)
        self.assertEqual(json.loads(self.verb("--json", "check", "make test a").stdout)["rule"], "tests")
        # In words.
        done = self.verb("rules", "explain", "tests")
        self.assertIn(b"other options and arguments", done.stdout)
        self.assertIn(b"other folders", done.stdout)
        self.assertEqual(self.verb("rules", "explain", "nothing").returncode, 1)
        # In an editor.
        self.environment["EDITOR"] = "sed -i s/date/uname/"
        self.assertEqual(self.verb("rules", "edit", "no date", "--yes").returncode, 0)
        self.assertEqual(json.loads(self.verb("--json", "check", "uname").stdout)["decision"], "deny")
        self.environment["EDITOR"] = "sed -i s/deny/perhaps/"
        done = self.verb("rules", "edit", "no uname", "--yes")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"the rule:3:", done.stderr)
        agent = {**self.environment, "TTYWARD_ROLE": "agent"}
        for words in (["add", "--program", "ls", "--yes"], ["edit", "tests"], ["confirm"]):
            self.assertEqual(self.verb("rules", *words, environment=agent).returncode, 125)

    def test_settings_mean_the_same_in_check_and_run(self):
        def decided(command):
            checked = json.loads(self.verb("--json", "check", command).stdout)["decision"]
            ran = self.verb("run", "--as-agent", command).returncode
            self.assertEqual(checked == "allow", ran != 126, command)
            return checked
        config = self.home + "/config/config.toml"
        self.assertEqual(decided("rm made"), "ask")
        self.rules('[policy]\nconfirm_dangerous_commands = false\n', config)
        self.assertEqual(decided("touch made"), "allow")
        self.assertEqual(decided("curl -s http://127.0.0.1:1/ | sh"), "ask")
        self.assertEqual(decided("rm -rf x ("), "ask")
        self.rules('[policy]\nauto_approve_safe_commands = false\n', config)
        self.assertEqual(decided("true"), "ask")
        self.rules('[policy]\nmode = "plan"\n', config)
        self.assertEqual(decided("touch made"), "deny")
        self.rules(f'[policy]\nallowed_roots = ["{self.home}"]\n', config)
        self.assertEqual(decided("true"), "deny")
        self.rules(f'[policy]\nallowed_roots = ["{self.folder}"]\n', config)
        self.assertEqual(decided("true"), "allow")

    def test_rule_files_are_checked_with_line_and_column(self):
        self.rules(RULE + 'match = ["npm install x"]\n')
        done = self.verb("rules", "check", self.file)
        self.assertEqual((done.returncode, done.stdout.decode()), (0, f"{self.file}: 1 rule, no errors\n"))
        self.rules(RULE + 'match = ["ls"]\n')
        done = self.verb("rules", "check", self.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"rules.toml:6:", done.stderr)
        self.rules('[[rule]]\nname = "bare"\ndecision = "allow"\nprogram = "make"\n')
        done = self.verb("rules", "check", self.file)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"rules.toml:1: rule 'bare' names no arguments", done.stderr)
        self.rules('[[rule]]\ndecision = "allow"\nprogram = "rm"\nup_to = "critical"\n')
        done = self.verb("rules", "check", self.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"rules.toml:4:9: a rule file cannot allow critical commands", done.stderr)
        project = self.folder + "/.ttyward.toml"
        self.rules(RULE, project)
        done = self.verb("rules", "check", project)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"can only ask or deny", done.stderr)
        self.assertEqual(self.verb("rules", "check", "nowhere").returncode, 2)

    def test_history_and_decisions(self):
        self.assertEqual(self.verb("history").stdout, b"nothing has been recorded yet\n")
        os.makedirs(self.home + "/state", mode=0o700, exist_ok=True)
        path = self.home + "/state/history.db"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        self.assertEqual(json.loads(self.verb("--json", "history").stdout), {"commands": []})
        now = int(time.time() * 1000)
        db = sqlite3.connect(path)
        for i, (command, code, cwd, at) in enumerate([("make", 0, "/p", now - 7200_000), ("make test", 2, "/p/x", now),
                                                      ("ls \x1b[2K", 0, "/q", now)]):
            db.execute("INSERT INTO commands VALUES (?,'t1','','','agent',?,?,NULL,'exited',?,NULL,'wait','pty','none',"
                       "?,5,'',0,0,0,0,'','')", (f"c{i}", command, cwd, code, at))
        db.execute("INSERT INTO decisions VALUES (1,'','d1',?,NULL,NULL,'run','agent','rm x','/p','deny','person','high','',"
                   "'no','ann',?)", (now, now))
        db.commit()
        db.close()

        def ids(*args):
            return [c["command_id"] for c in json.loads(self.verb("--json", "history", *args).stdout)["commands"]]
        self.assertEqual(sorted(ids()), ["c0", "c1", "c2"])
        self.assertEqual(ids("--failed"), ["c1"])
        self.assertEqual(sorted(ids("make")), ["c0", "c1"])
        self.assertEqual(ids("make", "--since", "1h"), ["c1"])
        self.assertEqual(sorted(ids("--cwd", "/p")), ["c0", "c1"])
        self.assertEqual(len(ids("--limit", "1")), 1)
        self.assertEqual(ids("--terminal", "t2"), [])
        shown = self.verb("history").stdout
        self.assertIn(b"exit 2", shown)
        self.assertIn(b"\\x1b[2K", shown)
        decisions = json.loads(self.verb("--json", "history", "--decisions").stdout)["decisions"]
        self.assertEqual([(d["decision"], d["answered_by"]) for d in decisions], [("deny", "ann")])
        self.assertIn(b"ann: no", self.verb("history", "--decisions").stdout)
        for wrong in (["--since", "yesterday"], ["--limit", "0"], ["--decisions", "--failed"]):
            self.assertEqual(self.verb("history", *wrong).returncode, 2, wrong)


if __name__ == "__main__":
    main()
