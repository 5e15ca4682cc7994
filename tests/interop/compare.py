#!/usr/bin/env python3
"""Compares what cachetool decodes with what a witness decoded.

usage: compare.py CACHETOOL CACHE_DIR WITNESS

WITNESS is the output of torch_fields.py, or a folder fields/ of an archive in tests/data. Prints every entry that differs with the first
places that do, then a line "N entries, N equal, N unrecognised fields". Exit status 1 if anything differs or is missing.
"""
import json
import os
import subprocess
import sys

BATCH = 20


def witness(path):
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            with open(os.path.join(path, name)) as file:
                document = json.load(file)
            if isinstance(document, dict) and "fields" in document:
                yield document
    else:
        with open(path) as file:
            for line in file:
                yield json.loads(line)


def differences(expected, actual, place="fields"):
    """Places where two JSON values differ; 1, 1.0 and true are three values here."""
    if type(expected) is not type(actual):
        yield place, expected, actual
    elif isinstance(expected, dict):
        for key in [*expected, *(key for key in actual if key not in expected)]:
            if key not in actual or key not in expected:
                yield f"{place}.{key}", expected.get(key, "(absent)"), actual.get(key, "(absent)")
            else:
                yield from differences(expected[key], actual[key], f"{place}.{key}")
    elif isinstance(expected, list):
        if len(expected) != len(actual):
            yield f"{place} (length)", len(expected), len(actual)
        for index, pair in enumerate(zip(expected, actual)):
            yield from differences(*pair, f"{place}[{index}]")
    elif expected != actual:
        yield place, expected, actual


def shown(cachetool, cache, paths):
    command = [cachetool, "show", *(os.path.join(cache, path) for path in paths), "--json", "--full-strings"]
    result = subprocess.run(command, capture_output=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(command[:3])} … ended with {result.returncode}: {result.stderr.decode()[:500]}")
    return {entry["sha256"]: entry for entry in json.loads(result.stdout)["entries"]}


def main():
    cachetool, cache, source = sys.argv[1:]
    expected = list(witness(source))
    equal = unrecognised = 0
    for start in range(0, len(expected), BATCH):
        batch = expected[start : start + BATCH]
        entries = shown(cachetool, cache, [item["path"] for item in batch])
        for item in batch:
            entry = entries.get(item["sha256"])
            if entry is None:
                print(f"{item['path']}: not shown")
                continue
            found = [("class", item["class"], entry["class"])] if item["class"] != entry["class"] else []
            found += differences(item["fields"], entry["fields"])
            unrecognised += len(entry["unrecognised"])
            equal += not found
            if found:
                print(f"{item['path']}: {len(found)} differences")
            for place, want, got in found[:5]:
                print(f"    {place}: expected {json.dumps(want)[:150]}, got {json.dumps(got)[:150]}")
            for what in entry["unrecognised"][:5]:
                print(f"    {item['path']}: unrecognised {json.dumps(what)[:200]}")
    print(f"{len(expected)} entries, {equal} equal, {unrecognised} unrecognised fields")
    return 0 if expected and equal == len(expected) else 1


if __name__ == "__main__":
    sys.exit(main())
