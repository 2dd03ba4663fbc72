"""A flood of output through run_command: the exit code is true, the counts are exact, and nobody grows with it. And
a flood of calls.

TTYWARD_FLOOD_MB sets how much is printed (48 unless set). What was measured goes to standard error.
"""
import os
import sys
import time
import unittest

from peer import HomeTest, Peer

SIZE = int(os.environ.get("TTYWARD_FLOOD_MB", "48")) << 20
LINE = 128  # bytes, with the line feed
CALLS = 200  # more than are kept once they have ended
MOST_KIB = 128 << 10  # of memory, for each process; sanitizers are let off


def peak_kib(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(next(line for line in f if line.startswith("VmHWM:")).split()[1])


class Flood(HomeTest):
    def test_constant_memory_and_the_right_exit_code(self):
        agent = Peer(self)
        lines = SIZE // LINE
        begun = time.monotonic()
        result = agent.tool("run_command", command=f"seq -f %0{LINE - 1}.0f 1 {lines}; exit 9", cwd=self.work,
                            timeout_ms=0, wait_ms=600_000, view="full", detail=True)["structuredContent"]
        took = time.monotonic() - begun
        self.assertEqual((result["state"], result["exit_code"]), ("exited", 9), {**result, "output": ""})
        self.assertEqual(result["total_lines"], lines)
        self.assertEqual(result["total_bytes"], lines * (LINE + 1), "a terminal makes CR LF of a line feed")
        self.assertEqual(result["omitted"]["lines"] + result["output"].count("\n"), lines + 1, "and one line says so")
        daemon = self.json("daemon", "status")["pid"]
        peaks = {"server": peak_kib(agent.process.pid), "daemon": peak_kib(daemon)}
        print(f"{lines * LINE >> 20} MiB in {took:.1f} s; peak KiB: {peaks}; lost bytes: {result['lost_bytes']}", file=sys.stderr)
        if not os.environ.get("TTYWARD_SANITIZED"):
            for name, kib in peaks.items():
                self.assertLess(kib, MOST_KIB, name)

    def test_a_digest_of_it_is_short_and_does_not_hold_others_up(self):
        agent, other = Peer(self), Peer(self)
        lines = SIZE // LINE
        flood = agent.start_tool("run_command", {"command": f"seq -f %0{LINE - 1}.0f 1 {lines}; echo fatal: disk full; exit 9",
                                                 "timeout_ms": 0, "wait_ms": 600_000})
        self.assertEqual(other.tool("run_command", command="echo beside")["structuredContent"]["output"], "beside\n")
        result = agent.answer(flood)["result"]["structuredContent"]
        self.assertEqual((result["state"], result["exit_code"]), ("exited", 9))
        self.assertLess(len(result["output"]), 2000)
        self.assertIn("fatal: disk full", result["output"])
        self.assertIn(f"×{lines}", result["output"])

    def test_many_calls_at_once_are_each_told_their_own_end(self):
        agent = Peer(self)
        calls = {agent.start_tool("run_command", {"command": f"echo number {i}; exit {i % 200}"}): i
                 for i in range(CALLS)}
        for call, i in calls.items():
            answer = agent.answer(call)
            result = answer.get("result", {}).get("structuredContent", answer)
            self.assertEqual((result.get("exit_code"), result.get("output")), (i % 200, f"number {i}\n"), answer)


if __name__ == "__main__":
    unittest.main()
