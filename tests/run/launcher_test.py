"""./ttyward as an MCP command before the first build. The tree is the launcher with a build that takes as long as the test says."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person  # noqa: E402

TTYWARD = os.environ["TTYWARD"]
LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "ttyward")
CMAKE = """#!/bin/sh
case "$*" in
  *--build*)
    echo '[1/4] compiling'
    until [ -e "$ROOT/go" ]; do [ -e "$ROOT" ] || exit 1; sleep 0.02; done
    [ "$(cat "$ROOT/go")" = fail ] && exit 1
    mkdir -p "$ROOT/build/release/bin"
    ln -sf "$PROGRAM" "$ROOT/build/release/bin/ttyward"
    ;;
esac
"""


class Launcher(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="ttyward-launcher-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        shutil.copy(LAUNCHER, self.root + "/ttyward")
        for name in ("src", "cmake", "bin"):
            os.mkdir(f"{self.root}/{name}")
        for name in ("CMakeLists.txt", "CMakePresets.json"):
            open(f"{self.root}/{name}", "w").close()
        self.script("setup", "#!/bin/sh\n")
        self.script("bin/cmake", CMAKE)
        self.environment = {"PATH": f"{self.root}/bin:/usr/bin:/bin", "HOME": self.root, "TTYWARD_HOME": self.root + "/home",
                            "ROOT": self.root, "PROGRAM": os.path.realpath(TTYWARD), "LC_ALL": "C.UTF-8"}
        self.environment[person.VARIABLE] = person.make_token(self.root + "/home")
        self.server = subprocess.Popen([self.root + "/ttyward", "mcp"], env=self.environment, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1, start_new_session=True)
        self.addCleanup(self.end)

    def script(self, name, text):
        with open(f"{self.root}/{name}", "w") as f:
            f.write(text)
        os.chmod(f"{self.root}/{name}", 0o755)

    def end(self):
        if not self.server.stdin.closed:
            self.server.stdin.close()
        self.server.wait(60)
        self.server.stdout.close()
        subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=self.environment, timeout=60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.server.pid, signal.SIGKILL)  # the build goes on without us

    def go(self, text=""):
        with open(self.root + "/go.new", "w") as f:
            f.write(text)
        os.rename(self.root + "/go.new", self.root + "/go")

    def say(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def ask(self, id, method, **params):
        self.say({"id": id, "method": method, "params": params})
        answer = json.loads(self.server.stdout.readline())
        self.assertEqual(answer["id"], id)
        return answer

    def begin(self):
        answer = self.ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
        self.assertEqual(answer["result"]["protocolVersion"], "2025-06-18")
        self.assertIn("being built", answer["result"]["instructions"])
        self.say({"method": "notifications/initialized"})

    def test_it_answers_at_once_and_hands_over_when_built(self):
        self.begin()
        self.assertEqual([tool["name"] for tool in self.ask("a", "tools/list")["result"]["tools"]], ["build_status"])
        said = self.ask(2, "tools/call", name="build_status", arguments={})["result"]["content"][0]["text"]
        self.assertIn("compiling, 1/4 (25 %)", said)
        self.assertEqual(self.ask(3, "ping")["result"], {})
        self.assertEqual(self.ask("p-1", "server/discover")["error"]["code"], -32601)
        self.go()
        self.assertEqual(json.loads(self.server.stdout.readline())["method"], "notifications/tools/list_changed")
        self.assertIn("run_command", [tool["name"] for tool in self.ask(4, "tools/list")["result"]["tools"]])
        ran = self.ask(5, "tools/call", name="run_command", arguments={"command": "echo \"id\" '\\\\n'; exit 3"})
        self.assertEqual(ran["result"]["structuredContent"]["exit_code"], 3)
        self.server.stdin.close()
        self.assertEqual(self.server.wait(60), 0)

    def test_a_build_that_fails_is_said(self):
        self.begin()
        self.go("fail")
        for id in range(1, 3000):
            said = self.ask(id, "tools/call", name="build_status", arguments={})["result"]["content"][0]["text"]
            if "could not be built" in said:
                return
        self.fail(said)

    def test_a_client_that_speaks_only_after_the_build(self):
        self.go()
        while not os.path.exists(self.root + "/build/release/.built"):
            self.assertIsNone(self.server.poll())
        answer = self.ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
        self.assertEqual(answer["result"]["serverInfo"]["name"], "ttyward")

    def test_a_client_that_leaves_ends_it(self):
        self.begin()
        self.server.stdin.close()
        self.assertEqual(self.server.wait(60), 0)
        self.go()


if __name__ == "__main__":
    unittest.main()
