#!/usr/bin/env python3
"""Derives lib/pickle/allow_list.inc, what pickles in caches may name and how, from real caches.

    allow_list.py [--write | --complete] CACHE...

Walks the caches (directories below which a truth.json or a directory's name tells the torch release), reads every
pickle symbolically, nested ones too, and compares what it finds with the list:

  seen, not listed        a name, role, kind of argument or form of state that the list doesn't have: always an error
  listed without a word   a line that was never seen and gives no reason: always an error
  listed, not seen        with --complete: a line says a release or place that these caches don't show
  --write                 puts the releases and places that were seen into the list, keeping those it has

Nothing is ever unpickled, imported or called. Roles, arguments and states are a person's decision: the script tells what
is missing, it doesn't allow anything by itself.
"""

import _compat_pickle
import argparse
import collections
import json
import pathlib
import re
import sys

import pickle_calls
from pickle_calls import Call, Dict, FrozenSet, Global, Malformed, Persistent, Set, children_of

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "lib/pickle"
COLUMNS = ("module", "name", "roles", "arguments", "states", "releases", "places", "reason")
LOOKUP_COLUMNS = ("module", "name", "attribute", "use", "releases", "places", "reason")
ROLE_OF = {"REDUCE": "c", "NEWOBJ": "n", "NEWOBJ_EX": "k"}
RELEASE = re.compile(r"^(?:cpu|cuda|misses|made)-(\d+\.\d+)\.\d+|^(\d+\.\d+)\.\d+-(?:cpu|cuda)")


# --- the list ---------------------------------------------------------------------------------------------------

class Line:
    def __init__(self, macro, values):
        self.macro, self.values = macro, dict(zip(COLUMNS if macro == "ALLOW" else LOOKUP_COLUMNS, values, strict=True))

    def __getattr__(self, column):
        return self.values[column]

    def text(self):
        return f'{self.macro}({", ".join(json.dumps(value) for value in self.values.values())})'


def read_list(path=SOURCE / "allow_list.inc"):
    """(comment, {(module, name): line}, {(module, name, attribute): line})"""
    comment, rules, lookups = [], {}, {}
    for line in path.read_text().splitlines():
        match = re.fullmatch(r'(ALLOW|LOOKUP)\((.*)\)', line)
        if not match:
            if line:
                comment.append(line)
            continue
        entry = Line(match[1], json.loads(f"[{match[2]}]"))
        if entry.macro == "ALLOW":
            rules[entry.module, entry.name] = entry
        else:
            lookups[entry.module, entry.name, entry.attribute] = entry
    return comment, rules, lookups


def write_list(comment, rules, lookups, path=SOURCE / "allow_list.inc"):
    parts = ["\n".join(comment)]
    for lines in (rules, lookups):
        parts.append("\n".join(lines[key].text() for key in sorted(lines)))
    path.write_text("\n\n".join(parts) + "\n")


# --- kinds of arguments: policy_shapes.cpp has the same ----------------------------------------------------------

def made_by(value, full):
    if not isinstance(value, Call) or not isinstance(value.callable, Global):
        return False
    maker = f"{value.callable.module}.{value.callable.name}"
    return maker == full or (full.endswith(".") and value.callable.module + "." == full)


def is_lookup(value):
    if not isinstance(value, Call):
        return False
    if not isinstance(value.callable, Global):
        return True
    return (value.callable.module, value.callable.name) in (
        ("builtins", "getattr"), ("builtins", "type"), ("dill._dill", "_load_type"), ("functools", "partial"))


def is_expression(value):
    source = value.callable if isinstance(value, Call) else value
    return isinstance(source, (type(None), bool, int, float)) or (
        isinstance(source, Global) and source.module.startswith(("sympy.", "torch.utils._sympy.")))


