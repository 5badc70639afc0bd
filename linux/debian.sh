#!/bin/sh
# debian.sh FILE: makes a disk with Debian for riscv64 as `debootstrap` unpacks it, for systems/linux-debian.toml. It configures itself when
# Linux has it for the first time. Nothing of it is executed here, and nobody has to be root.
set -eu
[ $# = 1 ] || { echo "debian.sh FILE: makes a disk with Debian" >&2; exit 1; }
here=$(cd -- "$(dirname -- "$0")" && pwd)
suite=trixie
size=768M
"$here/../tools/cairn/setup/packages.sh" /usr/sbin/debootstrap:debootstrap fakeroot:fakeroot /sbin/mke2fs:e2fsprogs >&2
PATH=$PATH:/usr/sbin:/sbin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "cairn: fetching and unpacking Debian $suite" >&2
# The log is behind what it made, and says why it stopped.
fakeroot -s "$folder/owners" debootstrap --foreign --arch=riscv64 --variant=minbase --include=python3 \
    "$suite" "$folder/root" http://deb.debian.org/debian >"$folder/log" || { tail -n 20 "$folder/log" >&2; exit 1; }
echo linux >"$folder/root/etc/hostname"
rm -f "$1"
truncate -s "$size" "$1"
fakeroot -i "$folder/owners" mke2fs -q -t ext4 -d "$folder/root" -L debian "$1"
