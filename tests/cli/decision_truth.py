"""Compares `replay` with what torch's own post-compile did: used by corpora_test.py.

Each observation in truth.json (`replay[].post_compile[]`) is compared field by field, three times where that is possible:

- the FX graph by itself, given the settings that torch had;
- through its AOTAutograd entry, given the settings of the forward only: the backward has to follow from what the forward left behind;
- with no settings at all: they have to come out of the entry.

What can't be compared is said: graphs that torch didn't cache, entries that torch didn't load again.
"""

import json
import subprocess


def flag(value):
    return "on" if value else "off"


def settings_of(seen, box_too=True):
    """The settings under which torch called post_compile, as arguments."""
    values = [f"cudagraphs={flag(seen['cudagraphs_before'])}", f"triton.cudagraph_trees={flag(seen['cudagraph_trees'])}"]
    box = seen["device_index_box_before"]
    if box_too:
        values.append(f"forward_device_index={'none' if box is None else box}")
    if seen["graph_partition"] is not None:
        values.append(f"graph_partition={flag(seen['graph_partition'])}")
    return [word for value in values for word in ("--set", value)]


def torch_says(seen):
    return {
        "flags": {"cudagraphs": seen["cudagraphs_before"], "graph_partition": seen["graph_partition"] or False,
                  "triton.cudagraph_trees": seen["cudagraph_trees"]},
        "cudagraphs": seen["cudagraphs_after"],
        "device_index_box": seen["device_index_box_after"],
        "log": seen["messages"],
        # The others are bumped by what is done beside post-compile.
        "counters": {name: count for name, count in seen["counters"].items() if name == "cudagraph_skips"},
        "realign": [position for call in seen["align"] for position in call["inputs_to_check"]],
        "wraps": seen["cudagraphify"],
        "error": None,
    }


def program_says(entry):
    decision = entry["decision"]
    said = {name: decision[name] for name in ("cudagraphs", "device_index_box", "log", "counters", "realign", "error")}
    said["flags"] = {name: entry["settings"][name] for name in ("cudagraphs", "graph_partition", "triton.cudagraph_trees")}
    # truth.json has no numbers of partitions.
    said["wraps"] = [{name: value for name, value in wrap.items() if name != "partition"} for wrap in decision["wraps"]]
    return said


def difference(entry, seen):
    """The fields in which program and torch differ; empty when there is none."""
    ours, theirs = program_says(entry), torch_says(seen)
    return {name: (ours[name], theirs[name]) for name in theirs if ours[name] != theirs[name]}


def replay(program, cache, target, settings=()):
    done = subprocess.run([program, "replay", target, "--cache-dir", str(cache), "--json", *settings], capture_output=True, text=True,
                          check=False)
    return json.loads(done.stdout)["entries"] if done.stdout.startswith("{") else []


class DecisionTruth:
    def __init__(self, program, folder, truth, failures, counts):
        self.program, self.folder, self.cache = program, folder, folder / "cache"
        self.failures, self.counts = failures, counts
        self.aot = truth.get("aotautograd") or {}
        self.runs = [(run["label"], run["post_compile"]) for run in truth.get("replay") or [] if run.get("post_compile")]
        self.entry_of = {graph["label"]: graph["new"]["aotautograd"] for graph in truth.get("graphs") or [] if "new" in graph}

    def check(self):
        bundled = self.is_bundled()
        for label, observations in self.runs:
            for seen in observations:
                if seen["key"] is not None:
                    self.alone(label, seen)
                elif not bundled:
                    self.counts["decisions not compared: torch didn't cache the graph"] += 1
        for candidates in self.aot.values():
            for candidate in candidates:
                self.through(candidate["path"])

    def is_bundled(self):
        return any("Bundled" in candidate["class"] for candidates in self.aot.values() for candidate in candidates)

    def alone(self, label, seen):
        target = f"key:{seen['key']}"
        self.compare(label, "alone", replay(self.program, self.cache, target, settings_of(seen)), seen)
        # Without settings a backward alone assumes a forward: the box that torch had is compared in the pair.
        entries = replay(self.program, self.cache, target)
        if not any(entry["role"] == "backward" for entry in entries) and seen["device_index_box_before"] is None:
            self.compare(label, "alone, no settings", entries, seen)

    def compare(self, label, way, entries, seen):
        """One of the key's candidates is what torch loaded."""
        self.counts[f"decisions equal ({way})"] += self.matches(label, way, entries, seen)

    def matches(self, label, way, entries, seen):
        found = [difference(entry, seen) for entry in entries]
        if not found:
            self.failures.add(self.folder.name, f"{label}, {way}: replay shows no graph of key {seen['key']}")
            return False
        best = min(found, key=len)
        if best:
            self.failures.add(self.folder.name, f"{label}, {way}: {best}")
        return not best

    def through(self, path):
        """An AOTAutograd entry: torch passes what the forward left behind on to the backward."""
        plain = replay(self.program, self.cache, str(self.cache / path))
        if not plain:
            return self.failures.add(self.folder.name, f"replay shows nothing for {path}")
        label, observations = self.observed(path, plain)
        if not observations:
            self.counts["pairs not compared: torch didn't load the entry again"] += 1
            return None
        # The box stays out of it: given by name it would count for the backward, too.
        given = replay(self.program, self.cache, str(self.cache / path), settings_of(observations[0], box_too=False))
        for way, entries in (("pair", given), ("pair, no settings", plain)):
            equal = [self.matches(label, way, [entry], seen) for entry, seen in zip(entries, observations)]
            self.counts[f"decisions equal ({way})"] += sum(equal)
        return None

    def observed(self, path, entries):
        """What torch did with these graphs, one after the other."""
        keys = [entry["key"] for entry in entries]
        for label, observations in self.runs:
            if path in self.entry_of.get(label, []) and all(seen["key"] is None for seen in observations):
                if len(observations) == len(keys) and self.is_bundled():
                    return label, observations
            for start in range(len(observations) - len(keys) + 1):
                part = observations[start : start + len(keys)]
                if [seen["key"] for seen in part] == keys and not any(map(difference_in_variant, entries, part)):
                    return label, part
        return None, []


def difference_in_variant(entry, seen):
    """Variants of one key have other placeholders or devices; everything else is left to the comparison."""
    wraps = entry["decision"]["wraps"]
    return bool(wraps and seen["cudagraphify"]) and wraps[0]["placeholders"] != seen["cudagraphify"][0]["placeholders"]


def check_decisions(program, folder, failures, counts):
    path = folder / "truth.json"
    truth = json.loads(path.read_text()) if path.exists() else {}
    if any(run.get("post_compile") for run in truth.get("replay") or [] if isinstance(run, dict)):
        DecisionTruth(program, folder, truth, failures, counts).check()
