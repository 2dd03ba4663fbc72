// What the page paints is the terminal: every cell with its style, and every dot.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually, sameScreen, stage } from './harness.mjs';

let home, browser, panel, page;
stage({}, (all) => { ({ home, browser, panel, page } = all); });

const has = (program) => spawnSync('which', [program]).status === 0;

// In the page: each character of the screen with how it is drawn, row by row. The cursor's cell is drawn in its own way.
function drawnCells() {
  const seen = new Map();
  const style = (span) => {
    const key = `${span.className}|${span.getAttribute('style')}`;
    if (!seen.has(key)) {
      const is = getComputedStyle(span);
      seen.set(key, { colour: is.color, ground: is.backgroundColor, bold: Number(is.fontWeight) >= 600, italic: is.fontStyle === 'italic', under: is.textDecorationLine.includes('underline') });
    }
    return seen.get(key);
  };
  return [...document.querySelectorAll('.xterm-rows > div')].map((row) => {
    const cells = [...row.children].flatMap((span) => Array.from(span.textContent, (char) => (
      { char: char === '\u00a0' ? ' ' : char, cursor: span.classList.contains('xterm-cursor'), ...style(span) })));
    return cells;
  });
}

const blank = (cell) => cell.char === ' ' && cell.ground === 'rgba(0, 0, 0, 0)' && !cell.under;

// The daemon's screen and the page's: the same characters; where the one has another ground, colour or style, the other has, too.
async function sameCells(terminal) {
  const { content } = await home.person.call('screen', { terminal, format: 'json' });
  const drawn = await page.evaluate(drawnCells);
  const grounds = new Map();
  const names = new Map();
  const colours = new Map();
  let cells = 0;
  for (const { row, segments } of JSON.parse(content).lines) {
    const real = segments.flatMap((each) => Array.from(each.text, (char) => ({ ...each, char })));
    assert.ok(drawn[row].slice(real.length).every((cell) => cell.cursor || blank(cell)), `row ${row}: more than there is`);
    real.forEach((each, col) => {
      const cell = drawn[row][col];
      const where = `row ${row}, column ${col}, ${JSON.stringify(each)}, ${JSON.stringify(cell)}`;
      assert.equal(cell.char, each.char, where);
      cells++;
      if (cell.cursor) return;
      const ground = each.inverse ? each.foreground ?? 'text' : each.background ?? 'none';
      assert.equal(grounds.get(ground) ?? cell.ground, cell.ground, `one ground, drawn in two ways: ${where}`);
      assert.equal(names.get(cell.ground) ?? ground, ground, `two grounds, drawn in one way: ${where}`);
      grounds.set(ground, cell.ground);
      names.set(cell.ground, ground);
      if (each.char.trim() === '') return;
      const colour = `${ground} ${each.inverse ? each.background : each.foreground} ${each.bold} ${each.dim}`;
      assert.equal(colours.get(colour) ?? cell.colour, cell.colour, `one colour, drawn in two ways: ${where}`);
      colours.set(colour, cell.colour);
      assert.deepEqual([cell.bold, cell.italic, cell.under], [each.bold, each.italic, each.underline], where);
    });
  }
  return { cells, grounds: grounds.size, colours: colours.size };
}

// The same screen, painted bit by bit while it came into being and at once in a new page, is the same picture.
async function samePicture(terminal) {
  const fresh = await browser.another(page);
  await fresh.goto(page.url());
  await fresh.locator('.xterm-rows').waitFor();
  await sameScreen(home, fresh, terminal, 'the new page');
  const dots = async (one) => (await one.locator('.xterm-place').screenshot({ animations: 'disabled' }));
  let [before, after] = [];
  await eventually(async () => {
    [before, after] = [await dots(page), await dots(fresh)];
    return before.equals(after);
  }, 'one picture').catch(() => {
    const folder = fs.mkdtempSync(path.join(process.env.TMPDIR ?? '/tmp', 'panel-pictures-'));
    fs.writeFileSync(path.join(folder, 'bit-by-bit.png'), before);
    fs.writeFileSync(path.join(folder, 'at-once.png'), after);
    assert.fail(`the pictures differ: ${folder}`);
  });
  await fresh.context().close();
  return before.length;
}

async function watch(terminal) {
  await page.goto(`${panel.origin}/t/${terminal}`);
  await page.locator('.xterm-rows').waitFor();
}

test('htop, cell by cell and dot by dot', { skip: !has('htop') && 'needs htop' }, async (t) => {
  const { terminal_id: terminal, pid } = await home.person.call('run', { argv: ['htop', '-d', '2'], size: { cols: 120, rows: 36 }, yield_after_ms: 100, wait_for_input: true });
  await watch(terminal);
  await page.locator('.xterm-rows').getByText('Uptime').first().waitFor();
  await home.person.call('input', { terminal, keys: 'Down Down Down' });
  // It paints again and again; stopped, it leaves its screen as it is.
  process.kill(pid, 'SIGSTOP');
  await sameScreen(home, page, terminal, 'htop');
  const { cells, grounds, colours } = await sameCells(terminal);
  assert.ok(cells > 1000 && grounds >= 3 && colours >= 5, `${cells} cells, ${grounds} grounds, ${colours} colours`);
  const bytes = await samePicture(terminal);
  t.diagnostic(`${cells} cells, ${grounds} grounds, ${colours} colours; two pictures of ${bytes} bytes are one`);
  process.kill(pid, 'SIGKILL');
});

test('vim, cell by cell and dot by dot', { skip: !has('vim') && 'needs vim' }, async (t) => {
  fs.writeFileSync(path.join(home.work, 'total.c'), Array.from({ length: 80 }, (_, at) => (at % 5 ? `  if (sum > ${at}) return "é漢字🙂 ${at}"; /* line ${at} */` : `int total_${at}(void) {`)).join('\n') + '\n');
  const { terminal_id: terminal } = await home.person.call('run', {
    argv: ['vim', '-u', 'NONE', '-N', '+syntax on', '+set number cursorline hlsearch t_Co=256', 'total.c'], cwd: home.work, size: { cols: 100, rows: 30 }, yield_after_ms: 100, wait_for_input: true,
  });
  await watch(terminal);
  await page.locator('.xterm-rows').getByText('total_0').first().waitFor();
  await home.person.call('input', { terminal, text: '/sum' });
  await home.person.call('input', { terminal, keys: 'Enter' });
  await home.person.call('input', { terminal, keys: 'C-f C-b' });
  await home.person.call('input', { terminal, text: '5GVjjj' });
  await page.locator('.xterm-rows').getByText('VISUAL LINE').first().waitFor();
  await home.person.call('wait', { terminal, stable_ms: 300, timeout_ms: 60_000 });
  await sameScreen(home, page, terminal, 'vim');
  const { cells, grounds, colours } = await sameCells(terminal);
  assert.ok(cells > 500 && grounds >= 3 && colours >= 5, `${cells} cells, ${grounds} grounds, ${colours} colours`);
  const bytes = await samePicture(terminal);
  t.diagnostic(`${cells} cells, ${grounds} grounds, ${colours} colours; two pictures of ${bytes} bytes are one`);
  await home.person.call('kill', { terminal, force: true });
});
