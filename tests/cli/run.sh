#!/usr/bin/env bash
# Runs the command-line tests against the program in $CACHETOOL (default: build/dev/cachetool).
set -euo pipefail
cd "$(dirname "$0")/../.."
exec python3 tests/cli/run.py "${CACHETOOL:-build/dev/cachetool}" "$@"
