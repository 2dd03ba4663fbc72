"""Completion in real shells, and the manual page through real formatters."""
import os
import pty
import select
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import PATIENCE, TTYWARD


def output(*args):
    return subprocess.run([TTYWARD, *args], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout


class Completion(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ttyward-completion-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(f"{self.folder}/folder one")
        open(f"{self.folder}/file1", "w", encoding="utf-8").close()

    def script(self, shell):
        path = f"{self.folder}/completion.{shell}"
        with open(path, "w", encoding="utf-8") as f:
            f.write(output("completion", shell))
        return path

    def run_shell(self, *argv):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder,
                              env={**os.environ, "HOME": self.folder, "XDG_CONFIG_HOME": self.folder})
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_an_unknown_shell_is_said_to_be_so(self):
        done = subprocess.run([TTYWARD, "completion", "csh"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("use bash, zsh or fish", done.stderr)

    def bash(self, *words):
        """What bash is offered with the cursor at the end of the last word."""
        quoted = " ".join("'" + w + "'" for w in words)
        got = self.run_shell("bash", "--norc", "-c", f"""
            source {self.script("bash")}
            complete -p ttyward >/dev/null || exit 9
            COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
            _ttyward
            printf '%s\\n' "${{COMPREPLY[@]}}" """)
        return [line for line in got.split("\n") if line]

    def test_bash(self):
        self.assertIn("run", self.bash("ttyward", ""))
        self.assertEqual(self.bash("ttyward", "rend"), ["render"])
        self.assertNotIn("manual", self.bash("ttyward", ""))
        self.assertEqual(self.bash("ttyward", "--js"), ["--json"])
        self.assertEqual(self.bash("ttyward", "config", ""), ["show", "path", "check", "reference"])
        self.assertEqual(self.bash("ttyward", "run", "--idle"), ["--idle-timeout"])
        self.assertEqual(self.bash("ttyward", "run", "--overflow", ""), ["drop-middle", "pause", "kill"])
        self.assertEqual(self.bash("ttyward", "run", "--overflow", "=", "p"), ["pause"])
        self.assertEqual(self.bash("ttyward", "run", "--overflow", "="), ["drop-middle", "pause", "kill"])
        self.assertEqual(self.bash("ttyward", "run", "--timeout", "run", "--ver"), [])
        self.assertEqual(self.bash("ttyward", "run", "--cwd", "fo"), ["folder one"])
        self.assertEqual(self.bash("ttyward", "--json", "render", "fi"), ["file1"])
        self.assertEqual(self.bash("ttyward", "run", "--", "make", "--x"), [])
        self.assertEqual(self.bash("ttyward", "completion", "z"), ["zsh"])
        self.assertEqual(self.bash("ttyward", "config", "check", "fi"), ["file1"])
        self.assertEqual(self.bash(TTYWARD, "exec", "t"), [])  # no daemon is there to ask, and none is started

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish(self):
        script = self.script("fish")

        def offered(line):
            got = self.run_shell("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
            return [each.split("\t")[0] for each in got.split("\n") if each]

        self.assertEqual(offered("ttyward rend"), ["render"])
        self.assertNotIn("manual", offered("ttyward "))
        self.assertEqual(sorted(offered("ttyward config ")), ["check", "path", "reference", "show"])
        self.assertEqual(offered("ttyward config sh"), ["show"])
        self.assertEqual(offered("ttyward run --idle"), ["--idle-timeout"])
        self.assertEqual(sorted(offered("ttyward run --overflow ")), ["drop-middle", "kill", "pause"])
        self.assertEqual(offered("ttyward run --cwd fold"), ["folder one/"])
        self.assertEqual(offered("ttyward render --format js"), ["json"])
        self.assertEqual(offered("ttyward render fil"), ["file1"])
        self.assertEqual(offered("ttyward completion z"), ["zsh"])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh(self):
        script = self.script("zsh")
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {"PATH": os.environ["PATH"], "HOME": self.folder, "TERM": "dumb",
                                                     "LC_ALL": "C.UTF-8"})
        self.addCleanup(os.close, master)
        self.addCleanup(lambda: (os.kill(pid, 9), os.waitpid(pid, 0)))
        seen = b""

        def wait_for(text):
            nonlocal seen
            give_up = time.monotonic() + PATIENCE
            while text not in seen:
                self.assertGreater(give_up, time.monotonic(), seen.decode(errors="replace"))
                if select.select([master], [], [], 1)[0]:
                    seen += os.read(master, 65536)
            before, _, seen = seen.partition(text)
            return before

        os.write(master, f"PS1='> '; unsetopt zle_bracketed_paste; bindkey -e; autoload -Uz compinit; "
                         f"compinit -u -D; source {script}; print -r -- REA''DY\n".encode())
        wait_for(b"READY")
        # (A = or / that zsh has put at the end goes when something else is typed.) The completed line is quoted and printed by zsh itself: home, print ', end, ' and return.
        for typed, wanted in [("ttyward rend\t", "ttyward render "), ("ttyward config sh\t", "ttyward config show "),
                              ("ttyward run --idle\t", "ttyward run --idle-timeout"),
                              ("ttyward render --format js\t", "ttyward render --format json "),
                              ("ttyward run --overflow=pau\t", "ttyward run --overflow=pause "),
                              ("ttyward render fil\t", "ttyward render file1 "),
                              ("ttyward run --cwd fol\t", "ttyward run --cwd folder\\ one"),
                              ("ttyward manu\t", "ttyward manu")]:
            os.write(master, typed.encode() + b"\x01print -r -- '<''<\x05>>'\n")
            wait_for(b"\n<<")
            got = wait_for(b">>").decode()
            self.assertEqual(got.rstrip(" "), wanted.rstrip(" "), typed)


class Manual(unittest.TestCase):
    def test_it_names_every_verb_and_option_that_help_names(self):
        page = output("manual")
        self.assertIn(".SS ttyward run", page)
        self.assertIn("\\-\\-idle\\-timeout", page)
        self.assertNotIn("ttyward manual", page)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_groff_has_nothing_to_warn_about(self):
        done = subprocess.run(["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-z"], input=output("manual"),
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_every_verb_has_a_page_of_its_own(self):
        verbs = output("manual", "--list").split()
        self.assertIn("run", verbs)
        pages = "".join(output("manual", verb) for verb in verbs)
        self.assertEqual(pages.count(".SH NAME"), len(verbs))
        done = subprocess.run(["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-z"], input=pages,
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("man"), "no man")
    def test_man_shows_it(self):
        with tempfile.NamedTemporaryFile("w", suffix=".1", encoding="utf-8") as page:
            page.write(output("manual"))
            page.flush()
            done = subprocess.run(["man", "--warnings=all", "-l", page.name], capture_output=True, text=True,
                                  timeout=PATIENCE, env={**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat",
                                                         "MANWIDTH": "100"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--idle-timeout", done.stdout)
        self.assertIn("EXIT STATUS", done.stdout)


if __name__ == "__main__":
    unittest.main()
