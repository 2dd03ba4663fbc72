"""`workspace+net` with a list of hosts: what is on it is reached through the proxy, everything else is refused and named."""
import http.server
import json
import os
import subprocess
import threading

from harness import PATIENCE, TTYWARD, RunTest, main

ASK = ("exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://{host}/hello HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3")


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"you asked for {self.path} of {self.headers['Host']}\n".encode())

    def log_message(self, *args):
        pass


class Proxy(RunTest):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.port = self.server.server_address[1]
        self.work = self.folder + "/ws"
        os.mkdir(self.work)
        os.makedirs(self.home + "/config", mode=0o700)
        os.chmod(self.home, 0o700)
        with open(self.home + "/config/config.toml", "w") as f:
            f.write(f'[sandbox]\nhosts = ["localhost:{self.port}", "example.invalid"]\n')

    def confined(self, command):
        done = subprocess.run([TTYWARD, "--json", "run", "--sandbox", "workspace+net", command], env=self.environment,
                              cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=PATIENCE)
        if not done.stdout:
            self.skipTest(done.stderr.decode())
        return json.loads(done.stdout)

    def test_a_listed_host_is_reached(self):
        result = self.confined(ASK.format(host=f"localhost:{self.port}"))
        self.assertIn(f"you asked for /hello of localhost:{self.port}", result["output"], result)
        self.assertNotIn("denied", result["sandbox"])

    def test_others_are_refused_and_named(self):
        result = self.confined(ASK.format(host="evil.example") + "; " + ASK.format(host="127.0.0.1:1"))
        self.assertIn("403 Forbidden", result["output"])
        self.assertEqual(result["sandbox"]["denied"], ["network evil.example:80 (the host is not allowed)",
                                                       "network 127.0.0.1:1 (the host is not allowed)"])

    def test_there_is_no_way_around_it(self):
        result = self.confined(f"exec 3<>/dev/tcp/127.0.0.1/{self.port} && echo reached")
        self.assertNotIn("reached", result["output"])

    def test_programs_are_told_of_it(self):
        output = self.confined("echo $http_proxy $HTTPS_PROXY $npm_config_proxy")["output"]
        self.assertEqual(output, "http://127.0.0.1:3128 http://127.0.0.1:3128 http://127.0.0.1:3128\n")

    def test_no_socket_is_left(self):
        self.confined("true")
        self.assertEqual(os.listdir(self.home + "/run/proxies"), [])


if __name__ == "__main__":
    main()
