"""What environment an agent's commands begin with: the caller's own, by lists, and why."""
import os
import unittest

from answers_test import Answers, text_of
from peer import LEGACY, TTYWARD, Peer


class Environment(Answers):
    def variables(self, peer, tool="run_command", **more):
        result, _ = self.result(peer, tool, command="env", view="full", max_lines=2000, **more)
        return dict(line.split("=", 1) for line in result["output"].splitlines() if "=" in line)

    def caller(self, **variables):
        return Peer(self, version=LEGACY, environment=dict(self.environment, **variables))

    def test_it_is_the_callers_and_not_that_of_whoever_started_the_daemon(self):
        self.environment["JAVA_HOME"] = "/of/the/daemon"
        self.ttyward("ls")  # starts it
        first = self.caller(JAVA_HOME="/of/one", VIRTUAL_ENV="/venv", https_proxy="http://127.0.0.1:1")
        second = self.caller(JAVA_HOME="/of/another")
        found = self.variables(first)
        self.assertEqual((found["JAVA_HOME"], found["VIRTUAL_ENV"], found["https_proxy"]),
                         ("/of/one", "/venv", "http://127.0.0.1:1"))
        self.assertEqual(self.variables(second)["JAVA_HOME"], "/of/another")
        shell, _ = self.result(second, "open_persistent_terminal")
        self.assertEqual(self.variables(second, "run_persistent_command", id=shell["id"])["JAVA_HOME"], "/of/another")

    def test_secrets_and_what_acts_as_the_person_stay_behind(self):
        found = self.variables(self.caller(API_TOKEN="s3cret", SSH_AUTH_SOCK="/tmp/agent"))
        self.assertNotIn("API_TOKEN", found)
        self.assertNotIn("SSH_AUTH_SOCK", found)
        self.environment["SSH_AUTH_SOCK"] = "/tmp/agent"
        opened = self.json("open", "--name", "mine")
        done = self.ttyward("exec", opened["terminal"]["id"], "echo $SSH_AUTH_SOCK")
        self.assertEqual(done.stdout, "/tmp/agent\n", done)

    def test_a_caller_inside_a_terminal_gets_what_the_terminal_has(self):
        peer = self.caller(JAVA_HOME="/outside")
        shell, _ = self.result(peer, "open_persistent_terminal")
        inner = "JAVA_HOME=/inside WARD open --name inner >/dev/null 2>&1; WARD exec inner 'echo [$JAVA_HOME]'"
        result, _ = self.result(peer, "run_persistent_command", id=shell["id"],
                                command=f"export TTYWARD_HOME={self.home}; " + inner.replace("WARD", TTYWARD))
        self.assertIn("[/outside]", result["output"])

    def test_clean(self):
        self.configure('[policy]\nmode = "yolo"\n[shell]\nenvironment = "clean"\n')
        found = self.variables(self.caller(JAVA_HOME="/of/one", PATH="/opt/odd:" + os.environ["PATH"]))
        self.assertNotIn("JAVA_HOME", found)
        self.assertNotIn("/opt/odd", found["PATH"])
        self.assertEqual(found["HOME"], self.folder)

    def test_login(self):
        self.configure('[policy]\nmode = "yolo"\n[shell]\nenvironment = "login"\n')
        with open(self.folder + "/.bash_profile", "w") as f:
            f.write("echo noise\nexport NVM_DIR=/from/login SECRET_TOKEN=x PATH=/login/bin:$PATH\n")
        peer = self.caller(JAVA_HOME="/of/one")
        found = self.variables(peer)
        self.assertEqual((found["NVM_DIR"], found["JAVA_HOME"]), ("/from/login", "/of/one"))
        self.assertTrue(found["PATH"].startswith("/login/bin:"), found["PATH"])
        self.assertNotIn("SECRET_TOKEN", found)
        with open(self.folder + "/.bash_profile", "a") as f:
            f.write("export NVM_DIR=/changed\n")
        self.assertEqual(self.variables(peer)["NVM_DIR"], "/changed")

    def test_explain(self):
        self.environment |= {"JAVA_HOME": "/j", "API_TOKEN": "x", "SSH_AUTH_SOCK": "/s"}
        for arguments, code, words in ((["JAVA_HOME"], 0, "that tools need"), (["API_TOKEN"], 1, "environment_keep"),
                                       (["SSH_AUTH_SOCK"], 0, "act as you"),
                                       (["--agent", "SSH_AUTH_SOCK"], 1, "an agent's"),
                                       (["NOT_THERE"], 1, "not in your environment"), (["PAGER"], 0, "pager"),
                                       (["TERM"], 0, "terminal")):
            done = self.ttyward("env", "explain", *arguments)
            self.assertEqual(done.returncode, code, done)
            self.assertIn(words, done.stdout)


