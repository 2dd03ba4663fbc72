// The draft of version 2 through `ttyward acp --protocol 2`, with the official SDK on both sides: everything that the proxy
// sends is what the draft's own schema says.
//
// Run by tests/acp/CMakeLists.txt with $TTYWARD; needs node_modules (./setup --tests).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PassThrough, Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk/experimental/v2';
import Ajv from 'ajv/dist/2020.js';

const TTYWARD = process.env.TTYWARD;
const HERE = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tw-draft-'));
const home = join(folder, 'home');
const work = join(folder, 'work');
const env = { ...process.env, TTYWARD_HOME: home, HOME: home, SHELL: '/bin/bash' };
for (const each of [home, work, join(home, 'state'), join(home, 'config')]) mkdirSync(each, { mode: 0o700 });
env.TTYWARD_PERSON_TOKEN_FILE = join(home, 'state', 'person-token');
writeFileSync(env.TTYWARD_PERSON_TOKEN_FILE, randomBytes(32).toString('hex') + '\n', { mode: 0o600 });

after(() => {
  spawnSync(TTYWARD, ['daemon', 'stop', '--kill-terminals'], { env, timeout: 20000 });
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const schema = JSON.parse(readFileSync(join(HERE, 'node_modules/@agentclientprotocol/sdk/schema/v2/schema.json'), 'utf8'));
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema(schema, 'acp');
function validate(name, value) {
  const check = ajv.getSchema(`acp#/$defs/${name}`);
  assert.ok(check(value), JSON.stringify({ name, value, errors: check.errors }));
}

async function converse(prompt, permission) {
  const child = spawn(TTYWARD, ['acp', '--protocol', '2', '--', process.execPath, join(HERE, 'draft_agent.mjs')],
    { env, cwd: work, stdio: ['pipe', 'pipe', 'ignore'] });
  const copy = new PassThrough();
  const seen = [];
  let unread = '';
  child.stdout.on('data', (data) => {
    unread += data;
    const lines = unread.split('\n');
    unread = lines.pop();
    for (const line of lines) seen.push(JSON.parse(line));
    copy.write(data);
  });
  child.stdout.on('end', () => copy.end());
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const updates = [];
  let idle;
  const over = new Promise((resolve) => { idle = resolve; });
  const out = await client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
      if (params.update.sessionUpdate === 'state_update' && params.update.state === 'idle') idle();
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => permission(params))
    .connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(copy)), async (ctx) => {
      const initialized = await ctx.request(methods.agent.initialize, { protocolVersion: 2, info: { name: 'test', version: '1' }, capabilities: {} });
      const session = await ctx.request(methods.agent.session.new, { cwd: work, mcpServers: [] });
      await ctx.request(methods.agent.session.prompt, { sessionId: session.sessionId, prompt: [{ type: 'text', text: prompt }] });
      await over;
      return { initialized, session };
    });
  child.stdin.end();
  await ended;
  for (const message of seen) {
    if (message.method === 'session/request_permission') validate('RequestPermissionRequest', message.params);
    if (message.method === 'session/update') validate('UpdateSessionNotification', message.params);
  }
  validate('InitializeRequest', out.initialized._meta.got);
  validate('NewSessionRequest', out.session._meta.got);
  const told = JSON.parse(updates.find((each) => each.sessionUpdate === 'agent_message_chunk').content.text);
  return { ...out, updates, told };
}

const history = (command) => JSON.parse(spawnSync(TTYWARD, ['--json', 'history'], { env, cwd: work, encoding: 'utf8' }).stdout)
  .commands.filter((row) => row.command === command);

test('a command that the agent runs and shows', async () => {
  const { initialized, session, told, updates } = await converse('echo drafted; exit 3', () => assert.fail('policy allows it'));
  assert.equal(initialized.protocolVersion, 2);
  assert.deepEqual(initialized._meta.got.capabilities, {});
  assert.match(session._meta.got.mcpServers[0].name, /^ttyward/);
  assert.equal(told.permission, 'once');
  assert.deepEqual(updates.find((each) => each.content?.[0]?.type === 'terminal').content, [{ type: 'terminal', terminalId: 'own' }]);
  const [row] = history('echo drafted; exit 3');
  assert.deepEqual([row.known_by, row.exit_code, row.total_bytes], ['told', 3, 8]);
});

test('what is asked is asked as the draft has it', async () => {
  const asked = [];
  const { told } = await converse('touch ../by-agent\ntouch ../by-ttyward', (params) => {
    asked.push(params);
    const kind = asked.length === 1 ? 'reject_once' : 'allow_once';
    return { outcome: { outcome: 'selected', optionId: params.options.find((each) => each.kind === kind).optionId } };
  });
  assert.deepEqual(asked.map((each) => [each.subject.type, each.subject.command, each.subject.cwd]),
    [['command', 'touch ../by-agent', work], ['command', 'touch ../by-ttyward', work]]);
  assert.equal(told.permission, 'no');
  assert.match(told.ours, /exit(ed)?.{0,12}0/i);
  assert.equal(existsSync(join(folder, 'by-agent')), false);
  assert.equal(existsSync(join(folder, 'by-ttyward')), true);
});
