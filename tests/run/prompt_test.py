"""ttyward prompt: commands in a prompt file run under policy, and their output takes their place."""
import json
import os
import subprocess

from harness import PATIENCE, TTYWARD, Person, RunTest, main

with open(TTYWARD, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()


class Prompt(RunTest):
    def setUp(self):
        super().setUp()
        self.environment.pop("TTYWARD_ROLE", None)
        with open(self.folder + "/notes", "w") as f:
            f.write("one\ntwo words\n")

    def write(self, text):
        with open(self.folder + "/prompt.md", "w") as f:
            f.write(text)
        return "prompt.md"

    def prompt(self, text, *words, options=(), environment=None, globals=()):
        return subprocess.run([TTYWARD, *globals, "prompt", *options, self.write(text), *words], cwd=self.folder,
                              env=environment or self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, start_new_session=True)

    def test_table(self):
        for text, words, expected in [
            ("", [], ""),
            ("no commands { here }\n", [], "no commands { here }\n"),
            ("<!{cat notes}>", [], "<one\ntwo words>"),
            ("!{cat notes | wc -l} lines, !{echo two}", [], "2 lines, two"),
            ("!{awk '{print $1}' notes}", [], "one\ntwo"),
            ("for {{args}}: !{grep -c {{args}} notes}", ["two words"], "for two words: 1"),
            ("!{grep -c {{args}} notes}", ["two", "words"], "1"),
            ("!{echo {{args}}}", ["$(echo x); `echo y`"], "$(echo x); `echo y`"),
            ("{{args}}", ["!{echo no}"], "!{echo no}"),
            ("[!{ }]", [], "[]"),
            ("!{echo a; exit 3}!", [], "a\n[!{echo a; exit 3} ended with exit code 3]!"),
            ("!{ls nowhere 2>/dev/null}", [], "[!{ls nowhere 2>/dev/null} ended with exit code 2]"),
        ]:
            with self.subTest(text=text, words=words):
                done = self.prompt(text, *words)
                self.assertEqual((done.stdout.decode(), done.stderr, done.returncode), (expected, b"", 0))

    def test_mistakes_are_named_and_nothing_is_printed(self):
        for text, words, message in [
            ("a\n!{ls", [], b"prompt.md: line 2: this !{ has no } that closes it"),
            ("!{grep '{{args}}' notes}", ["x"], b"remove the quotes around {{args}}"),
            ("!{cat <<E\n{{args}}\nE\n}", ["\nE\ntouch made\ncat <<E"], b"would change its meaning"),
            ("!{echo a # {{args}}\n}", ["\ntouch made"], b"would change its meaning"),
        ]:
            for options in ([], ["--policy", "off"]):
                with self.subTest(text=text, options=options):
                    done = self.prompt(text, *words, options=options)
                    self.assertEqual((done.returncode, done.stdout), (2, b""), done)
                    self.assertIn(message, done.stderr)
        self.assertFalse(os.path.exists(self.folder + "/made"))
        done = subprocess.run([TTYWARD, "prompt", "nowhere.md"], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)

    def test_a_refused_command_is_named_and_none_runs(self):
        for options in ([], ["--mode", "yolo"], ["--as-agent"]):
            done = self.prompt("!{rm -rf /usr} !{touch made}", options=options)
            self.assertEqual((done.returncode, done.stdout), (126, b""), done)
            self.assertIn(b"rm -rf /usr", done.stderr)
            self.assertFalse(os.path.exists(self.folder + "/made"))

    def test_what_needs_consent_is_not_run_without_a_terminal(self):
        agent = {**self.environment, "TTYWARD_ROLE": "agent"}
        for environment in (self.environment, agent):
            done = self.prompt("!{touch made}", environment=environment)
            self.assertEqual((done.returncode, done.stdout), (126, b""))
            self.assertIn(b"!{touch made}", done.stderr)
        self.assertEqual(self.prompt("!{ls}", options=["--mode", "yolo"], environment=agent).returncode, 2)
        self.assertEqual(self.prompt("!{ls}", options=["--policy", "off"], environment=agent).returncode, 2)
        self.assertFalse(os.path.exists(self.folder + "/made"))

    def test_yolo_skips_questions(self):
        done = self.prompt("!{touch made}ok", options=["--mode", "yolo"])
        self.assertEqual((done.returncode, done.stdout), (0, b"ok"))
        self.assertTrue(os.path.exists(self.folder + "/made"))

    def test_one_question_lists_all_that_need_one(self):
        text = "!{touch made}!{ls}!{touch more}"
        person = Person(self, "prompt", self.write(text))
        person.wait_for("[y/N] ")
        self.assertIn(b"touch made", person.seen)
        self.assertIn(b"touch more", person.seen)
        self.assertIn(b"Run all 2 of them?", person.seen)
        self.assertNotIn(b"  ls\r\n", person.seen)
        person.type("n\r")
        self.assertEqual(person.end(), 126)
        self.assertFalse(os.path.exists(self.folder + "/made"))
        person = Person(self, "prompt", self.write(text))
        person.wait_for("[y/N] ")
        person.type("y\r")
        self.assertEqual(person.end(), 0)
        self.assertTrue(os.path.exists(self.folder + "/more"))

    def test_a_command_that_cannot_start_ends_it_all(self):
        if SANITIZED:
            self.skipTest("a sanitizer needs descriptors of its own")
        file = self.write("!{echo first} !{ls}")
        done = subprocess.run(["bash", "-c", 'ulimit -n 8; exec "$@"', "bash", TTYWARD, "prompt", file], cwd=self.folder,
                              env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (125, b""), done)
        self.assertIn(b"!{echo first} could not be started, so no prompt was printed", done.stderr)

    def test_json_holds_prompt_and_results(self):
        out = json.loads(self.prompt("!{cat notes}.", globals=["--json"]).stdout)
        self.assertEqual(out["prompt"], "one\ntwo words.")
        self.assertEqual(out["commands"][0]["exit_code"], 0)
        self.assertEqual(out["commands"][0]["verdict"]["decision"], "allow")


if __name__ == "__main__":
    main()
