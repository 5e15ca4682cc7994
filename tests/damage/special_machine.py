"""Binaries against machines, and what only --deep looks at."""

import json
import re
import shutil
import struct

from cases import NOT_ALONE, case
from names import leaf
from special_files import first
from special_kernels import directories, metadata


@case("triton-3.9.0", "cubin.kernel", options=("--deep",))
def binary_without_the_kernel(cache):
    """Metadata and files agree on a name that the binary doesn't have."""
    directory = directories(cache)[0]
    path = metadata(directory)
    document = json.loads(path.read_text())
    binary = path.with_suffix(".cubin")
    data = binary.read_bytes()
    name = document["name"].encode()
    binary.write_bytes(data.replace(name, name[:-1] + b"~"))


@case("triton-3.9.0", "cubin.threads", options=("--deep",))
def kernel_with_other_warps(cache):
    path = metadata(directories(cache)[0])
    document = json.loads(path.read_text())
    document["num_warps"] *= 2
    path.write_text(json.dumps(document))


def library(cache):
    return first(cache, "??/c*.main.so")


@case("cpu-2.15.0-mlp", "binary.machine", options=("--against", "cpu=avx512"))
def library_for_aarch64(cache):
    data = bytearray(library(cache).read_bytes())
    data[18:20] = struct.pack("<H", 183)
    library(cache).write_bytes(data)


@case("cpu-2.15.0-mlp", "binary.processor", options=("--against", "cpu=avx2"))
def another_kernel_for_a_newer_processor(cache):
    """Copies of a kernel under other names, two: one alone would be a misnamed source. Those that are there already were
    taken off with the undamaged cache."""
    source = library(cache)
    for name in (b"kernel", b"another kernel"):
        stem = "c" + leaf(name)
        (cache / stem[1:3]).mkdir(exist_ok=True)
        shutil.copyfile(source, cache / stem[1:3] / f"{stem}.main.so")
        shutil.copyfile(source.with_suffix(".cpp"), cache / stem[1:3] / f"{stem}.main.cpp")


def replace_name(path, before, after):
    data = path.read_bytes()
    assert data.count(before) and len(before) == len(after)
    path.write_bytes(data.replace(before, after))


@case("cpu-2.15.0-mlp", "binary.library", options=("--deep",))
def library_that_needs_one_that_nobody_has(cache):
    replace_name(library(cache), b"\0libc.so.6\0", b"\0libq.so.6\0")


@case("cpu-2.15.0-mlp", "binary.version", options=("--deep",))
def library_of_a_newer_system(cache):
    version = re.search(rb"\0GLIBC_2\.[0-9]+\0", library(cache).read_bytes()).group()
    replace_name(library(cache), version, version[:-3] + b"99\0")


@case("triton-3.9.0", "cubin.device", options=("--against", "arch=sm_90"))
def kernel_for_an_older_gpu(cache):
    """Binary and metadata agree on sm_80."""
    for directory in directories(cache):
        path = metadata(directory)
        document = json.loads(path.read_text())
        if document["target"]["arch"] != 90:
            continue
        document["target"]["arch"] = 80
        path.write_text(json.dumps(document))
        binary = path.with_suffix(".cubin")
        data = bytearray(binary.read_bytes())
        data[49] = 80  # e_flags, bits 8 to 15, where the ABI version is 8
        binary.write_bytes(data)
        return
    raise AssertionError("no kernel for sm_90")


NOT_ALONE["launcher.python"] = "needs an installed torch to compare with"
NOT_ALONE["binary.symbol"] = "which symbols are there depends on the machine"
NOT_ALONE["tensor.storage"] = "constants are entry.constant's, and real entries hold no tensors elsewhere"
