#!/bin/sh
# Build the panel's page into panel/dist, unless it is there and as new as its sources. Needs Node 18 or newer and npm.
#   tools/build_panel.sh            build it
#   tools/build_panel.sh --check    exit status 1 if there is something to build
set -eu
cd "$(dirname "$0")/../panel"
if [ -e dist/index.html ] &&
  [ -z "$(find src public index.html package-lock.json vite.config.ts -newer dist/index.html -print -quit)" ]; then
  exit 0
fi
[ "${1:-}" = "--check" ] && exit 1
if ! command -v npm >/dev/null 2>&1; then
  echo "panel: building the page needs Node 18 or newer and npm (./setup --panel installs them)" >&2
  exit 1
fi
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  # Not `npm ci`: it refuses lock files that leave out other platforms' optional parts. Integrity is checked all the same.
  npm install --no-save --ignore-scripts --no-fund --no-audit --loglevel=error >&2
fi
npm run --silent build >&2
touch dist/index.html
