"""Shells that our hooks cannot reach: another user's (su), another machine's (ssh). The terminal notices, says so,
follows commands by sentinel, and is as before when the shell inside has ended."""
import os
import shutil
import unittest

import loopback_sshd
from daemon_client import PATIENCE
from owners_test import OwnersTest


class Nested(OwnersTest):
    CONFIG = '[policy]\nmode = "yolo"\n'

    def setUp(self):
        super().setUp()
        self.one = self.agent()
        self.terminal = self.open(self.one)

    def run_in(self, command):
        return self.one.call("exec", terminal=self.terminal, command=command, yield_after_ms=int(PATIENCE * 1000))

    def enter(self, command):
        began = self.one.call("exec", terminal=self.terminal, command=command, yield_after_ms=1)
        came = self.one.call("wait", terminal=self.terminal, prompt=True, timeout_ms=int(PATIENCE * 500))
        self.assertEqual(came["condition"], "prompt", came)
        return began["command_id"]

    def heals(self, login, expect, cwd_known_by):
        self.enter(login)
        now = self.one.call("show", terminal=self.terminal)["terminal"]
        self.assertEqual(now["integration"], "none")
        self.assertIn("found by a sentinel", now["fallback_reason"])
        for code in (0, 3):
            result = self.run_in(f"{expect[0]}; (exit {code})")
            self.assertEqual((result["state"], result["exit_code"], result["known_by"], result["output"]),
                             ("exited", code, "sentinel", expect[1] + "\n"), result)
        self.run_in("cd /usr")
        now = self.one.call("show", terminal=self.terminal)["terminal"]
        self.assertEqual((now["cwd"], now["cwd_known_by"]), ("/usr", cwd_known_by))
        result = self.run_in("exit 6")
        self.assertEqual((result["state"], result["exit_code"], result["reason"]), ("exited", 6, "it ended the shell"), result)
        came = self.one.call("wait", terminal=self.terminal, prompt=True, timeout_ms=int(PATIENCE * 500))
        self.assertEqual(came["condition"], "prompt", came)
        now = self.one.call("show", terminal=self.terminal)["terminal"]
        self.assertEqual((now["integration"], now["fallback_reason"], now["cwd"]), ("rich", None, self.work))
        result = self.run_in("echo back; (exit 4)")
        self.assertEqual((result["exit_code"], result["known_by"], result["output"]), (4, "shell_mark", "back\n"), result)

    def test_su(self):
        if os.geteuid() != 0 or not shutil.which("su"):
            self.skipTest("only root becomes another user without a password")
        self.heals("su -s /bin/bash nobody", ("id -un", "nobody"), "kernel")

    def test_ssh(self):
        login = loopback_sshd.start(self, self.daemon.folder, self.daemon.home)
        # sshd is what the shell elsewhere descends from.
        self.heals(login, ("test -n \"$SSH_CONNECTION\" && echo over there", "over there"), "text")


if __name__ == "__main__":
    unittest.main()
