"""Pickles to compare on: dumped random values, mutations of given pickles, and sequences of opcodes."""

import collections
import datetime
import decimal
import fractions
import pickle
import struct


class Slotted:
    __slots__ = ("a", "b")

    def __reduce__(self):  # protocols 0 and 1 can't pickle slots by themselves
        return Slotted, (), (None, {"a": self.a, "b": self.b})


class Stateful:
    pass


def random_value(rng, depth=0):
    """A value that pickles; shared and nested, with classes of the standard library among its parts."""
    leaf = depth > 3 or rng.random() < 0.35
    if leaf:
        return random_scalar(rng)
    count = rng.choice((0, 1, 2, 3, 9, 12))
    part = lambda: random_value(rng, depth + 1)
    kind = rng.randrange(12)
    if kind < 3:
        shared = part()
        return [rng.choice((shared, part())) for _ in range(count)]
    if kind < 5:
        return tuple(part() for _ in range(count))
    if kind < 8:
        return {random_key(rng): part() for _ in range(count)}
    if kind == 8:
        return {random_key(rng) for _ in range(count)}
    if kind == 9:
        return frozenset(random_key(rng) for _ in range(count))
    if kind == 10:
        return collections.OrderedDict((random_key(rng), part()) for _ in range(count))
    value = rng.choice((Slotted, Stateful))()
    value.a, value.b = part(), value
    return value


def random_scalar(rng):
    return rng.choice((
        lambda: None,
        lambda: rng.random() < 0.5,
        lambda: rng.randrange(-3, 300),
        lambda: rng.randrange(-2**70, 2**70),
        lambda: -(2 ** rng.randrange(1, 2500)),
        lambda: rng.choice((0.0, -0.0, 1.0, 1e300, float("inf"), 2.0**80)),
        lambda: rng.uniform(-10, 10),
        lambda: "".join(rng.choice("ab\\\n'\u00e9\u20ac\U0001f600\ud800") for _ in range(rng.randrange(12))),
        lambda: "x" * rng.choice((255, 256, 300)),
        lambda: bytes(rng.randrange(256) for _ in range(rng.choice((0, 3, 300)))),
        lambda: bytearray(b"abc"),
        lambda: complex(1, 2),
        lambda: fractions.Fraction(3, 7),
        lambda: decimal.Decimal("1.5"),
        lambda: datetime.timedelta(3),
        lambda: collections.Counter,
    ))()


def random_key(rng, depth=0):
    kind = rng.randrange(9 if depth < 2 else 6)
    if kind < 6:
        return rng.choice((
            None, True, False, 0, 1, 1.0, 0.0, -0.0, 2**70, float(2**70), 2**64 + 1, "a", b"a", "", "1", rng.randrange(20),
            rng.random(), str(rng.randrange(30)),
        ))
    parts = [random_key(rng, depth + 1) for _ in range(rng.randrange(4))]
    return tuple(parts) if kind < 8 else frozenset(parts)


def dumped(rng):
    return pickle.dumps(random_value(rng), protocol=rng.randrange(6))


def mutated(rng, seed):
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = rng.choice(OPCODES)
        elif kind == 2:
            data[at:at] = bytes([rng.choice(OPCODES)])
        elif kind == 3:
            del data[at:at + rng.choice((1, 1, 2, 5, 20))]
        elif kind == 4:
            other = rng.randrange(len(data) + 1)
            data[at:at] = data[other:other + rng.randrange(1, 20)]
        elif kind == 5:
            data[at:at] = snippet(rng)
        elif rng.random() < 0.3:
            del data[at:]
        if not data:
            data = bytearray(b".")
    return bytes(data)


OPCODES = b"(.012FIJKLMNPQRSTUVXabcd}eghijl]opqrst)uG\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8bBC" \
    b"\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96\x97\x98"

TEXT_INTEGERS = (b"1", b"00", b"01", b"-0", b"+1", b" 1", b"0x1f", b"010", b"09", b"0b11", b"1_000", b"1__0", b"_1", b"12L",
                 b"L", b"99999999999999999999", b"-9223372036854775808", b"9223372036854775808", b"0x" + b"f" * 40, b"1 ",
                 b"1\t", b"\x001", b"1\x002", b"", b"0o17", b"0_7", b"00_0", b"- 1", b"0x", b"0x_1", b"-0xff", b"0777777777777777777777777")
TEXT_FLOATS = (b"1.5", b"-inf", b"NaN", b"1e400", b"1e-400", b"1_0.0", b" 1.0", b"1.0 ", b".5", b"5.", b".", b"1e", b"1e+5",
               b"0x1p3", b"infinity", b"+infi", b"nan(1)", b"1\x00z", b"", b"-", b"1" * 400, b"4.9e-324", b"2.2250738585072011e-308")
TEXT_STRINGS = (b"'a'", b'"b"', b"'", b"''", b"a", b"'\\n\\x41\\101\\777'", b"'\\x4'", b"'\\'", b"'\\q'", b"'\xe9'", b"'\\xe9'",
                b"'a\"", b"'it\\'s'", b"")