class Roots(Answers):
    def test_a_cd_does_not_lead_out_of_the_allowed_folders(self):
        inside = self.path("inside")
        os.mkdir(inside)
        self.configure(f'[policy]\nmode = "yolo"\nallowed_roots = ["{inside}"]\n')
        peer = self.peer()
        shell, _ = self.result(peer, "open_persistent_terminal", cwd=inside)
        self.result(peer, "run_persistent_command", id=shell["id"], command="cd ..")
        refused = peer.tool("run_persistent_command", id=shell["id"], command="touch there")
        self.assertTrue(refused["isError"], refused)
        self.assertIn("outside the folders agents may work in", text_of(refused))
        self.assertFalse(os.path.exists(self.path("there")))
        result, _ = self.result(peer, "run_persistent_command", id=shell["id"], command="pwd", cwd=inside)
        self.assertEqual(result["exit_code"], 0)

    def test_all_of_a_root_may_be_changed(self):
        os.makedirs(self.path("root/deep"))
        self.configure(f'[policy]\nmode = "auto-edit"\nallowed_roots = ["{self.path("root")}"]\n')
        peer = self.peer()
        result, _ = self.result(peer, "run_command", command="echo x > ../file", cwd=self.path("root/deep"))
        self.assertEqual(result["exit_code"], 0)
        checked = peer.tool("run_command", command="echo x > ../../file", cwd=self.path("root/deep"), wait_ms=200)
        self.assertIn(checked["structuredContent"]["state"], ("pending_approval", "denied"))

    def test_run_uses_the_policy_of_the_folder_it_runs_in(self):
        project = self.path("project")
        os.mkdir(project)
        with open(project + "/.ttyward.toml", "w") as f:
            f.write('[policy]\nmode = "plan"\n')
        self.configure('[policy]\nmode = "auto-edit"\n')
        done = self.ttyward("run", "--as-agent", "--cwd", project, "touch new")
        self.assertNotEqual(done.returncode, 0, done)
        self.assertFalse(os.path.exists(project + "/new"))
        done = self.ttyward("run", "--as-agent", "touch new")
        self.assertEqual(done.returncode, 0, done)


class Names(Answers):
    def test_other_names_for_run_command(self):
        self.configure('[policy]\nmode = "yolo"\n[mcp]\naliases = ["run_shell_command", "execute_command"]\n')
        peer = self.peer()
        names = [tool["name"] for tool in peer.request("tools/list")["result"]["tools"]]
        self.assertEqual(names[-2:], ["run_shell_command", "execute_command"])
        result, _ = self.result(peer, "run_shell_command", command="pwd", directory="/")
        self.assertEqual(result["output"], "/\n")
        result, _ = self.result(peer, "execute_command", command="echo hi")
        self.assertEqual(result["output"], "hi\n")

    def test_an_idle_terminal_is_used_again(self):
        peer = self.peer()
        first, _ = self.result(peer, "open_persistent_terminal")
        again, text = self.result(peer, "open_persistent_terminal")
        self.assertEqual(first["id"], again["id"])
        self.assertIn("was idle there", text)
        new, _ = self.result(peer, "open_persistent_terminal", new=True)
        self.assertNotEqual(new["id"], first["id"])
        self.result(peer, "run_persistent_command", id=first["id"], command="cd /")
        root, _ = self.result(peer, "open_persistent_terminal", cwd="/")
        self.assertEqual(root["id"], first["id"])

    def test_own_and_living_terminals_are_listed_first(self):
        other, mine = self.peer("--session", "other"), self.peer("--session", "mine")
        own, _ = self.result(mine, "open_persistent_terminal", name="own")
        self.result(other, "open_persistent_terminal", name="theirs")
        ended, _ = self.result(mine, "run_command", command="true", detail=True)
        listed, _ = self.result(mine, "list_terminals", all=True)
        ids = [t["id"] for t in listed["terminals"]]
        self.assertEqual(ids[:2], [own["id"], ended["terminal_id"]])

    def test_a_list_of_very_many_is_cut_and_says_so(self):
        peer = self.peer()
        own, _ = self.result(peer, "open_persistent_terminal", name="own")
        self.result(peer, "run_batch", commands=[f"echo {i}" for i in range(55)], parallel=8)
        listed, text = self.result(peer, "list_terminals", all=True)
        self.assertEqual(len(listed["terminals"]), 50)
        self.assertEqual(listed["terminals"][0]["id"], own["id"])
        self.assertGreaterEqual(listed["left_out"], 6)
        self.assertIn(f"And {listed['left_out']} more, not shown.", text)
        listed, text = self.result(peer, "list_terminals")
        self.assertEqual([t["id"] for t in listed["terminals"]], [own["id"]])
        self.assertNotIn("left_out", listed)


class Text(Answers):
    def run_bytes(self, data, **more):
        with open(self.path("data"), "wb") as f:
            f.write(data)
        return self.result(self.peer(), "run_command", command="cat data", **more)

    def test_latin_1_of_a_few_words(self):
        result, _ = self.run_bytes("café, déjà vu à la crème\n".encode("latin-1"))
        self.assertEqual(result["output"], "café, déjà vu à la crème\n")

    def test_central_european_words_stay_so(self):
        words = "zażółć gęślą jaźń, wszystko będzie dobrze, źdźbło w oku bliźniego\n" * 3
        result, _ = self.run_bytes(words.encode("iso-8859-2"))
        self.assertIn("będzie dobrze", result["output"])

    def test_utf_16_is_text(self):
        for encoding in ("utf-16-le", "utf-16-be"):
            mark = "\ufeff".encode(encoding)
            result, _ = self.run_bytes(mark + "grün\nünd blau\n".encode(encoding))
            self.assertNotIn("binary", result)
            self.assertEqual(result["output"].lstrip("\ufeff"), "grün\nünd blau\n")

    def test_a_missing_newline_is_told(self):
        result, text = self.run_bytes(b"one\ntwo")
        self.assertTrue(result["no_newline"])
        self.assertIn("no newline at its end", text)
        result, text = self.run_bytes(b"one\ntwo\n")
        self.assertNotIn("no_newline", result)


if __name__ == "__main__":
    unittest.main()
