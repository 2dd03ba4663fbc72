#!/bin/sh
# The MCP world's own clients and conformance suites for tests/mcp, pinned by its lock file. A second run finds them in place.
set -eu
cd "$(dirname "$0")/../tests/mcp"
[ node_modules/.package-lock.json -nt package-lock.json ] && exit 0
if ! command -v npm >/dev/null 2>&1; then
  echo "setup: without npm the tests with MCP clients are left out" >&2
  exit 0
fi
# Not `npm ci`: it refuses lock files that leave out other platforms' optional parts, as npm itself writes them.
npm install --no-save --no-fund --no-audit --loglevel=error >&2 || {
  echo "setup: the MCP clients could not be fetched; the tests with them are left out" >&2
  rm -rf node_modules
}
