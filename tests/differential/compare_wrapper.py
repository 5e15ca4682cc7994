#!/usr/bin/env python3
"""Compares the parser of wrapper modules with CPython's: the same tree with the same lines, or an error on both sides.

    compare_wrapper.py WRAPPER_DUMP [--cases N] [--seed S] PATH...

PATHs are modules, directories, or .tar.zst archives of caches: every .py file in them that Inductor wrote as a wrapper
must parse. N mutations of them follow: what CPython refuses must be refused, what both accept must be equal; what only
the wrapper language leaves out (code `data.unsupported`) is counted.
"""

import argparse
import ast
import collections
import io
import os
import pathlib
import random
import struct
import subprocess
import sys
import tarfile
import warnings


class Outside(Exception):
    """Python that the wrapper language doesn't have."""


def name_of(operator):
    return type(operator).__name__


def items(nodes):
    return "[" + "".join(expression(node) + " " for node in nodes) + "]"


def optional(node):
    return "-" if node is None else expression(node)


def constant(value):
    if value is None or value is True or value is False:
        return str(value)
    if value is ...:
        return "..."
    if isinstance(value, int):
        if abs(value) >= 2 ** 63:
            raise Outside("a large integer")
        return f"i{value}"
    if isinstance(value, float):
        return "f" + repr(value)
    if isinstance(value, str):
        return "s" + value.encode("utf-8", "surrogatepass").hex()
    if isinstance(value, bytes):
        return "b" + value.hex()
    raise Outside(type(value).__name__)


def expression(node):
    match node:
        case ast.Name():
            return f"(name {node.id})"
        case ast.Constant():
            return constant(node.value)
        case ast.Tuple():
            return "(tuple " + items(node.elts) + ")"
        case ast.List():
            return "(list " + items(node.elts) + ")"
        case ast.Dict():
            if None in node.keys:
                raise Outside("**")
            return "(dict " + "".join(f"{expression(k)}:{expression(v)} " for k, v in zip(node.keys, node.values)) + ")"
        case ast.Attribute():
            return f"(attr {expression(node.value)} {node.attr})"
        case ast.Subscript():
            return f"(item {expression(node.value)} {expression(node.slice)})"
        case ast.Slice():
            return f"(slice {optional(node.lower)} {optional(node.upper)} {optional(node.step)})"
        case ast.Call():
            if any(keyword.arg is None for keyword in node.keywords):
                raise Outside("**")
            keywords = "".join(f"{k.arg}={expression(k.value)} " for k in node.keywords)
            return f"(call {expression(node.func)} {items(node.args)} {keywords})"
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=9223372036854775808)):
            return "i-9223372036854775808"  # one literal in the wrapper language
        case ast.UnaryOp():
            return f"({name_of(node.op)} {expression(node.operand)})"
        case ast.BinOp():
            if isinstance(node.op, ast.MatMult):
                raise Outside("@")
            return f"({name_of(node.op)} {expression(node.left)} {expression(node.right)})"
        case ast.Compare():
            ops = "".join(" " + name_of(op) for op in node.ops)
            return f"(compare {items([node.left, *node.comparators])}{ops})"
        case ast.BoolOp():
            return f"({name_of(node.op)} {items(node.values)})"
        case ast.IfExp():
            return f"(if {expression(node.test)} {expression(node.body)} {expression(node.orelse)})"
        case ast.Lambda():
            return "(lambda " + "".join(p + " " for p, _ in parameters(node.args)) + expression(node.body) + ")"
    raise Outside(type(node).__name__)


def parameters(args):
    if args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg or any(a.annotation for a in args.args):
        raise Outside("parameters")
    fallbacks = [None] * (len(args.args) - len(args.defaults)) + args.defaults
    return [(argument.arg, fallback) for argument, fallback in zip(args.args, fallbacks)]


def block(statements):
    return "[" + "".join(text + " " for node in statements for text in statement(node)) + "]"


def statement(node):
    return [f"({node.lineno}: {text})" for text in statement_texts(node)]


def statement_texts(node):
    match node:
        case ast.Import():
            return [f"import {a.name}  {a.asname or a.name.split('.')[0]}" for a in node.names]
        case ast.ImportFrom():
            if node.level or node.names[0].name == "*":
                raise Outside("import")
            return [f"import {node.module} {a.name} {a.asname or a.name}" for a in node.names]
        case ast.Assign():
            return [f"assign {items(node.targets)} {expression(node.value)}"]
        case ast.AugAssign():
            if isinstance(node.op, ast.MatMult):
                raise Outside("@=")
            return [f"aug {expression(node.target)} {name_of(node.op)} {expression(node.value)}"]
        case ast.Expr():
            return ["expr " + expression(node.value)]
        case ast.Delete():
            return ["del " + items(node.targets)]
        case ast.Return():
            return ["return " + optional(node.value)]
        case ast.Raise():
            if node.cause:
                raise Outside("raise from")
            return ["raise " + optional(node.exc)]
        case ast.Assert():
            return [f"assert {expression(node.test)} {optional(node.msg)}"]
        case ast.Global():
            return ["global " + " ".join(node.names)]
        case ast.Pass() | ast.Break() | ast.Continue():
            return [type(node).__name__.lower()]
        case ast.If():
            return [f"if {expression(node.test)} {block(node.body)} {block(node.orelse)}"]
        case ast.While() if not node.orelse:
            return [f"while {expression(node.test)} {block(node.body)}"]
        case ast.For() if not node.orelse:
            return [f"for {expression(node.target)} {expression(node.iter)} {block(node.body)}"]
        case ast.With():
            parts = "".join(f"{expression(i.context_expr)} {optional(i.optional_vars)} " for i in node.items)
            return [f"with {parts}{block(node.body)}"]
        case ast.FunctionDef() if not node.decorator_list and not node.returns:
            names = "".join(f"{name}={optional(fallback)} " for name, fallback in parameters(node.args))
            return [f"def {node.name} {names}{block(node.body)}"]
        case ast.ClassDef() if not node.decorator_list and not node.keywords:
            return [f"class {node.name} {items(node.bases)} {block(node.body)}"]
    raise Outside(type(node).__name__)


