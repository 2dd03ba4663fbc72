// The built extension with a stand-in for VS Code's API, against the real daemon: lists, attaching, answering, notifications, the page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fakeVscode } from "./fake_vscode.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const built = join(root, "extension/vscode/dist/extension.js");
if (!existsSync(built)) {
  console.log("skipped: tools/build_extension.sh has not built the extension");
  process.exit(3);
}
const manifest = JSON.parse(readFileSync(join(root, "extension/vscode/package.json"), "utf8"));
const { Client } = await import(pathToFileURL(join(root, "sdk/typescript/src/index.js")));
const require = createRequire(import.meta.url);
const program = process.env.TTYWARD;
const cases = [];
const test = (name, body) => cases.push([name, body]);

async function eventually(check, what) {
  for (const giveUp = Date.now() + 60_000; Date.now() < giveUp; await pause(20)) {
    const found = await check();
    if (found) return found;
  }
  return assert.fail(`never: ${what}`);
}

test("without a token there is no terminal to see, and no answer to give", async ({ start, connect, work }) => {
  const person = await connect("person");
  const agent = await connect("agent");
  await person.open({ name: "build", cwd: work });
  const editor = await start({ personTokenFile: "" });
  await eventually(() => editor.extension.model.health.state === "connected", "a connection");
  await editor.run("panel");
  editor.shown.pages[0].click("ready", "");
  await eventually(() => editor.shown.pages[0].sent.at(-1)?.questions.includes("set ttyward.personTokenFile"), "what to do");
  const asked = agent.run({ command: "rm -rf dist", cwd: work });
  asked.catch(() => {}); // it ends with the client
  const { value: question } = await (await person.questions()).next();
  assert.deepEqual(editor.items("ttyward.terminals"), []);
  await editor.run("deny", question);
  assert.match(editor.shown.errors[0].text, /^ttyward: the answer did not count: /);
  assert.deepEqual(editor.shown.messages, []);
});

test("watching shows the terminal in its own size and types nothing", async ({ start, connect, work }) => {
  const person = await connect("person");
  const { terminal } = await person.open({ name: "build", cwd: work, size: { cols: 70, rows: 20 } });
  await person.exec({ terminal: terminal.id, command: "echo $((6 * 7))" });
  const editor = await start();
  const [item] = await eventually(() => editor.items("ttyward.terminals")[0] && editor.items("ttyward.terminals"), "the terminal");
  assert.deepEqual([item.label, item.description, item.contextValue], ["build", "idle · echo $((6 * 7))", "terminal"]);
  const shown = await editor.run("watch", item.each);
  await eventually(() => shown.printed.includes("42"), "the screen");
  assert.deepEqual(shown.sizes.at(-1), { columns: 70, rows: 20 });
  shown.pty.handleInput("x");
  assert.match(editor.shown.messages[0].text, /you only watch it/);
  assert.equal((await person.list()).terminals[0].lease, null);
  await person.kill({ terminal: terminal.id });
  await eventually(() => shown.closed, "the end of the tab");
});

test("a notification allows and denies; critical commands want the word", async ({ start, connect, work }) => {
  const agent = await connect("agent");
  const editor = await start();
  await eventually(() => editor.extension.model.person, "a connection");
  editor.person.message = (text) => (text.includes("touch one") ? "Allow once" : text.includes("touch two") ? "Deny" : undefined);
  assert.equal((await agent.run({ command: "touch one", cwd: work })).exit_code, 0);
  assert.equal((await agent.run({ command: "touch two", cwd: work })).state, "denied");
  assert.deepEqual([existsSync(join(work, "one")), existsSync(join(work, "two"))], [true, false]);
  mkdirSync(join(work, "dist"));
  const critical = agent.run({ command: "rm -rf dist", cwd: work });
  critical.catch(() => {});
  const question = await eventually(() => editor.items("ttyward.questions").find((each) => each.label === "rm -rf dist"), "a question");
  assert.deepEqual([question.label, question.description, question.contextValue], ["rm -rf dist", "critical risk", "question-critical"]);
  await eventually(() => editor.shown.messages.length === 3, "the notification");
  assert.deepEqual(editor.shown.messages[2].choices, ["Deny", "More…"]);
  await eventually(() => editor.shown.badge.badge?.value === 1, "one question");
  editor.person.input = () => "yes";
  await editor.run("allow", question.each);
  assert.equal(editor.items("ttyward.questions").length, 1);
  editor.person.input = () => "allow";
  await editor.run("allow", question.each);
  assert.equal((await critical).exit_code, 0);
  assert.equal(existsSync(join(work, "dist")), false);
  await eventually(() => editor.shown.badge.badge === undefined, "no question");
});

