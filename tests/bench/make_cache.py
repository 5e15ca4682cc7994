#!/usr/bin/env python3
"""Makes a large cache out of real entries, the same bytes for the same arguments on every machine.

usage: make_cache.py TARGET --from CACHE [--from CACHE…] [--entries N] [--seed S] [--small]

Every entry is a real one in which only names were exchanged for others of the same length: its own key, the name of its wrapper
module, the keys that an AOTAutograd entry refers to, and the identifier in the wrapper's first comment. So each entry is distinct, and
everything that can be recomputed still holds: leaf = hash of the bytes, wrapper name = hash of its text, key = directory. Kernels
(C++ sources, libraries, Triton directories, autotune results) are copied once and shared by all entries that came from the
same original, as entries of one model share theirs. --small takes the smallest third of the originals only.
"""
import argparse
import base64
import hashlib
import os
import pickletools
import random
import re
import shutil

ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
SKIPPED_AT_ROOT = {"fxgraph", "aotautograd", "locks", "dynamo"}
AOT_ID = re.compile(rb"# AOT ID: \['([^'\n]{9,})'\]")
WHITE = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0"


def base32_hash(data):
    return base64.b32encode(hashlib.sha256(data).digest())[:51].decode().lower()


def strings_of(data):
    for opcode, argument, _ in pickletools.genops(data):
        if isinstance(argument, str):
            yield argument


class Graph:
    """A pickled CompiledFxGraph: where its key, its wrapper's name and its wrapper's text are."""

    def __init__(self, path, key):
        self.key = key.encode()
        with open(path, "rb") as file:
            self.data = file.read()
        names = [text for text in strings_of(self.data) if re.fullmatch(r"c[a-z2-7]{51}", text)]
        wrappers = [text for text in strings_of(self.data) if AOT_ID.search(text.encode("utf-8", "surrogatepass"))]
        wrappers = [text for text in wrappers if "c" + base32_hash(text.strip(WHITE).encode()) in names]
        if not wrappers:
            raise ValueError("no wrapper text with an identifier")
        self.text = wrappers[0].encode()
        self.name = ("c" + base32_hash(wrappers[0].strip(WHITE).encode())).encode()
        self.text_at = self.data.index(self.text)
        found = AOT_ID.search(self.text)
        self.id_at, self.id_size = found.start(1), len(found.group(1))

    def variant(self, number, key):
        """The bytes of the entry under a new key, its wrapper's name, its wrapper's text."""
        mark = str(number).zfill(self.id_size).encode()
        text = bytearray(self.text)
        text[self.id_at : self.id_at + self.id_size] = mark
        stripped = bytes(text).decode().strip(WHITE).encode()
        name = ("c" + base32_hash(stripped)).encode()
        data = self.data[: self.text_at] + bytes(text) + self.data[self.text_at + len(text) :]
        data = data.replace(self.key, key.encode()).replace(self.name, name)
        return data, name.decode(), bytes(text)


class Unit:
    """An AOTAutograd entry and the graphs that it names, or one graph that none names."""

    def __init__(self, graphs, data=None):
        self.graphs, self.data = graphs, data
        self.size = sum(len(graph.data) for graph in graphs) + len(data or b"")
        self.count = len(graphs) + (data is not None)


def units_of(cache):
    graphs = {}
    for directory, _, names in sorted(os.walk(os.path.join(cache, "fxgraph"))):
        for name in sorted(names):
            try:
                graphs[os.path.basename(directory)] = Graph(os.path.join(directory, name), os.path.basename(directory))
            except ValueError:
                continue
    named = set()
    for directory, _, names in sorted(os.walk(os.path.join(cache, "aotautograd"))):
        for name in sorted(names):
            with open(os.path.join(directory, name), "rb") as file:
                data = file.read()
            keys = [text for text in dict.fromkeys(strings_of(data)) if re.fullmatch(r"f[a-z2-7]{51}", text)]
            if keys and all(key in graphs for key in keys):
                named.update(keys)
                yield name == "entry", Unit([graphs[key] for key in keys], data)
    for key, graph in graphs.items():
        if key not in named:
            yield False, Unit([graph])


def write(path, data):
    try:
        file = open(path, "xb")
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = open(path, "xb")
    with file:
        file.write(data)


def copy_kernels(cache, target):
    for name in sorted(os.listdir(cache)):
        source = os.path.join(cache, name)
        if name not in SKIPPED_AT_ROOT and os.path.isdir(source):
            shutil.copytree(source, os.path.join(target, name), dirs_exist_ok=True)


def key(rng, letter):
    return letter + "".join(rng.choices(ALPHABET, k=51))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--from", dest="sources", action="append", required=True)
    parser.add_argument("--entries", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    os.makedirs(options.target)
    units = []
    for cache in options.sources:
        copy_kernels(cache, options.target)
        units += units_of(cache)
    units.sort(key=lambda pair: pair[1].size)
    if options.small:
        units = units[: max(1, len(units) // 3)]
    if not units:
        parser.error("no entries to start from")
    written = size = number = 0
    while written < options.entries:
        plain_name, unit = units[number % len(units)]
        aot = unit.data
        for graph in unit.graphs[: options.entries - written]:
            new = key(rng, "f")
            data, name, text = graph.variant(10**6 + written, new)
            write(f"{options.target}/fxgraph/{new[1:3]}/{new}/{base32_hash(data)}", data)
            write(f"{options.target}/{name[1:3]}/{name}.py", text)
            aot = aot and aot.replace(graph.key, new.encode())
            written, size = written + 1, size + len(data)
        if aot and written < options.entries:
            leaf = "entry" if plain_name else base32_hash(aot)
            write(f"{options.target}/aotautograd/{key(rng, 'a')}/{leaf}", aot)
            written, size = written + 1, size + len(aot)
        number += 1
    print(f"{written} entries, {size / 2**20:.1f} MiB of entries, from {len(units)} originals, seed {options.seed}")


if __name__ == "__main__":
    main()