class Parser:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def parse(self, source):
        self.process.stdin.write(struct.pack("<I", len(source)) + source)
        self.process.stdin.flush()
        size = self.process.stdout.read(4)
        if len(size) < 4:
            raise SystemExit(f"wrapper_dump died ({self.process.wait()}) on {source!r}")
        return self.process.stdout.read(struct.unpack("<I", size)[0]).decode()


def reference(source):
    """(kind, text): the tree, outside, or error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        return "tree", block(tree.body)
    except Outside as outside:
        return "outside", str(outside)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return "error", str(error)


def mutate(rng, source, pool):
    """A few lines or tokens changed, dropped, doubled or taken from another module."""
    lines = source.split(b"\n")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        choice = rng.random()
        if choice < 0.2:
            del lines[at]
        elif choice < 0.4:
            lines.insert(at, rng.choice(rng.choice(pool).split(b"\n")))
        elif choice < 0.6:
            lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
        else:
            words = lines[at].split(b" ")
            extra = rng.choice((b"(", b")", b"[", b",", b":", b"=", b"+", b"**", b"-", b"not", b"in", b"if", b"else", b"lambda",
                                b"is", b"1", b"0x1f", b"1e5", b"1_0", b"'a'", b"b'x'", b"r'''", b".", b"...", b"del", b"for",
                                b"and", b"or", b"@", b"~", b"==", b"<", b"\\", b"#", b";", b"\t", b"yield", b"*", b"f''"))
            words.insert(rng.randrange(len(words) + 1), extra)
            lines[at] = b" ".join(words)
        if not lines:
            lines = [b""]
    return b"\n".join(lines)


def read_archive(path, seen):
    content = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".py"):
                seen.setdefault(archive.extractfile(member).read(), f"{path.name}:{member.name}")


def modules(paths):
    """Texts of wrapper modules below the paths, each once."""
    seen = {}
    for path in map(pathlib.Path, paths):
        if path.suffix == ".zst":
            read_archive(path, seen)
        else:
            for archive in sorted(path.rglob("*.tar.zst")):
                read_archive(archive, seen)
            for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
                if file.is_file():
                    seen.setdefault(file.read_bytes(), str(file))
    return {text: name for text, name in seen.items() if b"AsyncCompile()" in text}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--cases", type=int, default=3000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("paths", nargs="+")
    options = options.parse_args()
    parser = Parser(options.program)
    paths = options.paths
    if corpora := os.environ.get("CACHETOOL_CORPORA_DIR"):
        paths = [*paths, corpora]
    else:
        print("not run: wrapper modules of the sample caches: CACHETOOL_CORPORA_DIR is not set")
    texts = modules(paths)
    failures = 0
    for text, name in texts.items():
        kind, wanted = reference(text)
        if kind != "tree" or parser.parse(text) != wanted:
            failures += 1
            print(f"{name}: {kind} {wanted[:200]}\n  ours: {parser.parse(text)[:300]}")
    print(f"{len(texts)} modules, {failures} differ")
    if not texts:
        raise SystemExit("no wrapper module found")
    rng = random.Random(options.seed)
    pool = list(texts)
    small = [text for text in pool if len(text) < 20000] or pool
    counts = collections.Counter()
    for _ in range(options.cases):
        text = mutate(rng, rng.choice(small), small)
        kind, wanted = reference(text)
        ours = parser.parse(text)
        refused = ours.startswith("E ")
        counts[kind, "refused" if refused else "accepted"] += 1
        unsupported = ours.startswith("E data.unsupported")
        wrong = ours != wanted and not unsupported if kind == "tree" else not refused
        if wrong:
            failures += 1
            if failures < 20:
                at = next((i for i, (a, b) in enumerate(zip(ours, wanted)) if a != b), 0)
                print(f"mutation: {kind}\n  cpython: {wanted[max(at - 80, 0):at + 80]}\n  ours:    {ours[max(at - 80, 0):at + 80]}")
    for (kind, answer), count in sorted(counts.items()):
        print(f"mutations: {kind} {answer}: {count}")
    return 1 if failures else 0


sys.exit(main())
