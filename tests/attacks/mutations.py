"""Real entries with a gadget put in between any two opcodes: none of them may still be called data."""

import pickletools

from assemble import *
from attack import DANGEROUS, NOT_DATA, Attack

GADGET = name("os", "system") + text("id") + TUPLE1 + REDUCE + POP
TEXT_GADGET = b"cposix\nsystem\n(S'id'\ntR0"
STRANGER = name("user_module", "Config") + POP
MODULE_CHANGE = name("torch", "Tensor") + EMPTY_DICT + BUILD + POP
TWICE = name("torch._inductor.output_code", "CompiledFxGraph") + EMPTY_TUPLE + NEWOBJ + EMPTY_DICT + text("__setstate__") + NONE + SETITEM + \
    BUILD + POP
INSERTED = {"call": (GADGET, DANGEROUS), "text": (TEXT_GADGET, DANGEROUS), "stranger": (STRANGER, NOT_DATA),
            "class-changed": (MODULE_CHANGE, DANGEROUS), "hook": (TWICE, DANGEROUS)}


def without_frames(data):
    """The same pickle without FRAME, so that anything can be put into it, and its opcodes' positions."""
    parts, positions = [], []
    ops = list(pickletools.genops(data))
    ends = [position for _, _, position in ops[1:]] + [len(data)]
    size = 0
    for (op, _, start), end in zip(ops, ends):
        if op.name == "FRAME":
            continue
        positions.append((size, op.name))
        parts.append(data[start:end])
        size += end - start
    return b"".join(parts), positions


def replaced_globals(label, data, positions, most):
    """Each name in turn becomes another one."""
    found = [index for index, (_, op) in enumerate(positions) if op in ("STACK_GLOBAL", "GLOBAL")]
    for index in found[::max(1, len(found) // most)]:
        end = positions[index + 1][0]
        for kind, (module, attribute), expected in (("system", ("os", "system"), DANGEROUS), ("stranger", ("user_module", "Config"), NOT_DATA)):
            yield Attack(f"mutation/{label}/global-{kind}/{end}", data[:end] + POP + name(module, attribute) + data[end:], expected)


def mutated(label, data, most):
    """`most` places per kind of insertion; 0 for every one."""
    data, positions = without_frames(data)
    places = [position for position, _ in positions[1:]]  # behind PROTO
    for number, (kind, (inserted, expected)) in enumerate(INSERTED.items()):
        step = max(1, len(places) // most) if most else 1
        for position in places[number % step::step]:
            yield Attack(f"mutation/{label}/{kind}/{position}", data[:position] + inserted + data[position:], expected)
    yield from replaced_globals(label, data, positions, most or len(places))
