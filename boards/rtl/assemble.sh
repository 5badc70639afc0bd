#!/bin/sh
# assemble.sh FOLDER OUTPUT: makes a raw image, to be loaded where its link.ld says, from the assembly in FOLDER.
set -eu
folder=$1 output=$2
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
for source in "$folder"/*.S; do
    riscv64-unknown-elf-as -march=rv64imac_zicsr_zifencei -mabi=lp64 -I "$folder" \
        -o "$objects/$(basename "$source" .S).o" "$source"
done
riscv64-unknown-elf-ld -nostdlib -static --no-warn-rwx-segments -T "$folder/link.ld" -o "$objects/image.elf" \
    "$objects"/*.o
riscv64-unknown-elf-objcopy -O binary "$objects/image.elf" "$output"
