#!/bin/sh
# Build the extension for VS Code into extension/vscode/dist/ttyward.vsix. Needs Node 20 or newer and npm.
#   tools/build_extension.sh            fetch what its lock file pins, build, pack, and check the archive
#   tools/build_extension.sh --offline  the same with what is there; exit status 3 if packages are missing
set -eu
cd "$(dirname "$0")/../extension/vscode"
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  if [ "${1:-}" = "--offline" ]; then
    echo "the npm packages of extension/vscode are not there (tools/build_extension.sh fetches them)" >&2
    exit 3
  fi
  npm install --no-save --no-fund --no-audit --loglevel=error >&2
  touch node_modules/.package-lock.json
fi
npm run --silent build >&2
npm run --silent package >/dev/null
../../tools/check_extension.py dist/ttyward.vsix