CONTAINERS = (list, tuple, Dict, Set)
KINDS = {
    "none": lambda v: v is None,
    "bool": lambda v: isinstance(v, bool),
    "int": lambda v: type(v) is int,
    "text": lambda v: isinstance(v, str),
    "scalar": lambda v: v is None or isinstance(v, (bool, int, float, str)),
    "version": lambda v: isinstance(v, str) and re.fullmatch(r"[0-9a-z.+_-]+", v) is not None,
    "tuple": lambda v: isinstance(v, tuple),
    "list": lambda v: type(v) is list,
    "dict": lambda v: isinstance(v, Dict),
    "container": lambda v: isinstance(v, CONTAINERS),
    "sequence": lambda v: isinstance(v, (*CONTAINERS, bytes)),
    "name": lambda v: isinstance(v, Global),
    "persistent": lambda v: isinstance(v, Persistent),
    "ints": lambda v: isinstance(v, tuple) and all(type(item) is int for item in v),
    "sizes": lambda v: isinstance(v, tuple) and all(
        type(item) is int or made_by(item, "torch.fx._graph_pickler._SymNodePickleData.unpickle_sym_int") for item in v),
    "factory": lambda v: v is None or is_lookup(v) or isinstance(v, Global) and v.module in (
        "builtins", "collections", "torch._dynamo.pgo"),
    "expr": is_expression,
    "storage": lambda v: made_by(v, "torch.storage._load_from_bytes") or isinstance(v, Persistent),
    "tensor": lambda v: isinstance(v, Call) and isinstance(v.callable, Global) and v.callable.module == "torch._utils" and
        v.callable.name.startswith("_rebuild_"),
    "hooks": lambda v: made_by(v, "collections.OrderedDict") and not v.args and not v.items and not v.states,
    "stream": lambda v: isinstance(v, bytes),
    "pickle": lambda v: isinstance(v, bytes),
}


def is_one(kinds, value):
    def matches(kind):
        if kind.startswith("="):
            return value == kind[1:]
        return made_by(value, kind[1:]) if kind.startswith("@") else KINDS[kind](value)
    return any(matches(kind) for kind in kinds.split("|"))


def fits(arguments, args, lookups):
    if arguments == "attribute":
        owner = args[0].callable if args and isinstance(args[0], Call) else args[0] if args else None
        return len(args) == 2 and isinstance(owner, Global) and (owner.module, owner.name, args[1]) in lookups
    at = 0
    for token in arguments.split():
        kinds, suffix = (token[:-1], token[-1]) if token[-1] in "*?" else (token, "")
        taken = 0
        while at < len(args) and (suffix == "*" or not taken) and is_one(kinds, args[at]):
            at, taken = at + 1, taken + 1
        if not taken and not suffix:
            return False
    return at == len(args)


def state_form(state):
    if isinstance(state, tuple):
        pair = len(state) == 2 and (state[0] is None or isinstance(state[0], Dict)) and isinstance(state[1], Dict)
        return "pair" if pair else "tuple"
    return {Dict: "dict", list: "list", int: "int", str: "text"}.get(type(state), "other")


def is_plain_attribute(name):
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_]+", name) is not None and not (
        name[0] == "_" and name[-1] == "_") and name not in ("extend", "append", "add")


# --- what is seen -------------------------------------------------------------------------------------------------

