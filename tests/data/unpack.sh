#!/bin/bash
# unpack.sh DIR [NAME…]: unpacks the archives of this folder below DIR, each into a directory of its own name.
# What is already there is left alone, so tests that share DIR pay once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$1
shift
mkdir -p "$target"
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.tar.zst made/*.tar.zst 2>/dev/null | sed 's|.*/||; s|\.tar\.zst$||')
for name in "$@"; do
  [ ! -d "$target/$name" ] || continue
  archive=$here/$name.tar.zst
  [ -e "$archive" ] || archive=$here/made/$name.tar.zst
  scratch=$(mktemp -d "$target/.unpack.XXXXXX")
  zstd -q -dc --long=27 "$archive" | tar -C "$scratch" -xf -
  mv -T "$scratch/$name" "$target/$name" 2>/dev/null || [ -d "$target/$name" ]
  rm -rf "$scratch"
done
