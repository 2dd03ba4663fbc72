"""The failure table of docs/fleet.md, with real processes: nothing is lost, and nothing runs twice."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

import harness
from harness import FleetTest, Proxy, eventually, free_port


class Failures(FleetTest):
    def wait_until_effect(self, number):
        eventually(lambda: self.counts()[str(number)] == 1, f"effect {number}")

    def gated(self, number):
        """A command that has its effect at once, and ends when the gate opens."""
        return self.effect(number, f"; while [ ! -e {self.folder}/gate ]; do sleep 0.05; done; echo through")

    def open_gate(self):
        open(self.folder + "/gate", "w").close()

    def state_of(self, job):
        record = self.record(job)
        return record and record["state"]

    # --- a host

    def test_worker_killed_mid_command(self):
        self.server()
        host = self.host("one").ready()
        running = self.start("run", self.gated(1))
        self.wait_until_effect(1)
        host.kill_worker()
        self.open_gate()
        host.start().ready()
        self.assertEqual(self.finish(running)[:2], (0, "through\n"))
        self.each_once([1])

    def test_daemon_killed_mid_command(self):
        self.server()
        host = self.host("one").ready()
        running = self.start("run", self.gated(1))
        self.wait_until_effect(1)
        host.kill_daemon()
        self.open_gate()
        self.assertEqual(self.finish(running)[:2], (0, "through\n"))
        self.each_once([1])

    def test_worker_and_daemon_killed_together(self):
        self.server()
        host = self.host("one").ready()
        running = self.start("run", self.gated(1))
        self.wait_until_effect(1)
        host.kill_worker()
        host.kill_daemon()
        self.open_gate()
        host.start().ready()
        self.assertEqual(self.finish(running)[:2], (0, "through\n"))
        self.each_once([1])

    def test_workers_and_daemons_killed_at_random(self):
        """Kills at any step: between the queue, the claim, the record, the daemon, the report."""
        self.server()
        hosts = [self.host(name, "--slots", "3").ready() for name in ("one", "two")]
        count = 150
        running = self.start("batch", "--json", "--file", self.batch_file([self.effect(n, "; sleep 0.02") for n in range(count)]))
        dice = random.Random(4)
        kills = 0
        while running.poll() is None and kills < 25:
            before = sum(self.counts().values())
            goal = min(count, before + dice.randrange(3, 12))
            give_up = time.monotonic() + 10
            while sum(self.counts().values()) < goal and running.poll() is None and time.monotonic() < give_up:
                time.sleep(dice.random() * 0.02)
            host = dice.choice(hosts)
            if dice.random() < 0.7:
                host.kill_worker()
                host.start()
            else:
                host.kill_daemon()
            kills += 1
        code, out, err = self.finish(running)
        records = [json.loads(line) for line in out.splitlines()]
        self.assertEqual({r["state"] for r in records}, {"exited"}, err)
        self.assertEqual(code, 0, err)
        self.assertEqual(len(records), count)
        self.each_once(range(count))
        self.assertGreater(kills, 5)

    def test_a_host_that_never_comes_back(self):
        self.lease = 2
        self.server()
        gone = self.host("gone").ready()
        once = self.start("run", self.gated("once"))
        again = self.start("run", "--idempotent", self.effect("again", f"; [ -e {self.folder}/first ] || {{ touch {self.folder}/first; sleep 600; }}; echo done"))
        eventually(lambda: self.counts()["once"] + self.counts()["again"] == 2)
        gone.destroy()
        self.host("two").ready()
        code, _, err = self.finish(once)
        self.assertEqual(code, 125)
        self.assertIn("lost: host gone", err)
        code, out, err = self.finish(again)
        self.assertEqual((code, out), (0, "done\n"), err)
        self.assertEqual(self.counts(), {"once": 1, "again": 2}, "only what may run twice ran twice")

    def test_a_host_that_dies_with_the_message(self):
        """It took the job and nobody knows whether it began: it is lost, and the queue lets go of it."""
        self.lease = 2
        server = self.server()
        gone = self.host("gone").ready()
        bus = self.bus(server)
        job = "c" + "b" * 12
        os.kill(gone.worker.pid, signal.SIGSTOP)  # so that it cannot go on
        [beat] = [h for h in self.hosts() if h["host"] == "gone"]
        record = {"id": job, "state": "taken", "host": "gone", "host_id": beat["host_id"], "boot": beat["boot"], "command": "x", "attempt": 1}
        self.assertIn("seq", bus.request(f"$KV.tw_job.{job}", record))
        bus.request("tw1.cmd.any", {"id": job, "command": self.effect(1)}, message_id=job)
        gone.destroy()
        self.host("two").ready()
        eventually(lambda: self.state_of(job) == "lost", "lost")
        eventually(lambda: bus.queued() == 0, "an empty queue")
        self.assertEqual(self.counts(), {})

    def test_a_host_in_another_boot_looks_back(self):
        server = self.server()
        host = self.host("one").ready()
        done = self.json("run", self.effect(1))
        host.worker.terminate()
        host.worker.wait()
        bus = self.bus(server)
        claims = host.home + "/state/fleet/claims"
        for job, known in ((done["id"], True), ("c" + "d" * 12, False)):
            record = dict(done, id=job, state="taken", boot="an-earlier-one")
            record.pop("result")
            bus.request(f"$KV.tw_job.{job}", record)
            with open(os.open(f"{claims}/{job}", os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
                json.dump({"job": {"id": job, "command": self.effect(1)}, "boot": "an-earlier-one", "starts": 1}, f)
        host.start().ready()
        eventually(lambda: self.state_of(done["id"]) == "exited")
        eventually(lambda: self.state_of("c" + "d" * 12) == "lost")
        self.each_once([1])

    # --- the bus

    def test_server_killed_again_and_again(self):
        server = self.server()
        for name in ("one", "two"):
            self.host(name, "--slots", "2").ready()
        count = 120
        running = self.start("batch", "--json", "--file", self.batch_file([self.effect(n, "; sleep 0.02") for n in range(count)]))
        for goal in (10, 40, 70):
            eventually(lambda: sum(self.counts().values()) >= goal, f"{goal} effects")
            server.kill()
            server.start()
        code, out, err = self.finish(running)
        self.assertEqual(code, 0, err)
        self.assertEqual(len(out.splitlines()), count)
        self.each_once(range(count))

    def test_server_away_while_a_command_runs(self):
        server = self.server()
        host = self.host("one").ready()
        running = self.start("run", self.gated(1))
        self.wait_until_effect(1)
        server.kill()
        self.open_gate()
        eventually(lambda: "exited" in self.history(host), "the end of the command")
        server.start()
        self.assertEqual(self.finish(running)[:2], (0, "through\n"))
        self.each_once([1])

    @staticmethod
    def history(host):
        mine = dict(host.environment, TTYWARD_PERSON_TOKEN_FILE=host.token)
        return subprocess.run([harness.TTYWARD, "--json", "history"], env=mine, capture_output=True, text=True).stdout

    def test_server_loses_its_disk(self):
        self.lease = 2
        server = self.server()
        self.host("zero").ready().end()
        running = self.start("run", self.effect(1))
        bus = self.bus(server)
        eventually(lambda: bus.queued() == 1)
        server.kill()
        subprocess.run(["rm", "-r", server.folder + "/store"], check=True)
        server.start()
        self.host("one").ready()
        code, _, err = self.finish(running)
        self.assertEqual(code, 0, err)
        self.each_once([1])

    def lose_disk(self, server):
        server.kill()
        subprocess.run(["rm", "-r", server.folder + "/store"], check=True)

    def test_server_loses_its_disk_while_a_command_runs(self):
        """The host that has it says so before anybody submits it again, also if its worker was killed meanwhile."""
        self.lease = 2
        for killed in (False, True):
            with self.subTest(worker_killed=killed):
                self.setUp()
                server = self.server()
                hosts = {name: self.host(name).ready() for name in ("one", "two")}
                running = self.start("run", self.gated(1))
                self.wait_until_effect(1)
                job = eventually(lambda: self.taken_by(server))
                # Nothing changes any more that would be stored anyway.
                eventually(lambda: self.state_of(job) == "running")
                host = hosts[self.record(job)["host"]]
                if killed:
                    host.kill_worker()
                self.lose_disk(server)
                server.start()
                if killed:
                    host.start().ready()
                record = eventually(lambda: self.record(job), "its record again")
                self.assertEqual(record["host"], host.name)
                # Long enough for it to be given to somebody else.
                began = time.monotonic()
                eventually(lambda: time.monotonic() - began > 4 * self.lease)
                self.assertEqual(self.counts()["1"], 1)
                # And the fleet takes other jobs.
                self.assertEqual(self.fleet("run", "echo next").stdout, "next\n")
                self.open_gate()
                self.assertEqual(self.finish(running)[:2], (0, "through\n"))
                self.each_once([1])

    def test_server_loses_its_disk_after_a_command_has_ended(self):
        """Nobody has told its submitter, and its record is gone: the host still knows the result."""
        self.lease = 2
        server = self.server()
        for name in ("one", "two"):
            self.host(name).ready()
        proxy = Proxy(server.port)
        self.addCleanup(proxy.close)
        direct, self.url = self.url, proxy.url
        running = self.start("run", self.gated(1))
        self.url = direct
        self.wait_until_effect(1)
        job = eventually(lambda: self.taken_by(server))
        proxy.cut()
        self.open_gate()
        eventually(lambda: self.state_of(job) == "exited")
        self.lose_disk(server)
        server.start()
        eventually(lambda: len(self.hosts()) == 2, "the hosts")
        proxy.mend()
        self.assertEqual(self.finish(running)[:2], (0, "through\n"))
        self.each_once([1])

    def test_a_full_queue_is_said_at_once(self):
        server = self.server()
        self.host("zero").ready().end()
        bus = self.bus(server)
        config = bus.request("$JS.API.STREAM.INFO.TW_CMD")["config"]
        changed = bus.request("$JS.API.STREAM.UPDATE.TW_CMD", dict(config, max_msgs=2))
        self.assertNotIn("error", changed)
        waiting = [self.start("run", self.effect(n)) for n in range(2)]
        eventually(lambda: bus.queued() == 2)
        refused = self.fleet("run", self.effect(2))
        self.assertEqual(refused.returncode, 125, refused)
        self.assertIn("maximum messages exceeded", refused.stderr)
        self.host("one").ready()
        for each in waiting:
            self.assertEqual(self.finish(each)[0], 0)
        self.each_once(range(2))

    def test_a_job_whose_worker_ends_five_times(self):
        self.server()
        host = self.host("one").ready()
        running = self.start("run", self.gated(1))
        self.wait_until_effect(1)
        job = os.listdir(host.home + "/state/fleet/claims")[0]

        def workers():
            try:
                with open(f"{host.home}/state/fleet/claims/{job}") as f:
                    return json.load(f)["starts"]
            except (OSError, ValueError):
                return 0
        for number in range(1, 6):
            eventually(lambda: workers() == number, f"worker {number}")
            host.kill_worker()
            host.start()
        code, _, err = self.finish(running)
        self.assertEqual(code, 125, err)
        record = self.record(job)
        self.assertEqual((record["state"], record["reason"]), ("failed_to_start", "5 workers ended while they had it"))
        self.open_gate()
        # The worker lives, and takes others.
        self.assertEqual(self.fleet("run", "echo next").stdout, "next\n")
        self.each_once([1])

    def test_leader_of_three_killed(self):
        routes = [free_port() for _ in range(3)]
        servers = [harness.Server(self.folder, name=f"n{i + 1}", cluster=(routes[i], routes)) for i in range(3)]
        for server in servers:
            self.addCleanup(server.kill)
            with open(server.folder + "/log", "ab") as log:
                server.process = subprocess.Popen([harness.NATS_SERVER, "-c", server.config], stdout=log, stderr=log)
        for server in servers:
            eventually(server.accepts)
        self.url = ",".join(server.url for server in servers)
        eventually(lambda: any(s.look("jsz").get("meta_cluster", {}).get("leader") for s in servers), "a leader")
        for name in ("one", "two"):
            self.host(name, "--slots", "2", "--replicas", "3").ready()
        count = 80
        running = self.start("batch", "--json", "--file", self.batch_file([self.effect(n, "; sleep 0.02") for n in range(count)]))
        eventually(lambda: sum(self.counts().values()) >= 10, "10 effects")
        leader = self.leader_of(servers, "TW_CMD")
        leader.kill()
        code, out, err = self.finish(running)
        self.assertEqual(code, 0, err)
        self.assertEqual(len(out.splitlines()), count)
        self.each_once(range(count))
        leader.start()

    @staticmethod
    def leader_of(servers, stream):
        for server in servers:
            for account in server.look("jsz?streams=1").get("account_details", []):
                for each in account.get("stream_detail", []):
                    if each["name"] == stream:
                        return next(s for s in servers if s.name == each["cluster"]["leader"])
        raise AssertionError("no leader")

    # --- the network

    def test_cut_from_the_bus_while_a_command_runs(self):
        """Others see the host as gone; its result wins over `lost` when it is back."""
        self.lease = 2
        for way in ("cut", "hold"):
            with self.subTest(way):
                self.setUp()
                server = self.server()
                proxy = Proxy(server.port)
                self.addCleanup(proxy.close)
                self.host("one", server=proxy.url).ready()
                running = self.start("run", self.gated(1))
                self.wait_until_effect(1)
                job = eventually(lambda: self.taken_by(server))
                eventually(lambda: self.state_of(job) == "running")
                getattr(proxy, way)()
                code, _, err = self.finish(running)
                self.assertEqual(code, 125)
                self.assertIn("no sign of life", err)
                self.open_gate()
                proxy.mend()
                record = eventually(lambda: (self.record(job) or {}).get("state") == "exited" and self.record(job), "the true result")
                self.assertEqual(record["result"]["output"], "through\n")
                self.each_once([1])

    def test_a_network_that_is_gone(self):
        """A worker in a network of its own; its wire is pulled, and nobody is told that connections are closed."""
        near, far = f"tw{os.getpid() % 100000}a", f"tw{os.getpid() % 100000}b"
        space = subprocess.Popen(["unshare", "-n", "sleep", "100000"], stderr=subprocess.DEVNULL)
        self.addCleanup(space.wait)
        self.addCleanup(space.kill)
        ours = os.readlink("/proc/self/ns/net")
        eventually(lambda: space.poll() is not None or os.readlink(f"/proc/{space.pid}/ns/net") != ours)
        inside = ["nsenter", "-t", str(space.pid), "-n"]
        lines = (["ip", "link", "add", near, "type", "veth", "peer", "name", far], ["ip", "link", "set", far, "netns", str(space.pid)],
                 ["ip", "addr", "add", "10.213.77.1/30", "dev", near], ["ip", "link", "set", near, "up"],
                 [*inside, "ip", "addr", "add", "10.213.77.2/30", "dev", far], [*inside, "ip", "link", "set", far, "up"])
        for line in lines:
            done = subprocess.run(line, capture_output=True, text=True)
            if done.returncode != 0:
                self.skipTest("no network of one's own here: " + done.stderr)
        self.addCleanup(subprocess.run, ["ip", "link", "del", near], stderr=subprocess.DEVNULL)
        self.lease = 2
        server = self.server()
        way = Proxy(server.port, "10.213.77.1")
        self.addCleanup(way.close)
        host = harness.Host(self, "one")
        self.addCleanup(host.end)
        host.start("--plain-text", server=way.url, through=inside).ready()
        running = self.start("run", self.gated(1))
        self.wait_until_effect(1)
        job = eventually(lambda: self.taken_by(server))
        eventually(lambda: self.state_of(job) == "running")
        subprocess.run(["ip", "link", "set", near, "down"], check=True)
        code, _, err = self.finish(running)
        self.assertEqual(code, 125)
        self.assertIn("no sign of life", err)
        self.open_gate()
        subprocess.run(["ip", "link", "set", near, "up"], check=True)
        eventually(lambda: self.state_of(job) == "exited", "the true result")
        self.each_once([1])

    def taken_by(self, server):
        jobs = json.loads(self.fleet("ls", "--json", "--jobs").stdout).get("jobs", [])
        return jobs and jobs[0]["id"]

    def test_cut_again_and_again(self):
        server = self.server()
        proxies = []
        for name in ("one", "two"):
            proxy = Proxy(server.port)
            self.addCleanup(proxy.close)
            proxies.append(proxy)
            self.host(name, "--slots", "2", server=proxy.url).ready()
        count = 100
        running = self.start("batch", "--json", "--file", self.batch_file([self.effect(n, "; sleep 0.02") for n in range(count)]))
        dice = random.Random(7)
        for _ in range(12):
            before = sum(self.counts().values())
            if before >= count:
                break
            eventually(lambda: sum(self.counts().values()) > before)
            proxy = dice.choice(proxies)
            proxy.cut()
            proxy.mend()
        code, out, err = self.finish(running)
        self.assertEqual(code, 0, err)
        self.assertEqual(len(out.splitlines()), count)
        self.each_once(range(count))

    # --- the queue

    def test_duplicate_delivery(self):
        self.lease = 2
        server = self.server()
        for name in ("one", "two"):
            self.host(name, "--slots", "3").ready()
        bus = self.bus(server)
        jobs = ["c" + letter * 12 for letter in "abcdefghij"]
        for i in range(6):
            for job in jobs:
                bus.request("tw1.cmd.any", {"id": job, "command": self.effect(job, "; sleep 0.1")}, message_id=f"{job}.{i}")
        eventually(lambda: bus.queued() == 0, "an empty queue")
        self.assertEqual(self.counts(), {job: 1 for job in jobs})
        # An id that was used is used up, whatever it is used for.
        bus.request("tw1.cmd.any", {"id": jobs[0], "command": self.effect("other")}, message_id="late")
        eventually(lambda: bus.queued() == 0, "an empty queue")
        self.assertEqual(self.counts(), {job: 1 for job in jobs})

    def test_delivered_again_while_it_runs(self):
        self.lease = 2
        server = self.server()
        for name in ("one", "two"):
            self.host(name).ready()
        bus = self.bus(server)
        job = "c" + "e" * 12
        message = {"id": job, "command": self.gated(1), "idempotent": True}
        bus.request("tw1.cmd.any", message, message_id="first")
        self.wait_until_effect(1)
        for i in range(4):
            bus.request("tw1.cmd.any", message, message_id=str(i))
        # Longer than the queue waits for an answer: the host that has it says that it works on it.
        began = time.monotonic()
        eventually(lambda: time.monotonic() - began > 3 * self.lease)
        self.open_gate()
        eventually(lambda: self.state_of(job) == "exited")
        eventually(lambda: bus.queued() == 0, "an empty queue")
        self.each_once([1])

    def test_clocks_that_differ(self):
        self.lease = 2
        source = self.folder + "/skew.c"
        library = self.folder + "/skew.so"
        with open(source, "w") as f:
            f.write("""#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long skew(void) { const char* s = getenv("SKEW"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t id, struct timespec* t) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int r = real(id, t);
  if (id == CLOCK_REALTIME) t->tv_sec += skew();
  return r;
}
// The kernel's clock is right: what waits until a moment of the wrong one has to say it in the kernel's terms.
int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const struct timespec* until) {
  static int (*real)(pthread_cond_t*, pthread_mutex_t*, const struct timespec*);
  if (!real) real = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  struct timespec t = *until;
  t.tv_sec -= skew();
  return real(c, m, &t);
}
int gettimeofday(struct timeval* t, void* z) {
  struct timespec n; clock_gettime(CLOCK_REALTIME, &n);
  t->tv_sec = n.tv_sec; t->tv_usec = n.tv_nsec / 1000; (void)z; return 0;
}
time_t time(time_t* t) { struct timespec n; clock_gettime(CLOCK_REALTIME, &n); if (t) *t = n.tv_sec; return n.tv_sec; }
""")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self.server()
        hosts = [self.host(name, "--slots", "2", environment={"LD_PRELOAD": library, "SKEW": str(hours * 3600)}).ready()
                 for name, hours in (("late", -30), ("right", 0), ("early", 30))]
        done = self.fleet("batch", "--json", "--deadline", "120", "--file", self.batch_file([self.effect(n, "; sleep 0.05") for n in range(40)]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.each_once(range(40))
        self.assertEqual({json.loads(line)["host"] for line in done.stdout.splitlines()}, {"late", "right", "early"})
        # A person's proof ages by the server's clock, too.
        for host in hosts:
            job = self.json("run", "--host", host.name, "--person-key", host.token, "true")
            self.assertEqual(job["state"], "exited", job)
        # Taken over after the lease of the server, not before: the others think it is tomorrow, or yesterday.
        again = self.start("run", "--host", "right", "--idempotent", self.gated("g"))
        self.wait_until_effect("g")
        began = time.monotonic()
        eventually(lambda: time.monotonic() - began > 2 * self.lease)
        self.open_gate()
        self.assertEqual(self.finish(again)[:2], (0, "through\n"))
        self.assertEqual(self.counts()["g"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
