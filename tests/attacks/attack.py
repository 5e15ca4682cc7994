"""What a generator yields."""

import dataclasses

DANGEROUS = frozenset({"dangerous"})
MALFORMED = frozenset({"malformed"})
UNKNOWN = frozenset({"unknown"})
# Enough that it isn't data: which of them is a matter of what else is known.
NOT_DATA = frozenset({"dangerous", "unknown", "malformed"})
FOUND = frozenset({"dangerous", "unknown"})


@dataclasses.dataclass(frozen=True)
class Attack:
    name: str
    data: bytes
    expected: frozenset = NOT_DATA  # verdicts that are right
    subject: str | None = None      # of one of the findings
