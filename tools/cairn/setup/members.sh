#!/bin/sh
# members.sh ROOT: says which folders keep cargo from reading the workspace at ROOT, and what to do: those that a
# pattern of `members` matches and that have no Cargo.toml. Without such folders it says nothing.
set -eu
cd "$1"
list() { sed -n "s/^$1 = \[\(.*\)\].*/\1/p" Cargo.toml | tr -d '",'; }
excluded=" $(list exclude) "
for folder in $(list members); do
    if ! [ -d "$folder" ] || [ -e "$folder/Cargo.toml" ]; then continue; fi
    case $excluded in *" $folder "*) continue ;; esac
    if [ -e "$folder/component.toml" ]; then
        echo "cairn: $folder is a component in C, where Cargo.toml expects packages in Rust only:" \
            "move it, as to examples/${folder##*/}, or write there under [workspace]: exclude = [\"$folder\"]" >&2
    else
        echo "cairn: $folder has no Cargo.toml, which every folder there needs: write it, or remove the folder" >&2
    fi
done
