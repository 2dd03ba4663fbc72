// Exported recordings in a real browser: asciinema's own player shows the same final screen as we do, the page we write
// plays itself, the picture moves, and hostile output stays text. Pages talk to nobody but the server in this file.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

const require = createRequire(import.meta.url);
const { chromium } = require('playwright-core');
const PATIENCE = Number(process.env.TTYWARD_TEST_PATIENCE ?? 60) * 1000;
const here = path.dirname(new URL(import.meta.url).pathname);
const bundle = path.join(here, 'node_modules/asciinema-player/dist/bundle');
const recordings = path.join(here, '..', 'recordings');

let folder, server, origin, browser, context;
const files = new Map(); // path: [type, content]

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'record-'));
  server = http.createServer((request, response) => {
    const found = files.get(request.url);
    response.writeHead(found ? 200 : 404, { 'content-type': found?.[0] ?? 'text/plain' });
    response.end(found?.[1] ?? '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  files.set('/player.js', ['text/javascript', fs.readFileSync(path.join(bundle, 'asciinema-player.min.js'))]);
  files.set('/player.css', ['text/css', fs.readFileSync(path.join(bundle, 'asciinema-player.css'))]);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  context = await browser.newContext();
});
after(async () => {
  await browser?.close();
  server?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

function ttyward(...args) {
  const done = spawnSync(process.env.TTYWARD, args, { encoding: 'utf8', timeout: PATIENCE, maxBuffer: 1 << 28,
    env: { ...process.env, TTYWARD_HOME: path.join(folder, 'home') } });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

// Raw bytes as an asciicast, through the exporter.
function castOf(bytes, format, { cols = 80, rows = 24 } = {}) {
  const raw = path.join(folder, 'raw.cast');
  const lines = [JSON.stringify({ version: 2, width: cols, height: rows })];
  const text = bytes.toString('utf8');
  const points = Array.from(text);
  const step = Math.max(10, Math.ceil(points.length / 500));
  for (let at = 0; at < points.length; at += step) lines.push(JSON.stringify([(at / step) * 0.05, 'o', points.slice(at, at + step).join('')]));
  fs.writeFileSync(raw, lines.join('\n') + '\n');
  return ttyward('record', 'export', raw, '--format', format);
}

function screenOf(cast) {
  const file = path.join(folder, 'shown.cast');
  fs.writeFileSync(file, cast);
  const screen = JSON.parse(ttyward('render', '--format', 'json', file));
  return screen;
}
const rowsOf = (text) => text.split('\n').map((line) => line.trimEnd()).join('\n').trimEnd();

// The rows as they stand on the screen, wraps not joined.
function textOf(cast) {
  const screen = screenOf(cast);
  const rows = new Array(screen.rows).fill('');
  for (const line of screen.lines) rows[line.row] = line.segments.map((segment) => segment.text).join('');
  return rowsOf(rows.join('\n'));
}

async function newPage() {
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && !/favicon/.test(message.text() + message.location().url) && complaints.push(message.text()));
  return { page, complaints };
}

async function playedByAsciinema(cast) {
  files.set('/a.cast', ['application/x-asciicast', cast]);
  files.set('/', ['text/html', `<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="/player.css"><div id="demo"></div>
    <script src="/player.js"></script><script>
    window.player = AsciinemaPlayer.create('/a.cast', document.getElementById('demo'), { preload: true, speed: 1000, idleTimeLimit: 0.01 });
    window.ended = new Promise((resolve) => window.player.addEventListener('ended', resolve));
    window.failed = new Promise((resolve) => window.player.addEventListener('error', (e) => resolve(JSON.stringify(e))));
    </script>`]);
  const { page, complaints } = await newPage();
  await page.goto(origin + '/');
  await page.evaluate(() => window.player.play());
  const outcome = await page.evaluate(() => Promise.race([window.ended.then(() => 'ended'), window.failed]));
  assert.equal(outcome, 'ended');
  const text = await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
    resolve([...document.querySelectorAll('.ap-line')].map((line) => line.textContent).join('\n'))))));
  await page.close();
  assert.deepEqual(complaints, []);
  return text;
}

for (const format of ['asciicast', 'asciicast2']) {
  test(`asciinema's player shows our final screen (${format})`, async () => {
    const bytes = '\x1b[1;32mhello\x1b[0m world\r\n\x1b[38;2;200;100;50mcolour\x1b[m\r\n漢字 and text\r\n' +
      'progress 10%\rprogress 100%\r\n\x1b[10;20Hplaced\x1b[12;1Hlast line';
    const cast = castOf(Buffer.from(bytes), format);
    assert.equal(rowsOf(await playedByAsciinema(cast)), textOf(cast));
  });
}

