"""Sources, libraries, JSON files and files that pack entries."""

import base64
import json
import os
import shutil
import struct
import time
import zlib

from cases import case
from names import leaf


def first(cache, pattern):
    return sorted(path for path in cache.glob(pattern) if path.is_file())[0]


@case("cpu-2.9.1-train", "module.name")
def module_that_nobody_names(cache):
    stem = "c" + leaf(b"nobody")
    (cache / stem[1:3]).mkdir(exist_ok=True)
    (cache / stem[1:3] / f"{stem}.py").write_text("print('hello')\n")


def compile_command(folder):
    """The command that the kernels of a corpus were named with, as torch itself noted it."""
    inputs = json.loads((folder / "truth.json").read_text())["code_hash_inputs"].values()
    return ("--compile-command", next(item["extra"] for item in inputs if item["extension"] == "main.cpp" and item["extra"]))


@case("cpu-2.9.1-train", "cpp-source.name", options=compile_command)
def kernel_source_that_its_name_denies(cache):
    """A kernel that no entry names, under a name that is nobody's."""
    source = first(cache, "??/c*.main.cpp")
    stem = "c" + leaf(b"kernel")
    (cache / stem[1:3]).mkdir(exist_ok=True)
    (cache / stem[1:3] / f"{stem}.main.cpp").write_bytes(source.read_bytes().replace(b"for(", b"for (") + b"// edited\n")
    shutil.copyfile(source.with_suffix(".so"), cache / stem[1:3] / f"{stem}.main.so")


@case("cpu-2.9.1-train", "cpp.kernel-missing")
def kernel_that_is_gone(cache):
    source = first(cache, "??/c*.main.cpp")
    source.with_suffix(".so").unlink()
    source.unlink()


@case("cuda-2.9.1-eligible", "best-config.name")
def autotune_result_under_another_name(cache):
    path = first(cache, "??/*.best_config")
    path.rename(path.with_name("0" * 64 + ".best_config"))


@case("cuda-2.15.0-userkernel", "kernel-perf.number")
def kernel_time_that_is_no_number(cache):
    first(cache, "??/c*.py").with_suffix(".kernel_perf").write_text("fast")


@case("cuda-2.9.1-eligible", "file.shape")
def autotune_result_of_another_shape(cache):
    first(cache, "??/*.best_config").write_text("[1, 2]")


@case("cuda-2.9.1-eligible", "file.json")
def autotune_result_that_is_no_json(cache):
    path = first(cache, "??/*.best_config")
    path.write_text(path.read_text().replace(":", ";", 1))


@case("cpu-2.15.0-mlp", "elf.kind")
def library_that_is_an_object_file(cache):
    path = first(cache, "??/c*.main.so")
    data = bytearray(path.read_bytes())
    data[16:18] = struct.pack("<H", 1)  # e_type: relocatable
    path.write_bytes(data)


@case("cpu-2.15.0-mlp", "elf.damaged")
def library_with_a_broken_table(cache):
    path = first(cache, "??/c*.main.so")
    data = bytearray(path.read_bytes())
    data[54:56] = struct.pack("<H", 7)  # e_phentsize
    path.write_bytes(data)


@case("cpu-2.15.0-mlp", "library.build-failed")
def failed_build(cache):
    source = first(cache, "??/c*.main.cpp")
    source.with_name(source.name.split(".")[0] + ".so.error").write_text(json.dumps([["nvcc"], "error: no such thing"]))


@case("cuda-2.15.0-userkernel", "gpu-binary.name")
def gpu_binary_under_another_name(cache):
    binary = first(cache, "triton/0/*/*.cubin")
    stem = "c" + leaf(b"another binary")
    (cache / stem[1:3]).mkdir(exist_ok=True)
    shutil.copyfile(binary, cache / stem[1:3] / f"{stem}.cubin")


# Files that pack entries. Their frame: 4 bytes CRC-32, then numbers of 8 bytes and byte strings behind their length, big-endian.

def with_crc(body):
    return struct.pack(">I", zlib.crc32(body)) + body


def packed(data):
    return struct.pack(">Q", len(data)) + data


def text(value):
    return packed(base64.b64encode(value.encode()))


