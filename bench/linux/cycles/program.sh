#!/bin/sh
# program.sh: makes what measures Linux on a simulated core, as `init` in the folder CAIRN_OUTPUT.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
riscv64-unknown-elf-gcc -std=gnu11 -O2 -Wall -Wextra -Werror -march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany -ffreestanding -fno-tree-loop-distribute-patterns \
    -nostdlib -static -Wl,--no-relax -s -o "$CAIRN_OUTPUT/init" "$here"/program/*.c
