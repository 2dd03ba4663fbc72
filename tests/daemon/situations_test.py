"""Every situation a shell can be in, in every shell there is, as a caller of the daemon sees it.

One table: a situation is a function of the shell at hand; each has a terminal of its own. What a
shell cannot do at all it is not asked to. TTYWARD_SHELLS=bash,zsh limits the run.
"""
import os
import shutil
import unittest

import loopback_sshd
from daemon_client import CallFailed, Daemon

SITUATIONS = []
RICH = ("bash", "zsh", "fish")


def situation(only=None, not_in=()):
    def add(function):
        SITUATIONS.append((function.__name__, function, only, not_in))
        return function
    return add


class Shell:
    """A terminal with one shell in it, and what is expected of it."""

    def __init__(self, test, name, path):
        self.test = test
        self.name = name
        self.path = path
        self.daemon = test.daemon
        self.client = test.daemon.client
        self.id = None

    @property
    def fish(self):
        return self.name == "fish"

    def open(self, **args):
        self.id = self.client.call("open", shell=self.path, cwd=self.daemon.home, **args)["terminal"]["id"]

    def run(self, command, **args):
        return self.client.call("exec", terminal=self.id, command=command,
                                **{"yield_after_ms": 20_000, "view": "full", "on_busy": "wait", **args})

    def expect(self, command, code, output=None, **facts):
        result = self.run(command)
        self.test.assertEqual((result["state"], result["exit_code"]), ("exited", code), result)
        if output is not None:
            self.test.assertEqual(result["output"], output, result)
        for name, value in facts.items():
            self.test.assertEqual(result[name], value, result)
        return result

    def fine(self):
        """As good as new."""
        self.expect(self.exit(23), 23, "")
        self.expect("echo fine", 0, "fine\n")

    def exit(self, code):
        return f"sh -c 'exit {code}'"

    def terminal(self):
        return next(t for t in self.client.call("list", all=True)["terminals"] if t["id"] == self.id)

    def ended(self):
        self.client.call("wait", terminal=self.id, exit=True, timeout_ms=20_000)
        self.test.assertEqual(self.terminal()["state"], "finished")

    def keys(self, keys):
        self.client.call("input", terminal=self.id, keys=keys)

    def type(self, text):
        self.client.call("input", terminal=self.id, text=text)

    def asks(self, command):
        """Runs what will wait for input, until it does."""
        result = self.run(command)
        self.test.assertEqual(result["state"], "awaiting_input", result)
        return result["command_id"]

    def end_of(self, command_id):
        came = self.client.call("wait", command=command_id, exit=True, timeout_ms=20_000)
        self.test.assertEqual(came["condition"], "exit", came)
        return came["result"]


@situation()
def statuses_and_how_they_are_known(s):
    for code in (0, 1, 2, 126, 127, 255):
        s.expect(s.exit(code), code, "", known_by="shell_mark" if s.name in RICH else "prompt_mark")
    result = s.run("sh -c 'kill -9 $$'")
    s.test.assertEqual(result["exit_code"], 137, result)
    s.fine()


@situation()
def several_lines_leave_nothing_for_the_next_command(s):
    for lines, output in (("echo 1\necho 2", "1\n2\n"), ("echo a\nfalse\necho b", "a\nb\n"), ("true\ncd /\npwd", "/\n")):
        s.expect(lines, 0, output)
        for word in ("one", "two", "three"):
            s.expect(f"echo {word}", 0, f"{word}\n")
    commands = s.client.call("history", terminal=s.id)["commands"]
    s.test.assertEqual(len(commands), 12, [command["command"] for command in commands])


@situation(not_in=("fish",))
def set_e(s):
    s.expect("set -e", 0)
    s.expect("echo on", 0, "on\n")
    result = s.run("false")
    s.test.assertEqual((result["exit_code"], result["known_by"]), (1, "wait"), result)
    s.ended()


@situation(not_in=("fish",))
def set_u(s):
    s.expect("set -u", 0)
    s.expect("echo on", 0, "on\n")
    result = s.run("echo $nobody_set_this")
    s.test.assertNotIn(result["exit_code"], (0, None), result)
    if s.terminal()["state"] != "finished":
        s.fine()


