#!/usr/bin/env python3
"""Compiles models into TORCHINDUCTOR_CACHE_DIR, or loads them again and asks torch what its post-compile decides.

usage: decision_models.py cold|warm DEVICE OUT.jsonl [CASE…]     DEVICE: cpu, or cuda for two CUDA devices

Both write a line per case: its label, why it didn't run, and the entries that it added. warm runs the same cases over the finished cache
and writes a line for each call of post_compile under each of the settings of decision_settings.py (see there). Torch 2.6 to 2.15.
"""
import contextlib
import json
import os
import pathlib
import sys
import time
import warnings
from unittest import mock

for name in ("FX_GRAPH_CACHE", "AUTOGRAD_CACHE"):
    os.environ.setdefault("TORCHINDUCTOR_" + name, "1")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import torch
import torch._functorch.config as functorch_config
import torch._inductor.config as inductor_config
from torch._inductor.output_code import CompiledFxGraph

warnings.filterwarnings("ignore")
CASES = []
# Without a device all are refused for the same reasons, and each takes a C++ compiler.
ON_CPU = {"words", "argument_mutation", "host_only", "symbolic", "literals", "not_asked", "cpp_wrapper", "compiled_region", "bundled"}
NOT_CALLED = {"convnet"}  # compiled and stored, but a declared device has no convolutions to call
WRAPPED = {"triton.cudagraphs": True}


def case(*, grad=False, dynamic=None, functorch=None, variants=({},), **config):
    """`config` and each of `variants` are patched into Inductor's configuration while compiling; the function gives (callable, *calls)."""

    def add(function):
        for i, variant in enumerate(variants):
            options = {**WRAPPED, **{name.replace("__", "."): value for name, value in {**config, **variant}.items()}}
            label = function.__name__ + (f"-{i}" if i else "")
            only_variant = set(variant) if i else set()
            CASES.append((label, function, grad, dynamic, functorch or {}, options, only_variant))
        return function

    return add


# The same models with and without graph partition (2.8 on).
BOTH = ({"graph_partition": True}, {"graph_partition": False})


def known_options(module, options):
    """Those that this release has: it compiles without the others."""
    found = {}
    for name, value in options.items():
        owner = module
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if owner is not None:
            found[name] = value
    return found


@case(variants=BOTH)
def attention(d):
    qkv, out = torch.randn(12, 36, device=d), torch.randn(12, 12, device=d)

    def block(x):
        q, k, v = (x @ qkv).chunk(3, -1)
        return x + ((q @ k.transpose(1, 2)) * 0.3).softmax(-1) @ v @ out

    return block, (torch.randn(2, 5, 12, device=d),)


@case()
def convnet(d):
    net = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(2)).to(d).eval()
    return net, (torch.randn(3, 2, 8, 8, device=d),)


@case(grad=True, variants=BOTH)
def words(d):
    table, head = torch.nn.Embedding(19, 8).to(d), torch.nn.Linear(8, 19).to(d)

    def loss(tokens, wanted):
        return torch.nn.functional.cross_entropy(head(table(tokens)).flatten(0, 1), wanted)

    return loss, (torch.arange(12, device=d).view(2, 6), torch.arange(12, device=d))


@case(grad=True)
def dropout(d):
    return lambda x: torch.dropout(x.sin(), 0.4, True).cos(), (torch.randn(6, 7, device=d, requires_grad=True),)


@case(variants=BOTH)
def argument_mutation(d):
    def add_to(x, y):
        x.add_(y)
        return x.sum() * y

    return add_to, (torch.randn(4, 6, device=d), torch.randn(4, 6, device=d))


@case(triton__cudagraph_support_input_mutation=False, variants=(*BOTH, {"triton.cudagraph_trees": False}))
def argument_mutation_unsupported(d):
    return lambda x, y: (x.mul_(2) + y,), (torch.randn(4, 6, device=d), torch.randn(4, 6, device=d))


@case(variants=BOTH)
def buffer_mutation(d):
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(5))

        def forward(self, x):
            self.calls.add_(x.mean(0))
            return x - self.calls

    return Counting().to(d), (torch.randn(3, 5, device=d),)


@case(variants=BOTH)
def host_scalar(d):
    return lambda x, s: (x * s).relu() + 1, (torch.randn(6, 6, device=d), torch.tensor(0.75))


