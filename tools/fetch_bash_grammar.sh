#!/bin/sh
# Put the bash grammar for tree-sitter under .deps/, once. Later runs need no network.
# The package is accepted only if its bytes have the hash below: whatever served it, it is
# the grammar this program was tested with. 0.23 is the last series with ABI 14, which is
# what Debian 12's libtree-sitter loads.
set -eu
cd "$(dirname "$0")/.."
version=0.23.3
integrity=36cg/GQ2YmIbeiBeqeuh4fBJ6i4kgVouDaqTxqih5ysPag+zHufyIaxMOFeM8CeplwAK/Luj1o5XHqgdAfoCZg==
target=.deps/tree-sitter-bash-$version
[ -e "$target/.verified" ] && exit 0

mkdir -p .deps
archive=.deps/tree-sitter-bash-$version.tgz
if [ ! -e "$archive" ]; then
  command -v npm >/dev/null 2>&1 || {
    echo "setup: npm is needed once, to fetch the package tree-sitter-bash $version" >&2
    echo "setup: install npm, or put the package's archive at $archive yourself" >&2
    exit 1
  }
  (cd .deps && npm pack --silent --ignore-scripts "tree-sitter-bash@$version" >/dev/null) || {
    echo "setup: npm could not fetch tree-sitter-bash $version" >&2
    exit 1
  }
fi
found=$(python3 -c 'import base64, hashlib, sys
print(base64.b64encode(hashlib.sha512(open(sys.argv[1], "rb").read()).digest()).decode())' "$archive")
if [ "$found" != "$integrity" ]; then
  rm -f "$archive"
  echo "setup: tree-sitter-bash $version has sha512 $found, expected $integrity; it was thrown away" >&2
  exit 1
fi
staging=$(mktemp -d .deps/unpack.XXXXXX)
tar -xzf "$archive" -C "$staging" package/LICENSE package/src
rm -rf "$target"
mv "$staging/package" "$target"
rmdir "$staging"
: >"$target/.verified"
