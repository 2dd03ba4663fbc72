"""Containers: the same truth inside them, and a word when they end. Needs podman, runc and busybox."""
import json
import os
import shutil
import subprocess
import tempfile

from place_harness import PATIENCE, PlaceTest, TTYWARD, command_line, eventually, main, processes

IMAGE = "localhost/ttyward-test-busybox:1"
RUN = ["--runtime", "runc", "run", "-d", "--net=none", "--ulimit", "nofile=20000:20000", "--ulimit", "nproc=4096:4096"]


def podman(*words, check=True):
    return subprocess.run(["podman", *words], check=check, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240,
                          stdin=subprocess.DEVNULL)


def why_not():
    """Why containers cannot be tested here; None: they can."""
    if not shutil.which("podman") or not shutil.which("runc"):
        return "no podman and runc here: ./setup --tests installs them"
    busybox = shutil.which("busybox", path="/bin:/usr/bin")
    if not busybox:
        return "no busybox here: ./setup --tests installs one"
    # It may need its loader and libraries.
    needs = subprocess.run(["ldd", busybox], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().split()
    needs = [word for word in needs if word.startswith("/")]
    if podman("image", "exists", IMAGE, check=False).returncode != 0:
        with tempfile.TemporaryDirectory() as root:
            for folder in ("bin", "tmp", "root", "proc", "dev", "etc", "sys", "run"):
                os.makedirs(f"{root}/tree/{folder}")
            for file in [busybox, *needs]:
                target = f"{root}/tree/bin/busybox" if file == busybox else f"{root}/tree{file}"
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(file, target)
            for name in ("sh", "cat", "head", "chmod", "mv", "mkdir", "rm", "echo", "id", "uname", "sleep", "sha256sum",
                         "stty", "kill", "ls", "true", "seq", "pwd", "test"):
                os.symlink("busybox", f"{root}/tree/bin/{name}")
            with open(f"{root}/tree/etc/passwd", "w") as f:
                f.write("root:x:0:0:root:/root:/bin/sh\n")
            subprocess.run(["tar", "-C", f"{root}/tree", "-cf", f"{root}/image.tar", "."], check=True)
            made = podman("import", f"{root}/image.tar", IMAGE, check=False)
            if made.returncode != 0:
                return "podman cannot import an image here: " + made.stderr.decode()[-200:]
    tried = podman(*RUN, "--rm", IMAGE, "/bin/true", check=False)
    if tried.returncode != 0:
        return "podman runs no containers here: " + tried.stderr.decode()[-200:]
    return None


WHY_NOT = why_not()


class Containers(PlaceTest):
    def setUp(self):
        super().setUp()
        if WHY_NOT:
            self.skipTest(WHY_NOT)
        # The runtime that works without a cgroup of our own.
        self.script("podman", "#!/bin/sh\nexec /usr/bin/podman --runtime runc \"$@\"\n")

    def container(self, *options):
        name = f"ttyward-test-{os.getpid()}-{self.token}"
        made = podman(*RUN, "--name", name, *options, IMAGE, "/bin/sleep", "100000", check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.addCleanup(podman, "rm", "-f", "-t", "0", name, check=False)
        return name

    def test_the_same_truth_inside(self):
        name = self.container()
        place = f"podman:{name}"
        result = self.run_in(place, "pwd; id -u; exit 42")
        self.assertEqual((result["state"], result["exit_code"], result["output"]), ("exited", 42, "/root\n0\n"), result)
        killed = self.run_in(place, "--", "sh", "-c", "kill -9 $$")
        self.assertEqual((killed["state"], killed["signal"]), ("signaled", "SIGKILL"), killed)
        # An exec itself could not be killed from outside.
        late = self.run_in(place, "--timeout", "1", "--kill-grace", "0.2", f"trap '' INT TERM; sleep {self.token}")
        self.assertEqual(late["state"], "timed_out", late)
        self.assertTrue(eventually(lambda: not [p for p in processes(self.token) if "podman" not in (command_line(p) or "podman")]))

    def test_a_container_that_stops_says_so(self):
        name = self.container()
        process = self.start("--json", "run", "--in", f"podman:{name}", "--timeout", "0", "--idle-timeout", "0",
                             f"echo begun; sleep {self.token}")
        self.assertTrue(eventually(lambda: [p for p in processes(self.token) if "sleep" in command_line(p).partition(" ")[0]]))
        podman("stop", "-t", "0", name)
        out, _ = process.communicate(timeout=PATIENCE)
        result = json.loads(out)
        self.assertEqual((result["state"], result["exit_code"], result["output"]), ("lost", None, "begun\n"), result)
        self.assertIn(f"the container {name} has ended", result["reason"])

    def test_a_projects_own_container(self):
        project = self.folder + "/project"
        os.makedirs(project + "/.devcontainer")
        with open(project + "/.devcontainer/devcontainer.json", "w") as f:
            f.write("""{ // with comments
              "image": "%s", "workspaceFolder": "/work", "remoteEnv": {"FROM": "${localWorkspaceFolderBasename}"},
              "runArgs": ["--net=none", "--ulimit", "nofile=20000:20000", "--ulimit", "nproc=4096:4096"],
              "postCreateCommand": "echo once >> created", "postStartCommand": ["sh", "-c", "echo each >> started"],
            }""" % IMAGE)
        for turn in range(2):
            done = subprocess.run([TTYWARD, "--json", "run", "--in", "devcontainer", "pwd; echo $FROM; cat created started"],
                                  env=self.environment, cwd=project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=240)
            self.assertTrue(done.stdout, done.stderr)
            result = json.loads(done.stdout)
            name = result["place"].split(":")[1]
            if turn == 0:
                self.addCleanup(podman, "rm", "-f", "-t", "0", name, check=False)
            self.assertEqual((result["exit_code"], result["output"]), (0, "/work\nproject\nonce\neach\n"), result)
        self.assertTrue(os.path.exists(project + "/created"))

    def test_what_does_not_work_is_said(self):
        gone = self.start("run", "--in", "podman:no-such-container-here", "true")
        self.assertNotEqual(gone.wait(), 0)
        self.assertIn("does not run", gone.stderr.read().decode())
        name = self.container("--read-only", "--read-only-tmpfs=false")
        refused = self.start("run", "--in", f"podman:{name}", "true")
        self.assertNotEqual(refused.wait(), 0)
        text = refused.stderr.read().decode()
        self.assertTrue("no folder can be written" in text or "noexec" in text, text)


main()
