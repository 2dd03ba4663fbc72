"""`ttyward try`, changes, apply, undo, discard: a command without its changes, and what becomes of them."""
import json
import os
import signal
import stat
import subprocess
import time

from harness import PATIENCE, TTYWARD, RunTest, eventually, main, processes


class TryTest(RunTest):
    def setUp(self):
        super().setUp()
        self.work = self.folder + "/ws"
        os.mkdir(self.work)
        self.environment["HOME"] = self.folder + "/home-of-user"
        os.mkdir(self.environment["HOME"])
        self.write("a.txt", "one\ntwo\n")
        self.write("gone.txt", "x\n")
        if self.ttyward("try", "true").returncode == 125:
            self.skipTest("this machine has no layers: " + self.ttyward("try", "true").stderr.decode())

    def write(self, name, text):
        path = os.path.join(self.work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def text(self, name):
        with open(os.path.join(self.work, name)) as f:
            return f.read()

    def listing(self):
        found = {}
        for folder, names, files in os.walk(self.work):
            for name in files:
                path = os.path.join(folder, name)
                found[os.path.relpath(path, self.work)] = os.readlink(path) if os.path.islink(path) else open(path).read()
        return found

    def ttyward(self, *args):
        return subprocess.run([TTYWARD, *args], env=self.environment, cwd=self.work, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)

    def json(self, *args, code=0):
        done = self.ttyward("--json", *args)
        self.assertEqual(done.returncode, code, done)
        return json.loads(done.stdout)

    def tried(self, command, *args, code=0):
        return self.json("try", *args, command, code=code)


class Try(TryTest):
    def test_the_result_lists_the_changes_and_the_workspace_has_none(self):
        before = self.listing()
        result = self.tried("printf 'one\\n2\\n' > a.txt; rm gone.txt; mkdir d; echo n > d/n; printf '\\0' > z; echo done")
        self.assertEqual(result["output"], "done\n")
        changes = result["changes"]
        self.assertEqual((changes["state"], changes["added"], changes["changed"], changes["deleted"]), ("finished", 2, 1, 1))
        self.assertEqual([(c["kind"], c["path"]) for c in changes["list"]],
                         [("changed", "a.txt"), ("added", "d/n"), ("deleted", "gone.txt"), ("added", "z")])
        self.assertEqual((changes["list"][0]["lines_added"], changes["list"][0]["lines_removed"]), (1, 1))
        self.assertTrue(changes["list"][3]["binary"])
        self.assertEqual(self.listing(), before)
        self.assertEqual(result["sandbox"]["profile"], "workspace")

    def test_the_exit_code_is_the_commands(self):
        self.assertEqual(self.tried("echo x > y; exit 3", code=3)["changes"]["added"], 1)

    def test_look_apply_undo_discard(self):
        before = self.listing()
        name = self.tried("echo 2 > a.txt; rm gone.txt; echo n > n")["command_id"]
        patch = self.ttyward("changes", name, "--diff").stdout.decode()
        self.assertIn("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1 @@\n-one\n-two\n+2\n", patch)
        self.assertIn(name, self.ttyward("changes").stdout.decode())
        self.assertEqual(self.ttyward("apply", name, "n").returncode, 0)
        self.assertEqual(self.listing(), {**before, "n": "n\n"})
        applied = self.json("apply", name)
        self.assertEqual(applied["applied"], ["a.txt", "gone.txt"])
        self.assertEqual(self.listing(), {"a.txt": "2\n", "n": "n\n"})
        self.assertEqual(self.ttyward("undo").returncode, 0)
        self.assertEqual(self.listing(), before)
        self.assertEqual(self.ttyward("discard", name).returncode, 0)
        self.assertEqual(self.ttyward("changes", name).returncode, 2)
        self.assertNotIn(name, os.listdir(self.home + "/state/changes"))

    def test_the_patch_is_one_that_git_takes(self):
        name = self.tried("echo 2 > a.txt; rm gone.txt; echo n > n; ln -s n l; chmod +x n")["command_id"]
        patch = self.ttyward("changes", name, "--diff").stdout
        done = subprocess.run(["git", "apply", "--unsafe-paths", "-"], input=patch, cwd=self.work, capture_output=True)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.listing(), {"a.txt": "2\n", "n": "n\n", "l": "n"})

    def test_conflicts_stop_it_with_a_list(self):
        name = self.tried("echo 2 > a.txt; echo n > n")["command_id"]
        self.write("a.txt", "mine\n")
        refused = self.json("apply", name, code=1)
        self.assertEqual([c["path"] for c in refused["conflicts"]], ["a.txt"])
        self.assertEqual(refused["applied"], [])
        self.assertEqual(self.text("a.txt"), "mine\n")
        self.assertFalse(os.path.exists(self.work + "/n"))
        self.assertEqual(self.ttyward("apply", "--force", name).returncode, 0)
        self.assertEqual(self.text("a.txt"), "2\n")

    def test_what_is_outside_of_the_workspace_is_not_reached(self):
        other = self.folder + "/other"
        os.mkdir(other)
        result = self.tried(f"echo x > {other}/x; echo y > ~/y; echo z > /tmp/z-{self.token}; true")
        self.assertEqual(result["changes"]["list"], [])
        self.assertEqual(os.listdir(other), [])
        self.assertEqual(os.listdir(self.environment["HOME"]), [])
        self.assertFalse(os.path.exists(f"/tmp/z-{self.token}"))

    def test_control_files_are_not_applied(self):
        os.makedirs(self.work + "/.git/hooks")
        before = self.listing()
        result = self.tried("echo evil > .git/hooks/post-checkout; mkdir .vscode; echo evil > .vscode/settings.json; "
                            "echo evil > .envrc; mv .git g; true")
        self.ttyward("apply", result["command_id"])
        now = self.listing()
        for path in list(now):
            self.assertNotIn("evil", now[path], path)

    def test_attacks_on_apply(self):
        outside = self.folder + "/outside"
        os.mkdir(outside)
        name = self.tried(f"ln -s {outside} out; cp /bin/true suid; chmod 4755 suid; mkfifo p; "
                          "printf x > \"$(printf 'a\\nb')\"; ln a.txt hard", "--policy", "off")["command_id"]
        done = self.json("apply", name)
        self.assertEqual([p["path"] for p in done["left_out"]], ["p"])
        self.assertEqual(os.lstat(self.work + "/suid").st_mode & 0o7777, 0o755)
        self.assertTrue(os.path.islink(self.work + "/out"))
        self.assertTrue(os.path.exists(self.work + "/a\nb"))
        # A later command's files under what is a link now do not land outside.
        os.mkdir(self.work + "/sub")
        second = self.tried("echo x > sub/x")["command_id"]
        os.rmdir(self.work + "/sub")
        os.symlink(outside, self.work + "/sub")
        self.assertEqual(self.ttyward("apply", second).returncode, 1)
        self.assertEqual(os.listdir(outside), [])

    def test_a_killed_try_can_still_be_used(self):
        process = subprocess.Popen([TTYWARD, "try", f"echo 2 > a.txt; echo up; exec sleep {self.token}"],
                                   env=self.environment, cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(self.stop, process)
        self.assertEqual(process.stdout.readline(), b"up\n")
        name = max(os.listdir(self.home + "/state/changes"), key=lambda each: os.stat(f"{self.home}/state/changes/{each}").st_mtime)
        self.assertEqual(self.ttyward("apply", name).returncode, 125)  # in use
        process.kill()
        process.wait()
        self.assertTrue(eventually(lambda: not processes(self.token)))
        self.assertTrue(eventually(lambda: self.ttyward("apply", name).returncode == 0))
        self.assertEqual(self.text("a.txt"), "2\n")

    def test_starting_takes_no_longer_with_many_files(self):
        for folder in range(50):
            os.makedirs(f"{self.work}/many/{folder}")
            for number in range(200):
                os.close(os.open(f"{self.work}/many/{folder}/{number}", os.O_CREAT | os.O_WRONLY))
        fastest = min(self.tried("true")["duration_ms"] for _ in range(3))
        self.assertLess(fastest, 1000)

    def test_it_is_not_run_without_a_layer(self):
        self.assertEqual(self.ttyward("try", "--sandbox", "none", "echo 2 > a.txt").returncode, 125)
        self.assertEqual(self.text("a.txt"), "one\ntwo\n")

    def test_an_unknown_id_and_bad_words(self):
        self.assertEqual(self.ttyward("apply", "cnothing").returncode, 2)
        self.assertEqual(self.ttyward("changes", "../../etc").returncode, 2)
        name = self.tried("echo n > n")["command_id"]
        self.assertEqual(self.ttyward("apply", name, "other").returncode, 2)


class Kept(TryTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.home + "/config", mode=0o700, exist_ok=True)
        with open(self.home + "/config/config.toml", "w") as f:
            f.write("[sandbox]\nkeep_changes = true\n")

    def test_undo_takes_back_the_last_confined_command(self):
        before = self.listing()
        self.assertEqual(self.ttyward("run", "--sandbox", "workspace", "echo 2 > a.txt").returncode, 0)
        middle = self.listing()
        self.assertEqual(middle["a.txt"], "2\n")
        self.assertEqual(self.ttyward("run", "--sandbox", "workspace", "rm gone.txt; echo 3 >> a.txt").returncode, 0)
        self.assertEqual(self.text("a.txt"), "2\n3\n")
        self.assertEqual(self.ttyward("undo").returncode, 0)
        self.assertEqual(self.listing(), middle)
        self.assertEqual(self.ttyward("undo").returncode, 0)
        self.assertEqual(self.listing(), before)
        self.assertEqual(self.ttyward("undo").returncode, 2)  # nothing is left to undo

    def test_undo_stops_where_something_came_on_top(self):
        self.assertEqual(self.ttyward("run", "--sandbox", "workspace", "echo 2 > a.txt").returncode, 0)
        self.write("a.txt", "later\n")
        self.assertEqual(self.ttyward("undo").returncode, 1)
        self.assertEqual(self.text("a.txt"), "later\n")


if __name__ == "__main__":
    main()
