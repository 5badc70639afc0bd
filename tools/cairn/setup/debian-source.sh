#!/bin/sh
# debian-source.sh PACKAGE [ARCHIVE]: fetches the sources of a Debian package with `apt-get source`, once, into a folder outside the
# tree (CAIRN_SOURCES, or the user's cache), checked by the archive's signatures, and prints where they are. With ARCHIVE, they are in the
# archive that PACKAGE, which is for the host then, has at that place.
set -eu
package=$1
archive=${2:-}
case $package in
    *[!a-z0-9.+-]* | '' | -*) echo "cairn: \`$package\` is no name of a Debian source package" >&2; exit 1 ;;
esac
cache=${CAIRN_SOURCES:-${XDG_CACHE_HOME:-$HOME/.cache}/cairn/sources}
place=$cache/$package.place
if [ -e "$place" ] && [ -d "$(cat "$place")" ]; then
    cat "$place"
    exit 0
fi
"$(dirname -- "$0")/packages.sh" apt-get:apt dpkg-source:dpkg-dev xz:xz-utils >&2
kind=${archive:+deb}
kind=${kind:-deb-src}
echo "cairn: fetching Debian's sources of $package (once, into $cache)" >&2
mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial"
# The lists of the machine often have no sources: lists of one's own need no root either.
suite=bookworm
if [ -e /etc/os-release ]; then
    . /etc/os-release
    if [ "${ID:-}" = debian ]; then suite=${VERSION_CODENAME:-sid}; fi
fi
echo "$kind http://deb.debian.org/debian $suite main" >"$cache/apt/sources.list"
fetched=$(mktemp -d "$cache/$package.XXXXXX")
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$cache/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$cache/apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$cache/apt" -o APT::Sandbox::User="$(id -un)" "$@" >&2
}
fetch() {
    cd "$fetched"
    if [ -z "$archive" ]; then
        apt source "$package"
    else
        apt download "$package" && dpkg-deb --fsys-tarfile ./*.deb | tar -xO "./$archive" | tar -x --xz && rm ./*.deb
    fi
}
if ! { apt update && (fetch); }; then
    rm -rf "$fetched"
    echo "cairn: \`apt-get source $package\` failed; see above" >&2
    exit 1
fi
for folder in "$fetched"/*/; do
    echo "${folder%/}" >"$place.new"
done
mv "$place.new" "$place"
cat "$place"
