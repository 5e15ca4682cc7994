"""Damages that take more than one operation on one file: one case for each way a cache goes wrong."""

import dataclasses
import typing


@dataclasses.dataclass
class Case:
    name: str
    corpus: str
    damage: typing.Callable
    expected: set
    options: tuple = ()


CASES = []

# Ids that can't come alone, with the reason.
NOT_ALONE = {}


def case(corpus, *expected, options=()):
    """Registers a function that damages a copy of `corpus` so that exactly `expected` is found."""

    def register(function):
        CASES.append(Case(function.__name__, corpus, function, set(expected), tuple(options)))
        return function

    return register
