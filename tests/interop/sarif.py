#!/usr/bin/env python3
"""Validates `cachetool verify --format sarif` against the schema of SARIF 2.1.0.

usage: sarif.py CACHETOOL      with an interpreter that has pydantic-sarif: classes made from the schema of the standard, which
accept nothing that the schema doesn't

Looks at a whole cache, at one with damage of several kinds, at a file that can't be read as one, and at names that no URI holds plainly.
Also proves that the validation can fail: a document with a wrong level and one with an unknown member must be refused.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pydantic
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def unpack(name, place):
    place.mkdir(parents=True)
    subprocess.run(["tar", "-C", place, "--strip-components=1", "-xf", DATA / f"{name}.tar.zst"], check=True)
    return place / "cache"


def damage(cache):
    """A truncated entry, an edited module, an empty library, a name that is no UTF-8 and holds a space."""
    entry = next(cache.glob("fxgraph/*/*/*"))
    os.truncate(entry, 100)
    (entry.parent / os.fsdecode(b"no name\xff%")).write_bytes(b"x")
    with open(next(cache.glob("??/c*.py")), "a") as module:
        module.write("# edited\n")
    os.truncate(next(cache.glob("??/c*.main.so")), 0)


def sarif_of(cachetool, *targets):
    run = subprocess.run([cachetool, "verify", "--format", "sarif", *targets], capture_output=True, text=True, timeout=120)
    if run.returncode not in (0, 1):
        sys.exit(f"verify ended with {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def refused(document):
    try:
        Sarif.model_validate(document)
    except pydantic.ValidationError:
        return True
    return False


def main():
    cachetool = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="cachetool sarif ") as scratch:
        whole = unpack("cpu-2.9.1-train", pathlib.Path(scratch) / "whole")
        damaged = unpack("cpu-2.15.0-mlp", pathlib.Path(scratch) / "damaged")
        damage(damaged)
        documents = [sarif_of(cachetool, whole), sarif_of(cachetool, damaged), sarif_of(cachetool, whole, damaged)]
    for document in documents:
        Sarif.model_validate(document)
    results = documents[1]["runs"][0]["results"]
    if len({result["ruleId"] for result in results if result["level"] != "note"}) < 3:
        sys.exit(f"too few kinds of results to be a test: {results}")
    wrong_level, unknown_member = copy.deepcopy(documents[1]), copy.deepcopy(documents[1])
    wrong_level["runs"][0]["results"][0]["level"] = "fatal"
    unknown_member["runs"][0]["results"][0]["colour"] = "red"
    if not refused(wrong_level) or not refused(unknown_member):
        sys.exit("the validation accepts what the schema doesn't")
    print(f"{len(documents)} documents with {sum(len(document['runs'][0]['results']) for document in documents)} results fit SARIF 2.1.0")


if __name__ == "__main__":
    main()
