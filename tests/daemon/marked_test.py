"""What agents are told of the person: where they are, and what they point at."""
import unittest

from daemon_client import CallFailed, Daemon


class Marked(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("[pool]\nsize = 0\n")
        self.addCleanup(self.daemon.close)
        self.person = self.daemon.client
        self.agent = self.daemon.connect("agent", session="alpha", secret="the secret of this session")
        self.addCleanup(self.agent.close)
        self.id = self.agent.call("open", cwd=self.daemon.home, name="build")["terminal"]["id"]
        self.person.call("exec", terminal=self.id, command="printf 'one\\ntwo\\nthree\\n'")

    def told(self):
        return self.agent.call("environment", cool_down_ms=0)

    def test_where_a_person_is(self):
        self.assertNotIn("person", self.told())
        with self.assertRaises(CallFailed) as failed:
            self.agent.call("screen", terminal="@active")
        self.assertEqual(failed.exception.code, "not_found")
        attached = self.person.call("attach", terminal=self.id)["subscription"]
        news = self.told()
        self.assertEqual((news["person"]["terminal"], news["person"]["attached"], news["person"]["shell"]),
                         (self.id, True, "bash"))
        self.assertIn("printf", news["person"]["last_command"])
        self.assertIn(f"# Where a person is\nTerminal {self.id} \"build\"\n", news["text"])
        self.person.call("detach", subscription=attached)
        self.assertFalse(self.told()["person"]["attached"])
        self.assertIn("three", self.agent.call("screen", terminal="@active")["content"])

    def test_a_terminal_that_is_not_an_agents_to_read_is_not_told_of(self):
        own = self.person.call("open", cwd=self.daemon.home)["terminal"]["id"]
        self.person.call("attach", terminal=own)
        self.person.call("select", terminal=own)
        news = self.told()
        self.assertNotIn("person", news)
        self.assertNotIn("selection", news)
        with self.assertRaises(CallFailed) as failed:
            self.agent.call("screen", terminal="@active")
        self.assertEqual(failed.exception.code, "permission_denied")
        self.person.call("lend", terminal=own, read_only=True)
        self.assertEqual(self.told()["person"]["terminal"], own)

    def test_what_a_person_marked(self):
        lines = self.person.call("read", terminal=self.id)["text"].splitlines()
        two = lines.index("two") + 1
        marked = self.person.call("select", terminal=self.id, range=[two, two + 1])["selection"]
        self.assertEqual(marked["text"], "two\nthree\n")
        news = self.told()
        self.assertEqual(news["selection"]["text"], "two\nthree\n")
        self.assertTrue(news["text"].endswith(f"# What a person marked in terminal {self.id}\ntwo\nthree\n"), news)
        self.assertIn("one\ntwo\nthree\n", self.person.call("select", terminal=self.id)["selection"]["text"])
        self.person.call("select", clear=True)
        self.assertNotIn("selection", self.told())

    def test_agents_mark_nothing(self):
        with self.assertRaises(CallFailed) as failed:
            self.agent.call("select", terminal=self.id)
        self.assertEqual(failed.exception.code, "permission_denied")


if __name__ == "__main__":
    unittest.main()
