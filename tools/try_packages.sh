#!/bin/sh
# Install the Debian packages into a fresh Debian, use them there as somebody who is not root, and purge them again.
#   tools/build_panel.sh && cmake --preset package && cmake --build --preset package && cpack --preset package
#   sudo tools/try_packages.sh build/package/packages
# Needs root, debootstrap and a Debian mirror (MIRROR, or deb.debian.org). The fresh system lives in a folder of its
# own with its own mounts and processes, and is removed at the end.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
packages=$(cd "$1" && pwd)
root=$(mktemp -d)
chmod 755 "$root" # somebody who is not root works in it
trap 'rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1 || {
  tail "$root.log" >&2
  exit 1
}
rm -f "$root.log"
mkdir "$root/packages"
cp "$packages"/ttyward_*.deb "$tools/use_ttyward.sh" "$root/packages"
cat >"$root/try.sh" <<'INSIDE'
set -eu
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
apt-get update -qq
apt-get install -y -qq --no-install-recommends /packages/ttyward_*.deb >/dev/null
useradd -m -s /bin/bash ann
su - ann -c 'sh /packages/use_ttyward.sh && ttyward demo >/dev/null'
[ -e /usr/share/man/man1/ttyward.1.gz ] && [ -e /usr/lib/systemd/user/ttyward.socket ]
dpkg --verify ttyward
apt-get purge -y -qq ttyward >/dev/null
left=$(find / -xdev -path /proc -prune -o -path /packages -prune -o -path /home -prune -o -name '*ttyward*' -print)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "installed, used, purged: all well"
INSIDE
"$tools/in_system.sh" "$root" 0 /bin/sh /try.sh
