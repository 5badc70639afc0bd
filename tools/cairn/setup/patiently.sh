#!/bin/sh
# patiently.sh WHAT COMMAND...: runs a command that builds WHAT, and ends as it does. Where no terminal shows cargo's progress, it says
# every 15 seconds (or CAIRN_PATIENCE) that it goes on: a large crate takes minutes.
set -u
what=$1
shift
[ ! -t 2 ] || exec "$@"
say() {
    seconds=0
    # Whoever reads the messages does not wait for the last sleep; and it ends with whom it speaks for.
    while sleep "$1" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        seconds=$((seconds + $1))
        echo "cairn: building $what, for $seconds s" >&2
    done
}
say "${CAIRN_PATIENCE:-15}" </dev/null &
speaker=$!
trap 'kill $speaker 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$@"
