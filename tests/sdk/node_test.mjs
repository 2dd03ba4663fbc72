// The TypeScript client against the real daemon: calls, streams, events, questions, and a daemon that is killed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync, chmodSync, existsSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

const here = dirname(fileURLToPath(import.meta.url));
const sdk = join(here, "../../sdk/typescript");
const { Client, ConnectionLost, DaemonError } = await import(pathToFileURL(join(sdk, "src/index.js")));
const program = process.env.TTYWARD;
const cases = [];
const test = (name, body) => cases.push([name, body]);
const lives = (pid) => existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));

async function eventually(check, what) {
  for (const giveUp = Date.now() + 60_000; Date.now() < giveUp; await pause(20)) {
    if (await check()) return;
  }
  assert.fail(`never: ${what}`);
}

async function kill(pid) {
  process.kill(pid, "SIGKILL");
  await eventually(() => !lives(pid), "the end of the daemon");
}

test("runs a command and starts the daemon for it", async ({ connect, work }) => {
  const client = await connect();
  const result = await client.run({ command: "echo hello; exit 3", cwd: work });
  assert.deepEqual([result.exit_code, result.output, result.state], [3, "hello\n", "exited"]);
  assert.equal(client.welcome.role, "agent");
});

test("errors have the code of the protocol", async ({ connect }) => {
  const client = await connect();
  await assert.rejects(client.exec({ terminal: "nowhere", command: "true" }), (error) => error instanceof DaemonError && error.code === "not_found");
});

test("a stream gives output, then the result", async ({ connect, work }) => {
  const client = await connect({ role: "person" });
  const { terminal } = await client.open({ cwd: work });
  const stream = client.execStream({ terminal: terminal.id, command: "echo one; sleep 0.3; echo two; (exit 4)" });
  let text = "";
  for await (const part of stream) text += part.output ?? "";
  assert.equal(text, "one\ntwo\n");
  assert.equal((await stream.result).exit_code, 4);
});

test("a signal ends a call, and the command keeps running", async ({ connect, work }) => {
  const client = await connect({ role: "person" });
  const { terminal } = await client.open({ cwd: work });
  const ends = new AbortController();
  const call = client.exec({ terminal: terminal.id, command: "sleep 100" }, { signal: ends.signal });
  await eventually(async () => (await client.list()).terminals[0].state === "busy", "a busy terminal");
  ends.abort();
  await assert.rejects(call, { name: "AbortError" });
  assert.equal((await client.list()).terminals[0].state, "busy");
});

test("events and questions", async ({ connect, work }) => {
  const person = await connect({ role: "person" });
  const agent = await connect({ role: "agent" });
  const events = await person.events({ kinds: ["command_finished"] });
  await person.run({ command: "true", cwd: work });
  const { value } = await events.next();
  assert.deepEqual([value.event, value.result.exit_code], ["command_finished", 0]);
  await events.return();
  const asked = agent.run({ command: "rm -rf build", cwd: work });
  for await (const question of await person.questions()) {
    assert.equal(question.command, "rm -rf build");
    await assert.rejects(agent.answer({ approval: question.id, decision: "allow" }), { code: "permission_denied" });
    await person.answer({ approval: question.id, decision: "deny", reason: "not now" });
    break;
  }
  assert.equal((await asked).state, "denied");
});

test("a command outlives the daemon, and its stream and events go on", async ({ connect, work }) => {
  const client = await connect({ role: "person" });
  const { terminal } = await client.open({ cwd: work, name: "kept" });
  const events = await client.events({ kinds: ["command_finished"] });
  const { pid } = client.welcome;
  const stream = client.execStream({
    terminal: terminal.id,
    command: "echo one; echo x >> runs; while [ ! -e go ]; do sleep 0.05; done; echo two; (exit 5)",
  });
  let text = "";
  for await (const part of stream) {
    text += part.output ?? "";
    if (text === "one\n" && lives(pid)) {
      await kill(pid);
      writeFileSync(join(work, "go"), "");
    }
  }
  assert.deepEqual([text, (await stream.result).exit_code], ["one\ntwo\n", 5]);
  assert.equal(readFileSync(join(work, "runs"), "utf8"), "x\n");
  assert.notEqual((await client.status()).pid, pid);
  let renewed;
  for await (const event of events) {
    if (event.event === "resubscribed") {
      renewed = event.terminals.map((each) => each.name);
      break;
    }
  }
  assert.deepEqual(renewed, ["kept"]);
});

