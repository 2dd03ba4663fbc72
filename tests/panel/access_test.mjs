// For everybody: what a checker finds, what can be read, and what can be reached without a mouse.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { beforeEach, test } from 'node:test';
import { eventually, PHONE, sameScreen, stage } from './harness.mjs';

const AXE = fs.readFileSync(createRequire(new URL('../../panel/package.json', import.meta.url)).resolve('axe-core/axe.min.js'), 'utf8');
const THEMES = ['light', 'dark', 'contrast'];

let home, browser, panel, page, views, shell, asking, questions;

stage({
  prepare: async (at) => {
    fs.writeFileSync(path.join(at.work, 'bad.c'), 'int main(void) {\n  return nothing;\n}\n');
    shell = await at.open('shell', { task: 'checkout' });
    await at.person.call('exec', { terminal: shell, command: 'seq 1 300' });
    const { command_id: id } = await at.person.call('exec', { terminal: shell, command: 'gcc -c bad.c' });
    const runs = await at.open('runs', { task: 'checkout' });
    await at.person.call('exec', { terminal: runs, command: 'python3 -u -m http.server 0 --bind 127.0.0.1', yield_after_ms: 300 });
    const over = await at.open('over');
    await at.person.call('kill', { terminal: over, force: true });
    asking = await Promise.all(['q0', 'q1', 'q2'].map((name) => at.open(name)));
    const asks = await at.open('asks');
    await at.person.call('exec', { terminal: asks, command: 'read -rsp "Password: " word', yield_after_ms: 300 });
    await at.person.call('rule_add', { text: '[[rule]]\nname = "the tests"\ndecision = "allow"\ncommand = "npm test"\n' });
    // Each with what shows that it is there.
    views = [
      ['/', '.questions[aria-busy="false"]'], ['/terminals', '.tile .shot div'], ['/terminals?q=none', '.empty'],
      [`/t/${shell}`, '.xterm-rows'], [`/t/${shell}?q=nothing`, '.log mark'], [`/t/${over}`, '.empty'], [`/t/${asks}`, '.lease'], ['/t/tnone', '.empty'],
      ['/history', '.command-head'], [`/c/${id}`, '.facts'], [`/c/${id}?find=nothing`, '.log mark'], ['/history?view=decisions', '.commands, .rows, .empty'],
      ['/overview', '.plot-ok'], ['/settings/permissions', '.rule'], ['/settings/folders', '.setting'], ['/settings/sandbox', '.setting'], ['/settings/links', '#main .btn'], ['/settings/notifications', '.toggle'], ['/settings/appearance', '.toggle'], ['/settings/about', '#main .link'],
    ];
  },
}, async (all) => {
  ({ home, browser, panel, page } = all);
  await page.emulateMedia({ reducedMotion: 'reduce' });
});

// One of each kind: a harmless one, a critical one, and a row. They are asked anew for each test: nobody answers them, and that ends them.
beforeEach(async () => {
  for (const { id } of questions ?? []) await home.person.call('answer', { approval: id, decision: 'deny' }).catch(() => {});
  questions = [];
  for (const command of ['touch one', 'git push --force origin main', 'npm ci > log\u200b.txt'])
    questions.push(await home.ask(asking[questions.length], command));
});

async function open(view, ready, where = page) {
  await where.goto(panel.origin + view);
  await where.locator('h1').first().waitFor();
  await where.locator(ready).first().waitFor();
}

// In the page: what the checker finds. Colours inside terminals are the programs', except that the page lifts their contrast.
async function check(where, rules) {
  if (!(await where.evaluate(() => 'axe' in window))) await where.evaluate(AXE);
  return where.evaluate(async (only) => {
    const { violations } = await window.axe.run({ exclude: ['.thumb'] }, { resultTypes: ['violations'], runOnly: only ?? undefined });
    return violations.map((each) => `${each.id}: ${each.help}\n${each.nodes.slice(0, 4).map((node) => `    ${node.target}: ${node.html.slice(0, 160)}\n      ${node.any.map((one) => one.message).join('; ')}`).join('\n')}`);
  }, rules && { type: 'rule', values: rules });
}

const setTheme = (where, theme) => where.evaluate((name) => { document.documentElement.dataset.theme = name; window.dispatchEvent(new Event('ttyward-theme')); }, theme);

test('a checker finds nothing in any view, in light, dark and high contrast', async (t) => {
  const found = [];
  let runs = 0;
  for (const [view, ready] of views) {
    await open(view, ready);
    for (const theme of THEMES) {
      await setTheme(page, theme);
      const rules = theme === 'light' ? null : theme === 'dark' ? ['color-contrast'] : ['color-contrast', 'color-contrast-enhanced'];
      found.push(...(await check(page, rules)).map((each) => `${view} (${theme}) ${each}`));
      runs++;
    }
  }
  t.diagnostic(`${runs} checks of ${views.length} views`);
  assert.deepEqual(found, [], found.join('\n'));
});

