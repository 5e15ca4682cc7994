#!/usr/bin/env python3
"""Compares what `cachetool replay` says that a hit adds with what torch adds when it hits.

Usage: on_hit.py CACHETOOL      run by a Python that has torch; on a CUDA device where there is one

Each round runs this program as a child, whose process torch must find everything of the cache new in: the first fills a cache,
then files are taken out of copies of it (wrapper modules, Triton directories, some or all files of them), cachetool says what loading
the entries adds, and another child loads them. Counters of Inductor, its metrics and the files that appeared must be those.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# What compiling, executing the modules and calling the graphs add; and the joint graph's patterns, which run before an entry is
# looked for where there is no AOTAutograd entry.
NOT_OF_THE_LOAD = ("async_compile_cache_", "cudagraph_", "pattern_matcher_", "autotun", "select_algorithm_")
METRICS = ("generated_kernel_count", "generated_cpp_vec_kernel_count", "ir_nodes_pre_fusion", "cpp_to_dtype_count",
           "num_bytes_accessed", "num_matches_for_scatter_upon_const_tensor")


def child():
    """Compiles or loads the graphs, and prints what Inductor counted."""
    import torch
    import torch._inductor.metrics as metrics
    from torch._dynamo.utils import counters

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    a = torch.ones(16, 24, device=device)
    b = torch.ones(24, 8, device=device, requires_grad=True)

    def inference(x, y):
        return torch.softmax((x @ y).relu(), -1)

    def training(x, y):
        return (torch.tanh(x @ y) * 2).sum()

    with torch.no_grad():
        torch.compile(inference)(a, b)
    torch.compile(training)(a, b).backward()
    print(json.dumps({"counters": dict(counters["inductor"]), "aot": dict(counters["aot_autograd"]),
                      "metrics": {name: getattr(metrics, name) for name in METRICS}, "device": device}))


def run_child(cache):
    environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(cache), TORCHINDUCTOR_COMPILE_THREADS="1", OMP_NUM_THREADS="1",
                       TORCHINDUCTOR_FX_GRAPH_CACHE="1", TORCHINDUCTOR_AUTOGRAD_CACHE="1")
    environment.pop("TRITON_CACHE_DIR", None)
    done = subprocess.run([sys.executable, __file__, "--child"], env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"torch failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def files_of(cache):
    return {str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file()}


def of_the_load(counts):
    return {name: n for name, n in counts.items() if n and not name.startswith(NOT_OF_THE_LOAD)}


def predicted(cachetool, cache):
    """Counters, metrics, wrapper modules and Triton directories that appear, by cachetool."""
    done = subprocess.run([cachetool, "replay", str(cache), "--json"], capture_output=True, text=True)
    counts, metrics, files, directories = {}, {}, set(), set()
    for entry in json.loads(done.stdout)["entries"]:
        if not entry["counted"]:
            continue
        hit = entry["decision"]["on_hit"]
        assert hit["files_known"], entry["path"]
        for source, target in (("counter_deltas", counts), ("counters", counts), ("metrics_deltas", metrics)):
            for name, number in hit[source].items():
                target[name] = target.get(name, 0) + number
        files |= set(hit["files_written"])
        directories |= {kernel["path"] for kernel in hit["triton"] if kernel["shadowed"] is False}
    return of_the_load(counts), {name: n for name, n in metrics.items() if n}, files, directories


def take_out(cache, round_name):
    """Removes what the round is about. Returns how many things that were."""
    modules = [cache / module for module in modules_of(cache)]
    kernels = sorted(path for path in cache.glob("triton/*/*") if path.is_dir())
    if round_name == "all there":
        return 1
    if round_name == "no modules":
        for path in modules:
            path.unlink()
        return len(modules)
    if round_name == "one module":
        modules[0].unlink()
        return 1
    if round_name == "no kernels":
        for path in kernels:
            shutil.rmtree(path)
        return len(kernels)
    if round_name == "some kernels empty, some gone":
        for i, path in enumerate(kernels):
            shutil.rmtree(path)
            if i % 2:
                path.mkdir()
        return len(kernels)
    if round_name == "kernels without binaries":
        # Nor what makes Triton look for one: it would raise.
        away = [file for path in kernels[::2] for file in path.iterdir() if file.suffix != ".ttir"]
        for file in away:
            file.unlink()
        return len(away)
    raise ValueError(round_name)


def modules_of(cache):
    """Every entry's wrapper module: cachetool names it when it is away, so an empty copy of the cache tells."""
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("fxgraph", "aotautograd"):
            if (cache / name).is_dir():
                shutil.copytree(cache / name, pathlib.Path(scratch, name))
        done = subprocess.run([sys.argv[1], "replay", scratch, "--json"], capture_output=True, text=True)
    return sorted({file for entry in json.loads(done.stdout)["entries"] for file in entry["decision"]["on_hit"]["files_written"]})


def compare(cachetool, cache, round_name):
    """One copy of the cache. Returns the differences."""
    expected_counts, expected_metrics, expected_files, expected_directories = predicted(cachetool, cache)
    before = files_of(cache)
    seen = run_child(cache)
    new = files_of(cache) - before
    directories = {str(pathlib.PurePath(file).parent) for file in new if file.startswith("triton/")}
    wrappers = set(modules_of(cache)) & new
    found = {"counters": (expected_counts, of_the_load(seen["counters"])),
             "metrics": (expected_metrics, {name: n for name, n in seen["metrics"].items() if n}),
             "modules": ({file for file in expected_files if file.endswith(".py")}, wrappers),
             "directories": (expected_directories, directories)}
    if round_name == "kernels without binaries":
        # Triton compiles again what static launchers miss, and counts of its own come with that.
        del found["directories"]
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def main():
    cachetool = sys.argv[1]
    scratch = pathlib.Path(tempfile.mkdtemp())
    rounds = ["all there", "no modules", "one module", "no kernels", "some kernels empty, some gone", "kernels without binaries"]
    failed, ran = 0, 0
    try:
        cache = scratch / "cache"
        device = run_child(cache)["device"]
        for round_name in rounds:
            # Triton's files name the place that they are written for, so a copy takes the cache's place.
            kept = scratch / "kept"
            shutil.copytree(cache, kept)
            if take_out(cache, round_name) > 0:
                ran += 1
                for name, (expected, seen) in compare(cachetool, cache, round_name).items():
                    failed += 1
                    print(f"{round_name}: {name}: cachetool says {expected}, torch did {seen}")
            shutil.rmtree(cache)
            kept.rename(cache)
    finally:
        shutil.rmtree(scratch)
    print(f"{ran} loads on {device}, {failed} differences")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    child() if sys.argv[1] == "--child" else main()
