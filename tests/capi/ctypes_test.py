"""The C interface by ctypes, and that nothing else can be seen of the library."""
import ctypes
import json
import os
import re
import subprocess
import unittest

LIBRARY = os.environ["TTYWARD_LIBRARY"]
HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "capi", "ttyward.h")


class Ctypes(unittest.TestCase):
    def setUp(self):
        self.library = ctypes.CDLL(LIBRARY)
        self.library.ttyward_run.restype = ctypes.c_void_p
        self.library.ttyward_run.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
        self.library.ttyward_result_output.restype = ctypes.c_char_p
        self.library.ttyward_check.restype = ctypes.c_void_p

    def test_a_command(self):
        result = ctypes.c_void_p(self.library.ttyward_run(b"echo hi; exit 7", None))
        code = ctypes.c_int()
        self.assertEqual(self.library.ttyward_result_exit_code(result, ctypes.byref(code)), 1)
        self.assertEqual(code.value, 7)
        self.assertEqual(self.library.ttyward_result_output(result, None), b"hi\n")
        self.library.ttyward_result_free(result)

    def test_a_verdict(self):
        text = ctypes.c_void_p(self.library.ttyward_check(b"rm -rf /", b"/tmp"))
        self.assertIn(json.loads(ctypes.string_at(text))["decision"], ("ask", "deny"))
        self.library.ttyward_free(text)

    def test_exactly_the_functions_of_the_header_are_exported(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], text=True, capture_output=True, check=True).stdout
        exported = {name.partition("@")[0] for kind, name in re.findall(r"^\S+ (\w) (\S+)$", listed, re.M) if kind != "A"}
        with open(HEADER) as f:
            declared = set(re.findall(r"\b(ttyward_\w+)\(", f.read()))
        self.assertEqual(exported, declared)
        self.assertIn("@@TTYWARD_1", listed)


if __name__ == "__main__":
    unittest.main()