test('nor in what opens over them, nor on a phone', async (t) => {
  const found = [];
  let runs = 0;
  const look = async (what, where = page) => {
    for (const theme of THEMES) {
      await setTheme(where, theme);
      found.push(...(await check(where, theme === 'light' ? null : ['color-contrast'])).map((each) => `${what} (${theme}) ${each}`));
      runs++;
    }
  };
  const dialog = async (what, act) => {
    await act();
    await page.getByRole('dialog').waitFor();
    await look(what);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await open('/', '.question');
  await dialog('the palette', () => page.keyboard.press('Control+k'));
  await dialog('the keys', () => page.keyboard.press('?'));
  await dialog('a rule', () => page.getByRole('button', { name: 'Always…' }).first().click());
  await page.getByRole('button', { name: 'Deny…' }).first().click();
  await page.getByLabel(/Tell codex why/).waitFor();
  await look('denying');
  await open(`/t/${shell}`, '.xterm-rows');
  for (const name of ['Paste…', 'Kill…', 'More']) await dialog(name, () => page.getByRole('button', { name, exact: true }).click());
  await page.getByRole('button', { name: 'Take the keyboard' }).click();
  await page.locator('.is-mine').waitFor();
  await look('with the keyboard');
  await page.keyboard.press('F6');
  await page.keyboard.press('g');
  await open('/settings/permissions', '.rule');
  await dialog('a new rule', () => page.getByRole('button', { name: 'Add a rule' }).click());
  await page.getByRole('textbox', { name: 'Command' }).fill('rm -rf ~ > x');
  await page.locator('.verdict').waitFor();
  await look('a command tried');
  const phone = await browser.another(page, PHONE);
  await phone.emulateMedia({ reducedMotion: 'reduce' });
  for (const [view, ready] of views.filter(([each]) => !/none|find|q=/.test(each))) {
    await phone.goto(panel.origin + view);
    await phone.locator(ready).first().waitFor({ state: 'attached' });
    await look(`phone ${view}`, phone);
  }
  await phone.context().close();
  const out = await browser.page();
  await out.goto(panel.origin + '/');
  await out.getByText('This page is not signed in.').waitFor();
  await look('signed out', out);
  await out.context().close();
  t.diagnostic(`${runs} checks`);
  assert.deepEqual(found, [], found.join('\n'));
});

test('text can be read in each theme', async (t) => {
  const lowest = Object.fromEntries(THEMES.map((theme) => [theme, { ratio: 21 }]));
  for (const [view, ready] of views) {
    await open(view, ready);
    for (const theme of THEMES) {
      await setTheme(page, theme);
      const worst = await page.evaluate(lowestContrast);
      if (worst.ratio < lowest[theme].ratio) lowest[theme] = { ...worst, view };
    }
  }
  t.diagnostic(THEMES.map((theme) => `${theme} ${lowest[theme].ratio.toFixed(2)}`).join(', '));
  for (const theme of THEMES) assert.ok(lowest[theme].ratio >= (theme === 'contrast' ? 7 : 4.5), `${theme}: ${JSON.stringify(lowest[theme])}`);
});

// In the page: numbers what can have the focus, as Tab is to find it. Of a group of radio buttons it finds one.
function numberStops() {
  const groups = new Set();
  const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')].filter((each) => {
    if (each.tabIndex < 0 || each.disabled || each.closest('fieldset:disabled') || !each.checkVisibility({ visibilityProperty: true })) return false;
    if (each.type !== 'radio') return true;
    if (groups.has(each.name)) return false;
    groups.add(each.name);
    return true;
  });
  stops.forEach((each, at) => { each.dataset.stop = at; });
  return stops.map((each) => each.outerHTML.slice(0, 140));
}

// In the page: what has the focus now, whether it shows it, and whether it is in sight.
function focusNow() {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const radio = at.type === 'radio' && document.querySelector(`input[type=radio][name="${at.name}"][data-stop]`);
  const marked = (element) => {
    const style = getComputedStyle(element);
    return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) || style.boxShadow !== 'none';
  };
  const box = at.getBoundingClientRect();
  const field = at.closest('.field, label, .choice, .tile');
  return {
    stop: (radio || at).dataset.stop,
    html: at.outerHTML.slice(0, 140),
    marked: marked(at) || Boolean(field && marked(field)),
    seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
  };
}

