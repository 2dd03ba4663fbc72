"""A test with a home of its own, and with it a daemon, which is ended with everything in it."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import patience
import person
from patience import PATIENCE
from processes import lives

TTYWARD = os.environ["TTYWARD"]


class HomeTest(unittest.TestCase):
    CONFIG = '[policy]\nmode = "auto-edit"\n'  # files in the work folder may be written unasked

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tw-home-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.home = self.folder + "/home"
        self.work = self.folder + "/work"
        os.mkdir(self.work)
        self.environment = dict(os.environ, TTYWARD_HOME=self.home, HOME=self.folder, SHELL="/bin/bash", LC_ALL="C.UTF-8")
        self.environment.pop("TTYWARD_ROLE", None)
        os.makedirs(self.home + "/config", mode=0o700)
        os.chmod(self.home, 0o700)
        with open(self.home + "/config/config.toml", "w") as f:
            f.write(self.CONFIG)
        self.environment[person.VARIABLE] = person.make_token(self.home)
        self.addCleanup(self.ttyward, "daemon", "stop", "--kill-terminals")

    def ttyward(self, *args, **options):
        return subprocess.run([TTYWARD, *args], env=self.environment, cwd=self.work, capture_output=True, text=True,
                              timeout=PATIENCE, stdin=None if "input" in options else subprocess.DEVNULL, **options)

    def json(self, *args):
        done = self.ttyward("--json", *args)
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError:
            raise AssertionError((args, done)) from None

    def kill_daemon(self):
        """As a crash would."""
        pid = self.json("daemon", "status")["pid"]
        os.kill(pid, signal.SIGKILL)
        self.eventually(lambda: not lives(pid))

    def eventually(self, holds):
        return patience.eventually(holds)

    def path(self, name):
        return os.path.join(self.work, name)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()
