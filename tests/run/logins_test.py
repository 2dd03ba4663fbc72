"""ssh and sudo, which ask for passwords: a real sshd on loopback, a real sudo.

Accounts with known passwords are made in a mount namespace of the test's own: the
machine's /etc is never written. That needs root; without it what can be shown
without an account is shown.
"""
import getpass
import grp
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import unittest

from harness import TTYWARD, Person, RunTest, main, may_unshare

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/sbin")
IS_ROOT = os.geteuid() == 0
MAY_MAKE_ACCOUNTS = IS_ROOT and may_unshare("-m")
PASSWORD = "correct horse"
# crypt(3) of the password: SHA-512, salt "ttyward".
HASH = "$6$ttyward$9YZVG5wiUTji2AR7CcT6Hypo8EV5ozJqjxleUoQHMZxPPA5XztI/FGADBlSx4fEkidRb.B567rK1BDdAKE1z81"


def nobody():
    """A name and a number that no account of this machine has."""
    taken = pwd.getpwall()
    groups = grp.getgrall()
    names = {each.pw_name for each in taken} | {each.gr_name for each in groups}
    numbers = {each.pw_uid for each in taken} | {each.gr_gid for each in groups}
    name = next(n for n in (f"twtest{i}" for i in itertools.count(os.getpid())) if n not in names)
    return name, next(n for n in itertools.count(61847) if n not in numbers)


ACCOUNT, UID = nobody()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class LoginTest(RunTest):
    def with_account(self, command):
        """The command in a namespace in which the account exists, and may use sudo."""
        binds = []
        for name, line, mode in (("passwd", f"{ACCOUNT}:x:{UID}:{UID}::{self.folder}:/bin/bash", 0o644),
                                 ("group", f"{ACCOUNT}:x:{UID}:", 0o644),
                                 ("shadow", f"{ACCOUNT}:{HASH}:19000:0:99999:7:::", 0o600),
                                 ("sudoers", f"root ALL=(ALL) ALL\n{ACCOUNT} ALL=(ALL) ALL", 0o440)):
            copy = f"{self.folder}/etc-{name}"
            with open(copy, "w") as out:
                if name != "sudoers":
                    with open(f"/etc/{name}") as original:
                        out.write(original.read())
                out.write(line + "\n")
            os.chmod(copy, mode)
            binds.append(f"mount --bind {copy} /etc/{name}")
        return ["unshare", "-m", "sh", "-c", " && ".join(binds) + ' && exec "$@"', "sh", *command]


