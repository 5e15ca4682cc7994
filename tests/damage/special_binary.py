"""Cases for binaries, Triton directories, files that pack entries, and vLLM's trees."""

import base64
import hashlib
import json
import pickle
import shutil
import struct
import zipfile
import zlib

from cases import NOT_ALONE, case

TRAIN = "cpu-2.15.0-train"
KERNELS = "cuda-2.15.0-userkernel"
PLAIN = "triton-3.2.0"
VLLM = "vllm-0.33.0"
OLD_VLLM = "vllm-0.15.1"


def first(cache, pattern):
    return sorted(path for path in cache.glob(pattern) if path.is_file())[0]


def patch(path, offset, value):
    data = bytearray(path.read_bytes())
    data[offset : offset + len(value)] = value
    path.write_bytes(data)


def edit_json(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def number(value):
    return struct.pack(">Q", value)


def part(value):
    return number(len(value)) + value


def text(value):
    return part(base64.b64encode(value.encode()))


def frame(body):
    return struct.pack(">I", zlib.crc32(body)) + body


def mega_cache(*groups):
    body = number(1)
    for kind, items in groups:
        body += text(kind) + number(len(items))
        for key, content in items:
            body += text(key) + part(content)
    return frame(body)


def code_hash(content):
    return "c" + base64.b32encode(hashlib.sha256(content).digest())[:51].decode().lower()


# Files by themselves.


@case(TRAIN, "file.unknown")
def notes_in_a_cache(cache):
    (cache / "notes.txt").write_text("mine\n")
    (cache / "more notes.txt").write_text("mine\n")


# Libraries and binaries.


@case(TRAIN, "elf.damaged")
def library_is_text(cache):
    first(cache, "??/c*.main.so").write_text("#!/bin/sh\n")


@case(TRAIN, "elf.kind")
def library_of_another_machine(cache):
    patch(first(cache, "??/c*.main.so"), 18, struct.pack("<H", 190))


@case(TRAIN, "library.exports")
def library_without_its_function(cache):
    path = first(cache, "??/c*.main.so")
    path.write_bytes(path.read_bytes().replace(b"PyInit_kernel\0", b"PyInis_kernel\0"))


@case(TRAIN, "library.build-failed")
def build_failed(cache):
    path = first(cache, "??/c*.main.so")
    path.with_name(path.name.replace(".main.so", ".so.error")).write_text(json.dumps([["nvcc"], "no such option"]))


@case("cuda-2.15.0-artifacts", "gpu-binary.name")
def gpu_binary_of_another_name(cache):
    content = first(cache, "triton/0/*/*.cubin").read_bytes()
    name = code_hash(repr(content + b"x").encode())
    shard = cache / name[1:3]
    shard.mkdir(exist_ok=True)
    (shard / f"{name}.cubin").write_bytes(content)


# Triton directories.


@case(KERNELS, "triton.hash")
def metadata_of_another_hash(cache):
    edit_json(first(cache, "triton/0/*/[!_]*.json"), lambda it: it.update(hash="0" * 64))


@case(KERNELS, "triton.name")
def metadata_of_another_name(cache):
    edit_json(first(cache, "triton/0/*/[!_]*.json"), lambda it: it.update(name="another"))


@case(PLAIN, "triton.child-missing")
def triton_binary_is_gone(cache):
    first(cache, "*/*.cubin").unlink()


@case(KERNELS, "triton.group-path")
def group_leads_elsewhere(cache):
    def change(document):
        children = document["child_paths"]
        name = next(iter(children))
        children[name] = children[name] + "x"

    edit_json(first(cache, "triton/0/*/__grp__*.json"), change)


@case(PLAIN, "triton.unfinished")
def group_is_gone(cache):
    first(cache, "*/__grp__*.json").unlink()


@case("triton-3.9.0", "triton.moved")
def one_kernel_from_elsewhere(cache):
    # The caches of these tests were moved already: below cache/ there is another Triton cache, so a finding more.
    kernel = first(cache, "*/__grp__*.json").parent
    (cache / "cache").mkdir()
    kernel.rename(cache / "cache" / kernel.name)


@case(KERNELS, "triton.architecture")
def metadata_of_another_gpu(cache):
    edit_json(first(cache, "triton/0/*/[!_]*.json"), lambda it: it["target"].update(arch=80))


# Files that pack entries, put beside a cache as users keep them.


def artifact_bytes(cache, items, key=None):
    mega = mega_cache(*items)
    header = first(cache, "torch_compile_cache/*/*/*/artifact_*").read_bytes()
    # CRC, then the first part: torch's key (up to 2.9) or the form's name and torch's key.
    length = struct.unpack(">Q", header[4:12])[0]
    end = 12 + length
    if length != 32:
        end += 8 + 32
    return frame(header[4:end] + text(key or "a" * 51 + "a") + part(mega))


@case(OLD_VLLM, "standalone.key")
def artifact_without_its_entry(cache):
    path = first(cache, "torch_compile_cache/*/*/*/artifact_*")
    path.write_bytes(artifact_bytes(cache, []))


@case(OLD_VLLM, "mega-cache.type", "standalone.key")
def artifact_with_an_unknown_type(cache):
    path = first(cache, "torch_compile_cache/*/*/*/artifact_*")
    path.write_bytes(artifact_bytes(cache, [("megalith", [("key", b"value")])]))


@case(OLD_VLLM, "frame.damaged")
def artifact_with_an_altered_byte(cache):
    path = first(cache, "torch_compile_cache/*/*/*/artifact_*")
    patch(path, 200, bytes([path.read_bytes()[200] ^ 1]))


@case(OLD_VLLM, "standalone.torch-key")
def artifact_of_another_torch(cache):
    path = first(cache, "torch_compile_cache/*/*/*/artifact_*")
    body = path.read_bytes()[4:]
    path.write_bytes(frame(body[:8] + bytes(32) + body[40:]))


def repacked(cache, change):
    """Writes the first artifact again with the groups of its mega-cache changed."""
    path = first(cache, "torch_compile_cache/*/*/*/artifact_*")
    data = path.read_bytes()
    at = 4
    parts = []
    while at < len(data):
        length = struct.unpack(">Q", data[at : at + 8])[0]
        parts.append(data[at + 8 : at + 8 + length])
        at += 8 + length
    mega = parts[-1]
    groups = []
    at = 12
    while at < len(mega):
        length = struct.unpack(">Q", mega[at : at + 8])[0]
        kind = base64.b64decode(mega[at + 8 : at + 8 + length]).decode()
        at += 8 + length
        count = struct.unpack(">Q", mega[at : at + 8])[0]
        at += 8
        items = []
        for _ in range(count):
            length = struct.unpack(">Q", mega[at : at + 8])[0]
            key = base64.b64decode(mega[at + 8 : at + 8 + length]).decode()
            at += 8 + length
            length = struct.unpack(">Q", mega[at : at + 8])[0]
            items.append((key, mega[at + 8 : at + 8 + length]))
            at += 8 + length
        groups.append((kind, items))
    parts[-1] = mega_cache(*change(groups))
    path.write_bytes(frame(b"".join(part(piece) for piece in parts)))


@case(OLD_VLLM, "mega-cache.type")
def mega_cache_with_an_unknown_type(cache):
    repacked(cache, lambda groups: groups + [("megalith", [("key", b"value")])])


@case(OLD_VLLM, "mega-cache.replaced")
def mega_cache_with_two_groups_of_a_type(cache):
    repacked(cache, lambda groups: groups + [groups[0]])


@case(OLD_VLLM, "packed.key")
def mega_cache_with_an_odd_key(cache):
    repacked(cache, lambda groups: groups + [("autotune", [("../../escaped", b"{}")])])


@case(OLD_VLLM, "packed.graph-missing")
def mega_cache_without_graphs(cache):
    repacked(cache, lambda groups: [group for group in groups if group[0] != "inductor"])


def package(cache, **members):
    path = cache / "model.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {"model/data/aotinductor/model/x.so": "code", "model/archive_format": "pt2", **members}.items():
            archive.writestr(name, content)
    return path


@case(TRAIN, "zip.damaged")
def package_with_an_altered_member(cache):
    path = package(cache)
    path.write_bytes(path.read_bytes().replace(b"code", b"cod3"))


@case(TRAIN, "zip.damaged")
def package_with_two_names_for_a_member(cache):
    path = package(cache)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"archive_format", b"archive_formet", 1))


