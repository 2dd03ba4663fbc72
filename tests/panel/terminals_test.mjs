// One terminal, large: its screen cell by cell, its keyboard, a flood, and two people who want it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually, giveBack, sameScreen, stage, takeKeyboard, traffic } from './harness.mjs';

let home, browser, panel, page, edit;

stage({
  prepare: async (at) => {
    fs.writeFileSync(path.join(at.work, 'code.ts'), Array.from({ length: 60 }, (_, line) => `export const value${line} = "${'é漢字🙂'.repeat(line % 4)}"; // line ${line}`).join('\n') + '\n');
    edit = await at.open('edit');
  },
}, (all) => { ({ home, browser, panel, page } = all); });

test('take the keyboard, type, and see what came of it', async () => {
  await page.goto(`${panel.origin}/t/${edit}`);
  await page.locator('.xterm-rows').waitFor();
  assert.equal(await page.locator('.is-mine').count(), 0, 'it is only watched at first');
  await takeKeyboard(page);
  await page.keyboard.type('echo "typed $((6 * 7))"');
  await page.keyboard.press('Enter');
  await page.locator('.xterm-rows').getByText('typed 42', { exact: true }).first().waitFor();
  const { terminal } = await home.person.call('show', { terminal: edit });
  assert.match(terminal.lease.by, /^ttyward panel/);
  await sameScreen(home, page, edit, 'the shell');
});

test('vim through the panel is vim, cell by cell', async () => {
  await page.keyboard.type('vim -u NONE -N +"set number" code.ts');
  await page.keyboard.press('Enter');
  await page.locator('.xterm-rows').getByText('value0').first().waitFor();
  await sameScreen(home, page, edit, 'vim opened');
  await page.keyboard.type('5Gofrom the panel: ');
  for (const key of ['ArrowLeft', 'ArrowRight', 'Home', 'End']) await page.keyboard.press(key);
  await page.keyboard.type('end');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+f');
  await page.keyboard.press('Control+b');
  await sameScreen(home, page, edit, 'vim edited');
  await page.keyboard.type(':wq');
  await page.keyboard.press('Enter');
  await eventually(() => /from the panel: end/.test(fs.readFileSync(path.join(home.work, 'code.ts'), 'utf8')), 'the file');
  await eventually(async () => !(await home.person.call('screen', { terminal: edit })).alternate, 'vim ended');
  await sameScreen(home, page, edit, 'back in the shell');
});

test('what is shown is painted: colours, and not only text', async () => {
  await page.keyboard.type("clear; printf '\\033[48;2;200;30;30m        \\033[0m\\n'");
  await page.keyboard.press('Enter');
  // A fault of styles leaves the text in place and nothing to see: only a picture shows it.
  const looker = await page.context().newPage();
  await eventually(async () => {
    const shot = (await page.locator('.xterm-place').screenshot()).toString('base64');
    return looker.evaluate(async (data) => {
      const picture = new Image();
      picture.src = `data:image/png;base64,${data}`;
      await picture.decode();
      const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
      canvas.drawImage(picture, 0, 0);
      const { data: dots } = canvas.getImageData(0, 0, picture.width, picture.height);
      let red = 0;
      for (let at = 0; at < dots.length; at += 4) if (dots[at] === 200 && dots[at + 1] === 30 && dots[at + 2] === 30) red++;
      return red > 200;
    }, shot);
  }, 'a red ground in the picture');
  await looker.close();
  await eventually(() => page.$$eval('.xterm-rows span', (spans) => spans.some((span) => getComputedStyle(span).backgroundColor === 'rgb(200, 30, 30)')), 'a red ground');
});

test('the agent waits while a person has the keyboard, and goes on afterwards', async () => {
  const busy = home.agent.call('exec', { terminal: edit, command: 'pwd', on_busy: 'wait' });
  await eventually(async () => (await home.person.call('show', { terminal: edit })).terminal.queued, 'it waits');
  await giveBack(page);
  const ended = await busy;
  assert.equal(ended.exit_code, 0);
  await eventually(async () => (await home.person.call('show', { terminal: edit })).terminal.lease === null, 'it was given back');
});

test('F6 leaves the terminal: nobody is locked in', async () => {
  await page.keyboard.press('t');
  await page.locator('.lease', { hasText: 'You have the keyboard.' }).waitFor();
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.activeElement.closest('.xterm') !== null), 'Tab is the program’s');
  await page.keyboard.press('F6');
  assert.ok(await page.evaluate(() => document.activeElement.closest('.xterm') === null));
  await page.keyboard.press('g');
  await page.getByRole('button', { name: 'Take the keyboard' }).waitFor();
});

