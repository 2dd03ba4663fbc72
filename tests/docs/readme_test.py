"""What README.md and docs/cli.md say, against the program."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from harness import PATIENCE, TTYWARD, CliTest, main  # noqa: E402


def text_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


class Readme(CliTest):
    def test_the_lines_of_the_console_print_what_is_shown(self):
        shown = re.search(r"```console\n(.*?)```", text_of("README.md"), re.S).group(1)
        steps = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", shown, re.M)
        self.assertGreater(len(steps), 5)
        os.mkdir(self.work + "/src")
        with open(self.work + "/src/main.c", "w") as f:
            f.write("int main() {}\n")
        with open(self.folder + "/.bashrc", "w") as f:
            f.write("PS1='$ '\n")
        self.environment["PATH"] = os.path.dirname(TTYWARD) + ":" + self.environment["PATH"]
        for command, expected in steps:
            done = subprocess.run(["bash", "-c", command], env=self.environment, cwd=self.work, stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
            printed = done.stdout.replace(self.work, "/home/ann/shop").replace("~/work", "~/shop")
            self.assertEqual([line.rstrip() for line in printed.splitlines()], expected.splitlines(), command)

    def test_the_two_commands_for_a_fresh_machine_are_there(self):
        readme = text_of("README.md")
        for program in ("./ttyward run 'echo hello; exit 3'", "./test"):
            self.assertRegex(readme, rf"(?m)^{re.escape(program)} +#")
            self.assertTrue(os.access(os.path.join(ROOT, program.split()[0]), os.X_OK))

    def test_the_agents_are_those_of_setup(self):
        agents = re.search(r"AGENT (\S+)", self.ok("setup", "--help")).group(1).split("|")
        for page in ("README.md", "docs/setup.md"):
            named = re.search(r"ttyward setup (\w+) +# or (.*)", text_of(page))
            self.assertEqual(sorted([named.group(1), *named.group(2).split(", ")]), sorted(agents), page)

    def test_the_table_of_verbs_has_every_verb(self):
        table = "".join(line for line in text_of("docs/cli.md").splitlines(True) if line.startswith("| `"))
        named = set(re.findall(r"`(\w+)", table))
        self.assertEqual([verb for verb in self.ok("manual", "--list").split() if verb not in named], [])


if __name__ == "__main__":
    main()
