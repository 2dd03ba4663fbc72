"""Getting onto the bus: tokens, NKeys, TLS with certificates, permissions; and the demo."""
import json
import os
import subprocess
import unittest

import harness
from harness import FleetTest, eventually


class Access(FleetTest):
    def secret(self, name, text):
        path = f"{self.folder}/{name}"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write(text + "\n")
        return path

    def test_token(self):
        token = "t" * 40
        self.server(more=f'authorization {{ token: "{token}" }}')
        right = self.secret("token", token)
        wrong = self.secret("wrong", "w" * 40)
        self.environment["TTYWARD_FLEET_TOKEN_FILE"] = right
        self.host("one").ready()
        self.assertEqual(self.fleet("run", "echo hi").stdout, "hi\n")
        for environment in ({"TTYWARD_FLEET_TOKEN_FILE": wrong}, {"TTYWARD_FLEET_TOKEN_FILE": ""}):
            refused = self.fleet("run", "echo hi", environment=environment)
            self.assertEqual((refused.returncode, refused.stdout), (125, ""), refused)
        barred = self.host("two", environment={"TTYWARD_FLEET_TOKEN_FILE": wrong})
        self.assertEqual(barred.worker.wait(harness.PATIENCE), 125)
        self.assertIn("does not take these credentials", barred.said())
        os.chmod(right, 0o644)
        self.assertIn("0600", self.fleet("ls").stderr)

    def test_nkeys_and_permissions(self):
        """An agent can submit and read, and not answer; the key of nobody is refused."""
        keys = {}
        for name in ("worker", "agent", "nobody"):
            path = f"{self.folder}/{name}.nk"
            made = subprocess.run([harness.TTYWARD, "fleet", "key", path], capture_output=True, text=True)
            self.assertEqual(made.returncode, 0, made)
            keys[name] = (path, made.stdout.strip())
            self.assertRegex(keys[name][1], "^U[A-Z2-7]{55}$")
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.server(more=f'''authorization {{ users: [
          {{ nkey: {keys["worker"][1]} }},
          {{ nkey: {keys["agent"][1]}, permissions: {{
              publish: {{ allow: ["tw1.cmd.>", "tw1.req.*.read", "tw1.req.*.result", "$JS.API.>", "_INBOX.>"], deny: ["tw1.ans.>", "$KV.>"] }} }} }}
        ] }}''')
        as_who = {name: {"TTYWARD_FLEET_NKEY_FILE": path} for name, (path, _) in keys.items()}
        host = self.host("one", environment=as_who["worker"], settings='[policy]\nmode = "default"\n')
        eventually(lambda: self.fleet("ls", environment=as_who["agent"]).stdout.count("one"), "the worker")
        self.assertEqual(self.fleet("run", "echo hi", environment=as_who["agent"]).stdout, "hi\n")
        asking = self.start("run", f"touch {self.folder}/marker", environment=as_who["agent"])
        questions = eventually(lambda: json.loads(self.fleet("approvals", "--json", environment=as_who["worker"]).stdout)["questions"])
        question = questions[0]["approval"]["id"]
        # Even with the right person's key: this user of the bus may not publish answers.
        barred = self.fleet("approvals", "allow", question, "--person-key", host.token, environment=as_who["agent"])
        self.assertNotEqual(barred.returncode, 0)
        self.assertFalse(os.path.exists(self.folder + "/marker"))
        allowed = self.fleet("approvals", "allow", question, "--person-key", host.token, environment=as_who["worker"])
        self.assertEqual(allowed.returncode, 0, allowed)
        self.assertEqual(self.finish(asking)[0], 0)
        self.assertEqual(self.fleet("ls", environment=as_who["nobody"]).returncode, 125)
        self.assertEqual(self.fleet("ls").returncode, 125)

    def test_tls(self):
        def openssl(*args):
            subprocess.run(["openssl", *args], check=True, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in ("ca", "other"):
            openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
        for name in ("server", "client"):
            openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
            with open(f"{self.folder}/ext", "w") as f:
                f.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
            openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-out", f"{name}.pem",
                    "-extfile", "ext")
        server = self.server(more=f'''tls {{ cert_file: "{self.folder}/server.pem", key_file: "{self.folder}/server.key",
          ca_file: "{self.folder}/ca.pem", verify: true }}''')
        self.url = f"tls://localhost:{server.port}"
        right = {"TTYWARD_FLEET_TLS_CA": self.folder + "/ca.pem", "TTYWARD_FLEET_TLS_CERT": self.folder + "/client.pem",
                 "TTYWARD_FLEET_TLS_KEY": self.folder + "/client.key"}
        self.environment |= right
        self.host("one").ready()
        self.assertEqual(self.fleet("run", "echo hi").stdout, "hi\n")
        # A server that the caller has no reason to trust, and a caller without a certificate.
        self.assertEqual(self.fleet("ls", environment={"TTYWARD_FLEET_TLS_CA": self.folder + "/other.pem"}).returncode, 125)
        self.assertEqual(self.fleet("ls", environment={"TTYWARD_FLEET_TLS_CERT": "", "TTYWARD_FLEET_TLS_KEY": ""}).returncode, 125)

    def test_demo(self):
        done = subprocess.run([harness.TTYWARD, "fleet", "demo", "--", "sh", "-c",
                               f"{harness.TTYWARD} fleet ls --json && {harness.TTYWARD} fleet batch --json 'sleep 0.3' 'sleep 0.3' 'sleep 0.3' 'sleep 0.3'"],
                              env=self.environment, capture_output=True, text=True, timeout=harness.PATIENCE * 3, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done)
        first, *records = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([h["host"] for h in first["hosts"]], ["demo-1", "demo-2", "demo-3"])
        self.assertEqual([r["state"] for r in records], ["exited"] * 4)
        self.assertFalse([p for p in os.listdir("/proc") if p.isdigit() and "ttyward-fleet-demo" in self.arguments(p)], "all ended")

    @staticmethod
    def arguments(pid):
        try:
            with open(f"/proc/{pid}/cmdline") as f:
                return f.read()
        except OSError:
            return ""


if __name__ == "__main__":
    unittest.main(verbosity=2)
