#!/usr/bin/env python3
"""Compares what the program decodes from real caches with two independent witnesses.

Usage: corpora_test.py PROGRAM

Caches come from tests/data and, where CACHETOOL_CORPORA_DIR is set, from that folder too (unpacked caches or archives). For each one:
every entry's `fields` equal fields/*.json, nothing is unrecognised, class, size and hash agree with truth.json, every file has a known
kind, and every graph and wrapper that an entry names is found. Every pickle is data for `scan`, but for the files that are listed here. `verify` finds no error,
and no warning but the real ones that are listed here. `replay` decides as torch's own post-compile did (decision_truth.py).
One process a cache and command.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from decision_truth import check_decisions

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
# Kernels and Triton directories may be missing: torch builds them again, and bundles carry them.
ALWAYS_THERE = {"fxgraph", "wrapper"}
# What scan says of files that are no data, by corpus and a part of the path: this model pickles the user's own classes; these entries were
# cut on purpose.
NO_DATA = {
    "vllm-0.11.2": {"torch_aot_compile/": "unknown"},
    "misses-2.6.0": {"truncated-fx-entry/B/cache/fxgraph/": "malformed"},
    "misses-2.9.1": {"truncated-fx-entry/B/cache/fxgraph/": "malformed"},
    "misses-2.15.0": {"truncated-fx-entry/B/cache/fxgraph/": "malformed"},
}
# Warnings of verify that are real, by id, and the corpora (beginnings of names) where they are. Nothing is ever an error.
REAL_WARNINGS = {
    # The caches lie elsewhere than where they were written. Inductor's bundles make up for it from 2.9 on: a remark there.
    "triton.moved": ("cuda-2.6.0-", "triton-", "made-2.4", "made-2.5", "made-2.6", "made-2.7"),
    # vLLM up to 0.27 opens the artifacts in the place where they were written.
    "vllm.moved": ("vllm-0.11.2", "vllm-0.15.1"),
    # This release writes VLLM_API_KEY into the factors; the value is an example.
    "vllm.secret": ("vllm-0.15.1",),
    # Compiled for a device that wasn't there, so that kernels with several configurations never ran and no winner was kept.
    "autotune.missing": ("cuda-2.15.0-constants", "cuda-2.15.0-partition", "cuda-2.15.0-refused", "cuda-2.6.0-refused",
                         "cuda-2.9.1-refused", "made-"),
}
ENTRY_KINDS = {"fxgraph", "aotautograd"}


class Failures:
    def __init__(self):
        self.count = 0

    def add(self, corpus, what):
        self.count += 1
        if self.count <= 40:
            print(f"  FAILED {corpus}: {what}")


def run_json(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, check=False)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr.decode(errors="replace")
    except ValueError:
        return done.returncode, None, done.stderr.decode(errors="replace")


def first_difference(ours, theirs, path=""):
    """Where two JSON values differ first, in words; empty when they are equal, also in types and order."""
    if type(ours) is not type(theirs):
        return f"{path}: {type(ours).__name__} for {type(theirs).__name__}: {str(ours)[:60]} for {str(theirs)[:60]}"
    if isinstance(ours, dict):
        if list(ours) != list(theirs):
            return f"{path}: members {sorted(set(ours) ^ set(theirs))[:6] or 'in another order'}"
        for key in ours:
            difference = first_difference(ours[key], theirs[key], f"{path}.{key}")
            if difference:
                return difference
    elif isinstance(ours, list):
        if len(ours) != len(theirs):
            return f"{path}: {len(ours)} elements for {len(theirs)}"
        for i, (a, b) in enumerate(zip(ours, theirs)):
            difference = first_difference(a, b, f"{path}[{i}]")
            if difference:
                return difference
    elif ours != theirs:
        return f"{path}: {str(ours)[:80]!r} for {str(theirs)[:80]!r}"
    return ""


def truth_entries(truth):
    """(kind, sha256) → class and size, as torch itself decoded them."""
    found = {}
    for kind, items in (truth.get("decoded") or {}).items():
        for item in items if kind in ("fxgraph", "aotautograd") else []:
            found[item["sha256"]] = (kind, item["class"], item["bytes"])
    for kind in ("fxgraph", "aotautograd"):
        items = truth.get(kind)
        for candidates in items.values() if isinstance(items, dict) else []:
            for item in candidates:
                if "sha256" in item:
                    found[item["sha256"]] = (kind, item.get("class"), item.get("bytes") or item.get("size"))
    return found


def check_entries(program, folder, failures, counts):
    status, document, error = run_json(program, "show", str(folder / "cache"), "--json", "--full-strings")
    if document is None:
        return failures.add(folder.name, f"show ended with {status}: {error.strip()[:200]}")
    if status != 0:
        failures.add(folder.name, f"show ended with {status}: {error.strip()[:200]}")
    if document["schema"] != "cachetool.entry/1":
        failures.add(folder.name, f"schema {document['schema']}")
    expected = {}
    for path in (folder / "fields").glob("*.json"):
        if path.name != "index.json":
            item = json.loads(path.read_text())
            expected[item["path"]] = item
    truth = {}
    if (folder / "truth.json").exists():
        truth = truth_entries(json.loads((folder / "truth.json").read_text()))
    seen = set()
    for item in document["entries"]:
        counts["entries"] += 1
        name = item["path"]
        members = ["kind", "key", "leaf", "path", "bytes", "sha256", "class", "release", "fields", "unrecognised", "references"]
        if list(item) != members:
            failures.add(folder.name, f"{name}: members {list(item)}")
            continue
        if item["unrecognised"]:
            failures.add(folder.name, f"{name}: unrecognised {str(item['unrecognised'])[:200]}")
        witness = expected.get(name)
        if witness is None:
            if expected:
                failures.add(folder.name, f"{name}: no such entry in fields/")
        else:
            seen.add(name)
            difference = first_difference(item["fields"], witness["fields"])
            if difference:
                failures.add(folder.name, f"{name[:40]}: fields{difference}")
            else:
                counts["equal to fields/"] += 1
            for member in ("bytes", "sha256", "class"):
                if item[member] != witness[member]:
                    failures.add(folder.name, f"{name}: {member} {item[member]} for {witness[member]}")
        if item["sha256"] in truth:
            kind, class_name, size = truth[item["sha256"]]
            agrees = item["kind"] == kind and size in (None, item["bytes"])
            # truth.json of the CUDA caches writes classes in full, the others too.
            agrees = agrees and class_name in (None, item["class"], item["class"].rsplit(".", 1)[-1])
            counts["agreeing with truth.json"] += agrees
            if not agrees:
                failures.add(folder.name, f"{name}: truth.json says {truth[item['sha256']]}")
        if item["release"]["family"] == "unknown":
            failures.add(folder.name, f"{name}: release unknown")
        for reference in item["references"] or []:
            counts["references found" if reference["found"] else "references missing"] += 1
            if not reference["found"] and reference["kind"] in ALWAYS_THERE:
                failures.add(folder.name, f"{name}: {reference['kind']} {reference['name']} not found")
    for name in sorted(set(expected) - seen):
        failures.add(folder.name, f"{name}: not shown")


def check_files(program, folder, failures, counts):
    status, document, error = run_json(program, "stats", str(folder / "cache"), "--json")
    if document is None or status != 0:
        return failures.add(folder.name, f"stats ended with {status}: {error.strip()[:200]}")
    for kind in document["kinds"]:
        counts["files"] += kind["files"]
        if kind["kind"] == "unknown":
            failures.add(folder.name, f"{kind['files']} files of unknown kind")
    status, document, error = run_json(program, "list", str(folder / "cache"), "--json")
    if document is None or status != 0:
        return failures.add(folder.name, f"list ended with {status}: {error.strip()[:200]}")
    for row in document["entries"]:
        counts["rows"] += 1
        if row["state"] != "ok":
            failures.add(folder.name, f"{row['path']}: {row['state']}")


def check_scan(program, name, folder, failures, counts):
    status, document, error = run_json(program, "scan", str(folder), "--json", "--ignore-owners")
    if document is None:
        return failures.add(name, f"scan ended with {status}: {error.strip()[:200]}")
    expected = dict(NO_DATA.get(name, {})) if folder.name == "cache" or name.startswith("misses") else {}
    if status != (1 if expected else 0):
        failures.add(name, f"scan of {folder.name} ended with {status}")
    for item in document["files"]:
        counts["files scanned"] += 1
        part = next((part for part in expected if part in item["path"] and item["findings"]), None)
        wanted = {expected.pop(part)} if part else {"data"} if item["kind"] in ENTRY_KINDS else {"data", "none"}
        if item["pickle"] not in wanted:
            failures.add(name, f"{item['path']}: {item['pickle']}, not {wanted}: {str(item['findings'])[:300]}")
        if item["unscanned"]:
            failures.add(name, f"{item['path']}: not all scanned: {item['unscanned']}")
        counts["pickles that are data"] += item["pickles"] if item["pickle"] == "data" else 0
        if item["kind"] == "fxgraph" and item["pickle"] == "data":
            if "source_code" not in [code["what"] for code in item["carries_code"]]:
                failures.add(name, f"{item['path']}: carries no source_code")
    for part in expected:
        failures.add(name, f"scan found nothing in {part}")


def found_by_check(program, folder, arguments, failures):
    """Paths by check, of what verify finds."""
    status, document, error = run_json(program, "verify", str(folder / "cache"), "--json", *arguments)
    found = collections.defaultdict(set)
    if document is None or status not in (0, 1):
        failures.add(folder.name, f"verify {' '.join(arguments)} ended with {status}: {error.strip()[:200]}")
        return found
    for finding in document["findings"]:
        found[finding["check"]].add(finding["path"])
    return found


def has_avx512(library):
    """Whether objdump shows an instruction with an EVEX prefix, a 512-bit register or a mask register."""
    text = subprocess.run(["objdump", "-dw", str(library)], capture_output=True, text=True, check=True).stdout
    return bool(re.search(r"^\s+[0-9a-f]+:\t62 |%zmm|%k[0-7]", text, re.MULTILINE))


def compare_sets(ours, theirs, folder, what, failures):
    if ours != theirs:
        more, less = sorted(ours - theirs), sorted(theirs - ours)
        failures.add(folder.name, f"{what}: {len(more)} too many {more[:2]}, {len(less)} missing {less[:2]}")


def check_processor(program, folder, failures, counts):
    cache = folder / "cache"
    expected = set()
    for library in sorted(cache.rglob("*.so")):
        content = library.read_bytes()
        # Programs that test an instruction set are not judged by what they test.
        if b"_chk_kernel" not in content and has_avx512(library):
            expected.add(str(library.relative_to(cache)))
    found = found_by_check(program, folder, ["--against", "cpu=avx2"], failures)
    compare_sets(found["binary.processor"], expected, folder, "libraries that need AVX-512", failures)
    counts["libraries that need AVX-512"] += len(expected)


def check_devices(program, folder, failures, counts):
    cache = folder / "cache"
    targets = {}
    for text in cache.rglob("*.ptx"):
        cubin = text.with_suffix(".cubin")
        target = re.search(r"^\.target sm_(\d+)(a?)", text.read_text(errors="replace"), re.MULTILINE)
        if target and cubin.is_file():
            targets[str(cubin.relative_to(cache))] = (int(target.group(1)), bool(target.group(2)))
    if not targets:
        return
    for device in (80, 86, 90, 100, 103):
        found = found_by_check(program, folder, ["--against", f"arch=sm_{device}"], failures)
        expected = {
            path
            for path, (number, only) in targets.items()
            if (number != device if only else number // 10 != device // 10 or number > device)
        }
        ours = {path for path in found["cubin.device"] if path in targets}
        compare_sets(ours, expected, folder, f"kernels that sm_{device} can't run", failures)
    counts["kernels with PTX"] += len(targets)


def check_whole(program, folder, failures, counts):
    """verify finds no error in what torch left, and no warning that isn't real."""
    status, document, error = run_json(program, "verify", str(folder / "cache"), "--json")
    if document is None or status != 0:
        failures.add(folder.name, f"verify ended with {status}: {error.strip()[:200]}")
        return
    for finding in document["findings"]:
        real = folder.name.startswith(REAL_WARNINGS.get(finding["check"], ("none",)))
        if finding["severity"] == "error" or (finding["severity"] == "warning" and not real):
            failures.add(folder.name, f"{finding['severity']} {finding['check']} {finding['path']}: {finding['message']}")
    counts["checks"] += sum(document["checked"]["checks"].values())
    if not document["checked"]["checks"]:
        failures.add(folder.name, "verify checked nothing")


