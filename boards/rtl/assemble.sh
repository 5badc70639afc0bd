#!/bin/sh
# assemble.sh FOLDER OUTPUT [NAME=ADDRESS]...: makes a raw image, to be loaded where its link.ld says, from the assembly
# in FOLDER. The names are those of the board that differ from those of the boards in this repository.
set -eu
folder=$1 output=$2
shift 2
board='IMAGE=0x80200000 TIMER=0x2000000 SERIAL=0x10000000 FINISHER=0x10100000'
symbols=''
# Of two definitions the first counts.
for symbol in "$@" $board; do symbols="$symbols --defsym $symbol"; done
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
for source in "$folder"/*.S; do
    # shellcheck disable=SC2086
    riscv64-unknown-elf-as $symbols -march=rv64imac_zicsr_zifencei -mabi=lp64 -I "$folder" \
        -o "$objects/$(basename "$source" .S).o" "$source"
done
riscv64-unknown-elf-ld -nostdlib -static --no-warn-rwx-segments -T "$folder/link.ld" -o "$objects/image.elf" \
    "$objects"/*.o
riscv64-unknown-elf-objcopy -O binary "$objects/image.elf" "$output"
