#!/usr/bin/env bash
# Builds the coverage preset, runs the tests and prints how many lines of each folder they reached.
# Usage: scripts/coverage.sh [CTEST_ARGUMENT...]
set -euo pipefail
. "$(dirname "$0")/lib.sh"

"$root_dir/scripts/setup.sh"
build coverage
cd "$root_dir/build/coverage"
find . -name '*.gcda' -delete
ctest -j "$jobs" "$@" | tail -n 5 || true
# gcov knows lines per object file; a header counts once, as reached as its best reader.
find "$PWD" -name '*.gcda' -print0 | xargs -0 gcov --json-format --stdout |
  python3 "$root_dir/scripts/coverage_summary.py" "$root_dir"
