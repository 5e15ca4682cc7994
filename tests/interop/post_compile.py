#!/usr/bin/env python3
"""Compares the decisions of `cachetool replay` with those of torch's own post-compile on random graphs.

Usage: post_compile.py CACHETOOL [CASES [SEED]]     run by a Python that has torch; no GPU is needed

Graphs with random fields (devices, reasons, partitions, constants, boxes, odd positions) are pickled, loaded again and given to the release's
own CompiledFxGraph.post_compile under random settings. What it would start on a GPU is observed from outside: cudagraphify, the
realignment wrapper, the manager of CUDA graph trees, the bisector, a policy, the loggers. Then cachetool reads the same pickle under the
same settings, and result, exception, messages, counters, boxes and arguments must be equal. Some graphs come as the forward and backward
of an AOTAutograd entry that bundles them.
"""

import json
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import types

import torch
import torch._inductor.codecache
import torch._inductor.compile_fx as compile_fx
import torch._inductor.config as config
import torch._inductor.cudagraph_trees as cudagraph_trees
import torch._inductor.cudagraph_utils as cudagraph_utils
import torch._inductor.output_code as output_code
import torch._inductor.utils as inductor_utils
from torch._dynamo.utils import counters
from torch._inductor.output_code import CompiledFxGraph

FAMILY = tuple(int(part) for part in torch.__version__.split(".")[:2])
GROUP = 8  # cases that share their settings, and a call of cachetool
RELEASE = f"{FAMILY[0]}.{FAMILY[1]}"


class Observed:
    """What post-compile did, seen from outside."""

    def __init__(self):
        self.wraps, self.aligned, self.log, self.kind = [], [], [], None
        self.manager_told = self.wrote_back = False


observed = Observed()


def like(inner):
    return lambda inputs: inner(inputs)


def record_wrap(model, *, static_input_idxs=(), device_index, is_backward, is_inference, stack_traces, constants, placeholders,
                mutated_input_idxs, **rest):
    wrap = {
        "device_index": device_index, "is_backward": is_backward, "is_inference": is_inference,
        "static_input_idxs": list(static_input_idxs), "mutated_input_idxs": list(mutated_input_idxs),
        "placeholders": [item.name for item in placeholders], "n_constants": len(constants),
        "stack_traces_present": [trace is not None for trace in stack_traces or ()],
    }
    if FAMILY >= (2, 14):
        wrap["kernel_free_cudagraph"] = rest.pop("kernel_free_cudagraph")
        wrap["user_visible_output_idxs"] = list(rest.pop("user_visible_output_idxs"))
    assert not rest, rest
    observed.wraps.append(wrap)
    observed.kind = observed.kind or "cudagraph"
    return like(model)


def record_alignment(model, inputs_to_check, mutated=()):
    if not inputs_to_check:
        return model
    observed.aligned.extend(inputs_to_check)
    observed.wrote_back = any(i in mutated for i in inputs_to_check)
    return like(model)


class Policy:
    """config.cudagraph_policy."""

    def __init__(self, wraps):
        self.wraps = wraps

    def should_wrap(self, graph):
        return self.wraps

    def cudagraphify(self, model, example_inputs, static_input_idxs, **arguments):
        return record_wrap(model, static_input_idxs=static_input_idxs, **arguments)


class Manager:
    def set_to_running_backward(self):
        observed.manager_told = True


class Log:
    def warning(self, message):
        observed.log.append(message)


def observe():
    """Replaces what needs a GPU or isn't a decision of post-compile."""
    compile_fx.cudagraphify = record_wrap
    output_code.align_inputs_from_check_idxs = record_alignment
    for name in ("perf_hint_log", "cudagraphs_log"):
        if hasattr(cudagraph_utils, name):
            setattr(cudagraph_utils, name, Log())


