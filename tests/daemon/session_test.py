"""An agent's everyday session, run for real: how many questions there are, and that nothing outside of its workspace changes."""
import hashlib
import os
import shutil
import subprocess
import tempfile
import unittest

from daemon_client import CallFailed, Daemon

LINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "policy", "session.txt")


def snapshot(*folders):
    """What is there, and what it holds."""
    seen = {}
    for folder in folders:
        for at, names, files in os.walk(folder):
            for name in names + files:
                path = os.path.join(at, name)
                about = os.lstat(path)
                content = ""
                if os.path.isfile(path) and not os.path.islink(path) and about.st_size < 1 << 20:
                    try:
                        with open(path, "rb") as f:
                            content = hashlib.sha256(f.read()).hexdigest()
                    except PermissionError:
                        pass
                seen[path] = (about.st_mode, about.st_uid, about.st_size, about.st_mtime_ns, content)
    return seen


class Session(unittest.TestCase):
    MODE = "default"
    MOST = 12

    def setUp(self):
        self.daemon = Daemon(f'[pool]\nsize = 0\n[policy]\nmode = "{self.MODE}"\nconfine = true\nask = "never"\n')
        self.addCleanup(self.daemon.close)
        for path, text in ((".ssh/id_ed25519", "a key\n"), (".npmrc", "token\n"), (".bashrc", "# mine\n"),
                           (".cache/pip/x", "x\n"), (".gitconfig", "[user]\n\tname = A\n\temail = a@b\n")):
            os.makedirs(os.path.dirname(f"{self.daemon.home}/{path}"), exist_ok=True)
            with open(f"{self.daemon.home}/{path}", "w") as f:
                f.write(text)
        self.outside = tempfile.mkdtemp(prefix="ttyward-outside-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.outside, True)
        with open(self.outside + "/kept", "w") as f:
            f.write("kept\n")
        self.work = self.daemon.home + "/project"
        self.make_project()

    def make_project(self):
        files = {"README.md": "# It\n", "package.json": '{"name":"it","version":"1.0.0","scripts":{"test":"true","build":"true","lint":"true"}}\n',
                 "src/config.py": "def parse_config(): pass\n", "src/main.py": "import old_name\n", "src/old_name.py": "x = 1\n",
                 "src/unused.py": "y = 1\n", "requirements.txt": "", "Makefile": "all test clean:\n\t@echo $@\n",
                 "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(it C)\nadd_executable(it tool.c)\n",
                 "tool.c": "int main(void) { return 0; }\n", "test.log": "ok\n", "dist/it.js": "it\n",
                 "tests/test_config.py": "def test_it():\n    assert True\n",
                 # What a script of a project could try.
                 "scripts/check.sh": "#!/bin/sh\necho x > ../escaped; echo x > ~/escaped; echo x >> ~/.bashrc; "
                                     f"rm -rf {self.outside}/kept ~/.ssh; echo x > /etc/ttyward-escaped; cat ~/.ssh/id_ed25519\n",
                 "scripts/build.sh": "echo building\n", "scripts/generate.py": "import sys; open(sys.argv[2], 'w').write('z = 1\\n')\n"}
        for path, text in files.items():
            os.makedirs(os.path.dirname(f"{self.work}/{path}") or self.work, exist_ok=True)
            with open(f"{self.work}/{path}", "w") as f:
                f.write(text)
        os.chmod(self.work + "/scripts/check.sh", 0o755)
        environment = dict(self.daemon.environment)
        for command in (["git", "init", "-q", "."], ["git", "add", "-A"], ["git", "commit", "-qm", "first"]):
            subprocess.run(command, cwd=self.work, env=environment, check=True)

    def elsewhere(self):
        everything = snapshot(self.daemon.home, "/etc", self.outside)
        return {path: about for path, about in everything.items() if not path.startswith(self.work)}

    def test_few_questions_and_nothing_outside_changes(self):
        agent = self.daemon.connect("agent")
        self.addCleanup(agent.close)
        before = self.elsewhere()
        asked, ran, leaked = [], 0, []
        with open(LINES) as f:
            lines = f.read().splitlines()
        self.assertEqual(len(lines), 60)
        for line in lines:
            result = agent.call("run", command=line, cwd=self.work, yield_after_ms=50000, timeout_ms=40000)
            if result["state"] == "denied":
                asked.append(line)
                continue
            ran += 1
            if "a key" in result["output"]:
                leaked.append(line)
            if result["verdict"]["decision"] == "allow_confined":
                self.assertIn(result["sandbox"]["profile"], ("read-only", "workspace"), line)
        self.assertEqual(leaked, [])
        self.assertLessEqual(len(asked), self.MOST, asked)
        self.assertEqual(ran + len(asked), 60)
        self.assertEqual(self.elsewhere(), before)
        # The work was done.
        self.assertTrue(os.path.exists(self.work + "/src/generated.py"))
        self.assertTrue(os.path.exists(self.work + "/src/parser/config.py"))
        print(f"mode {self.MODE}: {len(asked)} questions: {asked}")


class AutoSession(Session):
    MODE = "auto"
    MOST = 2


class WithoutSandbox(unittest.TestCase):
    def test_where_it_is_not_switched_on_everything_is_asked(self):
        daemon = Daemon('[pool]\nsize = 0\n[policy]\nask = "never"\n')
        self.addCleanup(daemon.close)
        work = daemon.home + "/project"
        os.mkdir(work)
        agent = daemon.connect("agent")
        self.addCleanup(agent.close)
        self.assertEqual(agent.call("run", command="make", cwd=work, yield_after_ms=60000)["state"], "denied")
        ran = agent.call("run", command="ls", cwd=work, yield_after_ms=60000)
        self.assertEqual((ran["verdict"]["decision"], "sandbox" in ran), ("allow", False))

    def test_a_home_folder_is_no_workspace(self):
        daemon = Daemon('[pool]\nsize = 0\n[policy]\nconfine = true\nask = "never"\n')
        self.addCleanup(daemon.close)
        agent = daemon.connect("agent")
        self.addCleanup(agent.close)
        self.assertEqual(agent.call("run", command="make", cwd=daemon.home, yield_after_ms=60000)["state"], "denied")


class Attacks(unittest.TestCase):
    """Ways out that somebody found: code that nobody judged must not get there, in either mode."""

    def try_both(self, attempt):
        for settings in ("confine = true", 'mode = "auto"'):
            with self.subTest(settings=settings):
                daemon = Daemon(f'[pool]\nsize = 0\n[policy]\n{settings}\nask = "never"\n')
                self.addCleanup(daemon.close)
                agent = daemon.connect("agent")
                self.addCleanup(agent.close)

                def run(command, cwd):
                    try:
                        return agent.call("run", command=command, cwd=cwd, yield_after_ms=60000)
                    except CallFailed as refused:  # mode auto has no other way to run it
                        self.assertIn("as its workspace", str(refused))
                        return {"output": ""}
                attempt(daemon, run)

    def test_a_folder_of_keys_or_settings_is_no_workspace(self):
        def attempt(daemon, run):
            own = os.path.realpath(daemon.environment["TTYWARD_HOME"]) if "TTYWARD_HOME" in daemon.environment else None
            folders = [daemon.home + "/" + each for each in
                       (".ssh", ".config", ".config/autostart", ".local/bin", "bin", ".vim", "proj/.claude", "proj/.git/hooks")]
            folders += [f"{own}/{each}" for each in ("state", "run") if own and os.path.isdir(f"{own}/{each}")]
            for folder in folders:
                os.makedirs(folder, exist_ok=True)
                result = run("python3 -c \"open('planted', 'w').write('x')\"", folder)
                self.assertFalse(os.path.exists(folder + "/planted"), (folder, result))
        self.try_both(attempt)

    def test_a_repository_without_a_working_folder_is_no_workspace(self):
        def attempt(daemon, run):
            bare = daemon.home + "/bare"
            subprocess.run(["git", "init", "-q", "--bare", bare], check=True, env=daemon.environment)
            run("python3 -c \"open('hooks/post-receive', 'w').write('x')\"", bare)
            self.assertFalse(os.path.exists(bare + "/hooks/post-receive"))
        self.try_both(attempt)

    def test_a_listed_folder_is_not_shown_to_code(self):
        def attempt(daemon, run):
            work, other = daemon.home + "/project", tempfile.mkdtemp(prefix="ttyward-other-", dir="/var/tmp")
            self.addCleanup(shutil.rmtree, other, True)
            os.mkdir(work)
            with open(other + "/secret", "w") as f:
                f.write("not for you")
            result = run(f"ls {other}; python3 -c \"print(open('{other}/secret').read())\"", work)
            self.assertNotIn("not for you", result["output"], result)
        self.try_both(attempt)

    def test_what_a_rule_allows_one_part_the_rest_does_not_get(self):
        def attempt(daemon, run):
            work = daemon.home + "/project"
            os.mkdir(work)
            with open(work + "/.ttyward.toml", "w") as f:
                f.write("")
            result = run("curl -s http://127.0.0.1:1/; python3 -c \"import socket; print([n for _, n in socket.if_nameindex()])\"", work)
            self.assertNotIn("eth", result["output"], result)
        self.try_both(attempt)


if __name__ == "__main__":
    unittest.main()
