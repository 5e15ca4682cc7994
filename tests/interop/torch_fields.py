#!/usr/bin/env python3
"""Decodes every entry of a cache with the torch that wrote it and prints the result in cachetool's notation for JSON values.

usage: torch_fields.py CACHE_DIR > fields.jsonl        one line per entry: path, bytes, sha256, class, fields

This is the witness that shares no code and no method with cachetool: torch unpickles the entry (this runs what the entry names,
so use it on caches of your own only), and each object is then taken apart again with the reduce protocol that the pickle module
itself would use to write it. Strings are never shortened, so compare with `cachetool show PATH --json --full-strings`.
"""
import copyreg
import dataclasses
import hashlib
import json
import math
import os
import pickle
import sys
import types

import torch
import torch._functorch._aot_autograd.autograd_cache  # entries name these modules: import them as torch would have
import torch._inductor.codecache

# Slot classes whose state is a list of values and which cachetool prints by field name.
NAMED_SLOTS = {"torch._inductor.cudagraph_utils.PlaceholderInfo"}
INT_LIMIT = 2**63 - 1


def global_name(value):
    name = getattr(value, "__qualname__", None) or value.__name__
    return f"{pickle.whichmodule(value, name)}.{name}"


def sort_key(item):
    return json.dumps(item)


def tensor(value):
    storage = value.untyped_storage()
    raw = bytes(storage.cpu()) if storage.nbytes() else b""
    described = {
        "dtype": str(value.dtype).removeprefix("torch."),
        "device": str(value.device),
        "size": list(value.size()),
        "stride": list(value.stride()),
        "storage_offset": value.storage_offset(),
        "requires_grad": value.requires_grad,
        "storage_bytes": len(raw),
        "storage_sha256": hashlib.sha256(raw).hexdigest(),
    }
    result = {"$tensor": described}
    if isinstance(value, torch.nn.Parameter):
        result["parameter"] = True
    return result


def mapping(items):
    pairs = [(key, convert(value)) for key, value in items]
    if all(type(key) is str for key, _ in pairs):
        return dict(pairs)
    return {"$items": [[convert(key), value] for key, value in pairs]}


def with_state(result, name, state):
    if state is None:
        return result
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict) and isinstance(state[0], (dict, type(None))):
        state = {**(state[0] or {}), **state[1]}
    if isinstance(state, dict) and all(type(key) is str for key in state):
        for key, value in state.items():
            result[key] = convert(value)
    elif name in NAMED_SLOTS:
        names = [field.name for field in dataclasses.fields(sys.modules[name.rpartition(".")[0]].PlaceholderInfo)]
        for key, value in zip(names, state, strict=True):
            result[key] = convert(value)
    else:
        result["$state"] = convert(state)
    return result


def instance(value):
    reducer = copyreg.dispatch_table.get(type(value))
    reduced = reducer(value) if reducer else value.__reduce_ex__(4)
    if isinstance(reduced, str):
        return {"$global": f"{pickle.whichmodule(value, reduced)}.{reduced}"}
    function, args, state, listed, pairs = (*reduced, None, None, None)[:5]
    kwargs = {}
    if getattr(function, "__name__", "") == "__newobj__":
        function, args = args[0], args[1:]
    elif getattr(function, "__name__", "") == "__newobj_ex__":
        function, args, kwargs = args
    result = {"$class": global_name(function)}
    if args:
        result["$args"] = [convert(arg) for arg in args]
    if kwargs:
        result["$kwargs"] = mapping(kwargs.items())
    with_state(result, result["$class"], state)
    items = [convert(item) for item in listed or ()]
    if items:
        result["$list"] = items
    entries = [[convert(key), convert(item)] for key, item in pairs or ()]
    if entries:
        result["$pairs"] = entries
    return result


def convert(value):
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if abs(value) <= INT_LIMIT else {"$int": str(value)}
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if kind is str:
        return value
    if kind in (bytes, bytearray):
        return {"$bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    if kind in (list, tuple, torch.Size):
        return [convert(item) for item in value]
    if kind.__name__ == "OrderedSet" and kind.__module__.startswith("torch."):
        return [convert(item) for item in value]
    if kind in (set, frozenset):
        return sorted((convert(item) for item in value), key=sort_key)
    if isinstance(value, dict) and (kind is dict or kind.__module__ == "collections"):
        return mapping(value.items())
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, torch.dtype):
        return {"$global": str(value)}
    if isinstance(value, (type, types.FunctionType)) or (kind is types.BuiltinFunctionType and value.__self__ is None):
        return {"$global": global_name(value)}
    return instance(value)


def entries(root):
    for folder in ("fxgraph", "aotautograd"):
        for directory, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(names):
                if not name.startswith("."):
                    yield os.path.join(directory, name)


def main():
    sys.setrecursionlimit(20000)
    root = sys.argv[1]
    for path in entries(root):
        with open(path, "rb") as file:
            data = file.read()
        value = pickle.loads(data)
        fields = instance(value)
        line = {
            "path": os.path.relpath(path, root),
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "class": fields.pop("$class"),
            "fields": fields,
        }
        print(json.dumps(line))


if __name__ == "__main__":
    main()
