"""CPython's own unpickler as a second opinion: what it would import and call, compared with the allow list.

Nothing is imported or called: find_class gives recorders (tests/differential/reference.py).
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "scripts"), str(ROOT / "tests/differential")]

import allow_list  # noqa: E402
import reference  # noqa: E402

RULES, LOOKUPS = allow_list.read_list()[1:]
# What the policy lets a pickle call although it is no name: the results of these.
MAKERS = {("builtins", "getattr"), ("builtins", "type"), ("functools", "partial"), ("dill._dill", "_load_type")}


class Recording(reference.Unpickler):
    """Records every call too, dropped ones among them."""

    def __init__(self, file):
        super().__init__(file)
        self.persistent = []

    def persistent_load(self, pid):
        self.persistent.append(pid)
        return super().persistent_load(pid)


def objections(data):
    """What CPython would do with `data` that the allow list doesn't have. For pickles that were called data."""
    records = []
    original = reference.make
    reference.make = lambda record: records.append(record) or original(record)
    try:
        unpickler = Recording(reference.File(data))
        try:
            unpickler.load()
        except Exception as error:  # it may raise anything
            return [f"fails to load: {type(error).__name__}: {error}"]
    finally:
        reference.make = original
    version = data[1] if data[:1] == b"\x80" else 0
    found = []
    for key in unpickler.globals:
        if rule_of(key, version) is None:
            found.append(f"imports {'.'.join(key)}")
    if unpickler.persistent:
        found.append("loads a persistent id")
    for record in records:
        if record.kind == "O":
            found += call_objections(record, version)
    return found


def rule_of(key, version):
    return RULES.get(allow_list.python_2(key) if version < 3 else key)


def call_objections(record, version):
    made_by = record.callable.record
    if made_by.kind == "O":
        maker = made_by.callable.record
        if maker.kind != "g" or maker.name not in MAKERS:
            if not (maker.kind == "O" and maker.callable.record.name == ("dill._dill", "_load_type")):
                yield "calls the result of a call"
        return
    rule = rule_of(made_by.name, version)
    full = ".".join(made_by.name)
    if rule is None:
        return
    if not set(rule.roles) & set("cnk"):
        yield f"calls {full}"
    for used, role in ((record.states, "s"), (record.appended, "a"), (record.items, "i")):
        if used and role not in rule.roles:
            yield f"changes {full} in role {role}"
    if len(record.states) > 1:
        yield f"gives {full} {len(record.states)} states"
    for state in record.states:
        parts = [state] if isinstance(state, dict) else state if isinstance(state, tuple) and len(state) == 2 else ()
        for attributes in parts:
            for name in attributes if isinstance(attributes, dict) else ():
                if not allow_list.is_plain_attribute(name) and name not in rule.states.split():
                    yield f"sets {name!r} of {full}"