test("an attachment shows the screen, types, and outlives the daemon", async ({ connect, work }) => {
  const client = await connect({ role: "person" });
  const { terminal } = await client.open({ cwd: work });
  const attachment = await client.watch({ terminal: terminal.id, size: { cols: 60, rows: 10 } });
  assert.equal(attachment.terminal.id, terminal.id);
  const rows = new Map();
  let writable = false;
  const until = async (text, fresh = false) => {
    for await (const event of { [Symbol.asyncIterator]: () => ({ next: () => attachment[Symbol.asyncIterator]().next() }) }) {
      if (event.event === "attach_keyboard") writable = event.writable;
      if (event.event !== "attach_screen") continue;
      if (event.screen.reset) rows.clear();
      for (const line of event.screen.lines) rows.set(line.row, line.runs.map((run) => run.text).join(""));
      fresh &&= !event.screen.reset;
      if (!fresh && [...rows.values()].some((row) => row.startsWith(text))) return event.screen;
    }
    return assert.fail(`it ended before ${text}`);
  };
  await attachment.input("echo $((6 * 7)); tput cols\r");
  assert.equal((await until("42")).cols, 60);
  assert.ok(writable);
  await kill(client.welcome.pid);
  writable = false;
  await until("42", true);
  assert.ok(writable);
  await attachment.input("echo $((7 * 8))\r");
  await until("56");
  await attachment.close();
  assert.equal((await client.list()).terminals[0].lease, null);
});

test("a daemon that ends the connection before it answers is not waited for", async ({ home }) => {
  // Takes each connection and ends it at once, as one does that is being killed; the third one is answered.
  mkdirSync(join(home, "run"), { mode: 0o700 });
  let count = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (++count < 3) return socket.destroy();
    return socket.write('{"welcome":{"protocol":1,"version":"0","daemon":"d","pid":1,"role":"person"}}\n');
  });
  await new Promise((resolve) => server.listen(join(home, "run/daemon.sock"), resolve));
  const client = await Client.connect({ role: "person", program: null });
  assert.equal(count, 3);
  await client.close();
  server.close();
});

test("a call that must not be repeated fails with the connection", async ({ connect, work }) => {
  const client = await connect({ role: "person" });
  const { terminal } = await client.open({ cwd: work });
  const { pid } = client.welcome;
  process.kill(pid, "SIGSTOP");
  const typing = client.input({ terminal: terminal.id, text: "x" });
  await Promise.all([assert.rejects(typing, ConnectionLost), kill(pid)]);
  assert.equal((await client.list()).terminals.length, 1);
});

test("a stopped daemon is not started again", async ({ connect, work, environment }) => {
  const client = await connect({ role: "person" });
  const { terminal } = await client.open({ cwd: work });
  const call = client.exec({ terminal: terminal.id, command: "sleep 100" });
  const ended = assert.rejects(call, DaemonError);
  await eventually(async () => (await client.list()).terminals[0].state === "busy", "a busy terminal");
  execFileSync(program, ["daemon", "stop", "--kill-terminals"], { env: environment });
  await ended;
  await assert.rejects(client.list(), { code: "unavailable" });
});

test("the example of the README runs", async ({ work }) => {
  const example = readFileSync(join(sdk, "README.md"), "utf8").split("```js\n")[1].split("```")[0];
  assert.ok(example.split("\n").length <= 13);
  const file = join(work, "example.mjs");
  writeFileSync(file, example.replace('"@ttyward/client"', JSON.stringify(pathToFileURL(join(sdk, "src/index.js")).href)));
  const printed = execFileSync(process.execPath, [file], { cwd: work, env: process.env, encoding: "utf8" });
  assert.match(printed, /exit code 3/);
});

let failed = 0;
for (const [name, body] of cases) {
  const folder = mkdtempSync("/tmp/ttyward-node-");
  const home = join(folder, "home");
  const work = join(folder, "work");
  mkdirSync(work);
  mkdirSync(join(home, "state"), { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  const token = join(home, "state/person-token");
  writeFileSync(token, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
  const environment = { PATH: `${dirname(program)}:${process.env.PATH}`, TTYWARD_HOME: home, HOME: folder, SHELL: "/bin/bash",
    LC_ALL: "C.UTF-8", TTYWARD_PERSON_TOKEN_FILE: token };
  const before = { ...process.env };
  Object.assign(process.env, environment);
  const clients = [];
  const connect = async (options) => {
    clients.push(await Client.connect(options));
    return clients.at(-1);
  };
  try {
    await Promise.race([body({ connect, work, environment, home }), pause(120_000).then(() => assert.fail("too slow"))]);
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${name}\n${error.stack}`);
  }
  for (const client of clients) await client.close();
  try {
    execFileSync(program, ["daemon", "stop", "--kill-terminals"], { env: environment, stdio: "ignore" });
  } catch {
    // none runs
  }
  process.env = before;
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
