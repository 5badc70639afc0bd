#!/bin/sh
# editor.sh: what an editor runs in Cairn's own tree to show errors (.vscode/settings.json). What runs on the host is
# checked for the host, all else for the bare machine. Files are kept apart from those of ./cairn, which waits for
# nobody then.
set -u
cd "$(dirname "$0")/../../.."
# Nothing of it is executed, and it is a gigabyte less.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0
check() { "${CAIRN_CARGO:-cargo}" check --message-format=json --keep-going --target-dir target/editor "$@"; }

packages='' exclude=''
for manifest in tools/*/Cargo.toml lib/cairn-macros/Cargo.toml; do
    name=$(sed -n '/^name = "\(.*\)"/ { s//\1/p; q; }' "$manifest")
    packages="$packages --package $name" exclude="$exclude --exclude $name"
done
status=0
check --workspace $exclude --target riscv64imac-unknown-none-elf || status=$?
check $packages || status=$?
exit $status
