#!/usr/bin/env python3
"""Judges every attack and every real entry: attacks are never data, entries always are.

    run.py PICKLE_JUDGE [--entries DIR...] [--places N] [--cases N] [--seed S] [--write DIR]

The judging process has a limit of memory and of processor time, so that an attack that exhausts it fails the test. Mutated
pickles that are called data are compared with what CPython would import and call (oracle.py). --write puts the attacks
into files, with a manifest, instead.
"""

import argparse
import collections
import json
import pathlib
import random
import resource
import struct
import subprocess
import sys

import expressions
import mutations
import oracle
import pickles

import generate  # tests/differential, on the path since oracle

MEMORY = 1 << 30
SECONDS = 600  # of processor time, for all of them together


class Judge:
    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=limit)

    def __call__(self, data):
        """(verdict, findings): each a list of verdict, depth, base, offset, subject, reason."""
        self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()
        size = self.process.stdout.read(4)
        if len(size) < 4:
            raise SystemExit(f"the judge died ({self.process.wait()}) on {len(data)} bytes: {data[:200].hex()}")
        verdict, *lines = self.process.stdout.read(struct.unpack("<I", size)[0]).decode("utf-8", "replace").split("\n")
        return verdict, [line.split("\t") for line in lines]


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def files_below(paths):
    for path in paths:
        yield from sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def wrong_verdict(attack, judge):
    verdict, findings = judge(attack.data)
    if verdict not in attack.expected:
        return f"{attack.name}: {verdict}, not {' or '.join(sorted(attack.expected))}"
    if attack.subject and not any(len(finding) > 4 and finding[4] == attack.subject for finding in findings):
        return f"{attack.name}: no finding about {attack.subject}"
    return None


def compared(judge, seeds, cases, rng):
    """Mutated pickles that are called data although CPython would do something that isn't listed."""
    called_data = 0
    for number in range(cases):
        data = generate.mutated(rng, rng.choice(seeds[number % len(seeds)]))
        if judge(data)[0] != "data":
            continue
        called_data += 1
        for objection in oracle.objections(data):
            yield f"called data, but CPython {objection}: {data[:300].hex()}"
    print(f"{cases} mutated pickles, {called_data} called data and compared with CPython")


def expression_problems(judge, cases, rng):
    """Strings for eval: hostile ones are refused, real ones accepted, and what is accepted is arithmetic for Python too."""
    for text in expressions.HOSTILE:
        if judge(text.encode())[0] != "refused":
            yield f"accepted: {text[:100]!r}"
    for text in expressions.HARMLESS:
        if judge(text.encode())[0] != "accepted":
            yield f"refused: {text!r}"
    accepted = 0
    for text in expressions.random_texts(rng, cases):
        if judge(text.encode())[0] != "accepted":
            continue
        accepted += 1
        if objection := expressions.objection(text):
            yield f"accepted, but Python sees {objection}: {text!r}"
    print(f"{len(expressions.HOSTILE)} hostile expressions; {cases} random ones, {accepted} accepted and compared with Python's parser")


def written(attacks, directory):
    directory.mkdir(parents=True, exist_ok=True)
    manifest = []
    for number, attack in enumerate(attacks):
        file = f"{number:05d}.pickle"
        (directory / file).write_bytes(attack.data)
        manifest.append({"file": file, "name": attack.name, "expected": sorted(attack.expected), "subject": attack.subject})
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{len(manifest)} attacks in {directory}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--entries", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--places", type=int, default=150, help="insertions of each kind per entry; 0 for every place")
    parser.add_argument("--cases", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    entries = [(path, path.read_bytes()) for path in files_below(arguments.entries)]
    attacks = list(pickles.every_attack())
    names = collections.Counter(attack.name for attack in attacks)
    assert max(names.values()) == 1, names.most_common(1)
    if arguments.write:
        return written(attacks, arguments.write)
    judge = Judge(arguments.program)
    wrong = [problem for attack in attacks if (problem := wrong_verdict(attack, judge))]
    count = len(attacks)
    for path, data in entries:
        verdict, findings = judge(data)
        if verdict != "data":
            wrong.append(f"{path}: a real entry is {verdict}: {findings[:2]}")
        for objection in oracle.objections(data):
            wrong.append(f"{path}: a real entry {objection}")
        for attack in mutations.mutated(path.name, data, arguments.places):
            count += 1
            if problem := wrong_verdict(attack, judge):
                wrong.append(problem)
    # Entries as they are and without frames, so that what is put in stays in step; attacks in between.
    real = [data for _, data in entries if len(data) < 40_000]
    seeds = [real, [mutations.without_frames(data)[0] for data in real], [a.data for a in attacks if len(a.data) < 40_000]]
    rng = random.Random(arguments.seed)
    wrong += compared(judge, seeds, arguments.cases, rng)
    wrong += expression_problems(Judge(arguments.program, "expressions"), arguments.cases * 5, rng)
    print(*wrong[:40], sep="\n", end="\n" if wrong else "")
    print(f"{count} attacks, {len(entries)} real entries, {len(wrong)} wrong")
    return 1 if wrong or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
