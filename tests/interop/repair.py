#!/usr/bin/env python3
"""Damages a cache that a real torch wrote, lets `cachetool verify --repair` mend it, and asks that torch what it thinks.

usage: repair.py CACHETOOL PYTHON        PYTHON: an interpreter that has torch
       repair.py --compile REPORT.json GRAPH…   (how this program calls itself to compile graphs)

Each graph suffers one kind of damage. Expected: verify names each damaged file; torch raises, or dies, for those of FATAL; after the
repair verify finds no error, and torch hits every graph that was left alone, recompiles the others without an exception, and
computes what it computed at first.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

GRAPHS = ("whole", "entry_cut", "entry_garbage", "aot_flipped", "wrapper_edited", "library_cut", "library_empty", "other_object")
# What torch can't get over by itself. A cut library may even end the process: its pages past the end of the file are a bus error.
FATAL = ("wrapper_edited", "library_cut", "library_empty")


def compile_graphs(report, wanted):
    os.environ.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "1")
    os.environ.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "1")
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    import torch
    from torch._dynamo.utils import counters

    results = {}
    for number, name in enumerate(GRAPHS):
        if name not in wanted:
            continue
        torch._dynamo.reset()
        counters.clear()
        torch.manual_seed(number)
        x = torch.randn(number + 3, number + 5)

        def function(x, number=number):
            return (x * (number + 2)).sin().sum(-1) + number

        try:
            with torch.no_grad():
                value = torch.compile(function)(x)
            digest = hashlib.sha256(value.numpy().tobytes()).hexdigest()
        except Exception as error:
            digest = f"raised {type(error).__name__}"
        results[name] = {
            "result": digest,
            "hit": counters["inductor"]["fxgraph_cache_hit"],
            "miss": counters["inductor"]["fxgraph_cache_miss"],
        }
    pathlib.Path(report).write_text(json.dumps(results))


def run_torch(python, cache, graphs=GRAPHS):
    """What compiling the graphs came to; empty when the process died."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
        run = subprocess.run([python, os.path.abspath(__file__), "--compile", report.name, *graphs], env=environment, capture_output=True, text=True, timeout=600)
        if run.returncode < 0:
            return {}
        if run.returncode:
            sys.exit(f"torch ended with {run.returncode}: {run.stderr[-2000:]}")
        return json.loads(pathlib.Path(report.name).read_text())


def verify(cachetool, cache, *options):
    run = subprocess.run([cachetool, "verify", cache, "--json", *options], capture_output=True, text=True, timeout=120)
    if run.returncode not in (0, 1):
        sys.exit(f"verify ended with {run.returncode}: {run.stderr}")
    return json.loads(run.stdout), run.returncode


