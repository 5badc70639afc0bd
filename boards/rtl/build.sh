#!/bin/sh
# build.sh CORE: builds the simulator of the core in the folder CORE, if what it is made from has changed, and
# prints its path.
# What is fetched and built is kept in CAIRN_CACHE (default: ~/.cache/cairn).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cache=${CAIRN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cairn}/rtl
jobs=$(nproc)

say() { echo "cairn: $*" >&2; }
fail() {
    say "$*"
    exit 1
}

core=${1-}
case $core in '' | *[!a-z0-9_-]*) fail "usage: build.sh CORE" ;; esac
[ -e "$here/$core/core.sh" ] ||
    fail "there is no core \`$core\`: expected boards/rtl/$core/core.sh, as boards/rtl/README.md describes it"
options='' before='' after='' patches=''
. "$here/$core/core.sh"

"$here/../../tools/cairn/setup/packages.sh" verilator:verilator g++:g++ make:make pip3:python3-pip python3:python3 >&2

# ------------------------------------------------------------------- the core: an archive of objects
verilator_root=$(verilator --getenv VERILATOR_ROOT)
verilator_options="--cc -O3 --x-assign fast --x-initial fast --noassert --no-timing -DSYNTHESIS
    -Wno-fatal -Wno-lint -Wno-style -Wno-UNOPTFLAT --prefix Core --output-split 20000"
make_options='OPT_FAST=-O2 OPT_SLOW=-O1 OPT_GLOBAL=-O2'

# What the core is made from: its own files, the tools, and how. The last number grows when what stands below makes
# something else of them; nothing else here is worth a rebuild of all cores.
recipe="$verilator_options $make_options 1"
made_from() {
    for file in "$here/$core"/*; do
        case $file in */processor.cpp) ;; *) cat "$file" ;; esac
    done
    echo "$recipe"
    verilator --version
    g++ --version
}
key=$(made_from | sha256sum | cut -c1-16)
built=$cache/$core-$key

# Runs a command with its output in a log, and counts the files that it makes meanwhile.
# progress TEXT TOTAL PATTERN LOG COMMAND...
progress() {
    text=$1 total=$2 pattern=$3 log=$4
    shift 4
    "$@" >"$log" 2>&1 9>&- &
    child=$!
    trap 'kill $child 2>/dev/null' EXIT INT TERM
    if [ -t 2 ]; then
        while kill -0 $child 2>/dev/null; do
            # shellcheck disable=SC2086
            printf '\rcairn: %s: %s of %s ' "$text" "$(ls $pattern 2>/dev/null | wc -l)" "$total" >&2
            sleep 0.5
        done
        printf '\r\033[K' >&2
    else
        say "$text"
    fi
    wait $child || {
        tail -n 20 "$log" >&2
        fail "$text failed; the whole log is $log"
    }
    trap - EXIT INT TERM
}

# The core's Verilog in a folder of its own: from a Python package, or from the core's folder.
fetch() {
    package=$cache/packages/$key
    rm -rf "$package"
    mkdir -p "$package"
    if [ -e "$here/$core/package.txt" ]; then
        say "fetching the core $core (a Python package with its Verilog)"
        pip3 download --quiet --no-deps --disable-pip-version-check --require-hashes \
            --dest "$package" -r "$here/$core/package.txt" >&2 ||
            fail "the package could not be fetched; is there a network, or a mirror in pip's configuration?"
        python3 -m zipfile -e "$package"/*.whl "$package"
        rm "$package"/*.whl
    else
        cp -r "$here/$core/." "$package"
    fi
    for patch in $patches; do
        sed -i -f "$here/$core/${patch#*:}" "$package/$data/${patch%:*}"
    done
}

# Files of the core's folder, with their paths.
own() {
    for file in "$@"; do echo "$here/$core/$file"; done
}

translate() {
    mkdir -p "$built"
    # shellcheck disable=SC2086
    files="$(own $before) $(cat "$here/$core/files.txt") $(own $after)"
    cd "$cache/packages/$key/$data"
    # shellcheck disable=SC2086
    progress "translating $core to C++" 1 "$built/Core.mk" "$built/translate.log" \
        verilator $verilator_options $options --top-module $top --Mdir "$built" $files
}

# Verilator 5.006 fills wide constants that end in zeros beyond their end: VL_CONSTHI_* count the words to
# clear from the array's beginning, but clear them from the constant's.
repair_headers() {
    mkdir -p "$built/verilator"
    cp -r "$verilator_root/include" "$built/verilator/"
    sed -i -E 's/VL_C_END_\(obits, VL_WORDS_I\(lsb\) \+ ([0-9])\)/VL_C_END_(obits - lsb, \1)/' \
        "$built/verilator/include/verilated_funcs.h"
}

compile() {
    cd "$built"
    total=$(ls ./*.cpp | wc -l)
    # shellcheck disable=SC2086
    progress "compiling $core (a minute or a few)" "$((total + 2))" "$built/*.o" "$built/compile.log" \
        make -j "$jobs" -f Core.mk VERILATOR_ROOT="$built/verilator" $make_options \
        Core__ALL.a verilated.o verilated_threads.o
}

# One build at a time: whoever waited finds it done.
mkdir -p "$cache"
exec 9>"$cache/$core.lock"
flock 9

if ! [ -e "$built/complete" ]; then
    fetch
    translate
    repair_headers
    compile
    touch "$built/complete"
fi

# ------------------------------------------------------------------------------------- the harness
harness=$(cat "$here/harness"/* "$here/$core/processor.cpp" | sha256sum | cut -c1-16)
simulator=$built/simulator-$harness
if ! [ -x "$simulator" ]; then
    say "compiling the simulator around $core"
    g++ -std=c++17 -O2 -Wall -Wextra -I"$here/harness" -I"$built" -isystem "$built/verilator/include" \
        -isystem "$built/verilator/include/vltstd" -o "$simulator.new" \
        "$here/harness"/*.cpp "$here/$core/processor.cpp" "$built/Core__ALL.a" "$built/verilated.o" \
        "$built/verilated_threads.o" -lpthread >&2
    mv "$simulator.new" "$simulator"
fi
echo "$simulator"
