"""In the place of ssh: runs the command here, and cuts the stream where the plan says.

The plan (plan.json in the folder given first) has:
  frames     after so many whole frames from the far end the stream is cut; again for each connection
  cuts       how many connections are cut; after that they are left alone
  bytes      as frames, in bytes: cuts in the middle of a frame
  boot       the far end says that it was booted with this id
  noise      text that is printed before anything else
  wait       a file: the connection is made when it is there
  refuse     a message: the connection fails with it
  version    the protocol's version that the near end seems to ask for
  noexec     nothing can be run from any folder of the far end that can be written
A log of cuts is written to cuts.log.
"""
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time

folder, words = sys.argv[1], sys.argv[2:]
with open(f"{folder}/plan.json") as f:
    plan = json.load(f)
while plan.get("wait") and not os.path.exists(plan["wait"]):
    time.sleep(0.01)
if plan.get("refuse"):
    sys.stderr.write(plan["refuse"] + "\n")
    sys.exit(255)


def count_cuts():
    try:
        with open(f"{folder}/cuts.log") as f:
            return len(f.readlines())
    except OSError:
        return 0


cut = count_cuts() < plan.get("cuts", 0)
if plan.get("noise"):
    os.write(1, plan["noise"].encode())
command = words[-1]
if "-tt" in words:  # plain ssh
    sys.exit(subprocess.call(["sh", "-c", command]))
start = ["sh", "-c", command]
if plan.get("boot"):
    with open(f"{folder}/boot_id", "w") as f:
        f.write(plan["boot"] + "\n")
    start = ["unshare", "-m", "sh", "-c", f"mount --bind {folder}/boot_id /proc/sys/kernel/random/boot_id; exec sh -c \"$0\"",
             command]
if plan.get("noexec"):
    start = ["unshare", "-m", "sh", "-c", "for each in /dev/shm /run /var/tmp /tmp; do mount -t tmpfs -o noexec tmpfs $each; "
             "done; exec sh -c \"$0\"", command]
far = subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
marker = b"TTYWARD-STREAM "
seen, streaming, frames, passed = b"", False, 0, 0


def stop():
    with open(f"{folder}/cuts.log", "a") as f:
        f.write(f"{frames} {passed}\n")
    far.kill()
    os.kill(os.getpid(), signal.SIGKILL)


def write(data):
    global passed
    limit = plan.get("bytes")
    if cut and limit is not None and passed + len(data) > limit:
        os.write(1, data[:limit - passed])
        passed = limit
        stop()
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]
    passed += len(data)


while True:
    ready, _, _ = select.select([0, far.stdout], [], [])
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:
            break
        if streaming and plan.get("version"):  # the first frame is the greeting: header, magic, version
            data = data[:16] + struct.pack("<I", plan.pop("version")) + data[20:]
        try:
            far.stdin.write(data)
            far.stdin.flush()
        except BrokenPipeError:
            pass  # its last words are still to come
    if far.stdout in ready:
        data = os.read(far.stdout.fileno(), 65536)
        if not data:
            break
        if not streaming:
            seen += data
            at = seen.find(marker)
            end = seen.find(b"\n", at) if at >= 0 else -1
            if end < 0:
                keep = seen if at < 0 else seen[:at]
                continue_with = b"" if at < 0 else seen[at:]
                os.write(1, keep)
                seen = continue_with
                continue
            os.write(1, seen[:end + 1])
            seen, streaming = seen[end + 1:], True
        else:
            seen += data
        while len(seen) >= 12:
            length = struct.unpack("<I", seen[:4])[0]
            if len(seen) < 12 + length:
                break
            frame, seen = seen[:12 + length], seen[12 + length:]
            write(frame)
            frames += 1
            if cut and "frames" in plan and frames >= plan["frames"]:
                stop()
sys.exit(far.wait() if far.poll() is not None else 0)
