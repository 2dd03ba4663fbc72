"""`ttyward history verify`: decisions that somebody removed or changed in the database are found."""
import json
import os
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from daemon_client import PATIENCE, TTYWARD, Daemon  # noqa: E402


class Verify(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("[pool]\nsize = 0\n")
        self.addCleanup(self.daemon.close)
        self.path = self.daemon.folder + "/tw/state/history.db"

    def verify(self, *, code):
        done = subprocess.run([TTYWARD, "--json", "history", "verify"], env=self.daemon.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done)
        return json.loads(done.stdout)

    def decide(self):
        """Some decisions, and the daemon's end: nothing is written after it."""
        agent = self.daemon.connect("agent", session="alpha", secret="the secret of this session")
        self.addCleanup(agent.close)
        for number in range(6):
            self.assertEqual(agent.call("run", command=f"echo {number}", cwd="/")["exit_code"], 0)
        subprocess.run([TTYWARD, "daemon", "stop", "--kill-terminals"], env=self.daemon.environment, check=True,
                       timeout=PATIENCE, stdout=subprocess.DEVNULL)
        self.daemon.wait_for_end()

    def change(self, statement, *values):
        with sqlite3.connect(self.path) as database:
            self.assertEqual(database.execute(statement, values).rowcount, 1)
        database.close()

    def rows(self):
        with sqlite3.connect(self.path) as database:
            found = database.execute("SELECT number, command FROM decisions ORDER BY number").fetchall()
        database.close()
        return found

    def test_untouched(self):
        self.assertEqual(self.verify(code=0)["problems"], [])
        self.decide()
        report = self.verify(code=0)
        self.assertEqual(report["problems"], [])
        self.assertGreaterEqual(report["rows"], 6)
        self.assertEqual(report["rows"], len(self.rows()))

    def test_a_row_that_was_removed(self):
        self.decide()
        number = self.rows()[2][0]
        self.change("DELETE FROM decisions WHERE number = ?", number)
        problems = self.verify(code=1)["problems"]
        self.assertTrue(any(each["row"] in (number, number + 1) for each in problems), problems)

    def test_the_newest_row_was_removed(self):
        self.decide()
        self.change("DELETE FROM decisions WHERE number = ?", self.rows()[-1][0])
        self.assertTrue(self.verify(code=1)["problems"])

    def test_a_row_that_was_changed(self):
        self.decide()
        number, command = self.rows()[3]
        self.change("UPDATE decisions SET command = ? WHERE number = ?", command + " # harmless", number)
        problems = self.verify(code=1)["problems"]
        self.assertIn(number, [each["row"] for each in problems], problems)
        self.change("UPDATE decisions SET command = ? WHERE number = ?", command, number)
        self.assertEqual(self.verify(code=0)["problems"], [])


if __name__ == "__main__":
    unittest.main()