@situation(not_in=("fish",))
def set_x(s):
    s.run("set -x")
    for code in (0, 3):
        result = s.run(s.exit(code))
        s.test.assertEqual(result["exit_code"], code, result)
        s.test.assertNotIn("]633;", result["output"])
    result = s.run("(exit 3); echo shown")
    s.test.assertIn("shown\n", result["output"])
    if s.name != "mksh":  # it traces what its prompt runs
        s.test.assertTrue(result["output"].endswith("shown\n"), result)
        s.test.assertNotIn("ttyward", result["output"])
    s.test.assertNotRegex(result["output"], "[0-9a-f]{32}")
    s.run("set +x")
    s.fine()


@situation(not_in=("fish",))
def hooks_say_nothing_of_themselves(s):
    if s.name == "bash":
        s.run("trap 'echo DBG' DEBUG")
        s.expect("echo hi", 0, "DBG\nhi\n")
        s.run("trap - DEBUG")
        s.run("PROMPT_COMMAND='echo PC'")
        s.expect("echo hi", 0, "hi\n")
        s.expect("PROMPT_COMMAND=", 0)
        s.fine()
        s.test.assertNotIn("PC", s.client.call("read", terminal=s.id, tail=3)["text"])
    s.run("set -v")
    for _ in range(2):
        s.test.assertNotIn("__ttyward", s.run("printf hi")["output"])
    s.run("set +v")
    s.fine()


@situation(not_in=("fish",))
def functions_of_the_user_are_no_hindrance(s):
    for name in ("command", "printf", "print", "cat", "read", "stty", "enable"):
        s.expect(name + "() { return 0; }", 0, "")
        s.fine()
    if s.name == "bash":
        s.expect("unset -f printf; enable -n printf", 0, "")
        s.fine()


@situation(only=("dash", "mksh", "ash"))
def what_the_shell_did_not_run_has_no_exit_code(s):
    s.expect(s.exit(7), 7)
    s.run("set -n")
    for command in (s.exit(7), "echo xx"):
        result = s.run(command)
        s.test.assertEqual((result["state"], result["exit_code"]), ("failed_to_start", None), result)
        s.test.assertIn("nothing ran", result["reason"])


@situation()
def settings_of_the_terminal(s):
    letters = ("intr x", "stop x") if s.name in RICH else ()  # the others take their keys from there themselves
    for setting in ("igncr", "-icrnl", "raw", "-isig", "sane") + letters:
        s.run("stty " + setting)
        s.expect(s.exit(23), 23)
        s.expect("echo six", 0)


@situation(not_in=("fish",))
def a_prompt_without_marks(s):
    s.test.assertEqual(s.run("PS1='> '")["state"], "exited")
    s.fine()


@situation()
def another_shell_in_its_place(s):
    result = s.run("exec bash --norc --noprofile")
    s.test.assertEqual((result["state"], result["exit_code"]), ("exited", None), result)
    s.fine()
    s.expect("false | true", 0, "", pipeline=[1, 0])


@situation()
def the_parts_of_a_pipeline(s):
    if s.name in ("bash", "zsh"):
        s.expect("false | true", 0, "", pipeline=[1, 0])
        s.expect("x=1", 0, "", pipeline=[0] if s.name == "bash" else None)
        s.expect(s.exit(7), 7, "", pipeline=[7])
        s.expect("IFS=' '", 0, "", pipeline=[0] if s.name == "bash" else None)
        s.expect("set -o pipefail", 0)
        s.expect("false | true", 1, "", pipeline=[1, 0])
    else:
        s.expect("false | true", 0, "", pipeline=None)
    s.expect("echo '!' | false", 1, "", pipeline=None)  # passed in a file
    s.test.assertIsNone(s.run("echo 'never closed")["pipeline"])


@situation()
def exec_becomes_the_shell(s):
    result = s.run("exec sh -c 'echo last; exit 9'")
    s.test.assertEqual((result["exit_code"], result["known_by"], result["output"]), (9, "wait", "last\n"), result)
    s.ended()


@situation()
def exit_ends_it(s):
    result = s.run("exit 7")
    s.test.assertEqual((result["state"], result["exit_code"]), ("exited", 7), result)
    s.test.assertIn(result["known_by"], ("wait", "shell_mark"))
    s.ended()


@situation()
def cd(s):
    s.expect("cd /usr/lib", 0, "", cwd_after="/usr/lib")
    s.expect("pwd", 0, "/usr/lib\n", cwd="/usr/lib")
    os.makedirs(s.daemon.home + "/a b", exist_ok=True)
    s.expect("cd '" + s.daemon.home + "/a b'", 0, "", cwd_after=s.daemon.home + "/a b")
    result = s.run("cd /nowhere/at/all")
    s.test.assertNotIn(result["exit_code"], (0, None))
    s.test.assertEqual(s.terminal()["cwd"], s.daemon.home + "/a b")
    s.test.assertEqual(s.run("pwd", cwd="/")["output"], "/\n")
    s.expect("pwd", 0, s.daemon.home + "/a b\n")


