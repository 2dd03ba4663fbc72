// The page outlives the daemon and the panel: nothing is lost, nothing is doubled.
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { eventually, giveBack, received, rowsOf, Socket, stage, takeKeyboard } from './harness.mjs';

let home, browser, panel, page, shell, port;

const freePort = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = server.address();
    server.close(() => resolve(free));
  });
});

stage({
  prepare: async (at) => { shell = await at.open('shell'); },
  panel: async () => ['--port', String(port = await freePort())],
}, async (all) => {
  ({ home, browser, panel, page } = all);
  await page.goto(`${panel.origin}/t/${shell}`);
  await page.locator('.xterm-rows').waitFor();
});

async function echo(word) {
  await takeKeyboard(page);
  await page.keyboard.type(`echo "${word} $((6 * 7))"`);
  await page.keyboard.press('Enter');
  await page.locator('.xterm-rows').getByText(`${word} 42`, { exact: true }).first().waitFor();
  const rows = await rowsOf(page);
  assert.equal(rows.filter((row) => row === `${word} 42`).length, 1, 'once');
  await giveBack(page);
}

test('the daemon is killed: the page comes back by itself', async () => {
  await echo('before');
  const pid = home.daemonPid();
  const back = received(page, '{"daemon":{"state":"connected"');
  process.kill(pid, 'SIGKILL');
  await back;
  assert.notEqual(home.daemonPid(), pid, 'another daemon');
  await page.locator('.foot .dot-ok').waitFor();
  await page.locator('.xterm-rows').getByText('before 42', { exact: true }).first().waitFor();
  await echo('after');
  assert.equal((await rowsOf(page)).filter((row) => row === 'before 42').length, 1, 'nothing is doubled');
});

test('the panel is killed and started again: the page comes back by itself', async () => {
  panel.child.kill('SIGKILL');
  await page.getByText('Reconnecting. This is the last picture.').waitFor();
  await page.waitForFunction(() => document.title.startsWith('Reconnecting'));
  assert.ok((await rowsOf(page)).includes('after 42'), 'the last picture stays');
  panel = await home.panel('--port', String(port));
  await page.getByText('Reconnecting. This is the last picture.').waitFor({ state: 'detached' });
  await echo('again');
});

test('somebody stops the daemon: the page says so, and notices the next one', async () => {
  home.run('daemon', 'stop');
  await page.getByText('The daemon does not answer.').waitFor();
  home.run('ls');
  await page.getByText('The daemon does not answer.').waitFor({ state: 'detached' });
  await page.locator('.foot .dot-ok').waitFor();
  home.person = await Socket.open(home.home, 'person', { token: home.token });
});

test('a panel on a port of its own choice forgets its sessions when it ends', async () => {
  const other = await home.panel();
  const tab = await browser.page();
  await tab.goto(other.link);
  await tab.getByText('Nothing waits for you').waitFor();
  other.child.kill('SIGTERM');
  await eventually(() => other.child.exitCode !== null || other.child.signalCode !== null, 'it ended');
  assert.equal(other.child.exitCode, 128 + 15);
  await tab.getByText('Reconnecting. This is the last picture.').waitFor();
  await tab.context().close();
});