@case(TRAIN)
def package_that_is_whole(cache):
    package(cache)


# vLLM.


@case(VLLM, "vllm.index")
def index_of_another_form(cache):
    first(cache, "torch_compile_cache/*/*/*/vllm_compile_cache.py").write_text("{1: 2}")


@case(VLLM, "vllm.artifact-missing")
def artifact_is_gone(cache):
    path = first(cache, "torch_compile_cache/*/*/*/artifact_*")
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


@case(VLLM, "vllm.artifact-key")
def artifacts_change_places(cache):
    files = sorted(path for path in cache.glob("torch_compile_cache/*/*/*/artifact_*") if path.is_file())
    files = [path for path in files if path.parent == files[0].parent][:2]
    contents = [path.read_bytes() for path in files]
    files[0].write_bytes(contents[1])
    files[1].write_bytes(contents[0])


@case(OLD_VLLM, "vllm.artifact-unlisted")
def index_never_written(cache):
    first(cache, "torch_compile_cache/*/*/*/vllm_compile_cache.py").unlink()


@case(VLLM, "vllm.moved")
def factors_of_an_old_release(cache):
    # Without factors nothing says that names are used and not paths.
    indexes = cache.glob("torch_compile_cache/*/*/*/vllm_compile_cache.py")
    index = sorted(path for path in indexes if "'inductor_standalone'" in path.read_text())[0]
    index.with_name("cache_key_factors.json").unlink()


