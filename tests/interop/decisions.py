#!/usr/bin/env python3
"""Compares `cachetool replay` with what torch's post-compile does, under many settings (decision_settings.py).

usage: decisions.py CACHETOOL PYTHON [DEVICE…]     PYTHON: an interpreter that has torch; DEVICE: cpu, cuda (default: both)
       decisions.py CACHETOOL --truth FOLDER       FOLDER: what an earlier run left with CACHETOOL_DECISIONS_KEEP

torch compiles decision_models.py into a fresh cache, on the CPU; and for two declared CUDA devices where torch is a CUDA build and
nullgpu is at hand. A new process loads everything and asks post_compile; cachetool has to say the same of each graph, field by field.
  CACHETOOL_NULLGPU           folder with nullgpu's run.sh (default: shared/tools/nullgpu beside the checkout, if it is there)
  CACHETOOL_DECISIONS_KEEP    where to leave caches and answers
  CACHETOOL_DECISIONS_SECONDS time for each of the four processes (default 30); what there was no time for is said
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = ("cudagraphs", "device_index_box", "log", "counters", "realign", "wraps", "error", "sets_running_backward", "wraps_compiled_region")


def as_argument(name, value):
    return f"{name}={'none' if value is None else {True: 'on', False: 'off'}[value] if isinstance(value, bool) else value}"


def replay(cachetool, cache, targets, settings):
    """The decisions about `targets`, or what went wrong."""
    arguments = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([cachetool, "replay", *targets, "--cache-dir", cache, "--json", *arguments], capture_output=True, text=True, check=False)
    try:
        entries = json.loads(done.stdout)["entries"]
    except (ValueError, KeyError):
        return [], f"ended with {done.returncode}: {done.stderr.strip()[:300]}"
    raised = any(entry["decision"]["error"] for entry in entries)
    unknown = any(entry["decision"]["callable"] == "unknown" for entry in entries)
    expected = 3 if unknown else 1 if raised else 0
    return entries, None if done.returncode == expected else f"ended with {done.returncode}, not {expected}"


def said(entry):
    decision = dict(entry["decision"])
    decision["wraps"] = [{name: value for name, value in wrap.items() if name != "partition"} for wrap in decision["wraps"]]
    return {name: decision[name] for name in FIELDS}


def difference(entry, row):
    ours = said(entry)
    return {name: {"cachetool": ours[name], "torch": row[name]} for name in FIELDS if ours[name] != row[name]}


class Comparison:
    def __init__(self, cachetool, folder):
        self.cachetool, self.folder = cachetool, pathlib.Path(folder)
        self.cache = str(self.folder / "cache")
        cold, warm = ([json.loads(line) for line in (self.folder / f"{name}.jsonl").read_text().splitlines()] for name in ("cold", "warm"))
        self.aot_of = {row["case"]: [path for path in row["new"] if path.startswith("aot")] for row in cold}
        self.counts, self.differences = collections.Counter(), []
        left_out = {row["case"] for row in cold + warm if "case" in row and row["note"]}
        # What torch compiled again didn't come from the cache. That it did so can be the decision itself: an assertion in post_compile.
        missed = {row["case"] for row in warm if "case" in row and row["new"]}
        keys = {path.split("/")[2] for row in cold for path in row["new"] if path.startswith("fxgraph/")}
        observed = [row for row in warm if "way" in row and row["label"] not in left_out]
        self.rows = [row for row in observed if row["key"] in keys or (not row["key"] and row["label"] not in missed)]
        self.counts["rows not compared: torch compiled the graph again"] = len(observed) - len(self.rows)
        for note in {row["case"]: row["note"] for row in cold + warm if "case" in row and row["note"]}.values():
            self.counts[f"not run: {note[:80]}"] += 1

    def run(self):
        # Without AOTAutograd entries a backward is by itself.
        alone = str(self.folder / "alone")
        shutil.rmtree(alone, ignore_errors=True)
        shutil.copytree(self.cache, alone, copy_function=os.link, ignore=lambda place, names: {"aotautograd"} & set(names))
        self.compare_alone(alone)
        self.compare_pairs()
        if os.path.isdir(os.path.join(self.cache, "aotautograd")):
            self.compare_bundled()
        return self

    def groups(self, wanted):
        """Rows by settings: one process answers for all of a group."""
        found = collections.defaultdict(list)
        for row in self.rows:
            if wanted(row):
                found[json.dumps(row["settings"])].append(row)
        return found.items()

    def compare_alone(self, cache):
        for settings, rows in self.groups(lambda row: row["way"] != "pair" and row["key"]):
            arguments = [as_argument(*item) for item in json.loads(settings).items()]
            keys = sorted({row["key"] for row in rows})
            entries, problem = replay(self.cachetool, cache, [f"key:{key}" for key in keys], arguments)
            if problem:
                self.differences.append(f"{settings}: {problem}")
            for row in rows:
                self.match(row["way"], row, [entry for entry in entries if entry["key"] == row["key"]])

    def match(self, way, row, entries):
        """One of the key's variants is what torch loaded."""
        found = [difference(entry, row) for entry in entries] or [{"entry": {"cachetool": None, "torch": row["key"]}}]
        best = min(found, key=len)
        self.counts[way + (" different" if best else " equal")] += 1
        if best:
            self.differences.append(f"{row['label']} {row['role']} {way} {json.dumps(row['settings'])}: {json.dumps(best)[:700]}")

    def compare_pairs(self):
        """The forward's settings lead to what torch did with the backward, and so do no settings at all."""
        for settings, rows in self.groups(lambda row: row["way"] == "pair" and row["key"]):
            self.through_aot("pair", [as_argument(*item) for item in json.loads(settings).items()], rows)
        real = [row for row in self.rows if row["way"] == "real" and row["key"]]
        self.through_aot("no settings", [], real)

    def through_aot(self, way, arguments, rows):
        targets = sorted({"key:" + path.split("/")[1] for row in rows for path in self.aot_of.get(row["label"], [])})
        if not targets:
            return
        entries, problem = replay(self.cachetool, self.cache, targets, arguments)
        if problem:
            self.differences.append(f"{way} {arguments}: {problem}")
        for row in rows:
            found = [entry for entry in entries if entry["key"] == row["key"] and entry["role"] == row["role"]]
            if found:
                self.match(way, row, found)
            else:
                self.counts[f"{way} not compared: the graph has no AOTAutograd entry"] += 1

    def compare_bundled(self):
        """Graphs without a key lie in the AOTAutograd entry of their case."""
        for settings, rows in self.groups(lambda row: not row["key"] and (row["way"] == "pair" or row["role"] != "backward")):
            values = json.loads(settings)
            if any(row["way"] == "real" for row in rows):
                values.pop("forward_device_index", None)
            for row in rows:
                targets = ["key:" + path.split("/")[1] for path in self.aot_of.get(row["label"], [])]
                if not targets:
                    self.counts["not compared: torch stored no entry"] += 1
                    continue
                entries, _ = replay(self.cachetool, self.cache, targets, [as_argument(*item) for item in values.items()])
                self.match("bundled", row, [entry for entry in entries if entry["role"] == row["role"]])


