// What must not get in, tried with a real browser.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, test } from 'node:test';
import { eventually, stage } from './harness.mjs';

let home, browser, panel, page, elsewhere, seenCookies;

stage({
  prepare: async () => {
    // Another server of this machine, of anybody's.
    seenCookies = [];
    elsewhere = http.createServer((request, response) => {
      seenCookies.push(request.headers.cookie ?? '');
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>elsewhere</title>');
    });
    await new Promise((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  },
  browser: ['--host-resolver-rules=MAP evil.test 127.0.0.1'],
}, (all) => { ({ home, browser, panel, page } = all); });
after(() => elsewhere.close());

const other = () => `http://127.0.0.1:${elsewhere.address().port}/`;
const key = () => page.evaluate(() => localStorage.getItem('ttyward-panel-key'));

// In a page: opens the panel's WebSocket and says hello; what came of it.
function tryPanel({ origin, key: secret }) {
  return new Promise((resolve) => {
    const socket = new WebSocket(origin.replace('http', 'ws') + '/ws', 'ttyward.panel.1');
    socket.onopen = () => socket.send(JSON.stringify({ hello: { protocol: 1, key: secret } }));
    socket.onmessage = (message) => { resolve(message.data.slice(0, 40)); socket.close(); };
    socket.onclose = (closed) => resolve(`closed ${closed.code}`);
  });
}

test('a link works once', async () => {
  const second = await browser.page();
  await second.goto(panel.link);
  await second.getByText('This link was used already.').waitFor();
  await second.context().close();
  const nobody = await browser.page();
  await nobody.goto(panel.origin + '/');
  await nobody.getByText('This page is not signed in.').waitFor();
  await nobody.context().close();
});

test('our own page gets in; without the key, or with a wrong one, even it does not', async () => {
  assert.match(await page.evaluate(tryPanel, { origin: panel.origin, key: await key() }), /^{"daemon"/);
  assert.equal(await page.evaluate(tryPanel, { origin: panel.origin, key: '' }), 'closed 1008');
  assert.equal(await page.evaluate(tryPanel, { origin: panel.origin, key: 'a'.repeat(64) }), 'closed 1008');
});

test('a page of another local port rides on the cookie and stays out, even with the key', async () => {
  const tab = await page.context().newPage();
  await tab.goto(other());
  assert.match(seenCookies.at(-1), /ttyward-panel-/, 'the browser gives our cookie to every port: this is why');
  assert.equal(await tab.evaluate(tryPanel, { origin: panel.origin, key: await key() }), 'closed 1006');
  const posted = await tab.evaluate((origin) => fetch(origin + '/api/session', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Ttyward-Panel': '1' }, body: '{}' }).then(() => 'sent', () => 'stopped'), panel.origin);
  assert.equal(posted, 'stopped');
  const read = await tab.evaluate((origin) => fetch(origin + '/api/session', { credentials: 'include' }).then(() => 'read', () => 'stopped'), panel.origin);
  assert.equal(read, 'stopped', 'no CORS header is ever sent');
  await tab.close();
});

test('a server that was sent our cookie cannot use it', async () => {
  const cookie = seenCookies.find((each) => each.includes('ttyward-panel-'));
  const answer = await new Promise((resolve) => http.get(panel.origin + '/', { headers: { Cookie: cookie } }, (response) => {
    let text = '';
    response.on('data', (data) => { text += data; });
    response.on('end', () => resolve({ status: response.statusCode, text }));
  }));
  assert.equal(answer.status, 200);
  assert.ok(!answer.text.includes(await key()), 'the page holds no secret');
});

test('a foreign site, and a name that was made to point here', async () => {
  const tab = await page.context().newPage();
  await tab.goto(`http://evil.test:${elsewhere.address().port}/`);
  assert.equal(await tab.evaluate(tryPanel, { origin: panel.origin, key: await key() }), 'closed 1006');
  const rebound = await tab.goto(`http://evil.test:${panel.port}/`);
  assert.equal(rebound.status(), 403);
  await tab.close();
});

test('nobody can put the page into a frame', async () => {
  const tab = await page.context().newPage();
  await tab.goto(other());
  const framed = await tab.evaluate((address) => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.src = address;
    frame.onload = () => {
      try {
        resolve(frame.contentDocument?.body ? 'blank' : 'blocked');
      } catch {
        resolve('blocked');
      }
    };
    document.body.append(frame);
  }), panel.origin + '/');
  assert.ok(['blocked', 'blank'].includes(framed));
  assert.equal(await tab.frames()[1].locator('.app, .signed-out').count(), 0);
  await tab.close();
  browser.complaints = browser.complaints.filter((each) => !/frame-ancestors|X-Frame-Options/.test(each));
});

test('no script but our own runs in the page', async () => {
  await page.evaluate(() => {
    window.ran = 'no';
    const script = document.createElement('div');
    try {
      script.innerHTML = '<img src=x onerror="window.ran = 1">';
    } catch {
      // trusted types
    }
    document.body.append(script);
  });
  await eventually(() => browser.complaints.some((each) => /policy: require-trusted-types-for/.test(each)), 'the browser says that it refused the text');
  assert.equal(await page.evaluate(() => window.ran), 'no');
  const style = await page.evaluate(() => {
    const made = document.createElement('style');
    made.textContent = 'body { --injected: 1 }';
    document.head.append(made);
    return getComputedStyle(document.body).getPropertyValue('--injected');
  });
  assert.equal(style, '', 'a style element without the nonce does nothing');
  await eventually(() => browser.complaints.some((each) => /policy: style-src-elem/.test(each)), 'the browser says that it refused');
  browser.complaints = browser.complaints.filter((each) => !/policy:|Content Security Policy|TrustedHTML|violates/.test(each));
});

test('a view link watches, and cannot be made more', async () => {
  const terminal = await home.open('watched');
  await page.goto(panel.origin + '/settings/links');
  await page.getByRole('button', { name: 'View link' }).click();
  const address = await page.locator('#made-link').innerText();
  const viewer = await browser.page();
  await viewer.goto(address);
  await viewer.getByText('View only').first().waitFor();
  const { id, result } = await home.ask(terminal, 'touch watched');
  const card = viewer.locator(`article[data-question="${id}"]`);
  await card.waitFor();
  assert.equal(await card.getByRole('button', { name: 'Allow once' }).count(), 0);
  const said = await viewer.evaluate(async ({ approval, watched }) => {
    const socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws', 'ttyward.panel.1');
    const answers = [];
    await new Promise((resolve) => { socket.onopen = resolve; });
    socket.send(JSON.stringify({ hello: { protocol: 1, key: localStorage.getItem('ttyward-panel-key'), role: 'person' } }));
    await new Promise((resolve) => { socket.onmessage = resolve; });
    const call = (message) => new Promise((resolve) => { socket.onmessage = (event) => resolve(event.data); socket.send(JSON.stringify(message)); });
    answers.push(await call({ id: 1, call: 'answer', args: { approval, decision: 'allow' } }));
    answers.push(await call({ id: 2, call: 'input', args: { terminal: watched, text: 'x' } }));
    answers.push(await call({ id: 3, call: 'mode', args: { set: 'yolo' } }));
    answers.push(await call({ id: 4, call: 'rule_add', args: { text: '' } }));
    answers.push(await call({ id: 5, call: 'panel_link', args: { role: 'person' } }));
    answers.push(await call({ id: 6, call: 'stop', args: {} }));
    const attached = JSON.parse(await call({ id: 7, call: 'attach', args: { terminal: watched, read_only: false } }));
    answers.push(attached.ok?.writable === false ? 'permission_denied: only watches' : JSON.stringify(attached));
    socket.close();
    return answers;
  }, { approval: id, watched: terminal });
  for (const answer of said) assert.match(answer, /permission_denied/, answer);
  await home.person.call('answer', { approval: id, decision: 'deny' });
  await result;
  await viewer.context().close();
});

test('a panel for watching makes viewers of everybody', async () => {
  const watching = await home.panel('--view-only');
  const viewer = await browser.page();
  await viewer.goto(watching.link);
  await viewer.getByText('View only').first().waitFor();
  await viewer.goto(watching.origin + '/settings/links');
  await viewer.getByText('A view link makes no links.').waitFor();
  await viewer.context().close();
});

test('what an agent must not do: start a panel', () => {
  home.environment.TTYWARD_ROLE = 'agent';
  const done = home.run('panel');
  delete home.environment.TTYWARD_ROLE;
  assert.equal(done.code, 2);
  assert.match(done.err, /for people/);
});

test('--open hands the browser a file of ours, not the link: others can read arguments', async () => {
  const bin = path.join(home.folder, 'bin');
  fs.mkdirSync(bin);
  const seen = path.join(home.folder, 'seen');
  fs.writeFileSync(path.join(bin, 'xdg-open'), `#!/bin/sh\nf=\${1#file://}\n{ echo "$1"; stat -c %a "$f"; cat "$f"; } >${seen}.new\nmv ${seen}.new ${seen}\n`, { mode: 0o755 });
  const before = home.environment.PATH;
  home.environment.PATH = `${bin}:${before}`;
  const child = home.start('panel', '--open');
  home.environment.PATH = before;
  const [argument, mode, text] = (await eventually(() => fs.existsSync(seen) && fs.readFileSync(seen, 'utf8'), 'a browser')).split('\n');
  assert.match(argument, /^file:\/\/\/[^#]*\.html$/);
  assert.equal(mode, '600');
  assert.match(text, /url=http:\/\/127\.0\.0\.1:\d+\/#t=[0-9a-f]{64}"/);
  child.kill('SIGTERM');
  await eventually(() => !fs.existsSync(argument.slice('file://'.length)), 'the file goes with the panel');
});

test('nothing but loopback listens', () => {
  const hex = panel.port.toString(16).toUpperCase().padStart(4, '0');
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n') : []))
    .filter((line) => line.includes(`:${hex} `) && / 0A /.test(line));
  assert.ok(lines.length > 0);
  for (const line of lines) assert.match(line, /0100007F:/);
});

test('the panel runs confined: it runs no program and opens no file', { skip: process.env.TTYWARD_SANITIZED && 'sanitizers read files at the end' }, async () => {
  const status = fs.readFileSync(`/proc/${panel.child.pid}/status`, 'utf8');
  assert.match(status, /^NoNewPrivs:\s+1$/m);
  assert.match(status, /^Seccomp:\s+2$/m, 'a filter of system calls'); // src/sandbox/serve_only_test.cc tries what it refuses
  // Every thread has it, those for connections, too.
  const other = await browser.another(page);
  await other.goto(panel.origin + '/');
  await other.getByText('Nothing waits for you').waitFor();
  for (const thread of fs.readdirSync(`/proc/${panel.child.pid}/task`)) {
    assert.match(fs.readFileSync(`/proc/${panel.child.pid}/task/${thread}/status`, 'utf8'), /^Seccomp:\s+2$/m);
  }
  await other.context().close();
  // What it has open: no file, no folder.
  const open = fs.readdirSync(`/proc/${panel.child.pid}/fd`).filter((fd) => Number(fd) > 2).map((fd) => { try { return fs.readlinkSync(`/proc/${panel.child.pid}/fd/${fd}`); } catch { return ''; } });
  assert.deepEqual(open.filter((each) => each.startsWith('/')), []);
});

test('the helper outside ends with the panel, and no signal meant for both ends it sooner', async () => {
  const other = await home.panel();
  const helpers = () => fs.readdirSync('/proc').filter((each) => /^\d+$/.test(each)).filter((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/status`, 'utf8').includes(`\nPPid:\t${other.child.pid}\n`);
    } catch {
      return false;
    }
  });
  const [helper, ...more] = helpers();
  assert.ok(helper && more.length === 0, `one child: ${helper} ${more}`);
  process.kill(Number(helper), 'SIGINT');
  const tab = await browser.page();
  await tab.goto(other.link);
  await tab.getByText('Nothing waits for you').waitFor();
  other.child.kill('SIGKILL');
  await eventually(() => !fs.existsSync(`/proc/${helper}`), 'it ended');
  await tab.context().close();
});

test('other machines: the panel says to use ssh, and listens nowhere else', () => {
  for (const address of ['0.0.0.0', '192.168.1.5', '::', 'example.com', '']) {
    const refused = home.run('panel', '--port', '8080', '--address', address);
    assert.equal(refused.code, 2, refused.err);
    assert.match(refused.err, /127\.0\.0\.1 only.*ssh -L 8080:127\.0\.0\.1:8080/);
    assert.equal(refused.err.trim().split('\n').length, 1, refused.err);
  }
});