class Settings:
    """What a caller has set, for torch and as cachetool's options."""

    def __init__(self, rng):
        self.cudagraphs = rng.random() < 0.9
        self.partition = FAMILY >= (2, 8) and rng.random() < 0.6
        self.trees = rng.random() < 0.85
        self.or_error = FAMILY >= (2, 9) and rng.random() < 0.15
        self.box = rng.choice(["none", "none", "absent", "0", "3"])
        self.policy = rng.choice(["none"] * 6 + ["wrap", "no-wrap"]) if FAMILY >= (2, 12) else "none"
        self.custom = FAMILY >= (2, 9) and rng.random() < 0.06
        self.bisector = FAMILY >= (2, 11) and rng.random() < 0.12
        self.manager = rng.random() < 0.6

    def apply(self):
        if FAMILY >= (2, 7):
            config.graph_partition = self.partition
        config.triton.cudagraph_trees = self.trees
        if FAMILY >= (2, 9):
            config.triton.cudagraph_or_error = self.or_error
            inductor_utils._unstable_customized_partition_wrapper.wrapper = self.custom_wrapper if self.custom else None
        if FAMILY >= (2, 12):
            config.cudagraph_policy = None if self.policy == "none" else Policy(self.policy == "wrap")
        if FAMILY >= (2, 11):
            from torch._inductor.compiler_bisector import CompilerBisector

            CompilerBisector.disable_subsystem = staticmethod(lambda *_, **__: self.bisector)
        cudagraph_trees.get_manager = lambda *_, **__: Manager() if self.manager else None

    @staticmethod
    def custom_wrapper(function, metadata):
        observed.kind = ("custom", metadata.num_partitions)
        return function

    def options(self):
        def word(value):
            return "on" if value else "off"

        given = {
            "cudagraphs": word(self.cudagraphs), "graph_partition": word(self.partition), "triton.cudagraph_trees": word(self.trees),
            "triton.cudagraph_or_error": word(self.or_error), "forward_device_index": self.box, "cudagraph_policy": self.policy,
            "customized_partition_wrapper": word(self.custom), "compiler_bisector": word(self.bisector),
            "cudagraph_manager": word(self.manager),
        }
        return [option for name, value in given.items() for option in ("--set", f"{name}={value}")]

    def box_object(self):
        if self.box == "absent":
            return None
        return cudagraph_utils.BoxedDeviceIndex(None if self.box == "none" else int(self.box))


def wrapper_text(rng, partitions):
    """A wrapper module with a runner of that many partitions; None: a module without one."""
    text = "kernel = '''\nrunner = Runner(partitions=[partition_0,])\n'''\n" if rng.random() < 0.1 and partitions is not None else ""
    if partitions is None:
        return text + "def call(args):\n    return ()\n"
    names = "".join(f"partition_{i}," for i in range(partitions))
    defs = "".join(f"def partition_{i}(args):\n    return ()\n" for i in range(partitions))
    return text + defs + (
        "class Runner:\n    def __init__(self, partitions):\n        self.partitions = partitions\n\n"
        "    def recursively_apply_fns(self, fns):\n"
        "        self.partitions = [fn(c) for fn, c in zip(fns, self.partitions)]\n\n"
        "    def call(self, args):\n        return ()\n"
        f"runner = Runner(partitions=[{names}])\ncall = runner.call\nrecursively_apply_fns = runner.recursively_apply_fns\n")


REASONS = [
    "skipping cudagraphs due to multiple devices: ", "skipping cudagraphs due to cpu device (arg0_1). Found from : \n   File \"a.py\"\n",
    "skipping cudagraphs due to mutated inputs (2 instances)", "input storage mutation (1 instances)",
    "disabling cudagraphs due to incompatible op aten.nonzero.default Found from   File\n", "caf\u00e9 \u2014 \U0001f600", "",
]
FAILS = ["mutated inputs", "complex memory overlap", "non-Tensor inputs", "input storage mutation", "it's", 'a "b"', "new\nline", "\u00e9\u200b"]


