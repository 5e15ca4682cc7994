#!/usr/bin/env python3
"""Reads a cache with cachetool again and again while a torch compiles into it: no error that isn't one.

usage: live.py CACHETOOL PYTHON SECONDS [WRITERS]     PYTHON: an interpreter that has torch
       live.py --write SECONDS SEED                   (how this program calls itself to compile graph after graph)

Every `list` must end with 0 and valid JSON that holds at least the entries of the one before; every `show` of a listed entry must
end with 0. Before torch made its directory the only other answer allowed to `list` is 3 (there is no cache yet).
"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import time


def compile_until(seconds, seed):
    import torch

    rng = random.Random(seed)
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        torch._dynamo.reset()
        width, fused = rng.randrange(4, 400), count % 8 == 7
        weight = torch.randn(width, width, requires_grad=count % 2 == 1)

        @torch.compile
        def function(x):
            # Products alone need no C++ compiler, so many entries come fast; every eighth graph has a kernel of its own.
            product = torch.mm(torch.mm(x, weight), weight)
            return product.tanh().softmax(-1) if fused else product

        result = function(torch.randn(3, width))
        if result.requires_grad:
            result.sum().backward()
        count += 1
    print(f"compiled {count} graphs", flush=True)


def run(command):
    started = time.monotonic()
    result = subprocess.run(command, capture_output=True)
    return result, time.monotonic() - started


def watch(cachetool, python, seconds, writers):
    problems, runs, slowest = [], collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        cache = os.path.join(scratch, "cache")
        environment = {
            **os.environ,
            "TORCHINDUCTOR_CACHE_DIR": cache,
            "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
            "TORCHINDUCTOR_AUTOGRAD_CACHE": "1",
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        }
        writing = [
            subprocess.Popen([python, __file__, "--write", str(seconds), str(seed)], env=environment) for seed in range(writers)
        ]
        seen, rng = set(), random.Random(0)
        while any(writer.poll() is None for writer in writing):
            result, took = run([cachetool, "list", cache, "--json"])
            runs["list"] += 1
            slowest["list"] = max(slowest["list"], took)
            if result.returncode == 3 and not seen:
                time.sleep(0.1)
                continue
            if result.returncode or result.stderr:
                problems.append(f"list: {result.returncode}: {result.stderr.decode()[:300]}")
            try:
                entries = json.loads(result.stdout)["entries"]
            except (ValueError, KeyError) as error:
                problems.append(f"list: {error!r}: {result.stdout[:200]!r}")
                continue
            now = {f"{entry['key']}/{entry['leaf']}" for entry in entries}
            if lost := {name for name in seen - now if not name.endswith("/entry")}:
                problems.append(f"list lost {sorted(lost)[:3]}")
            seen |= now
            for name in rng.sample(sorted(now), min(3, len(now))):
                result, took = run([cachetool, "show", name, "--cache-dir", cache, "--json"])
                runs["show"] += 1
                slowest["show"] = max(slowest["show"], took)
                if result.returncode or result.stderr:
                    problems.append(f"show {name}: {result.returncode}: {result.stderr.decode()[:300]}")
        if any(writer.returncode for writer in writing):
            problems.append("torch itself failed")
    print(f"{runs['list']} list, {runs['show']} show, {len(seen)} entries, {len(problems)} problems", end="; ")
    print(f"slowest list {slowest['list']:.3f} s, show {slowest['show']:.3f} s")
    for problem in problems[:20]:
        print(f"    {problem}")
    return 1 if problems or not seen else 0


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        compile_until(float(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.exit(watch(sys.argv[1], sys.argv[2], float(sys.argv[3]), int((sys.argv[4:] or ["2"])[0])))
