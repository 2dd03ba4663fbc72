// The official clients against the real server, over stdio and HTTP: both SDKs, both eras, every tool.
//
// Run by tests/mcp/CMakeLists.txt with $TTYWARD; needs node_modules (./setup --tests).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as v1types from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';

const TTYWARD = process.env.TTYWARD;
const home = mkdtempSync(join(tmpdir(), 'tw-mcp-'));
const work = mkdtempSync(join(tmpdir(), 'tw-work-'));
const env = { ...process.env, TTYWARD_HOME: home, HOME: home, SHELL: '/bin/bash' };  // nobody's own shell start-up files

// A person without a terminal is one by a token, which is there before the daemon is.
mkdirSync(join(home, 'state'), { mode: 0o700 });
env.TTYWARD_PERSON_TOKEN_FILE = join(home, 'state', 'person-token');
writeFileSync(env.TTYWARD_PERSON_TOKEN_FILE, randomBytes(32).toString('hex') + '\n', { mode: 0o600 });

const about = { name: 'test', version: '1' };
const clients = {
  'SDK 1, 2025-11-25': { era: 'legacy', Stdio: StdioV1, Http: HttpV1, make: (capabilities) => new ClientV1(about, { capabilities }) },
  'SDK 2, 2025-11-25': { era: 'legacy', Stdio: StdioV2, Http: HttpV2, make: (capabilities) => new ClientV2(about, { capabilities }) },
  'SDK 2, 2026-07-28': { era: 'modern', Stdio: StdioV2, Http: HttpV2, make: (capabilities) => new ClientV2(about, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } }) },
};
const kinds = {};
for (const [name, kind] of Object.entries(clients)) {
  kinds[`${name}, stdio`] = { ...kind, transport: async () => new kind.Stdio({ command: TTYWARD, args: ['mcp'], env, cwd: work }) };
  kinds[`${name}, HTTP`] = {
    ...kind,
    transport: async () => {
      const { url, token } = await httpServer();
      return new kind.Http(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
    },
  };
}

// One for all clients, as it would be.
let serving;
function httpServer() {
  serving ??= (async () => {
    const process = spawn(TTYWARD, ['mcp', '--http', '127.0.0.1:0', '--http-dialogue'], { env, cwd: work, stdio: ['ignore', 'ignore', 'pipe'] });
    const told = createInterface({ input: process.stderr })[Symbol.asyncIterator]();
    const url = /http:\/\/\S+/.exec((await told.next()).value)[0];
    const token = readFileSync(/token is in (.*)$/.exec((await told.next()).value)[1], 'utf8').trim();
    return { process, url, token };
  })();
  return serving;
}

async function connect(kind, { capabilities = {}, onElicit } = {}) {
  const client = kind.make(capabilities);
  if (onElicit) {
    if (client instanceof ClientV1) client.setRequestHandler(v1types.ElicitRequestSchema, onElicit);
    else client.setRequestHandler('elicitation/create', onElicit);
  }
  await client.connect(await kind.transport());
  return client;
}

const onNotification = (client, schema, method, handler) =>
  client instanceof ClientV1 ? client.setNotificationHandler(v1types[schema], handler) : client.setNotificationHandler(method, handler);
const person = (...args) => spawnSync(TTYWARD, args, { env, encoding: 'utf8', timeout: 60000 });
const call = (client, name, args = {}, options) =>
  client instanceof ClientV1 ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);
const text = (result) => result.content.map((c) => c.text).join('');

after(async () => {
  if (serving) (await serving).process.kill();
  spawnSync(TTYWARD, ['daemon', 'stop', '--kill-terminals'], { env, timeout: 20000 });
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  rmSync(work, { recursive: true, force: true });
});