def nullgpu():
    for place in (os.environ.get("CACHETOOL_NULLGPU"), HERE.parents[2] / "shared/tools/nullgpu"):
        if place and (pathlib.Path(place) / "run.sh").is_file():
            return pathlib.Path(place) / "run.sh"
    return None


def ask_torch(python, folder, device):
    """Runs the models cold and warm; why it can't be compared, or nothing."""
    folder.mkdir(parents=True)
    for turn in ("cold", "warm"):
        program = [str(HERE / "decision_models.py"), turn, device, str(folder / f"{turn}.jsonl")]
        environment = {"NULLGPU_SECONDS": "900", "CACHETOOL_DECISIONS_SECONDS": "30", **os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
        command = [python, *program]
        if device == "cuda":
            venv = pathlib.Path(python).absolute().parent.parent
            command = [str(nullgpu()), str(venv), "90", str(folder / "cache"), *program]
        with open(folder / f"{turn}.log", "w", encoding="utf-8") as log:
            done = subprocess.run(command, env=environment, stdout=log, stderr=log, check=False, timeout=900)
        if done.returncode:
            return f"torch ended with {done.returncode}: {(folder / f'{turn}.log').read_text().strip().splitlines()[-1:]}"
    return None


def why_not(python, device):
    asked = subprocess.run([python, "-c", "import torch; print(torch.version.cuda)"], capture_output=True, text=True, check=False)
    if asked.returncode:
        return "no working torch"
    if device == "cuda" and asked.stdout.strip() == "None":
        return "this torch is built without CUDA"
    if device == "cuda" and nullgpu() is None:
        return "no nullgpu (CACHETOOL_NULLGPU)"
    return None


def report(name, comparison):
    counts = comparison.counts
    print(f"{name}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items()) if count))
    for line in comparison.differences[:20]:
        print(f"        {line}")
    return 1 if comparison.differences or not any(what.endswith("equal") for what in counts) else 0


def main():
    cachetool, python, *rest = sys.argv[1:]
    if python == "--truth":
        return report(rest[0], Comparison(cachetool, rest[0]).run())
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        base = pathlib.Path(os.environ.get("CACHETOOL_DECISIONS_KEEP") or scratch)
        for device in rest or ("cpu", "cuda"):
            problem = why_not(python, device)
            if problem:
                print(f"not run: decisions on {device}: {problem}")
                continue
            problem = ask_torch(python, base / device, device)
            if problem:
                print(f"{device}: {problem}")
                failed = 1
                continue
            failed |= report(device, Comparison(cachetool, base / device).run())
    return failed


if __name__ == "__main__":
    sys.exit(main())
