#!/bin/sh
# packages.sh CHECK:PACKAGE...: installs each Debian package whose check fails.
# A check is a command's name or, beginning with a slash, a file's path.
set -eu
missing=
for need do
    check=${need%%:*}
    case $check in
        /*) [ -e "$check" ] || missing="$missing ${need#*:}" ;;
        *) command -v "$check" >/dev/null 2>&1 || missing="$missing ${need#*:}" ;;
    esac
done
[ -n "$missing" ] || exit 0

echo "cairn: missing packages:$missing" >&2
if ! command -v apt-get >/dev/null 2>&1; then
    echo "cairn: this is not a Debian system; install what corresponds to these packages and run again" >&2
    exit 1
fi
line="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=sudo
else
    echo "cairn: installing them needs root; run this line as root, then the command again:" >&2
    echo "    apt-get update && $line" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "cairn: installing: $line" >&2
# The package lists of a fresh machine may be absent or old, so a first failure refreshes them.
# shellcheck disable=SC2086
$as_root $line >&2 || { $as_root apt-get update >&2 && $as_root $line >&2; } || {
    echo "cairn: installing failed; see above. Run the line by hand, then the command again:" >&2
    echo "    $line" >&2
    exit 1
}
