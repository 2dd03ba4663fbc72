"""Tasks as 2026-07-28 has them, which no official client drives yet: made by the server, asked about, answered, cancelled."""
import os
import unittest

from peer import MODERN, HomeTest, Peer

TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


class Tasks(HomeTest):
    def agent(self, **more):
        return Peer(self, version=MODERN, capabilities={**TASKS, **more})

    def create(self, agent, command, **more):
        """A command that takes long enough to become a task."""
        answer = agent.request("tools/call", {"name": "run_command",
                                              "arguments": {"command": command, "cwd": self.work, "timeout_ms": 0, **more}})
        self.assertEqual(answer["result"]["resultType"], "task", answer)
        return answer["result"]["taskId"]

    def get(self, agent, task):
        return agent.request("tasks/get", {"taskId": task})["result"]

    def test_a_call_that_takes_long_becomes_one(self):
        agent = self.agent()
        task = self.create(agent, "until [ -e gate ]; do sleep 0.02; done; echo ended; exit 6")
        self.assertEqual(self.get(agent, task)["status"], "working")
        stream = agent.start("subscriptions/listen", {"notifications": {"taskIds": [task]}})
        self.assertEqual(agent.asked("notifications/subscriptions/acknowledged")["params"]["notifications"]["taskIds"], [task])
        open(self.path("gate"), "w").close()
        news = agent.asked("notifications/tasks")["params"]
        self.assertEqual((news["taskId"], news["status"]), (task, "completed"), news)
        self.assertEqual(news["_meta"]["io.modelcontextprotocol/subscriptionId"], stream)
        result = self.get(agent, task)["result"]["structuredContent"]
        self.assertEqual((result["exit_code"], result["output"]), (6, "ended\n"))

    def test_quick_calls_and_clients_without_tasks_get_results(self):
        quick = self.agent().tool("run_command", command="exit 3")
        self.assertEqual(quick["structuredContent"]["exit_code"], 3)
        plain = Peer(self)
        number = plain.start_tool("run_command", {"command": "sleep 3.5; exit 4"})
        self.assertEqual(plain.answer(number)["result"]["structuredContent"]["exit_code"], 4)
        self.assertEqual(plain.request("tasks/get", {"taskId": "x"})["error"]["code"], -32021)

    def test_cancelling_one_interrupts_what_asked_for_it(self):
        agent = self.agent()
        task = self.create(agent, "echo once > begun; sleep 600; echo > never", interrupt_on_cancel=True)
        self.assertNotIn("error", agent.request("tasks/cancel", {"taskId": task}))
        self.assertEqual(self.get(agent, task)["status"], "cancelled")
        self.assertNotIn("error", agent.request("tasks/cancel", {"taskId": task}), "again is as good")
        self.eventually(lambda: not agent.tool("list_terminals")["structuredContent"]["terminals"])

    def test_a_task_that_has_to_ask(self):
        for decision, wanted in (("allow_once", 5), ("deny", None)):
            with self.subTest(decision):
                agent = self.agent(elicitation={})
                # It asks at once, so it is answered at once: the question is the call's own.
                params = {"name": "run_command", "arguments": {"command": "git push --force https://127.0.0.1:9/x; exit 5",
                                                               "cwd": self.work}}
                asked = agent.request("tools/call", params)["result"]
                self.assertEqual(asked["resultType"], "input_required", asked)
                self.assertIn("git push", asked["inputRequests"]["approval"]["params"]["message"])
                answer = agent.request("tools/call", {**params, "requestState": asked["requestState"], "inputResponses": {
                    "approval": {"action": "accept", "content": {"decision": decision}}}})["result"]
                self.assertEqual(answer["structuredContent"].get("exit_code"), wanted, answer)
                again = agent.request("tools/call", {**params, "requestState": asked["requestState"], "inputResponses": {
                    "approval": {"action": "accept", "content": {"decision": "allow_once"}}}})
                self.assertEqual(again["error"]["code"], -32602, "a state is good once")

    def test_unknown_tasks_are_an_error(self):
        agent = self.agent()
        for method in ("tasks/get", "tasks/cancel"):
            self.assertEqual(agent.request(method, {"taskId": "none"})["error"]["code"], -32602)
        self.assertFalse(os.path.exists(self.path("never")))


if __name__ == "__main__":
    unittest.main()
