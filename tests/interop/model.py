#!/usr/bin/env python3
"""Compiles small graphs into TORCHINDUCTOR_CACHE_DIR so that there is a real cache to read.

usage: model.py CASE [DEVICE]     CASE: one of the functions marked with @case, or "all"; DEVICE: cpu (default) or cuda
Works with every torch from 2.4 on; a case that a release has no means for says so and is skipped.
"""
import os
import sys

os.environ.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "1")
os.environ.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "1")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import torch
import torch._functorch.config as functorch_config
import torch._inductor.config as inductor_config

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


@case
def inference(device):
    """A network with a symbolic batch size, without gradients."""
    net = torch.nn.Sequential(
        torch.nn.Linear(24, 40), torch.nn.SiLU(), torch.nn.LayerNorm(40), torch.nn.Linear(40, 12), torch.nn.Softmax(-1)
    ).to(device)
    with torch.no_grad():
        compiled = torch.compile(net, dynamic=True)
        for batch in (6, 10):
            compiled(torch.randn(batch, 24, device=device))


@case
def constants(device):
    """Tensor literals that are too large to be written into the code."""
    rows = [[0.5 * i - j for j in range(6)] for i in range(5)]
    names = list(range(7, 27))

    @torch.compile
    def function(x):
        table = torch.tensor(rows, device=device).t()
        half = torch.tensor(rows[0] * 3, dtype=torch.bfloat16, device=device)
        ints = torch.tensor(names, dtype=torch.int16, device=device)
        return x @ table[:, 1:4], x.to(torch.bfloat16)[:, :1] * half, x.sum() + ints

    function(torch.randn(7, 6, device=device))


@case
def training(device):
    """Forward and backward with a loss, a buffer that changes and a view among the outputs."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lift = torch.nn.Linear(3, 6)
            self.norm = torch.nn.BatchNorm1d(6)
            self.head = torch.nn.Linear(6, 4)
            self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

        def forward(self, x):
            self.calls.add_(1)
            hidden = torch.nn.functional.gelu(self.norm(self.lift(x).transpose(1, 2)))
            return self.head(hidden.mean(-1)), hidden.transpose(1, 2)

    net = Net().to(device).train()
    compiled = torch.compile(net)
    logits, hidden = compiled(torch.randn(5, 16, 3, device=device))
    (logits.square().mean() + hidden.abs().mean()).backward()


@case
def aliases(device):
    """Inputs that overlap, mutation of an input, an output that is a view of one."""

    @torch.compile
    def function(a, b, n):
        a.mul_(2)
        b.add_(1)
        return a[1:], b.t(), a.sum() + b.sum() * n

    function(torch.randn(6, 8, device=device), torch.randn(8, 6, device=device), 3)

    @torch.compile
    def overlapping(a, b):
        a.mul_(2)
        b.add_(1)
        return a.sum() + b.sum()

    base = torch.randn(8, 8, device=device)
    overlapping(base[:6], base[2:])


@case
def recurrent(device):
    """A convolutional LSTM cell over a few steps, with rotary phases and pixel shuffle."""

    class Cell(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gates = torch.nn.Conv2d(4 + 4, 16, 3, padding=1)
            self.group = torch.nn.GroupNorm(4, 16)
            self.out = torch.nn.PixelShuffle(2)

        def forward(self, frames, phase):
            hidden = frames.new_zeros(frames.shape[1], 4, *frames.shape[-2:])
            state = torch.zeros_like(hidden)
            for frame in frames:
                i, f, o, g = self.group(self.gates(torch.cat([frame, hidden], 1))).chunk(4, 1)
                state = f.sigmoid() * state + i.sigmoid() * g.tanh()
                hidden = o.sigmoid() * state.tanh()
            cos, sin = phase.cos(), phase.sin()
            a, b = hidden.chunk(2, -1)
            return self.out(torch.cat([a * cos - b * sin, a * sin + b * cos], -1)).clamp(-1, 1)

    cell = Cell().to(device)
    compiled = torch.compile(cell)
    result = compiled(torch.randn(3, 2, 4, 6, 6, device=device), torch.randn(3, device=device))
    result.square().sum().backward()


@case
def bundled(device):
    """Whole graphs inside AOTAutograd entries."""
    if not hasattr(functorch_config, "bundled_autograd_cache"):
        return f"torch {torch.__version__} has no bundled_autograd_cache"
    with functorch_config.patch(bundled_autograd_cache=True):
        net = torch.nn.Linear(9, 5).to(device)
        torch.compile(net)(torch.randn(3, 9, device=device)).sum().backward()


@case
def cudagraphs(device):
    """Compiled with CUDA graphs requested: with static parameters, and with a reason against them."""
    if device == "cpu":
        return "needs a CUDA device"
    with inductor_config.patch({"triton.cudagraphs": True}):
        net = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)).to(device)
        with torch.no_grad():
            torch.compile(net)(torch.randn(4, 16, device=device))

        @torch.compile
        def mixed(x, n):
            return (x * 3).relu(), n.repeat(3) + 1

        mixed(torch.randn(6, device=device), torch.ones(4))


def main():
    wanted, device = sys.argv[1], (sys.argv[2:] or ["cpu"])[0]
    if hasattr(functorch_config, "enable_autograd_cache"):
        functorch_config.enable_autograd_cache = True
    inductor_config.fx_graph_cache = True
    failed = 0
    for name in CASES if wanted == "all" else wanted.split(","):
        fresh()
        try:
            note = CASES[name](device)
        except Exception as error:  # one release may lack what a case needs: the others still count
            note = f"failed: {type(error).__name__}: {str(error)[:300]}"
            failed += 1
        print(f"{name}: {note or 'done'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
