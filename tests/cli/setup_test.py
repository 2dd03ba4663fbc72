"""ttyward setup: agents' configuration files, real ones and hostile ones, there and back."""
import json
import os
import re
import shutil
import stat
import subprocess
import threading
import unittest

from harness import TTYWARD, CliTest, main

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "setup")
AGENTS = ["claude", "codex", "gemini", "opencode", "copilot", "qwen", "vscode", "cursor", "zed"]
# Where the server's entry is, and what says that the agent's own shell is off.
SERVER = {
    "claude": (".claude.json", ["mcpServers", "ttyward"]), "gemini": (".gemini/settings.json", ["mcpServers", "ttyward"]),
    "qwen": (".qwen/settings.json", ["mcpServers", "ttyward"]), "copilot": (".copilot/mcp-config.json", ["mcpServers", "ttyward"]),
    "opencode": (".config/opencode/opencode.jsonc", ["mcp", "ttyward"]), "vscode": (".config/Code/User/mcp.json", ["servers", "ttyward"]),
    "cursor": (".cursor/mcp.json", ["mcpServers", "ttyward"]), "zed": (".config/zed/settings.json", ["context_servers", "ttyward"]),
    "codex": (".codex/config.toml", ["mcp_servers", "ttyward"]),
}
SHELL = {
    "claude": (".claude/settings.json", ["permissions", "deny"], "Bash"),
    "gemini": (".gemini/settings.json", ["tools", "exclude"], "run_shell_command"),
    "qwen": (".qwen/settings.json", ["permissions", "deny"], "run_shell_command"),
    "opencode": (".config/opencode/opencode.jsonc", ["tools", "bash"], False),
    "vscode": (".config/Code/User/settings.json", ["chat.tools.terminal.enableAutoApprove"], False),
    "cursor": (".cursor/cli-config.json", ["permissions", "deny"], "Shell(**)"),
    "zed": (".config/zed/settings.json", ["agent", "tool_permissions", "tools", "terminal", "default"], "deny"),
    "codex": (".codex/config.toml", ["features", "shell_tool"], False),
}


def without_comments(text):
    """JSON with comments and trailing commas as JSON; strings stay as they are."""
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or "", text, flags=re.S)
    return re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda m: m.group(1) or "", text)


def load(path):
    if path.endswith(".toml"):
        import tomllib
        with open(path, "rb") as f:
            return tomllib.load(f)
    with open(path, newline="") as f:
        return json.loads(without_comments(f.read()))


def at(value, keys):
    for key in keys:
        value = value[key]
    return value


