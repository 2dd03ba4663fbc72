"""ttyward doctor: what it finds on a machine that is well, and on one that is not."""
import json
import os
import resource
import shutil
import subprocess
import tempfile
import unittest

from harness import PATIENCE, TTYWARD

TOPICS = ["refused", "binary", "abort", "idle-timeout"]


class Doctor(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="ttyward-doctor-")
        self.addCleanup(shutil.rmtree, self.home)

    def call(self, *args, env=None, **more):
        return subprocess.run([TTYWARD, "doctor", *args], capture_output=True, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, env={**os.environ, "TTYWARD_HOME": self.home, **(env or {})},
                              **more)

    def findings(self, *args, env=None, **more):
        done = self.call("--json", *args, env=env, **more)
        self.assertEqual(done.stderr, "")
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1 if answer["worst"] == "fail" else 0)
        found = {}
        for each in answer["findings"]:
            self.assertIn(each["level"], ["ok", "warn", "fail"])
            if each["level"] != "ok":
                self.assertTrue(each["advice"], each)
            found.setdefault(each["check"], []).append(each)
        return found

    def test_every_check_reports_and_nothing_is_left_behind(self):
        found = self.findings()
        for name in ["pty", "pidfd", "subreaper", "proc", "waiting", "descriptors", "journals", "runtime", "config",
                     "sandbox", "shells", "notify", "terminal"]:
            self.assertIn(name, found)
        self.assertIn("seccomp", found["sandbox"][0]["text"])
        if found["sandbox"][0]["level"] == "ok":
            for layer in ("limits", "ipc namespace"):
                self.assertIn(layer, found["sandbox"][0]["text"])
            texts = " ".join(each["text"] for each in found["sandbox"])
            self.assertIn("Landlock", texts)
            self.assertIn("ttyward try", texts)
        self.assertEqual(found["pty"][0]["level"], "ok")
        self.assertTrue(any("bash" in each["text"] and "rich" in each["text"] for each in found["shells"]))
        self.assertEqual(os.listdir(self.home), [])

    def test_people_get_lines(self):
        done = self.call()
        self.assertIn("pty: pseudo terminals\n  ok ", done.stdout)

    def test_a_folder_open_to_others(self):
        os.makedirs(f"{self.home}/state/journals")
        os.chmod(f"{self.home}/state/journals", 0o777)
        found = self.findings()
        self.assertEqual(found["journals"][0]["level"], "fail")
        self.assertIn("chmod go=", found["journals"][0]["advice"])

    def test_a_file_where_a_folder_should_be(self):
        with open(f"{self.home}/state", "w", encoding="utf-8"):
            pass
        self.assertEqual(self.findings()["journals"][0]["level"], "fail")

    def test_mistakes_in_the_configuration(self):
        os.makedirs(f"{self.home}/config")
        with open(f"{self.home}/config/config.toml", "w", encoding="utf-8") as f:
            f.write('[times]\ntimeuot = 3\n[shell]\npath = "/nowhere/sh"\n')
        os.chmod(f"{self.home}/config/config.toml", 0o600)
        found = self.findings()
        self.assertIn("did you mean times.timeout?", found["config"][0]["text"])
        self.assertEqual([each for each in found["shells"] if each["level"] == "fail"][0]["text"].split(",")[0],
                         "shell.path is /nowhere/sh")

    def test_no_runtime_folder(self):
        env = {name: value for name, value in os.environ.items() if name not in ("TTYWARD_HOME", "XDG_RUNTIME_DIR")}
        done = subprocess.run([TTYWARD, "doctor", "--json"], capture_output=True, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, env={**env, "HOME": self.home})
        runtime = [each for each in json.loads(done.stdout)["findings"] if each["check"] == "runtime"]
        self.assertEqual(runtime[0]["level"], "warn")

    def test_no_programs_in_path(self):
        found = self.findings(env={"PATH": self.home})
        self.assertEqual(found["shells"][0]["level"], "fail")
        self.assertIn("install it", found["shells"][0]["advice"])
        self.assertEqual(found["waiting"][0]["level"], "fail")

    def test_a_webhook_needs_curl(self):
        found = self.findings(env={"PATH": self.home, "TTYWARD_NOTIFY_WEBHOOK": "https://example.org/hook"})
        self.assertEqual(found["notify"][0]["level"], "warn")
        self.assertIn("install curl", found["notify"][0]["advice"])

    def test_few_files_allowed(self):
        found = self.findings(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
        self.assertEqual(found["descriptors"][0]["level"], "warn")

    def test_explanations(self):
        for topic in TOPICS:
            done = self.call("--explain", topic)
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stdout.startswith("Why "), topic)
        done = self.call("--explain", "weather")
        self.assertEqual(done.returncode, 2)
        for topic in TOPICS:
            self.assertIn(topic, done.stderr)


if __name__ == "__main__":
    unittest.main()
