"""Jobs that go well: results, output by range, labels, hosts, deadlines, people and agents."""
import json
import os
import subprocess
import time
import unittest

import harness
from harness import FleetTest, eventually


class Jobs(FleetTest):
    def setUp(self):
        super().setUp()
        self.main = self.server()

    def test_a_result_is_the_hosts(self):
        self.host("one").ready()
        done = self.fleet("run", "echo hi; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, "hi\n"), done)
        record = self.json("run", "--env", "WHO=there", "--", "sh", "-c", "printf %s $WHO; kill -9 $$")
        self.assertEqual((record["host"], record["state"]), ("one", "signaled"), record)
        self.assertEqual((record["result"]["signal"], record["result"]["output"]), ("SIGKILL", "there\n"))
        self.assertEqual(self.fleet("run", "--timeout", "0.5", "sleep 60").returncode, 124)
        # The host's own history has it, by the same id.
        host = dict(self.environment, TTYWARD_HOME=self.folder + "/one", TTYWARD_PERSON_TOKEN_FILE=self.folder + "/one/state/person-token")
        rows = json.loads(subprocess.run([harness.TTYWARD, "--json", "history"], env=host, capture_output=True, text=True).stdout)
        self.assertIn(record["id"], json.dumps(rows))
        bus = self.bus(self.main)
        eventually(lambda: bus.queued() == 0, "an empty queue")

    def test_output_is_read_from_the_host(self):
        self.host("one").ready()
        lines = "".join(f"{n}\n" for n in range(1, 30001))
        done = self.fleet("run", "seq 1 30000")
        self.assertEqual(done.stdout, lines)
        slow = self.fleet("run", "seq 1 5000; sleep 1.5; seq 5001 30000")
        self.assertEqual(slow.stdout, lines, slow.stderr)
        job = self.json("run", "seq 1 30000")
        self.assertLess(len(json.dumps(job)), 40000, "the bus carries only the end of an output")
        self.assertEqual(self.fleet("read", job["id"]).stdout, lines)
        self.assertEqual(self.fleet("read", job["id"], "--lines", "100:102").stdout, "100\n101\n102\n")

    def test_a_batch_is_spread(self):
        for name in ("one", "two", "three"):
            self.host(name, "--slots", "2")
        eventually(lambda: len(self.hosts()) == 3)
        done = self.fleet("batch", "--json", "--file", self.batch_file([self.effect(n, "; sleep 0.2") for n in range(60)]))
        self.assertEqual(done.returncode, 0, done.stderr)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(records), 60)
        self.assertEqual({r["host"] for r in records}, {"one", "two", "three"})
        self.each_once(range(60))

    def test_labels_and_hosts(self):
        self.host("one", "--labels", "gpu,big").ready()
        self.host("two", "--labels", "gpu").ready()
        for _ in range(4):
            self.assertEqual(self.json("run", "--needs", "gpu,big", "true")["host"], "one")
            self.assertEqual(self.json("run", "--host", "two", "true")["host"], "two")
        nobody = self.fleet("run", "--detach", "--needs", "arm64", "true")
        self.assertIn("no host can take this now", nobody.stderr)
        listed = {h["host"]: h for h in self.hosts()}
        self.assertEqual((listed["one"]["labels"], listed["two"]["labels"]), (["gpu", "big"], ["gpu"]))

    def test_a_job_waits_for_a_host_and_for_its_deadline(self):
        self.host("zero").ready().end()  # makes the streams
        late = self.fleet("run", "--detach", "--deadline", "0.5", self.effect("late")).stdout.strip()
        patient = self.fleet("run", "--detach", "--deadline", "600", self.effect("patient")).stdout.strip()
        began = time.monotonic()
        eventually(lambda: time.monotonic() - began > 1, "the deadline")
        self.host("one").ready()
        self.assertEqual(eventually(lambda: self.ended(patient))["state"], "exited")
        self.assertEqual(eventually(lambda: self.ended(late))["state"], "expired")
        self.assertEqual(self.counts(), {"patient": 1})

    def ended(self, job):
        record = self.record(job)
        return record if record and record["state"] not in ("taken", "running") else None

    def test_two_hosts_of_one_name(self):
        self.host("one").ready()
        other = harness.Host(self, "other")
        self.addCleanup(other.end)
        other.name = "one"
        other.start()
        self.assertEqual(other.worker.wait(harness.PATIENCE), 125)
        self.assertIn("another host of this fleet is called one", other.said())
        again = harness.Host.__new__(harness.Host)
        again.__dict__.update(other.__dict__)
        again.home = self.folder + "/one"
        again.environment = dict(self.environment, TTYWARD_HOME=again.home)
        again.start()
        self.assertEqual(again.worker.wait(harness.PATIENCE), 125)
        self.assertIn("runs here already", again.said())

    def test_the_hosts_policy_decides(self):
        host = self.host("one", settings="").ready()
        denied = self.json("run", "rm -rf /")
        self.assertEqual(denied["state"], "denied", denied)
        # With the person's token the same caller is a person; a wrong key is refused, and nothing runs.
        marker = self.folder + "/marker"
        mine = self.json("run", "--person-key", host.token, f"touch {marker}")
        self.assertEqual(mine["state"], "exited", mine)
        self.assertTrue(os.path.exists(marker))
        wrong = self.folder + "/wrong-key"
        with open(os.open(wrong, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write("0" * 64 + "\n")
        refused = self.json("run", "--person-key", wrong, f"touch {marker}2")
        self.assertEqual(refused["state"], "denied", refused)
        self.assertIn("not the one that this host knows", refused["reason"])
        self.assertFalse(os.path.exists(marker + "2"))

    def test_a_person_of_the_fleet(self):
        keys = self.folder + "/people"
        key = self.folder + "/ada-key"
        for path, text in ((keys, "ada " + "a1" * 32 + "\n"), (key, "a1" * 32 + "\n")):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
                f.write(text)
        self.host("one", "--people", keys, settings="").ready()
        job = self.json("run", "--as", "ada", "--person-key", key, f"touch {self.folder}/by-ada")
        self.assertEqual(job["state"], "exited", job)
        self.assertEqual(self.json("run", "--as", "eve", "--person-key", key, "true")["state"], "denied")

    def test_a_proof_holds_for_one_message(self):
        host = self.host("one", settings="").ready()
        bus = self.bus(self.main)
        bus.subscribe("tw1.cmd.any")
        self.json("run", "--person-key", host.token, "true")
        _, _, data = bus.next()
        job = json.loads(data)
        job["command"] = f"touch {self.folder}/forged"
        job["id"] = "c" + "a" * 12
        bus.publish("tw1.cmd.any", job)
        record = eventually(lambda: self.ended(job["id"]))
        self.assertEqual(record["state"], "denied")
        self.assertFalse(os.path.exists(self.folder + "/forged"))

    def test_what_is_no_job_is_dropped(self):
        host = self.host("one").ready()
        bus = self.bus(self.main)
        for junk in (b"", b"junk", b'{"id":"c"}', b'{"id":"caaaaaaaaaaaa"}', b'{"id":"../../etc/passwd","command":"true"}'):
            bus.publish("tw1.cmd.any", junk)
        self.assertEqual(self.fleet("run", "echo still there").stdout, "still there\n")
        eventually(lambda: bus.queued() == 0, "an empty queue")
        self.assertEqual(host.said().count("is not a job"), 5)

    def test_a_worker_that_stops_leaves_its_commands(self):
        host = self.host("one").ready()
        running = self.start("run", self.effect("a", f"; while [ ! -e {self.folder}/go ]; do sleep 0.05; done; echo done"))
        eventually(lambda: self.counts()["a"] == 1)
        host.worker.terminate()
        self.assertEqual(host.worker.wait(harness.PATIENCE), 0)
        open(self.folder + "/go", "w").close()
        host.start().ready()
        self.assertEqual(self.finish(running)[:2], (0, "done\n"))
        self.assertEqual(self.counts(), {"a": 1})


    def test_what_was_taken_ahead_does_not_wait_behind_a_long_command(self):
        self.host("one", "--slots", "1").ready()
        self.assertEqual(self.fleet("batch", "true", "true", "true", "true").returncode, 0)  # short ones: it takes more ahead
        long = self.start("run", self.effect("long", f"; while [ ! -e {self.folder}/go ]; do sleep 0.05; done"))
        eventually(lambda: self.counts()["long"] == 1)
        began = time.monotonic()
        short = self.start("run", self.effect("short"))
        self.host("two").ready()
        self.assertEqual(self.finish(short)[0], 0)
        self.assertLess(time.monotonic() - began, 1.5 * self.lease, "not only when the queue delivers it again")
        open(self.folder + "/go", "w").close()
        self.assertEqual(self.finish(long)[0], 0)
        self.assertEqual(self.counts(), {"long": 1, "short": 1})


class Verb(unittest.TestCase):
    def test_without_a_server(self):
        done = subprocess.run([harness.TTYWARD, "fleet", "ls"], capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, 125)
        self.assertIn("--server nats://", done.stderr)
        for elsewhere in ("192.0.2.1:4222", "localhost.example:4222", "127.example", "user:127.0.0.1@192.0.2.1"):
            done = subprocess.run([harness.TTYWARD, "fleet", "ls", "--server", "nats://" + elsewhere], capture_output=True, text=True)
            self.assertIn("readable by everybody", done.stderr)
        done = subprocess.run([harness.TTYWARD, "fleet", "run", "--server", "nats://127.0.0.1:1", "true"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot connect to nats://127.0.0.1:1", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
