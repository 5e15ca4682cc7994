#!/usr/bin/env python3
"""Asks a real torch which candidate of a key it would use, and compares with `cachetool replay KEY --hints …`.

usage: lookup.py CACHETOOL PYTHON        PYTHON: an interpreter that has torch
       lookup.py --compile CACHE         (how this program calls itself: graphs with several candidates per key)
       lookup.py --alter CASES           (changed copies of their entries, pickled by torch)
       lookup.py --ask                   (JSON questions on standard input, answers on standard output)

The caches looked into are copies of the compiled one: as it is, with candidates cut, replaced, renamed, hidden behind a dot or a name
that isn't UTF-8, with changed guards, without the attribute, with graphs missing behind an AOTAutograd entry, and with flipped bits.
Result, candidate, guards and counters must be equal. Where bits were flipped cachetool may answer `unknown`, never something wrong.
"""
import collections
import hashlib
import itertools
import json
import logging
import os
import pathlib
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import unittest.mock

FLIPS = 40


# ---- in a process that has torch

def compile_all(cache):
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=cache, TORCHINDUCTOR_FX_GRAPH_CACHE="1", TORCHINDUCTOR_AUTOGRAD_CACHE="1",
                      TORCHINDUCTOR_COMPILE_THREADS="1")
    import torch

    def one_size(x):  # the same graph on both sides, guarded differently
        return torch.mm(x, x.t()).sum() if x.shape[0] <= 8 else torch.mm(x, x.t()).sum()

    def two_sizes(x, y):
        if x.shape[0] > y.shape[0]:
            return torch.mm(x, x.t()).sum() + torch.mm(y, y.t()).sum()
        return torch.mm(x, x.t()).sum() + torch.mm(y, y.t()).sum()

    def fixed(x):
        return torch.mm(x, x)

    def run(function, *shapes, grad=False):
        torch._dynamo.reset()
        inputs = [torch.randn(*shape, requires_grad=grad) for shape in shapes]
        for tensor, shape in zip(inputs, shapes):
            for dim in range(len(shape) if function is not fixed else 0):
                if dim == 0:
                    torch._dynamo.mark_dynamic(tensor, dim)
        result = torch.compile(function)(*inputs)
        if grad:
            result.backward()

    for grad in (False, True):
        run(one_size, (5, 4), grad=grad)
        run(one_size, (17, 4), grad=grad)
    run(two_sizes, (9, 4), (6, 3))
    run(two_sizes, (6, 4), (9, 3))
    run(fixed, (4, 4))


def alter(cases_path):
    """Each case: source, target, what to do with the object's attributes."""
    import torch  # noqa: F401  (its classes are needed)
    import torch._inductor.codecache  # noqa: F401

    for case in json.loads(pathlib.Path(cases_path).read_text()):
        with open(case["source"], "rb") as file:
            value = pickle.load(file)
        for name, new in case.get("set", {}).items():
            setattr(value, name, new)
        for name in case.get("delete", []):
            delattr(value, name)
        with open(case["target"].encode("utf-8", "surrogateescape"), "wb") as file:
            pickle.dump(value, file)


class Recorder:
    """Stands for a module's `pickle`: remembers what was loaded last."""

    def __init__(self):
        self.content = None

    def __getattr__(self, name):
        return getattr(pickle, name)

    def loads(self, content, *rest, **options):
        value = pickle.loads(content, *rest, **options)
        self.content = content
        return value

    def load(self, file, *rest, **options):
        return self.loads(file.read(), *rest, **options)


class Warnings(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record):
        self.count += "unable to load compiled graph" in record.getMessage()


