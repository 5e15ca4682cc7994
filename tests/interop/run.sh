#!/bin/bash
# run.sh: compares cachetool with real torch releases. Each release compiles model.py into a fresh cache, decodes what it wrote
# (torch_fields.py), and cachetool must show the same; torch and doctor are asked which directory is the cache under various
# settings (places.py); torch's own post-compile and `cachetool replay` decide about random graphs (post_compile.py) and about
# compiled models, also for a declared CUDA device (decisions.py tells what that takes); both look keys up with many sizes in sound and
# damaged caches (lookup.py); then torch keeps compiling while cachetool reads; and at last it runs on a cache that was damaged and
# repaired (repair.py). SARIF output is validated (sarif.py), which needs no torch.
#   CACHETOOL                   the binary (default: build/dev/cachetool, build/release/cachetool)
#   CACHETOOL_TORCH_VENV        virtual environments with torch, separated by spaces; else python3 if it has torch
#   CACHETOOL_INTEROP_INSTALL   1: without those, install torch into scratch environments, the newest and CACHETOOL_INTEROP_SECOND
#                               (within 10 minutes each); also what sarif.py needs
#   CACHETOOL_INTEROP_SECOND    an older release to install beside the newest (default 2.9.1, empty: none)
#   CACHETOOL_INTEROP_LIVE      seconds of reading while torch writes (default 60, 0: leave out)
# Without a torch it says why it did not run and passes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
live=${CACHETOOL_INTEROP_LIVE:-60}
failed=0

# What was tried before still counts.
did_not_run() {
  echo "not run: interop: did not run: $*"
  exit "$failed"
}

cachetool=${CACHETOOL:-}
for candidate in "$here"/../../build/{dev,release}/cachetool; do
  [ -n "$cachetool" ] || [ ! -x "$candidate" ] || cachetool=$candidate
done
[ -x "$cachetool" ] || did_not_run "no cachetool binary (build it, or set CACHETOOL)"
cachetool=$(realpath "$cachetool")

# The schema of SARIF, as classes, comes from a package.
echo -n "sarif: "
if [ "${CACHETOOL_INTEROP_INSTALL:-0}" = 1 ] && python3 -m venv "$scratch/sarif" &&
  timeout 120 "$scratch/sarif/bin/pip" install -q --no-cache-dir pydantic-sarif >"$scratch/pip.log" 2>&1; then
  "$scratch/sarif/bin/python" "$here/sarif.py" "$cachetool" || failed=1
else
  echo "not run: pydantic-sarif is not to be had (CACHETOOL_INTEROP_INSTALL=1 installs it)"
fi

# Everything that is asked of one release.
test_release() {
  local python=$1 release cache
  release=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) || did_not_run "$python has no working torch"
  cache=$scratch/$release/cache
  mkdir -p "$scratch/$release"
  echo "torch $release"
  TORCHINDUCTOR_CACHE_DIR=$cache "$python" "$here/model.py" all cpu >"$scratch/model.log" 2>"$scratch/model.err"
  sed 's/^/    /' "$scratch/model.log"
  if ! "$python" "$here/torch_fields.py" "$cache" >"$scratch/fields.jsonl" 2>"$scratch/fields.err"; then
    echo "    torch cannot decode its own cache:"
    tail -n 5 "$scratch/fields.err"
    failed=1
    return
  fi
  echo -n "    fields: "
  python3 "$here/compare.py" "$cachetool" "$cache" "$scratch/fields.jsonl" || failed=1
  echo -n "    places: "
  python3 "$here/places.py" "$cachetool" "$python" || failed=1
  echo -n "    post-compile: "
  OMP_NUM_THREADS=1 "$python" "$here/post_compile.py" "$cachetool" 300 2>"$scratch/post_compile.err" ||
    { failed=1; tail -n 20 "$scratch/post_compile.err"; }
  echo "    decisions:"
  python3 "$here/decisions.py" "$cachetool" "$python" >"$scratch/decisions.log" 2>&1 || failed=1
  sed 's/^/      /' "$scratch/decisions.log"
  echo -n "    on a hit: "
  "$python" "$here/on_hit.py" "$cachetool" 2>"$scratch/on_hit.err" || { failed=1; tail -n 20 "$scratch/on_hit.err"; }
  if [ "$live" != 0 ]; then
    echo -n "    live: "
    python3 "$here/live.py" "$cachetool" "$python" "$live" 2>"$scratch/live.err" || { failed=1; tail -n 20 "$scratch/live.err"; }
  fi
  echo -n "    lookup: "
  python3 "$here/lookup.py" "$cachetool" "$python" 2>"$scratch/lookup.err" || { failed=1; tail -n 20 "$scratch/lookup.err"; }
  echo -n "    repair: "
  python3 "$here/repair.py" "$cachetool" "$python" 2>"$scratch/repair.err" || { failed=1; tail -n 20 "$scratch/repair.err"; }
}

# Installs a release for as long as its tests take: an environment has 5 GB.
test_installed() {
  python3 -m venv "$scratch/venv" || did_not_run "python3 cannot make virtual environments"
  timeout 600 "$scratch/venv/bin/pip" install -q --no-cache-dir "$1" numpy >"$scratch/pip.log" 2>&1 ||
    did_not_run "$1 could not be installed: $(tail -n 1 "$scratch/pip.log")"
  test_release "$scratch/venv/bin/python"
  rm -rf "$scratch/venv"
}

if [ -n "${CACHETOOL_TORCH_VENV:-}" ]; then
  for venv in $CACHETOOL_TORCH_VENV; do
    [ -x "$venv/bin/python" ] || did_not_run "$venv is no virtual environment"
    test_release "$venv/bin/python"
  done
elif python3 -c 'import torch' 2>/dev/null; then
  test_release python3
elif [ "${CACHETOOL_INTEROP_INSTALL:-0}" = 1 ]; then
  test_installed torch
  second=${CACHETOOL_INTEROP_SECOND-2.9.1}
  [ -z "$second" ] || test_installed "torch==$second"
else
  did_not_run "no torch (set CACHETOOL_TORCH_VENV, or CACHETOOL_INTEROP_INSTALL=1 to install one)"
fi
[ "$failed" = 0 ] && echo "interop: passed" || echo "interop: FAILED"
exit "$failed"
