// Outputs of any length: every line can be reached, searches say what they searched, long lines can be wrapped.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually, stage } from './harness.mjs';

let home, browser, panel, page, shell, long, wide;
const LINES = 9_000_000; // 78 MB: more than is read with colours, and 180 million pixels

stage({
  prepare: async (at) => {
    fs.mkdirSync(path.join(at.home, 'config'), { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(at.home, 'config', 'config.toml'), '[terminal]\nrecords = 80\n', { mode: 0o600 });
    await at.person.call('reload');
    shell = await at.open('shell');
    long = (await at.person.call('exec', { terminal: shell, command: `seq 1 ${LINES}`, timeout_ms: 0, yield_after_ms: 0 })).command_id;
    wide = (await at.person.call('exec', { terminal: shell, command: `echo first; printf 'wide%.0s ' {1..200}; echo; echo last` })).command_id;
  },
}, (all) => { ({ home, browser, panel, page } = all); });

// The lines that can be seen, by their numbers.
const inSight = () => page.$$eval('.log', ([box]) => {
  const frame = box.getBoundingClientRect();
  return [...box.querySelectorAll('.log-line')].filter((line) => {
    const at = line.getBoundingClientRect();
    return at.top >= frame.top - 1 && at.bottom <= frame.bottom + 1;
  }).map((line) => ({ number: Number(line.id.slice(1)), text: line.querySelector('span').textContent }));
});
// All of them have come, and each is what was printed.
const sees = (number) => eventually(async () => {
  const lines = await inSight();
  return lines.length > 5 && lines.some((line) => line.number === number) && lines.every((line) => line.text === String(line.number)) && lines;
}, `line ${number}`);
const wheel = async (by) => {
  await page.locator('.log').hover();
  await page.mouse.wheel(0, by);
};

test('an output too large for colours is shown without them, and the page says so', async () => {
  await page.goto(`${panel.origin}/c/${long}`);
  await page.getByText(/^Shown without colours: \d+ MiB are too many/).waitFor();
  await sees(1);
});

test('the last of nine million lines can be reached, and so can those between', async () => {
  await page.locator('.log').focus();
  await page.keyboard.press('End');
  const last = await sees(LINES);
  assert.equal(last.at(-1).number, LINES, 'it is the last line in sight');
  // A step of the wheel is a step, also here.
  await wheel(-100);
  await eventually(async () => (await inSight()).at(-1)?.number === LINES - 5, 'five lines up');
  // Halfway down the scroll bar is halfway down the lines.
  await page.locator('.log').evaluate((box) => { box.scrollTop = (box.scrollHeight - box.clientHeight) / 2; });
  const [half] = await eventually(async () => {
    const lines = await inSight();
    return lines[0]?.number > LINES * 0.49 && lines[0].number < LINES * 0.51 && lines.every((line) => line.text === String(line.number)) && lines;
  }, 'the middle');
  await wheel(200);
  await eventually(async () => (await inSight())[0]?.number === half.number + 10, 'ten lines further');
  // Many small steps stay small, and do not run to the end of the scroll bar.
  for (let at = 0; at < 20; at++) await wheel(400);
  await eventually(async () => (await inSight())[0]?.number === half.number + 10 + 20 * 20, 'four hundred lines further');
  await page.keyboard.press('Home');
  await sees(1);
});

test('a link to a line leads to that line, wherever it is', async () => {
  for (const number of [4_567_890, LINES, 1_700_000]) {
    await page.goto(`${panel.origin}/c/${long}#L${number}`);
    await page.locator('.log-at', { hasText: String(number) }).waitFor();
    await sees(number);
  }
});

test('long lines are wrapped for who wants it, and it is remembered', async () => {
  await page.goto(`${panel.origin}/c/${wide}`);
  const line = page.locator('#L2');
  await line.getByText(/wide wide/).waitFor();
  assert.equal((await line.boundingBox()).height, 20);
  await page.getByRole('button', { name: 'Wrap lines' }).click();
  await eventually(async () => (await line.boundingBox()).height >= 40, 'more than one row');
  const [wideness, room] = await page.locator('.log').evaluate((box) => [box.scrollWidth, box.clientWidth]);
  assert.ok(wideness <= room, `${wideness} > ${room}`);
  await page.reload();
  await eventually(async () => (await page.locator('#L2').boundingBox())?.height >= 40, 'wrapped again');
  // What is too long for that says so, and stays reachable.
  await page.goto(`${panel.origin}/c/${long}`);
  await page.getByText('Long lines are not wrapped: there are more than 5000 lines.').waitFor();
  await page.getByRole('button', { name: 'Wrap lines' }).click();
  await page.getByText('Long lines are not wrapped').waitFor({ state: 'detached' });
});

test('a search in a terminal covers all of its commands, and says how many', async () => {
  const many = await home.open('many');
  await home.person.call('exec', { terminal: many, command: 'echo the needle' });
  for (let at = 0; at < 50; at++) await home.person.call('exec', { terminal: many, command: `echo hay ${at}` });
  await page.goto(`${panel.origin}/t/${many}`);
  const field = page.getByRole('searchbox', { name: 'Search in this terminal' });
  await page.locator('.command-head').nth(50).waitFor();
  const asked = [];
  page.socket.on('framesent', ({ payload }) => { if (payload.includes('"grep"')) asked.push(JSON.parse(payload).args.grep); });
  await field.pressSequentially('needle', { delay: 10 });
  await page.locator('mark.now', { hasText: 'needle' }).waitFor();
  await page.locator('.hits').getByText('1 of 1').waitFor();
  assert.equal(asked.filter((each) => each.endsWith('needle')).length, 51);
  assert.ok(asked.length < 51 * 3, `${asked.length} searches for one word`); // not one for each letter
  await field.fill('nowhere');
  await page.getByText('No line has “nowhere”').waitFor();
  await page.getByText(/^Searched the output of the 51 commands that are listed here/).waitFor();
});

test('a search that fails says so instead of finding nothing', async () => {
  const [id] = [await home.open('broken')];
  await home.person.call('exec', { terminal: id, command: 'echo something' });
  const tab = await browser.another(page);
  await tab.routeWebSocket(/\/ws$/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const message = JSON.parse(text);
      if (message.args?.grep) return socket.send(JSON.stringify({ id: message.id, error: { code: 'unavailable', message: 'the disk is gone' } }));
      server.send(text);
    });
  });
  await tab.goto(`${panel.origin}/t/${id}`);
  await tab.locator('.command-head').waitFor();
  await tab.getByRole('searchbox', { name: 'Search in this terminal' }).fill('thing');
  await tab.getByText('1 command could not be searched: the disk is gone').waitFor();
  await tab.context().close();
});
