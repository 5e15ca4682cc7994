"""Triton directories, what entries carry of them, and what wrappers name."""

import json
import os
import re
import shutil

from cases import case
from names import entries, store
from special_files import first


def metadata(directory):
    return next(path for path in sorted(directory.glob("*.json")) if not path.name.startswith("__grp__"))


def directories(cache):
    return sorted(path for path in cache.iterdir() if path.is_dir() and next(path.glob("*.cubin"), None))


@case("triton-3.9.0", "triton.hash")
def kernel_directory_under_another_name(cache):
    """Renamed, and its group says so: nothing but the hash inside tells."""
    directory = directories(cache)[0]
    place = directory.with_name(directory.name[:-2] + ("AA" if directory.name[-2:] != "AA" else "BA"))
    directory.rename(place)
    group = next(place.glob("__grp__*.json"))
    group.write_text(group.read_text().replace(directory.name, place.name))


@case("triton-3.9.0", "triton.name")
def kernel_of_another_name(cache):
    path = metadata(directories(cache)[0])
    document = json.loads(path.read_text())
    document["name"] += "_x"
    path.write_text(json.dumps(document))


@case("triton-3.9.0", "triton.architecture")
def kernel_for_another_gpu(cache):
    """The metadata says another architecture than the binary."""
    path = metadata(directories(cache)[0])
    document = json.loads(path.read_text())
    document["target"]["arch"] = 70
    path.write_text(json.dumps(document))


@case("cuda-2.15.0-userkernel", "triton.moved")
def kernels_copied_to_another_device(cache):
    """The directories of device 0, once more for device 1: their groups still name the files of device 0."""
    shutil.copytree(cache / "triton" / "0", cache / "triton" / "1")


@case("cuda-2.15.0-userkernel", "triton.unfinished")
def kernel_that_was_never_finished(cache):
    """A directory with intermediate code only, that no entry carries."""
    source = first(cache, "triton/0/*/*.ttir")
    place = source.parent.parent / ("A" * 52)
    place.mkdir()
    (place / source.name).write_text("module {\n}\n")
    os.utime(place / source.name, (1_700_000_000, 1_700_000_000))


@case("cuda-2.15.0-userkernel", "triton.kernel-missing")
def graph_without_its_compiled_kernels(cache):
    """Nothing is left of what was compiled: neither the directories nor the bundle."""
    shutil.rmtree(cache / "triton")
    for path in list(cache.glob("fxgraph/*/*/*")):
        without_bundle(path)
    for path in list(cache.glob("??/*.best_config")):
        path.unlink()


def without_bundle(path):
    """Gives the field another name, so that the entry has none."""
    data = path.read_bytes()
    store(path, data.replace(b"_triton_bundle", b"_triton_bumdle"))


@case("cuda-2.9.1-eligible", "triton.static-missing")
def autotuner_without_a_binary(cache):
    """A kernel of two configurations: one binary is gone from the bundle and from the directories, the autotuner still names both."""
    shutil.rmtree(cache / "triton")
    entry = next(path for path in entries(cache) if len(re.findall(rb"\.cubin\x94", path.read_bytes())) == 1)
    data = entry.read_bytes()
    at = data.index(b"kernel_hash")
    name = re.search(rb"\x8c4([A-Z2-7]{52})", data[at:]).group(1)
    store(entry, data.replace(name, b"A" * 52, 1))


@case("cuda-2.15.0-userkernel", "triton.differs-from-bundle")
def binary_that_is_not_the_bundled_one(cache):
    binary = first(cache, "triton/0/*/*.cubin")
    data = bytearray(binary.read_bytes())
    data[len(data) // 2] ^= 1
    binary.write_bytes(data)


@case("cpu-2.6.0-dynamic", "wrapper.relocated")
def wrapper_that_torch_wrote_in_another_place(cache):
    """torch up to 2.7 writes the cache's place of today into a wrapper that it writes again."""
    for path in sorted(cache.glob("??/c*.py")):
        text = path.read_text()
        start = text.find('#include "')
        if start < 0:
            continue
        end = text.index('"', start + 10)
        header = text[start + 10:end].rsplit("/", 2)
        path.write_text(text.replace(text[start + 10:end], "/".join(["/elsewhere/cache", *header[1:]])))
        return
