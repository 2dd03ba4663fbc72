"""A morning with an agent, from end to end: the agent behind the official MCP client, a person at a terminal, real
programs, and a daemon that is killed in the middle. Told once in each era of the protocol.

docs/story.md is what this prints, with ids, times, ports and folders made the same each time; the test fails if
it happens in another way than it is told there. `story_test.py --write` writes the page anew.
"""
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person as person_token  # noqa: E402
from processes import lives  # noqa: E402
from people import HERE, PATIENCE, TTYWARD, Agent, Person  # noqa: E402

PAGE = os.path.join(HERE, "../../docs/story.md")
SERVER = "python3 -m http.server 0 --bind 127.0.0.1"
SECRET = "correct horse battery"
RULES = f"""
[[rule]]
name = "the dev server"
decision = "allow"
command = "{SERVER}"

[[rule]]
name = "asking it"
decision = "allow"
regex = 'curl -s http://127\\.0\\.0\\.1:\\d+/[a-z.]*'

[[rule]]
name = "the tests"
decision = "allow"
command = "./test.sh"
"""
FILES = {
    "hello.txt": "hello from the shop\n",
    "test.sh": "#!/bin/bash\necho 'cart: passed'\ntouch begun\nuntil [ -e go-on ]; do sleep 0.02; done\n"
               "echo 'stock: failed'\nexit 1\n",
    # Knows the password only by its digest: the word itself must not be found anywhere afterwards.
    "deploy.sh": "#!/bin/bash\nread -rs -p 'Deploy password: ' word; echo\n"
                 "[ \"$(printf %s \"$word\" | sha256sum)\" = \"$(cat digest)\" ] || { echo refused; exit 1; }\n"
                 "echo 'deployed 3 files'\n",
}


class Page:
    """What is told, with everything that is different each time made the same."""

    def __init__(self, folder):
        self.folder = folder
        self.text = ""
        self.names = {}
        self.port = None

    def same(self, text):
        text = text.replace(self.folder + "/shop", "/home/ann/shop").replace(self.folder, "/home/ann")
        if self.port:
            text = re.sub(rf"\b{self.port}\b", "PORT", text)

        def name(found):
            kind = found.group(0)[0]
            known = self.names.setdefault(kind, [])
            if found.group(0) not in known:
                known.append(found.group(0))
            return f"{kind.upper()}{known.index(found.group(0)) + 1}"
        text = re.sub(r"\b[tca][a-z2-7]{12}\b", name, text)
        text = re.sub(r"(Exit code \d+) after (\d+\.)?\d+ (ms|s)", r"\1", text)  # told of what took long
        text = re.sub(r"\b(\d+\.)?\d+ (ms|s)\b", "N ms", text)
        text = re.sub(r"(--- (?:end|output)) [0-9a-f]+ ---", r"\1 N ---", text)
        text = re.sub(r"process group \d+", "process group N", text)
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "DATE TIME", text)
        return "".join(line.rstrip() + "\n" for line in text.splitlines())

    def say(self, text):
        self.text += "\n" + text.strip() + "\n"

    def show(self, *parts):
        self.text += "\n```\n" + "".join(self.same(part) for part in parts) + "```\n"


