#!/bin/sh
# debian-package.sh NAME VERSION ARCHITECTURE SUITE SHA256: fetches a Debian package of any architecture with `apt-get download`, once,
# into a folder outside the tree (CAIRN_SOURCES, or the user's cache), checked by the archive's signatures and by its SHA-256; prints
# the folder in which its files are.
set -eu
name=$1 version=$2 architecture=$3 suite=$4 sha256=$5
for word in "$name" "$architecture" "$suite" "$sha256"; do
    case $word in
        *[!a-z0-9.+-]* | '' | -*) echo "cairn: \`$word\` is no name, architecture, suite or SHA-256 of a Debian package" >&2; exit 1 ;;
    esac
done
case $version in
    *[!A-Za-z0-9.+:~-]* | '' | -*) echo "cairn: \`$version\` is no version of a Debian package" >&2; exit 1 ;;
esac
cache=${CAIRN_SOURCES:-${XDG_CACHE_HOME:-$HOME/.cache}/cairn/sources}
place=$cache/packages/$sha256
if [ -d "$place" ]; then
    echo "$place"
    exit 0
fi
"$(dirname -- "$0")/packages.sh" apt-get:apt dpkg-deb:dpkg >&2
echo "cairn: fetching Debian's package $name $version for $architecture (once, into $cache)" >&2
mkdir -p "$cache/packages"
fetched=$(mktemp -d "$cache/packages/$name.XXXXXX")
trap 'rm -rf "$fetched"' EXIT
# A state of its own: the machine's knows neither the suite nor the architecture, and is only root's to change.
mkdir -p "$fetched/lists/partial" "$fetched/archives/partial"
: >"$fetched/status"
echo "deb http://deb.debian.org/debian $suite main" >"$fetched/sources.list"
apt() {
    apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
        -o Dir::Etc::sourcelist="$fetched/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State="$fetched" \
        -o Dir::State::status="$fetched/status" -o Dir::State::lists="$fetched/lists" -o Dir::Cache="$fetched" \
        -o APT::Sandbox::User="$(id -un)" "$@" >&2
}
if ! { apt update && (cd "$fetched" && apt download "$name=$version"); }; then
    echo "cairn: \`apt-get download $name=$version\` from Debian $suite failed; see above" >&2
    exit 1
fi
file=$(find "$fetched" -maxdepth 1 -name '*.deb')
found=$(sha256sum "$file" | cut -d ' ' -f 1)
if [ "$found" != "$sha256" ]; then
    echo "cairn: $name $version has the SHA-256 $found, expected $sha256" >&2
    exit 1
fi
dpkg-deb -x "$file" "$fetched/files"
mv -T "$fetched/files" "$place"
echo "$place"
