"""Settings that change what the daemon does, colours in what is read, and where no daemon is started."""
import contextlib
import os
import re
import sqlite3
import time
import unittest

from harness import CliTest, eventually, lives, main, processes_of


class Settings(CliTest):
    def test_without_autostart_verbs_say_how_to_start_it(self):
        self.configure("[daemon]\nautostart = false\n")
        for words in (["ls"], ["open"], ["exec", "x", "true"], ["wait", "x"]):
            done = self.ttyward(*words)
            self.assertEqual(done.returncode, 125, done)
            self.assertIn("ttyward daemon run", done.stderr)
        self.assertEqual(processes_of(self.home), [])
        self.ok("daemon", "run", "--detach")
        self.ok("ls")

    def test_an_idle_daemon_ends_with_the_shells_it_started_ahead(self):
        self.configure("[daemon]\nidle_exit = 1\n")
        self.open()
        pid = self.json("daemon", "status")["pid"]
        self.assertEqual(self.ttyward("exec", "build", "sleep 2; exit 3").returncode, 3)
        self.assertTrue(lives(pid), "a terminal lives, and then a command runs for longer")
        eventually(lambda: not lives(pid), "the end of the daemon")
        eventually(lambda: processes_of(self.home) == [], "the end of its shells")
        self.assertEqual(self.terminal("build") and self.terminal("build")["state"], "finished")

    def test_a_history_that_is_kept_for_ever(self):
        self.configure("[limits]\nhistory_days = 0\n")
        self.ok("daemon", "run", "--detach")
        self.ok("daemon", "stop")
        with contextlib.closing(sqlite3.connect(self.home + "/state/history.db")) as history:
            history.execute("INSERT INTO commands VALUES ('c1', 't', '', '', 'user', 'make', '/', NULL, 'exited', 0, NULL,"
                            " 'wait', 'pty', 'none', 1000, 1, 't', 0, 0, 0, 0, '', '')")
            history.commit()
        self.ok("daemon", "run", "--detach")
        self.assertEqual([row["command"] for row in self.json("history")["commands"]], ["make"])

    def test_a_daemon_with_a_terminal_is_not_idle(self):
        self.configure("[daemon]\nidle_exit = 1\n")
        self.open()
        pid = self.json("daemon", "status")["pid"]
        before = time.monotonic()
        eventually(lambda: time.monotonic() > before + 2.5)
        self.assertEqual(self.json("daemon", "status")["pid"], pid)

    def test_a_command_ends_later_by_the_delay(self):
        self.configure("[shell]\ncommand_delay = 700\n")
        self.open()
        before = time.monotonic()
        result = self.json("exec", "build", "echo a; (exit 4)")
        self.assertGreaterEqual(time.monotonic() - before, 0.7)
        self.assertEqual((result["exit_code"], result["output"]), (4, "a\n"))
        self.assertEqual(self.ttyward("exec", "build", "(exit 5)").returncode, 5)

    def test_read_with_colours(self):
        self.open()
        self.ok("exec", "build", r"printf 'plain\n\033[1;31mred\033[m and \033[44mblue\033[m\n\033[32m%s\033[m\n' "
                                 "$(printf 'x%.0s' $(seq 300)); printf '\\033[7m   \\033[m\\n'; echo end")
        command = self.json("show", "build")["commands"][0]["command_id"]
        for target in ([command], ["build", "--tail", "100"]):
            plain = self.json("read", *target)
            coloured = self.json("read", *target, "--ansi")
            self.assertEqual(plain["total_lines"], coloured["total_lines"])
            self.assertIn("\033[1;31mred\033[m and \033[44mblue\033[m\n", coloured["text"].replace("\033[0;", "\033["))
            stripped = re.sub("\033\\[[0-9;:]*m", "", coloured["text"])
            self.assertEqual(stripped, plain["text"])
            self.assertNotIn("\033", plain["text"])
        line = self.json("read", command, "--lines", "2:2", "--ansi")
        self.assertTrue(line["text"].endswith("\033[m\n"), line)
        refused = self.ttyward("read", command, "--ansi", "--grep", "red")
        self.assertEqual(refused.returncode, 2, refused)

    def test_no_daemon_is_started_inside_a_terminal_of_its_own(self):
        self.open()
        # In a script: policy asks about a command line that talks to its guard.
        with open(self.path("ask"), "w") as f:
            f.write(f"TTYWARD_HOME={self.home} {os.environ['TTYWARD']} ls\n")
        self.assertIn("build", self.ok("exec", "build", f"sh {self.path('ask')}"))
        running = self.start("exec", "build", f"touch {self.path('begun')}; until [ -e {self.path('go')} ]; do sleep 0.02; "
                                              f"done; sh {self.path('ask')} > {self.path('said')} 2>&1; echo $? >> {self.path('said')}; "
                                              f"touch {self.path('done')}")
        eventually(lambda: os.path.exists(self.path("begun")))
        running.kill()
        running.wait()
        self.kill_daemon()
        open(self.path("go"), "w").close()
        eventually(lambda: os.path.exists(self.path("done")))
        with open(self.path("said")) as f:
            said = f.read()
        self.assertIn("started inside a terminal", said)
        self.assertIn("ttyward daemon run --detach", said)
        self.assertTrue(said.endswith("125\n"), said)
        # From outside all is as it was.
        self.assertEqual(self.ttyward("exec", "build", "--wait", "exit 6").returncode, 6)

    def test_nor_by_a_command_of_run_that_would_end_it(self):
        done = self.ttyward("run", "--policy", "off", f"TTYWARD_HOME={self.home} {os.environ['TTYWARD']} ls")
        self.assertEqual(done.returncode, 125, done)
        self.assertIn("started inside a terminal", done.stdout + done.stderr)
        # One with other folders is somebody's test, and may go with it.
        self.ok("run", "--policy", "off", f"TTYWARD_HOME={self.home}2 {os.environ['TTYWARD']} ls")


if __name__ == "__main__":
    main()
