"""Who is in the story: an agent behind the official MCP client, and a person at a terminal."""
import fcntl
import json
import os
import pty
import queue
import select
import signal
import struct
import subprocess
import termios
import threading
import time

TTYWARD = os.environ["TTYWARD"]
PATIENCE = float(os.environ.get("TTYWARD_TEST_PATIENCE", "60"))
HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = os.path.join(os.path.dirname(HERE), "mcp")
NODE = os.path.join(PACKAGES, "node_modules/.bin/node")


class Agent:
    def __init__(self, era, environment, folder):
        self.process = subprocess.Popen([NODE, HERE + "/agent.mjs", era, TTYWARD, PACKAGES], env=environment, cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers = queue.Queue()
        self.early = {}
        self.last = 0
        self.reading = threading.Thread(target=self.read, daemon=True)
        self.reading.start()

    def read(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))

    def start(self, tool, **arguments):
        self.last += 1
        self.process.stdin.write(json.dumps({"id": self.last, "tool": tool, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        return self.last

    def answer(self, number):
        while number not in self.early:
            message = self.answers.get(timeout=PATIENCE)
            self.early[message["id"]] = message
        message = self.early.pop(number)
        if "error" in message:
            raise AssertionError(message["error"])
        return message["result"]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        self.reading.join()
        self.process.stdout.close()


class Person:
    """Somebody who calls ttyward in a terminal of their own, and reads what it shows."""

    def __init__(self, environment, folder, *args):
        self.environment = environment
        self.master, slave = pty.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 110, 0, 0))

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([TTYWARD, *args], env=environment, cwd=folder, stdin=slave, stdout=slave,
                                        stderr=slave, preexec_fn=take_terminal)
        os.close(slave)
        self.bytes = b""

    def more(self, seconds):
        """Reads what is there; False at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:  # nobody has the other end open any more
            return False
        self.bytes += data
        return bool(data)

    def wait_for(self, text):
        give_up = time.monotonic() + PATIENCE
        while text.encode() not in self.bytes:
            if not self.more(max(0, give_up - time.monotonic())) or time.monotonic() > give_up:
                raise AssertionError(f"{text!r} never came; seen: {self.bytes!r}")

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self, signal_number=None):
        """Waits for its end, asks for it if told so; what was to be seen."""
        if signal_number is not None:
            self.process.send_signal(signal_number)
        give_up = time.monotonic() + PATIENCE
        while self.more(0.1) and time.monotonic() < give_up:
            pass
        self.process.wait(PATIENCE)
        os.close(self.master)
        shown = subprocess.run([TTYWARD, "render", "--cols", "110"], input=self.bytes, env=self.environment,
                               stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
        return shown.stdout.decode()

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
