#!/usr/bin/env python3
"""Writes the sample files of this folder: make.py, run by a Python that has torch, numpy and safetensors.

The values are those that the entries of cpu-*-freezing expect of fjbxpmwp… (names, dtypes, shapes and strides), and one of each dtype
that a format may hold.
"""

import collections
import sys

import numpy
import safetensors.torch
import torch


class Harm:
    """What a pickle must never be able to do."""

    def __reduce__(self):
        return print, ("a pickle ran code",)


def ramp(*size, dtype=torch.float32):
    count = 1
    for length in size:
        count *= length
    return torch.arange(count).reshape(size).to(dtype)


FROZEN = {
    "_frozen_param1": ramp(11),
    "_frozen_param4": ramp(11, 6).t(),
    "_frozen_param5": ramp(4, 11).t(),
}
BASE = ramp(4, 5)
MANY = {
    "bool": ramp(3).bool(),
    "int64": ramp(2, 2, dtype=torch.int64),
    "float16": ramp(5, dtype=torch.float16),
    "bfloat16": ramp(5, dtype=torch.bfloat16),
    "float8": ramp(5).to(torch.float8_e4m3fn),
    "uint16": ramp(5, dtype=torch.uint16),
    "complex": ramp(2, dtype=torch.complex64),
    "scalar": torch.tensor(7.0),
    "empty": torch.empty(0, 3),
    "parameter": torch.nn.Parameter(ramp(2, 3)),
    "view": BASE[1:, 2],
    "base": BASE,
    "module": torch.nn.Linear(3, 2).state_dict(),
    "nested": {"inner": {"tensor": ramp(2)}, "note": "text"},
    "ordered": collections.OrderedDict(one=ramp(1)),
}


def main():
    torch.manual_seed(0)
    torch.save(FROZEN, "frozen.pt")
    torch.save(FROZEN, "frozen-legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(MANY, "many.pt")
    torch.save(MANY, "many-legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(ramp(3), "bare.pt")
    torch.save({"_frozen_param1": ramp(11), "harm": Harm()}, "harm.pt")
    plain = {name: value.contiguous() for name, value in FROZEN.items()}
    safetensors.torch.save_file(plain, "frozen.safetensors", metadata={"made_by": "make.py"})
    half = {name: MANY[name] for name in ("bool", "int64", "float16", "bfloat16", "float8", "uint16", "scalar", "empty")}
    safetensors.torch.save_file(half, "many.safetensors")
    arrays = {name: value.numpy() for name, value in FROZEN.items()}
    numpy.savez("frozen.npz", **arrays)
    numpy.savez_compressed("frozen-packed.npz", **arrays)
    numpy.save("half.npy", arrays["_frozen_param1"].astype(numpy.float16))
    with open("version2.npy", "wb") as file:
        numpy.lib.format.write_array(file, arrays["_frozen_param1"], version=(2, 0))
    print(torch.__version__, numpy.__version__, safetensors.__version__)


if __name__ == "__main__":
    sys.exit(main())
