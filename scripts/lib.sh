# shellcheck shell=bash disable=SC2034
# Shared by the scripts in this folder and .ci/run: sourced, never run.

root_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)

say() { printf '\n== %s\n' "$*"; }

# build PRESET [CMAKE_ARGUMENT...]: configures and builds; prints only what matters unless something fails.
build() {
  local preset=$1
  shift
  mkdir -p "$root_dir/build"
  local log="$root_dir/build/$preset-build.log"
  if ! (cd "$root_dir" && cmake --preset "$preset" "$@" && cmake --build --preset "$preset" -j "$jobs") >"$log" 2>&1; then
    grep -nE 'error|Error|FAILED|warning:' "$log" | head -60
    tail -n 20 "$log"
    printf 'The %s build failed; its output is in build/%s-build.log\n' "$preset" "$preset" >&2
    return 1
  fi
  printf 'built: build/%s\n' "$preset"
}
