#!/bin/sh
# program.sh: makes what measures Linux, as `init` in the folder CAIRN_OUTPUT. It has its C library in it.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
"$here/../../tools/cairn/setup/packages.sh" riscv64-linux-gnu-gcc:gcc-riscv64-linux-gnu /usr/riscv64-linux-gnu/lib/libc.a:libc6-dev-riscv64-cross
riscv64-linux-gnu-gcc -std=gnu11 -O2 -Wall -Wextra -Werror -static -s -I "$CAIRN_HEADERS" -o "$CAIRN_OUTPUT/init" "$here"/program/*.c