test("all answers, and a reason that the agent is told", async ({ start, connect, work }) => {
  const agent = await connect("agent");
  const editor = await start({ notify: false });
  await eventually(() => editor.extension.model.person, "a connection");
  const asked = agent.run({ command: "touch three", cwd: work });
  await eventually(() => editor.items("ttyward.questions").length === 1, "a question");
  assert.deepEqual(editor.shown.messages, []);
  let offered = [];
  editor.person.pick = (items, { title }) => {
    if (title === "Which question?") return items[0].label;
    offered = items.map((item) => item.label);
    return "Deny, and say why";
  };
  editor.person.input = () => "not in this folder";
  await editor.run("answer");
  const result = await asked;
  assert.equal(result.state, "denied");
  assert.match(JSON.stringify(result), /not in this folder/);
  assert.deepEqual(offered, ["Deny", "Deny, and say why", "Skip", "Allow once", "Allow for this session", "Always allow"]);
});

test("attaching types, resizes, survives the daemon, and closing gives the keyboard back", async ({ start, connect, work }) => {
  const person = await connect("person");
  const { terminal } = await person.open({ name: "build", cwd: work });
  const editor = await start();
  await eventually(() => editor.items("ttyward.terminals").length === 1, "the terminal");
  const shown = await editor.run("attach", editor.items("ttyward.terminals")[0].each);
  const now = async () => (await person.list()).terminals.find((each) => each.id === terminal.id);
  await eventually(async () => (await now()).lease !== null && (await now()).cols === 80, "the keyboard");
  shown.pty.handleInput("echo $((6 * 7))\r");
  await eventually(() => shown.printed.includes("42"), "the output");
  shown.pty.setDimensions({ columns: 100, rows: 30 });
  await eventually(async () => (await now()).cols === 100, "the new size");
  const { pid } = await person.status();
  process.kill(pid, "SIGKILL");
  await eventually(async () => (await person.status().catch(() => ({ pid }))).pid !== pid, "the next daemon");
  await eventually(async () => (await now())?.lease, "the keyboard again");
  shown.pty.handleInput("echo $((7 * 8))\r");
  await eventually(() => shown.printed.includes("56"), "output after the daemon was killed");
  shown.pty.close();
  await eventually(async () => (await now()).lease === null, "the keyboard given back");
  await person.kill({ terminal: terminal.id });
  await eventually(() => editor.items("ttyward.terminals").length === 0, "no terminal");
});

test("the page shows what is asked, escaped, and its buttons answer", async ({ start, connect, work }) => {
  const agent = await connect("agent");
  const editor = await start({ notify: false });
  await eventually(() => editor.extension.model.person, "a connection");
  await editor.run("panel");
  const [page] = editor.shown.pages;
  assert.match(page.webview.html, /Content-Security-Policy" content="default-src 'none'; style-src 'nonce-[0-9a-f]{32}'; script-src 'nonce-[0-9a-f]{32}'"/);
  page.click("ready", "");
  await eventually(() => page.sent.at(-1)?.questions.includes("No agent asks anything."), "an empty page");
  const asked = agent.run({ command: "touch '<img src=x>'", cwd: work });
  await eventually(() => page.sent.at(-1).questions.includes("touch"), "the question");
  assert.ok(page.sent.at(-1).questions.includes("&lt;img src=x&gt;") && !page.sent.at(-1).questions.includes("<img"));
  page.click("allow", /data-action="allow" data-id="([^"]+)"/.exec(page.sent.at(-1).questions)[1]);
  assert.equal((await asked).exit_code, 0);
});