def check_deep(program, folder, failures):
    for check, paths in found_by_check(program, folder, ["--deep"], failures).items():
        if check.startswith(("cubin.", "tensor.", "launcher.")):
            failures.add(folder.name, f"{check} at {sorted(paths)[:2]}")


def folders_with_caches(base, scratch):
    """Unpacked caches below `base`, and those of its archives, unpacked one at a time."""
    for path in sorted(base.iterdir()):
        if (path / "cache").is_dir():
            yield path
        elif path.name.endswith(".tar.zst"):
            name = path.name[: -len(".tar.zst")]
            subprocess.run(["tar", "--zstd", "--no-same-owner", "-xf", str(path), "-C", str(scratch)], check=True)
            if (scratch / name / "cache").is_dir():
                yield scratch / name
            subprocess.run(["rm", "-rf", str(scratch / name)], check=True)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    failures = Failures()
    counts = collections.Counter()
    bases = [DATA]
    extra = os.environ.get("CACHETOOL_CORPORA_DIR")
    if extra and pathlib.Path(extra).is_dir():
        bases.append(pathlib.Path(extra))
    else:
        print("not run: caches beyond tests/data: CACHETOOL_CORPORA_DIR names no folder")
    has_objdump = shutil.which("objdump") is not None
    if not has_objdump:
        print("not run: machine code beside what objdump shows: it isn't installed")
    done = set()
    with tempfile.TemporaryDirectory(prefix="cachetool-corpora-") as scratch:
        for base in reversed(bases):
            for folder in folders_with_caches(base, pathlib.Path(scratch)):
                if folder.name in done:
                    continue
                done.add(folder.name)
                check_entries(program, folder, failures, counts)
                check_files(program, folder, failures, counts)
                check_whole(program, folder, failures, counts)
                check_deep(program, folder, failures)
                check_devices(program, folder, failures, counts)
                check_decisions(program, folder, failures, counts)
                if has_objdump:
                    check_processor(program, folder, failures, counts)
                for place in ("cache", "extras"):
                    if (folder / place).is_dir() and any((folder / place).iterdir()):
                        check_scan(program, folder.name, folder / place, failures, counts)
            for folder in sorted(base.glob("misses-*")):
                if folder.is_dir():
                    check_scan(program, folder.name, folder, failures, counts)
    print(f"{len(done)} caches: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    if not done or counts["entries"] == 0:
        failures.add("all", "no entries were compared")
    for way in ("alone", "alone, no settings", "pair", "pair, no settings"):
        if counts[f"decisions equal ({way})"] == 0:
            failures.add("all", f"no decisions were compared: {way}")
    print("passed" if failures.count == 0 else f"{failures.count} failures")
    sys.exit(1 if failures.count else 0)


if __name__ == "__main__":
    main()
