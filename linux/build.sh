#!/bin/sh
# build.sh: makes the kernel as one object file, `vmlinux` in the folder CAIRN_OUTPUT, of the sources in CAIRN_PACKAGE, linked by
# CAIRN_LINKER. What it has made before it brings up to date. A file `config` in the folder where it runs has options of a
# kernel of one's own.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
tree=$CAIRN_OUTPUT/tree
build=$CAIRN_OUTPUT/build
mkdir -p "$tree/arch" "$tree/mm" "$build"

# The sources are shared with others and stay as they are: the tree leads there, but for what is ours.
for path in "$CAIRN_PACKAGE"/*; do
    case ${path##*/} in
        arch | mm) ;;
        *) ln -sfn "$path" "$tree/${path##*/}" ;;
    esac
done
ln -sfn "$CAIRN_PACKAGE"/arch/* "$tree/arch/"
rsync --archive --delete "$here/arch/" "$tree/arch/cairn/"
cp -p "$here/../lib/linux/cairn_device.h" "$tree/arch/cairn/include/asm/"
ln -sfn "$CAIRN_PACKAGE"/mm/* "$tree/mm/"
for file in $(sed -n 's|^+++ b/||p' "$here"/patches/*.patch); do
    # A link would be written through.
    rm "$tree/$file"
    cp -p "$CAIRN_PACKAGE/$file" "$tree/$file"
done
for patch in "$here"/patches/*.patch; do
    patch --silent --strip=1 --directory="$tree" --set-utc <"$patch"
done

kernel() {
    "$here/kernel.sh" Linux cairn "$@"
}
config=$build/asked
own=$PWD/config
[ -e "$own" ] || own=/dev/null
# Of an option that is there twice, the last counts.
sed -n 's/^# \(CONFIG_[A-Za-z0-9_]*\) is not set$/\1=n/; /^CONFIG_/p' "$here/config" "$own" | awk -F= '{ of[$1] = $0 } END { for (name in of) print of[name] }' | sort >"$config.new"
if ! cmp -s "$config.new" "$config" || [ ! -e "$build/.config" ] || [ "$here/arch/Kconfig" -nt "$build/.config" ]; then
    mv "$config.new" "$config"
    kernel KCONFIG_ALLCONFIG="$config" allnoconfig >/dev/null
    # What the configuration asks for and cannot have is an error of this folder.
    missing=$(grep -v '=n$' "$config" | grep -vxFf "$build/.config" || true)
    if [ -n "$missing" ]; then
        echo "$here/config, $own: the kernel has no such options, or others forbid them: $missing" >&2
        rm "$build/.config"
        exit 1
    fi
fi
version=$(make --silent -C "$tree" kernelversion)
echo "cairn: building Linux $version; the first time takes minutes" >&2
kernel -j"$(nproc)" vmlinux
ln -f "$build/vmlinux" "$CAIRN_OUTPUT/vmlinux"
