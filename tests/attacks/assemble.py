"""Pieces of pickles: opcodes with their arguments, as bytes to be joined."""

import struct

MARK, STOP, POP, POP_MARK, DUP = b"(", b".", b"0", b"1", b"2"
NONE, TRUE, FALSE = b"N", b"\x88", b"\x89"
REDUCE, BUILD, OBJ, NEWOBJ, NEWOBJ_EX = b"R", b"b", b"o", b"\x81", b"\x92"
EMPTY_TUPLE, EMPTY_LIST, EMPTY_DICT, EMPTY_SET = b")", b"]", b"}", b"\x8f"
TUPLE, TUPLE1, TUPLE2, TUPLE3, LIST, DICT, FROZENSET = b"t", b"\x85", b"\x86", b"\x87", b"l", b"d", b"\x91"
APPEND, APPENDS, ADDITEMS, SETITEM, SETITEMS = b"a", b"e", b"\x90", b"s", b"u"
STACK_GLOBAL, MEMOIZE, BINPERSID = b"\x93", b"\x94", b"Q"


def proto(version=4):
    return b"\x80" + bytes([version])


def whole(body, version=4):
    return proto(version) + body + STOP


def text(value):
    data = value.encode("utf-8", "surrogatepass")
    return b"\x8c" + bytes([len(data)]) + data if len(data) < 256 else b"X" + struct.pack("<I", len(data)) + data


def data(value):
    return b"C" + bytes([len(value)]) + value if len(value) < 256 else b"B" + struct.pack("<I", len(value)) + value


def number(value):
    return b"K" + bytes([value]) if 0 <= value < 256 else b"J" + struct.pack("<i", value)


def name(module, attribute):
    return text(module) + text(attribute) + STACK_GLOBAL


def name_line(module, attribute):
    return b"c" + module.encode() + b"\n" + attribute.encode() + b"\n"


def tuple_of(*values):
    return MARK + b"".join(values) + TUPLE


def list_of(*values):
    return EMPTY_LIST + MARK + b"".join(values) + APPENDS


def dict_of(**values):
    return EMPTY_DICT + MARK + b"".join(text(key) + value for key, value in values.items()) + SETITEMS


def call(callable_, *args):
    return callable_ + tuple_of(*args) + REDUCE


def make(class_, *args):
    return class_ + tuple_of(*args) + NEWOBJ


def put(index):
    return b"q" + bytes([index])


def get(index):
    return b"h" + bytes([index])


def frame(body):
    return b"\x95" + struct.pack("<Q", len(body)) + body


MAGIC = bytes.fromhex("80028a0a6cfc9c46f9206aa850192e")


def legacy_stream(third=b"\x80\x02}.", storage=None, keys=b"\x80\x02]q\x00X\x01\x00\x00\x001a.", rest=None):
    """What torch.save wrote before its zip form, of one storage of floats."""
    if storage is None:
        storage = (b"\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x001X\x03\x00\x00\x00cpuK\x02NtQ.")
    if rest is None:
        rest = struct.pack("<q", 2) + bytes(8)
    return MAGIC + b"\x80\x02M\xe9\x03." + third + storage + keys + rest
