#!/usr/bin/env python3
"""Compares which directory `cachetool doctor` says that torch uses with the one that torch does use.

Usage: places.py CACHETOOL PYTHON

PYTHON has torch. It runs this file once with --torch: torch answers for each setting, in a process of its own user and environment, and
doctor is asked under the same. Also compared: Inductor's choice of vector instructions for ATEN_CPU_CAPABILITY.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

NO_PASSWD_UID = 54321
CAPABILITIES = [None, "default", "avx2", "avx512", "nonsense"]

# Name, environment, user (None: this one). {S} is the scratch folder, which is the working directory.
SETTINGS = [
    ("default", {"TMPDIR": "{S}/tmp", "LOGNAME": "me"}, None),
    ("odd name", {"TMPDIR": "{S}/tmp", "LOGNAME": "DOMAIN\\a/b:c?"}, None),
    ("USER", {"TMPDIR": "{S}/tmp", "LOGNAME": "", "USER": "you"}, None),
    ("passwd", {"TMPDIR": "{S}/tmp"}, None),
    ("TMPDIR isn't there", {"TMPDIR": "{S}/nothing", "TEMP": "{S}/tmp", "USER": "me"}, None),
    ("TMPDIR is a file", {"TMPDIR": "{S}/file", "TMP": "{S}/tmp", "USER": "me"}, None),
    ("relative TMPDIR", {"TMPDIR": "tmp", "USER": "me"}, None),
    ("no TMPDIR", {"USER": "interop-no-tmpdir"}, None),
    ("absolute", {"TORCHINDUCTOR_CACHE_DIR": "{S}/cache", "TMPDIR": "{S}/tmp", "USER": "me"}, None),
    ("not normal", {"TORCHINDUCTOR_CACHE_DIR": "{S}//a/../cache/", "TMPDIR": "{S}/tmp", "USER": "me"}, None),
    ("relative", {"TORCHINDUCTOR_CACHE_DIR": "cache", "TMPDIR": "{S}/tmp", "USER": "me"}, None),
    ("empty", {"TORCHINDUCTOR_CACHE_DIR": "", "TMPDIR": "{S}/tmp", "USER": "me"}, None),
    ("nobody", {"TMPDIR": "{S}/tmp"}, NO_PASSWD_UID),
    ("nobody, TMPDIR not writable", {"TMPDIR": "{S}/closed", "TEMP": "{S}/tmp", "USER": "me"}, NO_PASSWD_UID),
    ("nobody, set", {"TORCHINDUCTOR_CACHE_DIR": "{S}/tmp/cache", "TMPDIR": "{S}/tmp"}, NO_PASSWD_UID),
    ("nobody, set and named", {"TORCHINDUCTOR_CACHE_DIR": "{S}/tmp/cache", "TMPDIR": "{S}/tmp", "USER": "me"}, NO_PASSWD_UID),
]


def settings(scratch):
    for name, environment, user in SETTINGS:
        if user is None or os.geteuid() == 0:
            yield name, {key: value.replace("{S}", scratch) for key, value in environment.items()}, user


def in_child(scratch, environment, user, answer):
    """What answer() returns in a process of that user, environment and working directory."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(scratch)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        os.write(writer, json.dumps(answer()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def ask_torch(scratch):
    """One line of JSON a setting, then one with the vector instructions; runs where torch is."""
    import getpass  # noqa: F401 (needed in children that can't import any more)
    import pwd  # noqa: F401
    import re

    import torch
    from torch._inductor.runtime import cache_dir_utils

    # codecache computes the place of precompiled headers when it is imported, since 2.8.
    codecache = pathlib.Path(torch.__file__).parent / "_inductor" / "codecache.py"
    needs_default = re.search(r"^_HEADER_DIR = .*default_cache_dir\(\)", codecache.read_text(), re.M) is not None

    def directory():
        try:
            path = cache_dir_utils.cache_dir()
            default = cache_dir_utils.default_cache_dir() if needs_default else None
            return {"path": path, "default": default}
        except (KeyError, OSError) as error:
            return {"failure": type(error).__name__}

    for name, environment, user in settings(scratch):
        print(json.dumps({"setting": name, **in_child(scratch, environment, user, directory)}), flush=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{scratch}/isa"
    from torch._inductor import cpu_vec_isa
    picked = {}
    for capability in CAPABILITIES:
        os.environ.pop("ATEN_CPU_CAPABILITY", None)
        if capability:
            os.environ["ATEN_CPU_CAPABILITY"] = capability
        picked[str(capability)] = str(cpu_vec_isa.pick_vec_isa())
    print(json.dumps({"setting": "vectors", "picked": picked, "release": torch.__version__}))


def covers(item, release):
    def number(text):
        return tuple(int(part) for part in text.split(".")[:2])
    return number(item["first"]) <= number(release) <= number(item["last"])


def ask_doctor(cachetool, scratch, environment, user):
    whom = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    done = subprocess.run([cachetool, "doctor", "--json", "--no-sizes"], env=environment, cwd=scratch, capture_output=True,
                          check=False, **whom)
    return json.loads(done.stdout)


def main():
    if sys.argv[1] == "--torch":
        ask_torch(sys.argv[2])
        return 0
    cachetool, python = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o777)
        for name, mode in (("tmp", 0o1777), ("closed", 0o755), ("bin", 0o755)):
            os.mkdir(f"{scratch}/{name}")
            os.chmod(f"{scratch}/{name}", mode)
        pathlib.Path(f"{scratch}/file").write_text("")
        program = f"{scratch}/bin/cachetool"  # where every user can run it
        pathlib.Path(program).write_bytes(pathlib.Path(cachetool).read_bytes())
        os.chmod(program, 0o755)
        answers = subprocess.run([python, __file__, "--torch", scratch], capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in answers.stdout.splitlines() if line.startswith("{")]
        if not lines or lines[-1]["setting"] != "vectors":
            print(f"torch gave no answer: {answers.stderr.strip().splitlines()[-1:]}")
            return 1
        release = lines[-1]["release"]
        for item in lines[:-1]:  # torch makes the directories; this one isn't in the scratch folder
            if item["setting"] == "no TMPDIR" and "path" in item:
                os.rmdir(item["path"])
        failures = []
        for (name, environment, user), torch_says in zip(settings(scratch), lines[:-1]):
            directory = ask_doctor(program, scratch, environment, user)["directory"]
            outcome = next(item for item in directory["torch"] if covers(item, release))
            expected = torch_says.get("path")
            if outcome["path"] != expected or (outcome["failure"] is None) != ("failure" not in torch_says):
                failures.append(f"{name}: torch {torch_says}, doctor {outcome}")
            if torch_says.get("default") not in (None, directory["default"]):
                failures.append(f"{name}: default {torch_says['default']}, doctor {directory['default']}")
        for capability in CAPABILITIES:
            environment = {"ATEN_CPU_CAPABILITY": capability} if capability else {}
            picked = lines[-1]["picked"][str(capability)]
            isa = next((item["isa"] for item in ask_doctor(program, scratch, environment, None)["machine"]["vector_isa"]
                        if covers(item, release)), None)
            if {"none": "INVALID_VEC_ISA"}.get(isa, isa) != picked:
                failures.append(f"ATEN_CPU_CAPABILITY={capability}: torch {picked}, doctor {isa}")
        print(f"{len(lines) - 1} settings, {len(CAPABILITIES)} capabilities, {len(failures)} differences")
        for failure in failures:
            print(f"        {failure}")
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
