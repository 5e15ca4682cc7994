#!/usr/bin/env python3
"""Keeps the transcripts in docs/manual.md and README.md real.

Usage: manual.py PROGRAM [--update]

Every ```console block of a page is run: lines that start with "$ " are commands, what follows is their output (both streams). The
cache that they look at is tests/data/cuda-2.15.0-train as /tmp/torchinductor_me, 120 columns wide. With --update the outputs are
written into the pages, else differences fail (blocks on disk apart, which depend on the file system).
"""

import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import run

ROOT = run.HERE.parent.parent
PAGES = [ROOT / "docs" / "manual.md", ROOT / "README.md"]
CACHES = {"torchinductor_me": "cuda-2.15.0-train", "other": "cpu-2.15.0-dynamic", "refused": "cuda-2.15.0-refused-part",
          "frozen": "cpu-2.15.0-freezing"}


def transcript(block, scratch):
    environment = {"PATH": f"{scratch.parent}/bin:{os.environ.get('PATH', '/usr/bin:/bin')}", "HOME": str(scratch),
                   "LC_ALL": "C.UTF-8", "TMPDIR": str(scratch), "LOGNAME": "me", "COLUMNS": "120"}
    result = []
    for line in block.splitlines():
        if not line.startswith("$ "):
            continue
        done = subprocess.run(["sh", "-c", line[2:].replace("/tmp/", f"{scratch}/")], cwd=scratch, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        text = done.stdout.decode("utf-8", "backslashreplace").replace(str(scratch), "/tmp")
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-11-28T09:30:00Z", text)
        result += [line] + [output.rstrip() for output in text.splitlines()]
    return "\n".join(result) + "\n"


def comparable(page):
    """Without what depends on the file system: blocks held, and the width of columns that show them."""
    page = re.sub(r"[0-9.]+ [KMG]?i?B on disk", "<blocks> on disk", page)
    page = re.sub(r" +ON DISK$", " ON DISK", page, flags=re.M)
    return re.sub(r"(?<=B) +[0-9.]+ (?:[KMG]i)?B((?:  [A-Za-z].*)?)$", r" <blocks>\1", page, flags=re.M)


def printed(program, pages):
    """The pages as they would be if every transcript were made now."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="cachetool-manual-"))
    try:
        (top / "bin").mkdir()
        shutil.copy2(program, top / "bin" / "cachetool")
        scratch = top / "scratch"
        scratch.mkdir()
        for name, corpus in CACHES.items():
            run.unpack(corpus, scratch)
            os.rename(scratch / corpus / "cache", scratch / name)
            shutil.rmtree(scratch / corpus)
        return [re.sub(r"(?<=```console\n)(.*?)(?=```)", lambda match: transcript(match.group(1), scratch), page, flags=re.S)
                for page in pages]
    finally:
        shutil.rmtree(top, ignore_errors=True)


def main():
    before = [page.read_text() for page in PAGES]
    after = printed(pathlib.Path(sys.argv[1]).resolve(), before)
    differs = False
    for page, old, new in zip(PAGES, before, after):
        if comparable(old) == comparable(new):
            continue
        if "--update" in sys.argv:
            page.write_text(new)
            print("updated", page)
            continue
        differs = True
        for line in difflib.unified_diff(comparable(old).splitlines(), comparable(new).splitlines(), page.name, "printed", lineterm="", n=1):
            print(line)
    if differs:
        sys.exit(1)
    print("the transcripts are what the program prints")


if __name__ == "__main__":
    main()
