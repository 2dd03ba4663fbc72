// An agent made with the official SDK, for tests: it runs the prompt's lines in the client's terminals, as coding
// agents do, and tells what it got.
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream } from '@agentclientprotocol/sdk';

let session = 0;
const say = (client, sessionId, text) =>
  client.notify(methods.client.session.update, { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } });

async function run(client, sessionId, line, call) {
  const update = (fields) =>
    client.notify(methods.client.session.update, { sessionId, update: { sessionUpdate: 'tool_call_update', toolCallId: call, ...fields } });
  await client.notify(methods.client.session.update, {
    sessionId, update: { sessionUpdate: 'tool_call', toolCallId: call, title: line, kind: 'execute', status: 'pending', rawInput: { command: line } },
  });
  const permission = await client.request(methods.client.session.requestPermission, {
    sessionId, toolCall: { toolCallId: call, title: line },
    options: [{ optionId: 'always', name: 'Always', kind: 'allow_always' }, { optionId: 'once', name: 'Once', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' }],
  });
  const got = { line, permission: permission.outcome.optionId };
  if (got.permission === 'no') return got;
  try {
    const terminal = await client.createTerminal({ sessionId, command: '/bin/bash', args: ['-c', line], outputByteLimit: 100000 });
    await update({ status: 'in_progress', content: [{ type: 'terminal', terminalId: terminal.id }] });
    const waits = await Promise.all([terminal.waitForExit(), terminal.waitForExit()]);
    got.exit = waits[0];
    got.output = await terminal.currentOutput();
    await terminal.kill();
    await terminal.release();
    await update({ status: got.exit.exitCode === 0 ? 'completed' : 'failed', content: [{ type: 'terminal', terminalId: terminal.id }] });
    got.afterRelease = await terminal.currentOutput().then(() => 0, (error) => error.code);
  } catch (error) {
    got.error = error.message;
  }
  return got;
}

const stream = ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
agent({ name: 'sdk-agent' })
  .onRequest(methods.agent.initialize, ({ params }) => ({
    protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: 'sdk-agent', version: '1' }, authMethods: [],
    _meta: { told: params.clientCapabilities },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => ({ sessionId: `sdk-${session++}`, _meta: { servers: params.mcpServers } }))
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const lines = params.prompt[0].text.split('\n');
    const all = await Promise.all(lines.map((line, i) => run(client, params.sessionId, line, `call-${i}`)));
    await say(client, params.sessionId, JSON.stringify(all));
    return { stopReason: 'end_turn' };
  })
  .connect(stream);
