"""What a daemon tells of itself: spans and metrics for a collector, counts for Prometheus, logs in JSON. The collector is a real HTTP
server on loopback; it is told to be slow, to fail and to be gone."""
import http.client
import http.server
import json
import os
import queue
import re
import signal
import socket
import subprocess
import threading
import unittest

from daemon_client import PATIENCE, TTYWARD, Daemon, eventually
from processes import lives


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        server.requests.put((self.path, self.headers["Content-Type"]))
        server.may_answer.wait(PATIENCE)
        if server.status == 200:
            told = json.loads(body)
            if self.path == "/v1/traces":
                for span in told["resourceSpans"][0]["scopeSpans"][0]["spans"]:
                    server.spans.put(span)
            else:
                server.metrics.put({each["name"]: each for each in told["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]})
            server.bodies.append(body.decode())
        self.send_response(server.status)
        self.end_headers()

    def log_message(self, *_):
        pass


class Collector(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.requests, self.spans, self.metrics = queue.Queue(), queue.Queue(), queue.Queue()
        self.bodies = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.status = 200
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self):
        self.may_answer.set()
        self.shutdown()
        self.server_close()

    def span_of(self, command_id):
        """The span of this command; those that come before it are passed over."""
        while True:
            span = self.spans.get(timeout=PATIENCE)
            if attributes(span)["ttyward.command.id"] == command_id:
                return span

    def metric(self, name, holds):
        """Waits until the value of this metric is as it should be."""
        while True:
            point = points(self.metrics.get(timeout=PATIENCE)[name])
            if holds(point):
                return point


def attributes(of):
    return {each["key"]: next(iter(each["value"].values())) for each in of["attributes"]}


def points(metric):
    """By label: the value of a number, the count of a histogram."""
    data = next(metric[kind] for kind in ("sum", "gauge", "histogram") if kind in metric)
    return {"".join(attributes(point).values()): int(point.get("asInt", point.get("count"))) for point in data["dataPoints"]}


def prometheus(text):
    """Name with labels -> value; fails on lines that are no part of the format."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r'([a-z_]+)((?:\{[a-z]+="[^"]*"\})?) ([0-9.e+-]+)', line).groups()
            found[name + labels] = float(value)
    return found


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Telemetry(unittest.TestCase):
    def daemon(self, port, more="", interval="100ms"):
        daemon = Daemon(f'[telemetry]\nendpoint = "http://127.0.0.1:{port}"\ninterval = "{interval}"\n{more}\n[pool]\nsize = 0\n')
        self.addCleanup(daemon.close)
        return daemon

    def collector(self, port=0):
        collector = Collector(port)
        self.addCleanup(collector.close)
        return collector

    def test_a_span_says_how_a_command_went_and_not_what_it_was(self):
        collector = self.collector()
        daemon = self.daemon(collector.server_port)
        terminal = daemon.client.call("open", cwd=daemon.home, name="build", task="checkout")["terminal"]["id"]
        result = daemon.client.call("exec", terminal=terminal, command="printf 'a\\nb\\n'; SECRET=hunter2hunter2; (exit 3)")
        span = collector.span_of(result["command_id"])
        told = attributes(span)
        self.assertEqual(told["ttyward.terminal.id"], terminal)
        self.assertEqual((told["ttyward.terminal.name"], told["ttyward.task"], told["ttyward.owner"]), ("build", "checkout", "user"))
        self.assertEqual((told["process.exit.code"], told["ttyward.outcome"], told["ttyward.verdict"]), ("3", "failed", "allow"))
        self.assertEqual(int(told["ttyward.output.lines"]), result["total_lines"])
        self.assertEqual(span["status"]["code"], 2)
        self.assertRegex(span["traceId"], "^[0-9a-f]{32}$")
        self.assertRegex(span["spanId"], "^[0-9a-f]{16}$")
        took = int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])
        self.assertEqual(took, result["duration_ms"] * 1_000_000)
        for word in ("printf", "hunter2", "process.command_line", daemon.home):
            self.assertNotIn(word, "".join(collector.bodies))
        self.assertEqual(collector.requests.get()[1], "application/json")

    def test_commands_are_sent_where_the_person_wants_it_with_secrets_masked(self):
        collector = self.collector()
        daemon = self.daemon(collector.server_port, "commands = true")
        result = daemon.client.call("run", command="echo --password hunter2 done", cwd=daemon.home)
        told = attributes(collector.span_of(result["command_id"]))
        self.assertEqual(told["process.command_line"], "echo --password *** done")
        self.assertEqual(told["process.working_directory"], daemon.home)
        self.assertNotIn("hunter2", "".join(collector.bodies))
        longer = daemon.client.call("run", command="true " + "x" * 100_000, cwd=daemon.home)
        self.assertEqual(len(attributes(collector.span_of(longer["command_id"]))["process.command_line"]), 4096)

    def test_a_question_is_part_of_the_span_and_counted(self):
        collector = self.collector()
        daemon = self.daemon(collector.server_port)
        agent = daemon.connect("agent")
        terminal = agent.call("open", cwd=daemon.home)["terminal"]["id"]
        for decision, verdict, outcome in (("allow", "ask_allow", "failed"), ("deny", "deny", "denied")):
            asked = agent.start("exec", terminal=terminal, command=f"deploy-it {decision}")
            question = eventually(lambda: daemon.client.call("approvals")["approvals"], "a question")[0]
            collector.metric("ttyward.approvals.waiting", lambda now: now[""] == 1)
            daemon.client.call("answer", approval=question["id"], decision=decision)
            result = agent.answer(asked)
            told = attributes(collector.span_of(result["command_id"]))
            self.assertEqual((told["ttyward.verdict"], told["ttyward.outcome"], told["ttyward.owner"]), (verdict, outcome, "agent"))
            self.assertGreater(int(told["ttyward.approval.wait_ms"]), 0)
        refused = agent.call("exec", terminal=terminal, command="rm -rf /usr")
        told = attributes(collector.span_of(refused["command_id"]))
        self.assertEqual((told["ttyward.verdict"], told["ttyward.outcome"], told["ttyward.risk"]), ("deny", "denied", "critical"))
        self.assertNotIn("ttyward.approval.wait_ms", told)
        answers = collector.metric("ttyward.approvals", lambda now: now["denied"] == 1)
        self.assertEqual((answers["allowed"], answers["expired"]), (1, 0))
        agent.close()

    def test_metrics(self):
        collector = self.collector()
        daemon = self.daemon(collector.server_port)
        terminal = daemon.client.call("open", cwd=daemon.home)["terminal"]["id"]
        for command in ("true", "true", "false", "head -c 1000 /dev/zero | tr '\\0' x"):
            daemon.client.call("exec", terminal=terminal, command=command)
        runs = daemon.client.start("exec", terminal=terminal, command="until test -e go; do sleep 0.01; done")
        collector.metric("ttyward.commands.running", lambda now: now[""] == 1)
        open(daemon.home + "/go", "w").close()
        daemon.client.answer(runs)
        done = collector.metric("ttyward.commands", lambda now: now["ok"] == 4)
        self.assertEqual((done["failed"], done["denied"]), (1, 0))
        metrics = collector.metrics.get(timeout=PATIENCE)
        self.assertEqual(points(metrics["ttyward.command.duration"])[""], 5)
        self.assertGreaterEqual(points(metrics["ttyward.command.output"])[""], 1000)
        self.assertEqual(points(metrics["ttyward.terminals"])[""], 1)
        told = prometheus(subprocess.run([TTYWARD, "daemon", "metrics"], env=daemon.environment, check=True, text=True,
                                         stdout=subprocess.PIPE, timeout=PATIENCE).stdout)
        self.assertEqual(told['ttyward_commands_total{outcome="ok"}'], 4)
        self.assertEqual(told["ttyward_command_duration_seconds_count"], 5)

    def test_a_collector_that_is_gone_costs_no_command_and_gets_all_when_it_is_there(self):
        port = free_port()
        daemon = self.daemon(port)
        results = [daemon.client.call("run", command=f"exit {n}", cwd=daemon.home) for n in range(3)]
        self.assertEqual([each["exit_code"] for each in results], [0, 1, 2])
        # Spans and metrics are sent each in their turn, so each fails in its turn.
        eventually(lambda: any(f"127.0.0.1:{port} does not take spans" in each
                               for each in daemon.client.call("status")["warnings"]), "the warning")
        collector = self.collector(port)
        for result in results:
            collector.span_of(result["command_id"])
        eventually(lambda: daemon.client.call("status")["warnings"] == [], "the end of the warning")
        with open(daemon.folder + "/tw/state/daemon.log") as log:
            text = log.read()
        self.assertEqual(text.count("does not take spans"), 1, text)
        self.assertEqual(text.count("takes spans again"), 1, text)

    def test_a_collector_that_fails_is_tried_again(self):
        collector = self.collector()
        collector.status = 500
        daemon = self.daemon(collector.server_port)
        result = daemon.client.call("run", command="exit 4", cwd=daemon.home)
        collector.requests.get(timeout=PATIENCE)
        warnings = eventually(lambda: daemon.client.call("status")["warnings"], "the warning")
        self.assertIn("it answered 500", warnings[0])
        collector.status = 200
        self.assertEqual(attributes(collector.span_of(result["command_id"]))["process.exit.code"], "4")

    def test_a_silent_collector_delays_neither_commands_nor_the_end(self):
        collector = self.collector()
        collector.may_answer.clear()
        daemon = self.daemon(collector.server_port)
        daemon.client.call("run", command="true", cwd=daemon.home)
        collector.requests.get(timeout=PATIENCE)
        for _ in range(20):
            self.assertEqual(daemon.client.call("run", command="true", cwd=daemon.home)["exit_code"], 0)
        os.kill(daemon.pid, signal.SIGTERM)
        daemon.wait_for_end()
        self.assertFalse(lives(daemon.pid))

    def test_what_waits_is_sent_at_the_end(self):
        collector = self.collector()
        daemon = self.daemon(collector.server_port, interval="1h")
        result = daemon.client.call("run", command="true", cwd=daemon.home)
        self.assertTrue(collector.requests.empty())
        os.kill(daemon.pid, signal.SIGTERM)
        collector.span_of(result["command_id"])

    def test_a_killed_daemon_s_command_is_told_by_the_next_and_none_twice(self):
        collector = self.collector()
        daemon = self.daemon(collector.server_port)
        terminal = daemon.client.call("open", cwd=daemon.home)["terminal"]["id"]
        before = daemon.client.call("exec", terminal=terminal, command="exit_early() { return 6; }; exit_early")
        collector.span_of(before["command_id"])
        eventually(lambda: daemon.client.call("history", limit=5)["commands"], "the row in the history")
        daemon.client.start("exec", terminal=terminal, command="until test -e go; do sleep 0.01; done; (exit 7)")
        eventually(lambda: daemon.client.call("status")["commands"] == 1, "a running command")
        os.kill(daemon.pid, signal.SIGKILL)
        daemon.wait_for_end()
        daemon.client.close()
        open(daemon.home + "/go", "w").close()
        daemon.start()
        span = collector.spans.get(timeout=PATIENCE)
        self.assertNotEqual(attributes(span)["ttyward.command.id"], before["command_id"])
        self.assertEqual(attributes(span)["process.exit.code"], "7")
        done = collector.metric("ttyward.commands", lambda now: now["failed"] > 0)
        self.assertEqual(sum(done.values()), 1)
        self.assertTrue(collector.spans.empty())

    def test_a_reload_changes_where_it_goes(self):
        first, second = self.collector(), self.collector()
        daemon = self.daemon(first.server_port)
        path = daemon.folder + "/tw/config/config.toml"
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(text.replace(str(first.server_port), str(second.server_port)))
        self.assertEqual(daemon.client.call("reload")["errors"], [])
        result = daemon.client.call("run", command="true", cwd=daemon.home)
        second.span_of(result["command_id"])
        with open(path, "w") as f:
            f.write("")
        daemon.client.call("reload")
        self.assertEqual(daemon.client.call("run", command="true", cwd=daemon.home)["exit_code"], 0)

    def test_https_is_said_not_to_work(self):
        daemon = Daemon('[telemetry]\nendpoint = "https://otel.example:4318"\n')
        self.addCleanup(daemon.close)
        errors = daemon.client.call("status")["config"]["errors"]
        self.assertIn("https is not supported", errors[0])
        self.assertIn("http://127.0.0.1:4318", errors[0])

    def test_the_log_is_json_on_every_line(self):
        daemon = Daemon('[log]\nformat = "json"\n[pool]\nsize = 0\nlimits = 3\n')
        self.addCleanup(daemon.close)
        daemon.client.call("run", command="true", cwd=daemon.home)
        with open(daemon.folder + "/tw/state/daemon.log") as log:
            lines = [json.loads(line) for line in log]
        for line in lines:
            self.assertEqual(list(line), ["time", "level", "part", "message", "fields"])
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn(line["level"], ("info", "warning", "error"))
        self.assertIn(("daemon", daemon.pid), [(line["part"], line["fields"].get("pid")) for line in lines])
        self.assertIn("config", [line["part"] for line in lines if line["level"] == "warning"])  # `limits` is a mistake
        with open(daemon.folder + "/tw/config/config.toml", "w") as f:
            f.write("")
        daemon.client.call("reload")
        daemon.connect().close()
        with open(daemon.folder + "/tw/state/daemon.log") as log:
            self.assertRegex(log.read().splitlines()[-1], r"^\S+Z (info|warning) ")


class Scraping(unittest.TestCase):
    def panel(self, daemon, *arguments):
        process = subprocess.Popen([TTYWARD, "panel", *arguments], env=daemon.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        line = process.stdout.readline()
        if not line and "without the panel" in (error := process.stderr.read()):
            self.skipTest(error)
        return int(re.search(r":(\d+)/", line).group(1))

    def get(self, port, token=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer, body

    def test_prometheus_reads_counts_with_the_token_in_the_file(self):
        daemon = Daemon("[pool]\nsize = 0\n")
        self.addCleanup(daemon.close)
        path = daemon.folder + "/metrics-token"
        port = self.panel(daemon, "--metrics-token", path)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path) as f:
            token = f.read().strip()
        daemon.client.call("run", command="exit 9", cwd=daemon.home)
        answer, body = self.get(port, token)
        self.assertEqual((answer.status, answer.getheader("Content-Type")), (200, "text/plain; version=0.0.4; charset=utf-8"))
        self.assertEqual(prometheus(body)['ttyward_commands_total{outcome="failed"}'], 1)
        self.assertEqual(self.get(port)[0].status, 401)
        self.assertEqual(self.get(port, token[:-1] + "x")[0].status, 401)
        # The next panel takes the same token. Without the option there is nothing to read.
        self.assertEqual(self.get(self.panel(daemon, "--metrics-token", path), token)[0].status, 200)
        self.assertEqual(self.get(self.panel(daemon), token)[0].status, 404)
        # A daemon that was stopped stays so.
        daemon.client.call("stop", kill_terminals=True)
        daemon.wait_for_end()
        self.assertEqual(self.get(port, token)[0].status, 503)
        self.assertFalse(lives(daemon.pid))

    def test_a_token_that_others_can_read_is_refused(self):
        daemon = Daemon("[pool]\nsize = 0\n")
        self.addCleanup(daemon.close)
        path = daemon.folder + "/metrics-token"
        with open(path, "w") as f:
            f.write("x" * 64 + "\n")
        os.chmod(path, 0o644)
        done = subprocess.run([TTYWARD, "panel", "--metrics-token", path], env=daemon.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        if "without the panel" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("chmod 600", done.stderr)


if __name__ == "__main__":
    unittest.main()
