#!/bin/sh
# Use what tools/release.sh made in systems that have nothing else of ours, as somebody who is not root.
#   sudo tools/try_release.sh dist [SUITE…]      SUITE: a Debian suite to debootstrap (default: bullseye bookworm trixie)
# Needs root; debootstrap and a Debian mirror (MIRROR, or deb.debian.org) for the suites. Without them only the system that
# consists of busybox, and npm and pip on this machine, are tried, and it says so. Everything is removed at the end.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "$1" && pwd)
shift
tarball=$(ls "$dist"/ttyward-*-linux-x86_64.tar.gz)
version=$(basename "$tarball" -linux-x86_64.tar.gz)
version=${version#ttyward-}

work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf --one-file-system "$work"' EXIT
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
echo "checksums: right"
"$tools/check_extension.py" "$dist/ttyward-$version.vsix"

try_in() { # NAME ROOT
  mkdir -p "$2/ttyward" "$2/home/ann"
  tar -xzf "$tarball" -C "$2/ttyward" --strip-components 1
  chown 1000:1000 "$2/home/ann"
  cp "$tools/use_ttyward.sh" "$2/"
  if "$tools/in_system.sh" "$2" 1000 /bin/sh -c 'export PATH=/ttyward/bin:/usr/bin:/bin HOME=/home/ann SHELL=/bin/sh; exec sh /use_ttyward.sh' >"$work/log" 2>&1; then
    echo "$1: works ($(grep '^ttyward ' "$work/log" | head -n 1))"
  else
    echo "$1: FAILED" >&2
    cat "$work/log" >&2
    failed=1
  fi
}
failed=0

# A system of busybox and nothing else: no glibc, no bash.
busybox=$(command -v busybox || true)
if [ -n "$busybox" ]; then
  root=$work/busybox
  mkdir -p "$root/bin" "$root/etc" "$root/home/ann"
  cp "$busybox" "$root/bin/busybox"
  for library in $(ldd "$busybox" 2>/dev/null | grep -o '/[^ ]*'); do
    mkdir -p "$root${library%/*}" && cp "$library" "$root$library"
  done
  for applet in $("$busybox" --list); do [ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"; done
  echo 'root:x:0:0::/root:/bin/sh
ann:x:1000:1000::/home/ann:/bin/sh' >"$root/etc/passwd"
  echo 'ann:x:1000:' >"$root/etc/group"
  try_in busybox "$root"
else
  echo "busybox: not tried, it is not installed"
fi

if command -v debootstrap >/dev/null 2>&1; then
  for suite in ${*:-bullseye bookworm trixie}; do
    root=$work/$suite
    if debootstrap --variant=minbase "$suite" "$root" "${MIRROR:-http://deb.debian.org/debian}" >"$work/log" 2>&1; then
      try_in "Debian $suite" "$root"
      cp "$dist/ttyward_${version}_amd64.deb" "$root/"
      if chroot "$root" dpkg -i "/ttyward_${version}_amd64.deb" >"$work/log" 2>&1 &&
        chroot "$root" /usr/bin/ttyward --version >>"$work/log" 2>&1 && chroot "$root" dpkg --verify ttyward &&
        chroot "$root" dpkg --purge ttyward >>"$work/log" 2>&1; then
        echo "Debian $suite: the package installs and goes"
      else
        echo "Debian $suite: the package FAILED" >&2
        cat "$work/log" >&2
        failed=1
      fi
      rm -rf --one-file-system "$root"
    else
      echo "Debian $suite: not tried, the mirror does not have it ($(tail -n 1 "$work/log"))"
    fi
  done
else
  echo "Debian: not tried, debootstrap is not installed"
fi

# The image, in a storage of its own.
if command -v podman >/dev/null 2>&1; then
  own="podman --root $work/storage --runroot $work/podman --storage-driver vfs"
  command -v runc >/dev/null 2>&1 && own="$own --runtime runc"
  if $own load -i "$dist/ttyward-$version-linux-x86_64.oci.tar" >"$work/log" 2>&1 &&
    $own run --rm --net=none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "ttyward:$version" run -- /usr/bin/ttyward --version >>"$work/log" 2>&1 &&
    grep -q "^ttyward $version" "$work/log"; then
    echo "image: podman runs it"
  else
    echo "image: FAILED" >&2
    cat "$work/log" >&2
    failed=1
  fi
  $own rmi --all --force >/dev/null 2>&1 || true
else
  echo "image: not tried, podman is not installed"
fi

# npm and pip, from the files alone: no registry, no scripts.
if command -v npm >/dev/null 2>&1; then
  mkdir "$work/npm" "$work/npm/home"
  (
    cd "$work/npm"
    export HOME="$work/npm/home" npm_config_registry=http://127.0.0.1:9 npm_config_cache="$work/npm/cache" TTYWARD_HOME="$work/npm/ttyward"
    TTYWARD_PERSON_TOKEN_FILE=$(npx --yes --offline --ignore-scripts -p "$dist/ttyward-linux-x64-$version.tgz" -p "$dist/ttyward-$version.tgz" ttyward person token)
    export TTYWARD_PERSON_TOKEN_FILE
    npx --yes --offline --ignore-scripts -p "$dist/ttyward-linux-x64-$version.tgz" -p "$dist/ttyward-$version.tgz" ttyward run 'exit 3' && exit 1 || [ $? = 3 ]
    hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
    echo "$hello" | npx --yes --offline --ignore-scripts -p "$dist/ttyward-linux-x64-$version.tgz" -p "$dist/ttyward-$version.tgz" ttyward mcp | grep -q '"serverInfo"'
    echo '{"type":"module","private":true}' >package.json
    npm install --offline --ignore-scripts --no-audit --no-fund "$dist/ttyward-linux-x64-$version.tgz" "$dist/ttyward-$version.tgz" "$dist/ttyward-client-$version.tgz" >/dev/null
    cat >try.mjs <<'SCRIPT'
import { Client } from "@ttyward/client";
const client = await Client.connect({ program: "node_modules/.bin/ttyward" });
const { exit_code } = await client.run({ command: "exit 5" });
await client.close();
process.exit(exit_code === 5 ? 0 : 1);
SCRIPT
    node try.mjs
    node_modules/.bin/ttyward daemon stop --kill-terminals >/dev/null
  ) >"$work/log" 2>&1 && echo "npm: npx, install and the client work" || {
    echo "npm: FAILED" >&2
    cat "$work/log" >&2
    failed=1
  }
else
  echo "npm: not tried, it is not installed"
fi
if python3 -m venv --help >/dev/null 2>&1 && python3 -m venv "$work/venv" >/dev/null 2>&1; then
  mkdir "$work/here" && tar -xzf "$tarball" -C "$work/here" --strip-components 1
  TTYWARD_HOME=$work/pip
  export TTYWARD_HOME
  TTYWARD_PERSON_TOKEN_FILE=$("$work/here/bin/ttyward" person token)
  export TTYWARD_PERSON_TOKEN_FILE
  if "$work/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$dist/ttyward-$version-py3-none-any.whl" &&
    "$work/venv/bin/python" -c "
import ttyward
with ttyward.Client(program='$work/here/bin/ttyward') as client:
    assert client.run('exit 6')['exit_code'] == 6
" && "$work/here/bin/ttyward" daemon stop --kill-terminals >/dev/null; then
    echo "pip: the client works"
  else
    echo "pip: FAILED" >&2
    failed=1
  fi
else
  echo "pip: not tried, python3-venv is not installed"
fi
exit $failed
