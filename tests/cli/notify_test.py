"""Questions that reach a person: a webhook, and what `ls`, `top` and `daemon status` show of them."""
import http.server
import json
import os
import queue
import shutil
import subprocess
import threading
import unittest

from harness import PATIENCE, TTYWARD, CliTest, Tmux, eventually, main


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.came.put((self.path, self.headers, body))
        self.server.may_answer.wait(PATIENCE)
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_):
        pass


class Notify(CliTest):
    def configure(self, text):
        path = self.ttyward("config", "path").stdout.strip()
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def serve(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        server.daemon_threads = True
        server.came = queue.Queue()
        server.may_answer = threading.Event()
        server.may_answer.set()
        server.status = 200
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.may_answer.set)
        self.configure(f'[notify]\nwebhook = "http://127.0.0.1:{server.server_port}/hook/s3cret"\n')
        return server

    def ask(self, command):
        """As an agent, something that a person has to agree to."""
        process = subprocess.Popen([TTYWARD, "exec", "build", command], cwd=self.work, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**self.environment, "TTYWARD_ROLE": "agent"})
        self.addCleanup(self.stop, process)
        return process

    def approvals(self):
        done = self.ttyward("--json", "approvals")
        return json.loads(done.stdout)["approvals"]

    @unittest.skipUnless(shutil.which("curl"), "no curl")
    def test_a_question_goes_to_the_webhook(self):
        server = self.serve()
        self.open("build", "--owner", "agent")
        server.may_answer.clear()
        self.ask("deploy-it --password hunter2 'a \"b\" \\'")
        path, headers, body = server.came.get(timeout=PATIENCE)
        # The one who takes the message is slow; nobody waits for it.
        self.assertEqual(self.ttyward("exec", "build", "exit 7", "--wait").returncode, 7)
        server.may_answer.set()
        self.assertEqual(path, "/hook/s3cret")
        self.assertEqual(headers["Content-Type"], "application/json")
        told = json.loads(body)
        self.assertEqual(told["event"], "approval_opened")
        self.assertIn("deploy-it --password ***", told["command"])
        self.assertNotIn("hunter2", body.decode())
        self.assertEqual(told["approval"], self.approvals()[0]["id"])
        self.assertEqual(told["text"], told["content"])
        self.assertEqual(self.json("daemon", "status")["warnings"], [])

    @unittest.skipUnless(shutil.which("curl"), "no curl")
    def test_a_webhook_that_refuses_is_told_of_and_changes_nothing(self):
        server = self.serve()
        server.status = 500
        self.open("build", "--owner", "agent")
        self.ask("deploy-it now")
        server.came.get(timeout=PATIENCE)
        warnings = eventually(lambda: self.json("daemon", "status")["warnings"], "the warning")
        self.assertIn("notify.webhook", warnings[0])
        self.assertNotIn("s3cret", warnings[0])
        self.assertEqual(len(self.approvals()), 1)

    def test_a_webhook_is_a_url(self):
        self.configure('[notify]\nwebhook = "ftp://example.org/"\n')
        done = self.ttyward("config", "check")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("https://", done.stdout + done.stderr)

    def test_ls_and_status_count_questions_and_commands(self):
        self.open("build", "--owner", "agent")
        status = self.json("daemon", "status")
        self.assertEqual((status["commands"], status["approvals"]), (0, 0))
        self.ask("deploy-it now")
        eventually(self.approvals, "the question")
        process = self.start("exec", "build", "until test -e go; do sleep 0.01; done")
        eventually(lambda: self.json("daemon", "status")["commands"] == 1, "a running command")
        self.assertEqual(self.json("daemon", "status")["approvals"], 1)
        listed = self.ok("ls")
        self.assertLess(listed.index("deploy-it now"), listed.index("build"))
        self.assertIn("ttyward approvals watch", listed)
        self.assertEqual(len(self.json("ls")["approvals"]), 1)
        agent = subprocess.run([TTYWARD, "ls"], env={**self.environment, "TTYWARD_ROLE": "agent"}, cwd=self.work,
                               capture_output=True, text=True, timeout=PATIENCE, start_new_session=True)
        self.assertNotIn("deploy-it now", agent.stdout)
        open(self.path("go"), "w").close()
        self.assertEqual(self.end_of(process)[0], 0)

    def test_ls_shows_ports(self):
        self.open("build", "--owner", "agent")
        self.start("exec", "build", "python3 -u -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", 0));"
                                    " print(\"port\", s.getsockname()[1]); time.sleep(1000)'")
        line = eventually(lambda: next((l for l in self.ok("read", "build").splitlines() if l.startswith("port ")), None))
        port = line.split()[1]
        eventually(lambda: self.json("ls")["terminals"][0]["ports"] == [int(port)], "the port")
        self.assertIn(port, self.ok("ls"))

    def test_top_shows_questions_answers_them_filters_and_helps(self):
        self.open("build", "--owner", "agent")
        self.open("other")
        asking = self.ask("touch agreed && deploy-it")
        eventually(self.approvals, "the question")
        tmux = Tmux(self, 110, 30)
        tmux.line(f"clear; {TTYWARD} top")
        screen = tmux.wait_for("1 question waits for your answer", "touch agreed", "other", "CPU")
        self.assertLess(screen.index("touch agreed"), screen.index("NAME"))
        tmux.keys("?")
        tmux.wait_for("-- keys --", "attach to it")
        tmux.keys("?")
        tmux.wait_for("-- ", absent=("-- keys --",))
        tmux.keys("/")
        tmux.wait_for("Enter keeps it")
        tmux.type("oth")
        tmux.wait_for("1 shown with 'oth'")
        tmux.keys("Enter")
        tmux.wait_for("-- other --", "q quit")
        tmux.keys("/")
        tmux.wait_for("Enter keeps it")
        tmux.keys("Escape")
        tmux.wait_for("q quit", absent=("shown with",))
        tmux.keys("a")
        tmux.wait_for("q quit >")
        tmux.keys("o")
        tmux.wait_for("ttyward: 2 terminals", absent=("question waits",))
        asking.communicate(timeout=PATIENCE)
        self.assertTrue(os.path.exists(self.path("agreed")))
        tmux.keys("q")
        tmux.wait_for("$", absent=("ttyward: 2",))


if __name__ == "__main__":
    main()
