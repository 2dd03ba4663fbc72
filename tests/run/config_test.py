"""ttyward config: what is set, where it comes from, and what is wrong with it."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import PATIENCE, TTYWARD


class Config(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="ttyward-config-")
        self.addCleanup(shutil.rmtree, self.home)
        os.makedirs(f"{self.home}/config")
        os.makedirs(f"{self.home}/project/below")

    def call(self, *args, env=None):
        return subprocess.run([TTYWARD, "config", *args], capture_output=True, text=True, timeout=PATIENCE,
                              cwd=f"{self.home}/project/below",
                              env={**os.environ, "TTYWARD_HOME": self.home, **(env or {})})

    def write(self, name, text):
        with open(f"{self.home}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(f"{self.home}/{name}", 0o600)

    def test_each_value_says_where_it_comes_from(self):
        self.write("config/config.toml", "[times]\ntimeout = 50\nidle_timeout = 50\n[output]\nlines = 10\n")
        self.write("project/.ttyward.toml", "[times]\ntimeout = 20\n")
        done = self.call("show", "--json", env={"TTYWARD_OUTPUT_LINES": "7"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        settings = json.loads(done.stdout)["settings"]
        self.assertEqual(settings["times.timeout"], {"value": 20000, "unit": "ms", "source": "project",
                                                     "where": f"{self.home}/project/.ttyward.toml:2"})
        self.assertEqual(settings["times.idle_timeout"]["where"], f"{self.home}/config/config.toml:3")
        self.assertEqual(settings["output.lines"], {"value": 7, "unit": "lines", "source": "environment",
                                                    "where": "TTYWARD_OUTPUT_LINES"})
        self.assertEqual(settings["pool.size"]["source"], "default")
        text = self.call("show").stdout
        self.assertIn('timeout = "20s"', text)
        self.assertIn("project/.ttyward.toml:2\n", text)

    def run_in_project(self, command, **env):
        done = subprocess.run([TTYWARD, "--json", "run", command], capture_output=True, text=True, timeout=PATIENCE,
                              cwd=f"{self.home}/project/below", stdin=subprocess.DEVNULL,
                              env={**os.environ, "TTYWARD_HOME": self.home, **env})
        return json.loads(done.stdout)

    def test_run_heeds_it(self):
        self.write("config/config.toml", '[times]\ntimeout = 50\n[output]\nlines = 2\n[shell]\nadd_to_path = ["/first"]\n'
                                         'environment_add = ["ADDED=yes"]\nenvironment_keep = ["KEPT_*"]\nenvironment_drop = ["KEPT_OUT"]\n')
        self.write("project/.ttyward.toml", "[times]\ntimeout = 1\n")
        result = self.run_in_project("echo ${PATH%%:*} $ADDED $KEPT_IN $KEPT_OUT", KEPT_IN="in", KEPT_OUT="out")
        self.assertEqual(result["output"], "/first yes in\n")
        self.assertEqual(self.run_in_project("seq 10")["omitted"]["lines"], 8)
        self.assertEqual(self.run_in_project("sleep 100")["state"], "timed_out")

    def test_an_agents_environment_is_not_the_users_configuration(self):
        for role, omitted in (("agent", False), ("", True)):
            result = self.run_in_project("seq 10", TTYWARD_OUTPUT_LINES="2", TTYWARD_ROLE=role)
            self.assertEqual(result["omitted"] is not None, omitted, result)

    def test_what_is_shown_can_be_read_back(self):
        self.write("shown.toml", self.call("show").stdout)
        done = self.call("check", f"{self.home}/shown.toml")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "no errors\n", ""))

    def test_check(self):
        self.assertEqual(self.call("path").stdout, f"{self.home}/config/config.toml\n")
        self.write("config/config.toml", "[times]\ntimeout = -1\n")
        done = self.call("check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("config.toml:2:11: times.timeout is a time", done.stderr)
        self.write("project/.ttyward.toml", "[daemon]\nautostart = false\n")
        done = self.call("check", f"{self.home}/project/.ttyward.toml", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be set by a project", json.loads(done.stdout)["problems"][0]["text"])
        self.assertEqual(self.call("check", "/nowhere").returncode, 1)
        self.assertEqual(self.call().returncode, 2)


if __name__ == "__main__":
    unittest.main()
