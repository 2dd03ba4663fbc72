"""Real agents behind `ttyward acp`, with acpx as their client and a scripted model on loopback.

Run by `./test --agents`, which installs them: $TTYWARD is the program, $TTYWARD_AGENTS the folder with their packages.
Everything runs in a network namespace of its own, so nothing leaves this machine.

acpx denies everything that it is asked (--deny-all). So what runs was decided by ttyward, and what reached the client shows
as a refusal. At the end a table says what each model was shown, in characters.
"""
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "support")]
import person  # noqa: E402
from model import Model  # noqa: E402

TTYWARD = os.path.abspath(os.environ["TTYWARD"])
AGENTS = os.path.abspath(os.environ["TTYWARD_AGENTS"])
MODULES = os.path.join(AGENTS, "node_modules")
PATIENCE = float(os.environ.get("TTYWARD_TEST_PATIENCE", "180"))
LINE = "echo from-agent-$((40+2)); exit 3"
SHOWN = []


def offline():
    """Goes on in a namespace that has the loopback interface and nothing else."""
    if "TTYWARD_OFFLINE" not in os.environ:
        space = ["unshare", "--net"] if os.getuid() == 0 else ["unshare", "--map-current-user", "--keep-caps", "--net"]
        if subprocess.run([*space, "true"], capture_output=True).returncode == 0:
            os.environ["TTYWARD_OFFLINE"] = "1"
            os.execvp("unshare", [*space, sys.executable, "-B", *sys.argv])
        print("agents: no network namespace can be made here: agents that look for updates reach the network", file=sys.stderr)
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0x41)  # up, running
        fcntl.ioctl(control, 0x8914, request)  # SIOCSIFFLAGS


def module(path):
    return os.path.join(MODULES, path)


def program(package):
    """Of the package with the program for this machine."""
    names = {"x86_64": "x64", "aarch64": "arm64"}
    return package + "-" + names.get(os.uname().machine, os.uname().machine)


def version(package):
    with open(module(package + "/package.json")) as f:
        return json.load(f)["version"]


NODE = module(program("node-linux") + "/bin/node")


def tool(pattern, arguments):
    """A step of a script: the first tool whose name matches."""
    def step(names):
        found = [name for name in names if re.search(pattern, name)]
        return (found[0], arguments) if found else None
    return step