def random_partition(rng, index, n_inputs, n_outputs, names):
    def position(count):
        if rng.random() < 0.03:
            return rng.choice([count, -1, -count, -count - 1, count + 5])
        return rng.randrange(count) if count else 0

    def output():
        if FAMILY < (2, 14):
            return None if rng.random() < 0.4 else position(n_outputs)
        return [position(n_outputs) for _ in range(rng.choice([0, 1, 1, 2, 3]))]

    inputs = [None if rng.random() < 0.3 else position(n_inputs) for _ in range(rng.randrange(6))]
    constants = [rng.choice(names) for _ in range(rng.randrange(3))] if names else []
    if rng.random() < 0.04:
        constants.append("not_there")
    return inductor_utils.GraphPartitionMap(
        id=index + rng.choice([0, 0, 0, 7]), input_index_mapping=inputs, output_index_mapping=[output() for _ in range(rng.randrange(5))],
        constant_names=constants)


def random_graph(rng, is_backward, entry_box):
    def chance(p):
        return rng.random() < p

    def numbers(count, high):
        return [rng.randrange(high) for _ in range(count)]

    n_inputs, n_outputs = rng.randrange(1, 12), rng.randrange(1, 5)
    ordered = set if FAMILY < (2, 7) else inductor_utils.OrderedSet
    devices = rng.choice([["cuda"]] * 8 + [["cpu"], ["cuda", "cpu"], ["xpu"], ["mps"], ["mtia"], ["cpu", "xpu"], ["meta"], ["tpu"], []])
    constants = {f"c{i}": torch.ones(2) if chance(0.85) else 5 for i in range(rng.choice([0, 0, 1, 3]))}
    frozen = {f"p{i}": f"_frozen_param{i}" for i in range(rng.randrange(1, 3))} if chance(0.15) else {}
    names = list(constants)
    graph = CompiledFxGraph.__new__(CompiledFxGraph)
    fields = {name: None for name in CompiledFxGraph.__dataclass_fields__}
    fields.update(
        cache_key="c" + "b" * 50 + "a", device_types=ordered(devices),
        device_idxs=ordered(numbers(rng.choice([1, 1, 1, 1, 2, 0] if chance(0.3) else [1]), 8)),
        mutated_inputs=ordered(), mutated_input_idxs=ordered(numbers(rng.choice([0, 0, 1, 3]), n_inputs)),
        constants=None if chance(0.02) else constants, torchbind_constants={},
        output_strides=[rng.choice([None, ("4", "1"), ("s0*4", "s0")]) for _ in range(n_outputs)],
        disabled_cudagraphs_reason=rng.choice(REASONS) if chance(0.2) else None,
        inputs_to_check=rng.choice([list, tuple])(sorted(set(numbers(rng.randrange(4), n_inputs)))), source_code="", _boxed_call=True)
    if FAMILY >= (2, 7):
        fields["frozen_param_names"] = frozen
        names += list(frozen)
    else:
        fields["allocated_constant_name"] = frozen or None
        if frozen:
            fields["constants"] = None
    if FAMILY >= (2, 10):
        fields["opaque_value_type_classes"] = {"Size": torch.Size} if chance(0.1) else {}
        names += list(fields["opaque_value_type_classes"])
        fields["_wrap_compiled_regions"] = chance(0.1)
    if FAMILY >= (2, 12):
        fields["_defers_input_alignment"] = chance(0.4)
    if FAMILY >= (2, 14):
        fields["kernel_free_cudagraph"] = chance(0.3)
    if FAMILY >= (2, 15):
        fields["has_uncaptured_partition"] = chance(0.3)
    if FAMILY >= (2, 8):
        maps = [random_partition(rng, i, n_inputs, n_outputs, names) for i in range(rng.choice([0, 1, 1, 2, 4]))]
        fields["partition_maps"] = None if chance(0.05) else maps
        runner = len(maps) + rng.choice([0] * 8 + [1, -1])
        fields["source_code"] = wrapper_text(rng, None if chance(0.06) else max(runner, 0))
    else:
        fields["boxed_forward_device_index"] = entry_box
    if not chance(0.06):
        info = dict(
            placeholders=tuple(cudagraph_utils.PlaceholderInfo(f"arg{i}_1", None, [], None) for i in range(n_inputs)),
            stack_traces=None if chance(0.03) else [rng.choice([None, "trace"]) for _ in range(n_outputs)],
            cudagraph_fail_reasons=rng.sample(FAILS, rng.choice([1, 1, 2, 3])) if chance(0.3) else [])
        if FAMILY >= (2, 14):
            info["user_visible_output_idxs"] = tuple(sorted(set(numbers(rng.randrange(3), n_outputs))))
        fields["cudagraph_info"] = cudagraph_utils.CudagraphCachedInfo(**info)
    fields["fx_kwargs"] = {
        "cudagraphs": inductor_utils.BoxedBool(chance(0.7)) if FAMILY < (2, 9) or chance(0.5) else chance(0.7),
        "static_input_idxs": rng.choice([None, (), [], tuple(numbers(3, n_inputs)), numbers(2, n_inputs)]), "is_backward": is_backward,
        "is_inference": not is_backward and chance(0.4), "graph_id": 0,
    }
    graph.__dict__.update(fields)
    return graph