test("asciinema's player shows what real programs left", async () => {
  // Programs that draw lines are not among them: the player paints those as shapes, not as text.
  for (const name of ['apt', 'cmake', 'git_log', 'less', 'npm', 'progress', 'vim']) {
    const bytes = fs.readFileSync(path.join(recordings, name, 'input'));
    const cast = castOf(bytes, 'asciicast');
    assert.equal(rowsOf(await playedByAsciinema(cast)), textOf(cast), name);
  }
});

test('the exported page plays itself to the final screen, without a network', async () => {
  const bytes = Buffer.from('one\r\n\x1b[31mtwo\x1b[m\r\n漢字 three\r\n' + 'x'.repeat(100) + '\r\n\x1b[10;5Hend');
  const html = castOf(bytes, 'html');
  const file = path.join(folder, 'page.html');
  fs.writeFileSync(file, html);
  const { page, complaints } = await newPage();
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto('file://' + file);
  await page.selectOption('#speed', '8');
  await page.click('#play');
  await page.waitForFunction(() => document.getElementById('play').textContent === 'Play' && Number(document.body.dataset.at) > 0, null, { timeout: PATIENCE });
  const shown = await page.evaluate(() => [...document.querySelectorAll('.row')].map((row) => row.textContent).join('\n'));
  assert.equal(rowsOf(shown), textOf(castOf(bytes, 'asciicast')));
  assert.equal(await page.evaluate(() => getComputedStyle([...document.querySelectorAll('.row span')].find((e) => e.textContent === 'two')).color !== getComputedStyle(document.getElementById('screen')).color), true);
  // Back to the beginning, and to the end by key.
  await page.evaluate(() => { document.activeElement.blur(); });
  await page.keyboard.press('Home');
  assert.equal(await page.evaluate(() => document.body.dataset.at), '0');
  await page.keyboard.press('End');
  assert.equal(rowsOf(await page.evaluate(() => [...document.querySelectorAll('.row')].map((row) => row.textContent).join('\n'))), rowsOf(shown));
  assert.deepEqual(requests.filter((url) => !url.startsWith('file://')), []);
  assert.deepEqual(complaints, []);
  await page.close();
});

test('hostile output and titles stay text in the page', async () => {
  const bad = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1"><!--';
  const raw = path.join(folder, 'bad.cast');
  fs.writeFileSync(raw, [JSON.stringify({ version: 2, width: 100, height: 10, title: bad }), JSON.stringify([0, 'm', bad]), JSON.stringify([0.1, 'o', bad + '\r\n'])].join('\n'));
  const file = path.join(folder, 'bad.html');
  fs.writeFileSync(file, ttyward('record', 'export', raw, '--format', 'html'));
  const { page, complaints } = await newPage();
  await page.goto('file://' + file);
  await page.keyboard.press('End');
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.evaluate(() => document.images.length), 0);
  assert.equal(await page.evaluate(() => document.querySelector('.row').textContent.startsWith('</script><script>')), true);
  assert.match(await page.title(), /hacked/);
  assert.deepEqual(complaints, []);
  await page.close();
});

test('the picture moves from the first frame to the last', async () => {
  const svg = castOf(Buffer.from('first\r\n' + 'line\r\n'.repeat(300) + 'the last </text><script>window.hacked=1</script>'), 'svg');
  const file = path.join(folder, 'a.svg');
  fs.writeFileSync(file, svg);
  const { page, complaints } = await newPage();
  await page.goto('file://' + file);
  const facts = await page.evaluate(() => {
    const animation = document.getAnimations()[0];
    animation.pause();
    const { duration } = animation.effect.getTiming();
    const at = (time) => {
      animation.currentTime = time;
      return new DOMMatrix(getComputedStyle(document.getElementById('strip')).transform).m41;
    };
    return { count: document.getAnimations().length, frames: document.querySelectorAll('#strip > g').length, first: at(0), last: at(duration - 1),
      text: document.documentElement.textContent, hacked: window.hacked, scripts: document.querySelectorAll('script').length };
  });
  assert.equal(facts.count, 1);
  assert.ok(facts.frames >= 2);
  assert.equal(facts.first, 0);
  assert.ok(facts.last < 0);
  assert.match(facts.text, /the last/);
  assert.equal(facts.hacked, undefined);
  assert.equal(facts.scripts, 0);
  assert.deepEqual(complaints, []);
  await page.close();
});
