#!/bin/sh
# fetch-rustup.sh FOLDER: puts rustup into FOLDER and nowhere else; removing FOLDER undoes it.
set -eu
folder=$1
version=1.28.2
# The checksums are fixed here, so that what is run is what was looked at once.
case $(uname -m) in
    x86_64)
        host=x86_64-unknown-linux-gnu
        checksum=20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c
        ;;
    aarch64)
        host=aarch64-unknown-linux-gnu
        checksum=e3853c5a252fca15252d07cb23a1bdd9377a8c6f3efa01531109281ae47f841c
        ;;
    *)
        echo "cairn: no rustup is known here for the processor $(uname -m)" >&2
        exit 1
        ;;
esac
address=https://static.rust-lang.org/rustup/archive/$version/$host/rustup-init

command -v curl >/dev/null 2>&1 || {
    echo "cairn: curl is missing, so rustup cannot be fetched" >&2
    exit 1
}
echo "cairn: fetching rustup $version into $folder" >&2
mkdir -p "$folder"
# Short limits: without a network the fall-back should not wait for minutes.
curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location \
    --connect-timeout 10 --speed-limit 1000 --speed-time 20 --output "$folder/rustup-init" "$address" || {
    echo "cairn: cannot fetch $address" >&2
    exit 1
}
echo "$checksum  $folder/rustup-init" | sha256sum --check --status || {
    echo "cairn: $address does not have the expected checksum $checksum; it is not run" >&2
    rm -f "$folder/rustup-init"
    exit 1
}
chmod +x "$folder/rustup-init"
# Its greeting, on standard output, tells how to change PATH, which nobody needs here.
RUSTUP_HOME=$folder CARGO_HOME=$folder RUSTUP_INIT_SKIP_PATH_CHECK=yes \
    "$folder/rustup-init" -y --quiet --no-modify-path --profile minimal --default-toolchain none >/dev/null
rm -f "$folder/rustup-init"
