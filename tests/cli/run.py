#!/usr/bin/env python3
"""Runs transcripts of the program and compares what it prints.

Usage: run.py PROGRAM [--update] [--keep] [CASE...]

A case is a file cases/NAME.txt. Lines of a case:

    # remark
    @ corpus NAME        unpack tests/data/NAME.tar.zst into the scratch folder as NAME/, or copy the folder tests/data/NAME
    @ unprivileged       as root, run the commands as user 65534
    @ columns N          COLUMNS for the commands that follow
    @ hide REGEX => TEXT replace in every output of this case
    $ COMMAND            run by sh in the scratch folder; `cachetool` is the program under test
    text                 an expected line of standard output
    ! text               an expected line of standard error
    ? N                  the expected exit status, where it isn't 0

Outputs are compared after normalising: the scratch folder is $S, times are <time>, "N ago" is "<age> ago". Every file of a corpus gets
the same time of writing, so ages are the same in each run. --update writes what the program printed into the cases.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
NOBODY = 65534
AGE_SECONDS = 2 * 86400 + 3600


class Case:
    """One transcript: directives, then commands with what they should print."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text().splitlines()
        self.corpora = []
        self.hidden = []
        self.unprivileged = False
        for line in self.lines:
            if line.startswith("@ corpus "):
                self.corpora.append(line[len("@ corpus "):].strip())
            elif line.startswith("@ hide "):
                pattern, text = line[len("@ hide "):].split(" => ", 1)
                self.hidden.append((re.compile(pattern, re.M), text))
            elif line == "@ unprivileged":
                self.unprivileged = True

    def normalise(self, text, scratch):
        text = text.replace(str(scratch), "$S")
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>", text)
        text = re.sub(r"\(\d+[smhdwy] ago\)", "(<age> ago)", text)
        for pattern, replacement in self.hidden:
            text = pattern.sub(replacement, text)
        return text

    def run(self, program, scratch):
        """The transcript as the program makes it."""
        result = []
        expected = []
        columns = None
        user = {}
        if self.unprivileged and os.geteuid() == 0:
            user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        environment = {"PATH": f"{scratch.parent}/bin:{os.environ.get('PATH', '/usr/bin:/bin')}", "HOME": str(scratch),
                       "LC_ALL": "C.UTF-8", "TMPDIR": str(scratch), "USER": "tester", "LOGNAME": "tester"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE"):
            if name in os.environ:
                environment[name] = os.environ[name]
        for line in self.lines:
            if line.startswith("@ columns "):
                columns = line[len("@ columns "):].strip()
            if line.startswith(("#", "@")) or (not line and not expected):
                result.append(line)
                continue
            if not line.startswith("$ "):
                continue
            expected = [line]
            if columns:
                environment["COLUMNS"] = columns
            done = subprocess.run(["sh", "-c", line[2:]], cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=120, check=False, **user)
            result.append(line)
            out = self.normalise(done.stdout.decode("utf-8", "backslashreplace").replace("\r\n", "\\r\n"), scratch)
            error = self.normalise(done.stderr.decode("utf-8", "backslashreplace"), scratch)
            result += [escape(text) for text in out.splitlines()]
            result += ["! " + text for text in error.splitlines()]
            if done.returncode != 0:
                result.append(f"? {done.returncode}")
        return result


def escape(line):
    """An output line that looks like a line of a transcript gets a backslash."""
    return "\\" + line if line.startswith(("$ ", "! ", "? ", "@ ", "#", "\\")) else line


def unpack(name, target):
    if (DATA / name).is_dir():
        shutil.copytree(DATA / name, target / name)
        return
    subprocess.run(["tar", "--zstd", "--no-same-owner", "-xf", str(DATA / f"{name}.tar.zst"), "-C", str(target)],
                   check=True)
    when = time.time() - AGE_SECONDS
    for folder, folders, files in os.walk(target / name):
        for entry in folders + files:
            os.utime(os.path.join(folder, entry), (when, when), follow_symlinks=False)


def run_case(case, program, update, keep):
    top = pathlib.Path(tempfile.mkdtemp(prefix="cachetool-cli-"))
    try:
        os.chmod(top, 0o755)
        (top / "bin").mkdir()
        shutil.copy2(program, top / "bin" / "cachetool")
        scratch = top / "scratch"
        scratch.mkdir()
        for corpus in case.corpora:
            unpack(corpus, scratch)
        if case.unprivileged and os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(scratch)], check=True)
        actual = case.run(program, scratch)
    finally:
        if not keep:
            subprocess.run(["chmod", "-R", "u+rwX", str(top)], check=False)
            shutil.rmtree(top, ignore_errors=True)
    if actual == case.lines:
        return True
    if update:
        case.path.write_text("\n".join(actual) + "\n")
        print(f"{case.path.stem}: updated")
        return True
    print(f"{case.path.stem}: FAILED")
    import difflib
    for line in difflib.unified_diff(case.lines, actual, "expected", "printed", lineterm="", n=2):
        print("    " + line)
    return False


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    options = {a for a in sys.argv[1:] if a.startswith("--")}
    if not arguments or options - {"--update", "--keep"}:
        sys.exit(__doc__)
    program = pathlib.Path(arguments[0]).resolve()
    paths = sorted((HERE / "cases").glob("*.txt"))
    if len(arguments) > 1:
        paths = [path for path in paths if path.stem in arguments[1:]]
    results = [run_case(Case(path), program, "--update" in options, "--keep" in options) for path in paths]
    print(f"{len(results)} cases, {results.count(False)} failed")
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
