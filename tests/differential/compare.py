#!/usr/bin/env python3
"""Compares the pickle machine with CPython's C unpickler: the same value, or an error on both sides.

    compare.py PICKLE_DUMP [--cases N] [--seed S] [PATH...]

PATHs are pickles or directories of them. Each is compared as it is and serves as a seed of mutations; a third of the
other cases are dumped random values, a third sequences of opcodes.
"""

import argparse
import collections
import gc
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys

import generate
import reference

# Where the two may differ, and why.
ALLOWED = {
    "sparse-put": "CPython allocates the whole memo up to a PUT's index and may run out of memory; the machine doesn't",
    "limit": "the machine bounds memory and work, CPython doesn't",
    "bytearray": "the machine doesn't carry out changes of a bytearray: no pickler writes them",
    "deep": "CPython's tuple hash recurses",
    "interned-nan": "CPython finds a NaN object by identity; the machine's NaN equals nothing",
}


class Machine:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def decode(self, data):
        self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()
        size = self.process.stdout.read(4)
        if len(size) < 4:
            raise SystemExit(f"pickle_dump died ({self.process.wait()}) on {data.hex()}")
        return self.process.stdout.read(struct.unpack("<I", size)[0]).decode()


def difference(data, machine):
    """(what differs or None, the allowed deviation or None, whether CPython made a value)."""
    ours = machine.decode(data)
    kind, theirs = reference.decode(data)
    is_value = kind == "V"
    if ours.startswith("E "):
        code = ours.split(" ", 2)[1]
        if not is_value:
            return None, None, is_value
        if code.startswith("limit."):
            return None, "limit", is_value
        if "changing a bytearray" in ours:
            return None, "bytearray", is_value
        return f"ours: {ours}\ncpython: {theirs}", None, is_value
    _, _end, text = ours.split(" ", 2)
    value, _, deviations = text.rpartition(" #")
    if is_value:
        if value == theirs:
            return None, None, is_value
        if "fnan" in value:
            return None, "interned-nan", is_value
        return f"ours: {value[:2000]}\ncpython: {theirs[:2000]}", None, is_value
    if isinstance(theirs, MemoryError) and "sparse-put" in deviations:
        return None, "sparse-put", is_value
    if isinstance(theirs, RecursionError):
        return None, "deep", is_value
    return f"ours: {value[:2000]} #{deviations}\ncpython: {type(theirs).__name__}: {theirs}", None, is_value


def files_below(paths):
    for path in map(pathlib.Path, paths):
        yield from sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def cases(arguments, rng, seeds):
    for data in seeds:
        yield "as it is", data
    small = [data for data in seeds if len(data) < 20_000] or [generate.dumped(rng)]
    for number in range(arguments.cases):
        if number % 3 == 0:
            yield "dumped", generate.dumped(rng)
        elif number % 3 == 1:
            yield "opcodes", generate.opcodes(rng)
        elif number % 12 == 2:
            yield "mutated file", generate.mutated(rng, rng.choice(small))
        else:
            yield "mutated", generate.mutated(rng, rng.choice((generate.dumped, generate.opcodes))(rng))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--cases", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_intermixed_args()
    # CPython complains on stderr, past sys.stderr, when a bytearray goes that READONLY_BUFFER has wrapped.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    gc.disable()
    machine = Machine(arguments.program)
    # An index or a length out of a mutated pickle may make CPython ask for gigabytes. Not so the machine.
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    rng = random.Random(arguments.seed)
    seeds = [path.read_bytes() for path in files_below(arguments.paths)]
    counts, values, allowed = collections.Counter(), collections.Counter(), collections.Counter()
    failures = 0
    for number, (kind, data) in enumerate(cases(arguments, rng, seeds)):
        wrong, deviation, is_value = difference(data, machine)
        counts[kind] += 1
        values[kind] += is_value
        if deviation:
            allowed[deviation] += 1
        if wrong:
            failures += 1
            if failures <= 10:
                print(f"case {number} ({kind}, {len(data)} bytes): {data[:400].hex()}\n{wrong}\n")
        if number % 200 == 0:
            gc.collect()
    parts = ", ".join(f"{count} {kind} ({values[kind]} with a value)" for kind, count in counts.items())
    print(f"compared {parts}; {failures} differ; allowed: {dict(allowed)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
