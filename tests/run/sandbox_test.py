"""`run --sandbox`: confined without a daemon; the exit code, the terminal, signals and limits are as ever."""
import os
import shutil
import tempfile

from harness import Person, RunTest, eventually, main, processes


class Sandbox(RunTest):
    def setUp(self):
        super().setUp()
        self.work = os.path.realpath(tempfile.mkdtemp(prefix="ttyward-sandbox-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.work, True)

    def confined(self, command, *args, profile="workspace"):
        return self.result("--sandbox", profile, "--cwd", self.work, *args, command)

    def test_profile_layers_and_exit_code_are_told(self):
        result = self.confined("echo x > made; exit 7")
        self.assertEqual((result["_code"], result["exit_code"], result["state"]), (7, 7, "exited"))
        self.assertEqual(result["sandbox"]["profile"], "workspace")
        for layer in ("user namespace", "view of files", "process namespace", "network namespace", "seccomp"):
            self.assertIn(layer, result["sandbox"]["layers"])
        self.assertEqual(os.listdir(self.work), ["made"])

    def test_how_memory_is_limited_is_told(self):
        told = self.confined("true")["sandbox"]
        grouped = any(layer.startswith("cgroup of memory") for layer in told["layers"])
        self.assertNotEqual(grouped, any("no cgroup" in note for note in told.get("notes", [])), told)

    def test_without_the_option_nothing_changes(self):
        self.assertNotIn("sandbox", self.result("--cwd", self.work, "true"))

    def test_the_variable_is_the_default(self):
        self.environment["TTYWARD_SANDBOX"] = "read-only"
        self.assertEqual(self.result("--cwd", self.work, "true")["sandbox"]["profile"], "read-only")
        self.assertEqual(self.result("--cwd", self.work, "--sandbox", "workspace", "true")["sandbox"]["profile"], "workspace")

    def test_secrets_of_the_environment_stay_outside(self):
        self.environment.update({"GITHUB_TOKEN": "ghp_" + "a" * 36, "SSH_AUTH_SOCK": "/run/agent", "MYSQL_PWD": "x"})
        result = self.confined("env", "--inherit-env")
        for name in ("GITHUB_TOKEN", "SSH_AUTH_SOCK", "MYSQL_PWD"):
            self.assertNotIn(name, result["output"])
        self.assertIn("HOME=", result["output"])
        self.assertIn("GIVEN_TOKEN=1", self.confined("env", "--env", "GIVEN_TOKEN=1")["output"])

    def test_its_terminal_is_a_terminal(self):
        result = self.confined("tty; test -t 0 && test -t 1 && echo yes; echo a > /dev/tty; stty size", "--policy", "off")
        self.assertEqual(result["exit_code"], 0, result)
        self.assertIn("/dev/console", result["output"])
        self.assertIn("yes", result["output"])

    def test_a_person_works_in_it(self):
        person = Person(self, "run", "--sandbox", "workspace", "--cwd", self.work, "bash --norc -i")
        person.type("echo $((6*7))x\r")
        person.wait_for("42x")
        person.type("sleep 1000\r")
        self.assertTrue(eventually(lambda: processes("sleep 1000")))
        person.type("\x03")
        person.type("echo b$((1+1))c; exit 5\r")
        person.wait_for("b2c")
        self.assertEqual(person.end(), 5)

    def test_a_time_limit_ends_everything_in_it(self):
        result = self.confined(f"setsid sleep {self.token} & sleep {self.token}", "--timeout", "1")
        self.assertEqual(result["state"], "timed_out")
        self.assertTrue(eventually(lambda: not processes(self.token)))
        self.assertEqual(os.listdir(self.work), [])

    def test_what_it_left_behind_is_ended_and_told(self):
        result = self.confined(f"(setsid sleep {self.token} >/dev/null 2>&1 &); sleep 0.1; echo end")
        self.assertEqual((result["exit_code"], result["output"]), (0, "end\n"))
        self.assertTrue(eventually(lambda: not processes(self.token)))

    def test_it_ends_with_the_program_that_holds_it(self):
        process = self.start("run", "--sandbox", "workspace", "--cwd", self.work, f"sleep {self.token}")
        self.assertTrue(eventually(lambda: processes(f"sleep {self.token}")))
        process.kill()
        process.wait()
        self.assertTrue(eventually(lambda: not processes(f"sleep {self.token}")))
        # What stands for files that do not exist stays then, until the next sandbox.
        self.confined("true")
        self.assertEqual(os.listdir(self.work), [])

    def test_a_home_folder_is_refused_as_a_workspace(self):
        done = self.run_it("--sandbox", "workspace", "--cwd", os.path.expanduser("~"), "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"home folder", done.stderr)

    def test_wrong_names_are_told(self):
        done = self.run_it("--sandbox", "prison", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"read-only, workspace, workspace+net", done.stderr)

    def test_a_program_that_is_not_visible(self):
        os.mkdir(self.folder + "/bin")
        shutil.copy("/bin/true", self.folder + "/bin/hidden")
        done = self.run_it("--sandbox", "workspace", "--cwd", self.work, "--", self.folder + "/bin/hidden")
        self.assertEqual(done.returncode, 126)
        self.assertIn(b"not visible in the sandbox", done.stderr)

    def test_an_agent_in_mode_auto_is_confined(self):
        os.makedirs(self.home + "/config", mode=0o700)
        with open(self.home + "/config/config.toml", "w") as f:
            f.write('[policy]\nmode = "auto"\n')
        self.environment["TTYWARD_ROLE"] = "agent"
        result = self.result("--cwd", self.work, "echo 'touch /etc/ttyward-test' > script; sh script")
        self.assertEqual(result["verdict"]["decision"], "allow_confined", result)
        self.assertEqual(result["sandbox"]["profile"], "workspace")
        self.assertFalse(os.path.exists("/etc/ttyward-test"))
        refused = self.result("--cwd", self.work, "curl http://127.0.0.1:1")
        self.assertEqual(refused["state"], "denied")


    def test_what_is_kept_stays_confined(self):
        result = self.confined(f"sleep {self.token} & echo started", "--keep-background")
        self.assertEqual(result["output"], "started\n")
        self.assertEqual(len(result["background"]), 1, result)
        for pid in processes(f"sleep {self.token}"):
            os.kill(pid, 9)
        self.assertTrue(eventually(lambda: os.listdir(self.work) == []))


if __name__ == "__main__":
    main()