test('Tab reaches everything in every view, shows where it is, and stays nowhere', async (t) => {
  const problems = [];
  let stops = 0;
  for (const [view, ready] of views) {
    await open(view, ready);
    await page.evaluate(() => document.activeElement?.blur());
    const wanted = await page.evaluate(numberStops);
    const reached = new Set();
    let first = null;
    for (let press = 0; press < wanted.length + 12 && reached.size < wanted.length; press++) {
      await page.keyboard.press('Tab');
      const now = await page.evaluate(focusNow);
      if (!now) continue;
      first ??= now.html;
      if (now.stop !== undefined) reached.add(Number(now.stop));
      if (!now.marked) problems.push(`${view}: the focus cannot be seen on ${now.html}`);
      if (!now.seen) problems.push(`${view}: out of sight: ${now.html}`);
    }
    if (!/Skip to content|class="skip"/.test(first ?? '')) problems.push(`${view}: Tab begins with ${first}`);
    // What is beside a question changes with the question.
    const there = new Set(await page.$$eval('[data-stop]', (all) => all.map((each) => Number(each.dataset.stop))));
    wanted.forEach((html, at) => { if (!reached.has(at) && there.has(at)) problems.push(`${view}: not reached: ${html}`); });
    stops += reached.size;
  }
  t.diagnostic(`${stops} stops in ${views.length} views`);
  assert.deepEqual([...new Set(problems)], [], problems.join('\n'));
});

test('a day without a mouse', async () => {
  const { keyboard } = page;
  const focused = (pattern) => eventually(async () => pattern.test(await page.evaluate(() => document.activeElement?.outerHTML ?? '')), `the focus on ${pattern}`);
  await open('/', '.question');
  // Down to the third question, which is a row; deny it with a reason.
  await keyboard.press('j');
  await keyboard.press('j');
  await focused(new RegExp(questions[2].id));
  await page.locator(`article.is-chosen[data-question="${questions[2].id}"]`).waitFor();
  await keyboard.press('d');
  await page.getByLabel(/Tell codex why/).waitFor();
  await keyboard.type('not like that');
  let over = false;
  questions[2].result.finally(() => { over = true; });
  await eventually(async () => { // it counts once the card has stood still
    if (!over) await keyboard.press('Enter');
    return over;
  }, 'an answer');
  assert.match((await questions[2].result).reason, /not like that/);
  // To the terminals; filter; open one; take its keyboard, type, leave it, give it back.
  await keyboard.press('g');
  await keyboard.press('t');
  await page.waitForURL('**/terminals');
  await keyboard.press('/');
  await keyboard.type('shell');
  await eventually(async () => (await page.locator('.tile').count()) === 1, 'one tile');
  await page.evaluate(() => document.activeElement.blur());
  await keyboard.press('j');
  await focused(/tile-link/);
  await keyboard.press('Enter');
  await page.waitForURL(`**/t/${shell}*`);
  await page.locator('.xterm-rows').waitFor();
  await keyboard.press('t');
  await page.locator('.is-mine').waitFor();
  await keyboard.type('echo "by $((1 + 1)) hands"');
  await keyboard.press('Enter');
  await page.locator('.xterm-rows').getByText('by 2 hands', { exact: true }).first().waitFor();
  await sameScreen(home, page, shell, 'the shell');
  await keyboard.press('F6');
  await keyboard.press('g');
  await page.locator('.is-mine').waitFor({ state: 'detached' });
  await keyboard.press('Escape');
  await page.waitForURL('**/terminals');
  // To the history: open a command, find something, go from line to line.
  await keyboard.press('g');
  await keyboard.press('h');
  await page.locator('.command-head').first().waitFor();
  const wanted = page.getByRole('button', { name: /gcc -c bad\.c/ });
  await eventually(async () => {
    await keyboard.press('j');
    return wanted.evaluate((head) => head === document.activeElement);
  }, 'the command');
  await keyboard.press('Enter');
  await page.locator('.facts').waitFor();
  await keyboard.press('e');
  await eventually(() => /#L\d+$/.test(page.url()), 'an error');
  await page.locator('.log-line.log-at a').focus();
  await keyboard.press('ArrowDown');
  await keyboard.press('Enter');
  const line = Number(/#L(\d+)$/.exec(page.url())[1]);
  await page.locator('.log-line.log-at', { hasText: new RegExp(`^${line}`) }).waitFor();
  // And to the settings: another theme by Tab and arrows.
  await keyboard.press('g');
  await keyboard.press('o');
  await page.locator('.plot-ok').first().waitFor();
  await keyboard.press('g');
  await keyboard.press('s');
  await page.getByRole('link', { name: 'Appearance' }).focus();
  await keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Theme' }).focus();
  await keyboard.type('High');
  await eventually(() => page.evaluate(() => document.documentElement.dataset.theme === 'contrast'), 'high contrast');
});

// In the page: the lowest contrast of text and its ground, of what is not disabled.
function lowestContrast() {
  const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const shine = ([r, g, b]) => {
    const part = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a > 0.99) return [r, g, b];
    }
    return [255, 255, 255];
  };
  let worst = { ratio: 21, what: '' };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility() || element.closest('.unseen, :disabled, .thumb, .xterm, .log, svg, option, .skip, script, style')) continue;
    const a = shine(parse(getComputedStyle(element).color)) + 0.05;
    const b = shine(ground(element)) + 0.05;
    const ratio = Math.max(a, b) / Math.min(a, b);
    if (ratio < worst.ratio) worst = { ratio, what: `${element.className} "${node.textContent.slice(0, 40)}"` };
  }
  return worst;
}
