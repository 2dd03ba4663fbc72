"""An agent that a test plays: what the proxy says to it goes to a socket, and what the test writes there it says.

Usage: puppet.py [--stay] SOCKET [MORE…].  Bytes pass as they are, in both directions. It ends with its input; with --stay it
neither does that nor minds SIGTERM.
"""
import os
import signal
import socket
import sys
import threading

link = socket.socket(socket.AF_UNIX)
link.connect(next(word for word in sys.argv[1:] if word != "--stay"))
stay = "--stay" in sys.argv
if stay:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def to_test():
    while data := os.read(0, 1 << 16):
        link.sendall(data)
    if not stay:
        os._exit(0)


threading.Thread(target=to_test, daemon=True).start()
while data := link.recv(1 << 16):
    while data:
        data = data[os.write(1, data):]