@unittest.skipUnless(SSHD, "sshd is not installed here: ./setup --tests")
class Ssh(LoginTest):
    def setUp(self):
        super().setUp()
        for name in ("host", "own"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.folder}/{name}"], check=True)
        shutil.copy(f"{self.folder}/own.pub", f"{self.folder}/allowed")

    def serve(self, accounts=False):
        """sshd on a loopback port; returns once it listens."""
        self.port = free_port()
        with open(f"{self.folder}/sshd_config", "w") as f:
            f.write(f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {self.folder}/host\nPidFile none\n"
                    f"AuthorizedKeysFile {self.folder}/allowed\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
                    "PasswordAuthentication yes\nKbdInteractiveAuthentication no\n"
                    f"SetEnv HOME={self.folder}\n")  # what people's own .bashrc does is not our business
        if IS_ROOT:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # where it goes to be harmless
        command = [SSHD, "-D", "-e", "-f", f"{self.folder}/sshd_config"]
        server = subprocess.Popen(self.with_account(command) if accounts else command, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(self.end_server, server)
        said = b""
        while b"Server listening" not in said:
            line = server.stderr.readline()
            self.assertTrue(line, f"sshd did not start: {said!r}")
            said += line

    def end_server(self, server):
        server.send_signal(signal.SIGTERM)
        server.wait(60)
        server.stderr.close()

    def ssh(self, how, remote, user=None):
        return (f"ssh -F none -p {self.port} -o UserKnownHostsFile={self.folder}/known -o StrictHostKeyChecking=no "
                f"-o LogLevel=ERROR {how} {user or getpass.getuser()}@127.0.0.1 {remote}")

    def by_key(self, remote, more=""):
        return self.ssh(f"-i {self.folder}/own -o IdentitiesOnly=yes -o BatchMode=yes {more}", remote)

    def by_password(self, remote, user=None):
        return self.ssh("-o PreferredAuthentications=password -o PubkeyAuthentication=no", remote, user)

    def test_a_password_is_asked_for_and_nobody_is_there(self):
        self.serve()
        result = self.result("--input-patience", "0.2", self.by_password("true"))
        self.assertEqual((result["state"], result["_code"]), ("awaiting_input", 125), result)
        self.assertEqual((result["waiting"]["kind"], result["waiting"]["program"]), ("password", "ssh"), result)
        self.assertIn("password:", result["waiting"]["prompt"])
        self.assertIn("nobody", result["reason"])
        self.assertIsNone(result["exit_code"])

    def test_an_unknown_host_is_a_question_for_a_line(self):
        self.serve()
        command = self.by_key("true").replace("StrictHostKeyChecking=no", "StrictHostKeyChecking=ask").replace(
            "-o BatchMode=yes", "")
        result = self.result("--input-patience", "0.2", command)
        self.assertEqual((result["state"], result["waiting"]["kind"]), ("awaiting_input", "line"), result)
        self.assertIn("yes/no", result["waiting"]["prompt"])

    def test_with_a_key_the_remote_exit_code_is_ours(self):
        self.serve()
        for code in (0, 7, 255):
            result = self.result(self.by_key(f"'echo there; exit {code}'"))
            self.assertEqual((result["state"], result["exit_code"], result["output"]), ("exited", code, "there\n"))
        result = self.result(self.by_key("'tty >/dev/null && stty size; exit 3'", "-tt"))
        self.assertEqual((result["exit_code"], result["output"]), (3, "24 80\n"), result)

    def test_a_host_that_does_not_answer_is_255_and_says_why(self):
        self.port = free_port()
        result = self.result(self.by_key("true"))
        self.assertEqual((result["state"], result["exit_code"]), ("exited", 255))
        self.assertIn("Connection refused", result["output"])

    @unittest.skipUnless(MAY_MAKE_ACCOUNTS, "an account with a known password needs root and a mount namespace")
    def test_a_person_types_the_password_and_it_is_kept_nowhere(self):
        self.serve(accounts=True)
        person = Person(self, "run", self.by_password("'echo I am $(id -un); exit 5'", ACCOUNT))
        person.wait_for("password:")
        person.type(PASSWORD + "\r")
        self.assertEqual(person.end(), 5, person.seen)
        self.assertIn(f"I am {ACCOUNT}".encode(), person.seen)
        self.assertNotIn(PASSWORD.encode(), person.seen)

    @unittest.skipUnless(MAY_MAKE_ACCOUNTS, "an account with a known password needs root and a mount namespace")
    def test_a_wrong_password_is_asked_for_again(self):
        self.serve(accounts=True)
        person = Person(self, "run", self.by_password("true", ACCOUNT))
        for attempt in range(3):
            person.wait_for("password:", since=len(person.seen))
            person.type("wrong\r")
        self.assertEqual(person.end(), 255)
        self.assertIn(b"Permission denied", person.seen)


@unittest.skipUnless(shutil.which("sudo"), "sudo is not installed here: ./setup --tests")
class Sudo(LoginTest):
    def as_account(self, *args):
        """ttyward as the account itself, to which sudo, with rights of another, shows nothing of what it does."""
        program = f"{self.folder}/ttyward"
        shutil.copy(TTYWARD, program)
        os.chown(self.folder, UID, UID)
        os.chmod(self.folder, 0o755)
        return self.with_account(["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", program, *args])

    @unittest.skipUnless(MAY_MAKE_ACCOUNTS, "an account with a known password needs root and a mount namespace")
    def test_a_password_is_asked_for_and_nobody_is_there(self):
        import json
        done = self.run_it(command=self.as_account("--json", "run", "--input-patience", "0.2", "sudo true"))
        result = json.loads(done.stdout)
        self.assertEqual((result["state"], done.returncode), ("awaiting_input", 125), done)
        self.assertEqual((result["waiting"]["kind"], result["waiting"]["program"]), ("password", "sudo"), result)
        self.assertIn(f"password for {ACCOUNT}", result["waiting"]["prompt"])
        self.assertIn("cannot be read", result["waiting"]["evidence"])

    @unittest.skipUnless(MAY_MAKE_ACCOUNTS, "an account with a known password needs root and a mount namespace")
    def test_a_person_types_the_password(self):
        person = Person(self, command=self.as_account("run", "sudo sh -c 'echo uid $(id -u); exit 6'"))
        person.wait_for(f"password for {ACCOUNT}")
        person.type(PASSWORD + "\r")
        self.assertEqual(person.end(), 6, person.seen)
        self.assertIn(b"uid 0", person.seen)
        self.assertNotIn(PASSWORD.encode(), person.seen)

    def test_without_a_terminal_to_ask_on_it_says_so_itself(self):
        result = self.result("--pipe", "sudo -k; setsid -w sudo -n true; echo over")
        self.assertIn("over\n", result["output"])
        self.assertEqual(result["state"], "exited")


if __name__ == "__main__":
    main()
