"""Many commands, many terminals, and a while of both: every status true, and nothing that grows.

TTYWARD_COMMANDS (300), TTYWARD_BUSY (64 terminals) and TTYWARD_SOAK (5 seconds) set how much; by hand:
TTYWARD_COMMANDS=10000 TTYWARD_SOAK=180 TTYWARD=build/dev/bin/ttyward python3 tests/daemon/load_test.py
"""
import os
import time
import unittest

from daemon_client import PATIENCE, CallFailed, Daemon

COMMANDS = int(os.environ.get("TTYWARD_COMMANDS", "300"))
BUSY = int(os.environ.get("TTYWARD_BUSY", "64"))
SOAK = float(os.environ.get("TTYWARD_SOAK", "5"))

# AddressSanitizer keeps 256 MB of what was freed before it gives memory back: that would be what grows.
os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=16:" + os.environ.get("ASAN_OPTIONS", "")


def value_of(pid, name):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(name + ":"))


class Load(unittest.TestCase):
    def start(self, config=""):
        daemon = Daemon(config)
        self.addCleanup(daemon.close)
        return daemon

    def run_in(self, client, terminal, command):
        return client.call("exec", terminal=terminal, command=command, yield_after_ms=30_000)

    def test_one_shell_after_thousands_of_commands(self):
        client = self.start("[pool]\nsize = 0\n").client
        terminal = client.call("open", shell="/bin/bash")["terminal"]["id"]
        begun = time.monotonic()
        for i in range(COMMANDS):
            result = self.run_in(client, terminal, f"echo {i}; (exit {i % 251})")
            self.assertEqual((result["exit_code"], result["output"], result["known_by"]),
                             (i % 251, f"{i}\n", "shell_mark"), result)
        took = time.monotonic() - begun
        print(f"{COMMANDS} commands in {took:.1f} s", flush=True)
        shown = client.call("show", terminal=terminal)
        self.assertEqual(shown["terminal"]["commands"] >= 1, True)

    def test_terminals_busy_at_once(self):
        daemon = self.start("[pool]\nsize = 0\n[limits]\nterminals = 200\n")
        client = daemon.client
        opening = [client.start("open", shell="/bin/bash") for _ in range(BUSY)]
        terminals = [client.answer(number)["terminal"]["id"] for number in opening]
        gate = daemon.folder + "/go"
        running = [client.start("exec", terminal=terminal, yield_after_ms=0,
                                command=f"echo {n} up; until [ -e {gate} ]; do sleep 0.1; done; seq {n}; (exit {n % 100})")
                   for n, terminal in enumerate(terminals)]
        for n, terminal in enumerate(terminals):
            client.call("wait", terminal=terminal, pattern=f"^{n} up", **{"from": "start"}, timeout_ms=60_000)
        self.assertEqual({t["state"] for t in client.call("list")["terminals"]}, {"busy"})
        open(gate, "w").close()
        for n, number in enumerate(running):
            result = client.answer(number)
            self.assertEqual(result["exit_code"], n % 100, result)
            self.assertEqual(result["output"], f"{n} up\n" + "".join(f"{i}\n" for i in range(1, n + 1)))

    def test_more_calls_open_at_once_than_a_thousand(self):
        daemon = self.start("[pool]\nsize = 0\n[limits]\ncommands = 500\n")
        client = daemon.client
        terminal = client.call("open", shell="/bin/bash")["terminal"]["id"]
        asked = client.call("exec", terminal=terminal,
                            command="echo up; read x; for i in $(seq 0 29); do echo line=$i; done; read x")
        self.assertEqual(asked["state"], "awaiting_input", asked)
        waits = [client.start("wait", terminal=terminal, pattern=f"^line={n % 30}$", timeout_ms=0)
                 for n in range(1500)]
        client.call("input", terminal=terminal, text="\r")
        for n, number in enumerate(waits):
            answer = client.answer(number, "wait")
            self.assertEqual(answer["match"]["text"], f"line={n % 30}")
        # The bound is of the settings: 500 commands and 1024 more.
        waits = [client.start("wait", terminal=terminal, pattern="never", timeout_ms=0) for _ in range(1524)]
        with self.assertRaises(CallFailed) as refused:
            client.call("wait", terminal=terminal, pattern="never", timeout_ms=0)
        self.assertEqual(refused.exception.code, "exhausted")
        other = daemon.connect()
        self.addCleanup(other.close)
        other.call("input", terminal=terminal, text="\r")
        for number in waits:
            self.assertEqual(client.answer(number, "wait")["condition"], "exit")

    def test_nothing_grows(self):
        daemon = self.start("[pool]\nsize = 0\n")
        client = daemon.client
        terminals = [client.call("open", shell="/bin/bash")["terminal"]["id"] for _ in range(2)]

        def a_round():
            for terminal in terminals:
                for code in (0, 7):
                    self.assertEqual(self.run_in(client, terminal, f"seq 200; (exit {code})")["exit_code"], code)
            self.assertEqual(client.call("run", command="seq 50; exit 3")["exit_code"], 3)
            for provider in ("pty", "pipe"):
                short = client.call("open", shell="/bin/bash", provider=provider)["terminal"]["id"]
                self.assertEqual(self.run_in(client, short, "exit 4")["exit_code"], 4)
            other = daemon.connect()
            other.call("list")
            other.close()

        def measure():
            """After what ended has gone, too."""
            state = daemon.folder + "/tw/state"
            return {"descriptors": len(os.listdir(f"/proc/{daemon.pid}/fd")),
                    "threads": value_of(daemon.pid, "Threads"),
                    "files": sum(len(files) for folder, _, files in os.walk(state) if "/journals" not in folder),
                    "journals": len(os.listdir(state + "/journals")),
                    "memory": value_of(daemon.pid, "VmRSS"),
                    "processes": sum(1 for p in os.listdir("/proc") if p.isdigit() and self.is_child(p, daemon))}

        rounds = 0
        # More than the daemon keeps of what ended, so that its stores are full.
        while rounds < 30:
            a_round()
            rounds += 1
        before = measure()
        end = time.monotonic() + SOAK
        while time.monotonic() < end:
            a_round()
            rounds += 1

        # The allocator's own ups and downs, in KiB; everything else within a handful.
        most = {what: before[what] + 8 for what in before} | {"memory": before["memory"] * 1.25 + 8192}

        def grown():
            after = measure()
            return {what: (before[what], after[what]) for what in most if after[what] > most[what]}

        # What ended a moment ago is still being cleared away, the slower the busier the machine is.
        give_up = time.monotonic() + PATIENCE
        while grown() and time.monotonic() < give_up:
            time.sleep(0.1)  # spares the processor; nothing depends on its length
        print(f"{rounds} rounds: {before} -> {measure()}", flush=True)
        self.assertEqual(grown(), {})

    @staticmethod
    def is_child(pid, daemon):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                return daemon.folder.encode() in f.read()
        except OSError:
            return False


if __name__ == "__main__":
    unittest.main()
