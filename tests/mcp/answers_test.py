"""What an agent is told over MCP: results say what is true, waits wait, and nothing is hidden."""
import json
import os
import pty
import subprocess
import termios
import time
import unittest

from peer import LEGACY, PATIENCE, TTYWARD, HomeTest, Peer


def text_of(result):
    return result["content"][0]["text"]


class Answers(HomeTest):
    def setUp(self):
        super().setUp()
        self.configure('[policy]\nmode = "yolo"\n')

    def configure(self, text):
        with open(self.home + "/config/config.toml", "w") as f:
            f.write(text)

    def peer(self, *args, **options):
        return Peer(self, *args, version=options.pop("version", LEGACY), **options)

    def result(self, peer, tool, /, **arguments):
        answer = peer.tool(tool, **arguments)
        self.assertFalse(answer.get("isError"), answer)
        return answer["structuredContent"], text_of(answer)

    def alive(self, pid):
        try:
            with open(f"/proc/{pid}/stat") as f:
                return f.read().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def script(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return name


class Limits(Answers):
    def test_a_command_that_goes_on_has_no_limit_nobody_chose(self):
        result, text = self.result(self.peer(), "run_command", command="sleep 600", wait_ms=200)
        self.assertEqual(result["state"], "running")
        self.assertNotIn("time_left_ms", result)
        self.assertNotIn("idle_left_ms", result)
        self.assertIn("It keeps running", text)
        self.assertNotIn("stopped at its time limit in", text)

    def test_the_time_left_is_said(self):
        result, text = self.result(self.peer(), "run_command", command="sleep 600", wait_ms=200, timeout_ms=100_000,
                                   idle_timeout_ms=50_000)
        self.assertTrue(0 < result["time_left_ms"] < 100_000, result)
        self.assertTrue(0 < result["idle_left_ms"] <= 50_000, result)
        self.assertIn("It is stopped at its time limit in", text)

    def test_limits_of_the_configuration_hold(self):
        self.configure('[policy]\nmode = "yolo"\n[times]\ntimeout = "90s"\nyield_after = "1s"\n'
                       '[output]\nlines = 4\n')
        peer = self.peer()
        result, _ = self.result(peer, "run_command", command="sleep 600", wait_ms=200)
        self.assertTrue(80_000 < result["time_left_ms"] <= 90_000, result)
        result, _ = self.result(peer, "run_command", command="seq 100", wait_ms=20_000)
        self.assertRegex(result["output"], r"\[\d+ of 100 lines cut: read_output\]")
        self.assertLessEqual(result["output"].count("\n"), 6)
        shell, _ = self.result(peer, "open_persistent_terminal")
        result, _ = self.result(peer, "run_persistent_command", id=shell["id"], command="sleep 600")
        self.assertEqual(result["state"], "running")


class Lean(Answers):
    """Results are small, complete by themselves, and more can be asked for."""

    def test_a_result_has_nothing_empty_in_it(self):
        result, text = self.result(self.peer(), "run_command", command="echo hi")
        self.assertEqual(set(result), {"state", "exit_code", "output", "command_id"})
        self.assertEqual((result["state"], result["exit_code"], result["output"]), ("exited", 0, "hi\n"))
        self.assertLess(len(text), 140, text)
        whole, _ = self.result(self.peer(), "run_command", command="echo hi", detail=True)
        self.assertLessEqual({"terminal_id", "cwd", "signal", "total_bytes", "known_by"}, set(whole))

    def test_a_long_output_is_a_digest_unless_asked_for(self):
        line = "for i in $(seq 1 3000); do echo copied block $i; done; echo cannot read block 77; exit 3"
        peer = self.peer()
        result, text = self.result(peer, "run_command", command=line)
        self.assertEqual(result["exit_code"], 3)
        self.assertLess(len(result["output"]), 300)
        self.assertIn("cannot read block 77", result["output"])
        self.assertIn("×3000", result["output"])
        self.assertIn(result["output"], text)
        self.assertNotIn("omitted", result)
        full, _ = self.result(peer, "run_command", command=line, view="full", max_chars=100_000)
        self.assertEqual(full["output"].count("\n"), 3001)
        tail, _ = self.result(peer, "run_command", command=line, view="tail")
        self.assertLessEqual(len(tail["output"]), 8100)
        self.assertTrue(tail["output"].endswith("copied block 3000\ncannot read block 77\n"))
        again, _ = self.result(peer, "read_output", id=result["command_id"], from_line=1499, to_line=1500)
        self.assertEqual(again["text"], "copied block 1499\ncopied block 1500\n")

    def test_the_view_of_the_configuration_holds_and_arguments_win(self):
        self.configure('[policy]\nmode = "yolo"\n[output]\nview = "tail"\nchars = 300\n[times]\nyield_after = "1s"\n')
        peer = self.peer()
        result, _ = self.result(peer, "run_command", command="seq 1000")
        self.assertLessEqual(len(result["output"]), 400)
        self.assertTrue(result["output"].endswith("\n1000\n"))
        result, _ = self.result(peer, "run_command", command="seq 100", view="full", max_chars=5000)
        self.assertEqual(result["output"].count("\n"), 100)
        result, _ = self.result(peer, "run_command", command="sleep 600")
        self.assertEqual(result["state"], "running")

    def test_waiting_and_reading_tell_what_is_new(self):
        self.script("steps.sh", "echo one; read x; echo two; read x; echo three\n")
        peer = self.peer()
        result, _ = self.result(peer, "run_command", command="bash steps.sh")
        self.assertEqual((result["state"], result["output"]), ("awaiting_input", "one\n"))
        self.assertIn("send_input", result["next"])
        terminal, command = result["terminal_id"], result["command_id"]
        result, _ = self.result(peer, "send_input", id=terminal, text="")
        self.assertEqual(result["output"].split(), ["two"])
        self.result(peer, "send_input", id=terminal, text="")
        waited, text = self.result(peer, "wait_for", id=command)
        self.assertEqual(waited["result"]["exit_code"], 0)
        self.assertNotIn("output", waited["result"])
        self.assertIn("No new output", text)
        # What has ended is shown again to whoever asks for it.
        read, _ = self.result(peer, "read_output", id=command)
        self.assertEqual(read["text"].split(), ["one", "two", "three"])
        read, text = self.result(peer, "read_output", id=command, only_new=True)
        self.assertNotIn("text", read)
        self.assertIn("Nothing new", text)

    def test_a_command_that_is_run_again_tells_what_changed(self):
        peer = self.peer()
        line = "for w in disk net cache queue login mail; do echo \"error: $w is $(printf \"$w%.0s\" $(seq 20))\"; done; cat state"
        self.script("state", "3 failed\n")
        first, _ = self.result(peer, "run_command", command=line)
        self.script("state", "1 failed\n")
        second, _ = self.result(peer, "run_command", command=line)
        self.assertIn("- 3 failed\n+ 1 failed\n", second["output"])
        self.assertIn(first["command_id"], second["output"])
        whole, _ = self.result(peer, "read_output", id=second["command_id"], view="digest")
        self.assertIn("diskdisk", whole["text"])

    def test_a_summarizer_of_ones_own(self):
        self.configure('[policy]\nmode = "yolo"\n[output]\nsummarizer = "grep -c . | sed s/^/lines:/"\n')
        with open(self.path("text"), "w") as f:
            f.write("".join(f"{i * 7919 % 1000} {'abcdefghij'[i % 10] * (i % 37)} word\n" for i in range(200)))
        peer = self.peer()
        result, _ = self.result(peer, "run_command", command="cat text")
        self.assertRegex(result["output"], r"^lines:\d+\n\[a summary by your summarizer")
        whole, _ = self.result(peer, "read_output", id=result["command_id"], view="digest")
        self.assertIn("abcdefghij"[3] * 13, whole["text"])
        result, _ = self.result(peer, "run_command", command="echo short")
        self.assertEqual(result["output"], "short\n")

    def test_a_summarizer_that_fails_is_no_obstacle(self):
        self.configure('[policy]\nmode = "yolo"\n[output]\nsummarizer = "echo no; exit 3"\n')
        with open(self.path("text"), "w") as f:
            f.write("".join(f"{'abcdefghij'[i % 10] * (i % 37)} word {i * 7919 % 1000}\n" for i in range(200)))
        result, _ = self.result(self.peer(), "run_command", command="cat text")
        self.assertIn("abcdefghij"[3] * 13, result["output"])

    def test_how_long_it_usually_takes_is_said_while_it_runs(self):
        peer = self.peer()
        line = "echo begun; [ ! -e slow ] || sleep 600"
        for _ in range(3):
            self.result(peer, "run_command", command=line)
        self.script("slow", "")
        result, text = self.result(peer, "run_command", command=line, wait_ms=300)
        self.assertEqual((result["state"], result["usual"]["runs"]), ("running", 3))
        self.assertIn("It usually takes", text)

    def test_many_terminals_and_their_news_are_bounded(self):
        peer = self.peer()
        self.result(peer, "run_batch", commands=["seq 20000"] * 30, parallel=8, view="tail", max_lines=1)
        stranger = self.peer("--session", "stranger")
        for who in (peer, stranger):
            answer = who.tool("list_terminals", all=True, new_output=True)
            self.assertLess(len(str(answer)), 60_000)

    def test_the_tools_are_told_in_few_characters(self):
        tools = self.peer().request("tools/list")["result"]["tools"]
        self.assertLess(len(json.dumps(tools, separators=(",", ":"))), 8800)


class Background(Answers):
    def test_what_a_command_leaves_behind_lives_and_is_listed(self):
        peer = self.peer()
        result, text = self.result(peer, "run_command", command="sleep 600 & echo up")
        self.assertEqual(result["output"], "up\n")
        self.assertEqual([p["command"] for p in result["background"]], ["sleep 600"])
        pid = result["background"][0]["pid"]
        self.assertIn(str(pid), text)
        self.assertTrue(self.alive(pid))
        self.result(peer, "kill_persistent_terminal", id=result["terminal_id"])
        self.assertFalse(self.alive(pid))

    def test_it_is_ended_where_that_was_asked_for_and_said(self):
        result, text = self.result(self.peer(), "run_command", command="sleep 600 & echo up", keep_background=False)
        self.assertNotIn("background", result)
        pid = result["ended_background"][0]["pid"]
        self.assertIn("keep_background is false", text)
        self.eventually(lambda: not self.alive(pid))

    def test_a_hangup_still_ends_what_does_not_care_for_it(self):
        result, _ = self.result(self.peer(), "run_command", command="kill -HUP $$; echo unreached")
        self.assertEqual((result["state"], result["signal"]), ("signaled", "SIGHUP"))

    def test_a_server_in_a_persistent_terminal_is_listed_with_its_port(self):
        self.script("server.py", "import os, socket, time\n"
                                 "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n"
                                 "open('port.new', 'w').write(str(s.getsockname()[1]))\n"
                                 "os.rename('port.new', 'port')\ntime.sleep(600)\n")
        peer = self.peer()
        shell, _ = self.result(peer, "open_persistent_terminal")
        command = "python3 server.py & while [ ! -e port ]; do sleep 0.05; done"
        result, text = self.result(peer, "run_persistent_command", id=shell["id"], command=command)
        port = int(self.read("port"))
        self.assertEqual(result["state"], "exited")
        self.assertEqual([p["command"] for p in result["background"]], ["python3 server.py"])
        self.assertEqual([p["port"] for p in result["ports"]], [port])
        self.assertIn(f"Listens on port {port}", text)
        # A command after it did not leave it behind.
        result, _ = self.result(peer, "run_persistent_command", id=shell["id"], command="true")
        self.assertNotIn("background", result)


class Input(Answers):
    QUESTIONS = ("import sys, time\n"
                 "name = input('Name? ')\n"
                 "time.sleep(1.5)\n"
                 "print('hello', name)\n"
                 "age = input('Age? ')\n"
                 "time.sleep(1.5)\n"
                 "print('so', age)\n"
                 "sys.exit(7)\n")

    def asked(self, peer, where):
        self.script("ask.py", self.QUESTIONS)
        if where == "own":
            result, _ = self.result(peer, "run_command", command="python3 ask.py")
        else:
            shell, _ = self.result(peer, "open_persistent_terminal")
            result, _ = self.result(peer, "run_persistent_command", id=shell["id"], command="python3 ask.py")
        self.assertEqual((result["state"], result["waiting"]["prompt"]), ("awaiting_input", "Name?"))
        return result["terminal_id"]

    def test_it_waits_for_the_answer_the_next_question_and_the_end(self):
        for where in ("own", "shell"):
            with self.subTest(where=where):
                peer = self.peer()
                terminal = self.asked(peer, where)
                result, text = self.result(peer, "send_input", id=terminal, text="Bob")
                self.assertEqual(result["state"], "awaiting_input")
                self.assertEqual(result["waiting"]["prompt"], "Age?")
                self.assertEqual(result["output"], "Name? Bob\nhello Bob\n")
                self.assertNotIn("left out", text.lower())
                result, text = self.result(peer, "send_input", id=terminal, text="4\n")
                self.assertEqual((result["state"], result["exit_code"]), ("exited", 7))
                self.assertEqual(result["output"], "Age? 4\nso 4\n")
                self.assertIn("Exit code 7", text)

    def test_it_returns_after_wait_ms(self):
        self.script("slow.py", "input('Go? ')\nimport time\ntime.sleep(600)\n")
        peer = self.peer()
        result, _ = self.result(peer, "run_command", command="python3 slow.py")
        result, text = self.result(peer, "send_input", id=result["terminal_id"], text="y", wait_ms=300)
        self.assertEqual(result["state"], "running")
        self.assertIn("Still running", text)

    def test_wait_for_returns_at_once_if_so_asked(self):
        peer = self.peer()
        result, _ = self.result(peer, "run_command", command="sleep 600", wait_ms=0)
        self.assertEqual(result["state"], "running")
        waited, _ = self.result(peer, "wait_for", id=result["command_id"], wait_ms=0)
        self.assertEqual(waited["condition"], "timeout")


class Keyboard(Answers):
    def attach(self, terminal):
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (30, 160))
        os.set_blocking(master, False)
        person = subprocess.Popen([TTYWARD, "attach", terminal], env=dict(self.environment, TERM="xterm-256color"),
                                  cwd=self.work, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.addCleanup(os.close, master)

        def end():
            person.kill()
            person.wait()
        self.addCleanup(end)
        return person, master

    def test_a_command_behind_a_persons_keyboard_is_queued_and_the_person_sees_it(self):
        peer = self.peer()
        shell, _ = self.result(peer, "open_persistent_terminal")
        person, master = self.attach(shell["id"])
        self.eventually(lambda: self.json("show", shell["id"])["terminal"]["lease"])
        result, text = self.result(peer, "run_persistent_command", id=shell["id"], command="echo behind", wait_ms=300)
        self.assertEqual(result["state"], "queued")
        self.assertIn("has the keyboard", text)
        self.assertNotIn("Still running", text)
        seen = b""

        def sees():
            nonlocal seen
            try:
                seen += os.read(master, 65536)
            except BlockingIOError:
                pass
            return b"an agent waits for it: echo behind" in seen
        self.eventually(sees)
        os.write(master, b"\x1d")  # leaves
        waited, _ = self.result(peer, "wait_for", id=result["command_id"])
        self.assertEqual((waited["result"]["state"], waited["result"]["output"]), ("exited", "behind\n"))


class Batches(Answers):
    def test_commands_are_independent(self):
        result, _ = self.result(self.peer(), "run_batch", commands=["cd /; X=1", 'pwd; echo "[$X]"'])
        self.assertEqual(result["results"][1]["output"], os.path.realpath(self.work) + "\n[]\n")
        result, _ = self.result(self.peer(), "run_batch", commands=["true", "true"], detail=True)
        self.assertNotEqual(*[r["terminal_id"] for r in result["results"]])

    def test_one_shell_is_said(self):
        result, text = self.result(self.peer(), "run_batch", commands=["X=1", 'echo "[$X]"'], one_shell=True)
        self.assertEqual(result["results"][1]["output"], "[1]\n")
        self.assertIn("one shell", text)

    def test_each_has_its_own_time(self):
        result, _ = self.result(self.peer(), "run_batch", commands=["sleep 1", "sleep 1", "sleep 600"], timeout_ms=1800)
        self.assertEqual([r["state"] for r in result["results"]], ["exited", "exited", "timed_out"])

    def test_several_at_once(self):
        # Each waits for the other: one after the other they would never end.
        wait = "while [ ! -e {} ]; do sleep 0.02; done"
        commands = ["touch a; " + wait.format("b"), "touch b; " + wait.format("a"), "echo third"]
        result, _ = self.result(self.peer(), "run_batch", commands=commands, parallel=2)
        self.assertEqual([r["state"] for r in result["results"]], ["exited"] * 3)

    def test_the_rest_is_not_run_after_a_failure_or_when_the_time_is_over(self):
        peer = self.peer()
        result, text = self.result(peer, "run_batch", commands=["true", "false", "echo no"])
        self.assertEqual((len(result["results"]), result["not_run"], result["stopped_by"]), (2, ["echo no"], "failure"))
        self.assertIn("keep_going", text)
        for one_shell in (False, True):
            result, text = self.result(peer, "run_batch", commands=["sleep 600", "echo no"], wait_ms=1500,
                                       one_shell=one_shell)
            self.assertEqual([r["state"] for r in result["results"]], ["running"])
            self.assertEqual((result["not_run"], result["stopped_by"]), (["echo no"], "time"))
            waited, _ = self.result(peer, "wait_for", id=result["results"][0]["command_id"], wait_ms=100)
            self.assertEqual(waited["result"]["state"], "running")


class Details(Answers):
    def shell(self, peer):
        return self.result(peer, "open_persistent_terminal")[0]["id"]

    def test_both_sides_of_a_pipe_are_shown(self):
        peer = self.peer()
        shell = self.shell(peer)
        result, text = self.result(peer, "run_persistent_command", id=shell, command="false | true")
        self.assertEqual((result["exit_code"], result["pipeline"]), (0, [1, 0]))
        self.assertIn("the parts of the pipe: 1, 0", text)
        _, text = self.result(peer, "run_persistent_command", id=shell, command="true | true")
        self.assertNotIn("pipe", text.split("\n", 1)[1])

    def test_both_sides_of_a_pipe_are_shown_without_a_shell_that_stays(self):
        peer = self.peer()
        for line, code, parts in (("false | true", 0, [1, 0]), ("cd / && true | (exit 7)", 7, [0, 7])):
            result, text = self.result(peer, "run_command", command=line)
            self.assertEqual((result["exit_code"], result["pipeline"]), (code, parts))
            self.assertIn(f"the parts of the pipe: {parts[0]}, {parts[1]}", text)
        # What could see the difference is left alone.
        for line in ("trap 'echo $BASH_COMMAND' EXIT; false | true", "echo \"$BASH_EXECUTION_STRING\" | cat"):
            result, _ = self.result(peer, "run_command", command=line)
            plain = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
            self.assertEqual((result["exit_code"], result.get("pipeline"), result["output"]), (0, None, plain.stdout))

    def test_what_a_command_is_for_is_in_the_history(self):
        peer = self.peer()
        self.result(peer, "run_command", command="echo one", description="to see one")
        shell = self.shell(peer)
        result, _ = self.result(peer, "run_persistent_command", id=shell, command="echo two", description="to see two",
                                detail=True)
        self.assertEqual(result["description"], "to see two")
        give_up = time.monotonic() + PATIENCE
        shown = ""
        while "to see two" not in shown and time.monotonic() < give_up:  # written beside what is answered
            shown = self.ttyward("history").stdout
        self.assertRegex(shown, r"echo one\n +to see one\n")
        self.assertRegex(shown, r"echo two\n +to see two\n")

    def test_a_shell_may_have_arguments(self):
        peer = self.peer()
        shell, _ = self.result(peer, "open_persistent_terminal", shell="bash", shell_args=["--posix"])
        result, _ = self.result(peer, "run_persistent_command", id=shell["id"], command="shopt -o posix")
        self.assertEqual(result["output"].split(), ["posix", "on"])
        answer = peer.tool("open_persistent_terminal", shell_args=["-l"])
        self.assertTrue(answer["isError"], answer)

    def test_a_signal_in_a_shell_is_a_field_and_the_core_unknown(self):
        peer = self.peer()
        shell = self.shell(peer)
        result, _ = self.result(peer, "run_persistent_command", id=shell, command="sh -c 'kill -SEGV $$'", detail=True)
        self.assertEqual((result["exit_code"], result["signal"], result["core_dumped"]), (139, "SIGSEGV", None))
        result, _ = self.result(peer, "run_persistent_command", id=shell, command="(exit 3)", detail=True)
        self.assertEqual((result["exit_code"], result["signal"], result["core_dumped"]), (3, None, False))

    def test_pid_and_group(self):
        peer = self.peer()
        result, _ = self.result(peer, "run_command", command="sleep 600", wait_ms=300, detail=True)
        self.assertEqual(os.getpgid(result["pid"]), result["process_group"])
        result, _ = self.result(peer, "run_persistent_command", id=self.shell(peer), command="sleep 600", wait_ms=500,
                                detail=True)
        with open(f"/proc/{result['pid']}/cmdline") as f:
            self.assertEqual(f.read(), "sleep\0" "600\0")

    def test_a_long_line_is_read_by_columns(self):
        peer = self.peer()
        line = "python3 -c \"print('head'); print(''.join(chr(97 + i // 1000 % 26) for i in range(200000)))\""
        result, text = self.result(peer, "run_command", command=line)
        self.assertIn("from_column", text)
        read, text = self.result(peer, "read_output", id=result["command_id"], from_line=2, from_column=100_001,
                                 to_column=102_000)
        want = "".join(chr(97 + i // 1000 % 26) for i in range(200_000))[100_000:102_000]
        self.assertEqual(read["text"], want + "\n")
        self.assertEqual(read["longest_line"], 200_000)
        self.assertIn(want, text)

    def test_search_heeds_context_and_nothing_is_said_to_be_missing_that_is_there(self):
        peer = self.peer()
        result, _ = self.result(peer, "run_command", command="seq 1 100")
        _, text = self.result(peer, "read_output", id=result["command_id"], search="^50$", context=1)
        for line in ("49-49", "50:50", "51-51"):
            self.assertIn(line, text)
        self.assertNotIn("48-48", text)
        _, text = self.result(peer, "read_output", id=result["command_id"], from_line=1, to_line=10)
        self.assertNotIn("left out", text.lower())


if __name__ == "__main__":
    unittest.main()
