"""tools/check_extension.py finds what does not belong into the archive of the extension, and what is missing."""
import json
import os
import sys
import tempfile
import unittest
import zipfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
import check_extension  # noqa: E402


class Check(unittest.TestCase):
    def problems(self, without=(), more=(), change=lambda package: None, version=None):
        with open(os.path.join(ROOT, "extension/vscode/package.json"), encoding="utf-8") as f:
            package = json.load(f)
        identity = f'<P><Metadata><Identity Id="ttyward" Version="{version or package["version"]}" Publisher="ttyward"/></Metadata></P>'
        change(package)
        content = {"extension.vsixmanifest": identity, "extension/package.json": json.dumps(package), "extension/dist/extension.js": 'require("vscode")'}
        with tempfile.NamedTemporaryFile(suffix=".vsix") as made:
            with zipfile.ZipFile(made, "w") as archive:
                for name in sorted((check_extension.FILES - set(without)) | set(more)):
                    archive.writestr(name, content.get(name, ""))
            made.flush()
            return list(check_extension.problems(made.name))

    def test_nothing_is_wrong(self):
        self.assertEqual(self.problems(), [])

    def test_files(self):
        self.assertEqual(self.problems(more=["extension/.npmrc"]), ["extension/.npmrc does not belong in it"])
        self.assertEqual(self.problems(without=["extension/LICENSE.txt"]), ["extension/LICENSE.txt is missing"])

    def test_content(self):
        def scope(package):
            package["contributes"]["configuration"]["properties"]["ttyward.program"]["scope"] = "resource"

        def menu(package):
            package["contributes"]["menus"]["view/title"].append({"command": "ttyward.gone"})

        self.assertEqual(self.problems(change=scope), ["a workspace could set ttyward.program"])
        self.assertEqual(self.problems(change=menu), ["view/title names ttyward.gone, which is no command"])
        self.assertRegex(self.problems(version="9.9.9")[0], "^the manifest says")


if __name__ == "__main__":
    unittest.main()
