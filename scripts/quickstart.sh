#!/usr/bin/env bash
# From a fresh checkout to a first look at a cache: sets up, builds the release preset, then shows what DIR holds.
# Usage: scripts/quickstart.sh [DIR]   (without DIR: a small real cache that comes with the sources)
set -euo pipefail
. "$(dirname "$0")/lib.sh"

sample() {
  local archive
  archive=$(find "$root_dir/tests/data" -name 'cpu-*-mlp.tar.zst' | sort -V | tail -n 1)
  local target="$root_dir/build/quickstart"
  rm -rf "$target"
  mkdir -p "$target"
  tar --zstd --no-same-owner -xf "$archive" -C "$target"
  find "$target" -type d -name cache -prune
}

say "set up"
"$root_dir/scripts/setup.sh" --build-only
say "build"
build release -DCACHETOOL_BUILD_TESTS=OFF
cachetool="$root_dir/build/release/cachetool"
cache=${1:-$(sample)}

say "cachetool list $cache"
"$cachetool" list "$cache"
say "cachetool stats $cache"
"$cachetool" stats "$cache"
printf '\nThe program is %s; docs/manual.md has its commands.\n' "${cachetool#"$PWD"/}"