test('a second browser asks before it takes the keyboard, and the first is told', async () => {
  await page.keyboard.press('t');
  await page.locator('.lease', { hasText: 'You have the keyboard.' }).waitFor();
  const second = await browser.another(page);
  await second.goto(`${panel.origin}/t/${edit}`);
  await second.locator('.lease', { hasText: 'Another browser has the keyboard.' }).waitFor();
  await second.getByRole('button', { name: 'Take it…' }).click();
  await second.getByRole('dialog').getByRole('button', { name: 'Take it' }).click();
  await second.locator('.lease', { hasText: 'You have the keyboard.' }).waitFor();
  await page.locator('.lease', { hasText: 'Another browser has the keyboard.' }).waitFor();
  await second.context().close();
  await eventually(async () => (await home.person.call('show', { terminal: edit })).terminal.lease === null, 'closing the page gives it back');
  await page.locator('.lease', { hasText: 'Another browser has the keyboard.' }).waitFor({ state: 'detached' });
});

test('paste, interrupt and kill', async () => {
  await page.keyboard.press('v');
  await page.getByLabel('Text to paste').fill('sleep 300 # pasted');
  await page.getByRole('dialog').getByRole('button', { name: 'Paste' }).click();
  await page.locator('.xterm-rows').getByText('sleep 300 # pasted').first().waitFor();
  await home.person.call('input', { terminal: edit, keys: 'Enter' });
  const interrupt = page.getByRole('button', { name: 'Interrupt' });
  await eventually(async () => !(await interrupt.isDisabled()), 'it runs');
  await interrupt.click();
  await eventually(async () => !(await home.person.call('show', { terminal: edit })).terminal.running, 'it was interrupted');
  const victim = await home.open('victim');
  await page.goto(`${panel.origin}/t/${victim}`);
  await page.getByRole('button', { name: 'Kill…' }).click();
  await page.getByRole('dialog', { name: 'Kill terminal victim?' }).getByRole('button', { name: 'Kill victim' }).click();
  await eventually(async () => (await home.person.call('list', { all: true })).terminals.find((each) => each.id === victim)?.state !== 'idle', 'it ended');
  await page.locator('.stage').getByText(/ended/).first().waitFor();
});

test('a page that only looks at a quiet terminal gets nothing and sends nothing', async (t) => {
  const quiet = await home.open('quiet');
  const looks = await browser.another(page);
  await looks.clock.install();
  await looks.goto(`${panel.origin}/t/${quiet}`);
  await looks.locator('.xterm-rows').getByText(/[$#]/).first().waitFor();
  await home.person.call('wait', { terminal: quiet, quiet_ms: 500, timeout_ms: 60_000 });
  await looks.clock.runFor(5000); // what the page does once its shell has settled
  await home.person.call('wait', { terminal: quiet, quiet_ms: 500, timeout_ms: 60_000 });
  const seen = traffic(looks);
  // Twenty minutes of the page's own timers; and for the other side, a wait of the daemon's that ends by its time.
  await looks.clock.runFor(20 * 60_000);
  await home.person.call('wait', { terminal: quiet, pattern: 'never', timeout_ms: 2000 });
  assert.deepEqual(seen, { sent: [], received: [] });
  // That it counts at all: the next output is seen.
  await home.person.call('exec', { terminal: quiet, command: 'echo awake' });
  await eventually(() => seen.received.some((each) => each.includes('awake')), 'the output');
  t.diagnostic('0 messages in 20 minutes of timers');
  await looks.context().close();
});

test('a flood: few frames, and the page answers meanwhile', async (t) => {
  const flood = await home.open('flood');
  await page.goto(`${panel.origin}/t/${flood}`);
  await takeKeyboard(page);
  const seen = traffic(page);
  await page.keyboard.type('seq 1 2500000; echo "flood $((40 + 2)) over"');
  await page.keyboard.press('Enter');
  const times = [];
  for (let at = 0; at < 10; at++) {
    const began = Date.now();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    times.push(Date.now() - began);
  }
  await page.locator('.xterm-rows').getByText('flood 42 over', { exact: true }).first().waitFor();
  await sameScreen(home, page, flood, 'after the flood');
  const frames = seen.received.length;
  const bytes = seen.received.reduce((sum, each) => sum + each.length, 0);
  t.diagnostic(`${bytes} bytes in ${frames} frames for 19 MB; the page stood still for ${Math.max(...times)} ms at most`);
  assert.ok(bytes < 8_000_000, `${bytes} bytes in ${frames} frames for 19 MB`);
  assert.ok(Math.max(...times) < 2000, `the page stood still for ${Math.max(...times)} ms`);
});

test('forty terminals in the grid', async () => {
  await Promise.all(Array.from({ length: 40 }, (_, at) => home.open(`many-${at}`)));
  await page.goto(`${panel.origin}/terminals?q=many`);
  await eventually(async () => (await page.locator('.tile').count()) === 40, 'forty tiles');
  await page.locator('article', { hasText: 'many-39' }).scrollIntoViewIfNeeded();
});
