"""What a pickle would import, call and set, without doing any of it: a symbolic unpickler for scripts.

Only the standard library, and never `pickle.load`. Follows CPython's unpickler; values are plain Python values except for
`Global`, `Call`, `Persistent`, `Dict` (a list of pairs, for keys may be anything) and `Set`.
"""

import io
import struct


class Malformed(Exception):
    pass


class Global:
    __slots__ = ("module", "name")

    def __init__(self, module, name):
        self.module, self.name = module, name


class Call:
    """The result of REDUCE, NEWOBJ, NEWOBJ_EX, OBJ or INST (`how`), with what was done to it afterwards."""
    __slots__ = ("how", "callable", "args", "kwargs", "states", "appended", "items")

    def __init__(self, how, callable_, args, kwargs=None):
        self.how, self.callable, self.args, self.kwargs = how, callable_, args, kwargs
        self.states, self.appended, self.items = [], [], Dict()


class Persistent:
    __slots__ = ("id",)

    def __init__(self, id_):
        self.id = id_


class Dict(list):
    """Pairs of key and value in order."""

    def get(self, key):
        return next((value for name, value in self if type(name) is type(key) and name == key), None)


class Set(list):
    pass


class Mutation:
    """BUILD, APPENDS, … on something that the pickle didn't make."""
    __slots__ = ("target",)

    def __init__(self, target):
        self.target = target


class Result:
    def __init__(self):
        self.root, self.end, self.globals, self.calls, self.mutations = None, 0, {}, [], []


_MARK = object()


def run(data, start=0):
    """The Result of the pickle at data[start:]. Raises Malformed, or whatever reading beyond the end raises."""
    return _Machine(data, start).run()


