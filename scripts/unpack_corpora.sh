#!/usr/bin/env bash
# Unpacks the sample caches that some tests use in addition to tests/data, each once, into build/corpora.
# Usage: scripts/unpack_corpora.sh [ARCHIVES [TARGET]]   (default: ../shared/corpora beside the checkout, build/corpora)
# Prints the target. Without archives it prints nothing and succeeds: those tests then say that they did not run.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

archives=${1:-$root_dir/../shared/corpora}
target=${2:-$root_dir/build/corpora}
[ -d "$archives" ] || exit 0

# unpack ARCHIVE FOLDER: FOLDER receives the members; the mark beside it tells a whole unpacking from a torn one.
unpack() {
  local archive=$1 folder=$2
  local mark="$folder/.${archive##*/}.done"
  if [ -e "$mark" ] && ! [ "$archive" -nt "$mark" ]; then return; fi
  mkdir -p "$folder"
  tar --zstd --no-same-owner -xf "$archive" -C "$folder"
  touch "$mark"
}

for archive in "$archives"/*.tar.zst "$archives"/*/*.tar.zst; do
  [ -e "$archive" ] || continue
  parent=${archive%/*}
  name=${archive##*/}
  name=${name%.tar.zst}
  # A folder of many archives keeps its name as a level; one that repeats its only archive's name does not.
  if [ "$parent" = "$archives" ] || [ "${parent##*/}" = "$name" ]; then
    unpack "$archive" "$target"
  else
    unpack "$archive" "$target/${parent##*/}"
  fi
done
printf '%s\n' "$target"
