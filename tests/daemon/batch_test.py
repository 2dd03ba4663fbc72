"""A batch in one shell: every command has a result or was not run, whatever happens while it goes on."""
import os
import unittest

from daemon_client import CallFailed, Daemon, eventually


class BatchTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("[policy]\nconfine = false\n")
        self.addCleanup(self.daemon.close)
        self.person = self.daemon.client
        self.work = self.daemon.folder + "/work"
        os.mkdir(self.work)
        self.agent = self.daemon.connect("agent", session="s", secret="the secret of this session")
        self.addCleanup(self.agent.close)

    def made(self):
        return sorted(os.listdir(self.work))

    def questions(self):
        return self.person.call("approvals")["approvals"]

    def asked(self, **args):
        """A batch whose second command a person is asked about, answered before the person does."""
        answer = self.agent.call("batch", cwd=self.work, yield_after_ms=1500,
                                 commands=["V=kept", "touch made; echo $V", "echo three"], **args)
        self.assertEqual([each["state"] for each in answer["results"]], ["exited", "pending_approval"], answer)
        self.assertEqual((answer["not_run"], answer["stopped_by"]), (["echo three"], "time"))
        waits = answer["results"][1]
        self.assertEqual([each["id"] for each in self.questions()], [waits["approval"]])
        return waits

    def result(self, command):
        try:
            return self.agent.call("result", command=command)
        except CallFailed:
            return None

    def terminals(self):
        return [each for each in self.agent.call("list")["terminals"] if each["state"] != "finished"]

    def test_a_command_that_waits_for_a_person_runs_in_its_shell_once_it_is_allowed(self):
        waits = self.asked()
        self.assertEqual(self.result(waits["command_id"])["state"], "pending_approval")
        self.person.call("answer", approval=waits["approval"], decision="allow")
        came = eventually(lambda: (lambda now: now if now and now["state"] == "exited" else None)(
            self.result(waits["command_id"])), "the command that was allowed")
        self.assertEqual((came["exit_code"], came["output"]), (0, "kept\n"))
        self.assertEqual(self.made(), ["made"])

    def test_the_shell_goes_if_the_command_is_refused_later(self):
        waits = self.asked()
        self.assertEqual(len(self.terminals()), 1)
        self.person.call("answer", approval=waits["approval"], decision="deny")
        self.assertEqual(self.result(waits["command_id"])["state"], "denied")
        eventually(lambda: not self.terminals(), "the end of the shell")
        self.assertEqual(self.made(), [])

    def test_it_does_not_run_in_another_folder_than_it_was_allowed_for(self):
        waits = self.asked()
        shell = self.terminals()[0]["id"]
        os.mkdir(self.work + "/other")
        self.assertEqual(self.agent.call("exec", terminal=shell, command="cd other")["exit_code"], 0)
        self.person.call("answer", approval=waits["approval"], decision="allow")
        came = eventually(lambda: (lambda now: now if now and now["state"] != "running" else None)(
            self.result(waits["command_id"])), "the command's end")
        self.assertIn("different folder", came["reason"])
        self.assertEqual((self.made(), os.listdir(self.work + "/other")), (["other"], []))

    def test_a_command_that_is_allowed_while_its_shell_is_busy_runs_afterwards(self):
        waits = self.asked()
        shell = self.terminals()[0]["id"]
        os.mkfifo(self.work + "/gate")
        self.agent.call("exec", terminal=shell, command="cat gate", yield_after_ms=1)
        self.person.call("answer", approval=waits["approval"], decision="allow")
        with open(self.work + "/gate", "w"):
            pass
        eventually(lambda: self.made() == ["gate", "made"], "the command that was allowed")

    def test_cancelling_withdraws_the_question(self):
        number = self.agent.start("batch", cwd=self.work, commands=["touch made", "echo two"])
        question = eventually(self.questions, "the question")[0]
        self.agent.send({"cancel": number})
        with self.assertRaises(CallFailed):
            self.agent.answer(number)
        eventually(lambda: not self.questions(), "the end of the question")
        with self.assertRaises(CallFailed):
            self.person.call("answer", approval=question["id"], decision="allow")
        eventually(lambda: not self.terminals(), "the end of the shell")
        self.assertEqual(self.made(), [])

    def test_what_a_person_takes_to_answer_does_not_count(self):
        number = self.agent.start("batch", cwd=self.work, commands=["touch made", "sleep 0.1; echo two"], timeout_ms=2000)
        question = eventually(self.questions, "the question")[0]
        self.person.call("run", command="sleep 2.2", cwd=self.work)  # the time that a person takes
        self.person.call("answer", approval=question["id"], decision="allow")
        answer = self.agent.answer(number)
        self.assertEqual([each["state"] for each in answer["results"]], ["exited", "exited"], answer)

    def test_a_folder_that_a_command_went_to_is_that_of_the_next(self):
        answer = self.agent.call("batch", cwd=self.work, commands=["cd /etc", "cat passwd > /dev/null; pwd"], yield_after_ms=1500)
        self.assertEqual([each["cwd"] for each in answer["results"]], [self.work, "/etc"], answer)

    def test_a_result_that_was_lost_stops_it(self):
        commands = ["true", "false", "touch made"]
        sent = {"commands": commands, "cwd": self.work, "batch_id": "b-lost"}
        self.assertEqual(self.person.call("batch", **sent)["not_run"], ["touch made"])
        # So many ended since that it was forgotten.
        self.person.call("batch", separate=True, parallel=16, commands=["true"] * 560, cwd=self.work)
        eventually(lambda: self.forgotten("b-lost-1"), "it being forgotten")
        again = self.person.call("batch", **sent)
        self.assertEqual([each["state"] for each in again["results"]], ["lost"], again)
        self.assertEqual((again["not_run"], self.made()), (commands[1:], []))

    def forgotten(self, command):
        try:
            self.person.call("result", command=command)
            return False
        except CallFailed:
            return True


if __name__ == "__main__":
    unittest.main()
