"""What the tests of an installation share: a tree that cmake installed, and a clean environment."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import person  # noqa: E402

SOURCE = os.environ["TTYWARD_SOURCE_DIR"]
BUILD = os.environ["TTYWARD_BUILD_DIR"]
PATIENCE = float(os.environ.get("TTYWARD_TEST_PATIENCE", "300"))


class PackagingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="ttyward-packaging-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    @classmethod
    def run_in(cls, cwd, *args, input=None, **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": cls.folder, "LC_ALL": "C.UTF-8", "TERM": "dumb",
                       "TTYWARD_HOME": cls.folder + "/home",
                       person.VARIABLE: person.make_token(cls.folder + "/home")} | variables
        return subprocess.run(args, cwd=cwd, env=environment, input=input if input is not None else "",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)

    @classmethod
    def must(cls, *args, **options):
        done = cls.run_in(cls.folder, *args, **options)
        if done.returncode != 0:
            raise AssertionError(f"{args} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    @classmethod
    def install(cls):
        cls.prefix = cls.folder + "/prefix"
        cls.must("cmake", "--install", BUILD, "--prefix", cls.prefix, "--strip")


def main():
    unittest.main(verbosity=1)
