#!/bin/sh
# make.sh [FOLDER]: compiles the programs in a folder, with their C library in them.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
"$here/../../tools/cairn/setup/packages.sh" riscv64-linux-gnu-gcc:gcc-riscv64-linux-gnu /usr/riscv64-linux-gnu/lib/libc.a:libc6-dev-riscv64-cross
mkdir -p "$CAIRN_OUTPUT/bin"
for program in "$here/${1-program}"/*.c; do
    name=${program##*/}
    riscv64-linux-gnu-gcc -std=gnu11 -O2 -Wall -Wextra -Werror -pthread -static -s -I "$CAIRN_HEADERS" -o "$CAIRN_OUTPUT/bin/${name%.c}" "$program"
done
