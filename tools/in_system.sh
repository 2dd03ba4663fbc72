#!/bin/sh
# Run a program in the folder of another system, with mounts and processes of its own. Whatever it mounts or starts ends with it.
#   sudo tools/in_system.sh ROOT USER PROGRAM [ARGUMENT…]      USER: a number, 0 for root
set -eu
if [ "${TTYWARD_INSIDE:-}" = "" ]; then
  TTYWARD_INSIDE=1 exec unshare --mount --pid --fork --kill-child "$0" "$@"
fi
unset TTYWARD_INSIDE
root=$1
user=$2
shift 2
mount --make-rprivate /
mkdir -p "$root/proc" "$root/dev" "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
chmod 1777 "$root/tmp" "$root/dev/shm"
exec chroot --userspec="$user:$user" "$root" "$@"
