// Every view and what can be done in it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Browser, eventually, Home, inTime } from './harness.mjs';

let home, browser, panel, page, shop;

// An agent's command that needs an answer; the promise is of its result.
async function ask(command) {
  let asked;
  const opened = new Promise((resolve) => { asked = resolve; });
  const result = inTime(home.agent.call('exec', { terminal: shop, command, stream: true, yield_after_ms: 0, on_busy: 'wait' }, (part) => part.approval && asked(part.approval)), command);
  result.catch(() => {});
  return { id: await inTime(opened, `a question about ${command}`), result };
}
const card = (id) => page.locator(`article[data-question="${id}"]`);
// Cards take no click before they have stood still for half a second.
const still = () => page.waitForTimeout(600);

before(async () => {
  home = new Home();
  await home.begin();
  fs.writeFileSync(path.join(home.work, 'print.sh'), '#!/bin/bash\nfor i in $(seq 1 2000); do echo "line $i of the output"; done\nprintf "\\033[31mred error\\033[0m\\n"\nexit 3\n', { mode: 0o755 });
  shop = await home.open('shop', { task: 'checkout' });
  await home.person.call('exec', { terminal: shop, command: './print.sh' });
  panel = await home.panel();
  browser = await Browser.start();
  page = await browser.page();
  await page.goto(panel.link);
  await page.getByText('Nothing waits for you').waitFor();
});
after(async () => {
  await home.end();
  await browser.end();
});

test('the token does not stay in the address, and the page is within its budget', async () => {
  assert.equal(page.url(), panel.origin + '/');
  const sizes = await page.evaluate(() => performance.getEntriesByType('resource').map((each) => each.encodedBodySize));
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(whole > 10_000 && whole < 250_000, `${whole} bytes`);
});

