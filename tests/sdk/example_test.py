"""examples/: the agent does what the scripted model says, the job's lines and the container's command do what they should."""
import json
import os
import re
import socket
import subprocess
import sys
import threading
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(EXAMPLES, "agent")]
from harness import PATIENCE, TTYWARD, CliTest, main  # noqa: E402

import scripted_model  # noqa: E402


def text_of(name):
    with open(os.path.join(EXAMPLES, name)) as f:
        return f.read()


class Examples(CliTest):
    def setUp(self):
        super().setUp()
        self.environment["PATH"] = os.path.dirname(TTYWARD) + ":" + self.environment["PATH"]

    def test_the_agent_in_sixty_lines(self):
        self.assertLessEqual(len(text_of("agent/agent.py").splitlines()), 66)
        model = scripted_model.serve(0, ["cd /tmp && pwd", "pwd; (exit 3)", "sudo rm -rf /etc"])
        self.addCleanup(model.server_close)
        threading.Thread(target=model.serve_forever, daemon=True).start()
        self.addCleanup(model.shutdown)
        self.configure("[policy]\nask = \"never\"\n")
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

    def test_the_lines_of_the_job(self):
        lines = re.findall(r"run: (ttyward .*)", text_of("ci/ttyward.yml"))
        self.assertEqual(len(lines), 3)
        summary = self.path("summary")
        self.environment |= {"GITHUB_STEP_SUMMARY": summary, "OF_THE_JOB": "passed on"}

        def step(line):
            return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line], env=self.environment, cwd=self.work, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)

        with open(self.path("Makefile"), "w") as f:
            f.write("all:\n\t@echo $$OF_THE_JOB\ntest:\n\t@echo error: it is broken; exit 1\n")
        build, test, digest = [step(line) for line in lines]
        self.assertEqual((build.returncode, build.stdout), (0, "passed on\n"))
        self.assertEqual(test.returncode, 2, test)
        self.assertIn("error: it is broken", test.stdout)
        self.assertEqual(digest.returncode, 0, digest)
        with open(summary) as f:
            self.assertIn("error: it is broken", f.read())
        with open(self.path("Makefile"), "w") as f:
            f.write("all:\n\t@read -p 'Go on? ' answer\nSHELL = /bin/bash\n")
        asks = step(lines[0])
        self.assertEqual(asks.returncode, 125, asks)
        self.assertIn("waits for input", asks.stdout)

    def test_the_command_of_the_container(self):
        command = json.loads(re.search(r"command: (\[.*\])", text_of("compose/docker-compose.yml")).group(1).replace("$$", "$"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.assertIn("--port 7433", command[-1])
        command[-1] = command[-1].replace("7433", str(port))
        del self.environment["TTYWARD_PERSON_TOKEN_FILE"]
        panel = subprocess.Popen(command, env=self.environment, cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.stop, panel)
        link = panel.stdout.readline()
        self.assertRegex(link, rf"^http://127\.0\.0\.1:{port}/#t=[0-9a-f]+")
        self.environment["TTYWARD_PERSON_TOKEN_FILE"] = self.home + "/state/person-token"
        with urllib.request.urlopen(link.partition("#")[0], timeout=PATIENCE) as answer:
            self.assertEqual(answer.status, 200)


if __name__ == "__main__":
    main()
