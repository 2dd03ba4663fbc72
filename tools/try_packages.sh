#!/bin/sh
# Install the Debian packages into a fresh Debian, use them there as somebody who is not root, and purge them again.
#   tools/build_panel.sh && cmake --preset package && cmake --build --preset package && cpack --preset package
#   sudo tools/try_packages.sh build/package/packages
# Needs root, debootstrap and a Debian mirror (MIRROR, or deb.debian.org). The fresh system lives in a folder of its
# own with its own mounts and processes, and is removed at the end.
set -eu
packages=$(cd "$1" && pwd)
if [ "${TTYWARD_INSIDE:-}" = "" ]; then
  root=$(mktemp -d)
  chmod 755 "$root" # somebody who is not root works in it
  trap 'rm -rf --one-file-system "$root"' EXIT
  debootstrap --variant=minbase bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1 || {
    tail "$root.log" >&2
    exit 1
  }
  rm -f "$root.log"
  TTYWARD_INSIDE=$root unshare --mount --pid --fork --kill-child "$0" "$packages"
  exit
fi

root=$TTYWARD_INSIDE
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm" "$root/packages"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
cp "$packages"/ttyward_*.deb "$root/packages"
cat >"$root/try.sh" <<'INSIDE'
set -eu
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
apt-get update -qq
apt-get install -y -qq --no-install-recommends /packages/ttyward_*.deb >/dev/null
useradd -m -s /bin/bash ann
su - ann <<'ANN'
set -eu
ttyward --version
[ "$(ttyward run 'echo hi')" = hi ]
ttyward run 'exit 3' && exit 1 || [ $? = 3 ]
ttyward open --name build >/dev/null
[ "$(ttyward exec build 'cd /; echo $((6 * 7))')" = 42 ]
[ "$(ttyward exec build pwd)" = / ]
meta='"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
call='"name":"run_command","arguments":{"command":"exit 4"}'
echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{$call,\"_meta\":{$meta}}}" |
  ttyward mcp | grep -q '"exit_code":4'
ttyward demo >/dev/null
ttyward daemon stop --kill-terminals
ANN
[ -e /usr/share/man/man1/ttyward.1.gz ] && [ -e /usr/lib/systemd/user/ttyward.socket ]
dpkg --verify ttyward
apt-get purge -y -qq ttyward >/dev/null
left=$(find / -xdev -path /proc -prune -o -path /packages -prune -o -path /home -prune -o -name '*ttyward*' -print)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "installed, used, purged: all well"
INSIDE
exec chroot "$root" /bin/sh /try.sh
