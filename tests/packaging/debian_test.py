"""The Debian packages: made, looked at, unpacked into a root of their own, and run from there."""
import glob
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import BUILD, PackagingTest, main  # noqa: E402


class Debian(PackagingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.packages = cls.folder + "/packages"
        cls.must("cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-B", cls.packages)

    def package(self, name):
        found = glob.glob(f"{self.packages}/{name}_*.deb")
        self.assertEqual(len(found), 1, os.listdir(self.packages))
        return found[0]

    def field(self, name, field):
        return self.must("dpkg-deb", "-f", self.package(name), field).strip()

    def test_it_depends_on_the_libraries_it_was_linked_with(self):
        depends = self.field("ttyward", "Depends")
        for library in ("libc6", "libstdc++6", "libsqlite3-0", "libre2-9"):
            self.assertIn(library, depends)
        self.assertIn("ttyward (= ", self.field("libttyward-dev", "Depends"))

    def test_each_package_holds_its_part(self):
        program = self.must("dpkg-deb", "-c", self.package("ttyward"))
        self.assertIn("./usr/bin/ttyward\n", program)
        self.assertIn("./usr/libexec/ttyward/ttyward-hold\n", program)
        self.assertIn("./usr/share/doc/ttyward/copyright\n", program)
        self.assertNotIn("/include/", program)
        library = self.must("dpkg-deb", "-c", self.package("libttyward-dev"))
        self.assertIn("./usr/include/ttyward/vt/screen.h\n", library)
        self.assertIn("libttyward.a\n", library)
        self.assertNotIn("/bin/", library)

    def test_the_fleet_is_a_package_of_its_own(self):
        if not os.path.exists(f"{BUILD}/bin/ttyward-fleet"):
            self.skipTest("built without libnats")
        self.assertNotIn("nats", self.field("ttyward", "Depends"))
        depends = self.field("ttyward-fleet", "Depends")
        self.assertIn("libnats", depends)
        self.assertIn("ttyward (= ", depends)
        held = self.must("dpkg-deb", "-c", self.package("ttyward-fleet"))
        self.assertIn("./usr/libexec/ttyward/ttyward-fleet\n", held)
        self.assertNotIn("/bin/ttyward", held.replace("libexec", ""))

    def test_it_runs_from_a_root_of_its_own(self):
        root = self.folder + "/root"
        self.must("dpkg-deb", "-x", self.package("ttyward"), root)
        with open(root + "/usr/lib/systemd/user/ttyward.service") as f:
            self.assertIn("ExecStart=/usr/bin/ttyward daemon run\n", f.read())
        ttyward = root + "/usr/bin/ttyward"
        self.assertRegex(self.must(ttyward, "--version"), r"^ttyward \d+\.\d+\.\d+\n")
        self.assertEqual(self.must(ttyward, "run", "echo hi"), "hi\n")
        try:
            self.must(ttyward, "open", "--name", "build")
            self.assertEqual(self.must(ttyward, "exec", "build", "echo $((6 * 7))"), "42\n")
        finally:
            self.must(ttyward, "daemon", "stop", "--kill-terminals")

    def test_dpkg_takes_it(self):
        """Into a root with a package database of its own, as `dpkg -i` would."""
        if os.getuid() != 0:
            self.skipTest("dpkg --root wants to be root")
        root = self.folder + "/dpkg-root"
        for part in ("var/lib/dpkg/updates", "var/lib/dpkg/info"):
            os.makedirs(f"{root}/{part}")
        open(root + "/var/lib/dpkg/status", "w").close()
        self.must("dpkg", "--root", root, "--force-depends", "--force-script-chrootless", "-i",
                  self.package("ttyward"), self.package("libttyward-dev"))
        self.assertRegex(self.must(root + "/usr/bin/ttyward", "--version"), r"^ttyward ")
        self.must("dpkg", "--root", root, "--force-depends", "-P", "ttyward", "libttyward-dev")
        self.assertFalse(os.path.exists(root + "/usr/bin/ttyward"), "it is gone again")

    def test_lintian_finds_no_error(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        done = self.run_in(self.folder, "lintian", "--allow-root", "--fail-on", "error", self.package("ttyward"),
                           self.package("libttyward-dev"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    main()
