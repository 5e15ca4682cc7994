#!/usr/bin/env bash
# Sets up, builds the dev preset (warnings are errors) and runs every test.
# Usage: scripts/test.sh [CTEST_ARGUMENT...]   (for instance: scripts/test.sh -R unit)
set -euo pipefail
. "$(dirname "$0")/lib.sh"

say "set up"
"$root_dir/scripts/setup.sh"
say "build"
build dev
# Caches beside the checkout widen some tests; CACHETOOL_CORPORA_DIR names a folder that holds them unpacked.
if [ -z "${CACHETOOL_CORPORA_DIR:-}" ]; then
  CACHETOOL_CORPORA_DIR=$("$root_dir/scripts/unpack_corpora.sh")
  export CACHETOOL_CORPORA_DIR
fi

say "test"
cd "$root_dir/build/dev"
result=0
ctest --output-on-failure -j "$jobs" "$@" | tee ctest.log || result=$?
# A test that leaves something out says so in a line "not run: WHAT: WHY".
log=Testing/Temporary/LastTest.log
if [ -e "$log" ] && grep -q '^not run: ' "$log"; then
  say "left out"
  grep '^not run: ' "$log" | sort -u
fi
say "result"
grep -E '% tests passed|No tests were found' ctest.log || echo "ctest ended without a result"
exit "$result"
