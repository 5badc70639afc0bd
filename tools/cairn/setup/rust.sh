#!/bin/sh
# Decides which Rust builds Cairn, completes it, and prints the decision as shell assignments.
#
# rustup: the toolchain and targets that rust-toolchain.toml pins; where there is no rustup, it is
#         fetched into .cairn/rustup, which leaves the rest of the machine as it is.
# debian: Debian's packaged compiler; it has no library for the bare target, so cargo builds `core`
#         and `alloc` from Debian's package of their source (an unstable option: RUSTC_BOOTSTRAP).
#
# CAIRN_RUST=rustup or CAIRN_RUST=debian forces one; else rustup, and debian where rustup fails.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../../.." && pwd)
# A question to rustup must not install what it is asked about, with its messages thrown away.
export RUSTUP_AUTO_INSTALL=0
pinned() { sed -n "s/^$1 *= *//p" "$root/rust-toolchain.toml" | tr -d '[]",'; }

# Sets `rustup` to a rustup that can be run.
find_rustup() {
    if command -v rustup >/dev/null 2>&1; then
        rustup=rustup
    elif [ -x "${CARGO_HOME:-${HOME:-}/.cargo}/bin/rustup" ]; then
        # Installed, but this shell was started before.
        rustup=${CARGO_HOME:-${HOME:-}/.cargo}/bin/rustup
    else
        own=${CAIRN_STATE:-$root/.cairn}/rustup
        rustup=$own/bin/rustup
        [ -x "$rustup" ] || "$here/fetch-rustup.sh" "$own" || return 1
        export RUSTUP_HOME="$own" CARGO_HOME="$own"
    fi
}

# The toolchain by its own path, so that neither the working directory nor PATH changes it later.
by_rustup() {
    find_rustup || return 1
    channel=$(pinned channel) targets=$(pinned targets)
    installed=$("$rustup" target list --toolchain "$channel" --installed 2>/dev/null) || installed=
    missing=
    for target in $targets; do
        printf '%s\n' "$installed" | grep -qx "$target" || missing="$missing $target"
    done
    if [ "$missing" ]; then
        echo "cairn: installing Rust $channel for$missing with rustup" >&2
        set --
        for component in $(pinned components); do set -- "$@" --component "$component"; done
        "$rustup" toolchain install "$channel" --profile minimal --no-self-update "$@" >&2 &&
            "$rustup" target add --toolchain "$channel" $missing >&2 || {
            echo "cairn: rustup cannot install Rust $channel with$missing" >&2
            return 1
        }
    fi
    compiler=$("$rustup" which --toolchain "$channel" rustc) || return 1
    bin=$(dirname "$compiler")
    printf 'export CAIRN_RUST=rustup CAIRN_CARGO="%s/cargo" RUSTC="%s/rustc" RUSTDOC="%s/rustdoc"\n' "$bin" "$bin" "$bin"
}

by_debian() {
    echo "cairn: using Debian's Rust packages" >&2
    # Found by the packages' own lists of files: the older package `rustc` has a /usr/bin/rustc too.
    packages=/var/lib/dpkg/info
    "$here/packages.sh" $packages/rustc-web.list:rustc-web $packages/cargo-web.list:cargo-web \
        $packages/rust-web-src.list:rust-web-src || return 1
    # The linker for the bare target; it must be as new as the compiler's own LLVM.
    llvm=$(/usr/bin/rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
    "$here/packages.sh" "ld.lld-$llvm:lld-$llvm" || return 1
    printf 'export CAIRN_RUST=debian CAIRN_CARGO=/usr/bin/cargo RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc CAIRN_LINKER=ld.lld-%s\n' "$llvm"
}

case ${CAIRN_RUST:-auto} in
    rustup) by_rustup ;;
    debian) by_debian ;;
    auto) by_rustup || by_debian ;;
    *)
        echo "cairn: CAIRN_RUST is '$CAIRN_RUST', expected 'rustup' or 'debian'; unset it to let set-up choose" >&2
        exit 2
        ;;
esac
