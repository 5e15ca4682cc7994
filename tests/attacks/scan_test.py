#!/usr/bin/env python3
"""The scan command on attacks in files, and on real caches.

    scan_test.py CACHETOOL SCRATCH

Every attack of pickles.py and entries.py becomes a file: its verdict has to be one of those that are right, and the program
ends with a finding within its limits of memory and processor time. Real entries and the caches of tests/data are data.
"""

import json
import pathlib
import resource
import shutil
import subprocess
import sys

import entries
import pickles

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MEMORY = 2 << 30
SECONDS = 300
# Entries that get hostile guards and strides.
CHANGED = {"aotautograd-2.9.1-dynamic.pkl", "fxgraph-2.6.0-constants.pkl", "aotautograd-2.15.0.pickle"}
# Files that nothing marks as a pickle and that load nothing: not taken for one.
UNRECOGNISED = {"proto/newer", "proto/missing", "bombs/long-text-integer"}
# Beyond a limit is no data either.
UNSCANNED = "unscanned"
# Weird but harmless, so that the scanner, which has other limits than the policy alone, may say data.
HARMLESS = {"nested/many"}


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def scan(program, *paths):
    run = subprocess.run([program, "scan", "--json", "--all", "--ignore-owners", *paths], capture_output=True, preexec_fn=limit, check=False)
    if run.returncode not in (0, 1, 3):
        raise SystemExit(f"scan ends with {run.returncode}: {run.stderr.decode()[-1000:]}")
    return run.returncode, json.loads(run.stdout)


def verdicts(program, directory, files):
    directory.mkdir(parents=True)
    for number, content in enumerate(files):
        (directory / f"{number:05d}").write_bytes(content)
    code, document = scan(program, str(directory))
    return code, {int(pathlib.PurePath(file["path"]).name): file for file in document["files"]}


def attack_problems(program, scratch, attacks):
    code, files = verdicts(program, scratch / "attacks", [attack.data for attack in attacks])
    if code == 0:
        yield "scan ends with 0 on a directory of attacks"
    for number, attack in enumerate(attacks):
        if number not in files:
            yield f"{attack.name}: not in the report"
            continue
        verdict = files[number]["pickle"]
        right = attack.expected | {UNSCANNED} if "data" not in attack.expected else attack.expected | {UNSCANNED, "data"}
        if attack.expected == frozenset({"dangerous"}):
            right = attack.expected
        if verdict not in right and not (verdict == "none" and attack.name in UNRECOGNISED) and attack.name not in HARMLESS:
            yield f"{attack.name}: {verdict}, not {' or '.join(sorted(right))}"
        subjects = [(finding.get("name"), finding.get("subject")) for finding in files[number]["findings"]]
        if attack.subject and verdict == "dangerous" and not any(attack.subject in pair for pair in subjects):
            yield f"{attack.name}: no finding about {attack.subject}: {subjects[:3]}"


def entry_problems(program, scratch, real):
    code, files = verdicts(program, scratch / "entries", [content for _, content in real])
    if code != 0:
        yield f"scan ends with {code} on real entries"
    for number, (label, _) in enumerate(real):
        file = files[number]
        if file["pickle"] != "data":
            yield f"{label}: a real entry is {file['pickle']}: {file['findings'][:2]}"
        if "fxgraph" in label and not file["carries_code"]:
            yield f"{label}: a real entry carries no code"


def carrier_problems(program, scratch):
    carriers = list(entries.carriers())
    _, files = verdicts(program, scratch / "carriers", [content for _, content in carriers])
    for number, (label, _) in enumerate(carriers):
        if not files[number]["carries_code"]:
            yield f"{label}: carries no code, says scan, and is {files[number]['pickle']}"


def cache_problems(program, scratch):
    caches = scratch / "caches"
    subprocess.run([str(ROOT / "tests/data/unpack.sh"), str(caches)], check=True)
    scanned = 0
    for cache in sorted(caches.iterdir()):
        _, document = scan(program, str(cache / "cache"))
        for file in document["files"]:
            scanned += file["pickle"] == "data"
            # A model of vLLM 0.11 keeps instances of the user's own classes, which nobody can vouch for.
            user = file["pickle"] == "unknown" and all(finding["name"].startswith("tinymodel.") for finding in file["findings"])
            if file["pickle"] not in ("data", "none") and not (cache.name == "vllm-0.11.2" and user):
                yield f"{cache.name}/{file['path']}: {file['pickle']}: {file['findings'][:2]} {file['unscanned'][:1]}"
    print(f"{scanned} files of real caches are data")
    if scanned < 400:
        yield f"only {scanned} files of real caches were scanned"


def main():
    program, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    for part in ("attacks", "entries", "carriers"):
        shutil.rmtree(scratch / part, ignore_errors=True)
    real = [(path.name, path.read_bytes()) for folder in ("pickles", "entries")
            for path in sorted((ROOT / "tests/data" / folder).iterdir())]
    changed = [(label, content) for label, content in real if label in CHANGED]
    attacks = list(pickles.every_attack()) + list(entries.every_file(changed))
    for family in ("guards_expr", "fx_graph_guard_expr", "strides", "container"):
        assert sum(f"/{family}/" in f"/{attack.name}" for attack in attacks) > 30, family
    wrong = [*attack_problems(program, scratch, attacks), *entry_problems(program, scratch, real), *carrier_problems(program, scratch),
             *cache_problems(program, scratch)]
    print(*wrong[:60], sep="\n", end="\n" if wrong else "")
    print(f"{len(attacks)} attacks, {len(real)} real entries, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
