"""Nothing that the daemon or its shells keep can be read by another user, whatever the umask."""
import os
import shutil
import stat
import unittest

from daemon_client import Daemon


class Modes(unittest.TestCase):
    def test_files_of_every_shell(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        daemon = Daemon("[pool]\nsize = 0\n")
        self.addCleanup(daemon.close)
        person = daemon.client
        for shell in [name for name in ("bash", "zsh", "fish", "dash", "mksh") if shutil.which(name)]:
            terminal = person.call("open", cwd=daemon.home, shell=shutil.which(shell))["terminal"]["id"]
            for command in ("export SEEN=1", "echo seen"):
                self.assertEqual(person.call("exec", terminal=terminal, command=command)["exit_code"], 0)
        person.call("run", command="echo once", cwd=daemon.home)
        state = daemon.folder + "/tw/state"
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(state) for name in names]
        self.assertTrue(any(path.endswith("/names") for path in paths), paths)
        paths = [path for path in paths if not stat.S_ISSOCK(os.lstat(path).st_mode)]
        open_to_others = [(path, oct(os.lstat(path).st_mode)) for path in paths if os.lstat(path).st_mode & 0o077]
        self.assertEqual(open_to_others, [])


if __name__ == "__main__":
    unittest.main()
