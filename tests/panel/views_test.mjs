// Every view and what can be done in it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { eventually, PATIENCE, PHONE, Socket, stage } from './harness.mjs';

let home, browser, panel, page, shop;

const ask = (command) => home.ask(shop, command);
const card = (id) => page.locator(`article[data-question="${id}"]`);
const titled = (pattern) => eventually(async () => pattern.test(await page.title()), `a title like ${pattern}`);

// A card takes no click and no key before it has stood still for half a second: do it until it counts.
async function insist(question, act) {
  let over = false;
  question.result.finally(() => { over = true; }).catch(() => {});
  await eventually(async () => {
    if (!over) await act().catch(() => {});
    await Promise.race([question.result.catch(() => {}), new Promise((resolve) => setTimeout(resolve, 250))]);
    return over;
  }, 'an answer');
  return question.result;
}
const click = (id, name) => () => card(id).getByRole('button', { name }).click({ timeout: 2000 });

stage({
  prepare: async (at) => {
    fs.writeFileSync(path.join(at.work, 'print.sh'), '#!/bin/bash\nfor i in $(seq 1 2000); do echo "line $i of the output"; done\nprintf "\\033[31mred error\\033[0m\\n"\nexit 3\n', { mode: 0o755 });
    shop = await at.open('shop', { task: 'checkout' });
    await at.person.call('exec', { terminal: shop, command: './print.sh' });
  },
}, (all) => { ({ home, browser, panel, page } = all); });

test('the token does not stay in the address, and the page is within its budget', async (t) => {
  assert.equal(page.url(), panel.origin + '/');
  const fresh = await browser.another(page);
  await fresh.goto(`${panel.origin}/t/${shop}`);
  await fresh.locator('.xterm-rows').waitFor();
  // What a first visit to a terminal loads: everything there is, the terminal included, as it is sent.
  const sizes = await fresh.evaluate(() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map((each) => [new URL(each.name).pathname, each.encodedBodySize]));
  const whole = sizes.reduce((sum, [, size]) => sum + size, 0);
  t.diagnostic(`${whole} bytes: ${sizes.map(([name, size]) => `${name} ${size}`).join(', ')}`);
  assert.ok(sizes.some(([name, size]) => name.includes('xterm') && name.endsWith('.js') && size > 50_000), 'the terminal is counted');
  if (!process.env.PANEL_DIST) assert.ok(whole > 100_000 && whole < 250_000, `${whole} bytes`);
  await fresh.context().close();
});

test('the page is ready for a person within a second', async (t) => {
  const times = [];
  for (let at = 0; at < 5; at++) {
    const fresh = await browser.another(page);
    // Ready: the questions are there, and the page has come to rest and takes a click.
    await fresh.addInitScript(() => {
      window.ready = new Promise((resolve) => {
        const look = () => {
          if (!document.querySelector('.questions[aria-busy="false"]')) return false;
          requestIdleCallback(() => resolve(performance.now()));
          return true;
        };
        new MutationObserver((_, watcher) => { if (look()) watcher.disconnect(); }).observe(document, { childList: true, subtree: true, attributes: true });
      });
    });
    await fresh.goto(panel.origin + '/');
    times.push(await fresh.evaluate(() => window.ready));
    await fresh.context().close();
  }
  times.sort((a, b) => a - b);
  const busy = os.loadavg()[0] / os.cpus().length;
  t.diagnostic(`ready after ${times.map((each) => each.toFixed(0)).join(', ')} ms; ${busy.toFixed(1)} programs for each processor`);
  // The goal is of a machine that has time for it.
  if (busy < 1 && !process.env.TTYWARD_SANITIZED) assert.ok(times[2] <= 1000, `half of them took ${times[2]} ms`);
  assert.ok(times[0] < PATIENCE);
});

