#!/bin/sh
# Compiles the programs of Linux of this test: static, at a fixed address, without any library.
set -eu
mkdir -p "$CAIRN_OUTPUT/bin"
riscv64-unknown-elf-gcc -O1 -march=rv64gc -mabi=lp64d -mcmodel=medany -static -nostdlib -nostartfiles -ffreestanding \
    -fno-tree-loop-distribute-patterns -Wall -Wextra -Wl,-Ttext-segment=0x10000 -Wl,-z,max-page-size=4096 \
    -o "$CAIRN_OUTPUT/bin/attack" ../programs/attack.c
