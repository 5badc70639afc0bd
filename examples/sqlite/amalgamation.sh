#!/bin/sh
# Has SQLite's own build put its sources into one file, sqlite3.c, beside sqlite3.h. It writes only into the folder that it runs in.
set -eu
../../tools/cairn/setup/packages.sh tclsh:tcl make:make cc:gcc /usr/include/stdio.h:libc6-dev
echo "cairn: putting SQLite's sources into one file (once, a quarter of a minute)" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if ! { "$CAIRN_PACKAGE/configure" --disable-tcl --disable-readline && make sqlite3.c; } >log 2>&1; then
    tail -n 20 log >&2
    exit 1
fi
cp sqlite3.c sqlite3.h "$CAIRN_OUTPUT"