def ask():
    import torch
    import torch._inductor.compile_fx  # noqa: F401
    from torch._dynamo.source import ConstantSource
    from torch._dynamo.utils import counters
    from torch._functorch._aot_autograd import autograd_cache
    from torch._guards import TracingContext, tracing
    from torch._inductor import codecache, output_code
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

    recorder, warnings = Recorder(), Warnings()
    codecache.pickle = autograd_cache.pickle = recorder
    for module in (codecache, autograd_cache):
        module.log.addHandler(warnings)
        module.log.propagate = False
    fx, aot = codecache.FxGraphCache, autograd_cache.AOTAutogradCache
    guarded = hasattr(codecache, "GuardedCache")
    where = {}
    fx._get_tmp_dir = staticmethod(lambda: os.path.join(where["cache"], "fxgraph"))
    aot._get_tmp_dir = staticmethod(lambda: os.path.join(where["cache"], "aotautograd"))
    # What follows a hit isn't asked for.
    if hasattr(fx, "cache_hit_post_compile"):
        fx.cache_hit_post_compile = staticmethod(lambda graph, info, constants: (graph, info))
    else:
        output_code.CompiledFxGraph.after_deserialization = lambda graph, constants: "none"
        codecache.metrics.CachedMetricsHelper.apply_deltas = staticmethod(lambda deltas: None)
        # They want a compile to be under way.
        for module, name in itertools.product((codecache, autograd_cache), ("get_metrics_context", "CompileEventLogger")):
            if hasattr(module, name):
                setattr(module, name, unittest.mock.MagicMock())
    output_code.CompiledFxGraph.post_compile = lambda graph, *rest: None
    constants = output_code.CompiledFxGraphConstants()

    def find_graph(key, symints):
        graph, info = fx.load_with_key(key, [], symints, True, None, False, constants)
        return ("hit" if graph is not None else "miss"), info

    def find_aot(key, symints):
        info = {}
        if guarded:
            found = aot._lookup(key, True, False, symints, info, None)
            entry = found[0] if isinstance(found, tuple) else found
        else:
            entry = aot._lookup(key, True, False)
        content = recorder.content
        if entry is None:
            counters["aot_autograd"]["autograd_cache_miss"] += 1
            return "miss", info, content
        try:
            rest = () if guarded else ({"cudagraphs": None},)
            entry.compiled_fw.load(symints, *rest)
            if entry.compiled_bw is not None:
                entry.compiled_bw.load(symints, *rest)
        except autograd_cache.FXGraphCacheMiss:  # as AOTAutogradCache.load and try_load do
            counters["aot_autograd"]["autograd_cache_miss"] += 1
            if not guarded:
                counters["aot_autograd"]["autograd_cache_guard_miss"] += 1
            return "miss", {}, content
        except Exception as error:
            counters["aot_autograd"]["autograd_cache_bypass"] += 1
            return "bypass", {"error": str(error)}, content
        counters["aot_autograd"]["autograd_cache_hit"] += 1
        return "hit", info, content

    for question in json.load(sys.stdin):
        where["cache"], key = question["cache"], question["key"]
        counters.clear()
        recorder.content, warnings.count, answer = None, 0, {}
        shape_env = ShapeEnv()
        symints = [shape_env.create_unspecified_symint_and_symbol(value, ConstantSource(f"size_{i}"), DimDynamic.DYNAMIC)
                   for i, value in enumerate(question["sizes"])]
        with tracing(TracingContext(FakeTensorMode(shape_env=shape_env))):
            try:
                if key.startswith("f"):
                    answer["result"], info = find_graph(key, symints)
                    content = recorder.content
                else:
                    answer["result"], info, content = find_aot(key, symints)
                answer["detail"] = info.get("cache_status_detailed")
                answer["error"] = info.get("error")
                answer["guards_expr"] = info.get("cache_status_guard_expr")
            except Exception as error:
                answer["result"], answer["raised"], content = "raises", type(error).__name__, None
                answer["error"] = str(error)
        if answer["result"] == "hit":
            answer["sha256"] = hashlib.sha256(content).hexdigest()
        answer["warnings"] = warnings.count
        answer["counters"] = {name: count for group in ("inductor", "aot_autograd") for name, count in counters[group].items()
                              if name.startswith(("fxgraph_cache_", "autograd_cache_")) and count}
        print(json.dumps(answer), flush=True)


# ---- without torch

def keys_of(cache):
    """key → its directory and the sizes that its guards ask for at most."""
    found = {}
    for folder in [*cache.glob("fxgraph/*/f*"), *cache.glob("aotautograd/a*")]:
        found[folder.name] = folder
    return found


