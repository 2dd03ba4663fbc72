"""The stream is cut, at frame boundaries and between: what is here is what is there, byte for byte."""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

from place_harness import PATIENCE, PlaceTest, TTYWARD, command_line, cut_count, eventually, main, processes


class Cut(PlaceTest):
    # Prints what tells its own position, in pieces, and keeps a copy.
    SCRIPT = ("import sys,random,time\n"
              "r=random.Random(int(sys.argv[1]));f=open(sys.argv[2],'wb')\n"
              "for i in range(int(sys.argv[3])):\n"
              "  b=(('%07d '%i)*r.randint(1,40)+'\\n').encode()\n"
              "  f.write(b);f.flush();sys.stdout.buffer.write(b);sys.stdout.buffer.flush()\n"
              "  if i%50==0: time.sleep(0.01)\n")

    def printed(self, place, seed, pieces, *options):
        script = self.folder + "/print.py"
        with open(script, "w") as f:
            f.write(self.SCRIPT)
        copy = f"{self.folder}/copy-{seed}"
        result = self.run_in(place, "--pipe", "--view", "full", *options, "--", sys.executable, script, str(seed), copy,
                             str(pieces))
        if not os.path.exists(copy):  # it was not started
            return result, b""
        with open(copy, "rb") as f:
            return result, f.read()

    def cuts(self):
        return cut_count(self.folder)

    def check(self, result, wanted):
        self.assertEqual((result["state"], result["exit_code"]), ("exited", 0), result.get("reason"))
        self.assertEqual((result["total_bytes"], result["lost_bytes"]), (len(wanted), 0))
        self.assertEqual(result["output"].encode(), wanted)

    def test_cut_after_every_frame_from_the_first_on(self):
        for frames in (1, 2, 3, 4, 5, 7, 11):
            with self.subTest(frames=frames):
                place = self.use_proxy(frames=frames, cuts=self.cuts() + 6)
                result, wanted = self.printed(place, frames, 400)
                if result["state"] == "failed_to_start":
                    # Cut while it was started: it was not, and that is said.
                    self.assertIn("link", result["reason"])
                    self.assertFalse(wanted)
                    continue
                self.check(result, wanted)
                # The link ends, so that the next plan holds from its beginning.
                self.plan()
                self.assertTrue(eventually(lambda: not self.links()))

    def test_cut_in_the_middle_of_frames(self):
        chance = random.Random(7)
        place = self.use_proxy()
        for turn in range(4):
            self.plan(bytes=chance.randint(400, 60000), cuts=self.cuts() + 3)
            with self.subTest(turn=turn):
                result, wanted = self.printed(place, 100 + turn, 300)
                self.check(result, wanted)
                self.plan()
                self.assertTrue(eventually(lambda: not self.links()))

    def links(self):
        return [pid for pid in processes(self.home) if "link --place" in command_line(pid)]

    def running(self, place, line):
        process = self.start("--json", "run", "--in", place, "--timeout", "0", "--idle-timeout", "0", line)
        self.assertTrue(eventually(self.relays))
        return process

    def cut_now(self):
        for pid in [p for p in processes(self.folder) if "proxy.py" in command_line(p)]:
            os.kill(pid, signal.SIGKILL)

    def test_a_command_runs_on_while_there_is_no_link_and_its_end_is_known(self):
        place = self.use_proxy()
        go = self.folder + "/go"
        process = self.running(place, f"echo begun; until test -e {go}; do sleep 0.02; done; echo ended; exit 7")
        self.assertTrue(eventually(lambda: any(b"begun" in self.journal(f) for f in self.journals_there())))
        self.plan(refuse="ssh: connect to host far port 22: No route to host")
        self.cut_now()
        line = process.stderr.readline().decode()
        self.assertIn("the link to ssh:far was lost", line)
        self.assertIn("runs on", line)
        open(go, "w").close()
        self.assertTrue(eventually(lambda: any(b"ended" in self.journal(f) for f in self.journals_there())))
        self.assertIsNone(process.poll())
        self.plan()
        out, _ = process.communicate(timeout=PATIENCE)
        result = json.loads(out)
        self.assertEqual((result["state"], result["exit_code"], result["output"]), ("exited", 7, "begun\nended\n"))

    def journals_there(self):
        try:
            return [f"{self.far_state()}/journals/{f}" for f in os.listdir(self.far_state() + "/journals")
                    if f.endswith(".main")]
        except OSError:
            return []

    @staticmethod
    def journal(path):
        try:
            with open(path, "rb") as f:
                return f.read()
        except OSError:
            return b""

    def test_keys_typed_without_a_link_are_refused_and_an_interrupt_too(self):
        place = self.use_proxy()
        process = self.running(place, f"echo begun; sleep {self.token}")
        self.assertTrue(eventually(lambda: any(b"begun" in self.journal(f) for f in self.journals_there())))
        self.plan(refuse="no route")
        self.cut_now()
        self.assertIn("was lost", process.stderr.readline().decode())
        self.assertTrue(processes(self.token))
        self.plan()
        self.assertIn("there again", process.stderr.readline().decode())
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(json.loads(out)["signal"], "SIGINT")

    def test_a_holder_that_was_killed_is_lost_and_a_restarted_machine_is_said(self):
        place = self.use_proxy()
        process = self.running(place, f"echo begun; sleep {self.token}")
        self.assertTrue(eventually(lambda: any(b"begun" in self.journal(f) for f in self.journals_there())))
        for pid in self.parents(processes(self.token)):
            os.kill(pid, signal.SIGKILL)
        out, _ = process.communicate(timeout=PATIENCE)
        result = json.loads(out)
        self.assertEqual((result["state"], result["exit_code"]), ("lost", None), result)
        self.assertIn("holder", result["reason"])

    def test_a_machine_that_was_restarted(self):
        if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("a boot id cannot be changed here")
        place = self.use_proxy()
        process = self.running(place, f"echo begun; sleep {self.token}")
        self.assertTrue(eventually(lambda: any(b"begun" in self.journal(f) for f in self.journals_there())))
        self.plan(refuse="no route")
        self.cut_now()
        process.stderr.readline()
        for pid in self.parents(processes(self.token)):
            os.kill(pid, signal.SIGKILL)
        self.plan(boot="11111111-2222-3333-4444-555555555555")
        out, _ = process.communicate(timeout=PATIENCE)
        result = json.loads(out)
        self.assertEqual((result["state"], result["exit_code"], result["output"]), ("lost", None, "begun\n"), result)
        self.assertEqual(result["reason"], "ssh:far was restarted while it ran")

    @staticmethod
    def parents(pids):
        """The holders above them: programs that were brought there."""
        found = set()
        for pid in pids:
            while pid > 1:
                try:
                    if "/bin/hold-" in os.readlink(f"/proc/{pid}/exe"):
                        found.add(pid)
                        break
                    with open(f"/proc/{pid}/stat") as f:
                        pid = int(f.read().rpartition(")")[2].split()[1])
                except OSError:
                    break
        return found

    def test_a_hundred_on_one_stream_and_one_that_floods(self):
        place = self.use_proxy()
        flood = self.start("--json", "run", "--in", place, "--view", "tail", "--timeout", "0",
                           "head -c 30000000 /dev/zero | tr '\\0' 'x' | fold -w 100")
        self.assertTrue(eventually(self.relays))
        slowest, lock = [], threading.Lock()

        def one(i):
            began = time.monotonic()
            result = self.run_in(place, f"echo {i}")
            with lock:
                slowest.append(time.monotonic() - began)
                if result["output"] != f"{i}\n":
                    slowest.append(result)

        for first in range(0, 100, 10):
            threads = [threading.Thread(target=one, args=(i,)) for i in range(first, first + 10)]
            [t.start() for t in threads]
            [t.join() for t in threads]
        self.assertEqual([s for s in slowest if not isinstance(s, float)], [])
        self.assertLessEqual(len(self.links()), 1)
        out, _ = flood.communicate(timeout=300)
        result = json.loads(out)
        self.assertEqual((result["exit_code"], result["lost_bytes"], result["total_lines"]), (0, 0, 300000), result["state"])

    def test_a_link_process_that_is_killed(self):
        place = self.use_proxy()
        self.run_in(place, "true")
        for pid in self.links():
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.run_in(place, "echo again")["output"], "again\n")


main()
