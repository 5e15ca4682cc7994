#!/usr/bin/env python3
"""Damages copies of real caches and compares the checks that `cachetool verify` names with what must be named.

Usage: run.py PROGRAM [--show] [NAME…]

Two sets of cases: every kind of file with every operation (expected.txt says which ids), and the cases of special_*.py, one
for each way of going wrong that needs more than one file or one byte. What verify says of the undamaged copy is taken off
first. Afterwards every id of docs/checks.md that verify can give must have been triggered alone by at least one case.
--show prints what was found instead of comparing.
"""

import json
import pathlib
import re
import subprocess
import sys

import caches
import cases
import operations
import special_binary
import special_entries
import special_files
import special_kernels
import special_machine
import special_vllm

HERE = pathlib.Path(__file__).resolve().parent
CHECKS = HERE.parent.parent / "docs" / "checks.md"


def findings(program, target, options=()):
    """(check, path) of everything that verify finds."""
    run = subprocess.run([program, "verify", "--json", target, *options], capture_output=True, text=True, timeout=120)
    if run.returncode not in (0, 1):
        sys.exit(f"verify ended with {run.returncode}: {run.stderr}")
    document = json.loads(run.stdout)
    return {(finding["check"], finding["path"]) for finding in document["findings"]}


assert special_binary and special_entries and special_files and special_kernels and special_machine and special_vllm  # they register cases


class Kinds:
    """The files of expected.txt: which file of which cache stands for a kind, and what each operation must give."""

    def __init__(self, path):
        self.rows = []
        corpus = kind = pattern = None
        for line in path.read_text().splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            if not line.startswith(" "):
                kind, corpus, pattern = line.split()
                continue
            operation, _, ids = line.strip().partition(":")
            self.rows.append((kind, corpus, pattern, operation.strip(), set(ids.split())))

    @staticmethod
    def files(cache, pattern):
        return sorted(path for path in cache.glob(pattern) if path.is_file())


class Suite:
    def __init__(self, program, show):
        self.program = program
        self.show = show
        self.caches = caches.Caches()
        self.baselines = {}
        self.alone = set()
        self.failed = 0
        self.passed = 0

    def baseline(self, corpus, target, options):
        key = (corpus, target, tuple(options))
        if key not in self.baselines:
            self.baselines[key] = findings(self.program, self.caches.original(corpus) / target, options)
        return self.baselines[key]

    def run(self, name, corpus, damage, expected, options=(), target="cache"):
        folder = self.caches.copy(corpus)
        if callable(options):
            options = options(folder)
        damage(folder / target)
        found = {check for check, path in findings(self.program, folder / target, options) - self.baseline(corpus, target, options)}
        self.caches.drop(folder)
        if self.show:
            print(f"{name}: {' '.join(sorted(found))}")
            return
        if len(found) == 1 and found == expected:
            self.alone |= found
        if found == expected:
            self.passed += 1
            return
        self.failed += 1
        print(f"{name} ({corpus}): expected {sorted(expected)}, found {sorted(found)}")

    def run_kinds(self, wanted):
        for kind, corpus, pattern, operation, expected in Kinds(HERE / "expected.txt").rows:
            name = f"{kind}.{operation}"
            if wanted and not any(name.startswith(prefix) for prefix in wanted):
                continue

            def damage(cache, pattern=pattern, operation=operation, name=name):
                files = Kinds.files(cache, pattern)
                assert files, f"{name}: no file fits {pattern}"
                operations.OPERATIONS[operation](files[0], files[-1])

            self.run(name, corpus, damage, expected)

    def run_special(self, wanted):
        for case in cases.CASES:
            if not wanted or any(case.name.startswith(prefix) for prefix in wanted):
                self.run(case.name, case.corpus, case.damage, case.expected, case.options, case.target)

    def report_untriggered(self):
        ids = set(re.findall(r"^### (\S+)$", CHECKS.read_text(), re.M))
        elsewhere = ("place.", "owner.")  # doctor's and scan's
        missing = sorted(identifier for identifier in ids - self.alone if not identifier.startswith(elsewhere))
        missing = [identifier for identifier in missing if identifier not in cases.NOT_ALONE]
        for identifier in missing:
            print(f"no case triggers {identifier} and nothing else")
        self.failed += len(missing)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--show"]
    suite = Suite(arguments[0], "--show" in sys.argv)
    wanted = arguments[1:]
    suite.run_kinds(wanted)
    suite.run_special(wanted)
    if not wanted and not suite.show:
        suite.report_untriggered()
    suite.caches.close()
    if suite.show:
        return 0
    print(f"{suite.passed} passed, {suite.failed} failed")
    return 1 if suite.failed or not suite.passed else 0


if __name__ == "__main__":
    sys.exit(main())