class Caches:
    """Changed copies of a cache."""

    def __init__(self, original, scratch, release):
        self.original, self.scratch, self.release = original, scratch, release
        self.made = []  # (name, path, may be unknown)
        self.cases = []

    def copy(self, name, may_be_unknown=False):
        target = self.scratch / name
        for part in ("fxgraph", "aotautograd"):
            if (self.original / part).is_dir():
                shutil.copytree(self.original / part, target / part)
        self.made.append((name, target, may_be_unknown))
        return target

    def each_key(self, name, change, **options):
        cache = self.copy(name, **options)
        for key, folder in keys_of(cache).items():
            files = sorted(path for path in folder.iterdir())
            if files:
                change(key, folder, files)

    def altered(self, source, target, **changes):
        self.cases.append({"source": str(source), "target": str(target), **changes})

    def make(self):
        self.copy("as it is")
        self.each_key("first cut", lambda key, folder, files: files[0].write_bytes(files[0].read_bytes()[:-20]))
        self.each_key("all cut", lambda key, folder, files: [file.write_bytes(file.read_bytes()[:500]) for file in files])
        self.each_key("empty files", lambda key, folder, files: files[0].write_bytes(b""))
        self.each_key("garbage before", lambda key, folder, files: (folder / "0").write_bytes(b"not a pickle"))
        self.each_key("a dict before", lambda key, folder, files: (folder / "0").write_bytes(pickle.dumps({})))
        self.each_key("a number last", lambda key, folder, files: (folder / "zz").write_bytes(pickle.dumps(7)))
        self.each_key("None before", lambda key, folder, files: (folder / "0").write_bytes(pickle.dumps(None)))
        self.each_key("a directory", lambda key, folder, files: (folder / "0").mkdir())
        self.each_key("hidden", lambda key, folder, files: files[-1].rename(folder / ".123.456.tmp"))
        self.each_key("another temporary", lambda key, folder, files: files[-1].rename(folder / "tmp.1.tmp"))
        self.each_key("nothing there", lambda key, folder, files: [file.unlink() for file in files])
        self.each_key("trailing bytes", lambda key, folder, files: files[0].write_bytes(files[0].read_bytes() + b"more"))
        self.each_key("graphs gone", lambda key, folder, files: key[0] == "f" and shutil.rmtree(folder))
        self.each_key("backward gone", self.remove_backward)
        self.each_key("names", self.rename)
        self.each_key("no guards last", lambda key, folder, files: self.altered(files[0], folder / "zz", set={"guards_expr": None}))
        self.each_key("empty guards first", lambda key, folder, files: self.altered(files[0], folder / "0", set={"guards_expr": ""}))
        self.each_key("attribute gone", lambda key, folder, files: self.altered(
            files[0], folder / "0", delete=["guards_expr"] if self.has_guards(key) else []))
        for number, guards in enumerate(GUARDS):
            self.each_key(f"guards {number}", lambda key, folder, files: self.altered(
                files[0], folder / "0", set={"guards_expr": guards} if self.has_guards(key) else {}))
        if self.release >= (2, 12):
            for number, change in enumerate(({"set": {"extern_libs_key": "libdevice-other"}}, {"set": {"extern_libs_key": None}},
                                             {"delete": ["extern_libs_key"]})):
                self.each_key(f"libraries {number}", lambda key, folder, files: key[0] == "f" and self.altered(
                    files[0], files[0], **change))
        rng = random.Random(7)
        for number in range(FLIPS):
            self.each_key(f"flip {number}", lambda key, folder, files: self.flip(rng, rng.choice(files)), may_be_unknown=True)

    def has_guards(self, key):
        return key[0] == "f" or self.release >= (2, 8)

    @staticmethod
    def remove_backward(key, folder, files):
        if key[0] == "f" and any(b'"is_backward": True' in file.read_bytes() or b"tangents_1" in file.read_bytes() for file in files):
            shutil.rmtree(folder)

    @staticmethod
    def rename(key, folder, files):
        # Bytes say \xff is last and Python's surrogates say it isn't; é sorts after 0xc3 as a byte and before U+DC80 as text.
        names = [b"\xff", "\uffff".encode(), "é".encode(), b"\x80", "\U00010000".encode()]
        for file, name in zip(itertools.cycle(files), names if files[0].name != "entry" else []):
            shutil.copyfile(file, os.path.join(os.fsencode(folder), name))
        (folder / "é").write_bytes(b"garbage")

    @staticmethod
    def flip(rng, file):
        content = bytearray(file.read_bytes())
        at = rng.randrange(len(content))
        content[at] ^= 1 << rng.randrange(8)
        file.write_bytes(content)


# Guards as torch never writes them, and what Python makes of them.
GUARDS = [
    "L['t0'] % (L['t0'] - 5) == 0",  # ZeroDivisionError
    "L['t0'] < 3 or L['t7'] > 3",  # KeyError, unless the first part holds
    "s77 > 3",  # NameError
    "2 <= L['t0'] <= 8",
    "L['t0'] // 2 * 2 == L['t0'] and not L['t0'] == 6",
    "max(L['t0'], 7) == 7 if L['t0'] > 2 else True",
]
SIZES = [0, 1, 2, 3, 5, 6, 7, 8, 9, 16, 17, 1000, 2**31, 2**40]


def size_tuples(count):
    if count == 0:
        return [[]]
    if count == 1:
        return [[size] for size in SIZES]
    return [list(sizes) for sizes in itertools.product((2, 6, 8, 9, 1000), repeat=count)][:30]


def run_python(python, *arguments, stdin=None):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([python, __file__, *arguments], input=stdin, capture_output=True, text=True, env=environment, timeout=900)
    if done.returncode:
        sys.exit(f"{arguments[0]} failed: {done.stderr[-2000:]}")
    return done.stdout


def cachetool_answer(cachetool, question):
    command = [cachetool, "replay", "key:" + question["key"], "--cache-dir", question["cache"], "--json"]
    command += ["--torch-release", question["release"], "--extern-libs-key", "none"]
    if question["sizes"]:
        command += ["--hints", ",".join(map(str, question["sizes"]))]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        return {"result": "error", "message": done.stderr.strip()[:300]}
    return json.loads(done.stdout)["lookups"][0]


