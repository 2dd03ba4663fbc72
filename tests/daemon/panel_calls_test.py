"""What a person does through the panel: settings with a difference first, keys by name, a keyboard that goes back."""
import os
import unittest

from daemon_client import CallFailed, Daemon
from patience import eventually

CONFIG = '# mine\n[policy]\nmode = "default" # for now\n'


class Settings(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(CONFIG)
        self.addCleanup(self.daemon.close)
        self.file = self.daemon.folder + "/tw/config/config.toml"
        os.chmod(self.file, 0o600)
        self.person = self.daemon.client

    def text(self):
        with open(self.file) as f:
            return f.read()

    def row(self, name):
        return next(each for each in self.person.call("settings")["settings"] if each["name"] == name)

    def change(self, changes, **more):
        return self.person.call("settings_change", **{"changes": changes, "digest": self.person.call("settings")["digest"], **more})

    def test_a_change_is_shown_first_and_changes_nothing_else(self):
        self.assertEqual(self.row("policy.mode")["words"], ["default"])
        self.assertIn("config.toml:3", self.row("policy.mode")["where"])
        self.assertEqual(self.row("sandbox.profile")["source"], "default")
        self.assertFalse([each for each in self.person.call("settings")["settings"] if not each["name"].startswith(("policy.", "sandbox."))])
        wanted = [{"name": "policy.allowed_roots", "words": ["/srv/work"]}, {"name": "sandbox.profile", "words": ["workspace"]},
                  {"name": "policy.mode", "words": ["plan"]}]
        seen = self.change(wanted, preview=True)
        self.assertEqual((seen["before"], seen["saved"], self.text()), (CONFIG, False, CONFIG))
        saved = self.change(wanted)
        self.assertTrue(saved["saved"])
        self.assertEqual(saved["after"], seen["after"])
        self.assertEqual(self.text(), '# mine\n[policy]\nallowed_roots = ["/srv/work"]\nmode = "plan" # for now\n\n[sandbox]\nprofile = "workspace"\n')
        self.assertEqual(saved["digest"], self.person.call("settings")["digest"])
        # It holds at once, and nobody has to confirm it.
        self.assertEqual(self.row("sandbox.profile")["words"], ["workspace"])
        self.assertEqual(self.person.call("mode")["mode"], "plan")
        self.assertEqual(self.person.call("rules_unconfirmed")["settings"], [])
        # Back to the default.
        self.change([{"name": "sandbox.profile"}, {"name": "policy.mode", "value": '"auto-edit"'}])
        self.assertEqual(self.row("sandbox.profile")["source"], "default")
        self.assertEqual(self.person.call("rules_unconfirmed")["settings"], [], "a looser mode counts as confirmed, too")
        self.assertEqual(self.person.call("mode")["mode"], "auto-edit")

    def test_nothing_is_lost_and_nothing_slips_in(self):
        shown = self.person.call("settings")["digest"]
        with open(self.file, "a") as f:
            f.write("confine = false\n")
        with self.assertRaisesRegex(CallFailed, "changed after it was shown"):
            self.person.call("settings_change", changes=[{"name": "policy.mode", "words": ["plan"]}], digest=shown)
        self.assertIn("confine", self.text())
        # What somebody else loosened is not confirmed along with it.
        with open(self.file, "w") as f:
            f.write(CONFIG.replace("default", "yolo"))
        with self.assertRaisesRegex(CallFailed, "not confirmed"):
            self.change([{"name": "sandbox.profile", "words": ["workspace"]}])
        self.assertEqual(self.row("policy.mode")["words"], ["default"])

    def test_wrong_changes_are_refused_in_one_line(self):
        for changes, words in (
                ([{"name": "policy.mode", "words": ["wild"]}], "policy.mode is"),
                ([{"name": "policy.mode", "words": ["plan", "auto"]}], "policy.mode is"),
                ([{"name": "policy.allowed_roots", "words": ["relative"]}], "allowed_roots"),
                ([{"name": "notify.webhook", "value": '"http://x"'}], "no setting 'notify.webhook'"),
                ([{"name": "mode"}], "no setting 'mode'")):
            with self.assertRaisesRegex(CallFailed, words):
                self.change(changes)
        # A value is a value, whatever is written behind it.
        try:
            self.change([{"name": "policy.confine", "value": 'true\n[notify]\nwebhook = "http://x"'}])
        except CallFailed:
            pass
        self.assertNotIn("webhook", self.text())

    def test_only_a_person_changes_them(self):
        agent = self.daemon.connect("agent", session="s", secret="a secret of sixteen characters")
        self.addCleanup(agent.close)
        for call in ("settings", "settings_change"):
            with self.assertRaisesRegex(CallFailed, "permission_denied"):
                agent.call(call, **({"changes": [], "digest": ""} if call.endswith("change") else {}))


class Keyboard(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.person = self.daemon.client
        self.agent = self.daemon.connect("agent", session="s", secret="a secret of sixteen characters")
        self.addCleanup(self.agent.close)
        self.terminal = self.agent.call("open", cwd=self.daemon.home)["terminal"]["id"]

    def lease(self):
        return self.person.call("show", terminal=self.terminal)["terminal"]["lease"]

    def test_a_silent_page_gives_the_keyboard_back(self):
        page = self.daemon.connect()
        self.addCleanup(page.close)
        held = page.call("attach", terminal=self.terminal, give_back_ms=1500)
        self.assertTrue(held["writable"])
        self.assertIsNotNone(self.lease())
        # It says nothing more. An agent's command that waits for the keyboard then runs.
        done = self.agent.call("exec", terminal=self.terminal, command="echo went on", on_busy="wait")
        self.assertEqual(done["exit_code"], 0)
        self.assertIsNone(self.lease())
        with self.assertRaisesRegex(CallFailed, "only watch"):
            page.call("attach_input", subscription=held["subscription"], base64="bHMN")
        told = [each for each in page.events if each["event"] == "attach_keyboard"]
        self.assertEqual([(each["writable"], each["reason"]) for each in told], [(False, "idle")])
        # It goes on watching, and without the limit nothing is given back by itself.
        again = page.call("attach", terminal=self.terminal)
        self.assertTrue(again["writable"])
        page.call("detach", subscription=again["subscription"])

    def test_keys_by_name_are_what_the_program_asked_for(self):
        page = self.daemon.connect()
        self.addCleanup(page.close)
        self.person.call("exec", terminal=self.terminal, command="cat -v", yield_after_ms=100)
        held = page.call("attach", terminal=self.terminal)["subscription"]
        shows = lambda words: eventually(lambda: words in self.person.call("screen", terminal=self.terminal)["content"])
        page.call("attach_input", subscription=held, keys="Up M-x Enter")
        shows("^[[A^[x")
        page.call("attach_input", subscription=held, keys="C-d")
        eventually(lambda: not self.person.call("show", terminal=self.terminal)["terminal"]["running"])
        page.call("detach", subscription=held)
        self.person.call("exec", terminal=self.terminal, command="printf '\\033[?1h'; cat -v", yield_after_ms=300)
        held = page.call("attach", terminal=self.terminal)["subscription"]
        page.call("attach_input", subscription=held, keys="Down Enter")
        shows("^[OB")
        with self.assertRaisesRegex(CallFailed, "Hyperspace"):
            page.call("attach_input", subscription=held, keys="Hyperspace")


if __name__ == "__main__":
    unittest.main()
