"""The examples, built against an installed library, with CMake and with pkg-config, and run."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, PackagingTest, main  # noqa: E402

EXAMPLES = ("run_command", "three_lines", "render_and_check")


class Library(PackagingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.install()

    def check_examples(self, folder):
        command = folder + "/run_command"
        done = self.run_in(self.folder, command, "printf '\\033[31mred\\033[0m\\n'; exit 3")
        self.assertEqual(done.returncode, 3, done)
        self.assertRegex(done.stdout, r"^red\n-- exited, exit code 3, \d+ ms\n$")
        done = self.run_in(self.folder, command, "read -p 'Your name? ' name")
        self.assertIn("it waited for: Your name?", done.stdout, done)
        done = self.run_in(self.folder, folder + "/three_lines")
        self.assertEqual((done.returncode, done.stdout), (4, "checked\n"), done)
        other = folder + "/render_and_check"
        self.assertEqual(self.must(other, "render", input="10%\r50%\r100%\nready\n"), "100%\nready\n")
        done = self.run_in(self.folder, other, "check", "rm -rf /")
        self.assertEqual(done.returncode, 1, done)
        self.assertTrue(done.stdout.startswith("deny, risk critical\n"), done)
        self.assertEqual(self.must(other, "check", "ls"), "allow, risk low\n")

    def test_find_package(self):
        build = self.folder + "/with-cmake"
        self.must("cmake", "-S", f"{SOURCE}/examples", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                  "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        self.must("cmake", "--build", build)
        self.check_examples(build)

    def test_pkg_config(self):
        build = self.folder + "/with-pkg-config"
        os.mkdir(build)
        found = self.must("find", self.prefix, "-name", "ttyward.pc").strip()
        variables = {"PKG_CONFIG_PATH": os.path.dirname(found)}
        flags = self.must("pkg-config", "--cflags", "--libs", "ttyward", **variables).split()
        for name in EXAMPLES:
            self.must("c++", f"{SOURCE}/examples/{name}.cc", "-o", f"{build}/{name}", *flags)
        self.check_examples(build)
        hold = self.must("pkg-config", "--variable=hold_program", "ttyward", **variables).strip()
        self.assertTrue(os.access(hold, os.X_OK), hold)

    def test_every_public_header_stands_on_its_own(self):
        names = []
        with open(f"{SOURCE}/packaging/library/public_headers.txt") as f:
            names = [line.split("#")[0].strip() for line in f if line.split("#")[0].strip()]
        for name in names:
            self.assertTrue(os.path.isfile(f"{self.prefix}/include/ttyward/{name}"), name)
        source = self.folder + "/all.cc"
        with open(source, "w") as f:
            f.writelines(f"#include <ttyward/{name}>\n" for name in sorted(names, reverse=True))
            f.write("ttyward::engine::Settings settings;\n")
        self.must("c++", "-std=c++20", "-fsyntax-only", f"-I{self.prefix}/include", source)


if __name__ == "__main__":
    main()
