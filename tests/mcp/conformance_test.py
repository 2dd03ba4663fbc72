"""The official conformance suites against `ttyward mcp --conformance`: every scored scenario of both revisions.

Scenarios that are not scored run too, and pass as well.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

TTYWARD = os.environ["TTYWARD"]
HERE = os.path.dirname(os.path.abspath(__file__))
NODE = os.path.join(HERE, "node_modules/.bin/node")
SUITE = os.path.join(HERE, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
OLD_SUITE = os.path.join(HERE, "node_modules/conformance-0.1/dist/index.js")


class Conformance(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen([TTYWARD, "mcp", "--http", "127.0.0.1:0", "--conformance"],
                                      stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        port = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", cls.server.stderr.readline()).group(1)
        cls.url = f"http://localhost:{port}/mcp"
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.server.stderr.close()
        cls.folder.cleanup()

    def run_suite(self, suite, *options):
        done = subprocess.run([NODE, suite, "server", "--url", self.url, *options], cwd=self.folder.name,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)
        summary = done.stdout[done.stdout.find("=== SUMMARY"):]
        self.assertEqual(done.returncode, 0, summary + done.stderr)
        passed, failed = re.search(r"Total: (\d+) passed, (\d+) failed", summary).groups()
        print(" ".join(options) or "0.1.16", f"{passed} passed, {failed} failed", file=sys.stderr)
        self.assertEqual(int(failed), 0, summary)
        self.assertGreater(int(passed), 30)

    def test_2025_11_25(self):
        self.run_suite(SUITE, "--requirements", "2025-11-25")

    def test_2026_07_28(self):
        self.run_suite(SUITE, "--requirements", "2026-07-28")

    def test_suite_0_1(self):
        self.run_suite(OLD_SUITE)


if __name__ == "__main__":
    unittest.main()