@case("cpu-2.9.1-mega", "frame.damaged", target="extras/mega.bin")
def mega_cache_with_a_flipped_bit(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@case("cpu-2.9.1-mega", "mega-cache.type", target="extras/mega.bin")
def mega_cache_with_an_unknown_type(path):
    path.write_bytes(with_crc(path.read_bytes()[4:] + text("novelty") + struct.pack(">Q", 1) + text("key") + packed(b"content")))


@case("cpu-2.9.1-mega", "mega-cache.replaced", target="extras/mega.bin")
def mega_cache_with_a_second_group(path):
    path.write_bytes(with_crc(path.read_bytes()[4:] + text("autotune") + struct.pack(">Q", 0) + text("autotune") + struct.pack(">Q", 0)))


@case("cpu-2.9.1-mega", "packed.key", target="extras/mega.bin")
def mega_cache_with_a_strange_key(path):
    path.write_bytes(with_crc(path.read_bytes()[4:] + text("autotune") + struct.pack(">Q", 1) + text("no/such.place") + packed(b"{}")))


@case("cpu-2.9.1-standalone", "standalone.torch-key", target="extras/artifact.bin")
def artifact_of_an_unknown_torch(path):
    data = path.read_bytes()
    key = data[12:44]
    path.write_bytes(with_crc(data[4:].replace(key, bytes(32), 1)))


@case("cpu-2.9.1-standalone", "standalone.key", target="extras/artifact.bin")
def artifact_that_names_another_entry(path):
    data = path.read_bytes()
    length = struct.unpack(">Q", data[44:52])[0]
    path.write_bytes(with_crc(data[4:44] + text("a" + leaf(b"another")) + data[52 + length:]))


def mega_groups(data):
    """(type, its bytes) of each group of a mega-cache, in order."""
    position, groups = 12, []

    def number():
        nonlocal position
        position += 8
        return struct.unpack(">Q", data[position - 8:position])[0]

    while position < len(data):
        start = position
        length = number()
        kind = base64.b64decode(data[position:position + length]).decode()
        position += length
        for _ in range(number()):
            for _ in range(2):
                length = number()
                position += length
        groups.append((kind, data[start:position]))
    return groups


@case("cpu-2.9.1-mega", "packed.graph-missing", target="extras/mega.bin")
def mega_cache_without_graphs(path):
    data = path.read_bytes()
    path.write_bytes(with_crc(data[4:12] + b"".join(group for kind, group in mega_groups(data) if kind != "inductor")))


@case("cuda-2.15.0-userkernel", "lock.free")
def lock_file_that_nobody_holds(cache):
    (cache / "locks").mkdir(exist_ok=True)
    (cache / "locks" / ("c" + leaf(b"lock") + ".lock")).write_bytes(b"")


# Leftovers. What is younger than an hour is no finding.

def old(path):
    long_ago = time.time() - 3 * 86400
    os.utime(path, (long_ago, long_ago))


@case("cpu-2.9.1-train", "leftover.in-key")
def unfinished_entry(cache):
    path = first(cache, "fxgraph/*/*/*").with_name(".999999.140000000000000.tmp")
    path.write_bytes(b"\x80\x04half")
    old(path)


@case("cpu-2.9.1-train", "leftover.temporary")
def unfinished_module(cache):
    path = first(cache, "??/c*.py").with_name(".999999.140000000000000.tmp")
    path.write_text("half")
    old(path)


@case("cpu-2.9.1-train", "leftover.fresh-cache")
def cache_of_a_dead_process(cache):
    module = first(cache, "??/c*.py")
    place = cache / "tmpab12_xyz" / module.parent.name
    place.mkdir(parents=True)
    shutil.copyfile(module, place / module.name)
    for path in (place / module.name, place, place.parent):
        old(path)


@case("cpu-2.15.0-mlp", "leftover.build")
def compiler_that_was_killed(cache):
    source = first(cache, "??/c*.main.cpp")
    place = source.with_name(source.name.split(".")[0] + "_CxxBuild")
    place.mkdir()
    (place / "kernel.o").write_bytes(b"half")
    for path in (place / "kernel.o", place):
        old(path)


@case("cpu-2.9.1-train", "leftover.unreachable")
def file_that_torch_never_opens(cache):
    path = cache / "fxgraph" / "readme"
    path.write_text("hello")
    old(path)


@case("cpu-2.9.1-train", "lock.abandoned")
def lock_of_a_dead_process(cache):
    path = cache / "locks" / ("c" + leaf(b"lock") + ".lock")
    path.write_text("999999\nelsewhere\n")
    old(path)


@case("cpu-2.9.1-train", "owner.link", "module.missing")
def module_behind_a_link(cache):
    """torch would run what the link leads to."""
    module = first(cache, "??/c*.py")
    aside = cache.parent / module.name
    module.rename(aside)
    module.symlink_to(aside)
