"""An sshd on loopback with keys of its own, for one test."""
import shutil
import socket
import subprocess


def start(test, folder, home):
    """The words of an `ssh` that logs in to it, without a command. Skips the test where there is no sshd."""
    sshd, ssh = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin"), shutil.which("ssh")
    if not sshd or not ssh:
        test.skipTest("no sshd here: ./setup --tests installs one")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"], check=True)
    shutil.copy(f"{folder}/user.pub", f"{folder}/authorized")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sshd, "-D", "-e", "-f", "/dev/null", "-p", str(port), "-h", f"{folder}/host",
                               "-o", "ListenAddress=127.0.0.1", "-o", f"AuthorizedKeysFile={folder}/authorized",
                               "-o", "StrictModes=no", "-o", "PidFile=none", "-o", "UsePAM=no",
                               # Whatever the user's own start-up files do is not the matter.
                               "-o", f"SetEnv=HOME={home}"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    test.addCleanup(server.stderr.close)
    test.addCleanup(server.wait)
    test.addCleanup(server.kill)
    for line in server.stderr:
        if b"listening" in line:
            break
    else:
        test.skipTest("sshd does not run here")
    return (f"ssh -tt -F /dev/null -i {folder}/user -p {port} -o StrictHostKeyChecking=no -o LogLevel=ERROR "
            f"-o UserKnownHostsFile=/dev/null -o BatchMode=yes 127.0.0.1")