test('a question shows everything, and an answer reaches the agent', async () => {
  const { id, result } = await ask('npm test -- --cover\u200bage');
  await card(id).waitFor();
  const text = await card(id).innerText();
  assert.match(text, /codex/);
  assert.match(text, /U\+200B/);
  assert.match(text, /1 hidden character/);
  assert.match(text, /left/);
  assert.match(await page.title(), /^\(1\) Approvals/);
  assert.match(await page.locator('link[rel=icon]').getAttribute('href'), /^data:image\/svg/);
  await card(id).getByRole('button', { name: 'Deny…' }).click();
  await card(id).getByLabel(/Tell codex why/).fill('not today');
  await still();
  await page.keyboard.press('Enter');
  const denied = await result;
  assert.equal(denied.state, 'denied');
  assert.match(denied.reason, /not today/);
  await page.locator('.note-line', { hasText: 'was denied here.' }).waitFor();
  await page.getByText('Nothing waits for you').waitFor();
  assert.doesNotMatch(await page.title(), /\(/);
});

test('allow once, by its key', async () => {
  const { id, result } = await ask('touch allowed-once');
  await card(id).waitFor();
  await card(id).focus();
  await still();
  await page.keyboard.press('a');
  assert.equal((await result).exit_code, 0);
  assert.ok(fs.existsSync(path.join(home.work, 'allowed-once')));
});

test('a click on what has just arrived does not count', async () => {
  // The page itself clicks, in the moment the button is there.
  await page.evaluate(() => {
    const watcher = new MutationObserver(() => {
      const button = document.querySelector('.act-allow');
      if (!button) return;
      watcher.disconnect();
      button.click();
      window.clicked = true;
    });
    watcher.observe(document.body, { childList: true, subtree: true });
  });
  const { id, result } = await ask('touch too-soon');
  await card(id).waitFor();
  await eventually(() => page.evaluate(() => window.clicked), 'the click');
  await still();
  const { approvals } = await home.person.call('approvals');
  assert.equal(approvals.length, 1, 'it is still open');
  await card(id).getByRole('button', { name: 'Skip' }).click();
  assert.equal((await result).state, 'skipped');
});

test('for the session: the next one like it is not asked', async () => {
  const { id, result } = await ask('touch for-the-session');
  await card(id).waitFor();
  await still();
  await card(id).getByRole('button', { name: 'For this session' }).click();
  assert.equal((await result).exit_code, 0);
  const again = await home.agent.call('exec', { terminal: shop, command: 'touch for-the-session' });
  assert.equal(again.exit_code, 0);
});

test('always, with the rule changed first', async () => {
  const { id, result } = await ask('mkdir always');
  await card(id).waitFor();
  await still();
  await card(id).getByRole('button', { name: 'Always…' }).click();
  const field = page.getByLabel('The rule');
  const rule = await field.inputValue();
  assert.match(rule, /\[\[rule\]\]/);
  await field.fill(rule.replace(/name = ".*"/, 'name = "changed in the panel"'));
  await page.getByRole('button', { name: 'Allow and store' }).click();
  assert.equal((await result).exit_code, 0);
  const { rules } = await home.person.call('rules', {});
  assert.ok(rules.some((each) => each.name === 'changed in the panel'), JSON.stringify(rules));
});

test('a critical one is allowed once, after the word is typed', async () => {
  const { id, result } = await ask('git push --force origin main');
  await card(id).waitFor();
  assert.match(await card(id).innerText(), /Critical/);
  assert.ok(await card(id).getByRole('button', { name: 'Allow once' }).isDisabled());
  assert.equal(await card(id).getByRole('button', { name: 'Always…' }).count(), 0);
  assert.equal(await card(id).getByRole('button', { name: 'For this session' }).count(), 0);
  await card(id).focus();
  await still();
  await page.keyboard.press('a');
  await page.keyboard.type('allow');
  await page.keyboard.press('Enter');
  assert.equal((await result).state, 'exited');
});

test('an answer raced from the command line and the panel: one of them wins, both are told', async () => {
  const { id, result } = await ask('touch raced');
  await card(id).waitFor();
  await still();
  const [cli] = await Promise.all([
    home.person.call('answer', { approval: id, decision: 'deny', reason: 'from the socket' }).then(() => 'won', () => 'lost'),
    card(id).getByRole('button', { name: 'Allow once' }).click({ timeout: 5000 }).catch(() => {}), // the card may be gone already
  ]);
  const ended = await result;
  await card(id).waitFor({ state: 'detached' });
  assert.equal(ended.state, cli === 'won' ? 'denied' : 'exited');
  const { approvals } = await home.person.call('approvals', { all: true });
  assert.equal(approvals.filter((each) => each.id === id).length, 1);
});

test('what was answered elsewhere goes, with a note', async () => {
  const { id, result } = await ask('touch elsewhere');
  await card(id).waitFor();
  const done = home.run('approvals', 'allow', id);
  assert.equal(done.code, 0, done.err);
  await page.locator('.note-line', { hasText: 'was allowed on the command line.' }).waitFor();
  assert.equal((await result).exit_code, 0);
});

test('the third question is a row that opens and does not answer', async () => {
  const open = [];
  const others = [];
  for (let at = 0; at < 3; at++) {
    const terminal = await home.open(`row-${at}`);
    let asked;
    const id = new Promise((resolve) => { asked = resolve; });
    others.push(home.agent.call('exec', { terminal, command: `touch row-${at}`, stream: true, yield_after_ms: 0 }, (part) => part.approval && asked(part.approval)));
    open.push(await id);
  }
  const row = page.locator(`button[data-question="${open[2]}"]`);
  await row.click();
  await card(open[2]).waitFor();
  assert.equal((await home.person.call('approvals')).approvals.length, 3);
  await page.keyboard.press('k');
  await page.locator(`article.is-chosen[data-question="${open[1]}"]`).waitFor();
  for (const id of open) await home.person.call('answer', { approval: id, decision: 'deny' });
  await Promise.all(others);
  await page.getByText('Nothing waits for you').waitFor();
});

test('output that tries to be more than text stays text', async () => {
  const evil = await home.open('evil');
  await home.person.call('exec', { terminal: evil, command: "printf '\\033]0;<img src=x onerror=alert(1)>\\007\\033]8;;javascript:alert(1)\\033\\\\link\\033]8;;\\033\\\\ <script>alert(2)</script> \\u202eevil\\033]52;c;aGk=\\007\\n'" });
  await page.goto(`${panel.origin}/t/${evil}`);
  await page.locator('.xterm-rows').getByText('link <script>alert(2)</script>').last().waitFor();
  assert.equal(await page.locator('a[href^="javascript:"]').count(), 0);
  assert.equal(await page.locator('img').count(), 0);
  assert.doesNotMatch(await page.title(), /onerror/);
});

test('terminals: tiles, filters, one opened', async () => {
  await page.goto(`${panel.origin}/terminals`);
  const tile = page.locator(`article[data-terminal="${shop}"]`);
  await eventually(async () => /\$|#/.test(await tile.locator('.shot').innerText()), 'a picture with a prompt');
  const web = await home.open('web');
  await home.person.call('exec', { terminal: web, command: 'python3 -u -m http.server 0 --bind 127.0.0.1', yield_after_ms: 300 });
  const tileOfWeb = page.locator(`article[data-terminal="${web}"]`);
  await tileOfWeb.locator('.chip-port').waitFor();
  assert.match(await tileOfWeb.innerText(), /:\d+[^]*running/);
  await home.person.call('kill', { terminal: web, force: true });
  await page.getByRole('searchbox', { name: 'Filter' }).fill('row-1');
  await eventually(async () => (await page.locator('.tile').count()) === 1, 'one tile');
  await page.getByRole('searchbox', { name: 'Filter' }).fill('');
  await page.getByRole('group', { name: 'State' }).getByRole('button', { name: 'Running' }).click();
  await eventually(() => page.url().includes('state=running'));
  await page.getByRole('group', { name: 'State' }).getByRole('button', { name: 'All' }).click();
  await page.getByRole('link', { name: 'checkout' }).click();
  await eventually(async () => (await page.locator('.tile').count()) === 1, 'one task');
  await page.locator('.tile-link').first().click();
  await page.waitForURL(`**/t/${shop}`);
});

test('history: a command, its lines, a search, a link to a line', async () => {
  await page.goto(`${panel.origin}/history`);
  const head = page.getByRole('button', { name: /\.\/print\.sh/ });
  assert.match(await head.innerText(), /exit code 3/);
  await head.click();
  await page.getByText('line 1 of the output', { exact: true }).waitFor();
  assert.ok((await page.locator('.log-line').count()) < 400, 'only lines in sight are there');
  await page.getByLabel('Search in the output').fill('line 1999');
  await page.getByText('1 of 1 matches').waitFor();
  await page.locator('mark.now', { hasText: 'line 1999' }).waitFor();
  await page.locator('.log-line a', { hasText: /^1999$/ }).click();
  await eventually(() => page.url().endsWith('#L1999'));
  await page.reload();
  await page.locator('.log-at', { hasText: 'line 1999 of the output' }).waitFor();
  await page.getByText('red error').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download raw' }).click();
  const bytes = fs.readFileSync(await (await download).path(), 'utf8');
  assert.match(bytes, /line 2000 of the output\r?\n\u001b\[31mred error/);
  await page.getByRole('button', { name: 'Decisions' }).click();
  await page.getByText(/denied, (here|in another browser)/).first().waitFor();
});

test('what a compiler said is listed, with its lines', async () => {
  fs.writeFileSync(path.join(home.work, 'bad.c'), 'int main(void) {\n  return nothing;\n}\n');
  const { command_id: id } = await home.person.call('exec', { terminal: shop, command: 'gcc -c bad.c' });
  await page.goto(`${panel.origin}/c/${id}`);
  const facts = page.getByRole('region', { name: 'Found in the output' });
  await facts.getByText('bad.c:2').waitFor();
  await page.locator('.log-error').first().waitFor();
  await facts.getByRole('button', { name: /^Line/ }).first().click();
  await page.locator('.log-at', { hasText: 'nothing' }).waitFor();
});

test('what a try changed is shown, applied and taken back', async (t) => {
  const tried = await home.person.call('run', { command: 'echo two > tried.txt', cwd: home.work, try: true }).catch((error) => ({ error }));
  if (tried.error || tried.exit_code !== 0) return t.skip(`no layer over a folder here: ${tried.error?.message ?? tried.reason}`);
  await page.goto(`${panel.origin}/c/${tried.command_id}`);
  const changes = page.getByRole('region', { name: 'Changes of this try' });
  await changes.getByText('+two').waitFor();
  assert.ok(!fs.existsSync(path.join(home.work, 'tried.txt')));
  await changes.getByRole('button', { name: 'Apply 1 file' }).click();
  await changes.getByRole('button', { name: 'Undo' }).waitFor();
  assert.equal(fs.readFileSync(path.join(home.work, 'tried.txt'), 'utf8'), 'two\n');
  await changes.getByRole('button', { name: 'Undo' }).click();
  await changes.getByText('taken back').waitFor();
  assert.ok(!fs.existsSync(path.join(home.work, 'tried.txt')));
});

test('overview says what ran and what was asked', async () => {
  await page.goto(`${panel.origin}/overview`);
  await eventually(async () => /Failed\s*[1-9]/.test(await page.locator('.overview').innerText()), 'a failure');
  await page.getByRole('button', { name: '7 days' }).click();
  await page.getByText('Commands per day').waitFor();
  assert.ok((await page.locator('.plot-ok').count()) > 0);
});

test('settings: a command is tried, a rule added after its difference, and removed', async () => {
  await page.goto(`${panel.origin}/settings/permissions`);
  await page.getByRole('textbox', { name: 'Command' }).fill('rm -rf ~');
  await page.locator('.verdict').getByText(/Asks|Refused/).waitFor();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByLabel('The rule').fill('[[rule]]\nname = "from settings"\ndecision = "allow"\ncommand = "make lint"\n');
  await page.getByRole('button', { name: 'Review…' }).click();
  await page.getByLabel('Difference').getByText('command = "make lint"').waitFor();
  assert.equal((await home.person.call('rules', {})).rules.some((each) => each.name === 'from settings'), false, 'nothing is saved yet');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const row = page.locator('.rule', { hasText: 'from settings' });
  await row.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByLabel('yolo').click();
  await page.getByRole('dialog', { name: 'No questions at all?' }).getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('plan').click();
  await eventually(async () => (await page.getByLabel('plan').isChecked()), 'the mode');
  await page.getByLabel('default').click();
});

test('a rule that was written past ttyward is shown, and holds once it is confirmed', async () => {
  const file = path.join(home.home, 'config', 'rules.toml');
  fs.appendFileSync(file, '\n[[rule]]\nname = "slipped in"\ndecision = "allow"\ncommand = "make deploy"\n');
  await home.person.call('reload');
  await page.goto(`${panel.origin}/settings/permissions`);
  await page.getByRole('heading', { name: 'Not confirmed' }).waitFor();
  assert.equal((await home.person.call('check', { command: 'make deploy', cwd: home.work })).decision, 'ask');
  await page.getByRole('button', { name: 'Confirm these' }).click();
  await page.getByRole('heading', { name: 'Not confirmed' }).waitFor({ state: 'detached' });
  assert.equal((await home.person.call('check', { command: 'make deploy', cwd: home.work })).decision, 'allow');
});

test('keys move between views; the palette finds a terminal', async () => {
  await page.goto(`${panel.origin}/`);
  await page.getByText('Nothing waits for you').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.waitForURL('**/terminals');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Views, terminals, commands' }).fill('row-2');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/t/*');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
});

test('themes, and text that can be read in each', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const theme of ['light', 'dark', 'contrast']) {
    for (const view of ['/', '/terminals', '/history', '/overview', '/settings/permissions']) {
      await page.goto(panel.origin + view);
      await page.locator('h1').waitFor();
      await page.evaluate((name) => { document.documentElement.dataset.theme = name; }, theme);
      const worst = await page.evaluate(lowestContrast);
      assert.ok(worst.ratio >= 4.5, `${theme} ${view}: ${worst.ratio.toFixed(2)} ${worst.what}`);
    }
  }
});

