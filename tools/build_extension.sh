#!/bin/sh
# Build the extension for VS Code into extension/vscode/dist/ttyward.vsix. Needs npm and Node 20 or newer: the one on the PATH, or the one that
# ./setup --tests fetches for the tests. With SOURCE_DATE_EPOCH the same sources give the same bytes.
#   tools/build_extension.sh            fetch what its lock file pins, build, pack, and check the archive
#   tools/build_extension.sh --offline  the same with the packages that are there
# Exit status 3: Node or packages are missing.
set -eu
cd "$(dirname "$0")/../extension/vscode"
new_enough() { [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge 20 ]; }
new_enough || PATH="$PWD/../../tests/mcp/node_modules/.bin:$PATH"
if ! new_enough || ! command -v npm >/dev/null 2>&1; then
  echo "extension: building it needs npm and Node 20 or newer (./setup --tests fetches them)" >&2
  exit 3
fi
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  if [ "${1:-}" = "--offline" ]; then
    echo "extension: its npm packages are not there (tools/build_extension.sh fetches them)" >&2
    exit 3
  fi
  npm install --no-save --no-fund --no-audit --loglevel=error >&2
  touch node_modules/.package-lock.json
fi
npm run --silent build >&2
npm run --silent package >/dev/null
../../tools/check_extension.py dist/ttyward.vsix