@situation(not_in=("fish",))
def traps(s):
    s.expect("trap 'echo bye' EXIT", 0)
    s.expect("(exit 3)", 3)
    s.expect("trap 'echo usr' USR1", 0)
    s.test.assertIn("usr", s.run("kill -USR1 $$; true")["output"])
    if s.name in ("bash", "zsh"):
        s.expect("trap 'true' DEBUG; trap 'echo err' ERR", 0)
        s.test.assertIn("err", s.expect("false", 1)["output"])
        s.run("trap - DEBUG ERR")
    result = s.run("exit 4")
    s.test.assertEqual((result["exit_code"], "bye" in result["output"]), (4, True), result)


@situation(not_in=("fish",))
def subshells(s):
    s.expect("(exit 5)", 5, "")
    s.expect("(cd /; pwd; exit 6)", 6, "/\n")
    s.expect("pwd", 0, s.daemon.home + "\n")
    s.expect("x=$(echo in; exit 8); echo $? $x", 0, "8 in\n")
    s.expect("true | false", 1, "")


@situation()
def start_file_read_again(s):
    file = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}.get(s.name, ".shrc")
    path = os.path.join(s.daemon.home, file)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a") as f:
        f.write("true\n")
    for _ in range(2):
        s.expect(f". {path}" if not s.fish else f"source {path}", 0, "")
        s.fine()


@situation(only=("bash",))
def a_prompt_that_is_rebuilt_each_time(s):
    s.expect("build() { local code=$?; PS1=\"[$code $(date +%s) \\w]\\n\\$ \"; }; PROMPT_COMMAND=build", 0)
    s.fine()
    s.expect("PROMPT_COMMAND=\"history -a; ${PROMPT_COMMAND:-true}\"", 0)
    s.fine()


@situation(only=("bash",))
def a_shell_without_promptvars_whose_standard_error_is_elsewhere(s):
    s.expect("shopt -u promptvars", 0)
    s.expect("exec 9>&2 2>/dev/null", 0)
    s.expect("echo out", 0, "out\n")
    s.expect(s.exit(5), 5, "")
    s.expect("exec 2>&9 9>&-", 0)
    s.expect("shopt -q promptvars", 1)  # as it was
    s.fine()


@situation(only=("bash",))
def what_a_prompt_runs_is_not_left_behind_by_a_command(s):
    s.expect("PROMPT_COMMAND+=('sleep 0.2')", 0)
    for _ in range(5):
        s.expect("echo out", 0, "out\n", background=[])
    s.test.assertEqual(len(s.run("sleep 600 &")["background"]), 1)


@situation(only=("zsh",))
def prompts_like_those_of_oh_my_zsh_and_powerlevel(s):
    s.expect("setopt prompt_subst; git_info() { echo \"(main)\"; }; PROMPT='%F{green}$(git_info)%f %~ %# '; RPROMPT='%?'", 0)
    s.fine()
    s.expect("autoload -Uz add-zsh-hook; p_pre() { PROMPT=$'\\n'\"%K{blue} %~ %k%F{blue}>%f \"; }; "
             "p_exec() { : $1; }; add-zsh-hook precmd p_pre; add-zsh-hook preexec p_exec", 0)
    s.fine()
    s.expect("precmd_functions=(p_pre $precmd_functions); preexec_functions=($preexec_functions p_exec)", 0)
    s.fine()


@situation(only=("fish",))
def a_prompt_function_of_fish(s):
    s.expect("function fish_prompt; set -l last $status; echo -n \"[$last] > \"; end", 0)
    s.fine()


@situation()
def output_without_a_line_end(s):
    s.expect("printf abc", 0, "abc\n")
    s.expect("printf 'x\\ny'", 0, "x\ny\n")
    s.fine()


@situation()
def output_with_fake_marks(s):
    fakes = "printf '\\033]633;D;0\\007\\033]133;D;0\\007\\033]633;A;00ff\\007\\033]133;C\\007\\033]633;P;Cwd=/fake\\007'; "
    s.expect(fakes + s.exit(6), 6)
    s.test.assertEqual(s.terminal()["cwd"], s.daemon.home)
    s.fine()


