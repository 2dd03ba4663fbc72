// An agent's hands: the official client connected to `ttyward mcp` over stdio, moved by lines of JSON.
//
//   stdin   {"id":1,"tool":"run_command","arguments":{…}}     any number at once
//   stdout  {"id":1,"result":{…}} or {"id":1,"error":"…"}
//
// node agent.mjs ERA TTYWARD; the folder it is started in is the agent's. Ends with its input.
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [era, ttyward, packages] = process.argv.slice(2);
const from = createRequire(join(packages, 'package.json'));
const load = (name) => import(pathToFileURL(from.resolve(name)));
const modern = era === '2026-07-28';
const { Client } = await load(modern ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load(modern ? '@modelcontextprotocol/client/stdio' : '@modelcontextprotocol/sdk/client/stdio.js');

const client = new Client({ name: 'story', version: '1' }, modern ? { versionNegotiation: { mode: { pin: era } } } : {});
await client.connect(new StdioClientTransport({ command: ttyward, args: ['mcp'], env: process.env, cwd: process.cwd() }));
const call = (name, args) => (modern ? client.callTool({ name, arguments: args }) : client.callTool({ name, arguments: args }, undefined));
const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');

for await (const line of createInterface({ input: process.stdin })) {
  const { id, tool, arguments: args } = JSON.parse(line);
  call(tool, args).then((result) => say({ id, result }), (error) => say({ id, error: String(error) }));
}
await client.close();
