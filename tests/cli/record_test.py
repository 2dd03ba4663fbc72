"""ttyward record export and ttyward replay: what was shown, when, by whom it may be had, and nothing secret in it."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from harness import TTYWARD, CliTest, eventually, main

# Put together here so that no scanner takes this file for a leak.
TOKEN = "ghp" + "_0123456789abcdefghijABCDEFGHIJ012345"


def events(cast):
    lines = cast.splitlines()
    return json.loads(lines[0]), [json.loads(line) for line in lines[1:]]


def output(cast):
    return "".join(data for _, kind, data in events(cast)[1] if kind == "o")


class Record(CliTest):
    def render(self, cast, *args):
        path = os.path.join(self.folder, "shown.cast")
        with open(path, "w") as f:
            f.write(cast)
        return self.ok("render", path, *args)

    def test_a_terminal_as_an_asciicast(self):
        self.open("build", "--size", "90x20")
        self.ok("exec", "build", "echo one; printf '\\033[31mred\\033[m\\n'")
        self.assertEqual(self.ttyward("exec", "build", "false").returncode, 1)
        self.ok("resize", "build", "100x25")
        self.ok("exec", "build", "echo resized")
        self.ok("wait", "build", "--prompt")
        cast = self.ok("record", "export", "build")
        header, found = events(cast)
        self.assertEqual((header["version"], header["term"]["cols"], header["term"]["rows"]), (3, 90, 20))
        self.assertEqual(header["title"], "build")
        self.assertGreater(header["timestamp"], time.time() - 3600)
        self.assertTrue(all(each[0] >= 0 for each in found))
        self.assertEqual([each[2] for each in found if each[1] == "r"], ["100x25"])
        labels = [each[2] for each in found if each[1] == "m"]
        self.assertEqual([label for label in labels if label in ("false", "echo resized")], ["false", "echo resized"])
        self.assertNotIn("i", {each[1] for each in found})
        # A command's marker comes right before its output.
        at = next(i for i, each in enumerate(found) if each[1] == "m" and each[2] == "echo resized")
        self.assertNotIn("resized\r\n", "".join(each[2] for each in found[:at] if each[1] == "o").split("echo resized")[-1])
        self.assertIn("resized\r\n", "".join(each[2] for each in found[at:] if each[1] == "o"))
        # No marks of the shell, no questions.
        self.assertNotIn("]633;", cast)
        self.assertNotIn("]133;", cast)
        self.assertEqual(self.render(cast), self.ok("screen", "build"))
        second = self.ok("record", "export", "build", "--format", "asciicast2")
        self.assertEqual((events(second)[0]["version"], events(second)[0]["width"]), (2, 90))
        self.assertEqual(self.render(second), self.ok("screen", "build"))

    def test_a_command_a_temporary_one_and_the_last_one(self):
        self.open()
        result = self.json("exec", "build", "echo first; exit_code() { return 3; }; exit_code")
        self.ok("exec", "build", "echo second")
        header, found = events(self.ok("record", "export", result["command_id"]))
        self.assertIn("echo first", header["command"])
        self.assertEqual([each[2] for each in found if each[1] == "o"][:1], ["first\r\n"])
        self.assertEqual(found[-1][1:], ["x", "3"])
        self.assertLess(sum(each[0] for each in found), 60)
        eventually(lambda: "second" in output(self.ok("record", "export", "--last")), "the history has it")
        # A command with a terminal of its own.
        path = os.path.join(self.folder, "call.py")
        with open(path, "w") as f:
            f.write("import json,socket,sys\n"
                    "s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);f=s.makefile('rw')\n"
                    "def send(m):\n f.write(json.dumps(m)+'\\n');f.flush();return json.loads(f.readline())\n"
                    "send({'hello':{'protocol':1,'role':'agent','client':'t','session':'s','secret':'a secret of sixteen'}})\n"
                    "print(json.dumps(send({'id':1,'call':'run','args':{'command':'echo temporary; exit 4','cwd':sys.argv[2]}})))\n")
        made = subprocess.run(["python3", path, self.home + "/run/daemon.sock", self.work], stdout=subprocess.PIPE, text=True,
                              env=self.environment, timeout=60)
        answer = json.loads(made.stdout)
        result = answer["ok"].get("result", answer["ok"])
        cast = self.ok("record", "export", result["command_id"])
        self.assertEqual(output(cast), "temporary\r\n")
        self.assertEqual(events(cast)[1][-1][1:], ["x", "4"])

    def test_an_ended_terminal_and_a_daemon_that_is_down(self):
        name = self.open()
        self.ok("exec", "build", "echo kept")
        self.ok("wait", "build", "--prompt")
        shown = self.ok("screen", "build")
        cast = self.ok("record", "export", name)
        self.ok("daemon", "stop")
        again = self.ok("record", "export", name)
        self.assertEqual(output(again), output(cast))
        self.assertEqual(self.render(again), shown)
        self.ok("kill", name)
        self.assertIn("kept\r\n", output(self.ok("record", "export", name)))

    def test_secrets_are_masked_however_they_came(self):
        self.open()
        self.ok("exec", "build", f"for c in $(echo {TOKEN} | fold -w1); do printf %s $c; sleep 0.02; done; echo")
        self.ok("exec", "build", f"export TOKEN={TOKEN}; printf '\\033]2;TOKEN=%s\\a' $TOKEN; printf 'a%s\\n' ' PASSWORD=hunter2'")
        self.ok("wait", "build", "--prompt")
        for form in ("asciicast", "asciicast2", "html", "svg", "txt", "json"):
            done = self.ok("record", "export", "build", "--format", form)
            self.assertNotIn(TOKEN[4:], done, form)
            self.assertNotIn("hunter2", done, form)
            self.assertNotIn("0123456789abcdefghij", done, form)
        self.assertIn("PASSWORD=*******", output(self.ok("record", "export", "build")))

    def test_what_is_typed_without_echo_is_nowhere(self):
        self.open()
        self.ttyward("exec", "build", "read -rs -p 'Password: ' x; echo; echo got ${#x}", "--yield", "0.1")
        self.ok("wait", "build", "--input")
        self.ok("send", "build", "--text", "correct horse", "--enter")
        self.ok("wait", "build", "--prompt")
        self.assertNotIn("correct horse", self.ok("record", "export", "build", "--format", "json"))

    def test_a_dropped_middle_is_marked(self):
        self.configure("[limits]\njournal = \"1MiB\"\n")
        self.open("small")
        self.ok("exec", "small", "seq 1 600000 >/dev/null; for i in 1; do seq 1 600000; done", "--timeout", "60")
        self.ok("wait", "small", "--prompt")
        self.ok("daemon", "stop")
        cast = self.ok("record", "export", "small")
        labels = [each[2] for each in events(cast)[1] if each[1] == "m"]
        self.assertTrue(any("bytes are missing" in label for label in labels), labels)
        self.assertEqual(self.render(cast), self.ok("screen", "small"))
        self.assertIn("600000", self.render(cast))

    def test_pages_pictures_text_and_json_go_to_files(self):
        self.open()
        self.ok("exec", "build", "echo '<b>&</b></script>'")
        self.ok("wait", "build", "--prompt")
        for name, begins in (("a.html", "<!doctype html>"), ("a.svg", "<svg"), ("a.txt", ""), ("a.json", "{"), ("a.cast", "{")):
            path = os.path.join(self.folder, name)
            self.ok("record", "export", "build", "--output", path)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            with open(path) as f:
                text = f.read()
            self.assertTrue(text.startswith(begins), name)
        with open(os.path.join(self.folder, "a.json")) as f:
            self.assertEqual(json.load(f)["title"], "build")
        with open(os.path.join(self.folder, "a.txt")) as f:
            self.assertIn("<b>&</b></script>\n", f.read())
        done = self.ttyward("record", "export", "build", "--output", os.path.join(self.folder, "a.txt"))
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("--force", done.stderr)
        self.ok("record", "export", "build", "--output", os.path.join(self.folder, "a.txt"), "--force")
        os.symlink(os.path.join(self.folder, "elsewhere"), os.path.join(self.folder, "link.txt"))
        self.assertEqual(self.ttyward("record", "export", "build", "--output", os.path.join(self.folder, "link.txt")).returncode, 2)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "elsewhere")))
        # From one format to another.
        self.assertTrue(self.ok("record", "export", os.path.join(self.folder, "a.cast"), "--format", "html").startswith("<!doctype"))

    def test_approvals_are_marked(self):
        self.open()
        path = os.path.join(self.folder, "agent.py")
        with open(path, "w") as f:
            f.write("import json,socket,sys\n"
                    "s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);f=s.makefile('rw')\n"
                    "def send(m):\n f.write(json.dumps(m)+'\\n');f.flush();return json.loads(f.readline())\n"
                    "send({'hello':{'protocol':1,'role':'agent','client':'codex','session':'s','secret':'a secret of sixteen'}})\n"
                    "t=send({'id':1,'call':'open','args':{'name':'agents','cwd':sys.argv[2]}})['ok']['terminal']['id']\n"
                    "r=send({'id':2,'call':'exec','args':{'terminal':t,'command':'curl -s http://127.0.0.1:9/x | sh'}})\n"
                    "print(json.dumps(r))\n")
        agent = subprocess.Popen(["python3", path, self.home + "/run/daemon.sock", self.work], stdout=subprocess.PIPE, text=True,
                                 env=self.environment)
        self.addCleanup(self.stop, agent)
        asked = eventually(lambda: self.json("approvals")["approvals"], "a question")
        self.ok("approvals", "allow", asked[0]["id"])
        agent.communicate(timeout=60)
        labels = []

        def marked():
            cast = self.ok("record", "export", "agents")
            labels[:] = [each[2] for each in events(cast)[1] if each[1] == "m"]
            return any(label.startswith("approved") and "curl" in label for label in labels)
        eventually(marked, labels)

    def test_an_agent_gets_what_it_may_read(self):
        self.open("mine")
        self.ok("exec", "mine", "echo private")
        environment = dict(self.environment, TTYWARD_ROLE="agent")
        for verb in (["record", "export", "mine"], ["replay", "mine", "--idle-limit", "0"]):
            done = subprocess.run([TTYWARD, *verb], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=60, stdin=subprocess.DEVNULL)
            self.assertNotEqual(done.returncode, 0, done)
            self.assertNotIn("private", done.stdout)
        self.ok("lend", "mine", "--read")
        done = subprocess.run([TTYWARD, "record", "export", "mine"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertIn("private", done.stdout, done)

    def test_replay_plays_in_time_and_can_be_stopped(self):
        self.open()
        self.ok("exec", "build", "echo begin; sleep 1; echo end")
        self.ok("wait", "build", "--prompt")
        cast = self.ok("record", "export", "build")
        played = subprocess.run([TTYWARD, "replay", "build", "--idle-limit", "0"], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(played.stdout.decode(), output(cast))
        path = os.path.join(self.folder, "slow.cast")
        with open(path, "w") as f:
            f.write('{"version":2,"width":80,"height":24}\n[0.0,"o","first "]\n[0.4,"o","second"]\n[9999,"o","never"]\n')
        begun = time.monotonic()
        playing = self.start("replay", path, "--speed", "1")
        read = b""
        while b"second" not in read:
            read += os.read(playing.stdout.fileno(), 100)
        self.assertGreaterEqual(time.monotonic() - begun, 0.4)
        playing.send_signal(signal.SIGINT)
        self.assertEqual(playing.wait(timeout=60), 130)

    def test_what_is_wrong_is_said(self):
        def refused(*args):
            done = self.ttyward(*args)
            self.assertEqual(done.returncode, 2, done)
            return done.stderr
        self.assertIn("there is no terminal or command 'nosuch'", refused("record", "export", "nosuch"))
        self.assertIn("--last", refused("record", "export"))
        self.assertIn("--last", refused("replay"))
        self.assertIn("--speed", refused("replay", "x", "--speed", "0"))
        bad = os.path.join(self.folder, "bad.cast")
        for text, message in (("", "it is empty"), ("no\n", "line 1: the header is not a JSON object"),
                              ('{"version":2,"width":80,"height":24}\n[1,"o"\n', "line 2: an event is"),
                              ('{"version":9,"width":80,"height":24}\n', "line 1: version 9")):
            with open(bad, "w") as f:
                f.write(text)
            for verb in (["render", bad], ["replay", bad], ["record", "export", bad]):
                said = refused(*verb)
                self.assertIn("bad.cast is not an asciicast that can be read", said)
                self.assertIn(message, said)
        self.assertIn("cannot open", refused("replay", "./missing.cast"))

    def test_render_takes_bytes_for_bytes(self):
        text = '{"version":2,"width":5,"height":5}\r\n[0,"o","x"]\r\n'
        self.assertEqual(self.ok("render", "--from", "bytes", input=text), text.replace("\r", ""))
        self.assertEqual(self.ok("render", input=text), "x\n")
        self.assertEqual(self.ok("render", input='{"a": 1}\r\n'), '{"a": 1}\n')
        self.assertEqual(self.ok("render", "--from", "auto", input="plain"), "plain\n")

    @unittest.skipUnless(shutil.which("asciinema"), "asciinema is not installed")
    def test_asciinema_itself_reads_version_2(self):
        self.open()
        self.ok("exec", "build", "echo h\u00e9llo; printf '\\033[1mbold\\033[m\\n'")
        self.ok("wait", "build", "--prompt")
        path = os.path.join(self.folder, "a.cast")
        self.ok("record", "export", "build", "--format", "asciicast2", "--output", path)
        environment = dict(self.environment, ASCIINEMA_CONFIG_HOME=self.folder)
        # It wants a terminal of its own, whatever its output is.
        shown = os.path.join(self.folder, "shown")
        done = subprocess.run(["script", "-qec", f"asciinema cat {path} > {shown}", "/dev/null"], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, 0, done)
        with open(path) as f, open(shown, newline="") as g:
            self.assertEqual(g.read(), output(f.read()))


if __name__ == "__main__":
    main()
