#!/bin/sh
# native.sh: makes the Linux that linux/ makes a component of, of the same sources with the same configuration and compilers, for the bare
# machine: `Image` and `entry.bin`, which is started in its place, in the folder CAIRN_OUTPUT, linked by CAIRN_LINKER.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
tree=$CAIRN_OUTPUT/tree
build=$CAIRN_OUTPUT/build
"$root/tools/cairn/setup/packages.sh" bc:bc bison:bison flex:flex patch:patch
package=$("$root/tools/cairn/setup/debian-source.sh" linux-source-6.1 usr/src/linux-source-6.1.tar.xz)
mkdir -p "$tree/arch/riscv/mm" "$build"

# The sources are shared with others and stay as they are: the tree leads there, but for one file.
link() {
    for path in "$package/$1"/*; do
        [ "$path" = "$package/$1/$2" ] || ln -sfn "$path" "$tree/$1/"
    done
}
link . arch
link arch riscv
link arch/riscv mm
link arch/riscv/mm init.c
cp -p "$package/arch/riscv/mm/init.c" "$tree/arch/riscv/mm/"
patch --silent --strip=1 --directory="$tree" --set-utc <"$here/three-levels.patch"

kernel() {
    "$root/linux/kernel.sh" "Linux for the bare machine" riscv "$@"
}
grep -v "CAIRN\|LOCALVERSION" "$root/linux/config" | cat - "$here/native.config" >"$build/wanted.new"
if ! cmp -s "$build/wanted.new" "$build/wanted"; then
    kernel KCONFIG_ALLCONFIG="$build/wanted.new" allnoconfig >/dev/null
    mv "$build/wanted.new" "$build/wanted"
fi
kernel -j"$(nproc)" Image
ln -f "$build/arch/riscv/boot/Image" "$CAIRN_OUTPUT/Image"
riscv64-unknown-elf-gcc -march=rv64imac_zicsr -mabi=lp64 -nostdlib -Wl,-Ttext=0x80200000 -o "$CAIRN_OUTPUT/entry" "$here/entry.S"
riscv64-unknown-elf-objcopy -O binary "$CAIRN_OUTPUT/entry" "$CAIRN_OUTPUT/entry.bin"
