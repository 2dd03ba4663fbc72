// The official SDK on both sides of `ttyward acp`, and acpx as the client: what an agent gets, what an editor sees, and
// that every message is one of the protocol's.
//
// Run by tests/acp/CMakeLists.txt with $TTYWARD; needs node_modules (./setup --tests).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PassThrough, Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import Ajv from 'ajv/dist/2020.js';

const TTYWARD = process.env.TTYWARD;
const HERE = dirname(fileURLToPath(import.meta.url));
const AGENT = [process.execPath, join(HERE, 'sdk_agent.mjs')];
const home = mkdtempSync(join(tmpdir(), 'tw-acp-'));
const work = mkdtempSync(join(tmpdir(), 'tw-work-'));
const env = { ...process.env, TTYWARD_HOME: home, HOME: home, SHELL: '/bin/bash' };
mkdirSync(join(home, 'state'), { mode: 0o700 });
mkdirSync(join(home, 'config'), { mode: 0o700 });
env.TTYWARD_PERSON_TOKEN_FILE = join(home, 'state', 'person-token');
writeFileSync(env.TTYWARD_PERSON_TOKEN_FILE, randomBytes(32).toString('hex') + '\n', { mode: 0o600 });
writeFileSync(join(home, 'config', 'config.toml'), '[limits]\nterminals = 200\n');

after(() => {
  spawnSync(TTYWARD, ['daemon', 'stop', '--kill-terminals'], { env, timeout: 20000 });
  for (const folder of [home, work]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

// --- every message the proxy sends to an editor, against the protocol's own schema
const schema = JSON.parse(readFileSync(join(HERE, 'node_modules/@agentclientprotocol/sdk/schema/v1/schema.json'), 'utf8'));
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema(schema, 'acp');
const requests = {
  'session/request_permission': 'RequestPermissionRequest', 'session/update': 'SessionNotification',
  'terminal/create': 'CreateTerminalRequest', 'terminal/wait_for_exit': 'WaitForTerminalExitRequest', 'terminal/release': 'ReleaseTerminalRequest',
};
function validate(message) {
  assert.equal(message.jsonrpc, '2.0');
  const name = requests[message.method];
  if (!name) return;
  const check = ajv.getSchema(`acp#/$defs/${name}`);
  assert.ok(check(message.params), JSON.stringify({ message, errors: check.errors }));
}

async function converse(prompt, { capabilities = {}, permission } = {}) {
  const child = spawn(TTYWARD, ['acp', '--', ...AGENT], { env, cwd: work, stdio: ['pipe', 'pipe', 'ignore'] });
  const copy = new PassThrough();
  let unread = '';
  const seen = [];
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
  const out = await client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => permission(params))
    .connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(copy)), async (ctx) => {
      const initialized = await ctx.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: capabilities });
      const session = await ctx.request(methods.agent.session.new, { cwd: work, mcpServers: [] });
      const answer = await ctx.request(methods.agent.session.prompt, { sessionId: session.sessionId, prompt: [{ type: 'text', text: prompt }] });
      return { initialized, session, answer };
    });
  child.stdin.end();
  await ended;
  seen.forEach(validate);
  const text = updates.filter((u) => u.sessionUpdate === 'agent_message_chunk').map((u) => u.content.text).join('');
  return { ...out, updates, seen, told: JSON.parse(text) };
}

test('an agent gets terminals, and a client that has none sees text', async () => {
  const { initialized, session, answer, told, seen, updates } = await converse('echo from-agent-$((40+2)); exit 3\necho héllo 😀');
  assert.equal(answer.stopReason, 'end_turn');
  assert.equal(initialized._meta.told.terminal, true);
  assert.match(session._meta.servers[0].name, /^ttyward[0-9a-z]{8}$/);
  assert.deepEqual(told[0], {
    line: 'echo from-agent-$((40+2)); exit 3', permission: 'once', exit: { exitCode: 3, signal: null },
    output: { output: 'from-agent-42\n', truncated: false, exitStatus: { exitCode: 3, signal: null } }, afterRelease: -32002,
  });
  assert.equal(told[1].output.output, 'héllo 😀\n');
  assert.deepEqual(seen.filter((m) => m.method?.startsWith('terminal/') || m.method === 'session/request_permission'), []);
  const shown = updates.filter((u) => u.toolCallId === 'call-0' && u.content).at(-1);
  assert.deepEqual(shown.content, [{ type: 'content', content: { type: 'text', text: '```\nfrom-agent-42\n```' } }]);
});

test('a hundred terminals at once', async () => {
  const lines = Array.from({ length: 100 }, (_, i) => `echo ${i}; exit ${i % 5}`);
  const { told } = await converse(lines.join('\n'));
  told.forEach((got, i) => assert.deepEqual([got.output.output, got.exit.exitCode], [`${i}\n`, i % 5], JSON.stringify(got)));
});

test('what is asked is asked in the client', async () => {
  const asked = [];
  const permission = (params) => {
    asked.push(params);
    const option = params.options.find((o) => o.kind === (asked.length === 1 ? 'allow_once' : 'reject_once'));
    return { outcome: { outcome: 'selected', optionId: option.optionId } };
  };
  const { told } = await converse('touch ../marker-of-a-test-that-asks', { permission });
  assert.equal(asked.length, 2);  // about what the agent says, and about what it then creates
  assert.equal(asked[0].toolCall.title, 'touch ../marker-of-a-test-that-asks');
  assert.match(asked[1].toolCall.title, /touch \.\.\/marker/);
  assert.match(told[0].error, /ttyward did not run this command/);
});

test('a client that draws terminals from _meta', async () => {
  const { updates, told } = await converse('echo drawn; exit 1', { capabilities: { _meta: { terminal_output: true } } });
  const meta = (name) => updates.map((u) => u._meta?.[name]).filter(Boolean);
  assert.equal(meta('terminal_info').length > 0, true);
  assert.equal(meta('terminal_output').map((m) => m.data).join(''), 'drawn\r\n');
  assert.equal(meta('terminal_exit')[0].exit_code, 1);
  assert.equal(told[0].exit.exitCode, 1);
});

for (const options of [[], ['--no-terminal']]) {
  test(`acpx ${options.join(' ')}`, () => {
    const acpx = join(HERE, 'node_modules/acpx/dist/cli.js');
    const command = [TTYWARD, 'acp', '--', ...AGENT].map((word) => `'${word}'`).join(' ');
    const done = spawnSync(process.execPath, [acpx, '--cwd', work, '--approve-all', ...options, '--format', 'json', '--agent', command, 'exec', 'echo by-acpx; exit 4'],
      { env, cwd: work, encoding: 'utf8', timeout: 120000 });
    assert.equal(done.status, 0, done.stdout + done.stderr);
    const messages = done.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
    const text = JSON.stringify(messages);
    assert.match(text, /by-acpx/);
    assert.match(text, /exitCode\\+":4/);
    messages.forEach((message) => message.jsonrpc && message.method && validate(message));
  });
}
