#!/usr/bin/env python3
"""Makes a small cache with make_cache.py and checks that every name in it follows from the content, as in a cache that torch wrote.

usage: check_names.py ARCHIVES NAME…      ARCHIVES: tests/data
"""
import os
import re
import subprocess
import sys
import tempfile

from make_cache import WHITE, base32_hash, strings_of

here = os.path.dirname(os.path.abspath(__file__))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files(root, folder):
    for directory, _, names in os.walk(os.path.join(root, folder)):
        for name in names:
            yield os.path.join(directory, name)


def check_graph(root, path):
    data = read(path)
    strings = set(strings_of(data))
    key, leaf = path.split(os.sep)[-2:]
    assert leaf == base32_hash(data), path
    assert path.split(os.sep)[-3] == key[1:3], path
    modules = [text for text in strings if re.fullmatch(r"c[a-z2-7]{51}", text)]
    sources = [name for name in modules if os.path.exists(f"{root}/{name[1:3]}/{name}.py")]
    texts = {name: read(f"{root}/{name[1:3]}/{name}.py").decode() for name in sources}
    assert any(text in strings and name == "c" + base32_hash(text.strip(WHITE).encode()) for name, text in texts.items()), path
    return key, key in strings


def main():
    archives, names = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([f"{archives}/unpack.sh", f"{scratch}/originals", *names], check=True)
        sources = [argument for name in names for argument in ("--from", f"{scratch}/originals/{name}/cache")]
        for target in ("one", "two"):
            subprocess.run(
                [sys.executable, f"{here}/make_cache.py", f"{scratch}/{target}", *sources, "--entries", "90"], check=True
            )
        root = f"{scratch}/one"
        graphs = dict(check_graph(root, path) for path in files(root, "fxgraph"))
        entries = list(files(root, "aotautograd"))
        for path in entries:
            data = read(path)
            assert os.path.basename(path) in ("entry", base32_hash(data)), path
            named = {text for text in strings_of(data) if re.fullmatch(r"f[a-z2-7]{51}", text)}
            assert named and named <= graphs.keys(), path
        assert len(graphs) + len(entries) == 90 and entries, (len(graphs), len(entries))
        assert sum(graphs.values()) > 0
        same = sorted(path.removeprefix(root) for path in files(root, "")) == sorted(
            path.removeprefix(f"{scratch}/two") for path in files(f"{scratch}/two", "")
        )
        assert same, "two runs with one seed differ"
    print(f"{len(graphs)} graphs, {len(entries)} AOTAutograd entries: every name follows from the content")


if __name__ == "__main__":
    main()
