"""`try` of run_command: the result lists what the command changed, and the project is as it was."""
import os
import unittest

from peer import HomeTest, Peer


class Try(HomeTest):
    def setUp(self):
        super().setUp()
        with open(self.work + "/a.txt", "w") as f:
            f.write("one\n")

    def test_the_changes_are_listed_and_not_made(self):
        peer = Peer(self)
        result = peer.tool("run_command", **{"command": "echo 2 > a.txt; echo n > n.txt", "try": True})
        text = result["content"][0]["text"]
        self.assertIn("Changes (not applied; the project is as it was): 1 added, 1 changed, 0 deleted, +2 -1 lines", text)
        self.assertIn("M a.txt +1 -1\n", text)
        self.assertIn("A n.txt +1 -0\n", text)
        self.assertEqual(os.listdir(self.work), ["a.txt"])
        with open(self.work + "/a.txt") as f:
            self.assertEqual(f.read(), "one\n")
        # Without it they are made.
        peer.tool("run_command", command="echo n > n.txt")
        self.assertEqual(sorted(os.listdir(self.work)), ["a.txt", "n.txt"])


if __name__ == "__main__":
    unittest.main()
