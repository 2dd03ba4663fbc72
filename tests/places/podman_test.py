"""Containers: the same truth inside them, and a word when they end. Needs podman, runc and busybox."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from place_harness import HERE, PATIENCE, PlaceTest, TTYWARD, command_line, eventually, main, processes

sys.path.insert(0, os.path.join(HERE, "..", "support"))
import person  # noqa: E402

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

    def project(self, **fields):
        folder = f"{self.folder}/project-{len(os.listdir(self.folder))}"
        os.makedirs(folder + "/.devcontainer")
        fields.setdefault("image", IMAGE)
        fields.setdefault("workspaceFolder", "/work")
        fields["runArgs"] = [*RUN[4:], *fields.get("runArgs", [])]
        with open(folder + "/.devcontainer/devcontainer.json", "w") as f:
            json.dump(fields, f)
        name = f"ttyward-dev-{os.path.basename(folder).replace('-', '')}-"
        self.addCleanup(lambda: [podman("rm", "-f", "-t", "0", each, check=False) for each in self.made(name)])
        return folder, lambda: self.made(name)

    @staticmethod
    def made(name):
        """Containers whose name begins so."""
        listed = podman("ps", "-a", "--format", "{{.Names}}").stdout.decode().split()
        return [each for each in listed if each.startswith(name)]

    def in_project(self, folder, *args, **environment):
        return subprocess.run([TTYWARD, *args], env=dict(self.environment, **environment), cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240)

    def test_a_project_is_not_brought_up_unless_that_is_allowed(self):
        """The file is the project's: it may ask for this machine. What it would run is judged, not only the command."""
        for wish in ({"runArgs": ["--privileged"]}, {"mounts": ["type=bind,source=/,target=/host"]},
                     {"mounts": [{"type": "bind", "source": "/etc", "target": "/host"}]}, {"runArgs": ["--pid", "host"]}):
            with self.subTest(wish):
                folder, containers = self.project(**wish)
                # Nobody can be asked here; a person at a terminal would be.
                refused = self.in_project(folder, "run", "--in", "devcontainer", "true")
                self.assertEqual(refused.returncode, 126, refused)
                self.assertIn("access to the machine", refused.stderr.decode())
                self.assertEqual(containers(), [])
        # An agent needs a rule for bringing it up, not only for commands in it.
        folder, containers = self.project(postCreateCommand="echo made > made")
        rule = '[[rule]]\nname = "inside"\ndecision = "allow"\nprogram = "podman exec"\nargs = ["..."]\n'
        added = subprocess.run([TTYWARD, "rules", "add", "--yes"], env=self.environment, input=rule.encode(), capture_output=True)
        self.assertEqual(added.returncode, 0, added)
        denied = self.in_project(folder, "--json", "run", "--as-agent", "--in", "devcontainer", "true")
        self.assertEqual((denied.returncode, json.loads(denied.stdout)["state"]), (126, "denied"), denied)
        for verb in (("batch", "--as-agent", "--in", "devcontainer", "true"), ("open", "--in", "devcontainer")):
            denied = self.in_project(folder, *verb, TTYWARD_ROLE="agent")
            self.assertEqual(denied.returncode, 126, denied)
        self.assertEqual(containers(), [])
        self.assertFalse(os.path.exists(folder + "/made"))

    def test_variables_of_the_container_and_mounts_as_objects(self):
        data = self.folder + "/data"
        os.mkdir(data)
        open(data + "/file", "w").close()
        folder, _ = self.project(mounts=[{"type": "bind", "source": data, "target": "/data"}], containerEnv={"INSIDE": "of it"},
                                 remoteEnv={"PATH": "${containerEnv:PATH}:/x", "BOTH": "${containerEnv:INSIDE} ${containerEnv:NO:none}"},
                                 postCreateCommand="echo ${HOME} ${containerEnv:INSIDE} > hook")
        done = self.in_project(folder, "--json", "run", "--in", "devcontainer", "echo $PATH; echo $BOTH; cat hook; ls /data")
        self.assertTrue(done.stdout, done.stderr)
        lines = json.loads(done.stdout)["output"].splitlines()
        self.assertRegex(lines[0], "^/.*:/x$")
        self.assertIn("/bin", lines[0].split(":"))
        self.assertEqual(lines[1:], ["of it none", "/root of it", "file"])

    def test_a_hook_that_failed_is_run_again(self):
        folder, containers = self.project(postCreateCommand="echo try >> tries; test -e ready", postStartCommand="echo start >> starts")
        failed = self.in_project(folder, "run", "--in", "devcontainer", "true")
        self.assertEqual(failed.returncode, 125, failed)
        self.assertIn("postCreateCommand", failed.stderr.decode())
        open(folder + "/ready", "w").close()
        for _ in range(2):
            done = self.in_project(folder, "--json", "run", "--in", "devcontainer", "cat tries starts")
            self.assertEqual(json.loads(done.stdout)["output"], "try\ntry\nstart\n", done.stderr)
        podman("stop", "-t", "0", *containers())
        done = self.in_project(folder, "--json", "run", "--in", "devcontainer", "cat tries starts")
        self.assertEqual(json.loads(done.stdout)["output"], "try\ntry\nstart\nstart\n", done.stderr)

    def test_a_terminal_in_a_projects_container(self):
        folder, containers = self.project(remoteEnv={"WHERE": "inside"})
        self.environment[person.VARIABLE] = person.make_token(self.home)
        self.addCleanup(subprocess.run, [TTYWARD, "daemon", "stop", "--kill-terminals"], env=self.environment,
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        opened = self.in_project(folder, "open", "--in", "devcontainer", "--name", "dev")
        self.assertEqual(opened.returncode, 0, opened)
        done = self.in_project(folder, "exec", "--in", "devcontainer", "dev", "pwd; echo $WHERE")
        self.assertEqual((done.returncode, done.stdout), (0, b"/work\ninside\n"), done)
        # A command runs where its terminal is.
        wrong = self.in_project(folder, "exec", "--in", "podman:other", "dev", "touch ran")
        self.assertEqual(wrong.returncode, 2, wrong)
        self.assertIn(f"terminal dev is in podman:{containers()[0]}", wrong.stderr.decode())
        self.assertFalse(os.path.exists(folder + "/ran"))

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
