"""Files that a cache or a download may hold: real entries with hostile guards and strides, and containers around pickles."""

import base64
import gzip
import io
import pickletools
import struct
import tarfile
import zipfile
import zlib

import expressions
from assemble import *
from attack import DANGEROUS, NOT_DATA, Attack
from mutations import without_frames
from pickles import HOSTILE


def _operations(data):
    data, _ = without_frames(data)
    ops = list(pickletools.genops(data))
    ends = [position for _, _, position in ops[1:]] + [len(data)]
    return [(op.name, argument, data[start:end]) for (op, argument, start), end in zip(ops, ends)]


def with_value(data, key, value):
    """The entry with pickled `value` behind the first `key` whose value is one opcode; None where there is no such key."""
    operations = _operations(data)
    for index, (_, argument, _) in enumerate(operations[:-3]):
        if argument != key:
            continue
        at = index + (2 if operations[index + 1][0] == "MEMOIZE" else 1)
        if operations[at][0] not in ("NONE", "SHORT_BINUNICODE", "BINUNICODE", "BINGET", "LONG_BINGET"):
            continue
        before = b"".join(code for _, _, code in operations[:at])
        return before + value + b"".join(code for _, _, code in operations[at + 1:])
    return None


def with_strides(data, value):
    """The entry with `value` as its output_strides; what torch wrote there becomes another attribute."""
    operations = _operations(data)
    for index, (_, argument, _) in enumerate(operations):
        if argument == "output_strides":
            at = index + (2 if operations[index + 1][0] == "MEMOIZE" else 1)
            head = b"".join(code for _, _, code in operations[:at])
            return head + value + text("strides_before") + b"".join(code for _, _, code in operations[at:])
    return None


def guards(label, data):
    for key in ("guards_expr", "fx_graph_guard_expr"):
        for index, expression in enumerate(expressions.HOSTILE):
            if not expression:
                continue
            changed = with_value(data, key, text(expression))
            if changed:
                yield Attack(f"{label}/{key}/{index}", changed, DANGEROUS, key)
        for kind, value in {"bytes": b"C\x04quit", "str-subclass": make(name("torch.torch_version", "TorchVersion"), text("exec('1')")),
                            "symbol": make(name("sympy.core.numbers", "One")), "number": number(7), "list": list_of(text("1"))}.items():
            changed = with_value(data, key, value)
            if changed:
                yield Attack(f"{label}/{key}/{kind}", changed, NOT_DATA)
    for index, expression in enumerate(expressions.HOSTILE):
        changed = with_strides(data, list_of(tuple_of(text("1"), text(expression)))) if expression else None
        if changed:
            yield Attack(f"{label}/strides/{index}", changed, DANGEROUS, "output_strides")
    for kind, value in {"bytes": b"C\x06quit()", "str-subclass": make(name("torch.torch_version", "TorchVersion"), text("exec('1')"))}.items():
        changed = with_strides(data, list_of(tuple_of(value)))
        if changed:
            yield Attack(f"{label}/strides/{kind}", changed, DANGEROUS)


def carriers():
    """(label, file): data or not, none of these may be said to carry no code."""
    version = make(name("torch.torch_version", "TorchVersion"), text("1.0"))
    entry = lambda **state: whole(make(name("torch._inductor.output_code", "CompiledFxGraph")) + dict_of(**state) + BUILD)
    for kind, value in {"text": text("import os"), "subclass": version, "bytes": data(b"import os")}.items():
        yield f"source-code/{kind}", entry(source_code=value)
    compile_ = name("torch.fx.graph_module", "reduce_graph_module")
    for module in ("aot_autograd_result", "autograd_cache"):
        class_ = name(f"torch._functorch._aot_autograd.{module}", "SerializedGraphModule")
        for kind, body in {"_code": dict_of(_code=text("def forward(self): pass")), "code": dict_of(code=text("def forward(self): pass")),
                           "imports-only": EMPTY_DICT}.items():
            yield f"graph-module/{module}/{kind}", whole(make(class_) + dict_of(fn=compile_, args=tuple_of(body, text("import os"))) + BUILD)
    elf = b"\x7fELF\x02\x01\x01" + bytes(57)
    artifact = make(name("torch._inductor.triton_bundler", "TritonKernelArtifact")) + dict_of(filename=text("k.cubin"), payload=data(
        elf)) + BUILD
    yield "kernel", whole(artifact)
    yield "shared-object", elf
    yield "kernel-source", whole(make(name("triton.runtime.jit", "JITFunction")) + dict_of(_src=text("def k(): pass")) + BUILD)
    yield "bytecode", whole(make(name("torch._dynamo.package", "SerializedCode")) + dict_of(co_code=data(b"\x97\0d\0S\0")) + BUILD)
    yield "launch-grid", whole(make(name("torch._inductor.runtime.triton_heuristics", "CachingAutotuner")) + dict_of(inductor_meta=dict_of(
        grid_type=text("PrecomputedGrid"))) + BUILD)