TEXT_UNICODE = (b"a", b"", b"\xe9", b"\\u00e9", b"\\ud83d\\ude00", b"\\U0001f600", b"\\U00110000", b"\\u12", b"\\x41", b"\\",
                b"\\\\u0041", b"a\\u0041b", b"\\U0000004", b"\\uzzzz")
NAMES = (b"os", b"a.b", b"\xc3\xa9", b"\xff", b"", b"\xed\xa0\x80")


def counted(rng, width, payload):
    size = len(payload) if rng.random() < 0.93 else rng.choice((0, 1, 2**8 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1))
    return (size & (256**width - 1)).to_bytes(width, "little") + payload


def text_of(rng):
    return rng.choice(("", "a", "key", "\u00e9", "\ud800", "\U0001f600", "abcdefgh", "longer than eight")).encode(
        "utf-8", "surrogatepass") if rng.random() < 0.95 else rng.choice((b"\xff", b"\xed\xa0", b"\xf8\x88\x80\x80\x80", b"\xc0\x80"))


def snippet(rng):
    """One opcode with an argument that is mostly right."""
    op = rng.choice(OPCODES) if rng.random() < 0.5 else rng.choice(b"(NK]})tael\x85\x86usbR\x81\x8fq0h\x94\x91\x902")
    char = bytes([op])
    if op in b"I":
        return char + rng.choice(TEXT_INTEGERS) + b"\n"
    if op in b"L":
        return char + rng.choice(TEXT_INTEGERS) + rng.choice((b"L", b"")) + b"\n"
    if op in b"F":
        return char + rng.choice(TEXT_FLOATS) + b"\n"
    if op in b"S":
        return char + rng.choice(TEXT_STRINGS) + b"\n"
    if op in b"V":
        return char + rng.choice(TEXT_UNICODE) + b"\n"
    if op in b"gp":
        return char + str(rng.choice((0, 1, 2, 3, 5, -1, 40, 3000))).encode() + rng.choice((b"\n", b"\n", b" \n", b"x\n"))
    if op in b"ci":
        return char + rng.choice(NAMES) + b"\n" + rng.choice(NAMES) + b"\n"
    if op in b"P":
        return char + rng.choice(NAMES) + b"\n"
    if op in b"J":
        return char + struct.pack("<i", rng.choice((0, -1, 2**31 - 1, -2**31)))
    if op in b"Kqh\x80\x82":
        return char + bytes([rng.choice((0, 1, 2, 3, 4, 5, 255))])
    if op in b"M\x83":
        return char + struct.pack("<H", rng.choice((0, 1, 65535)))
    if op in b"jr\x84":
        return char + struct.pack("<I", rng.choice((0, 1, 2, 3, 4, 2000)))
    if op in b"G":
        return char + struct.pack(">d", rng.choice((0.0, -0.0, 1.0, 2.0**63, 2.0**64, -2.0**63, 1e308, 0.5)))
    if op in b"UC":
        return char + counted(rng, 1, rng.choice((b"", b"a", b"\xff", b"abc")))
    if op in b"TB":
        return char + counted(rng, 4, rng.choice((b"", b"a", b"\xff", b"abc")))
    if op in b"\x8e\x96":
        return char + counted(rng, 8, rng.choice((b"", b"a", b"\xff", b"abc")))
    if op in b"\x8c":
        return char + counted(rng, 1, text_of(rng))
    if op in b"X":
        return char + counted(rng, 4, text_of(rng))
    if op in b"\x8d":
        return char + counted(rng, 8, text_of(rng))
    if op in b"\x8a\x8b":
        payload = rng.choice((b"", b"\0", b"\xff", b"\x80\0", b"\xff" * 9, b"\0" * 8 + b"\x80", b"\1" * 9, b"\0" * 8 + b"\1\0\0"))
        return char + counted(rng, 1 if op == 0x8a else 4, payload)
    if op in b"\x95":
        return char + struct.pack("<Q", rng.choice((0, 1, 2, 3, 8, 20, 2**40, 2**63, 2**64 - 1)))
    return char


def opcodes(rng):
    """A random walk that keeps the stack mostly deep enough."""
    data = bytearray()
    if rng.random() < 0.7:
        data += b"\x80" + bytes([rng.choice((2, 3, 4, 5))])
    for _ in range(rng.choice((3, 8, 20, 60))):
        data += rng.choice((
            lambda: snippet(rng),
            lambda: rng.choice((b"N", b"K\1", b"]", b"}", b"\x8f", b")", b"\x88", b"G\x3f\xf0\0\0\0\0\0\0", b"U\1a", b"\x8c\1a", b"\x8a\1\1")),
            lambda: b"(" + b"".join(snippet(rng) for _ in range(rng.randrange(5))) + rng.choice((b"t", b"l", b"d", b"e", b"u", b"\x90", b"\x91", b"1", b"o")),
            lambda: b"cm\nC\n" + rng.choice((b")R", b")\x81", b"N\x85R", b"})\x92", b")}\x92", b"N", b"]K\1ab", b"}b")),
            lambda: b"](NK\1e" + rng.choice((b"", b"K\0Ns", b"b", b"0")),
            lambda: b"}(U\1aN" + rng.choice((b"K\1", b"U\1b", b"G\x3f\xf0\0\0\0\0\0\0", b"")) + b"Nu",
        ))()
    return bytes(data + b".")