test('every button, link and field has a name; one heading leads', async () => {
  for (const view of ['/', '/terminals', `/t/${shop}`, '/history', '/overview', '/settings/permissions', '/settings/appearance', '/settings/links', '/settings/notifications', '/settings/about']) {
    await page.goto(panel.origin + view);
    await page.locator('h1').waitFor();
    await page.waitForTimeout(150);
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, a[href], input, select, textarea, [role=img]')].filter((each) => {
      if (!each.checkVisibility()) return false;
      const labels = each.labels ? [...each.labels].map((label) => label.textContent).join('') : '';
      return !(each.getAttribute('aria-label') || labels || each.textContent || each.getAttribute('title') || '').trim();
    }).map((each) => each.outerHTML.slice(0, 120)));
    assert.deepEqual(nameless, [], view);
    assert.equal(await page.locator('h1').count(), 1, view);
    assert.equal(await page.locator('main').count(), 1, view);
  }
});

test('on a phone: everything is reachable and nothing is wider than the screen', async () => {
  const phone = await browser.page({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, storageState: await page.context().storageState() });
  const { id, result } = await ask('touch from-the-phone');
  await phone.goto(panel.origin + '/');
  const question = phone.locator(`article[data-question="${id}"]`);
  await question.waitFor();
  const deny = await question.getByRole('button', { name: 'Deny…' }).boundingBox();
  const allow = await question.getByRole('button', { name: 'Allow once' }).boundingBox();
  assert.ok(allow.x - (deny.x + deny.width) >= 24, 'far apart');
  assert.ok(deny.height >= 44 && allow.height >= 44, 'large');
  await phone.waitForTimeout(600);
  await question.getByRole('button', { name: 'Allow once' }).tap();
  assert.equal((await result).exit_code, 0);
  for (const view of ['/', '/terminals', `/t/${shop}`, '/history', '/overview', '/settings/permissions']) {
    await phone.goto(panel.origin + view);
    await phone.locator('h1').waitFor();
    const [wide, inner] = await phone.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(wide <= inner, `${view}: ${wide} > ${inner}`);
  }
  await phone.context().close();
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