def zip_of(members, **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        for name_, content in members:
            info = zipfile.ZipInfo(name_, (2020, 1, 1, 0, 0, 0))
            info.compress_type = options.get("compression", zipfile.ZIP_STORED)
            archive.writestr(info, content)
    return file.getvalue()


def torch_zip(pickle):
    return zip_of([("archive/data.pkl", pickle), ("archive/version", b"3\n"), ("archive/data/0", bytes(8))])


def local_headers(data):
    return [at for at in range(len(data)) if data[at:at + 4] == b"PK\x03\x04"]


def central_headers(data):
    return [at for at in range(len(data)) if data[at:at + 4] == b"PK\x01\x02"]


def patched(data, at, new):
    return data[:at] + new + data[at + len(new):]


def zips():
    harmless = whole(EMPTY_DICT)
    good = torch_zip(HOSTILE)
    calm = torch_zip(harmless)
    yield "zip/plain", good, DANGEROUS
    yield "zip/deflated", zip_of([("archive/data.pkl", HOSTILE)], compression=zipfile.ZIP_DEFLATED), DANGEROUS
    yield "zip/prefix", b"#!/bin/sh\n" + bytes(64) + good, NOT_DATA
    yield "zip/suffix", good + HOSTILE, NOT_DATA
    yield "zip/other-name", zip_of([("a/readme.txt", HOSTILE)]), DANGEROUS
    yield "zip/in-zip", zip_of([("a.zip", good)]), DANGEROUS
    yield "zip/npy-object", zip_of([("a.npy", numpy_object(HOSTILE))]), DANGEROUS
    local, central = local_headers(calm)[0], central_headers(calm)[0]
    yield "zip/name-differs-in-local-header", patched(calm, local + 30, b"archive/evil.pkl"), NOT_DATA
    yield "zip/size-differs-in-local-header", patched(calm, local + 18, struct.pack("<II", 9999, 9999)), NOT_DATA
    yield "zip/size-differs-in-directory", patched(calm, central + 20, struct.pack("<II", 1, 1)), NOT_DATA
    # Readers refuse these, so whatever is said about their harmless content does no harm.
    yield "zip/checksum", patched(calm, local + 14, b"\1\2\3\4"), NOT_DATA | {"data"}
    yield "zip/checksum-in-both", patched(patched(calm, local + 14, b"\1\2\3\4"), central + 16, b"\1\2\3\4"), NOT_DATA | {"data"}
    yield "zip/encrypted-in-local-header", patched(calm, local + 6, b"\1\0"), NOT_DATA
    yield "zip/encrypted", patched(patched(calm, local + 6, b"\1\0"), central + 8, b"\1\0"), NOT_DATA
    yield "zip/method-differs", patched(calm, local + 8, b"\x08\0"), NOT_DATA
    yield "zip/offset-of-another", patched(calm, central + 42, struct.pack("<I", local_headers(calm)[1])), NOT_DATA
    yield "zip/offset-beyond", patched(calm, central + 42, struct.pack("<I", 1 << 30)), NOT_DATA
    # Two members of one name: readers disagree about which counts.
    double = zip_of([("archive/data.pkl", harmless), ("archive/data.pkX", HOSTILE)])
    yield "zip/double-name", double.replace(b"data.pkX", b"data.pkl"), NOT_DATA
    # A member that the directory doesn't list.
    both = zip_of([("archive/data.pkl", HOSTILE), ("archive/other", harmless)])
    first, second = central_headers(both)
    hidden = both[:first] + both[second:]
    end = hidden.rindex(b"PK\x05\x06")
    hidden = patched(hidden, end + 8, struct.pack("<HHII", 1, 1, end - first, first))
    yield "zip/unlisted-member", hidden, NOT_DATA
    yield "zip/cut", good[:-30], NOT_DATA


def numpy_object(pickle):
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + pickle


def containers():
    yield "gzip", gzip.compress(HOSTILE, mtime=0), DANGEROUS
    yield "gzip/broken-end", gzip.compress(HOSTILE, mtime=0)[:-6], NOT_DATA
    yield "numpy/object", numpy_object(HOSTILE), DANGEROUS
    yield "legacy-stream", legacy_stream(storage=HOSTILE), DANGEROUS
    yield "legacy-stream/third", legacy_stream(third=HOSTILE), DANGEROUS
    yield "legacy-stream/keys", legacy_stream(keys=HOSTILE), DANGEROUS
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo("x/y")
        info.size = len(HOSTILE)
        archive.addfile(info, io.BytesIO(HOSTILE))
    yield "tar", file.getvalue(), DANGEROUS
    yield "pickle/of-zip", whole(data(torch_zip(HOSTILE))), DANGEROUS
    yield "pickle/of-gzip", whole(data(gzip.compress(HOSTILE, mtime=0))), DANGEROUS
    yield "pickle/load-of-zip", whole(call(name("torch.storage", "_load_from_bytes"), data(torch_zip(HOSTILE)))), DANGEROUS
    yield "pickle/of-zip-in-text", whole(text(torch_zip(HOSTILE).decode("latin-1"))), NOT_DATA
    frame_bytes = lambda value: struct.pack(">Q", len(value)) + value
    encoded = lambda value: frame_bytes(base64.b64encode(value.encode()))
    body = struct.pack(">Q", 1) + encoded("inductor") + struct.pack(">Q", 1) + encoded("f" + "a" * 51) + frame_bytes(HOSTILE)
    yield "mega-cache", struct.pack(">I", zlib.crc32(body)) + body, DANGEROUS
    yield "trailing/after-data", whole(EMPTY_DICT) + HOSTILE, NOT_DATA
    yield from zips()


def every_file(entries):
    for label, pickle in entries:
        yield from guards(f"entry/{label}", pickle)
    for label, file, expected in containers():
        yield Attack(f"container/{label}", file, expected)