def load(graph):
    """What CompiledFxGraph.after_deserialization sets: the module's attributes."""
    module = types.ModuleType("wrapper")
    exec(graph.source_code, module.__dict__)
    graph.current_callable = lambda inputs: ()
    if FAMILY >= (2, 8):
        graph.recursively_apply_fns = getattr(module, "recursively_apply_fns", None)
        graph.compiled_fn_runner = getattr(module, "runner", None)
        if graph.recursively_apply_fns is not None:
            apply = graph.recursively_apply_fns

            def recursively_apply_fns(fns):
                observed.kind = "cudagraph_partitions"
                apply(fns)

            graph.recursively_apply_fns = recursively_apply_fns


def post_compile(graph, flag, box, box_passed, constants):
    """Runs torch's own; gives what cachetool must say, and whether it went through."""
    global observed
    observed = Observed()
    counters.clear()
    error = ""
    try:
        if FAMILY < (2, 8):
            graph.post_compile([], flag, constants)
        else:
            arguments = {"cudagraphs": flag, "is_backward": graph.fx_kwargs["is_backward"]}
            if box_passed:
                arguments["boxed_forward_device_index"] = box
            graph.post_compile([], constants, arguments)
    except Exception as caught:
        error = type(caught).__name__ + (f": {caught}" if str(caught) else "")
    kind = observed.kind
    truth = {
        "callable": "error" if error else kind if kind in ("cudagraph", "cudagraph_partitions") else "plain",
        "error": error or None, "cudagraphs": bool(flag), "device_index_box": box.value if box is not None else None, "log": observed.log,
        "counters": {name: count for name, count in counters["inductor"].items()}, "realign": observed.aligned,
        "realign_writes_back": observed.wrote_back and FAMILY >= (2, 8), "wraps": observed.wraps,
    }
    if isinstance(kind, tuple) or (error == "" and FAMILY >= (2, 9) and config.graph_partition
                                   and inductor_utils._unstable_customized_partition_wrapper.wrapper):
        truth["callable"] = "unknown"
        truth["wraps"] = []
    elif not error:
        called = graph.current_callable
        truth["wraps_compiled_region"] = getattr(called, "__name__", "") == "wrapped_callable"
        called([])
        truth["sets_running_backward"] = observed.manager_told
    return truth


class Module:
    """The caller's live module: any attribute is a tensor."""

    def __getattr__(self, name):
        return torch.ones(3)


def single_case(rng, settings):
    box = settings.box_object()
    pickled = pickle.dumps(random_graph(rng, rng.random() < 0.3, box))
    graph = pickle.loads(pickled)
    load(graph)
    box = graph.boxed_forward_device_index if FAMILY < (2, 8) else box
    flag = inductor_utils.BoxedBool(settings.cudagraphs)
    constants = output_code.CompiledFxGraphConstantsWithGm(Module())
    return pickled, [post_compile(graph, flag, box, settings.box != "absent", constants)]


