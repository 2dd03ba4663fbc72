"""examples/agent: the agent does what the scripted model says, and the model hears how it went."""
import json
import os
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(EXAMPLES, "agent")]
from harness import TTYWARD, CliTest, main  # noqa: E402

import scripted_model  # noqa: E402


class Examples(CliTest):
    def test_the_agent_in_sixty_lines(self):
        with open(os.path.join(EXAMPLES, "agent", "agent.py")) as f:
            self.assertLessEqual(len(f.read().splitlines()), 66)
        model = scripted_model.serve(0, ["cd /tmp && pwd", "pwd; (exit 3)", "sudo rm -rf /etc"])
        self.addCleanup(model.server_close)
        threading.Thread(target=model.serve_forever, daemon=True).start()
        self.addCleanup(model.shutdown)
        self.configure("[policy]\nask = \"never\"\n")
        self.environment["PATH"] = os.path.dirname(TTYWARD) + ":" + self.environment["PATH"]
        self.environment["PYTHONPATH"] = os.path.join(HERE, "..", "..", "sdk", "python", "src")
        done = subprocess.run([sys.executable, "-B", os.path.join(EXAMPLES, "agent", "agent.py"),
                               f"http://127.0.0.1:{model.server_address[1]}/v1", "a task"],
                              env=self.environment, cwd=self.work, text=True, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("state: exited, exit code: 0, now in /tmp\n", done.stdout)
        self.assertIn("state: exited, exit code: 3, now in /tmp\n", done.stdout)
        self.assertIn("state: denied, exit code: None", done.stdout)

    def test_the_files_for_claude_code_are_what_setup_writes(self):
        person = self.folder + "/person"
        os.mkdir(person)
        self.environment["HOME"] = person
        self.ok("setup", "claude", "--allow-tools")

        def load(path):
            with open(path) as f:
                return json.load(f)

        entry = load(person + "/.claude.json")["mcpServers"]["ttyward"]
        example = load(os.path.join(EXAMPLES, "claude-code", ".mcp.json"))["mcpServers"]["ttyward"]
        self.assertEqual({**entry, "command": "ttyward", "env": None}, {**example, "env": None})
        written = load(person + "/.claude/settings.json")
        example = load(os.path.join(EXAMPLES, "claude-code", ".claude", "settings.json"))
        self.assertEqual({k: sorted(v) for k, v in written["permissions"].items()},
                         {k: sorted(v) for k, v in example["permissions"].items()})


if __name__ == "__main__":
    main()
