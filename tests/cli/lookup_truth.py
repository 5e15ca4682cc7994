#!/usr/bin/env python3
"""Compares torch's lookups in real caches with `replay KEY --hints …`.

Usage: lookup_truth.py PROGRAM

From the unpacked corpora in CACHETOOL_CORPORA_DIR:
- every recorded call of a cached graph (io/KEY/meta.json): the integers that the call got are the sizes, and the wrapper that ran tells
  which candidate torch had used;
- every lookup of the second run of a pair with a known cause of its misses (misses-*/CASE/truth.json), in the cache that the first left.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys


class Failures:
    def __init__(self):
        self.count = 0

    def add(self, place, what):
        self.count += 1
        if self.count <= 30:
            print(f"  FAILED {place}: {what}")


def look_up(program, cache, key, sizes):
    command = [program, "replay", f"key:{key}", "--cache-dir", str(cache), "--json", "--extern-libs-key", "none"]
    if sizes is not None:
        command += ["--hints", ",".join(map(str, sizes))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    document = json.loads(done.stdout) if done.stdout else None
    return (document["lookups"][0] if document else None), done.returncode, done.stderr.strip()


def wrapper_of(program, cache, lookup):
    done = subprocess.run([program, "show", str(cache / lookup["path"]), "--field", "cache_key"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip()


def check_calls(program, folder, failures, counts):
    for meta in sorted(folder.glob("io/f*/meta.json")):
        key = meta.parent.name
        for number, call in enumerate(json.loads(meta.read_text())["calls"]):
            sizes = [item["value"] for item in call["inputs"] if item.get("kind") == "int"]
            lookup, status, error = look_up(program, folder / "cache", key, sizes)
            place = f"{folder.name} {key[:9]} call {number} {sizes}"
            if lookup is None:
                # A graph whose entry lies inside its AOTAutograd entry has no key of its own.
                if status == 3 and not list(folder.glob(f"cache/fxgraph/*/{key}")):
                    counts["calls of graphs without a key's directory"] += 1
                else:
                    failures.add(place, error)
                continue
            if lookup["result"] != "hit":
                failures.add(place, f"{lookup['result']}: {lookup['message']}")
            elif wrapper_of(program, folder / "cache", lookup) != call["cache_key"]:
                failures.add(place, f"{lookup['leaf']} is used, torch ran {call['cache_key']}")
            else:
                counts["calls"] += 1
                counts["calls with sizes"] += bool(sizes)
                counts["calls with a choice of candidates"] += len(lookup["candidates"]) > 1


# What run B looks for with which sizes: only this case has any.
SIZES = {"guard-size": [40, 32]}


def check_misses(program, case, failures, counts):
    truth = json.loads((case / "truth.json").read_text())
    if truth["verdict"] == "other_root" or truth.get("tampered"):
        return
    sizes = SIZES.get(case.name)
    for graph in truth["graphs"]:
        key, verdict = graph.get("key_B"), graph["verdict"]
        if key is None or verdict not in ("hit", "miss", "guard_miss"):
            continue
        lookup, status, error = look_up(program, case / "A" / "cache", key, sizes)
        place = f"{case.parent.name} {case.name} {key[:9]}"
        if lookup is None:
            if status != 3 or verdict != "miss":
                failures.add(place, error)
            counts["misses of keys that aren't there"] += 1
            continue
        if verdict == "miss":  # that torch counts; why doesn't matter
            right = lookup["result"] in ("full_miss", "guard_miss")
        else:
            right = lookup["result"] == verdict
        if right and graph.get("guards_expr"):
            right = lookup["guards_expr"] == graph["guards_expr"]
        if not right:
            failures.add(place, f"{lookup['result']} ({lookup['message']}), torch says {verdict}")
        counts[f"lookups of second runs: {verdict}"] += 1
    if sizes is not None:
        check_second_candidates(program, case, truth, failures, counts)


def check_second_candidates(program, case, truth, failures, counts):
    """Run B compiled again for its sizes: its cache serves both, and each gets its own entry."""
    for graph in truth["graphs"]:
        if graph["cache"] != "fxgraph":
            continue
        for sizes, entries in (([8, 32], truth["entries_A"]), ([40, 32], truth["entries_B_new"])):
            lookup, _, error = look_up(program, case / "B" / "cache", graph["key_B"], sizes)
            if lookup is None or lookup["path"] not in entries:
                failures.add(f"{case.parent.name} {case.name} {sizes}", error or f"{lookup['result']}: {lookup['path']}")
            counts["lookups in the cache of two runs"] += 1


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    base = os.environ.get("CACHETOOL_CORPORA_DIR")
    if not base or not pathlib.Path(base).is_dir():
        print("not run: torch's lookups in real caches: CACHETOOL_CORPORA_DIR names no folder")
        return
    failures, counts = Failures(), collections.Counter()
    for folder in sorted(pathlib.Path(base).iterdir()):
        if (folder / "io").is_dir():
            check_calls(program, folder, failures, counts)
        if folder.name.startswith("misses-") and folder.is_dir():
            for case in sorted(folder.glob("*/truth.json")):
                check_misses(program, case.parent, failures, counts)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    if counts["calls with a choice of candidates"] == 0 or counts["lookups in the cache of two runs"] == 0:
        failures.add("all", "no key had a choice of candidates")
    print("passed" if failures.count == 0 else f"{failures.count} failures")
    sys.exit(1 if failures.count else 0)


if __name__ == "__main__":
    main()
