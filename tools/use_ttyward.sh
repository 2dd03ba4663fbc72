#!/bin/sh
# Use the ttyward that is on the PATH as a newcomer would: commands, a terminal, an agent over MCP, setup and back. Runs in any sh, busybox's too; tries of releases
# and packages run it in clean systems, as somebody who is not root. Needs a HOME in which nothing of ttyward is yet.
set -eu
cd "$HOME"
ttyward --version
TTYWARD_PERSON_TOKEN_FILE=$(ttyward person token)
export TTYWARD_PERSON_TOKEN_FILE
[ "$(ttyward run 'echo hi')" = hi ]
ttyward run 'exit 3' && exit 1 || [ $? = 3 ]
[ "$(ttyward run 'id -u')" = "$(id -u)" ]
ttyward open --name build >/dev/null
[ "$(ttyward exec build 'cd /; echo $((6 * 7))')" = 42 ]
[ "$(ttyward exec build pwd)" = / ]
meta='"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
call='"name":"run_command","arguments":{"command":"exit 4"}'
echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{$call,\"_meta\":{$meta}}}" |
  ttyward mcp | grep -q '"exit_code":4'
mkdir -p .gemini
echo '{}' >.gemini/settings.json
ttyward setup gemini >/dev/null
grep -q "\"$(command -v ttyward)\"" .gemini/settings.json
ttyward setup gemini --undo >/dev/null
[ "$(cat .gemini/settings.json)" = '{}' ]
ttyward daemon stop --kill-terminals
