#!/bin/bash
# run.sh [DIR]: the comparisons of docs/performance.md, each against its alternative in the same run; DIR keeps the generated caches
# (default: a scratch directory, removed at the end).
#   CACHETOOL_BUILD         build folder with a release build and CACHETOOL_BUILD_BENCH=ON (default build/bench; made when missing)
#   CACHETOOL_TORCH_VENV    virtual environment with torch for the comparison with pickle.loads; left out without one
#   CACHETOOL_PICKLESCAN_VENV virtual environment with picklescan for the comparison of scan; left out without one
#   CACHETOOL_BENCH_ENTRIES size of the large cache (default 100000)
#   CACHETOOL_BENCH_FULL    1: make the large cache from entries of all sizes (10 GB) instead of the smaller third (3 GB)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${CACHETOOL_BUILD:-$root/build/bench}
entries=${CACHETOOL_BENCH_ENTRIES:-100000}
work=${1:-$(mktemp -d)}
[ $# -gt 0 ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"

if [ ! -x "$build/tests/bench/decode_bench" ] || [ ! -x "$build/cachetool" ]; then
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCACHETOOL_BUILD_TESTS=OFF -DCACHETOOL_BUILD_BENCH=ON >/dev/null
  ninja -C "$build" cachetool decode_bench >/dev/null
fi
cachetool=$build/cachetool

originals=(cpu-2.6.0-train cpu-2.9.1-train cpu-2.9.1-dynamic cpu-2.15.0-mlp cpu-2.15.0-train cuda-2.9.1-eligible cuda-2.15.0-eligible)
"$root/tests/data/unpack.sh" "$work/originals" "${originals[@]}"
sources=()
for name in "${originals[@]}"; do sources+=(--from "$work/originals/$name/cache"); done

echo "machine: $(nproc) processors, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(free -g | awk '/^Mem/ {print $2}') GiB; load $(cut -d' ' -f1-3 /proc/loadavg)"

echo
echo "decode one entry, bytes in memory"
if [ -n "${CACHETOOL_TORCH_VENV:-}" ]; then
  python=$CACHETOOL_TORCH_VENV/bin/python
  echo "  torch $("$python" -c 'import torch; print(torch.__version__)')"
  [ -d "$work/decode" ] || TORCHINDUCTOR_CACHE_DIR=$work/decode "$python" "$root/tests/interop/model.py" inference,training,recurrent >/dev/null 2>&1
  for round in 1 2 3; do
    "$build/tests/bench/decode_bench" "$work/decode" --benchmark_min_time=0.5 --benchmark_format=json >"$work/decode.$round.json" 2>/dev/null
    "$python" "$here/pickle_bench.py" "$work/decode" >"$work/pickle.$round" 2>/dev/null
  done
  python3 - "$work" <<'PY'
import json, statistics, sys
work = sys.argv[1]
ours = {}
for round_number in (1, 2, 3):
    for item in json.load(open(f"{work}/decode.{round_number}.json"))["benchmarks"]:
        ours.setdefault(item["name"], []).append(item["seconds_per_entry"])
loads = [open(f"{work}/pickle.{round_number}").read().split() for round_number in (1, 2, 3)]
theirs = statistics.median(float(line[0]) for line in loads)
print(f"  {loads[0][1]} entries of {loads[0][2]} bytes on average, median of 3 rounds")
print(f"  pickle.loads with torch imported   {theirs * 1e6:8.1f} us")
for name, values in ours.items():
    middle = statistics.median(values)
    print(f"  cachetool, {name:<24}{middle * 1e6:8.1f} us   {theirs / middle:.1f} times faster")
PY
else
  "$build/tests/bench/decode_bench" "$work/originals/cpu-2.15.0-train/cache" --benchmark_min_time=0.5
  echo "  not compared with pickle.loads: CACHETOOL_TORCH_VENV is not set"
fi

echo
echo "list of 1,000 entries, whole process"
[ -d "$work/1000" ] || python3 "$here/make_cache.py" "$work/1000" "${sources[@]}" --entries 1000
python3 "$here/measure.py" 15 "cachetool list=$cachetool list $work/1000" "python3 -c pass=python3 -c pass"

echo
echo "list of $entries entries, page cache warm"
small=--small
[ "${CACHETOOL_BENCH_FULL:-0}" = 0 ] || small=
# shellcheck disable=SC2086
[ -d "$work/$entries" ] || python3 "$here/make_cache.py" "$work/$entries" "${sources[@]}" --entries "$entries" $small
python3 "$here/measure.py" 5 "cachetool list=$cachetool list $work/$entries" \
  "find -printf=find $work/$entries -printf '%p %s %T@\n'" "cachetool list --jsonl=$cachetool list $work/$entries --jsonl"

echo
echo "verify of 10,000 entries, page cache warm"
[ -d "$work/10000" ] || python3 "$here/make_cache.py" "$work/10000" "${sources[@]}" --entries 10000
find "$work/10000" -type f -print0 >"$work/10000.files"
python3 "$here/measure.py" 5 "cachetool verify=$cachetool verify $work/10000" \
  "sha256sum in parallel=xargs -0 -a $work/10000.files -P $(nproc) -n 64 sha256sum"

echo
echo "scan of 10,000 entries, page cache warm"
python3 "$here/measure.py" 5 "cachetool scan=$cachetool scan $work/10000" "cachetool verify=$cachetool verify $work/10000"
if [ -n "${CACHETOOL_PICKLESCAN_VENV:-}" ]; then
  python3 "$here/measure.py" 1 "cachetool scan=$cachetool scan $work/1000" \
    "picklescan=$CACHETOOL_PICKLESCAN_VENV/bin/python $here/picklescan_bench.py $work/1000"
else
  echo "  not compared with picklescan: CACHETOOL_PICKLESCAN_VENV is not set"
fi
echo "load now $(cut -d' ' -f1-3 /proc/loadavg)"
