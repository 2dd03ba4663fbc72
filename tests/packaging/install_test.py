"""`cmake --install` into a folder: everything is there, and the program works from there."""
import gzip
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, PackagingTest, main  # noqa: E402


class Install(PackagingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.install()

    def at(self, path):
        return os.path.join(self.prefix, path)

    def test_what_is_where(self):
        for path in ("bin/ttyward", "libexec/ttyward/ttyward-hold", "share/bash-completion/completions/ttyward",
                     "share/zsh/vendor-completions/_ttyward", "share/fish/vendor_completions.d/ttyward.fish",
                     "share/man/man1/ttyward.1.gz", "lib/systemd/user/ttyward.socket",
                     "share/licenses/ttyward/LICENSE", "share/doc/ttyward/licences.md",
                     "include/ttyward/vt/screen.h", "include/ttyward/engine/engine.h"):
            self.assertTrue(os.path.isfile(self.at(path)), path)
        self.assertFalse(os.path.exists(self.at("share/lintian")), "that is for Debian packages only")

    def test_the_unit_starts_the_program_of_this_prefix(self):
        with open(self.at("lib/systemd/user/ttyward.service")) as f:
            self.assertIn(f"ExecStart={self.prefix}/bin/ttyward daemon run\n", f.read())

    def test_the_manual_is_one(self):
        with gzip.open(self.at("share/man/man1/ttyward.1.gz"), "rt") as f:
            self.assertIn(".TH", f.read())

    def test_every_verb_has_a_page(self):
        verbs = self.must(self.at("bin/ttyward"), "manual", "--list").split()
        self.assertIn("run", verbs)
        self.assertNotIn("manual", verbs)
        self.assertEqual(sorted(os.listdir(self.at("share/man/man1"))),
                         sorted(["ttyward.1.gz"] + [f"ttyward-{verb}.1.gz" for verb in verbs]))
        with gzip.open(self.at("share/man/man1/ttyward-run.1.gz"), "rt") as f:
            page = f.read()
        self.assertIn("TTYWARD-RUN 1".replace("-", "\\-"), page)
        self.assertIn("timeout", page)

    def test_a_newcomer_uses_it(self):
        """The script that tries releases and packages in clean systems."""
        newcomer = self.folder + "/newcomer"
        os.mkdir(newcomer)
        self.must("sh", f"{SOURCE}/tools/use_ttyward.sh", PATH=f"{self.prefix}/bin:{os.environ['PATH']}", HOME=newcomer,
                  TTYWARD_HOME=newcomer + "/ttyward", TTYWARD_PERSON_TOKEN_FILE="")

    def test_the_bill_of_materials_names_every_dependency_with_its_version(self):
        with open(self.at("share/doc/ttyward/ttyward.spdx.json")) as f:
            document = json.load(f)
        self.assertEqual(document["spdxVersion"], "SPDX-2.3")
        names = [package["name"] for package in document["packages"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("SQLite", names)
        for package in document["packages"]:
            self.assertRegex(package["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertTrue(package.get("versionInfo"), package)
        self.assertEqual(len(document["relationships"]), len(names))

    def test_the_page_of_licences_is_up_to_date(self):
        self.must(sys.executable, f"{SOURCE}/tools/make_sbom.py", "check", f"{SOURCE}/docs/licences.md")

    def test_the_program_runs(self):
        ttyward = self.at("bin/ttyward")
        self.assertRegex(self.must(ttyward, "--version"), r"^ttyward \d+\.\d+\.\d+\n")
        self.assertEqual(self.must(ttyward, "run", "echo hi"), "hi\n")
        self.assertEqual(self.run_in(self.folder, ttyward, "run", "exit 7").returncode, 7)

    def test_the_daemon_finds_its_holder(self):
        ttyward = self.at("bin/ttyward")
        try:
            self.must(ttyward, "open", "--name", "build")
            self.assertEqual(self.must(ttyward, "exec", "build", "echo $((6 * 7))"), "42\n")
        finally:
            self.must(ttyward, "daemon", "stop", "--kill-terminals")

    def test_without_its_holder_the_program_says_what_to_do(self):
        alone = self.folder + "/alone"
        os.makedirs(alone, exist_ok=True)
        subprocess.run(["cp", self.at("bin/ttyward"), alone], check=True)
        done = self.run_in(self.folder, alone + "/ttyward", "daemon", "run")
        self.assertEqual(done.returncode, 125)
        self.assertIn("install ttyward again", done.stderr)


if __name__ == "__main__":
    main()