for (const [name, kind] of Object.entries(kinds)) {
  describe(name, () => {
    let client;
    const mine = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    before(async () => { client = await connect(kind); await client.listTools(); });
    after(async () => { await client.close(); });

    test('lists twelve tools with all hints', async () => {
      const { tools } = await client.listTools();
      assert.equal(tools.length, 12);
      for (const tool of tools) {
        assert.equal(typeof tool.annotations.readOnlyHint, 'boolean', tool.name);
        assert.ok(tool.outputSchema && tool.description);
      }
      assert.ok(client.getInstructions().length < 2048);
    });

    test('runs a command; a failure is a result', async () => {
      const good = await call(client, 'run_command', { command: 'echo hi; pwd', cwd: work });
      assert.equal(good.structuredContent.exit_code, 0);
      assert.equal(good.structuredContent.output, `hi\n${work}\n`);
      assert.match(text(good), /Exit code 0/);
      const bad = await call(client, 'run_command', { command: 'exit 3' });
      assert.ok(!bad.isError);
      assert.equal(bad.structuredContent.exit_code, 3);
    });

    test('says what is wrong', async () => {
      for (const [args, words] of [[{}, /needs `command`/], [{ command: '' }, /empty/], [{ command: 'ls', cwd: '/no/such' }, /existing folder/], [{ command: 'ls', colour: 1 }, /no argument `colour`/]]) {
        const result = await call(client, 'run_command', args);
        assert.ok(result.isError);
        assert.match(text(result), words);
      }
      await assert.rejects(call(client, 'no_such_tool'), /no tool/);
      const lost = await call(client, 'run_persistent_command', { id: 't234567234567', command: 'ls' });
      assert.ok(lost.isError);
      assert.match(text(lost), /list_terminals/);
    });

    test('a persistent terminal keeps its state; dialogue, screen, reading, waiting', async () => {
      const opened = await call(client, 'open_persistent_terminal', { cwd: work, name: mine });
      const id = opened.structuredContent.persistent_terminal_id;
      const first = await call(client, 'run_persistent_command', { id, command: 'cd /; X=41' });
      assert.equal(first.structuredContent.exit_code, 0, text(first));
      const second = await call(client, 'run_persistent_command', { persistentTerminalId: id, command: 'pwd; echo $X' });
      assert.equal(second.structuredContent.output, '/\n41\n', text(second));
      const asks = await call(client, 'run_persistent_command', { id, command: 'read -p "Name? " n; echo "hello $n"' });
      assert.equal(asks.structuredContent.state, 'awaiting_input', text(asks));
      assert.match(text(asks), /send_input/);
      const answered = await call(client, 'send_input', { id, text: 'Ada' });
      assert.match(text(answered), /hello Ada/);
      const waited = await call(client, 'wait_for', { id: asks.structuredContent.command_id });
      assert.equal(waited.structuredContent.result.exit_code, 0, text(waited));
      assert.match(text(await call(client, 'get_screen', { id })), /hello Ada/);
      assert.match(text(await call(client, 'read_output', { id, search: 'hello' })), /hello Ada/);
      assert.match(text(await call(client, 'list_terminals')), new RegExp(`${id} "${mine}": idle`));
      const slow = await call(client, 'run_persistent_command', { id, command: 'sleep 600', wait_ms: 300 });
      assert.equal(slow.structuredContent.state, 'running');
      assert.match(text(await call(client, 'interrupt_command', { id })), /Interrupted/);
      const over = await call(client, 'wait_for', { id: slow.structuredContent.command_id, exit: true });
      assert.notEqual(over.structuredContent.result.state, 'running');
      const killed = await call(client, 'kill_persistent_terminal', { id });
      assert.ok(!killed.isError, text(killed));
      assert.ok((await call(client, 'kill_persistent_terminal', { id: 't234567234567' })).isError);
    });

    test('batch and check', async () => {
      const batch = await call(client, 'run_batch', { commands: ['echo one', 'false', 'echo three'] });
      assert.deepEqual(batch.structuredContent.results.map((r) => r.exit_code), [0, 1]);
      const verdict = await call(client, 'check_command', { command: 'rm -rf /' });
      assert.notEqual(verdict.structuredContent.decision, 'allow');
    });

    test('a long command comes back with an id, and tells its progress', async () => {
      const seen = [];
      const result = await call(client, 'run_command', { command: 'for i in 1 2 3 4 5 6; do echo line $i; sleep 0.5; done', wait_ms: 20000 }, { onprogress: (p) => seen.push(p) });
      assert.equal(result.structuredContent.exit_code, 0);
      assert.ok(seen.length > 0);
      assert.ok(seen.every((p, i) => i === 0 || p.progress > seen[i - 1].progress));
      const handed = await call(client, 'run_command', { command: 'echo begun; sleep 600', wait_ms: 1000, timeout_ms: 0 });
      assert.equal(handed.structuredContent.state, 'running');
      assert.match(handed.structuredContent.output, /begun/);
      await call(client, 'interrupt_command', { id: handed.structuredContent.command_id });
      const over = await call(client, 'wait_for', { id: handed.structuredContent.command_id, exit: true });
      assert.notEqual(over.structuredContent.result.state, 'running');
    });

    test('cancelling interrupts only what asked for it', async () => {
      for (const interrupt of [false, true]) {
        const stop = new AbortController();
        const mark = `echo begun; sleep 600 # ${mine} ${interrupt}`;
        const find = async () => (await call(client, 'list_terminals')).structuredContent.terminals.find((t) => t.command?.command === mark);
        const running = call(client, 'run_command', { command: mark, timeout_ms: 0, interrupt_on_cancel: interrupt }, { signal: stop.signal });
        while (!(await find())) await new Promise((go) => setTimeout(go, 20));
        await call(client, 'wait_for', { id: (await find()).id, pattern: 'begun', from_start: true });
        stop.abort();
        await assert.rejects(running);
        if (interrupt) {
          while (await find()) await new Promise((go) => setTimeout(go, 20));
        } else {
          await client.listTools();  // whatever the cancellation does has been done by now
          const terminal = await find();
          assert.equal(terminal.command.state, 'running');
          await call(client, 'kill_persistent_terminal', { id: terminal.id });
        }
      }
    });

    test('fifty calls at once', async () => {
      const results = await Promise.all(Array.from({ length: 50 }, (_, i) => call(client, 'run_command', { command: `echo n${i}` })));
      results.forEach((r, i) => assert.equal(r.structuredContent.output, `n${i}\n`));
    });

    test('resources, prompts, completion', async () => {
      const id = (await call(client, 'open_persistent_terminal', { cwd: work })).structuredContent.id;
      await call(client, 'run_persistent_command', { id, command: 'echo seen; false' });
      const { resources } = await client.listResources();
      assert.ok(resources.some((r) => r.uri === `ttyward://terminals/${id}/screen`));
      assert.match((await client.readResource({ uri: `ttyward://terminals/${id}/transcript` })).contents[0].text, /seen/);
      await assert.rejects(client.readResource({ uri: 'ttyward://terminals/none/screen' }));
      assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 3);
      assert.equal((await client.listPrompts()).prompts.length, 2);
      const prompt = await client.getPrompt({ name: 'explain-screen', arguments: { id } });
      assert.match(prompt.messages[0].content.text, /seen/);
      const debug = await client.getPrompt({ name: 'debug-failing-command', arguments: {} });
      assert.match(debug.messages[0].content.text, /Exit code/);
      const completed = await client.complete({ ref: { type: 'ref/prompt', name: 'explain-screen' }, argument: { name: 'id', value: id.slice(0, 3) } });
      assert.ok(completed.completion.values.includes(id));
      await call(client, 'kill_persistent_terminal', { id });
    });

    test('what changes is told to who subscribed', async () => {
      const listening = await connect(kind);
      const heard = [];
      let wake = () => {};
      const note = (what) => { heard.push(what); wake(); };
      onNotification(listening, 'ResourceUpdatedNotificationSchema', 'notifications/resources/updated', (n) => note(n.params.uri));
      onNotification(listening, 'ResourceListChangedNotificationSchema', 'notifications/resources/list_changed', () => note('list'));
      const until = async (what) => { while (!heard.includes(what)) await new Promise((go) => { wake = go; }); };
      const id = (await call(listening, 'open_persistent_terminal', { cwd: work })).structuredContent.id;
      const uri = `ttyward://terminals/${id}/transcript`;
      const stream = kind.era === 'modern' ? await listening.listen({ resourceSubscriptions: [uri], resourcesListChanged: true }) : undefined;
      if (stream) assert.deepEqual(stream.honoredFilter.resourceSubscriptions, [uri]);
      else await listening.subscribeResource({ uri });
      await call(listening, 'run_persistent_command', { id, command: 'echo news' });
      await until(uri);
      assert.match((await listening.readResource({ uri })).contents[0].text, /news/);
      heard.length = 0;
      await call(listening, 'kill_persistent_terminal', { id });
      await until('list');
      if (stream) { await stream.close(); assert.equal(await stream.closed, 'local'); }
      else await listening.unsubscribeResource({ uri });
      await listening.close();
    });

    test('somebody elsewhere answers while the dialogue is open', async () => {
      let told;
      const shown = new Promise((go) => { told = go; });
      let closed = false;
      const asking = await connect(kind, {
        capabilities: { elicitation: {} },
        onElicit: async (request, context) => {
          told();
          const signal = context.signal ?? context.mcpReq.signal;
          // In the modern era nobody can tell an open dialogue anything: its answer comes too late.
          if (kind.era === 'legacy') await new Promise((go) => signal.addEventListener('abort', go));
          else await answered;
          closed = true;
          return { action: 'accept', content: { decision: 'deny' } };
        },
      });
      let done;
      const answered = new Promise((go) => { done = go; });
      const file = join(work, `asked-${mine}`);
      const result = call(asking, 'run_command', { command: `touch ${file}; git -C ${work} push --force https://127.0.0.1:9/x; exit 7`, cwd: work });
      await shown;
      const { id } = JSON.parse(person('--json', 'approvals').stdout).approvals.find((a) => a.command.includes(file));
      const said = person('approvals', 'allow', id);
      assert.equal(said.status, 0, said.stderr);
      done();
      assert.equal((await result).structuredContent.exit_code, 7);
      assert.ok(closed, 'the dialogue was taken back');
      await asking.close();
    });

    test('tasks', { skip: name.startsWith('SDK 1') ? false : 'this client has no tasks: tests/mcp/tasks_test.py speaks for itself' }, async () => {
      const seen = [];
      let result;
      for await (const message of client.experimental.tasks.callToolStream({ name: 'run_command', arguments: { command: 'echo begun; sleep 1; echo ended; exit 6' } }, v1types.CallToolResultSchema, { task: { ttl: 60000 } })) {
        seen.push(message.type);
        if (message.type === 'taskCreated') {
          assert.equal((await client.experimental.tasks.getTask(message.task.taskId)).status, 'working');
          assert.ok((await client.experimental.tasks.listTasks()).tasks.some((t) => t.taskId === message.task.taskId));
        }
        if (message.type === 'result') result = message.result;
      }
      assert.equal(seen[0], 'taskCreated');
      assert.equal(result.structuredContent.exit_code, 6);
      for await (const message of client.experimental.tasks.callToolStream({ name: 'run_command', arguments: { command: 'sleep 600', timeout_ms: 0, interrupt_on_cancel: true } }, v1types.CallToolResultSchema, { task: { ttl: 60000 } })) {
        if (message.type !== 'taskCreated') continue;
        assert.equal((await client.experimental.tasks.cancelTask(message.task.taskId)).status, 'cancelled');
        break;
      }
    });

    for (const [decision, runs] of [['allow_once', true], ['deny', false], ['decline', null]]) {
      test(`a question in the client's dialogue: ${decision}`, async () => {
        const victim = join(work, `victim-${decision}-${mine}`);
        writeFileSync(victim, 'x');
        const asked = [];
        const asking = await connect(kind, {
          capabilities: { elicitation: {} },
          onElicit: async (request) => {
            asked.push(request.params.message);
            return decision === 'decline' ? { action: 'decline' } : { action: 'accept', content: { decision } };
          },
        });
        const result = await call(asking, 'run_command', { command: `git -C ${work} push --force https://127.0.0.1:9/x; rm -rf ${victim}; true` });
        assert.equal(asked.length, 1);
        assert.match(asked[0], /rm -rf/);
        if (runs === true) assert.equal(result.structuredContent.exit_code, 0, text(result));
        if (runs === false) { assert.ok(result.isError); assert.equal(result.structuredContent.state, 'denied'); }
        if (runs === null) { assert.equal(result.structuredContent.state, 'pending_approval'); assert.match(text(result), /wait_for/); }
        await asking.close();
      });
    }
  });
}