test('a question shows everything, and an answer reaches the agent', async () => {
  const question = await ask('npm test -- --cover\u200bage');
  const { id } = question;
  await card(id).waitFor();
  const text = await card(id).innerText();
  assert.match(text, /codex/);
  assert.match(text, /U\+200B/);
  assert.match(text, /1 hidden character/);
  assert.match(text, /left/);
  await titled(/^\(1\) Approvals/);
  await eventually(async () => /^data:image\/svg/.test(await page.locator('link[rel=icon]').getAttribute('href')), 'the number in the icon');
  await card(id).getByRole('button', { name: 'Deny…' }).click();
  await card(id).getByLabel(/Tell codex why/).fill('not today');
  const denied = await insist(question, () => page.keyboard.press('Enter'));
  assert.equal(denied.state, 'denied');
  assert.match(denied.reason, /not today/);
  await page.locator('.note-line', { hasText: 'was denied here.' }).waitFor();
  await page.getByText('Nothing waits for you').waitFor();
  await titled(/^Approvals/);
});

test('allow once, by its key', async () => {
  const question = await ask('touch allowed-once');
  await card(question.id).focus();
  assert.equal((await insist(question, () => page.keyboard.press('a'))).exit_code, 0);
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
  const question = await ask('touch too-soon');
  await eventually(() => page.evaluate(() => window.clicked), 'the click');
  assert.equal((await insist(question, click(question.id, 'Skip'))).state, 'skipped', 'and it was not allowed before');
});

test('for the session: the next one like it is not asked', async () => {
  const question = await ask('touch for-the-session');
  assert.equal((await insist(question, click(question.id, 'For this session'))).exit_code, 0);
  const again = await home.agent.call('exec', { terminal: shop, command: 'touch for-the-session' });
  assert.equal(again.exit_code, 0);
});

test('always, with the rule changed first', async () => {
  const question = await ask('mkdir always');
  await card(question.id).getByRole('button', { name: 'Always…' }).click();
  const field = page.getByLabel('The rule');
  const rule = await field.inputValue();
  assert.match(rule, /\[\[rule\]\]/);
  await field.fill(rule.replace(/name = ".*"/, 'name = "changed in the panel"'));
  assert.equal((await insist(question, () => page.getByRole('button', { name: 'Allow and store' }).click({ timeout: 2000 }))).exit_code, 0);
  const { rules } = await home.person.call('rules', {});
  assert.ok(rules.some((each) => each.name === 'changed in the panel'), JSON.stringify(rules));
});

test('a critical one is allowed once, after the word is typed', async () => {
  const question = await ask('git push --force origin main');
  const { id } = question;
  await card(id).waitFor();
  assert.match(await card(id).innerText(), /Critical/);
  assert.ok(await card(id).getByRole('button', { name: 'Allow once' }).isDisabled());
  assert.equal(await card(id).getByRole('button', { name: 'Always…' }).count(), 0);
  assert.equal(await card(id).getByRole('button', { name: 'For this session' }).count(), 0);
  await card(id).focus();
  await page.keyboard.press('a');
  await page.keyboard.type('allow');
  assert.equal((await insist(question, () => page.keyboard.press('Enter'))).state, 'exited');
});

