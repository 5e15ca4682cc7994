"""Entries that are well formed, and wrong."""

import shutil

from cases import case
from names import aot_entries, edit, entries, leaf, short_text, store, without_frames


@case("cpu-2.9.1-train", "entry.key")
def entry_under_another_key(cache):
    """A copy of an entry in the place of another graph: it would be taken for it."""
    entry = entries(cache)[0]
    key = "f" + leaf(b"another graph")
    place = cache / "fxgraph" / key[1:3] / key
    place.mkdir(parents=True)
    shutil.copy2(entry, place)


@case("cpu-2.9.1-train", "entry.shard")
def entry_in_another_shard(cache):
    entry = entries(cache)[0]
    shutil.copytree(entry.parent, cache / "fxgraph" / "zz" / entry.parent.name)


@case("cpu-2.9.1-train", "entry.cache-key")
def wrapper_key_that_fits_no_source(cache):
    """The entry names another wrapper than its source is; that one isn't there."""
    entry = next(path for path in entries(cache))
    data = entry.read_bytes()
    at = data.index(b"cache_key") + data[data.index(b"cache_key"):].index(b"\x8c\x34c") + 2
    name = data[at:at + 52]
    edit(entry, name, b"c" + leaf(name).encode())


@case("cpu-2.9.1-dynamic", "entry.guards")
def guard_that_runs_code(cache):
    """The same edit in the FX graph and in the AOTAutograd entry, so that they still agree."""
    guard = guard_of(entries(cache, b"L['t0'] <= "))
    call = b"__import__('os').getpid() and "
    evil = call + b"1" * (len(guard) - len(call))
    for path in entries(cache, guard) + aot_entries(cache, guard):
        edit(path, guard, evil)


def guard_of(paths):
    """The longest guard expression of the first entry that has one."""
    data = paths[0].read_bytes()
    start = data.rindex(b"2 <= L['t0']")
    end = start
    while 32 <= data[end] < 127:
        end += 1
    return data[start:end]


@case("cpu-2.9.1-dynamic", "aotautograd.graph-guards")
def guards_that_differ(cache):
    """The graph is good for other sizes than the AOTAutograd entry says."""
    for path in entries(cache, b"L['t0'] <= "):
        guard = guard_of([path])
        edit(path, guard, guard.replace(b"2 <= L", b"3 <= L", 1))


@case("cpu-2.9.1-dynamic", "entry.output-strides")
def stride_that_is_no_expression(cache):
    for entry in entries(cache, b"L['t0'] <= "):
        data = entry.read_bytes()
        at = data.index(b"\x8c", data.index(b"output_strides") + 14)
        length = data[at + 1]
        store(entry, data[:at + 2] + b"x.yyyyyyyyy"[:length] + data[at + 2 + length:])


@case("cpu-2.15.0-mlp", "entry.field")
def field_that_is_missing(cache):
    edit(entries(cache)[0], b"guards_expr", b"guards_exqr")


@case("cpu-2.15.0-mlp", "entry.class")
def class_of_no_release(cache):
    edit(entries(cache)[0], b"\x8c\x0fCompiledFxGraph", b"\x8c\x0fCompiledFyGraph")


@case("cpu-2.9.1-constants", "entry.constant")
def constant_with_a_cut_storage(cache):
    """A storage that says it has more elements than it holds."""
    entry = entries(cache, b"_load_from_bytes")[0]
    data = entry.read_bytes()
    magic = data.index(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.")
    edit_at = data.index(b"Storage", magic)
    store(entry, data[:edit_at] + b"Sturage" + data[edit_at + 7:])


@case("cpu-2.9.1-train", "pickle.malformed")
def pickle_with_an_unknown_opcode(cache):
    entry = entries(cache)[0]
    store(entry, b"\x80\x04\xff" + entry.read_bytes()[3:])


@case("cpu-2.9.1-train", "pickle.root-type")
def another_object(cache):
    store(entries(cache)[0], b"\x80\x04]\x94.")


@case("cpu-2.9.1-train", "pickle.root-type")
def graph_in_the_place_of_an_aot_entry(cache):
    target = aot_entries(cache)[0]
    store(target, entries(cache)[0].read_bytes())


@case("cpu-2.9.1-train", "pickle.deviation")
def pickle_with_two_protocols(cache):
    entry = entries(cache)[0]
    store(entry, b"\x80\x04" + entry.read_bytes())


@case("cpu-2.15.0-bundled", "aotautograd.frozen")
def frozen_graph_in_an_aot_entry(cache):
    """A bundled graph that has the name of a frozen parameter."""
    entry = aot_entries(cache, b"frozen_param_names")[0]
    data = without_frames(entry.read_bytes())
    at = data.index(b"frozen_param_names") + len(b"frozen_param_names")
    at = data.index(b"}", at)
    frozen = b"}" + data[at + 1:at + 2] + short_text("_frozen_param0") + short_text("w") + b"s"
    assert data[at + 1:at + 2] == b"\x94"
    store(entry, data[:at] + frozen + data[at + 2:])
