#!/bin/sh
# program.sh: makes what measures Linux, as `init` in the folder CAIRN_OUTPUT, and a compiler with something to compile. Both have their C library
# in them.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
"$here/../../tools/cairn/setup/packages.sh" riscv64-linux-gnu-gcc:gcc-riscv64-linux-gnu /usr/riscv64-linux-gnu/lib/libc.a:libc6-dev-riscv64-cross
riscv64-linux-gnu-gcc -std=gnu11 -O2 -Wall -Wextra -Werror -static -s -I "$CAIRN_HEADERS" -o "$CAIRN_OUTPUT/init" "$here"/program/*.c

# The compiler for riscv64 that Debian's sources have, without the folders and features that its own `configure` would find on the host.
tcc=$("$here/../../tools/cairn/setup/debian-source.sh" tcc)
mkdir -p "$CAIRN_OUTPUT/bin" "$CAIRN_OUTPUT/built"
cp "$here"/built/* "$CAIRN_OUTPUT/built/"
config=$(mktemp -d)
trap 'rm -r "$config"' EXIT
: >"$config/config.h"
riscv64-linux-gnu-gcc -std=gnu11 -O1 -w -static -s -DONE_SOURCE=1 -DTCC_TARGET_RISCV64 -DTCC_VERSION='"of Debian"' -DCONFIG_TCC_STATIC \
    -DCONFIG_TCC_SEMLOCK=0 -DCONFIG_TCCDIR='"/lib/tcc"' -I "$config" -o "$CAIRN_OUTPUT/bin/tcc" "$tcc/tcc.c"