test('an answer raced from the command line and the panel: one of them wins, both are told', async () => {
  const { id, result } = await ask('touch raced');
  await card(id).waitFor();
  await page.waitForTimeout(600); // it has stood still, and both answers count
  // The program itself, as somebody types it in another window.
  const child = home.start('approvals', 'deny', id, '--reason', 'from the command line');
  let said = '';
  child.stderr.on('data', (data) => { said += data; });
  const [cli] = await Promise.all([
    new Promise((resolve) => child.once('close', (code) => resolve(code === 0 ? 'won' : 'lost'))),
    card(id).getByRole('button', { name: 'Allow once' }).click({ timeout: 5000 }).catch(() => {}), // the card may be gone already
  ]);
  const ended = await result;
  await card(id).waitFor({ state: 'detached' });
  assert.equal(ended.state, cli === 'won' ? 'denied' : 'exited', said);
  if (cli === 'lost') assert.match(said, new RegExp(id), 'the loser is told about which question');
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

test('an answer from an editor, or from the agent’s own window, is not said to be from the command line', async () => {
  const answers = [['ttyward acp (editor)', 'was allowed in an editor.', 'allowed, in an editor'], ['ttyward mcp (dialogue)', 'was allowed in the agent’s own window.', 'allowed, in the agent’s own window'], ['VS Code', 'was allowed in VS Code.', 'allowed, in VS Code']];
  for (const [client, note] of answers) {
    const other = client === 'VS Code' ? await Socket.open(home.home, 'person', { client, token: home.token })
      : await Socket.open(home.home, 'dialogue', { client, session: 'shop', secret: 'a secret of sixteen characters' });
    const { id, result } = await ask(`touch from-${client.replace(/\W/g, '')}`);
    await card(id).waitFor();
    await other.call('answer', { approval: id, decision: 'allow' });
    await page.locator('.note-line', { hasText: note }).waitFor();
    assert.equal((await result).exit_code, 0);
    other.close();
  }
  await page.goto(`${panel.origin}/history?view=decisions`);
  for (const [, , words] of answers) await page.getByText(words).first().waitFor();
  await page.goto(`${panel.origin}/`);
});

test('a question shows on the desktop while nobody looks at the page, and a click leads to it', async () => {
  const tab = await browser.another(page);
  await tab.context().grantPermissions(['notifications'], { origin: panel.origin });
  await tab.addInitScript(() => {
    window.shown = [];
    const Real = window.Notification;
    window.Notification = class {
      static get permission() { return Real.permission; }
      static requestPermission() { return Real.requestPermission(); }
      constructor(title, options) { Object.assign(this, { title, ...options }); window.shown.push(this); }
    };
    document.hasFocus = () => window.looks === true;
  });
  await tab.goto(panel.origin + '/');
  await tab.getByText('Nothing waits for you').waitFor(); // from here on it hears of questions
  await tab.getByRole('link', { name: 'Settings' }).click();
  await tab.getByRole('link', { name: 'Notifications' }).click();
  await tab.getByLabel(/Notify me/).check();
  await eventually(() => tab.evaluate(() => JSON.parse(localStorage.getItem('ttyward-panel-prefs') ?? '{}').notify === true), 'the browser agreed');
  const { id, result } = await ask('touch noti\u202efied');
  const [seen] = await eventually(() => tab.evaluate(() => window.shown.length > 0 && window.shown.map(({ title, body, tag }) => ({ title, body, tag }))), 'a notification');
  assert.match(seen.title, /^codex asks: touch noti/);
  assert.doesNotMatch(seen.title, /\u202e/, 'what is hidden is shown by its code');
  assert.match(seen.body, /risk|Critical/);
  assert.equal(seen.tag, id);
  await tab.evaluate(() => window.shown[0].onclick());
  await tab.locator(`article[data-question="${id}"]`).waitFor();
  await home.person.call('answer', { approval: id, decision: 'deny' });
  await result;
  // Who looks at the page needs none.
  await tab.evaluate(() => { window.looks = true; });
  const next = await ask('touch seen');
  await tab.locator(`article[data-question="${next.id}"]`).waitFor();
  assert.equal(await tab.evaluate(() => window.shown.length), 1);
  await home.person.call('answer', { approval: next.id, decision: 'deny' });
  await next.result;
  await tab.context().close();
});

test('the third question is a row that opens and does not answer', async () => {
  const open = [];
  const others = [];
  for (let at = 0; at < 3; at++) {
    const { id, result } = await home.ask(await home.open(`row-${at}`), `touch row-${at}`);
    others.push(result);
    open.push(id);
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
  await titled(/^evil · ttyward/);
});

test('terminals: tiles, filters, one opened', async () => {
  await page.goto(`${panel.origin}/terminals`);
  const tile = page.locator(`article[data-terminal="${shop}"]`);
  await eventually(async () => /\$|#/.test(await tile.locator('.shot').innerText()), 'a picture with a prompt');
  const web = await home.open('web');
  await home.person.call('exec', { terminal: web, command: 'python3 -u -m http.server 0 --bind 127.0.0.1', yield_after_ms: 300 });
  const tileOfWeb = page.locator(`article[data-terminal="${web}"]`);
  await tileOfWeb.locator('.chip-port').waitFor();
  await eventually(async () => /:\d+[^]*running/.test(await tileOfWeb.innerText()), 'its port and that it runs');
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

test('history begins with what has not ended', async () => {
  const runs = await home.open('runs');
  await home.person.call('exec', { terminal: runs, command: 'sleep 300', yield_after_ms: 100 });
  const asked = await ask('touch wai\u200bting');
  await page.goto(`${panel.origin}/history`);
  const now = page.locator('.commands').first();
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  await eventually(async () => /sleep 300\s+running\s+\d/.test(await now.innerText()), 'what runs');
  await eventually(async () => /touch waiU\+200Bting\s+waits for your answer/.test(await now.innerText()), 'what waits, and what is hidden in it');
  await now.getByRole('button', { name: /sleep 300/ }).click();
  await now.getByText('It printed nothing yet.').waitFor();
  await page.goto(`${panel.origin}/terminals`);
  const tile = page.locator(`article[data-terminal="${shop}"]`);
  await eventually(async () => /touch waiU\+200Bting[^]*asked \d/.test(await tile.innerText()), 'the question on the tile');
  await home.person.call('answer', { approval: asked.id, decision: 'deny' });
  await home.person.call('kill', { terminal: runs, force: true });
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
  await page.locator('.plot-ok').first().waitFor();
});

test('overview names the agents, and shows what is hidden in a command', async () => {
  const other = await Socket.open(home.home, 'agent', { client: 'claude-code', session: 'other', secret: 'another secret of 16 characters' });
  const { terminal } = await other.call('open', { name: 'other', cwd: home.work });
  await other.call('exec', { terminal: terminal.id, command: 'pwd' });
  const hidden = await ask('false \u202ehidden');
  await home.person.call('answer', { approval: hidden.id, decision: 'allow' });
  assert.equal((await hidden.result).exit_code, 1);
  await page.goto(`${panel.origin}/overview`);
  const table = page.locator('.box', { hasText: 'Who ran commands' });
  for (const name of ['codex', 'claude-code', 'you']) await table.getByRole('rowheader', { name, exact: true }).waitFor();
  assert.equal(await table.getByText('agents', { exact: true }).count(), 0);
  const failures = page.locator('.box', { hasText: 'Failures' });
  await eventually(async () => /false\s+U\+202E\s*hidden/.test(await failures.innerText()), 'the command as it is');
  other.close();
});

test('what only the agent told is said to be told', async () => {
  const { command_id: id } = await home.agent.call('told', { command: 'make told', cwd: home.work, exit_code: 0, duration_ms: 1200 });
  await page.goto(`${panel.origin}/c/${id}`);
  await page.locator('.log-tools').getByText(/told by the agent/).waitFor();
  assert.equal(await page.getByText(/exit code from told/).count(), 0);
});

test('settings: folders and sandbox are changed after their difference, and nothing is lost', async () => {
  const file = path.join(home.home, 'config', 'config.toml');
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  fs.writeFileSync(file, '# mine\n[policy]\nmode = "default" # for now\n', { mode: 0o600 });
  await page.goto(`${panel.origin}/settings/folders`);
  await page.getByLabel('policy.allowed_roots').fill(`${home.work}\n/srv/other`);
  await page.getByRole('button', { name: 'Review…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save to config.toml?' });
  await dialog.getByLabel('Difference').getByText(`allowed_roots = ["${home.work}", "/srv/other"]`).waitFor();
  assert.equal(await dialog.locator('.add').count(), 1);
  assert.equal(await dialog.locator('.del').count(), 0);
  assert.doesNotMatch(fs.readFileSync(file, 'utf8'), /allowed_roots/, 'nothing is saved yet');
  // Somebody else writes the file meanwhile: nothing of theirs is lost.
  fs.appendFileSync(file, 'approval_expiry = "2m"\n');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/config\.toml changed after it was shown, and nothing was saved/).waitFor();
  await page.getByRole('button', { name: 'Review…' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. It holds from the next command on.').waitFor();
  assert.equal(fs.readFileSync(file, 'utf8'), `# mine\n[policy]\nallowed_roots = ["${home.work}", "/srv/other"]\nmode = "default" # for now\napproval_expiry = "2m"\n`);

  await page.goto(`${panel.origin}/settings/sandbox`);
  await page.getByLabel('sandbox.profile').selectOption('workspace');
  await page.getByLabel('sandbox.hosts').fill('registry.example.com');
  await page.getByRole('button', { name: 'Review…' }).click();
  await dialog.getByLabel('Difference').getByText('profile = "workspace"').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-setting="sandbox.profile"]').getByText('In the file.').waitFor();
  assert.match(fs.readFileSync(file, 'utf8'), /\[sandbox\]\nhosts = \["registry.example.com"\]\nprofile = "workspace"\n/);
  await page.locator('[data-setting="sandbox.profile"]').getByRole('button', { name: /Use the default/ }).click();
  await page.getByRole('button', { name: 'Review…' }).click();
  await dialog.locator('.del').getByText('profile = "workspace"').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-setting="sandbox.profile"]').getByText('The default.').waitFor();

  await page.goto(`${panel.origin}/settings/permissions`);
  await page.getByLabel('policy.mode', { exact: true }).selectOption('plan');
  await page.locator('.settings-part', { hasText: 'New sessions' }).getByRole('button', { name: 'Review…' }).click();
  await dialog.locator('.del').getByText('mode = "default" # for now').waitFor();
  await dialog.locator('.add').getByText('mode = "plan" # for now').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await eventually(() => /mode = "plan"/.test(fs.readFileSync(file, 'utf8')), 'the file');
  await eventually(async () => (await home.person.call('mode', { session: 'a new one' })).mode === 'plan', 'new sessions begin in it');
  const { digest } = await home.person.call('settings');
  await home.person.call('settings_change', { digest, changes: ['policy.mode', 'policy.allowed_roots', 'policy.approval_expiry', 'sandbox.hosts'].map((name) => ({ name })) });
});

test('settings: a command is tried, a rule added after its difference, and removed', async () => {
  await page.goto(`${panel.origin}/settings/permissions`);
  await page.getByRole('textbox', { name: 'Command' }).fill('rm -rf ~');
  await page.locator('.verdict').getByText(/Asks|Refused/).waitFor();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByLabel('The rule').fill('[[rule]]\nname = "from settings"\ndecision = "allow"\ncommand = "make lint"\n');
  await page.getByRole('dialog').getByRole('button', { name: 'Review…' }).click();
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

test('on a phone: everything is reachable and nothing is wider than the screen', async () => {
  const phone = await browser.another(page, PHONE);
  const question = await ask('touch from-the-phone');
  await phone.goto(panel.origin + '/');
  const shown = phone.locator(`article[data-question="${question.id}"]`);
  await shown.waitFor();
  const deny = await shown.getByRole('button', { name: 'Deny…' }).boundingBox();
  const allow = await shown.getByRole('button', { name: 'Allow once' }).boundingBox();
  assert.ok(allow.x - (deny.x + deny.width) >= 24, 'far apart');
  assert.ok(deny.height >= 44 && allow.height >= 44, 'large');
  assert.equal((await insist(question, () => shown.getByRole('button', { name: 'Allow once' }).tap({ timeout: 2000 }))).exit_code, 0);
  for (const view of ['/', '/terminals', `/t/${shop}`, '/history', '/overview', '/settings/permissions']) {
    await phone.goto(panel.origin + view);
    await phone.locator('h1').waitFor();
    const [wide, inner] = await phone.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(wide <= inner, `${view}: ${wide} > ${inner}`);
  }
  await phone.context().close();
});