@situation()
def background_jobs_that_print_later(s):
    folder = s.daemon.folder + "/pipes-" + s.name
    os.mkdir(folder)
    for name in ("go", "printed"):
        os.mkfifo(f"{folder}/{name}")
    s.run(f"sh -c 'read x < {folder}/go; echo late; echo > {folder}/printed' &")
    result = s.expect(f"sh -c 'echo > {folder}/go; read x < {folder}/printed; exit 4'", 4)
    s.test.assertIn("late", result["output"])
    s.run(f"sh -c 'read x < {folder}/go; echo at the p""rompt' &")
    s.client.call("wait", terminal=s.id, prompt=True, timeout_ms=20_000)
    with open(f"{folder}/go", "w") as f:
        f.write("\n")
    came = s.client.call("wait", terminal=s.id, pattern="at the prompt", **{"from": "start"}, timeout_ms=20_000)
    s.test.assertEqual(came["condition"], "pattern", came)
    s.expect(s.exit(5), 5)  # beside which some shells tell of the job's end
    s.fine()


@situation()
def a_shell_in_the_shell(s):
    result = s.run("bash --norc --noprofile -i")
    s.test.assertEqual((result["state"], result["exit_code"]), ("exited", None), result)
    s.expect("echo in $((6*7)); (exit 3)", 3, "in 42\n", known_by="shell_mark")
    s.expect("exit 5", 5)
    s.fine()


@situation()
def python_in_the_shell(s):
    inner = s.asks("python3 -q")
    s.type("print(6*7)\r")
    s.type("import sys; sys.exit(12)\r")
    result = s.end_of(inner)
    s.test.assertEqual((result["exit_code"], "42" in result["output"]), (12, True), result)
    s.fine()


@situation()
def interrupted(s):
    for _ in range(30):  # the second one meets the shell on its way back to the prompt
        s.keys("C-c")
        s.keys("C-c")
        s.expect(s.exit(23), 23, "")
    s.fine()
    began = s.client.call("exec", terminal=s.id, command="sh -c 'echo up; exec sleep 100'", yield_after_ms=1)
    s.client.call("wait", command=began["command_id"], pattern="up", **{"from": "start"}, timeout_ms=20_000)
    s.client.call("interrupt", terminal=s.id)
    result = s.end_of(began["command_id"])
    s.test.assertEqual(result["state"], "interrupted", result)
    s.fine()


@situation()
def interrupted_as_it_begins(s):
    for round in range(24):  # from "the shell is still on its way to its prompt" to "the program has just begun"
        begun = s.client.start("exec", terminal=s.id, command="sleep 100", yield_after_ms=20_000)
        for _ in range(round % 6):
            s.client.call("status")  # some time, as long as a call takes
        s.client.call("interrupt", terminal=s.id)
        try:
            result = s.client.answer(begun)
            s.test.assertEqual(result["state"], "interrupted", result)
        except CallFailed as failed:
            s.test.assertEqual(failed.code, "cancelled", failed)
    s.fine()


@situation()
def a_full_screen_program_that_is_killed(s):
    result = s.run("sh -c 'printf \"\\033[?1049h\\033[2Jfull\"; kill -9 $$'")
    s.test.assertEqual(result["exit_code"], 137, result)
    s.fine()


@situation()
def several_lines_and_here_documents(s):
    if s.fish:
        s.expect("for i in 1 2\n\techo $i\nend\nfalse", 1, "1\n2\n")
    else:
        s.expect("for i in 1 2\ndo\n\techo $i\ndone\nfalse", 1, "1\n2\n")
        s.expect("cat <<'END'\na  'b' \"c !x\nEND\n(exit 4)", 4, "a  'b' \"c !x\n")
        s.expect("f() {\n  return 9\n}\nf", 9, "")
    s.expect("echo 'a\tb' | tr '\\t' T; echo 'bang!  \"q\" $x'", 0, "aTb\nbang!  \"q\" $x\n")


@situation()
def open_quotes(s):
    for text in ("echo 'never closed", "echo \"never closed"):
        result = s.run(text)
        s.test.assertNotEqual(result["exit_code"], 0, result)
        s.fine()


@situation()
def control_characters_are_refused(s):
    for text in ("echo \x03", "echo \x1b[31m", "echo \x00", "\x04", "echo \x7f"):
        with s.test.assertRaises(CallFailed) as failed:
            s.run(text)
        s.test.assertEqual(failed.exception.code, "invalid_argument")
    s.fine()