@case(variants=BOTH)
def host_middle(d):
    def there_and_back(x):
        return (x.relu().sum(0).cpu() * 3).to(d) + x

    return there_and_back, (torch.randn(5, 4, device=d),)


@case(variants=BOTH)
def host_only(_):
    return lambda x: x.tanh().sum(-1), (torch.randn(4, 9),)


@case(variants=BOTH)
def two_devices(d):
    return lambda x, y: (x.sin() * 2, y.cos() + 1), (torch.randn(8, device=d + ":0"), torch.randn(8, device=d + ":1"))


@case(grad=True)
def second_device(d):
    return lambda x: (x.exp() * 2).sum(), (torch.randn(8, 3, device=d + ":1", requires_grad=True),)


@case(dynamic=True, variants=BOTH)
def symbolic(d):
    return lambda x, n: (x * n).softmax(-1) + x.shape[0], (torch.randn(6, 5, device=d), 3), (torch.randn(9, 7, device=d), 4)


@case(dynamic=True, triton__cudagraph_skip_dynamic_graphs=True, variants=BOTH)
def symbolic_skipped(d):
    return lambda x: x.cumsum(0) * x.shape[1], (torch.randn(6, 5, device=d),)


@case(dynamic=True, grad=True)
def symbolic_training(d):
    return lambda x: (x.sigmoid() @ x.t()).sum(), (torch.randn(6, 5, device=d, requires_grad=True),)


@case()
def graph_break(d):
    def broken(x):
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos() * x

    return broken, (torch.randn(7, device=d),)


@case(grad=True)
def recurrent(d):
    cell = torch.nn.GRUCell(4, 6).to(d)

    def run(x):
        state = x.new_zeros(2, 6)
        for step in x:
            state = cell(step, state)
        return state.sum()

    return run, (torch.randn(3, 2, 4, device=d),)


@torch.library.custom_op("decisions::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


doubled.register_fake(lambda x: torch.empty_like(x))


# Before 2.8 an operator can't be marked.
UNSAFE = {"tags": (torch._C.Tag.cudagraph_unsafe,)} if hasattr(torch._C.Tag, "cudagraph_unsafe") else {}


@torch.library.custom_op("decisions::unsafe", mutates_args=(), **UNSAFE)
def unsafe(x: torch.Tensor) -> torch.Tensor:
    return x * 3


unsafe.register_fake(lambda x: torch.empty_like(x))


@torch.library.custom_op("decisions::half", mutates_args=())
def half(x: torch.Tensor) -> torch.Tensor:
    return x / 2


half.register_fake(lambda x: torch.empty_like(x))
half.register_autograd(lambda ctx, grad: unsafe(grad))


@case(variants=BOTH)
def custom_op(d):
    return lambda x: doubled(x + 1).relu() - 1, (torch.randn(6, 2, device=d),)


@case(variants=BOTH)
def unsafe_op(d):
    return lambda x: unsafe(x + 1).relu() - 1, (torch.randn(6, 2, device=d),)


@case(grad=True, variants=BOTH)
def unsafe_backward(d):
    return lambda x: half(x.sin()) * 5, (torch.randn(6, 2, device=d, requires_grad=True),)


@case(grad=True)
def unsafe_only_backward(d):
    """The forward is captured, of the backward nothing can be."""
    return lambda x: half(x), (torch.randn(6, 2, device=d, requires_grad=True),)


@case(grad=True, variants=BOTH)
def host_backward(d):
    """The forward has work on both sides, the backward on the host only."""
    return lambda w, x: (w.sin(), x.relu() * 2), (torch.randn(5, requires_grad=True), torch.randn(5, device=d))


@case(grad=True, variants=BOTH)
def overlapping_backward(d):
    """The backward reads an input whose elements overlap."""
    def windows(x, w):
        return (x * w).sum(0)

    return windows, (torch.randn(5, 4, device=d, requires_grad=True), torch.randn(8, device=d).unfold(0, 4, 1))


@case(variants=BOTH)
def overlapping(d):
    return lambda x: x.sin() + 1, (torch.randn(8, device=d).unfold(0, 3, 1),)


@case(grad=True, variants=BOTH)
def mutation_in_training(d):
    def step(x, seen):
        seen.add_(1)
        return (x * seen).sum()

    return step, (torch.randn(4, 3, device=d, requires_grad=True), torch.ones(4, 3, device=d))


@case(variants=BOTH)
def boolean_index_put(d):
    def put(x, mask, v):
        x = x.clone()
        x[mask] = v
        return x * 2

    return put, (torch.randn(6, device=d), torch.tensor([True, False] * 3, device=d), torch.tensor(1.0, device=d))


@case()
def literals(d):
    rows = [[0.25 * i - j for j in range(5)] for i in range(4)]

    def use(x):
        return x @ torch.tensor(rows, device=d), x.sum() + torch.tensor(list(range(11)), device=d)

    return use, (torch.randn(3, 4, device=d),)


@case()
def views(d):
    return lambda x: (x[1:], x.t(), x.view(-1)[3:]), (torch.randn(4, 6, device=d),)


@case(triton__cudagraphs=False, grad=True)
def not_asked(d):
    return lambda x: (x.sin() * x).sum(), (torch.randn(5, 3, device=d, requires_grad=True),)


@case(freezing=True, variants=BOTH)
def frozen(d):
    return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh()).to(d).eval(), (torch.randn(3, 6, device=d),)


