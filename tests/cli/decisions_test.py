#!/usr/bin/env python3
"""Compares `replay` with what torch's post-compile did under many settings, from answers that were kept: no torch is needed.

Usage: decisions_test.py PROGRAM

tests/data/decisions holds, for releases and reasons that the other caches lack, the entries of tests/interop/decision_models.py and what
tests/interop/decision_settings.py got from that release about them. The comparison is that of tests/interop/decisions.py.
"""

import collections
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))
from decisions import Comparison  # noqa: E402 (the folder has to be known first)

DATA = HERE.parent / "data" / "decisions"


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    totals, failures = collections.Counter(), 0
    for archive in sorted(DATA.glob("*.tar.zst")):
        with tempfile.TemporaryDirectory(prefix="cachetool-decisions-") as scratch:
            subprocess.run(["tar", "--zstd", "--no-same-owner", "-xf", str(archive), "-C", scratch], check=True)
            folder = pathlib.Path(scratch) / archive.name[: -len(".tar.zst")]
            comparison = Comparison(program, folder).run()
        counts = comparison.counts
        print(f"{archive.name}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items()) if count))
        for line in comparison.differences[:10]:
            print(f"  FAILED {line}")
        failures += len(comparison.differences)
        totals.update(counts)
    for way in ("alone", "real", "pair", "no settings", "bundled"):
        if not totals[f"{way} equal"]:
            print(f"  FAILED: nothing was compared: {way}")
            failures += 1
    print("passed" if failures == 0 else f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