def differences(question, theirs, ours):
    if ours["result"] == "error":
        # cachetool has nothing to look up where the key's directory is gone.
        return [] if theirs["result"] == "miss" and not os.path.isdir(question["folder"]) else [("result", theirs["result"], ours["message"])]
    result = ours["result"]
    wrong = []
    if result == "unknown":
        return [] if question["may_be_unknown"] else [("result", theirs["result"], ours["message"])]
    # Before 2.8 the same function goes on to use the graph, which isn't the lookup any more.
    if question["may_be_unknown"] and result == "hit" and "has no attribute" in (theirs.get("error") or ""):
        return []
    if {"guard_miss": "miss", "full_miss": "miss"}.get(result, result) != theirs["result"]:
        return [("result", theirs, (result, ours["message"]))]
    if question["may_be_unknown"] and ours["assumptions"] and theirs["result"] == "miss":
        return []  # said: a candidate with false guards may not load, which only torch's words depend on
    if theirs["result"] == "miss" and theirs.get("detail") in ("guard_miss", "full_miss") and theirs["detail"] != result:
        wrong.append(("detail", theirs["detail"], result))
    if theirs["result"] == "hit":
        path = os.path.join(os.fsencode(question["cache"]), ours["path"].encode("utf-8", "surrogateescape"))
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        if digest != theirs["sha256"]:
            wrong.append(("candidate", theirs["sha256"][:12], ours["leaf"]))
    elif theirs.get("guards_expr") and theirs["guards_expr"] != ours["guards_expr"]:
        wrong.append(("guards", theirs["guards_expr"], ours["guards_expr"]))
    if theirs["result"] == "raises" and theirs["raised"] != ours["raised"].split(":")[0]:
        wrong.append(("raised", theirs["raised"], ours["raised"]))
    if theirs["result"] != "raises" and theirs["counters"] != ours["counters"]:
        wrong.append(("counters", theirs["counters"], ours["counters"]))
    # A caught exception is told in the same words, but isn't a warning.
    caught = ours["raised"] is not None and question["key"].startswith("a") and result == "full_miss"
    warnings = sum("unable to load compiled graph" in line for line in ours["log"]) - caught
    doubtful = question["may_be_unknown"] and ours["assumptions"]  # what a candidate that isn't used may be warned of
    if tuple(map(int, question["release"].split(".")[:2])) >= (2, 8) and theirs["warnings"] != warnings and not doubtful:
        wrong.append(("warnings", theirs["warnings"], ours["log"]))
    return wrong


def compare(cachetool, python):
    version = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=True).stdout.strip()
    release = tuple(int(part) for part in version.split(".")[:2])
    failed, counts = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        original = scratch / "original"
        run_python(python, "--compile", str(original))
        caches = Caches(original, scratch, release)
        caches.make()
        (scratch / "cases.json").write_text(json.dumps(caches.cases))
        run_python(python, "--alter", str(scratch / "cases.json"))
        questions, several, rng = [], 0, random.Random(3)
        for name, cache, may_be_unknown in caches.made:
            for key, folder in keys_of(original).items():
                several += len(list(folder.iterdir())) > 1 and cache is caches.made[0][1]
                shown = cachetool_answer(cachetool, {"key": key, "cache": str(original), "release": version, "sizes": []})
                for sizes in size_tuples(len(shown["sizes"])):
                    if may_be_unknown and rng.random() < 0.7:
                        continue
                    questions.append({"variant": name, "cache": str(cache), "key": key, "sizes": sizes, "release": version,
                                      "may_be_unknown": may_be_unknown, "folder": str(cache / folder.relative_to(original))})
        answers = [json.loads(line) for line in run_python(python, "--ask", stdin=json.dumps(questions)).splitlines() if line.startswith("{")]
        if len(answers) != len(questions):
            sys.exit(f"{len(answers)} answers to {len(questions)} questions")
        for question, theirs in zip(questions, answers):
            ours = cachetool_answer(cachetool, question)
            counts["unknown" if ours["result"] == "unknown" else theirs["result"]] += 1
            for what in differences(question, theirs, ours):
                failed += 1
                if failed <= 20:
                    print(f"      {question['variant']}: {question['key'][:8]} {question['sizes']}: {what}")
    if several == 0:
        failed += 1
        print("      no key has several candidates")
    print(f"{len(questions)} lookups, {several} keys with several candidates: " +
          ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) + f"; {failed} differ")
    return 1 if failed else 0


def main():
    if sys.argv[1] == "--compile":
        compile_all(sys.argv[2])
    elif sys.argv[1] == "--alter":
        alter(sys.argv[2])
    elif sys.argv[1] == "--ask":
        ask()
    else:
        sys.exit(compare(sys.argv[1], sys.argv[2]))


if __name__ == "__main__":
    main()
