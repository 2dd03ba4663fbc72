"""Real programs through `ttyward run`."""
import json
import os
import shutil
import socket
import subprocess
import unittest

from harness import PYTHON, RunTest, eventually, main, processes


class Programs(RunTest):
    def test_shells(self):
        for shell in ("bash", "dash", "zsh"):
            path = shutil.which(shell)
            result = self.result("--shell", path, "echo $0; for i in 1 2 3; do echo line $i; done; exit 7")
            self.assertEqual(result["exit_code"], 7, result)
            self.assertTrue(result["output"].endswith("line 1\nline 2\nline 3\n"), result)
            self.assertEqual(result["provider"], "pty")

    def test_the_result_has_every_field(self):
        result = self.result("cd /; echo hi")
        self.assertEqual(result["command"], "cd /; echo hi")
        self.assertEqual(result["cwd"], os.path.realpath(self.folder))
        self.assertEqual((result["state"], result["exit_code"], result["known_by"]), ("exited", 0, "wait"))
        self.assertEqual((result["output"], result["omitted"]), ("hi\n", None))
        self.assertEqual((result["total_bytes"], result["total_lines"]), (4, 1))
        self.assertEqual((result["binary"], result["encoding"]), (False, "UTF-8"))
        self.assertGreater(result["max_rss_kib"], 100)
        self.assertRegex(result["started_at"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")  # RFC 3339, as everywhere
        self.assertEqual((result["background"], result["ports"]), ([], []))

    def test_python(self):
        result = self.result("--", PYTHON, "-c", "import sys; print(sys.stdout.isatty()); sys.exit(3)")
        self.assertEqual((result["output"], result["exit_code"]), ("True\n", 3))
        result = self.result("--pipe", "--", PYTHON, "-c", "import sys; print(sys.stdout.isatty()); 1/0")
        self.assertIn("False\n", result["output"])
        self.assertIn("ZeroDivisionError", result["output"])
        self.assertEqual((result["exit_code"], result["provider"]), (1, "pipe"))

    def test_git_does_not_page(self):
        self.run_it("git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first"
                    " && for i in $(seq 100); do git -c user.name=a -c user.email=a@b commit -q --allow-empty -m c$i; done")
        result = self.result("git log --oneline")
        self.assertEqual((result["exit_code"], result["total_lines"]), (0, 101), result)

    def test_full_screen_programs_are_recognised_and_ended(self):
        # less and vim take the screen: nobody is there to press q.
        with open(self.folder + "/text", "w") as f:
            f.writelines(f"line {i}\n" for i in range(1000))
        for command, program, kinds in (("vim -u NONE text", "vim", ("editor",)),
                                        ("PAGER=less LESS= less text", "less", ("pager",))):
            result = self.result("--input-patience", "0.2", "echo before; " + command)
            self.assertEqual(result["state"], "awaiting_input", result)
            self.assertIn(result["waiting"]["kind"], kinds, result)
            self.assertIn(program, result["waiting"]["program"])
            self.assertIn("nobody", result["reason"])
            self.assertIn("before\n", result["output"])
            self.assertEqual(result["_code"], 125)

    def test_a_program_that_refreshes_itself_and_takes_keys_waits(self):
        result = self.result("--input-patience", "0.1", "--timeout", "30", "echo before; top")
        self.assertEqual((result["state"], result["_code"]), ("awaiting_input", 125))
        self.assertIn("load average", result["output"])

    def test_top_in_batch_mode_is_plain_output(self):
        result = self.result("top -b -n 1 | head -3")
        self.assertEqual(result["exit_code"], 0)
        self.assertIn("load average", result["output"])

    def test_questions_are_told_apart(self):
        for command, kind, prompt, program in (
                ("read -p 'Name: ' x", "line", "Name:", "bash"),
                ("read -s -p 'Secret: ' x", "password", "Secret:", "bash"),
                ("ssh-keygen -q -t ed25519 -f key", "password", "passphrase", "ssh-keygen"),
                (f"{PYTHON} -c 'input(\"Continue? [y/n] \")'", "line", "Continue? [y/n]", "python")):
            result = self.result("--input-patience", "0.2", command)
            self.assertEqual(result["state"], "awaiting_input", result)
            self.assertEqual(result["waiting"]["kind"], kind, result)
            self.assertIn(prompt, result["waiting"]["prompt"], result)
            self.assertIn(program, result["waiting"]["program"], result)
            self.assertTrue(result["waiting"]["evidence"])

    def test_a_command_that_computes_or_sleeps_is_not_taken_for_one_that_asks(self):
        for command in ("sleep 1", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", "cat /dev/null | sleep 0.7"):
            self.assertEqual(self.result("--input-patience", "0.1", command)["state"], "exited")

    def test_progress_is_shown_in_its_last_form(self):
        script = r"""
import sys, time
for i in range(101):
    sys.stdout.write(f"\rProgress: [{'#' * (i // 5):20}] {i:3}%"); sys.stdout.flush()
sys.stdout.write("\x1b[?25h\n")
for i in range(50):
    sys.stdout.write(f"\x1b7\x1b[24;0f\x1b[42m\x1b[30mProgress: [{i*2:3}%]\x1b[49m\x1b[39m\x1b8"); sys.stdout.flush()
sys.stdout.write("\x1b[24;0f\x1b[2K\x1b[2;0fdone\n")
"""
        result = self.result("--", PYTHON, "-c", script)
        self.assertEqual(result["output"], "Progress: [####################] 100%\ndone\n")

    @unittest.skipUnless(shutil.which("npm"), "npm is not installed here: ./setup --tests")
    def test_npm_installs_a_local_package_and_its_progress_is_gone(self):
        script = "for (let i = 0; i <= 100; i++) process.stdout.write(`\\rbuilding ${i}%`); console.log()"
        for name, content in (("part/package.json", {"name": "part", "version": "1.2.3",
                                                     "scripts": {"install": "node build.js"}}),
                              ("app/package.json", {"name": "app", "version": "1.0.0"})):
            os.makedirs(os.path.dirname(f"{self.folder}/{name}"))
            with open(f"{self.folder}/{name}", "w") as f:
                json.dump(content, f)
        with open(f"{self.folder}/part/build.js", "w") as f:
            f.write(script)
        quiet = f"--offline --no-audit --no-fund --no-update-notifier --cache {self.folder}/cache"
        packed = self.result("--cwd", f"{self.folder}/part", f"npm pack {quiet}")
        self.assertEqual((packed["exit_code"], "part-1.2.3.tgz" in packed["output"]), (0, True), packed)
        result = self.result("--cwd", f"{self.folder}/app",
                             f"npm install --progress --foreground-scripts {quiet} ../part/part-1.2.3.tgz")
        self.assertEqual((result["exit_code"], result["encoding"], result["provider"]), (0, "UTF-8", "pty"), result)
        self.assertTrue(os.path.exists(f"{self.folder}/app/node_modules/part/build.js"))
        lines = result["output"].splitlines()
        # Before npm 10 its own bar is still on the line that a script begins to write on.
        self.assertTrue(any(line.startswith("building 100%") for line in lines), lines)
        self.assertNotIn("building 99%", result["output"])
        self.assertTrue(any(line.startswith("added 1 package") for line in lines), result)
        self.assertFalse(set("\x1b\r\b") & set(result["output"]), result)
        if int(self.result("npm --version")["output"].split(".")[0]) >= 10:  # its spinner is gone when it ends
            self.assertFalse(set("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") & set(result["output"]), result)
        failed = self.result("--cwd", f"{self.folder}/app", f"npm install --progress {quiet} ../part/nothing.tgz")
        self.assertNotEqual(failed["exit_code"], 0)
        self.assertIn("ENOENT", failed["output"])

    def test_binary_output_is_announced_and_counted(self):
        for how in ([], ["--pipe"]):
            result = self.result(*how, "--timeout", "20", "head -c 200000 /dev/urandom")
            self.assertTrue(result["binary"])
            self.assertGreaterEqual(result["total_bytes"], 200000)
            self.assertIn("binary output", result["output"])
            self.assertLess(len(result["output"]), 100)
        done = self.run_it("--pipe", "head -c 200000 /dev/zero")
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertIn(b"binary (200000 bytes)", done.stderr)
        result = self.result("--timeout", "2", "cat /dev/urandom")
        self.assertEqual((result["binary"], result["_code"]), (True, 124))

    def test_a_flood_is_ended_in_time_with_true_counts(self):
        result = self.result("--timeout", "2", "yes")
        self.assertEqual(result["_code"], 124)
        self.assertIn("the line above", result["output"])
        self.assertGreater(result["total_lines"], 1000)
        # "y", CR, LF a line; the limit may fall inside the last one.
        self.assertEqual(-(-result["total_bytes"] // 3), result["total_lines"])

    def test_a_server_stays_and_its_port_is_known(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = f"{PYTHON} -m http.server --bind 127.0.0.1 {port} --directory {self.folder}"
        wait = f"until (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; do :; done"
        result = self.result("--keep-background", f"{server} >log 2>&1 & {wait}; echo up")
        pids = processes(f"{self.folder}")
        self.addCleanup(lambda: [os.kill(pid, 9) for pid in processes(f"--directory {self.folder}")])
        self.assertEqual((result["state"], result["exit_code"], result["output"]), ("exited", 0, "up\n"))
        self.assertEqual([p["port"] for p in result["ports"]], [port], result)
        self.assertEqual([p["pid"] for p in result["background"]], [result["ports"][0]["pid"]])
        self.assertIn(result["ports"][0]["pid"], pids)
        with socket.create_connection(("127.0.0.1", port), 20) as talk:
            talk.sendall(b"GET / HTTP/1.0\r\n\r\n")
            self.assertIn(b"200 OK", talk.recv(1000))

    def test_without_keeping_nothing_stays(self):
        result = self.result(f"sleep {self.token} & echo up")
        self.assertEqual((result["exit_code"], result["output"]), (0, "up\n"))
        self.assert_nothing_left()

    def test_views(self):
        self.assertEqual(self.result("seq 1 10000")["omitted"]["lines"], 9500)
        whole = self.result("--view", "full", "seq 1 10000")
        self.assertIsNone(whole["omitted"])
        self.assertEqual(whole["output"], "".join(f"{i}\n" for i in range(1, 10001)))
        cut = self.result("--view", "void", "--pipe", "seq 1 300000")
        head, tail = cut["output"].split("\n\n[output truncated]\n\n")
        self.assertEqual((len(head), len(tail)), (734003, 314523))

    def test_an_old_encoding_is_decoded_and_named(self):
        with open(self.folder + "/latin", "w", encoding="latin-1") as f:
            f.write("Die Größe der Lösung übersteigt die zulässige Länge für das Gerät.\n" * 20)
        result = self.result("cat latin")
        self.assertIn("Größe der Lösung", result["output"])
        self.assertNotEqual(result["encoding"], "UTF-8")

    def test_environment(self):
        self.environment["SECRET_TOKEN"] = "hunter2"
        self.assertEqual(self.result("echo [$SECRET_TOKEN]")["output"], "[]\n")
        self.assertEqual(self.result("--env", "A=b c", "echo [$A]")["output"], "[b c]\n")
        self.assertEqual(self.result("--size", "101x33", "stty size")["output"], "33 101\n")


if __name__ == "__main__":
    main()
