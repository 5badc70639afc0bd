#!/bin/sh
# kernel.sh NAME ARCHITECTURE ARGUMENT...: `make` of a kernel in the tree and the build folder of CAIRN_OUTPUT, linked by CAIRN_LINKER, with the
# same compilers and the same words about who built it, whatever the architecture. NAME is what one waits for.
set -eu
name=$1
architecture=$2
shift 2
exec "$(dirname -- "$0")/../tools/cairn/setup/patiently.sh" "$name" make --silent -C "$CAIRN_OUTPUT/tree" O="$CAIRN_OUTPUT/build" \
    ARCH="$architecture" CROSS_COMPILE=riscv64-unknown-elf- LD="$CAIRN_LINKER" \
    KBUILD_BUILD_USER=cairn KBUILD_BUILD_HOST=cairn KBUILD_BUILD_VERSION=1 KBUILD_BUILD_TIMESTAMP=1970-01-01 "$@"
