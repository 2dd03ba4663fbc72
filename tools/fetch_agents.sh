#!/bin/sh
# Installs the agents of tests/acp/agents, pinned by its lock file, into a folder (1.6 GB). A second run finds them in place.
#   tools/fetch_agents.sh FOLDER
set -eu
from="$(cd "$(dirname "$0")/../tests/acp/agents" && pwd)"
mkdir -p "$1"
cd "$1"
if [ node_modules/.package-lock.json -nt package-lock.json ] && cmp -s package-lock.json "$from/package-lock.json"; then
  exit 0
fi
cp "$from/package.json" "$from/package-lock.json" "$from/.npmrc" .
# Their own scripts fetch more, or change what the person has; nothing here needs them. For `npm ci` see fetch_packages.sh.
npm install --no-save --no-fund --no-audit --ignore-scripts --loglevel=error >&2 || {
  echo "test: the agents could not be fetched: npm needs the network, once, and 1.6 GB in $1" >&2
  rm -rf node_modules
  exit 1
}
