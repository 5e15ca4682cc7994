"""What CPython's C unpickler makes of a pickle, with every class replaced by a recorder, as a line of tokens.

The tokens are those of pickle_dump.cpp. Nothing is imported or called: globals, results of calls and persistent objects
are all types with the metaclass Recorder, so that the unpickler accepts them wherever a real class or object could stand.
"""

import io
import pickle
import struct


class Recorder(type):
    """Records what the unpickler does to a global, to the result of a call or to a persistent object."""

    def __call__(cls, /, *args, **kwargs):
        return record_call(cls, args, kwargs)

    def extend(cls, items):
        cls.record.appended.extend(items)

    def add(cls, item):
        cls.record.appended.append(item)

    def __setitem__(cls, key, value):
        cls.record.items[key] = value

    def __setstate__(cls, state):
        cls.record.states.append(state)


class Base(metaclass=Recorder):
    def __new__(cls, /, *args, **kwargs):
        return record_call(cls, args, kwargs)


class Record:
    __slots__ = ("kind", "name", "callable", "args", "kwargs", "states", "appended", "items")

    def __init__(self, kind, name=None, callable=None, args=(), kwargs=None):
        self.kind, self.name, self.callable, self.args, self.kwargs = kind, name, callable, args, kwargs or {}
        self.states, self.appended, self.items = [], [], {}


calls = []


def make(record):
    return Recorder.__new__(Recorder, "recorded", (Base,), {"record": record})


def record_call(cls, args, kwargs):
    calls.append(None)
    return make(Record("O", callable=cls, args=args, kwargs=kwargs))


class File(io.BytesIO):
    """Offers all of its data to peek(), so that the unpickler works on one buffer, as pickle.loads does."""

    def peek(self, _size):
        return self.getbuffer()[self.tell():].tobytes()


class Unpickler(pickle.Unpickler):
    def __init__(self, file):
        super().__init__(file)
        self.globals = {}

    def find_class(self, module, name):
        key = (module, name)
        if key not in self.globals:
            self.globals[key] = make(Record("g", name=key))
        return self.globals[key]

    def persistent_load(self, pid):
        return make(Record("P", args=(pid,)))


def text_token(letter, text):
    return letter + text.encode("utf-8", "surrogatepass").hex()


def scalar(value):
    kind = type(value)
    if value is None:
        return "N"
    if kind is bool:
        return "T" if value else "F"
    if kind is int:
        if -(1 << 63) <= value < 1 << 63:
            return f"i{value}"
        size = (value if value >= 0 else ~value).bit_length() // 8 + 1
        return "I" + value.to_bytes(size, "little", signed=True).hex()
    if kind is float:
        return "fnan" if value != value else "f" + struct.pack(">d", value).hex()
    if kind is str:
        return text_token("s", value)
    if kind is bytes:
        return "b" + value.hex()
    if kind is bytearray:
        return "a" + value.hex()
    if kind is memoryview:
        return "m" + value.tobytes().hex()
    if kind is Recorder and value.record.kind == "g":
        module, name = value.record.name
        return text_token("g", module) + "." + text_token("", name)
    return None


def member(value, depth):
    if depth > 20:
        return "..."
    if type(value) in (tuple, frozenset):
        parts = [member(item, depth + 1) for item in value]
        if type(value) is frozenset:
            parts.sort()
        return f"{'t' if type(value) is tuple else 'z'}({','.join(parts)})"
    token = scalar(value)
    return token if token is not None else value.record.kind


MAX_TOKENS = 400_000


def tokens_of(root):
    numbers, tokens, open_values = {}, [], [root]
    while open_values and len(tokens) < MAX_TOKENS:
        value = open_values.pop()
        kind = type(value)
        token = scalar(value)
        if token is not None:
            tokens.append(token)
            continue
        if kind in (set, frozenset):
            parts = sorted(member(item, 0) for item in value)
            tokens.append(f"{'S' if kind is set else 'z'}{len(parts)}({','.join(parts)})")
            continue
        if id(value) in numbers:
            tokens.append(f"R{numbers[id(value)]}")
            continue
        numbers[id(value)] = len(numbers)
        if kind is list or kind is tuple:
            tokens.append(f"{'L' if kind is list else 't'}{len(value)}")
            children = list(value)
        elif kind is dict:
            tokens.append(f"d{len(value)}")
            children = [part for pair in value.items() for part in pair]
        elif kind is Recorder and value.record.kind == "P":
            tokens.append("P")
            children = list(value.record.args)
        elif kind is Recorder:
            record = value.record
            tokens.append(f"O{len(record.states)},{len(record.appended)},{len(record.items)}")
            tokens.append(f"k{len(record.kwargs)}")
            tokens.append(f"n{len(record.args)}")
            children = [record.callable, *record.args]
            children += [part for pair in record.kwargs.items() for part in pair]
            children += [*record.states, *record.appended]
            children += [part for pair in record.items.items() for part in pair]
        else:
            raise AssertionError(f"unexpected {kind}")
        open_values.extend(reversed(children))
    return " ".join(tokens)


def decode(data):
    """("V", text) or ("E", exception)."""
    calls.clear()
    file = File(data)
    unpickler = Unpickler(file)
    try:
        value = unpickler.load()
    except Exception as error:  # the unpickler may raise anything
        return "E", error
    text = f"{len(calls)} {tokens_of(value)}"
    mutated = []
    for cls in unpickler.globals.values():
        if cls.record.states or cls.record.appended:
            mutated.append(f"|{scalar(cls)} {len(cls.record.states)} {len(cls.record.appended)}")
    return "V", " ".join([text, *sorted(mutated)])
