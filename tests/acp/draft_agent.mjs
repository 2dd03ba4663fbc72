// An agent of the draft of version 2, made with the official SDK, for tests. It runs the prompt's first line with a shell of
// its own, if it may, and shows it as agents do there; the second line goes to the MCP server that it was given.
import { spawn, spawnSync } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { agent, methods, ndJsonStream } from '@agentclientprotocol/sdk/experimental/v2';

const sessions = new Map();

async function callTool(server, command) {
  const env = { ...process.env, ...Object.fromEntries(server.env.map(({ name, value }) => [name, value])) };
  const child = spawn(server.command, server.args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const lines = createInterface({ input: child.stdout });
  const answer = new Promise((resolve) => lines.on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id === 1) send({ id: 2, method: 'tools/call', params: { name: 'run_command', arguments: { command, cwd: process.cwd() } } });
    if (message.id === 2 && !message.method) resolve(message.result);
  }));
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'draft', version: '1' } } });
  const result = await answer;
  child.stdin.end();
  return result.content[0].text;
}

async function turn(client, sessionId, [own, ours]) {
  const update = (fields) => client.notify(methods.client.session.update, { sessionId, update: fields });
  const cwd = process.cwd();
  await update({ sessionUpdate: 'state_update', state: 'running' });
  await update({ sessionUpdate: 'tool_call_update', toolCallId: 'call', title: own, kind: 'execute', status: 'in_progress', rawInput: { command: own } });
  const permission = await client.request(methods.client.session.requestPermission, {
    sessionId, title: 'Run a command', subject: { type: 'command', command: own, cwd, toolCallId: 'call' },
    options: [{ optionId: 'always', name: 'Always', kind: 'allow_always' }, { optionId: 'once', name: 'Once', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' }],
  });
  const told = { permission: permission.outcome.optionId };
  if (told.permission === 'once') {
    const done = spawnSync('/bin/sh', ['-c', own], { encoding: 'utf8' });
    await update({ sessionUpdate: 'terminal_update', terminalId: 'own', command: own, cwd });
    await update({ sessionUpdate: 'tool_call_update', toolCallId: 'call', content: [{ type: 'terminal', terminalId: 'own' }] });
    await update({ sessionUpdate: 'terminal_output_chunk', terminalId: 'own', data: Buffer.from(done.stdout).toString('base64') });
    await update({ sessionUpdate: 'terminal_update', terminalId: 'own', exitStatus: { exitCode: done.status } });
    await update({ sessionUpdate: 'tool_call_update', toolCallId: 'call', status: 'completed' });
  }
  if (ours) told.ours = await callTool(sessions.get(sessionId)[0], ours);
  await update({ sessionUpdate: 'agent_message_chunk', messageId: 'm1', content: { type: 'text', text: JSON.stringify(told) } });
  await update({ sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' });
}

agent({ name: 'draft-agent' })
  .onRequest(methods.agent.initialize, ({ params }) => ({
    protocolVersion: 2, info: { name: 'draft-agent', version: '1' }, capabilities: { session: {} }, _meta: { got: params },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const sessionId = `draft-${sessions.size}`;
    sessions.set(sessionId, params.mcpServers);
    return { sessionId, _meta: { got: params } };
  })
  .onRequest(methods.agent.session.prompt, ({ params, client }) => {
    setImmediate(() => turn(client, params.sessionId, params.prompt[0].text.split('\n')));
    return { messageId: 'u1' };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