class Survey:
    def __init__(self, rules, lookups):
        self.rules, self.lookups = rules, lookups
        self.roles = collections.defaultdict(set)
        self.shown = collections.defaultdict(lambda: (set(), set()))  # key to (releases, places)
        self.missing = collections.defaultdict(set)                   # what the list lacks, to examples
        self.pickles = self.files = 0
        self.users = set()

    def lack(self, what):
        self.missing[what].add(self.where)

    def show(self, key, role=""):
        release, place = self.release, self.place
        self.shown[key][0].add(release)
        self.shown[key][1].add(place)
        if role:
            self.roles[key].add(role)
            rule = self.rules.get(key)
            if rule and role not in rule.roles:
                self.lack(f"{key[0]}.{key[1]} in role {role}")

    def read_file(self, path, release, place):
        self.where, self.release, self.place = str(path), release, place
        data = path.read_bytes()
        self.files += 1
        if data[:1] == b"\x80":
            self.read(data, 0)
        else:
            self.search(data)

    def search(self, data):
        """Pickles inside a frame of some other kind, found by how protocol 4 starts."""
        at = data.find(b"\x80\x04\x95")
        while at >= 0:
            end = self.read(data, at)
            at = data.find(b"\x80\x04\x95", end or at + 1)

    def read(self, data, start):
        """The pickle at `start` and what is in it; its end, or None when there is none."""
        try:
            result = pickle_calls.run(data, start)
        except Malformed:
            return None
        self.pickles += 1
        for key in result.globals:
            if key not in self.rules and key[0].partition(".")[0] not in self.users:
                self.lack(f"{key[0]}.{key[1]}")
        seen, open_values = set(), [result.root, *result.calls]
        while open_values:
            value = open_values.pop()
            if isinstance(value, Global):
                self.show((value.module, value.name), "b")
                continue
            if isinstance(value, (bytes, bytearray)):
                if id(value) not in seen:
                    seen.add(id(value))
                    self.read_nested(bytes(value))
                continue
            if not isinstance(value, (list, tuple, Call, Persistent)) or id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Call):
                self.judge(value)
                open_values.extend(self.kept(value))
            else:
                open_values.extend(children_of(value))
        return result.end

    def read_nested(self, data):
        at = 0
        while data[at:at + 1] == b"\x80" and data[at + 1:at + 2] in (b"\2", b"\3", b"\4", b"\5"):
            end = self.read(data, at)
            if end is None:
                break
            at = end
        if at == 0:
            self.search(data)

    def kept(self, call):
        """What a call holds, without its callable, and without what only its rule's fields may hold."""
        rule = self.rules.get((call.callable.module, call.callable.name)) if isinstance(call.callable, Global) else None
        states = rule.states.split() if rule else ()
        values = [*call.args, *call.appended, *children_of(call.items), *children_of(call.kwargs or Dict())]
        if not isinstance(call.callable, Global):
            values.append(call.callable)
        for state in call.states:
            for part in [state] if isinstance(state, Dict) else state if state_form(state) == "pair" else ():
                for key, value in part or ():
                    held = f"holds:{key}" in states and isinstance(value, Global) and "f" in getattr(
                        self.rules.get((value.module, value.name)), "roles", "")
                    if held:
                        self.show((value.module, value.name), "f")
                    elif is_lookup(value) and f"holds:{key}" not in states and isinstance(value.callable, Global) and (
                            value.callable.name in ("getattr", "partial")):
                        self.lack(f"{call.callable.name} with a {value.callable.name} as {key}")
                    else:
                        values.append(value)
                    values.append(key)
            if state_form(state) not in ("dict", "pair"):
                values.append(state)
        return values

    def judge(self, call):
        if not isinstance(call.callable, Global):
            return
        key = call.callable.module, call.callable.name
        self.show(key, ROLE_OF.get(call.how, "?"))
        for role, used in (("s", call.states), ("a", call.appended), ("i", call.items)):
            if used:
                self.show(key, role)
        rule = self.rules.get(key)
        if rule is None:
            return
        full = f"{key[0]}.{key[1]}"
        if not fits(rule.arguments, call.args, self.lookups):
            self.lack(f"{full} with ({', '.join(describe(arg) for arg in call.args)})")
        if key == ("builtins", "getattr") and len(call.args) == 2:
            owner = call.args[0].callable if isinstance(call.args[0], Call) else call.args[0]
            self.show((owner.module, owner.name, call.args[1]))
        if len(call.states) > 1:
            self.lack(f"{full} with {len(call.states)} states")
        for state in call.states:
            form, words = state_form(state), rule.states.split()
            if form not in words:
                self.lack(f"{full} with a state of form {form}")
            for part in [state] if form == "dict" else state if form == "pair" else ():
                for name, _ in part or ():
                    if not is_plain_attribute(name) and name not in words:
                        self.lack(f"{full} with attribute {name!r}")


def describe(value):
    if isinstance(value, Call):
        return f"@{value.callable.module}.{value.callable.name}" if isinstance(value.callable, Global) else "@an object"
    return f"name {value.module}.{value.name}" if isinstance(value, Global) else type(value).__name__


# --- where to look ------------------------------------------------------------------------------------------------

def place_of(path):
    parts = path.parts
    for kind in ("fxgraph", "aotautograd"):
        if kind in parts:
            return kind
    if "dynamo" in parts:
        return "pgo" if path.name.startswith("code_state") else "precompile"
    if path.name == "model":
        return "vllm-model"
    if path.name.startswith("artifact_compile"):
        return "vllm-artifact"
    return "mega" if path.suffix == ".bin" else None