class Setup(CliTest):
    def setUp(self):
        super().setUp()
        self.person = self.folder + "/person"
        os.mkdir(self.person)
        self.environment["HOME"] = self.person
        self.environment["PATH"] = "/usr/bin:/bin"

    def install(self, agent):
        shutil.copytree(os.path.join(FIXTURES, agent), self.person, dirs_exist_ok=True)

    def files(self):
        """Every file below the person's home with its bytes and mode."""
        found = {}
        for folder, _, names in os.walk(self.person):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, self.person)] = (f.read(), stat.S_IMODE(os.stat(path).st_mode))
        return found

    def file(self, name):
        return os.path.join(self.person, name)

    def write(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.file(name)), exist_ok=True)
        with open(self.file(name), "w", newline="") as f:
            f.write(text)
        os.chmod(self.file(name), mode)

    def check_set_up(self, agent):
        name, keys = SERVER[agent]
        entry = at(load(self.file(name)), keys)
        command = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
        self.assertEqual(command, [os.path.realpath(TTYWARD), "mcp"])
        environment = entry.get("env") or entry.get("environment")
        self.assertEqual(environment, {"TTYWARD_HOME": self.home}, "the server works with the same folders")
        if agent in SHELL:
            name, keys, value = SHELL[agent]
            found = at(load(self.file(name)), keys)
            self.assertTrue(value in found if isinstance(found, list) else found == value, found)

    def test_each_agents_own_files_there_and_back(self):
        for agent in AGENTS:
            with self.subTest(agent):
                self.install(agent)
                before = self.files()
                shown = self.ok("setup", agent, "--dry-run")
                self.assertIn('"mcp"', shown)
                self.assertEqual(self.files(), before, "--dry-run changes nothing")
                shown = self.ok("setup", agent)
                self.assertRegex(shown, r"(?m)^  \+ ")
                self.check_set_up(agent)
                for name, (text, mode) in before.items():
                    now, mode_now = self.files()[name]
                    self.assertEqual(mode_now, mode, name)
                    for line in text.decode().splitlines():
                        word = re.search(r"//.*|/\*.*|#.*", line)
                        if word:
                            self.assertIn(word.group(), now.decode(), "comments stay")
                self.assertIn("other", json.dumps(at(load(self.file(SERVER[agent][0])), SERVER[agent][1][:-1]))
                              if agent not in ("zed",) else "other", "other servers stay")
                after = self.files()
                self.assertIn("already", self.ok("setup", agent))
                self.assertEqual(self.files(), after)
                self.ok("setup", agent, "--undo")
                self.assertEqual(self.files(), before, "undone byte for byte")
                self.assertEqual(self.ttyward("setup", agent, "--undo").returncode, 125)

    def test_agents_without_any_file(self):
        for agent in AGENTS:
            with self.subTest(agent):
                os.makedirs(self.person + "/.config", exist_ok=True)
                before = self.files()
                self.ok("setup", agent)
                if agent == "opencode":
                    os.rename(self.file(".config/opencode/opencode.json"), self.file(".config/opencode/opencode.jsonc"))
                self.check_set_up(agent)
                if agent == "opencode":
                    os.rename(self.file(".config/opencode/opencode.jsonc"), self.file(".config/opencode/opencode.json"))
                for name in set(self.files()) - set(before):
                    self.assertEqual(self.files()[name][1], 0o600)
                self.ok("setup", agent, "--undo")
                self.assertEqual(self.files(), before)

    def test_the_shell_can_stay(self):
        self.install("claude")
        before = self.files()
        self.ok("setup", "claude", "--keep-shell")
        self.assertEqual(self.files()[".claude/settings.json"], before[".claude/settings.json"])
        self.ok("setup", "claude")
        self.check_set_up("claude")
        shown = self.ok("setup", "claude", "--keep-shell")
        self.assertIn('-       "Bash"', shown)
        self.assertEqual(self.files()[".claude/settings.json"], before[".claude/settings.json"], "what it said before is taken back")
        self.ok("setup", "claude", "--undo")
        self.assertEqual(self.files(), before)

    def test_tools_can_be_allowed(self):
        self.install("claude")
        self.install("gemini")
        self.ok("setup", "claude", "--allow-tools")
        self.assertIn("mcp__ttyward", load(self.file(".claude/settings.json"))["permissions"]["allow"])
        self.ok("setup", "gemini", "--allow-tools")
        self.assertIs(load(self.file(".gemini/settings.json"))["mcpServers"]["ttyward"]["trust"], True)

    def test_the_mode_goes_into_our_own_configuration(self):
        self.install("codex")
        self.configure("# mine\n[policy]\nask = \"wait\" # why\n")
        config = self.ok("config", "path").strip()
        with open(config) as f:
            before = f.read()
        self.ok("setup", "codex", "--mode", "auto-edit")
        with open(config) as f:
            self.assertEqual(f.read(), "# mine\n[policy]\nask = \"wait\" # why\nmode = \"auto-edit\"\n")
        self.assertEqual(self.json("config", "show")["settings"]["policy.mode"]["value"], "auto-edit")
        self.assertEqual(self.json("setup", "--check")["policy_mode"], "auto-edit")
        self.ok("setup", "codex", "--undo")
        with open(config) as f:
            self.assertEqual(f.read(), before)
        self.assertEqual(self.ttyward("setup", "codex", "--mode", "reckless").returncode, 2)

    def test_undo_after_somebody_else_wrote_the_file(self):
        self.install("claude")
        before = load(self.file(".claude.json"))
        self.ok("setup", "claude")
        now = load(self.file(".claude.json"))
        now["numStartups"] = 7
        self.write(".claude.json", json.dumps(now, indent=2))
        settings = load(self.file(".claude/settings.json"))
        settings["permissions"]["deny"].insert(0, "WebSearch")
        self.write(".claude/settings.json", json.dumps(settings))
        shown = self.ok("setup", "claude", "--undo")
        self.assertIn("was changed after", shown)
        self.assertEqual(load(self.file(".claude.json")), before | {"numStartups": 7})
        self.assertEqual(load(self.file(".claude/settings.json"))["permissions"]["deny"], ["WebSearch", "Read(./.env)"])

    def test_a_second_setup_after_the_program_moved(self):
        self.install("gemini")
        before = self.files()
        self.ok("setup", "gemini")
        text = self.files()[".gemini/settings.json"][0].decode().replace(os.path.realpath(TTYWARD), "/gone/ttyward")
        self.write(".gemini/settings.json", text)
        self.assertEqual(self.ttyward("setup", "--check", "gemini").returncode, 1)
        self.assertIn("/gone/ttyward", self.ttyward("setup", "--check", "gemini").stdout)
        self.ok("setup", "gemini")
        self.check_set_up("gemini")
        self.ok("setup", "gemini", "--undo")
        self.assertEqual(self.files(), before)

    def test_a_link_stays_a_link(self):
        self.install("gemini")
        os.makedirs(self.person + "/dotfiles")
        os.rename(self.file(".gemini/settings.json"), self.file("dotfiles/gemini.json"))
        os.symlink("../dotfiles/gemini.json", self.file(".gemini/settings.json"))
        before = self.files()
        self.assertIn("dotfiles/gemini.json", self.ok("setup", "gemini"))
        self.assertTrue(os.path.islink(self.file(".gemini/settings.json")))
        self.check_set_up("gemini")
        self.ok("setup", "gemini", "--undo")
        self.assertEqual(self.files(), before)
        self.assertTrue(os.path.islink(self.file(".gemini/settings.json")))

    def refused(self, agent, *words):
        before = self.files() if not words else None
        done = self.ttyward("setup", agent)
        self.assertEqual(done.returncode, 125, done)
        self.assertIn("nothing was changed", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        if before is not None:
            self.assertEqual(self.files(), before)
        self.assertEqual(self.ttyward("setup", agent, "--undo").returncode, 125)
        return done

    def test_hostile_files_are_refused_and_stay(self):
        broken = '{\n  "mcpServers": {\n    "a": {}\n    "b": {}\n  }\n}\n'
        self.write(".gemini/settings.json", broken)
        self.refused("gemini", "settings.json", "line 4, column 5")
        with open(self.file(".gemini/settings.json")) as f:
            self.assertEqual(f.read(), broken)
        self.write(".gemini/settings.json", "[]\n")
        self.refused("gemini", "not an object")
        self.write(".gemini/settings.json", "{}\n", mode=0o444)
        self.refused("gemini", "read-only", "chmod u+w")
        os.remove(self.file(".gemini/settings.json"))
        os.symlink("nowhere.json", self.file(".gemini/settings.json"))
        self.refused("gemini", "link to a file that is not there")
        os.remove(self.file(".gemini/settings.json"))
        os.mkfifo(self.file(".gemini/settings.json"))
        self.refused("gemini", "not a regular file")
        os.remove(self.file(".gemini/settings.json"))
        os.mkdir(self.file(".gemini/settings.json"))
        self.refused("gemini", "not a regular file")
        self.write(".codex/config.toml", "a = [\n")
        self.refused("codex", "config.toml", "line")
        self.write(".codex/config.toml", "mcp_servers = { other = { command = \"x\" } }\n")
        self.refused("codex", "by hand")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_a_file_of_somebody_else_is_refused(self):
        self.write(".gemini/settings.json", "{}\n")
        os.chown(self.file(".gemini/settings.json"), 65534, 65534)
        self.refused("gemini", "belongs to somebody else")

    def test_one_bad_file_of_two_changes_neither(self):
        self.install("claude")
        self.write(".claude/settings.json", "{ broken")
        before = self.files()
        self.refused("claude", "settings.json")
        self.assertEqual(self.files(), before)

    def test_many_at_once_end_as_one(self):
        self.install("claude")
        before = self.files()
        codes = []
        threads = [threading.Thread(target=lambda: codes.append(self.ttyward("setup", "claude").returncode)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(codes, [0] * 8)
        self.check_set_up("claude")
        self.ok("setup", "claude", "--undo")
        self.assertEqual(self.files(), before)

    def test_what_is_shown_hides_secrets(self):
        self.write(".gemini/settings.json",
                   '{\n  "apiKey": "sk-abcdefghijklmnopqrstuvwxyz0123456789"\n}\n')
        self.assertNotIn("abcdefghijklm", self.ok("setup", "gemini"))

    def test_check_tells_connected_from_governed(self):
        self.assertIn("no agent was found", self.ttyward("setup", "--check").stdout)
        self.install("claude")
        self.install("copilot")
        done = self.ttyward("setup", "--check")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"claude +not connected, own shell on\n")
        self.ok("setup", "claude", "--keep-shell")
        self.assertRegex(self.ttyward("setup", "--check").stdout, r"claude +connected, own shell on\n")
        self.ok("setup", "claude")
        self.assertRegex(self.ttyward("setup", "--check", "claude").stdout, r"claude +connected, own shell off\n")
        self.ok("setup", "--check", "claude")
        self.ok("setup", "copilot")
        found = {each["agent"]: each for each in self.json("setup", "--check")["agents"]}
        self.assertEqual([found["copilot"]["connected"], found["copilot"]["shell_off"]], [True, False])
        self.assertEqual(found["zed"]["found"], False)

    def test_an_agent_may_not_change_it(self):
        self.install("claude")
        self.environment["TTYWARD_ROLE"] = "agent"
        done = self.ttyward("setup", "claude", "--keep-shell")
        self.assertEqual(done.returncode, 125)
        self.assertIn("only a person", done.stderr)

    def test_wrong_usage(self):
        self.assertEqual(self.ttyward("setup").returncode, 2)
        self.assertEqual(self.ttyward("setup", "emacs").returncode, 2)
        self.assertEqual(self.json("setup", "zed", "--dry-run")["changed"], [self.file(".config/zed/settings.json")])

    def test_the_server_that_is_entered_answers(self):
        self.ok("setup", "gemini")
        entry = load(self.file(".gemini/settings.json"))["mcpServers"]["ttyward"]
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                 "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        done = subprocess.run([entry["command"], *entry["args"]], input=json.dumps(hello) + "\n", text=True, capture_output=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": self.person, **entry["env"]}, timeout=60)
        self.assertEqual(json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"], "ttyward")


if __name__ == "__main__":
    main()