@case("vllm-0.11.2", "vllm.unpacked-keys")
def unpacked_artifact_with_two_keys(cache):
    keys = sorted(cache.glob("torch_compile_cache/*/*/*/artifact_*/aotautograd/*"))
    other = keys[0].with_name(keys[0].name[:-2] + ("ba" if keys[0].name[-2] != "b" else "ca"))
    shutil.copytree(keys[0], other)


@case(VLLM, "vllm.factors")
def factors_of_another_configuration(cache):
    path = first(cache, "torch_compile_cache/*/*/*/cache_key_factors.json")
    edit_json(path, lambda it: it.update(config_hash="0123456789"))


@case(VLLM, "vllm.secret")
def secret_in_factors(cache):
    folder = first(cache, "torch_compile_cache/*/*/*/artifact_*").parent.parent.parent

    # The directory's name follows from the factors, so it is made to fit.
    def change(document):
        document["env"]["SERVICE_TOKEN"] = "not-a-secret"
        env = hashlib.sha256(json.dumps(document["env"], sort_keys=True).encode()).hexdigest()
        hashes = [env, document["config_hash"], document["code_hash"], document["compiler_hash"]]
        names.append(hashlib.sha256(str(hashes).encode()).hexdigest()[:10])

    names = []
    for path in folder.glob("*/*/cache_key_factors.json"):
        edit_json(path, change)
    folder.rename(folder.with_name(names[0]))


def models(cache):
    paths = sorted(path for path in cache.glob("torch_compile_cache/torch_aot_compile/*/*/model"))
    return [path for path in paths if b"submodule_bytes_store" in path.read_bytes()]


@case(VLLM, "vllm.model")
def model_of_another_kind(cache):
    models(cache)[0].write_bytes(pickle.dumps({"signature": None}, protocol=4))


@case(VLLM, "vllm.model-digest")
def model_with_an_altered_part(cache):
    path = models(cache)[0]
    data = path.read_bytes()
    at = data.index(b"submodule_bytes_store") + 400
    patch(path, at, bytes([data[at] ^ 1]))


@case(VLLM, "vllm.model-empty")
def model_with_nothing_compiled(cache):
    # The table of parts is a dict in a nested pickle: it is replaced by an empty one in a model of the same form.
    parts = b"\x80\x04}(\x8c\x1cstandalone_compile_artifacts"
    state = b"\x8c\x0fsubmodule_bytes}\x8c\x15submodule_bytes_store}"
    nested = parts + b"\x8c\x18vllm.compilation.caching\x8c\x1bStandaloneCompiledArtifacts\x93)\x81}(" + state + b"ubu."
    models(cache)[0].write_bytes(
        b"\x80\x04}\x8c\x0bcompiled_fnNB" + struct.pack("<I", len(nested)) + nested + b"\x86s."
    )