class Story:
    def __init__(self, test, era, folder):
        self.test = test
        self.folder = folder
        self.shop = folder + "/shop"
        self.page = Page(folder)
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "TTYWARD_HOME": folder + "/.ttyward",
                            "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "PS1": "$ "}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        os.makedirs(folder + "/.ttyward/config", mode=0o700)
        os.chmod(folder + "/.ttyward", 0o700)
        self.write(folder + "/.ttyward/config/rules.toml", RULES)
        self.environment[person_token.VARIABLE] = person_token.make_token(folder + "/.ttyward")
        os.mkdir(self.shop)
        for name, text in FILES.items():
            self.write(f"{self.shop}/{name}", text)
            if name.endswith(".sh"):
                os.chmod(f"{self.shop}/{name}", 0o755)
        self.write(self.shop + "/digest", hashlib.sha256(SECRET.encode()).hexdigest() + "  -\n")
        test.addCleanup(self.ttyward, "daemon", "stop", "--kill-terminals")
        self.agent = Agent(era, self.environment, self.shop)
        test.addCleanup(self.agent.close)

    @staticmethod
    def write(path, text):
        with open(path, "w") as f:
            f.write(text)

    def ttyward(self, *args):
        return subprocess.run([TTYWARD, *args], env=self.environment, cwd=self.shop, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)

    def eventually(self, holds):
        give_up = time.monotonic() + PATIENCE
        while not holds():
            self.test.assertLess(time.monotonic(), give_up)
            time.sleep(0.02)  # spares the processor; nothing depends on its length

    # --- what is told

    def asked(self, tool, arguments):
        return f"agent: {tool} {json.dumps(arguments)}\n"

    def told(self, result):
        return "".join(f"    {line}\n" for line in result["content"][0]["text"].splitlines())

    def calls(self, tool, **arguments):
        """The agent calls a tool, and reads the answer."""
        result = self.agent.answer(self.agent.start(tool, **arguments))
        self.page.show(self.asked(tool, arguments), self.told(result))
        return result["structuredContent"]

    def person(self, *args):
        person = Person(self.environment, self.shop, *args)
        self.test.addCleanup(person.kill)
        return person

    def seen(self, shown, *args):
        self.page.show(f"ann$ ttyward {' '.join(args)}\n", shown)

    # --- what happens

    def happens(self):
        self.a_server_is_started()
        self.a_terrible_idea_is_refused()
        self.a_person_allows_what_nobody_knows()
        self.a_person_types_the_password()
        self.the_daemon_is_killed()
        self.everything_is_still_there()

    def a_server_is_started(self):
        page, equal = self.page, self.test.assertEqual
        page.say("## The server\n\nThe agent opens a terminal, starts the development server there and waits until it listens, "
                 "instead of sleeping for a fixed time. Ann's rules allow this server.")
        self.web = self.calls("open_persistent_terminal", cwd=self.shop, name="web")["persistent_terminal_id"]
        started = self.agent.start("run_persistent_command", id=self.web, command=SERVER, wait_ms=600_000)
        waited = self.agent.answer(self.agent.start("wait_for", id=self.web, port=0))
        self.port = page.port = waited["structuredContent"]["port"]
        page.show(self.asked("run_persistent_command", {"id": self.web, "command": SERVER, "wait_ms": 600_000}),
                  self.asked("wait_for", {"id": self.web, "port": 0}), "    " + waited["content"][0]["text"].splitlines()[0] + "\n")
        self.server = started
        self.fetch()
        equal(waited["structuredContent"]["condition"], "port")

    def fetch(self):
        got = self.calls("run_command", command=f"curl -s http://127.0.0.1:{self.port}/hello.txt", cwd=self.shop)
        self.test.assertEqual((got["exit_code"], got["output"]), (0, FILES["hello.txt"]))

    def a_terrible_idea_is_refused(self):
        self.page.say("## A dangerous command\n\nSome commands are always refused, in whatever form they are written.")
        refused = self.calls("run_command", command="cd / && rm -rf \"$HOME\"", cwd=self.shop)
        self.test.assertEqual(refused["state"], "denied")
        self.test.assertTrue(os.path.exists(self.shop + "/hello.txt"))

    def a_person_allows_what_nobody_knows(self):
        page, equal = self.page, self.test.assertEqual
        page.say("## An unknown script\n\n`./deploy.sh` is neither known to be harmless nor refused, so Ann is asked. The agent is told so, "
                 "and waits.")
        self.work = self.calls("open_persistent_terminal", cwd=self.shop, name="work")["persistent_terminal_id"]
        pending = self.calls("run_persistent_command", id=self.work, command="./deploy.sh", wait_ms=200)
        equal(pending["state"], "pending_approval")
        waiting = self.agent.start("wait_for", id=pending["approval"])
        page.say("Ann has `ttyward approvals watch` open in her own terminal, and allows it with one key. "
                 "An agent cannot: its connection has no way to answer.")
        ann = self.person("approvals", "watch")
        ann.wait_for("q quit > ")
        ann.type("o")
        ann.wait_for(" allowed")
        self.seen(ann.end(signal.SIGINT), "approvals", "watch")
        self.asks = self.agent.answer(waiting)
        page.say("## A password\n\nThe script runs now and asks for a password. ttyward knows this because a process reads "
                 "the terminal while echo is off, not because a line ends with a colon.")
        page.show(self.asked("wait_for", {"id": pending["approval"]}), self.told(self.asks))

    def a_person_types_the_password(self):
        page, equal = self.page, self.test.assertEqual
        result = self.asks["structuredContent"]["result"]
        equal((result["state"], result["waiting"]["kind"]), ("awaiting_input", "password"))
        page.say("Ann types it. It is neither shown nor stored.")
        ann = self.person("send", "work", "--secret")
        ann.wait_for(":")
        ann.type(SECRET + "\r")
        shown = ann.end()
        equal(ann.process.returncode, 0, shown)
        self.seen(shown, "send", "work", "--secret")
        over = self.calls("wait_for", id=result["command_id"], exit=True)["result"]
        equal((over["exit_code"], over["output"].splitlines()[-1]), (0, "deployed 3 files"))

    def the_daemon_is_killed(self):
        page, equal = self.page, self.test.assertEqual
        page.say("## The daemon dies\n\nWhile the tests run, the daemon is killed with SIGKILL. The agent does not notice: its call "
                 "is answered with what really happened.")
        arguments = {"id": self.work, "command": "./test.sh"}
        running = self.agent.start("run_persistent_command", **arguments)
        self.eventually(lambda: os.path.exists(self.shop + "/begun"))
        pid = json.loads(self.ttyward("--json", "daemon", "status").stdout)["pid"]
        os.kill(pid, signal.SIGKILL)
        self.eventually(lambda: not lives(pid))
        self.write(self.shop + "/go-on", "")
        result = self.agent.answer(running)
        page.show(self.asked("run_persistent_command", arguments), "ann$ kill -KILL DAEMON\n", self.told(result))
        result = result["structuredContent"]
        equal((result["state"], result["exit_code"], result["output"]), ("exited", 1, "cart: passed\nstock: failed\n"))

    def everything_is_still_there(self):
        page, equal = self.page, self.test.assertEqual
        page.say("## Everything is still there\n\nBoth terminals are alive, and the server answers.")
        listed = self.calls("list_terminals")["terminals"]
        equal({t["name"]: t["state"] for t in listed}, {"web": "busy", "work": "idle"})
        self.fetch()
        page.say("The agent is done and closes its terminals. The call that started the server returns now.")
        self.calls("kill_persistent_terminal", id=self.web)
        served = self.agent.answer(self.server)["structuredContent"]
        self.test.assertIn(served["state"], ("signaled", "interrupted", "exited", "lost"), served)
        self.calls("kill_persistent_terminal", id=self.work)
        page.say("The history has what was run and what was decided about it. The password is nowhere.")
        rows = json.loads(self.ttyward("--json", "history").stdout)["commands"]
        happened = [(row["command"], row["state"], row["exit_code"]) for row in reversed(rows)]
        curl = f"curl -s http://127.0.0.1:{self.port}/hello.txt"
        equal([row for row in happened if row[0] != SERVER],
              [(curl, "exited", 0), ("cd / && rm -rf \"$HOME\"", "denied", None), ("./deploy.sh", "exited", 0),
               ("./test.sh", "exited", 1), (curl, "exited", 0)])
        equal(len(rows), 6)
        self.seen(self.ttyward("history").stdout, "history")
        self.seen(self.ttyward("history", "--decisions").stdout, "history", "--decisions")
        self.secret_is_nowhere()

    def secret_is_nowhere(self):
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as f:
                        self.test.assertNotIn(SECRET.encode(), f.read(), path)


HEAD = """# A morning with an agent

This is what happened when `tests/story/story_test.py` ran: an agent behind the official MCP client, a person called Ann at her
terminal, and real programs. Ids, times, ports and folders are replaced so that they are the same each time; nothing else is changed. The
test fails if something else happens. (`tests/story/story_test.py --write` writes this page.)
"""


def tell(test, era):
    folder = tempfile.mkdtemp(prefix="tw-story-")
    test.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    story = Story(test, era, os.path.realpath(folder))
    story.happens()
    return HEAD + story.page.text


class Told(unittest.TestCase):
    maxDiff = None

    def tell_as_written(self, era):
        with open(PAGE) as f:
            self.assertEqual(f.read(), tell(self, era))

    def test_2025_11_25(self):
        self.tell_as_written("2025-11-25")

    def test_2026_07_28(self):
        self.tell_as_written("2026-07-28")


class Write(unittest.TestCase):
    def test_write(self):
        text = tell(self, "2026-07-28")
        with open(PAGE, "w") as f:
            f.write(text)


if __name__ == "__main__":
    write = "--write" in sys.argv
    unittest.main(argv=sys.argv[:1] + (["Write"] if write else ["Told"]))