def entries(cachetool, cache):
    run = subprocess.run([cachetool, "show", cache, "--json"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["entries"]


def places(cachetool, cache):
    """Per graph, in the order of compiling: its FX entry, AOTAutograd entry, wrapper and library."""
    shown = entries(cachetool, cache)
    graphs = sorted((entry for entry in shown if entry["kind"] == "fxgraph"), key=lambda entry: (cache / entry["path"]).stat().st_mtime_ns)
    if len(graphs) != len(GRAPHS):
        sys.exit(f"expected {len(GRAPHS)} graphs, the cache has {len(graphs)}")
    found = {}
    for name, graph in zip(GRAPHS, graphs):
        key = graph["fields"]["cache_key"]
        aot = [entry for entry in shown if entry["kind"] == "aotautograd" and graph["key"] in json.dumps(entry["fields"])]
        wrapper = cache / key[1:3] / f"{key}.py"
        which = subprocess.run([cachetool, "list", cache, "--tree", "--full"], capture_output=True, text=True, check=True).stdout
        library = library_of(which, graph["key"], cache)
        found[name] = {"fx": cache / graph["path"], "aot": cache / aot[0]["path"], "wrapper": wrapper, "library": library}
    return found


def library_of(tree, key, cache):
    """The shared object of the C++ kernel that stands below the entry in the listing's tree."""
    below = tree[tree.index(f"fxgraph {key}"):]
    stem = next(line.split("cpp-kernel ", 1)[1].split()[0] for line in below.splitlines() if "cpp-kernel " in line)
    return next(path for path in (cache / stem).parent.iterdir() if path.name.startswith(pathlib.Path(stem).name) and path.name.endswith(".so"))


def damage(place):
    """Damages each graph's files; returns the check that must be named for each."""
    os.truncate(place["entry_cut"]["fx"], place["entry_cut"]["fx"].stat().st_size // 2)
    place["entry_garbage"]["fx"].write_bytes(b"not a pickle at all")
    data = bytearray(place["aot_flipped"]["aot"].read_bytes())
    at = data.rindex(b"guards_expr") if b"guards_expr" in data else len(data) // 2
    data[at] ^= 0x01
    place["aot_flipped"]["aot"].write_bytes(data)
    with open(place["wrapper_edited"]["wrapper"], "a") as file:
        file.write("\nraise RuntimeError('edited')\n")
    # A quarter: in newer releases the second half may be debug data, which nothing loads.
    os.truncate(place["library_cut"]["library"], place["library_cut"]["library"].stat().st_size // 4)
    os.truncate(place["library_empty"]["library"], 0)
    place["other_object"]["fx"].write_bytes(b"\x80\x04]\x94.")
    return {name: str(path) for name, path in {
        "entry_cut": place["entry_cut"]["fx"], "entry_garbage": place["entry_garbage"]["fx"], "aot_flipped": place["aot_flipped"]["aot"],
        "wrapper_edited": place["wrapper_edited"]["wrapper"], "library_cut": place["library_cut"]["library"],
        "library_empty": place["library_empty"]["library"], "other_object": place["other_object"]["fx"]}.items()}


def main():
    if sys.argv[1] == "--compile":
        return compile_graphs(sys.argv[2], sys.argv[3:])
    cachetool, python = sys.argv[1:]
    problems = []
    with tempfile.TemporaryDirectory(prefix="cachetool-repair-") as scratch:
        cache, backup = pathlib.Path(scratch) / "cache", pathlib.Path(scratch) / "backup"
        first = run_torch(python, cache)
        report, code = verify(cachetool, cache, "--fail-on", "warning")
        problems += [f"on a fresh cache: {finding['check']} {finding['path']}: {finding['message']}"
                     for finding in report["findings"] if finding["severity"] != "info"]
        damaged = damage(places(cachetool, cache))
        shutil.copytree(cache, backup)
        fates = {}
        for name in FATAL:
            ran = run_torch(python, cache, [name])
            fates[name] = ran[name]["result"] if ran else "died"
        shutil.rmtree(cache)
        shutil.copytree(backup, cache)
        report, code = verify(cachetool, cache)
        named = {finding["path"] for finding in report["findings"]}
        problems += [f"{name}: verify doesn't name {path}" for name, path in damaged.items() if os.path.relpath(path, cache) not in named]
        _, code = verify(cachetool, cache, "--repair", "--yes")
        report, code = verify(cachetool, cache)
        problems += [f"after the repair: {finding['check']} {finding['path']}: {finding['message']}"
                     for finding in report["findings"] if finding["severity"] == "error"]
        after = run_torch(python, cache)
    if not after:
        sys.exit("torch died on the repaired cache")
    problems += [f"{name}: torch ran through on the damaged cache" for name, fate in fates.items() if fate == first[name]["result"]]
    for name in GRAPHS:
        if after[name]["result"] != first[name]["result"]:
            problems.append(f"{name}: {after[name]['result']} after the repair, {first[name]['result']} at first")
    if after["whole"]["hit"] != 1:
        problems.append("the graph that was left alone is no hit after the repair")
    hits = [name for name in GRAPHS if after[name]["hit"]]
    for problem in problems:
        print(f"      {problem}")
    print(f"before: {', '.join(f'{name} {fate}' for name, fate in fates.items())}; after the repair all {len(GRAPHS)} graphs ran, hits: "
          f"{', '.join(hits)}" if not problems else f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
