#!/bin/bash
# allow_list_test.sh PYTHON DIR: checks lib/pickle/allow_list.inc against the caches of tests/data, unpacked below DIR.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/tests/data/unpack.sh" "$2"
"$1" -B "$root/scripts/allow_list.py" "$2"
# The check can fail: without its first line the list lacks something.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/scripts" "$copy/lib/pickle"
cp "$root"/scripts/allow_list.py "$root"/scripts/pickle_calls.py "$copy/scripts"
cp "$root"/lib/pickle/*.inc "$copy/lib/pickle"
sed -i '/"CompiledFxGraph"/d; s/"collections", "Counter", "c"/"collections", "Counter", "b"/' "$copy/lib/pickle/allow_list.inc"
if "$1" -B "$copy/scripts/allow_list.py" "$2" > "$copy/out"; then
  echo "a list without CompiledFxGraph passes"
  exit 1
fi
grep -q 'not listed: torch._inductor.output_code.CompiledFxGraph' "$copy/out"
grep -q 'not listed: collections.Counter in role c' "$copy/out"
