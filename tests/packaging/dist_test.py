"""tools/make_dist.py: what is published holds what it should, and the same tree gives the same bytes. The programs here are
stand-ins; tools/try_release.sh uses the real ones in clean systems."""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

SOURCE = os.environ.get("TTYWARD_SOURCE_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
with open(os.path.join(SOURCE, "CMakeLists.txt")) as f:
    VERSION = re.search(r"project\(ttyward VERSION (\S+)", f.read()).group(1)


class Dist(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="ttyward-dist-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.tree = cls.folder + "/tree"
        for name in ("bin", "libexec/ttyward", "share/doc/ttyward", "lib/systemd/user", "share/man/man1"):
            os.makedirs(f"{cls.tree}/{name}")
        for name in ("bin/ttyward", "libexec/ttyward/ttyward-hold"):
            shutil.copy(os.path.realpath("/bin/true"), f"{cls.tree}/{name}")
        for name in ("share/doc/ttyward/ttyward.spdx.json", "share/man/man1/ttyward.1.gz"):
            with open(f"{cls.tree}/{name}", "w") as f:
                f.write("{}")
        cls.dist = cls.make("first")

    @classmethod
    def make(cls, name, version=VERSION):
        done = subprocess.run([sys.executable, "-B", f"{SOURCE}/tools/make_dist.py", version, cls.tree, f"{cls.folder}/{name}"],
                              env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000"}, text=True, capture_output=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return f"{cls.folder}/{name}"

    def members(self, name):
        with tarfile.open(f"{self.dist}/{name}") as tar:
            return {member.name: member for member in tar if member.isfile()}

    def test_twice_the_same_bytes(self):
        for path in (f"{self.tree}/bin/ttyward", self.tree):
            os.utime(path)
        second = self.make("second")
        self.assertEqual(sorted(os.listdir(second)), sorted(os.listdir(self.dist)))
        for name in os.listdir(second):
            with open(f"{self.dist}/{name}", "rb") as a, open(f"{second}/{name}", "rb") as b:
                self.assertEqual(a.read(), b.read(), name)

    def test_the_checksums_are_right(self):
        with open(self.dist + "/SHA256SUMS") as f:
            rows = [line.split() for line in f]
        self.assertEqual(len(rows), len(os.listdir(self.dist)) - 2)
        for digest, name in rows:
            with open(f"{self.dist}/{name}", "rb") as f:
                self.assertEqual(hashlib.sha256(f.read()).hexdigest(), digest, name)

    def test_the_archive_can_be_anywhere(self):
        members = self.members(f"ttyward-{VERSION}-linux-x86_64.tar.gz")
        self.assertTrue(all(name.startswith(f"ttyward-{VERSION}/") for name in members))
        self.assertEqual(members[f"ttyward-{VERSION}/bin/ttyward"].mode, 0o755)
        self.assertFalse([name for name in members if "systemd" in name], "units name a fixed place")

    def test_the_image_is_whole(self):
        files = {}
        with tarfile.open(f"{self.dist}/ttyward-{VERSION}-linux-x86_64.oci.tar") as tar:
            for member in tar:
                if member.isfile():
                    files[member.name] = tar.extractfile(member).read()

        def blob(of):
            data = files.pop("blobs/" + of["digest"].replace(":", "/"))
            self.assertEqual((f"sha256:{hashlib.sha256(data).hexdigest()}", len(data)), (of["digest"], of["size"]))
            return data

        self.assertEqual(json.loads(files.pop("oci-layout")), {"imageLayoutVersion": "1.0.0"})
        [entry] = json.loads(files.pop("index.json"))["manifests"]
        self.assertEqual(entry["platform"], {"architecture": "amd64", "os": "linux"})
        manifest = json.loads(blob(entry))
        config = json.loads(blob(manifest["config"]))
        layer = gzip.decompress(blob(manifest["layers"][0]))
        self.assertEqual(files, {}, "what nothing names")
        self.assertEqual(config["rootfs"]["diff_ids"], [f"sha256:{hashlib.sha256(layer).hexdigest()}"])
        self.assertEqual(config["config"]["Entrypoint"], ["/usr/bin/ttyward"])
        with open(f"{SOURCE}/server.json") as f:
            self.assertEqual(config["config"]["Labels"]["io.modelcontextprotocol.server.name"], json.load(f)["name"])
        with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
            modes = {member.name: (member.mode, member.uid, member.mtime) for member in tar}
        self.assertEqual(modes["usr/bin/ttyward"], (0o755, 0, 1790000000))
        self.assertEqual(modes["usr/libexec/ttyward/ttyward-hold"][0], 0o755)
        self.assertEqual((modes["tmp"][0], modes["root"][0]), (0o1777, 0o700))

    @unittest.skipUnless(shutil.which("podman"), "no podman")
    def test_podman_takes_the_image(self):
        podman = ["podman", "--root", f"{self.folder}/storage", "--runroot", f"{self.folder}/run", "--storage-driver", "vfs"]
        path = f"{self.dist}/ttyward-{VERSION}-linux-x86_64.oci.tar"
        done = subprocess.run([*podman, "load", "-i", path], text=True, capture_output=True, timeout=120)
        if done.returncode != 0 and ("namespace" in done.stderr or "not permitted" in done.stderr):
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(subprocess.run, [*podman, "rmi", "--all", "--force"], capture_output=True, timeout=120)
        shown = subprocess.run([*podman, "image", "inspect", f"localhost/ttyward:{VERSION}"], text=True, capture_output=True, timeout=120)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(json.loads(shown.stdout)[0]["Config"]["Entrypoint"], ["/usr/bin/ttyward"])

    def test_npm_finds_the_program_of_the_platform(self):
        packages = self.folder + "/node_modules"
        for name, place in ((f"ttyward-{VERSION}.tgz", "ttyward"), (f"ttyward-linux-x64-{VERSION}.tgz", "@ttyward/linux-x64"),
                            (f"ttyward-client-{VERSION}.tgz", "@ttyward/client")):
            with tarfile.open(f"{self.dist}/{name}") as tar:
                tar.extractall(f"{self.folder}/npm", filter="data")
            os.makedirs(os.path.dirname(f"{packages}/{place}"), exist_ok=True)
            os.rename(f"{self.folder}/npm/package", f"{packages}/{place}")
            with open(f"{packages}/{place}/package.json") as f:
                package = json.load(f)
            self.assertEqual((package["name"], package["version"]), (place, VERSION))
            self.assertNotIn("scripts", package)
        node = shutil.which("node")
        if node is None:
            self.skipTest("no node")
        program = f"{packages}/@ttyward/linux-x64/bin/ttyward"
        shim = [node, f"{packages}/ttyward/bin/ttyward.js"]
        self.assertEqual(subprocess.run(shim, timeout=60).returncode, 0)
        with open(program, "w") as f:
            f.write("#!/bin/sh\n[ \"$1\" = kill ] && kill -TERM $$\nread -r line; echo \"$line $*\"; exit 7\n")
        done = subprocess.run([*shim, "a b", "c"], input="in\n", text=True, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (7, "in a b c\n"))
        self.assertEqual(subprocess.run([*shim, "kill"], timeout=60).returncode, -15)
        os.remove(program)
        done = subprocess.run(shim, text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 125)
        self.assertIn("@ttyward/linux-x64 is not installed", done.stderr)

    def test_the_wheel_is_one(self):
        with zipfile.ZipFile(f"{self.dist}/ttyward-{VERSION}-py3-none-any.whl") as wheel:
            self.assertIn("ttyward/_calls.py", wheel.namelist())
            recorded = wheel.read(f"ttyward-{VERSION}.dist-info/RECORD").decode().splitlines()
            self.assertEqual(sorted(row.split(",")[0] for row in recorded), sorted(wheel.namelist()))
        path = f"{self.dist}/ttyward-{VERSION}-py3-none-any.whl"
        version = subprocess.run([sys.executable, "-B", "-c", "import ttyward; print(ttyward.__version__)"], env={"PYTHONPATH": path},
                                 text=True, capture_output=True, check=True).stdout
        self.assertEqual(version, VERSION + "\n")

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb")
    def test_the_debian_package(self):
        path = f"{self.dist}/ttyward_{VERSION}_amd64.deb"
        fields = subprocess.run(["dpkg-deb", "-f", path], text=True, capture_output=True, check=True).stdout
        self.assertIn(f"Version: {VERSION}\n", fields)
        self.assertNotIn("Depends", fields)
        listed = subprocess.run(["dpkg-deb", "-c", path], text=True, capture_output=True, check=True).stdout
        self.assertRegex(listed, r"-rwxr-xr-x root/root .* \./usr/bin/ttyward\n")
        self.assertIn("./usr/lib/systemd/user/ttyward.service", listed)

    def test_the_entry_for_the_registry_of_servers(self):
        """As its schema of 2025-12-11 has it; the registry looks for mcpName in the npm package."""
        with open(f"{SOURCE}/server.json") as f:
            server = json.load(f)
        self.assertLessEqual(set(server), {"$schema", "name", "title", "description", "version", "websiteUrl", "icons", "repository", "packages", "remotes", "_meta"})
        self.assertRegex(server["name"], r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$")
        for name, most in (("name", 200), ("title", 100), ("description", 100), ("version", 255)):
            self.assertTrue(1 <= len(server[name]) <= most, name)
        self.assertLessEqual({"url", "source"}, set(server["repository"]))
        for package in server["packages"]:
            self.assertLessEqual({"registryType", "identifier", "transport"}, set(package))
            self.assertLessEqual(set(package), {"registryType", "registryBaseUrl", "identifier", "version", "transport", "runtimeHint", "runtimeArguments",
                                                "packageArguments", "environmentVariables", "fileSha256"})
            self.assertEqual(package["transport"], {"type": "stdio"})
            for argument in package["packageArguments"]:
                self.assertEqual((argument["type"], "value" in argument), ("positional", True))
            for variable in package["environmentVariables"]:
                self.assertLessEqual(set(variable), {"name", "description", "isRequired", "isSecret", "default", "format", "placeholder", "value", "choices"})
        with tarfile.open(f"{self.dist}/ttyward-{VERSION}.tgz") as tar:
            package = json.load(tar.extractfile("package/package.json"))
        self.assertEqual((package["mcpName"], package["name"]), (server["name"], server["packages"][0]["identifier"]))

    def test_the_changelog_has_this_version(self):
        with open(f"{SOURCE}/CHANGELOG.md") as f:
            headings = re.findall(r"^## (.*)", f.read(), re.M)
        self.assertEqual(headings[0], "Unreleased")
        released = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) \(\d{4}-\d\d-\d\d\)", heading) for heading in headings[1:]]
        self.assertTrue(all(released), headings)
        versions = [tuple(map(int, each.groups())) for each in released]
        self.assertEqual(versions, sorted(versions, reverse=True))
        self.assertIn(VERSION, [heading.split()[0] for heading in headings[1:]])
        with open(f"{self.dist}/notes.md") as f:
            self.assertIn("\n- ", f.read())

    def test_versions_must_agree(self):
        with self.assertRaisesRegex(AssertionError, "not 9.9.9 everywhere"):
            self.make("wrong", "9.9.9")


if __name__ == "__main__":
    unittest.main()
