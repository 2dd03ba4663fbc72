"""`--sandbox container:IMAGE`: the command runs in a container of podman or docker, with the same folders and limits."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import RunTest, main

# Stands for the engine: notes what it was told, and runs the command here.
ENGINE = """#!/bin/sh
printf '%s\\n' "$@" > "$ENGINE_LOG"
while [ $# -gt 0 ] && [ "$1" != test-image ]; do shift; done
shift
exec "$@"
"""


class Container(RunTest):
    def setUp(self):
        super().setUp()
        self.work = os.path.realpath(tempfile.mkdtemp(prefix="ttyward-container-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.work, True)

    def engine(self, name="podman"):
        folder = self.folder + "/engine"
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/" + name, "w") as f:
            f.write(ENGINE)
        os.chmod(folder + "/" + name, 0o755)
        self.log = self.folder + "/engine.log"
        self.environment["PATH"] = folder + ":/usr/bin:/bin"

    def contained(self, command, *args):
        return self.result("--sandbox", "container:test-image", "--cwd", self.work, "--env", "ENGINE_LOG=" + self.log, *args, command)

    def told(self):
        with open(self.log) as f:
            return f.read().split("\n")

    def test_the_engine_gets_folders_limits_and_the_command(self):
        self.engine()
        os.mkdir(self.work + "/.vscode")
        result = self.contained("echo hi > made; exit 5")
        self.assertEqual((result["exit_code"], result["state"]), (5, "exited"), result)
        self.assertEqual(result["sandbox"]["profile"], "container:test-image")
        self.assertIn("container of podman", result["sandbox"]["layers"])
        words = self.told()
        self.assertEqual(words[0], "run")
        for word in ("--rm", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--pids-limit=4096",
                     f"--volume={self.work}:{self.work}", f"--volume={self.work}/.vscode:{self.work}/.vscode:ro",
                     f"--volume={self.work}/.envrc:{self.work}/.envrc:ro", f"--workdir={self.work}", "--env=ENGINE_LOG"):
            self.assertIn(word, words)
        self.assertFalse([word for word in words if word.startswith("--env=ENGINE_LOG=")])
        self.assertEqual(sorted(os.listdir(self.work)), [".vscode", "made"])  # nothing is left of what stood for files

    def test_what_is_hidden_and_the_limit_of_memory_hold(self):
        self.engine()
        os.mkdir(self.work + "/keys")
        with open(self.work + "/token", "w") as f:
            f.write("secret")
        os.makedirs(self.home + "/config", exist_ok=True)
        with open(self.home + "/config/config.toml", "w") as f:
            f.write(f'[sandbox]\nhidden = ["{self.work}/keys", "{self.work}/token", "/elsewhere"]\nmemory = "64MiB"\n')
        self.contained("true")
        words = self.told()
        for word in (f"--tmpfs={self.work}/keys:ro,mode=0555,notmpcopyup", f"--volume=/dev/null:{self.work}/token:ro",
                     "--memory=67108864b"):
            self.assertIn(word, words)
        self.assertFalse([word for word in words if "/elsewhere" in word])

    def test_variables_choose_engine_and_image(self):
        self.engine("docker")
        self.environment.update({"TTYWARD_SANDBOX": "docker", "TTYWARD_SANDBOX_IMAGE": "test-image",
                                 "TTYWARD_SANDBOX_FLAGS": "--ulimit=nproc=4096:4096 --label=x"})
        result = self.result("--cwd", self.work, "--env", "ENGINE_LOG=" + self.log, "echo inside")
        self.assertEqual(result["output"], "inside\n", result)
        self.assertIn("container of docker", result["sandbox"]["layers"])
        self.assertIn("--label=x", self.told())
        del self.environment["TTYWARD_SANDBOX_IMAGE"]
        done = self.run_it("--cwd", self.work, "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"TTYWARD_SANDBOX_IMAGE", done.stderr)

    def test_without_an_engine_nothing_runs(self):
        self.environment["PATH"] = self.folder + "/empty:/usr/bin:/bin"
        if any(os.access(f"/usr/bin/{name}", os.X_OK) for name in ("podman", "docker")):
            self.skipTest("an engine is installed")
        done = self.run_it("--sandbox", "container:test-image", "--cwd", self.work, "touch ran")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"needs podman or docker", done.stderr)
        self.assertEqual(os.listdir(self.work), [])

    def test_an_agent_chooses_no_image(self):
        self.engine()
        self.environment["TTYWARD_ROLE"] = "agent"
        done = self.run_it("--sandbox", "container:test-image", "--cwd", self.work, "true")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(os.path.exists(self.log))

    def test_a_real_container(self):
        if shutil.which("podman") is None or shutil.which("busybox") is None:
            self.skipTest("podman or busybox is not installed")
        root = self.folder + "/root"
        os.makedirs(root + "/bin")
        shutil.copy(shutil.which("busybox"), root + "/bin/busybox")
        libraries = subprocess.run(["ldd", shutil.which("busybox")], capture_output=True, text=True).stdout.split()
        for library in libraries:
            if library.startswith("/"):
                os.makedirs(root + os.path.dirname(library), exist_ok=True)
                shutil.copy(library, root + library)
        for name in ("sh", "cat", "id", "ls", "touch", "echo", "env"):
            os.symlink("busybox", f"{root}/bin/{name}")
        os.makedirs(root + "/etc")
        subprocess.run(f"tar -C {root} -c . | podman import - ttyward-test:1", shell=True, check=True, capture_output=True)
        self.addCleanup(subprocess.run, ["podman", "rmi", "localhost/ttyward-test:1"], capture_output=True)
        works = subprocess.run(["podman", "run", "--rm", "--network=none", "localhost/ttyward-test:1", "true"], capture_output=True)
        if works.returncode != 0:
            self.skipTest("podman cannot run containers here: " + works.stderr.decode()[-200:])
        result = self.result("--sandbox", "container:localhost/ttyward-test:1", "--cwd", self.work, "--policy", "off",
                             "echo x > made; touch /made; cat made; ls /root; exit 3")
        self.assertEqual(result["exit_code"], 3, json.dumps(result))
        self.assertEqual(os.listdir(self.work), ["made"])


if __name__ == "__main__":
    main()
