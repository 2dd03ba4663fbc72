#!/bin/sh
# Fetches the npm packages of a folder of tests, pinned by its lock file. A second run finds them in place.
#   tools/fetch_packages.sh FOLDER WHAT
set -eu
cd "$(dirname "$0")/../$1"
[ node_modules/.package-lock.json -nt package-lock.json ] && exit 0
if ! command -v npm >/dev/null 2>&1; then
  echo "setup: without npm the tests with $2 are left out" >&2
  exit 0
fi
# Not `npm ci`: it refuses lock files that leave out other platforms' optional parts, as npm itself writes them.
npm install --no-save --no-fund --no-audit --loglevel=error >&2 || {
  echo "setup: $2 could not be fetched; the tests with them are left out" >&2
  rm -rf node_modules
}
