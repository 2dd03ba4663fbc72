// What the tests of the panel share: a home of their own with its daemon, agents and people on its socket, a panel, and
// one browser. Waits are for content and states; PATIENCE is only where a test gives up.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { after, before } from 'node:test';

const require = createRequire(new URL('../../panel/package.json', import.meta.url));
const { chromium } = require('playwright-core');

export const PATIENCE = Number(process.env.TTYWARD_TEST_PATIENCE ?? 60) * 1000;
const TTYWARD = process.env.TTYWARD;

export async function eventually(holds, what) {
  const giveUp = Date.now() + PATIENCE;
  for (;;) {
    const found = await holds();
    if (found) return found;
    if (Date.now() > giveUp) throw new Error(`${what ?? holds} never came true`);
    await new Promise((resolve) => setTimeout(resolve, 25)); // spares the processor
  }
}

export function inTime(promise, what) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${what}: no end in sight`)), PATIENCE); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// A connection to the daemon's socket.
export class Socket {
  static async open(home, role, more = {}) {
    const made = new Socket();
    made.socket = net.connect(path.join(home, 'run', 'daemon.sock'));
    made.socket.on('error', () => {});
    made.calls = new Map();
    made.last = 0;
    const welcome = new Promise((resolve, reject) => { made.welcomed = resolve; made.refused = reject; });
    readline.createInterface({ input: made.socket }).on('line', (line) => made.take(JSON.parse(line)));
    made.socket.write(JSON.stringify({ hello: { protocol: 1, role, client: `test ${role}`, ...more } }) + '\n');
    made.welcome = await welcome;
    return made;
  }
  take(message) {
    if (message.welcome) return this.welcomed(message.welcome);
    const open = this.calls.get(message.id);
    if (!open) return message.error && this.refused(new Error(message.error.message));
    if (message.part) return open.part?.(message.part);
    this.calls.delete(message.id);
    message.error ? open.reject(Object.assign(new Error(message.error.message), message.error)) : open.resolve(message.ok);
  }
  call(name, args = {}, part) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve, reject, part });
      this.socket.write(JSON.stringify({ id, call: name, args }) + '\n');
    });
  }
  close() {
    this.socket.destroy();
  }
}

export class Home {
  // `program`: another ttyward than the one under test.
  constructor(program = TTYWARD) {
    this.program = program;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'panel-'));
    this.home = path.join(this.folder, 'h');
    this.work = path.join(this.folder, 'shop');
    fs.mkdirSync(path.join(this.home, 'state'), { recursive: true, mode: 0o700 });
    fs.chmodSync(this.home, 0o700);
    fs.mkdirSync(this.work);
    const tokenFile = path.join(this.home, 'state', 'person-token');
    this.token = randomBytes(32).toString('hex');
    fs.writeFileSync(tokenFile, this.token + '\n', { mode: 0o600 });
    const { PATH, LANG, ASAN_OPTIONS, UBSAN_OPTIONS } = process.env;
    this.environment = {
      PATH, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', SHELL: '/bin/bash', HOME: this.folder, TTYWARD_HOME: this.home, TTYWARD_PERSON_TOKEN_FILE: tokenFile, PS1: '$ ',
      ...(LANG ? { LANG } : {}), ...(ASAN_OPTIONS ? { ASAN_OPTIONS } : {}), ...(UBSAN_OPTIONS ? { UBSAN_OPTIONS } : {}),
    };
    this.children = [];
  }

  run(...args) {
    const done = spawnSync(this.program, args, { env: this.environment, cwd: this.work, encoding: 'utf8', timeout: PATIENCE });
    return { code: done.status, out: done.stdout, err: done.stderr };
  }
  async begin() {
    this.run('ls');
    this.person = await Socket.open(this.home, 'person', { token: this.token });
    this.agent = await Socket.open(this.home, 'agent', { client: 'codex', session: 'shop', secret: 'a secret of sixteen characters' });
  }
  // An agent's terminal in the work folder.
  async open(name, more = {}) {
    const { terminal } = await this.agent.call('open', { name, cwd: this.work, ...more });
    return terminal.id;
  }
  // A command of an agent's that needs an answer: the question's id, and the promise of the command's result.
  async ask(terminal, command, agent = this.agent) {
    let asked;
    const opened = new Promise((resolve) => { asked = resolve; });
    const result = inTime(agent.call('exec', { terminal, command, stream: true, yield_after_ms: 0, on_busy: 'wait' }, (part) => part.approval && asked(part.approval)), command);
    result.catch(() => {});
    return { id: await inTime(opened, `a question about ${command}`), result };
  }
  daemonPid() {
    return Number(fs.readFileSync(path.join(this.home, 'state', 'daemon.lock'), 'utf8').split('\n')[1]);
  }

  start(...args) {
    const child = spawn(this.program, args, { env: this.environment, cwd: this.work, stdio: ['ignore', 'pipe', 'pipe'] });
    this.children.push(child);
    return child;
  }
  async panel(...args) {
    const child = this.start('panel', ...args);
    let said = '';
    child.stderr.on('data', (data) => { said += data; });
    const link = await new Promise((resolve, reject) => {
      readline.createInterface({ input: child.stdout }).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`the panel ended with ${code}: ${said}`)));
    });
    return { child, link, origin: new URL(link).origin, port: Number(new URL(link).port), said: () => said };
  }

  async end() {
    this.agent?.close();
    this.person?.close();
    for (const child of this.children) child.kill('SIGKILL');
    this.run('daemon', 'stop', '--kill-terminals');
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

// One browser. Whatever a page complains about fails the test.
export class Browser {
  static async start(more = []) {
    const made = new Browser();
    made.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM, args: ['--disable-dev-shm-usage', '--no-sandbox', ...(process.env.PANEL_DIST ? ['--disable-features=LocalNetworkAccessChecks'] : []), ...more],
    });
    made.complaints = [];
    return made;
  }
  async page(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    page.on('websocket', (socket) => { page.socket = socket; });
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
    });
    // While the page is being written: PANEL_DIST serves another build of it than the program has.
    const dist = process.env.PANEL_DIST;
    if (dist) {
      await page.route('**/*', async (route) => {
        const file = path.join(dist, new URL(route.request().url()).pathname);
        if (route.request().resourceType() === 'document') {
          const answer = await route.fetch();
          const nonce = /'nonce-([^']+)'/.exec(answer.headers()['content-security-policy'] ?? '')?.[1];
          if (!nonce) return route.fulfill({ response: answer });
          return route.fulfill({ response: answer, body: fs.readFileSync(path.join(dist, 'index.html'), 'utf8').replaceAll('{{nonce}}', nonce) });
        }
        if (file.startsWith(path.join(dist, 'assets')) && fs.existsSync(file)) return route.fulfill({ path: file });
        return route.continue();
      });
    }
    page.on('console', (message) => {
      // A connection that was refused or lost is said by the browser itself.
      if (message.type() === 'error' && !/WebSocket connection to|ERR_CONNECTION|Failed to load resource/.test(message.text())) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(String(error.stack ?? error)));
    return page;
  }
  // Another page of the same person, in a browser of its own.
  async another(page, options = {}) {
    return this.page({ storageState: await page.context().storageState(), ...options });
  }
  async end() {
    await this.browser.close();
    if (this.complaints.length > 0) throw new Error(`the page complained:\n${this.complaints.join('\n')}`);
  }
}

// A home, a panel and a browser for the tests of a file. `prepare` gets the home before there is a panel; `fill` gets all
// of them, with a page that is signed in.
export function stage({ prepare, panel: args = () => [], browser: options = [] }, fill) {
  let home, browser;
  before(async () => {
    home = new Home();
    await home.begin();
    await prepare?.(home);
    const panel = await home.panel(...(await args()));
    browser = await Browser.start(options);
    const page = await browser.page();
    await page.goto(panel.link);
    await page.getByText('Nothing waits for you').waitFor();
    await fill({ home, browser, panel, page });
  });
  after(async () => {
    await home.end();
    await browser?.end();
  });
}

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

export async function takeKeyboard(page) {
  await page.getByRole('button', { name: 'Take the keyboard' }).click();
  await page.locator('.lease', { hasText: 'You have the keyboard.' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('.xterm') !== null);
}
export async function giveBack(page) {
  await page.keyboard.press('F6');
  await page.getByRole('button', { name: /Give back/ }).click();
  await page.getByRole('button', { name: 'Take the keyboard' }).waitFor();
}

// What goes over the page's connection from now on.
export function traffic(page) {
  const seen = { sent: [], received: [] };
  page.socket.on('framesent', ({ payload }) => seen.sent.push(payload));
  page.socket.on('framereceived', ({ payload }) => seen.received.push(payload));
  return seen;
}
// The next message to the page that begins like this. Ask for it before what causes it.
export function received(page, beginning) {
  return page.socket.waitForEvent('framereceived', { predicate: ({ payload }) => String(payload).startsWith(beginning), timeout: PATIENCE });
}

// The rows of the large terminal as text, without blanks at their ends.
export function rowsOf(page) {
  return page.$$eval('.xterm-rows > div', (rows) => rows.map((row) => row.textContent.replace(/\u00a0/g, ' ').trimEnd()));
}

async function screenRows(home, terminal) {
  const { content } = await home.person.call('screen', { terminal, format: 'json' }); // as text, wrapped rows are one
  return JSON.parse(content).lines.map((row) => row.segments.map((each) => each.text).join('').trimEnd());
}

// The page shows the text that the daemon has on the terminal's screen.
export async function sameScreen(home, page, terminal, what) {
  let shown, real;
  await eventually(async () => {
    [shown, real] = [await rowsOf(page), await screenRows(home, terminal)];
    return shown.length > 0 && shown.join('\n') === real.join('\n');
  }, what).catch(() => assert.deepEqual(shown, real, what));
}