class Agents(unittest.TestCase):
    def setUp(self):
        # codex refuses a home under a folder for temporary files.
        os.makedirs(AGENTS + "/homes", exist_ok=True)
        self.folder = tempfile.mkdtemp(dir=AGENTS + "/homes")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        # The name of a socket is short: the state is elsewhere.
        self.home = tempfile.mkdtemp(prefix="tw-agents-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.work = self.folder + "/work"
        os.mkdir(self.work)
        os.makedirs(self.home + "/config", mode=0o700)
        os.chmod(self.home, 0o700)
        self.write(self.home + "/config/config.toml", '[policy]\nmode = "auto-edit"\n')
        # What is denied here does no harm where a test fails.
        self.write(self.work + "/.ttyward.toml", '[[rule]]\nname = "never"\ndecision = "deny"\nprogram = "touch"\nreason = "not here"\n')
        self.environment = {
            "PATH": os.path.dirname(NODE) + ":" + os.environ["PATH"], "HOME": self.folder, "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8",
            "TERM": "dumb", "TTYWARD_HOME": self.home, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
        self.environment[person.VARIABLE] = person.make_token(self.home)
        self.addCleanup(self.ttyward, "daemon", "stop", "--kill-terminals")

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def ttyward(self, *args):
        return subprocess.run([TTYWARD, *args], env=self.environment, cwd=self.work, capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL)

    def history(self):
        return json.loads(self.ttyward("--json", "history").stdout)["commands"]

    def model(self, *script):
        made = Model(script)
        self.addCleanup(made.close)
        return made

    def drive(self, package, argv, model, *options):
        """One prompt, through acpx; the messages that acpx saw."""
        command = " ".join(f"'{word}'" for word in [TTYWARD, "acp", *options, "--", *argv])
        self.began = time.monotonic()
        client = subprocess.Popen([NODE, module("acpx/dist/cli.js"), "--cwd", self.work, "--deny-all", "--format", "json",
                                   "--agent", command, "exec", "do it"],
                                  env=self.environment, cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            out, err = client.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(client.pid, signal.SIGKILL)
            out, err = client.communicate()
        self.seconds = time.monotonic() - self.began
        self.out, self.err = out, err
        messages = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        if os.environ.get("TTYWARD_AGENTS_KEEP"):
            self.write(f"{os.environ['TTYWARD_AGENTS_KEEP']}/{self.id().split('.')[-1]}.json",
                       json.dumps({"messages": messages, "stderr": err, "lists": model.lists, "results": model.results,
                                   "requests": model.requests, "history": self.history()}, indent=1))
        SHOWN.append([self.id().split("test_")[-1], package.split("/")[-1] + " " + version(package), len(model.tools),
                      model.tool_characters["all"], sum("ttyward" in name for name in model.tools),
                      model.tool_characters["ttyward"], "+".join(str(len(each)) for each in model.results) or "-", f"{self.seconds:.1f}"])
        return messages

    def log(self):
        with open(self.home + "/state/acp.log") as f:
            return f.read()

    def said(self, messages):
        updates = [m["params"]["update"] for m in messages if m.get("method") == "session/update"]
        return "".join(u["content"]["text"] for u in updates if u["sessionUpdate"] == "agent_message_chunk")

    def why(self, model):
        return f"tools: {model.tools}\nresults: {model.results}\nrequests: {model.requests}\n{self.out[-3000:]}\n{self.err[-3000:]}"

    def ran(self, model, messages, known_by="wait"):
        """The command ran, once, with its true exit code; the model was told; and the client was not asked."""
        why = self.why(model)
        self.assertTrue(model.results, why)
        self.assertIn("from-agent-42", model.results[-1], why)
        self.assertIn("finished", self.said(messages), why)
        rows = [row for row in self.history() if "from-agent" in row["command"]]
        self.assertEqual(len(rows), 1, why)
        self.assertEqual(rows[0]["exit_code"], 3, rows)
        self.assertEqual(rows[0]["known_by"], known_by, rows)
        self.assertEqual([m for m in messages if m.get("method") == "session/request_permission"], [], why)

    def ran_in_our_tool(self, model, messages, own_shell):
        self.assertEqual([name for name in model.tools if re.search(own_shell, name)], [], "its own shell is there")
        self.assertEqual(sum("ttyward" in name for name in model.tools), 12, self.why(model))
        self.ran(model, messages)
        self.assertRegex(model.results[-1], r"(?i)exit.{0,12}3", self.why(model))
        self.assertIn("its commands run in ttyward (mcp)", self.log())
        self.assertNotIn("a shell of its own", self.log())

    # --- the agents

    def kimi(self, model):
        self.write(self.folder + "/.kimi-code/config.toml",
                   f'default_model = "m"\n[providers.fake]\ntype = "openai"\nbase_url = "{model.url}/v1"\napi_key = "k"\n'
                   '[models.m]\nprovider = "fake"\nmodel = "m"\nmax_context_size = 100000\n')
        return "@moonshot-ai/kimi-code", [NODE, module("@moonshot-ai/kimi-code/dist/main.mjs"), "acp"]

    def test_kimi(self):
        model = self.model(tool("^Bash$", {"command": LINE, "description": "say something"}))
        messages = self.drive(*self.kimi(model), model)
        self.ran(model, messages)
        self.assertIn("its commands run in ttyward (terminals)", self.log())
        self.assertNotIn("a shell of its own", self.log())

    def test_kimi_with_our_tool(self):
        model = self.model(tool("ttyward[0-9a-z]+__run_command$", {"command": LINE}))
        self.ran(model, self.drive(*self.kimi(model), model))

    def test_kimi_with_our_client(self):
        model = self.model(tool("^Bash$", {"command": LINE, "description": "say something"}))
        _, argv = self.kimi(model)
        done = self.ttyward("agent", "--command", " ".join(argv), "do it")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"(?s)Running.*from-agent-42.*Executed.*exit 3.*finished", done)

    def test_kimi_is_denied(self):
        model = self.model(tool("^Bash$", {"command": "touch denied", "description": "make a file"}))
        self.drive(*self.kimi(model), model)
        self.assertTrue(model.results, self.why(model))
        self.assertIn("ttyward did not run this command", model.results[-1], self.why(model))
        self.assertFalse(os.path.exists(self.work + "/denied"))

    def opencode(self, model):
        self.write(self.work + "/opencode.json", json.dumps({
            "model": "fake/m", "small_model": "fake/m", "permission": {"bash": "ask", "ttyward*": "ask"}, "autoupdate": False, "share": "disabled",
            "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": model.url + "/v1", "apiKey": "k"},
                                  "models": {"m": {"name": "m", "tool_call": True}}}}}))
        return "opencode-ai", [module(program("opencode-linux") + "/bin/opencode"), "acp"]

    def test_opencode(self):
        model = self.model(tool("ttyward[0-9a-z]+_run_command$", {"command": LINE}))
        self.ran_in_our_tool(model, self.drive(*self.opencode(model), model), "^bash$")

    def test_opencode_is_denied(self):
        """With a shell of its own it asks before it runs something, and policy answers."""
        model = self.model(tool("^bash$", {"command": "touch denied", "description": "make a file"}))
        messages = self.drive(*self.opencode(model), model, "--profile", "none")
        # A rejection ends its turn: the model hears nothing of it, the client does.
        updates = [m["params"]["update"] for m in messages if m.get("method") == "session/update"]
        failed = [u for u in updates if u.get("toolCallId") and u.get("status") == "failed"]
        self.assertEqual(len(failed), 1, self.why(model))
        self.assertIn("reject", json.dumps(failed[0]))
        self.assertFalse(os.path.exists(self.work + "/denied"))
        self.assertEqual([m for m in messages if m.get("method") == "session/request_permission"], [], self.why(model))
        self.assertIn("its own shell is not governed", self.log())

    def claude(self, model):
        self.environment.update(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=model.url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
                                ACPX_AUTH_ANTHROPIC_API_KEY="k")
        return "@agentclientprotocol/claude-agent-acp", [NODE, module("@agentclientprotocol/claude-agent-acp/dist/index.js")]

    def test_claude(self):
        model = self.model(tool("ttyward[0-9a-z]+__run_command$", {"command": LINE}))
        self.ran_in_our_tool(model, self.drive(*self.claude(model), model), "^Bash$")

    def test_claude_by_itself(self):
        """What it runs with its own shell is in the history as told by it."""
        model = self.model(tool("^Bash$", {"command": LINE, "description": "say something"}))
        self.ran(model, self.drive(*self.claude(model), model, "--profile", "none"), known_by="told")

    def test_gemini(self):
        model = self.model(tool("ttyward[0-9a-z]+_+run_command$", {"command": LINE}))
        self.environment.update(GEMINI_API_KEY="k", GOOGLE_GEMINI_BASE_URL=model.url, GEMINI_CLI_TRUST_WORKSPACE="true",
                                ACPX_AUTH_GEMINI_API_KEY="k")
        argv = [NODE, module("@google/gemini-cli/bundle/gemini.js"), "--acp", "-m", "gemini-2.5-pro"]
        self.ran_in_our_tool(model, self.drive("@google/gemini-cli", argv, model), "^run_shell_command$")

    def codex(self, model):
        self.write(self.folder + "/.codex/config.toml",
                   'model = "m"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\n'
                   f'base_url = "{model.url}/v1"\nwire_api = "responses"\nrequires_openai_auth = false\n')
        return "@agentclientprotocol/codex-acp", [NODE, module("@agentclientprotocol/codex-acp/dist/index.js")]

    def test_codex(self):
        model = self.model(tool("ttyward.*run_command$", {"command": LINE}))
        self.ran_in_our_tool(model, self.drive(*self.codex(model), model), "^(shell|exec_command|shell_command|local_shell|write_stdin)$")

    def test_qwen(self):
        model = self.model(tool("ttyward[0-9a-z]+__run_command$", {"command": LINE}))
        self.environment.update(OPENAI_API_KEY="k", OPENAI_BASE_URL=model.url + "/v1", OPENAI_MODEL="m", ACPX_AUTH_OPENAI="k")
        argv = [NODE, module("@qwen-code/qwen-code/cli.js"), "--acp"]
        self.ran_in_our_tool(model, self.drive("@qwen-code/qwen-code", argv, model), "^run_shell_command$")


def report():
    heads = ["test", "agent", "tools", "characters", "ours", "characters", "results, characters", "seconds"]
    rows = [heads, *[[str(each) for each in row] for row in SHOWN]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    print("\nWhat each model was shown:")
    for row in rows:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    offline()
    try:
        unittest.main(verbosity=2)
    finally:
        report()
