"""The register of cases that special_*.py fill."""

import dataclasses
import typing


@dataclasses.dataclass
class Case:
    name: str
    corpus: str
    damage: typing.Callable
    expected: set
    options: typing.Any
    target: str


CASES = []

# Ids that can't come alone in a copy of a real cache, with the reason. Unit tests trigger them.
NOT_ALONE = {}


def case(corpus, *expected, options=(), target="cache"):
    """Registers a function that damages a copy of `corpus` so that exactly `expected` is found below `target`, which starts at the
    corpus's folder. `options` are verify's, or a function that makes them from that folder. The function gets the path of the target."""

    def register(function):
        CASES.append(Case(function.__name__, corpus, function, set(expected), options, target))
        return function

    return register