def releases_below(root):
    """(directory, release) of the caches in and below `root`."""
    truths = {truth.parent: json.loads(truth.read_text()) for truth in sorted(root.rglob("truth.json"))}
    for directory in sorted({root, *(path for path in root.iterdir() if path.is_dir()), *truths}):
        match = RELEASE.match(directory.name)
        release = truths.get(directory, {}).get("torch_version") or match and (match[1] or match[2])
        if release:
            yield directory, ".".join(release.split(".")[:2])


def survey(paths, rules, lookups, users):
    result = Survey(rules, lookups)
    result.users = users
    done = set()
    for root in paths:
        for directory, release in reversed(list(releases_below(root))):  # the innermost knows best
            for path in sorted(directory.rglob("*")):
                beside = {"fields", "io", "keys"} & set(path.relative_to(directory).parts)
                place = None if beside or path in done or not path.is_file() or path.is_symlink() else place_of(path)
                if place:
                    done.add(path)
                    result.read_file(path, release, place)
    return result


def words(values, key=str):
    return " ".join(sorted(values, key=key))


def by_number(release):
    return [int(part) for part in release.split(".")]


def problems(found, rules, lookups, complete):
    for what in sorted(found.missing):
        yield f"seen, not listed: {what} ({sorted(found.missing[what])[0]})"
    for key, line in [*rules.items(), *lookups.items()]:
        full = ".".join(key)
        if not line.releases and not line.reason:
            yield f"listed without a word: {full}"
        if line.macro == "ALLOW" and python_2(key) != key:
            yield f"listed, but pickles before protocol 3 mean something else: {full} is {'.'.join(python_2(key))}"
        if not complete:
            continue
        releases, places = found.shown.get(key, (set(), set()))
        for column, shown in (("releases", releases), ("places", places)):
            if set(line.values[column].split()) - shown:
                yield f"listed, not seen: {full} in {words(set(line.values[column].split()) - shown)}"
        if line.macro == "ALLOW" and line.releases and not line.reason:
            unseen = set(line.roles) - found.roles[key]
            if unseen:
                yield f"listed without a reason, not seen: {full} in role {words(unseen)}"


def python_2(key):
    if key in _compat_pickle.NAME_MAPPING:
        return _compat_pickle.NAME_MAPPING[key]
    return _compat_pickle.IMPORT_MAPPING.get(key[0], key[0]), key[1]


def renamed():
    """The lines of python2_names.inc as this Python has them."""
    names = {(module, name): new for (module, name), new in _compat_pickle.NAME_MAPPING.items()}
    names.update({(module, ""): (new, "") for module, new in _compat_pickle.IMPORT_MAPPING.items()})
    return [f'RENAMED({", ".join(json.dumps(part) for part in (*old, *names[old]))})' for old in sorted(names)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("caches", nargs="+", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="update the columns releases and places")
    parser.add_argument("--complete", action="store_true", help="the caches are all that the list was made from")
    parser.add_argument("--users", default="tinymodel", help="packages of users' models, which are never listed")
    arguments = parser.parse_args()
    comment, rules, lookups = read_list()
    found = survey(arguments.caches, rules, lookups, set(arguments.users.split(",")))
    if not found.pickles:
        sys.exit("no pickle found")
    if arguments.write:
        for lines in (rules, lookups):
            for key, line in lines.items():
                releases, places = found.shown.get(key, (set(), set()))
                line.values["releases"] = words({*line.releases.split(), *releases}, by_number)
                line.values["places"] = words({*line.places.split(), *places})
        write_list(comment, rules, lookups)
    wrong = list(problems(found, rules, lookups, arguments.complete))
    known = [line for line in (SOURCE / "python2_names.inc").read_text().splitlines() if line.startswith("RENAMED")]
    if sys.version_info[:2] == (3, 11) and known != renamed():
        wrong.append("python2_names.inc differs from _compat_pickle")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{found.pickles} pickles in {found.files} files, {len(found.roles)} names seen, {len(rules)} listed, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
