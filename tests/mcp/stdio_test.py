"""`ttyward mcp` on stdio as its peers see it: bad bytes, large lines, the end of input, and the official Inspector."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person  # noqa: E402

TTYWARD = os.environ["TTYWARD"]
HERE = os.path.dirname(os.path.abspath(__file__))
NODE = os.path.join(HERE, "node_modules/.bin/node")
INSPECTOR = os.path.join(HERE, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
PATIENCE = float(os.environ.get("TTYWARD_TEST_PATIENCE", "60"))
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Stdio(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory(prefix="tw-mcp-")
        self.env = dict(os.environ, TTYWARD_HOME=self.home.name, HOME=self.home.name)
        self.env[person.VARIABLE] = person.make_token(self.home.name)

    def tearDown(self):
        subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=self.env, capture_output=True, timeout=PATIENCE)
        self.home.cleanup()

    def talk(self, *lines):
        done = subprocess.run([TTYWARD, "mcp"], input="".join(line + "\n" for line in lines), env=self.env,
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_bad_lines_are_answered_and_the_rest_goes_on(self):
        answers = self.talk("nonsense", "[]", '{"jsonrpc":"2.0","id":1}', "x" * (33 << 20),
                            json.dumps({"jsonrpc": "2.0", "id": "last", "method": "tools/list", "params": {"_meta": META}}))
        self.assertEqual([a.get("error", {}).get("code") for a in answers], [-32700, -32600, -32600, -32600, None])
        self.assertEqual(answers[-1]["id"], "last")
        self.assertEqual(len(answers[-1]["result"]["tools"]), 12)

    def test_ends_when_its_input_ends_though_a_command_runs(self):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "run_command", "arguments": {"command": "sleep 600", "timeout_ms": 0}, "_meta": META}}
        self.talk(json.dumps(call))

    def test_ends_on_a_signal(self):
        server = subprocess.Popen([TTYWARD, "mcp"], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        server.stdin.flush()
        self.assertIn(b"result", server.stdout.readline())
        # Answered by the daemon: one that is still being started would outlive the test.
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": {"name": "list_terminals", "arguments": {}, "_meta": META}}
        server.stdin.write(json.dumps(call).encode() + b"\n")
        server.stdin.flush()
        self.assertIn(b"result", server.stdout.readline())
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE)
        server.stdin.close()
        server.stdout.close()

    def inspect(self, era, *options):
        done = subprocess.run([NODE, INSPECTOR, "--cli", TTYWARD, "mcp", "--protocol-era", era, "--format", "json",
                               "-e", "TTYWARD_HOME=" + self.home.name, *options],
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)["result"]

    def test_inspector_finds_the_schemas_portable(self):
        for era in ("legacy", "modern", "auto"):
            self.assertEqual(len(self.inspect(era, "--strict", "--method", "tools/list")["tools"]), 12)

    def test_inspector_calls_a_tool(self):
        for era in ("legacy", "modern", "auto"):
            result = self.inspect(era, "--method", "tools/call", "--tool-name", "run_command", "--tool-arg", "command=echo hi")
            self.assertEqual(result["structuredContent"]["output"], "hi\n")


if __name__ == "__main__":
    unittest.main()