@case(cpp_wrapper=True)
def cpp_wrapper(d):
    return lambda x: x.relu() * 2 + 1, (torch.randn(7, 3, device=d),)


@case(wrap_inductor_compiled_regions=True, grad=True)
def compiled_region(d):
    return lambda x: x.sin() * 4, (torch.randn(7, 3, device=d, requires_grad=True),)


@case(force_disable_cudagraph_TESTING_ONLY=True, grad=True, variants=BOTH)
def forced_off(d):
    return lambda x: x.tan() + 2, (torch.randn(7, 2, device=d, requires_grad=True),)


@case(grad=True, functorch={"bundled_autograd_cache": True}, variants=BOTH)
def bundled(d):
    return lambda x, s: (x.sigmoid() * s).sum(), (torch.randn(4, 5, device=d, requires_grad=True), torch.tensor(2.0))


class NotCalled(Exception):
    pass


def refuse(*_):
    raise NotCalled


def run(item, device):
    label, function, grad, dynamic, functorch, options, needed = item
    known = known_options(inductor_config, options)
    if device == "cpu" and function.__name__ not in ON_CPU:
        return "only for devices"
    if functorch.keys() - known_options(functorch_config, functorch).keys() or needed - known.keys():
        return "the release lacks an option"
    torch._dynamo.reset()
    torch.manual_seed(0)
    with inductor_config.patch(known), functorch_config.patch(functorch), torch.set_grad_enabled(grad), contextlib.ExitStack() as stack:
        if device == "cuda" and label in NOT_CALLED:
            stack.enter_context(mock.patch.object(CompiledFxGraph, "__call__", refuse))
        compiled, *calls = function(device)
        compiled = torch.compile(compiled, dynamic=dynamic)
        for arguments in calls:
            try:
                result = compiled(*arguments)
                if grad:
                    outputs = [item for item in (result if isinstance(result, tuple) else (result,)) if item.requires_grad]
                    torch.autograd.backward(outputs, [torch.ones_like(item) for item in outputs])
            except NotCalled:
                pass
            except Exception as error:  # what a declared device can't run was compiled and stored all the same
                return f"{type(error).__name__}: {error}"[:200]
    return None


def stored():
    root = pathlib.Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    return {str(path.relative_to(root)) for pattern in ("aotautograd/*/*", "fxgraph/*/*/*") for path in root.glob(pattern)}


def main():
    turn, device, out, *wanted = sys.argv[1:]
    if hasattr(functorch_config, "enable_autograd_cache") and os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] != "0":
        functorch_config.enable_autograd_cache = True
    inductor_config.fx_graph_cache = True
    with open(out, "w", encoding="utf-8") as file:
        observer = None
        if turn == "warm":
            from decision_settings import Observer

            observer = Observer(file)
        end = time.monotonic() + float(os.environ.get("CACHETOOL_DECISIONS_SECONDS", "inf"))
        for item in CASES:
            if wanted and item[0] not in wanted:
                continue
            before = stored()
            if observer:
                observer.label = item[0]
            note = run(item, device) if time.monotonic() < end else "no time left (CACHETOOL_DECISIONS_SECONDS)"
            print(json.dumps({"case": item[0], "note": note, "new": sorted(stored() - before)}), file=file, flush=True)
    os._exit(0)  # a declared device has nothing to tear down


if __name__ == "__main__":
    main()
