#!/usr/bin/env bash
# From a fresh checkout to a first look at a cache: sets up, builds the release preset, then shows what DIR holds.
# Usage: scripts/quickstart.sh [DIR]   (without DIR: a small real cache that comes with the sources)
set -euo pipefail
. "$(dirname "$0")/lib.sh"

say "set up"
"$root_dir/scripts/setup.sh" --build-only
say "build"
build release -DCACHETOOL_BUILD_TESTS=OFF
cachetool="$root_dir/build/release/cachetool"
if [ $# -gt 0 ]; then
  cache=$1
else
  sample=cpu-2.15.0-mlp
  "$root_dir/tests/data/unpack.sh" "$root_dir/build/quickstart" "$sample"
  cache="$root_dir/build/quickstart/$sample/cache"
fi
cache=${cache#"$PWD"/}

# A cache with damaged entries ends list with 1: what stats says is still worth seeing.
result=0
for command in list stats; do
  say "cachetool $command $cache"
  "$cachetool" "$command" "$cache" || result=$?
done
printf '\nThe program is %s; docs/manual.md has its commands.\n' "${cachetool#"$PWD"/}"
exit "$result"
