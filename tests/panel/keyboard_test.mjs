// The keyboard of a terminal: keys of a phone, and giving it back without anybody's help.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, PHONE, stage, takeKeyboard } from './harness.mjs';

let home, browser, panel, page;
stage({}, (all) => { ({ home, browser, panel, page } = all); });

const lease = async (id) => (await home.person.call('show', { terminal: id })).terminal.lease;
const screen = async (id) => (await home.person.call('screen', { terminal: id })).content;
const shows = (id, words) => eventually(async () => (await screen(id)).includes(words), words);

async function phoneAt(id) {
  const phone = await browser.another(page, PHONE);
  await phone.goto(`${panel.origin}/t/${id}`);
  await phone.locator('.xterm-rows').waitFor();
  await takeKeyboard(phone);
  return { phone, tap: (name) => phone.locator('.keys-bar').getByRole('button', { name, exact: true }).tap() };
}

test('the keys bar sends what the program asked for, in both modes of the cursor keys', async () => {
  const id = await home.open('keys');
  await home.person.call('exec', { terminal: id, command: 'cat -v', yield_after_ms: 100 });
  const { phone, tap } = await phoneAt(id);
  for (const name of ['Up', 'Down', 'Left', 'Right', 'Esc', 'Tab']) await tap(name);
  await phone.keyboard.press('Enter');
  await shows(id, '^[[A^[[B^[[D^[[C^[');
  await tap('Control D');
  await eventually(async () => !(await home.person.call('show', { terminal: id })).terminal.running, 'cat ended');
  await phone.keyboard.type("printf '\\033[?1h'; cat -v");
  await phone.keyboard.press('Enter');
  await eventually(async () => (await home.person.call('show', { terminal: id })).terminal.running, 'cat runs');
  for (const name of ['Up', 'Left']) await tap(name);
  await phone.keyboard.press('Enter');
  await shows(id, '^[OA^[OD');
  await tap('Control C');
  await phone.context().close();
});

test('Ctrl and Alt of the keys bar hold for one typed letter', async () => {
  const id = await home.open('letters');
  await home.person.call('exec', { terminal: id, command: 'cat -v', yield_after_ms: 100 });
  const { phone, tap } = await phoneAt(id);
  const held = (name) => phone.locator('.keys-bar').getByRole('button', { name, exact: true }).getAttribute('aria-pressed');
  await tap('Alt');
  assert.equal(await held('Alt'), 'true');
  await phone.keyboard.press('x');
  await eventually(async () => (await held('Alt')) === 'false', 'it is up again');
  await phone.keyboard.press('y');
  // As a phone's keyboard does it: text, and no key.
  await tap('Alt');
  await phone.keyboard.insertText('z');
  await tap('Ctrl');
  await tap('Alt');
  await phone.keyboard.insertText('b');
  await phone.keyboard.press('Enter');
  await shows(id, '^[xy^[z^[^B');
  await tap('Ctrl');
  await phone.keyboard.insertText('d');
  await eventually(async () => !(await home.person.call('show', { terminal: id })).terminal.running, 'Ctrl D ended it');
  await phone.context().close();
});

// Shortens the ten minutes on their way to the daemon.
async function impatient(tab, ms) {
  await tab.routeWebSocket(/\/ws$/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => server.send(String(text).replace(/"give_back_ms":\d+/, `"give_back_ms":${ms}`)));
  });
}

test('without a key the keyboard goes back, and the page says why', async () => {
  const id = await home.open('idle');
  const tab = await browser.another(page);
  await impatient(tab, 1500);
  await tab.goto(`${panel.origin}/t/${id}`);
  await tab.locator('.xterm-rows').waitFor();
  await tab.getByRole('button', { name: 'Take the keyboard' }).click();
  await tab.getByText('The keyboard was given back: no key for 10 minutes.').waitFor();
  await tab.getByRole('button', { name: 'Take the keyboard' }).waitFor();
  assert.equal(await lease(id), null);
  await tab.context().close();
});

test('a page that hangs gives the keyboard back, too: an agent that waits goes on', async () => {
  const id = await home.open('hangs');
  const tab = await browser.another(page);
  await impatient(tab, 3000);
  await tab.goto(`${panel.origin}/t/${id}`);
  await tab.locator('.xterm-rows').waitFor();
  await takeKeyboard(tab);
  await eventually(async () => (await lease(id)) !== null, 'the page has it');
  // From now on the page does nothing: no timer of its own, no answer to anybody.
  const cdp = await tab.context().newCDPSession(tab);
  await cdp.send('Debugger.enable');
  await cdp.send('Debugger.pause');
  tab.evaluate(() => 1).catch(() => {});
  const ended = await home.agent.call('exec', { terminal: id, command: 'pwd', on_busy: 'wait' });
  assert.equal(ended.exit_code, 0);
  assert.equal(await lease(id), null);
  await cdp.send('Debugger.disable');
  await tab.context().close();
});

test('keys keep it, and closing the page gives it back', async () => {
  const id = await home.open('typed');
  const tab = await browser.another(page);
  await tab.goto(`${panel.origin}/t/${id}`);
  await tab.locator('.xterm-rows').waitFor();
  await takeKeyboard(tab);
  await tab.locator('.lease').getByText(/10:00 left|9:5\d left/).waitFor();
  await tab.context().close();
  await eventually(async () => (await lease(id)) === null, 'closing gives it back');
});