test("in a browser, a button counts only after its part has stood still", async ({ start, connect, work, folder }) => {
  if (!process.env.CHROMIUM) return console.log("skipped: needs chromium");
  const person = await connect("person");
  const agent = await connect("agent");
  await person.open({ name: "build", cwd: work });
  const editor = await start({ notify: false });
  agent.run({ command: "rm -rf dist", cwd: work }).catch(() => {}); // it ends with the client
  await editor.run("panel");
  const [page] = editor.shown.pages;
  page.click("ready", "");
  const parts = await eventually(() => page.sent.findLast((each) => each.questions.includes("rm -rf") && each.terminals.includes("build")), "both parts");
  const nonce = /nonce-([0-9a-f]+)/.exec(page.webview.html)[1];
  const script = (text) => `<script nonce="${nonce}">${text}</script>`;
  const click = (action, after) => `setTimeout(() => document.querySelector("[data-action=${action}]").click(), ${after});`;
  const first = script("const sent = []; window.acquireVsCodeApi = () => ({ postMessage: ({ action }) => { sent.push(action); document.title = sent.join(); } });");
  const last = script(`window.postMessage(${JSON.stringify(parts).replaceAll("<", "\\u003c")}, "*"); ${click("allow", 100)} ${click("deny", 1000)} ${click("watch", 1100)}`);
  const file = join(folder, "page.html");
  writeFileSync(file, page.webview.html.replace("<body>", `<body>${first}`).replace("</body>", `${last}</body>`));
  const printed = execFileSync(process.env.CHROMIUM, ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${folder}/browser`,
    "--virtual-time-budget=3000", "--dump-dom", `file://${file}`], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], timeout: 60_000 });
  assert.equal(/<title>(.*)<\/title>/.exec(printed)[1], "ready,deny,watch");
  return undefined;
});

test("no daemon: it looks for one, starts none by itself, and Connect starts one", async ({ start }) => {
  const editor = await start();
  await eventually(() => editor.extension.model.health.why?.includes("no daemon runs"), "the reason");
  await editor.run("connect");
  assert.equal(editor.extension.model.health.state, "connected");
  assert.deepEqual(editor.shown.errors, []);
});

test("the panel opens in the browser", async ({ start }) => {
  const editor = await start();
  await editor.run("connect");
  await editor.run("browser");
  assert.deepEqual(editor.shown.errors, []);
  assert.match(editor.shown.opened[0], /^http:\/\/127\.0\.0\.1:\d+\/#t=[0-9a-f]+$/);
});

test("every command of the manifest is there", async ({ start }) => {
  const editor = await start();
  assert.deepEqual([...editor.commands.keys()].sort(), manifest.contributes.commands.map(({ command }) => command).sort());
});

let failed = 0;
for (const [name, body] of cases) {
  const folder = mkdtempSync("/tmp/ttyward-extension-");
  const home = join(folder, "home");
  const work = join(folder, "work");
  mkdirSync(work);
  mkdirSync(join(home, "state"), { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  const token = join(home, "state/person-token");
  writeFileSync(token, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
  Object.assign(process.env, { TTYWARD_HOME: home, HOME: folder, SHELL: "/bin/bash" });
  delete process.env.TTYWARD_PERSON_TOKEN_FILE;
  const ends = [];
  const connect = async (role) => {
    const secret = role === "person" ? readFileSync(token, "utf8").trim() : undefined;
    const client = await Client.connect({ role, name: `test ${role}`, program, token: secret });
    ends.unshift(() => client.close());
    return client;
  };
  const start = async (settings = {}) => {
    const editor = fakeVscode({ program, personTokenFile: token, ...settings });
    const load = Module._load;
    Module._load = (request, ...rest) => (request === "vscode" ? editor.api : load(request, ...rest));
    delete require.cache[built];
    const { activate } = require(built);
    Module._load = load;
    const context = { subscriptions: [] };
    editor.extension = activate(context);
    ends.unshift(() => editor.extension.dispose());
    return editor;
  };
  try {
    await Promise.race([body({ start, connect, work, folder }), pause(120_000).then(() => assert.fail("too slow"))]);
    console.log(`ok ${name}`);
  } catch (error) {
    failed = 1;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
  for (const end of ends) await end();
  try {
    execFileSync(program, ["daemon", "stop", "--kill-terminals"], { env: { ...process.env, TTYWARD_PERSON_TOKEN_FILE: token }, stdio: "ignore" });
  } catch {
    // none runs
  }
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed);
