// Our WebSockets, with clients that others wrote: `ws`, and the one inside node.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import http from 'node:http';
import readline from 'node:readline';
import { after, before, test } from 'node:test';

const require = createRequire(new URL('../mcp/', import.meta.url));
const WS = require('ws');

let child, port, said, waiting;

// The next line the server says that begins with `word`.
async function heard(word) {
  for (;;) {
    const at = said.findIndex((line) => line.startsWith(word));
    if (at >= 0) return said.splice(at, 1)[0];
    await new Promise((resolve) => { waiting = resolve; });
  }
}

async function start() {
  child = spawn(process.env.WEB_SOCKET_SERVER, { stdio: ['ignore', 'pipe', 'inherit'] });
  said = [];
  readline.createInterface({ input: child.stdout }).on('line', (line) => { said.push(line); waiting?.(); });
  port = Number(await heard(''));
}

function connect(options = {}) {
  const headers = { Cookie: 't=good', Origin: `http://127.0.0.1:${port}`, ...options.headers };
  return new WS(`ws://127.0.0.1:${port}${options.path ?? '/socket'}`, ['test.1'], { ...options, headers });
}

async function opened(options) {
  const socket = connect(options);
  await once(socket, 'open');
  return socket;
}

async function next(socket) {
  const [data, isBinary] = await once(socket, 'message');
  return { data, isBinary };
}

async function refusal(options) {
  const socket = connect(options);
  const [, response] = await once(socket, 'unexpected-response');
  socket.on('error', () => {});
  socket.terminate();
  return response.statusCode;
}

before(start);
after(() => child.kill('SIGKILL'));

test('messages come back as they were sent', async () => {
  const socket = await opened();
  assert.equal(socket.protocol, 'test.1');
  for (const text of ['', 'hello', 'grüße 🙂', 'x'.repeat(1 << 20)]) {
    socket.send(text);
    const { data, isBinary } = await next(socket);
    assert.equal(data.toString(), text);
    assert.equal(isBinary, false);
  }
  socket.send(Buffer.from([0, 255, 128]));
  const { data, isBinary } = await next(socket);
  assert.deepEqual([...data], [0, 255, 128]);
  assert.equal(isBinary, true);
  socket.send('in ', { fin: false });
  socket.send('two ', { fin: false });
  socket.send('parts', { fin: true });
  assert.equal((await next(socket)).data.toString(), 'in two parts');
  socket.close(1000);
  assert.equal(await heard('closed'), 'closed 1000');
});

test('nothing is compressed, whatever the client offers', async () => {
  const socket = await opened({ perMessageDeflate: true });
  assert.equal(socket.extensions, '');
  socket.terminate();
  await heard('closed');
});

test('what breaks the protocol closes with its code', async () => {
  let socket = await opened();
  socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
  assert.equal((await once(socket, 'close'))[0], 1007);
  await heard('closed');
  socket = await opened();
  socket.send('x'.repeat((1 << 20) + 1));
  assert.equal((await once(socket, 'close'))[0], 1009);
  await heard('closed');
});

test('foreign pages, missing cookies and wrong addresses are refused', async () => {
  assert.equal(await refusal({ headers: { Origin: 'http://evil.test' } }), 403);
  assert.equal(await refusal({ headers: { Origin: `http://127.0.0.1:${port + 1}` } }), 403);
  assert.equal(await refusal({ headers: { Host: 'evil.test' } }), 403);
  assert.equal(await refusal({ headers: { Cookie: 't=bad' } }), 401);
  assert.equal(await refusal({ path: '/elsewhere' }), 404);
  const [plain] = await once(http.get({ port, path: '/socket', headers: { Cookie: 't=good' } }), 'response');
  assert.equal(plain.statusCode, 426);
  plain.resume();
});

test('the server closes with a code and a reason', async () => {
  const socket = await opened();
  socket.send('close 4001');
  const [code, reason] = await once(socket, 'close');
  assert.equal(code, 4001);
  assert.equal(reason.toString(), 'as you like');
  await heard('closed');
});

test('a client that vanishes is noticed', async () => {
  const socket = await opened();
  socket.terminate();
  assert.equal(await heard('closed'), 'closed 1006');
});

test('a silent connection is pinged and stays, one that does not answer ends', async () => {
  const lively = await opened();
  await once(lively, 'ping');
  await once(lively, 'ping');
  lively.send('still here');
  assert.equal((await next(lively)).data.toString(), 'still here');
  lively.terminate();
  await heard('closed');
  const silent = await opened({ autoPong: false });
  assert.equal(await heard('closed'), 'closed 1006');
  silent.terminate();
});

test('a client that does not read is given up, others go on', async () => {
  const stuck = await opened();
  stuck.send('flood 1000');  // 64 MB, twice what may wait
  stuck.pause();
  assert.equal(await heard('closed'), 'closed 1006');
  stuck.on('error', () => {});
  stuck.terminate();
  const other = await opened();
  said = said.filter((line) => line !== 'drained');
  other.send('flood 100');
  for (let i = 0; i < 100; i++) await next(other);
  await heard('drained');
  other.terminate();
  await heard('closed');
});

test("node's own client, and the end of the server", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`,
    { protocols: ['test.1'], headers: { Cookie: 't=good', Origin: `http://127.0.0.1:${port}` } });
  await once(socket, 'open');
  socket.send('hello');
  assert.equal((await once(socket, 'message'))[0].data, 'hello');
  const closed = once(socket, 'close');
  child.kill('SIGTERM');
  assert.equal((await closed)[0].code, 1001);
  await heard('over');
});