def pair_case(rng, settings):
    """A forward and its backward in one AOTAutograd entry."""
    if FAMILY >= (2, 10):
        import torch._functorch._aot_autograd.aot_autograd_result as results

        entry_class = results.BundledAOTAutogradResult
    else:
        import torch._functorch._aot_autograd.autograd_cache as results

        entry_class = results.BundledAOTAutogradCacheEntry
    forward, backward = random_graph(rng, False, None), random_graph(rng, True, None)
    forward.fx_kwargs["is_inference"] = False
    entry = entry_class.__new__(entry_class)
    parts = []
    for part_class, graph in ((results.BundledCompiledForward, forward), (results.BundledCompiledBackward, backward)):
        part = part_class.__new__(part_class)
        part.__dict__["result"] = graph
        parts.append(part)
    entry.__dict__.update(compiled_fw=parts[0], compiled_bw=parts[1])
    pickled = pickle.dumps(entry)
    entry = pickle.loads(pickled)
    flag, box = inductor_utils.BoxedBool(settings.cudagraphs), settings.box_object()
    constants = output_code.CompiledFxGraphConstants()
    truths = []
    for part in (entry.compiled_fw, entry.compiled_bw):
        load(part.result)
        truths.append(post_compile(part.result, flag, box, settings.box != "absent", constants))
        if truths[-1]["error"]:
            break  # torch doesn't come to the backward
    return pickled, truths


def differences(truth, entry):
    decision = entry["decision"]
    found = []
    for name, wanted in truth.items():
        got = decision[name]
        if name == "wraps":
            got = [{key: value for key, value in wrap.items() if key not in ("partition", "n_stack_traces")} for wrap in got]
        if got != wanted:
            found.append(f"{name}: torch {wanted!r}, cachetool {got!r}")
    return found


def compare_group(cachetool, settings, cases, folder):
    """Gives the number of graphs compared and a text for each that differs."""
    paths = []
    for number, (pickled, _) in enumerate(cases):
        path = folder / f"graph{number}"
        path.write_bytes(pickled)
        paths.append(str(path))
    command = [cachetool, "replay", *paths, "--json", "--torch-release", RELEASE, *settings.options()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if result.returncode not in (0, 1, 3) or not result.stdout:
        return 0, [f"exit {result.returncode}: {result.stderr[-1500:]}\n    {' '.join(command)}"]
    entries = json.loads(result.stdout)["entries"]
    graphs, texts = 0, []
    for pickled, truths in cases:
        taken = entries[: 2 if b"compiled_bw" in pickled else 1]
        entries = entries[len(taken):]
        for truth, entry in zip(truths, taken):
            graphs += 1
            if found := differences(truth, entry):
                texts.append("; ".join(found) + f"\n    under {' '.join(settings.options())}")
    if entries or result.stderr:
        texts.append(f"{len(entries)} entries too many; {result.stderr[-500:]}")
    return graphs, texts


def main():
    cachetool = sys.argv[1]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = sys.argv[3] if len(sys.argv) > 3 else "1"
    observe()
    graphs, differing, outcomes = 0, [], {}
    for group in range((cases + GROUP - 1) // GROUP):
        rng = random.Random(f"{seed} {group}")
        settings = Settings(rng)
        settings.apply()
        made = [(pair_case if FAMILY >= (2, 8) and rng.random() < 0.2 else single_case)(rng, settings) for _ in range(GROUP)]
        for truth in (truth for _, truths in made for truth in truths):
            outcomes[truth["callable"]] = outcomes.get(truth["callable"], 0) + 1
        with tempfile.TemporaryDirectory() as folder:
            count, texts = compare_group(cachetool, settings, made, pathlib.Path(folder))
        graphs += count
        differing += [f"group {group}: {text}" for text in texts]
    for text in differing[:20]:
        print(f"differs: {text}")
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(outcomes.items()))
    print(f"{graphs} decisions ({kinds}), {len(differing)} differ")
    return 1 if differing or graphs < cases else 0


if __name__ == "__main__":
    sys.exit(main())
