"""`run --in ssh:HOST` over a real sshd: the same truth about a command as here."""
import json
import os
import subprocess
import time

from place_harness import PlaceTest, TTYWARD, command_line, eventually, main, processes


class RunThere(PlaceTest):
    def setUp(self):
        super().setUp()
        self.place = self.start_sshd()

    def test_exit_codes_signals_folder_and_time(self):
        result = self.run_in(self.place, "pwd; exit 42")
        self.assertEqual((result["state"], result["exit_code"], result["output"]),
                         ("exited", 42, self.far_home + "\n"), result)
        self.assertEqual((result["place"], result["cwd"]), ("ssh:far", self.far_home), result)
        killed = self.run_in(self.place, "--", "sh", "-c", "kill -SEGV $$")
        self.assertEqual((killed["state"], killed["signal"], killed["exit_code"]), ("signaled", "SIGSEGV", None), killed)
        # 255 is what ssh itself ends with when a link breaks.
        self.assertEqual(self.run_in(self.place, "exit 255")["exit_code"], 255)
        slow = self.run_in(self.place, "sleep 0.3")
        self.assertGreaterEqual(slow["duration_ms"], 300)
        self.assertLess(slow["duration_ms"], 20000)
        there = self.run_in(self.place, "--cwd", "/usr", "pwd; stty size; echo $TERM; test -t 1 && echo terminal")
        self.assertEqual(there["output"], "/usr\n24 80\nxterm-256color\nterminal\n", there)

    def test_what_cannot_be_started_says_why(self):
        missing = self.run_in(self.place, "--", "no-such-program-anywhere")
        self.assertEqual((missing["state"], missing["exit_code"]), ("failed_to_start", None), missing)
        self.assertIn("no-such-program-anywhere", missing["reason"])
        folder = self.run_in(self.place, "--cwd", "/no/such/folder", "true")
        self.assertEqual(folder["state"], "failed_to_start", folder)
        self.assertIn("/no/such/folder", folder["reason"])

    def test_standard_input_arrives_unchanged(self):
        data = bytes(range(256)) * 4096
        done = self.start("run", "--json", "--in", self.place, "sha256sum; echo end", stdin=subprocess.PIPE)
        out, _ = done.communicate(data)
        import hashlib
        self.assertEqual(json.loads(out)["output"], hashlib.sha256(data).hexdigest() + "  -\nend\n")
        # One that stays open does not keep a command that does not read it from ending.
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, write_end)
        ended = self.start("run", "--in", self.place, "echo done", stdin=read_end)
        os.close(read_end)
        self.assertEqual(ended.communicate()[0], b"done\n")

    def test_the_program_is_brought_there_once_and_checked(self):
        self.run_in(self.place, "true")
        programs = self.far_program()
        self.assertEqual(len(programs), 1)
        path = f"{self.far_state()}/bin/{programs[0]}"
        before = os.stat(path).st_mtime_ns
        self.run_in(self.place, "true")
        self.assertEqual(os.stat(path).st_mtime_ns, before)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o700)
        # Nothing of a command that has ended stays there.
        self.assertTrue(eventually(lambda: [f for f in os.listdir(self.far_state() + "/journals")
                                            if f.endswith(".main")] == []))
        # Another program under that name is refused.
        self.assertTrue(eventually(lambda: not processes(self.home)))  # the link ends when it is idle
        with open(path, "wb") as f:
            f.write(b"#!/bin/sh\n[ \"$1\" = --version ] && exit 0\nexec " +
                    f"{self.folder}/copy".encode() + b" \"$@\"\n")
        import shutil
        shutil.copy(os.path.dirname(TTYWARD) + "/ttyward-hold", self.folder + "/copy")
        with open(self.folder + "/copy", "ab") as f:
            f.write(b"changed")
        refused = self.start("run", "--in", self.place, "true")
        self.assertNotEqual(refused.wait(), 0)
        self.assertIn("is not the one that was sent", refused.stderr.read().decode())

    def test_kill_is_proven_there(self):
        began = time.monotonic()
        result = self.run_in(self.place, "--timeout", "1", "--kill-grace", "0.2",
                             f"trap '' INT TERM; (setsid sleep {self.token} &) ; sleep {self.token}")
        self.assertEqual(result["state"], "timed_out", result)
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual([p for p in processes(self.token) if "ttyward" not in (command_line(p) or "ttyward")], [])

    def test_output_is_whole_and_in_order(self):
        result = self.run_in(self.place, "--view", "full", "seq 1 200000 | sha256sum; seq 1 200000 >&2")
        self.assertEqual(result["total_lines"], 200001, result["total_lines"])
        self.assertEqual(result["lost_bytes"], 0)

    def test_a_login_that_prints_and_one_that_refuses(self):
        refused = self.start("run", "--in", "ssh:nobody@far", "true")
        self.assertNotEqual(refused.wait(), 0)
        self.assertIn("cannot log in to ssh:nobody@far", refused.stderr.read().decode())

    def test_an_agent_may_not_use_a_place_that_no_rule_allows(self):
        refused = self.start("run", "--as-agent", "--json", "--in", self.place, "echo hi")
        out, _ = refused.communicate()
        result = json.loads(out)
        self.assertEqual((refused.returncode, result["state"]), (126, "denied"), result)
        self.assertIn("another machine", json.dumps(result))
        self.assertFalse(os.path.exists(self.far_state()))
        # A rule about ssh is a rule about places.
        rule = '[[rule]]\nname = "far"\ndecision = "allow"\nprogram = "ssh far"\nargs = ["..."]\nhost = "far"\n'
        added = subprocess.run([TTYWARD, "rules", "add", "--yes"], env=self.environment, input=rule.encode(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(added.returncode, 0, added)
        allowed = self.start("run", "--as-agent", "--json", "--in", self.place, "echo hi")
        self.assertEqual(json.loads(allowed.communicate()[0])["output"], "hi\n")
        critical = self.start("run", "--as-agent", "--json", "--in", self.place, "rm -rf /")
        self.assertEqual(json.loads(critical.communicate()[0])["state"], "denied")


class Proxied(PlaceTest):
    def test_noise_before_the_stream_is_no_matter(self):
        place = self.use_proxy(noise="Welcome!\n\x1b[31mTTYWARD-STAGE not this\r\n" + "x" * 30000 + "\n")
        self.assertEqual(self.run_in(place, "echo hi")["output"], "hi\n")

    def test_a_system_of_another_kind_gets_plain_ssh_and_honest_nulls(self):
        place = self.use_proxy()
        self.script("uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo Darwin || echo arm64\n")
        result = self.run_in(place, "--cwd", "/usr", "pwd; exit 3")
        self.assertEqual((result["state"], result["exit_code"], result["output"], result["integration"], result["place"]),
                         ("exited", 3, "/usr\n", "none", "ssh:far"), result)
        self.assertIsNone(result["cpu_ms"])
        self.assertIsNone(result["cwd"])
        broken = self.run_in(place, "exit 255")
        self.assertEqual((broken["state"], broken["exit_code"]), ("lost", None), broken)
        told = self.run_it("--in", place, "true")
        self.assertIn("ssh:far is 'Darwin arm64'", told.stderr.decode())
        self.assertIn("plain ssh", told.stderr.decode())

    def test_plain_ssh_passes_on_folder_variables_and_shell(self):
        place = self.use_proxy()
        self.script("uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo Darwin || echo arm64\n")
        marker = self.folder + "/ran"
        # A folder that is not there keeps all of the line from running, not only its first command.
        result = self.run_in(place, "--cwd", "/no/such/folder", f"true; touch {marker}")
        self.assertNotEqual(result["exit_code"], 0, result)
        self.assertFalse(os.path.exists(marker))
        told = self.run_in(place, "--cwd", "~", "--env", "WORD=two words", "--shell", "bash", "echo $WORD ${BASH_VERSION:0:1}; pwd")
        self.assertEqual((told["exit_code"], told["output"].splitlines()[0][:9], told["output"].splitlines()[1]),
                         (0, "two words", self.far_home), told)
        self.assertTrue(told["output"].splitlines()[0][10:].isdigit(), told)
        words = self.run_in(place, "--env", "A=1", "--", "printenv", "A")
        self.assertEqual((words["exit_code"], words["output"]), (0, "1\n"), words)
        relative = self.run_it("--in", place, "--cwd", "src", "true")
        self.assertEqual(relative.returncode, 2, relative)
        self.assertIn("absolute folder", relative.stderr.decode())

    def refused(self, place, message):
        """Nothing is run, by plain ssh neither."""
        marker = self.folder + "/ran"
        done = self.run_it("--in", place, f"touch {marker}")
        self.assertEqual(done.returncode, 125, done)
        self.assertIn(message, done.stderr.decode())
        self.assertNotIn("plain ssh", done.stderr.decode())
        self.assertFalse(os.path.exists(marker))

    def test_a_program_that_arrives_changed_is_not_used_and_nothing_is_run(self):
        place = self.use_proxy()
        self.script("sha256sum", "#!/bin/sh\necho 0123 $1\n")
        self.refused(place, "is not what was sent")

    def test_another_version_of_the_protocol_is_refused(self):
        self.refused(self.use_proxy(version=7), "version 7 was asked for")

    def test_folders_from_which_nothing_can_be_run(self):
        if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/tmp"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("nothing can be mounted here")
        done = self.run_it("--in", self.use_proxy(noexec=True), "echo by ssh alone")
        self.assertIn("noexec: ", done.stderr.decode())
        self.assertIn("plain ssh", done.stderr.decode())
        self.assertEqual((done.returncode, done.stdout), (0, b"by ssh alone\n"), done)

    def test_programs_that_nobody_used_for_a_month_are_removed_there(self):
        place = self.use_proxy()
        os.makedirs(f"{self.far_state()}/bin", mode=0o700)
        days = {"hold-old": 31, "hold-new": 29, "new-77": 2, "probe-77": 2, "other": 99}
        for name, age in days.items():
            path = f"{self.far_state()}/bin/{name}"
            open(path, "w").close()
            os.utime(path, (time.time() - age * 86400,) * 2)
        self.assertEqual(self.run_in(place, "true")["exit_code"], 0)
        left = set(os.listdir(f"{self.far_state()}/bin"))
        self.assertEqual(left & set(days), {"hold-new", "other"})
        self.assertEqual(len([name for name in left if name.startswith("hold-")]), 2)

    def test_a_full_disk_there(self):
        if os.geteuid() != 0:
            self.skipTest("only root mounts")
        program = os.path.getsize(os.path.dirname(TTYWARD) + "/ttyward-hold")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={program // 2}", "tmpfs", self.far_home])
        if mounted.returncode != 0:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", self.far_home])
        place = self.use_proxy()
        full = self.start("run", "--in", place, "true")
        full.wait()
        self.assertIn(f"could not be written to {self.far_state()}", full.stderr.read().decode())
        # Room for the program and little more: output is counted, kept here, and the command ends as it should.
        subprocess.run(["mount", "-o", f"remount,size={program + 1500000}", self.far_home], check=True)
        self.assertTrue(eventually(lambda: not processes(self.home)))
        result = self.run_in(place, "--pipe", "head -c 12000000 /dev/zero | tr '\\0' 'x' | fold -w 99; exit 5")
        self.assertEqual((result["state"], result["exit_code"]), ("exited", 5), result["reason"])
        self.assertEqual(result["total_bytes"] + 0, 12000000 + 12000000 // 99, result["lost_bytes"])

    def test_noise_without_end_and_a_dead_host_are_said(self):
        place = self.use_proxy(noise="x" * 100000)
        loud = self.start("run", "--in", place, "true")
        self.assertNotEqual(loud.wait(), 0)
        self.assertIn("start files", loud.stderr.read().decode())
        self.plan(refuse="ssh: connect to host far port 22: Connection refused")
        dead = self.start("run", "--in", place, "true")
        self.assertNotEqual(dead.wait(), 0)
        self.assertIn("cannot reach ssh:far: ssh: connect to host far port 22: Connection refused",
                      dead.stderr.read().decode())


main()