class _Machine:
    def __init__(self, data, start):
        self.file = io.BytesIO(data)
        self.file.seek(start)
        self.stack, self.memo, self.result = [], {}, Result()

    def take(self, count):
        data = self.file.read(count)
        if len(data) < count:
            raise Malformed("truncated")
        return data

    def line(self):
        data = self.file.readline()
        if not data.endswith(b"\n"):
            raise Malformed("truncated")
        return data[:-1]

    def number(self, width):
        return int.from_bytes(self.take(width), "little")

    def pop_mark(self):
        stack = self.stack
        at = len(stack) - 1
        while at >= 0 and stack[at] is not _MARK:
            at -= 1
        if at < 0:
            raise Malformed("no mark")
        items = stack[at + 1:]
        del stack[at:]
        return items

    def global_(self, module, name):
        if not isinstance(module, str) or not isinstance(name, str):
            raise Malformed("a name that is no text")
        return self.result.globals.setdefault((module, name), Global(module, name))

    def call(self, how, callable_, args, kwargs=None):
        if not isinstance(args, tuple):
            raise Malformed("arguments that are no tuple")
        call = Call(how, callable_, args, kwargs)
        self.result.calls.append(call)
        return call

    def add(self, target, items):
        if isinstance(target, (Set, list)) and not isinstance(target, Dict):
            target.extend(items)
        elif isinstance(target, Call):
            target.appended.extend(items)
        elif items:
            self.result.mutations.append(Mutation(target))

    def set_items(self, target, items):
        pairs = list(zip(items[::2], items[1::2]))
        if isinstance(target, Dict):
            target.extend(pairs)
        elif isinstance(target, Call):
            target.items.extend(pairs)
        elif items:
            self.result.mutations.append(Mutation(target))

    def run(self):
        stack, memo = self.stack, self.memo
        push, pop, file = stack.append, stack.pop, self.file
        try:
            while True:
                op = file.read(1)
                if op == b".":
                    self.result.root = pop()
                    self.result.end = file.tell()
                    return self.result
                self.step(op, stack, memo, push, pop)
        except (IndexError, KeyError, ValueError, struct.error, TypeError) as error:
            raise Malformed(f"{type(error).__name__}: {error}") from error

    def step(self, op, stack, memo, push, pop):  # noqa: C901: one branch per opcode
        if op == b"\x94":
            memo[len(memo)] = stack[-1]
        elif op == b"h":
            push(memo[self.take(1)[0]])
        elif op == b"\x8c":
            push(self.take(self.take(1)[0]).decode("utf-8", "surrogatepass"))
        elif op == b"K":
            push(self.take(1)[0])
        elif op == b"(":
            push(_MARK)
        elif op == b"j":
            push(memo[self.number(4)])
        elif op == b"N":
            push(None)
        elif op == b"\x88":
            push(True)
        elif op == b"\x89":
            push(False)
        elif op == b"M":
            push(self.number(2))
        elif op == b"J":
            push(struct.unpack("<i", self.take(4))[0])
        elif op == b"G":
            push(struct.unpack(">d", self.take(8))[0])
        elif op in (b"\x8a", b"\x8b"):
            push(int.from_bytes(self.take(self.number(1 if op == b"\x8a" else 4)), "little", signed=True))
        elif op == b"X":
            push(self.take(self.number(4)).decode("utf-8", "surrogatepass"))
        elif op == b"\x8d":
            push(self.take(self.number(8)).decode("utf-8", "surrogatepass"))
        elif op == b"C":
            push(self.take(self.number(1)))
        elif op == b"B":
            push(self.take(self.number(4)))
        elif op == b"\x8e":
            push(self.take(self.number(8)))
        elif op == b"\x96":
            push(bytearray(self.take(self.number(8))))
        elif op in (b"U", b"T"):
            push(self.take(self.number(1 if op == b"U" else 4)).decode("ascii"))
        elif op in (b"q", b"r"):
            memo[self.number(1 if op == b"q" else 4)] = stack[-1]
        elif op == b"p":
            memo[int(self.line())] = stack[-1]
        elif op == b"g":
            push(memo[int(self.line())])
        elif op == b"]":
            push([])
        elif op == b"}":
            push(Dict())
        elif op == b")":
            push(())
        elif op == b"\x8f":
            push(Set())
        elif op == b"l":
            push(self.pop_mark())
        elif op == b"t":
            push(tuple(self.pop_mark()))
        elif op == b"d":
            items = self.pop_mark()
            push(Dict(zip(items[::2], items[1::2])))
        elif op == b"\x91":
            push(frozenset_of(self.pop_mark()))
        elif op in (b"\x85", b"\x86", b"\x87"):
            count = op[0] - 0x84
            items = tuple(stack[-count:])
            if len(items) < count or _MARK in items:
                raise Malformed("too few values")
            del stack[-count:]
            push(items)
        elif op == b"a":
            item = pop()
            self.add(stack[-1], [item])
        elif op == b"e" or op == b"\x90":
            items = self.pop_mark()
            self.add(stack[-1], items)
        elif op == b"s":
            value, key = pop(), pop()
            self.set_items(stack[-1], [key, value])
        elif op == b"u":
            items = self.pop_mark()
            self.set_items(stack[-1], items)
        elif op == b"\x93":
            name, module = pop(), pop()
            push(self.global_(module, name))
        elif op == b"c":
            push(self.global_(self.line().decode(), self.line().decode()))
        elif op == b"R":
            args, callable_ = pop(), pop()
            push(self.call("REDUCE", callable_, args))
        elif op == b"\x81":
            args, callable_ = pop(), pop()
            push(self.call("NEWOBJ", callable_, args))
        elif op == b"\x92":
            kwargs, args, callable_ = pop(), pop(), pop()
            push(self.call("NEWOBJ_EX", callable_, args, kwargs))
        elif op == b"i":
            names = self.line().decode(), self.line().decode()
            args = tuple(self.pop_mark())
            push(self.call("INST", self.global_(*names), args))
        elif op == b"o":
            items = self.pop_mark()
            push(self.call("OBJ", items[0], tuple(items[1:])))
        elif op == b"b":
            state = pop()
            if isinstance(stack[-1], Call):
                stack[-1].states.append(state)
            else:
                self.result.mutations.append(Mutation(stack[-1]))
        elif op == b"Q":
            push(Persistent(pop()))
        elif op == b"P":
            push(Persistent(self.line().decode()))
        elif op == b"\x80":
            self.take(1)
        elif op == b"\x95":
            self.take(8)
        elif op == b"0":
            pop()
        elif op == b"1":
            self.pop_mark()
        elif op == b"2":
            push(stack[-1])
        elif op == b"S":
            push(self.line().decode("latin-1").strip()[1:-1])
        elif op == b"V":
            push(self.line().decode("raw-unicode-escape"))
        elif op == b"I":
            text = self.line()
            push({b"00": False, b"01": True}[text] if text in (b"00", b"01") else int(text))
        elif op == b"L":
            push(int(self.line().rstrip(b"L")))
        elif op == b"F":
            push(float(self.line()))
        else:
            raise Malformed(f"opcode {op!r}")


class FrozenSet(Set):
    pass


def frozenset_of(items):
    return FrozenSet(items)


def children_of(value):
    """The values that `value` holds, the callable and arguments of a call among them."""
    if isinstance(value, Dict):
        return [part for pair in value for part in pair]
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Persistent):
        return [value.id]
    if isinstance(value, Call):
        return [value.callable, *value.args, *children_of(value.kwargs or Dict()), *value.states, *value.appended,
                *children_of(value.items)]
    return []
