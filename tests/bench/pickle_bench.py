#!/usr/bin/env python3
"""Prints the processor seconds that pickle.loads takes per entry, with torch imported: what decode_bench is compared with.

usage: pickle_bench.py CACHE_DIR [PASSES]      only caches of the torch release that runs this; it runs what entries name
"""
import os
import pickle
import sys
import time

import torch  # noqa: F401
import torch._functorch._aot_autograd.autograd_cache  # noqa: F401
import torch._inductor.codecache  # noqa: F401

entries = []
for folder in ("fxgraph", "aotautograd"):
    for directory, _, names in os.walk(os.path.join(sys.argv[1], folder)):
        for name in names:
            with open(os.path.join(directory, name), "rb") as file:
                entries.append(file.read())
passes = int((sys.argv[2:] or ["30"])[0])
for data in entries:  # once without the clock: modules are imported, classes resolved
    pickle.loads(data)
times = []
for _ in range(passes):
    started = time.process_time()
    for data in entries:
        pickle.loads(data)
    times.append((time.process_time() - started) / len(entries))
print(f"{sorted(times)[len(times) // 2]:.9f} {len(entries)} {sum(map(len, entries)) / len(entries):.0f}")