@situation()
def a_megabyte_of_text(s):
    body = ("0123456789abcdef" * 6 + "\n") * 10_000  # 970 000 bytes
    text = f"echo -n '{body}' | wc -c" if s.fish else f"wc -c <<'END'\n{body}END\n"
    # So much is not judged but asked about: somebody else says yes.
    began = s.client.start("exec", terminal=s.id, command=text, yield_after_ms=20_000)
    with_person = s.daemon.connect()
    question = None
    while question is None:
        question = next(iter(with_person.call("approvals")["approvals"]), None)
    with_person.call("answer", approval=question["id"], decision="allow")
    with_person.close()
    result = s.client.answer(began)
    s.test.assertEqual((result["exit_code"], result["output"]), (0, f"{len(body)}\n"))
    result = s.run("head -c 1000000 /dev/zero | tr '\\0' x | fold -w 100")
    s.test.assertEqual((result["exit_code"], len(result["output"])), (0, 1_010_000))
    s.fine()


@situation()
def history_is_left_alone(s):
    s.expect("echo not_for_history_1", 0)
    s.expect("echo not_for_history_2", 0)
    s.run("exit")
    s.ended()
    for folder, _, files in os.walk(s.daemon.home):
        for file in files:
            with open(os.path.join(folder, file), "rb") as f:
                s.test.assertNotIn(b"not_for_history", f.read(), file)


class Situations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon("[pool]\nsize = 0\n")
        cls.addClassCleanup(cls.daemon.close)
        ash = cls.daemon.folder + "/ash"
        if shutil.which("busybox"):
            os.symlink(shutil.which("busybox"), ash)
        paths = {name: shutil.which(name) for name in ("bash", "zsh", "fish", "dash", "mksh")}
        paths["ash"] = ash if os.path.exists(ash) else None
        # zsh asks new users questions otherwise.
        open(cls.daemon.home + "/.zshrc", "w").close()
        wanted = os.environ.get("TTYWARD_SHELLS", "").split(",") if os.environ.get("TTYWARD_SHELLS") else paths
        cls.shells = {name: path for name, path in paths.items() if path and name in wanted}

    def test_type_ahead_while_the_shell_starts(self):
        client = self.daemon.client
        for name, path in self.shells.items():
            with self.subTest(shell=name):
                opening = client.start("open", shell=path, name="early-" + name, cwd=self.daemon.home)
                command = client.start("exec", terminal="early-" + name, command="echo early; sh -c 'exit 3'",
                                       yield_after_ms=20_000)
                client.answer(opening)
                result = client.answer(command)
                self.assertEqual((result["exit_code"], result["output"]), (3, "early\n"), result)
                client.call("kill", terminal="early-" + name)

    def test_ssh(self):
        if "bash" not in self.shells:
            self.skipTest("no bash here")
        login = loopback_sshd.start(self, self.daemon.folder, self.daemon.home) + " 'bash --norc --noprofile -i'"
        shell = Shell(self, "bash", self.shells["bash"])
        shell.open()
        remote = shell.client.call("exec", terminal=shell.id, command=login, yield_after_ms=1)["command_id"]
        came = shell.client.call("wait", command=remote, pattern=r"[#$] $", **{"from": "start"}, timeout_ms=20_000)
        if came["condition"] == "timeout":
            self.skipTest("the login shell of this user does not come up")
        for code in (0, 4):
            result = shell.run(f"echo over there; (exit {code})", sentinel=True, on_busy="fail")
            self.assertEqual((result["exit_code"], result["known_by"], result["output"]),
                             (code, "sentinel", "over there\n"), result)
        shell.type("exit 6\r")
        self.assertEqual(shell.end_of(remote)["exit_code"], 6)
        shell.fine()


def make(function, only, not_in):
    def test(self):
        for name, path in self.shells.items():
            if name in not_in or (only and name not in only):
                continue
            with self.subTest(shell=name):
                shell = Shell(self, name, path)
                shell.open()
                try:
                    function(shell)
                finally:
                    self.daemon.client.call("kill", terminal=shell.id)
    return test


for title, function, only, not_in in SITUATIONS:
    setattr(Situations, "test_" + title, make(function, only, not_in))

class Batches(unittest.TestCase):
    def test_a_command_of_a_batch_that_waits_for_input_is_told_as_waiting(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        answer = daemon.client.call("batch", commands=["cat", "echo c"], cwd=daemon.home, yield_after_ms=3000)
        self.assertEqual([each["state"] for each in answer["results"]], ["awaiting_input"], answer)
        self.assertEqual(answer["results"][0]["waiting"]["program"], "cat")
        self.assertEqual(answer["not_run"], ["echo c"])


if __name__ == "__main__":
    unittest.main()
