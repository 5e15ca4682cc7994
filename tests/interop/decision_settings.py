"""Asks torch's post_compile what it does with a graph that was found in the cache, under many settings; used by decision_models.py.

Before each real call a copy of the graph goes through post_compile once for every setting, with boxes of its own. A line per call:
`label`, `key`, `role`, `way` (alone: with the boxes that the settings name; pair: with what the forward left behind; real: torch's own call)
and `settings` under the names of `cachetool replay --set`; then what came of it, named as in `cachetool replay --json`.
"""
import contextlib
import copy
import inspect
import itertools
import json
import logging
from unittest import mock

import torch
import torch._inductor.compile_fx as compile_fx
import torch._inductor.config as config
import torch._inductor.cudagraph_trees as trees
import torch._inductor.cudagraph_utils as cudagraph_utils
import torch._inductor.output_code as output_code
from torch._dynamo.utils import counters
from torch._inductor.cudagraph_utils import BoxedDeviceIndex
from torch._inductor.utils import BoxedBool

OPTIONS = ["graph_partition", "triton.cudagraph_trees", "triton.cudagraph_or_error"]
PASSED_ON = ("device_index", "is_backward", "is_inference", "mutated_input_idxs", "kernel_free_cudagraph", "user_visible_output_idxs")


def option(name):
    owner = config
    for part in name.split("."):
        owner = getattr(owner, part, None)
    return owner


class Policy:
    """config.cudagraph_policy."""

    def __init__(self, wraps):
        self.wraps = wraps

    def should_wrap(self, _):
        return self.wraps

    def cudagraphify(self, model, example_inputs, static_input_idxs, **kwargs):
        return compile_fx.cudagraphify(model, static_input_idxs=static_input_idxs, **kwargs)


def settings_of(role):
    """All the settings to ask for; the names are cachetool's."""
    known = [name for name in OPTIONS if option(name) is not None]
    found = []
    for values in itertools.product([True, False], repeat=len(known)):
        found.append({"cudagraphs": True, **dict(zip(known, values))})
    switches = [{}] + [{"graph_partition": False}] * ("graph_partition" in known)
    found += [{"cudagraphs": False, **more} for more in switches]
    if role == "backward":
        boxes, managers = [None, 0, 1, "absent"], [False, True]
        plain = [item for item in found if item["cudagraphs"] and not item.get("triton.cudagraph_or_error")]
        found += [{**item, "forward_device_index": box, "cudagraph_manager": there} for item in plain for box in boxes for there in managers]
        found += [{**item, "forward_device_index": 0, "cudagraph_manager": True} for item in found if item.get("triton.cudagraph_or_error")]
    if role == "forward":
        found += [{"cudagraphs": True, "forward_device_index": "absent", **more} for more in switches]
    box = {"forward_device_index": 0, "cudagraph_manager": True} if role == "backward" else {}
    for more in switches:
        for asked in (True, False):
            if hasattr(config, "cudagraph_policy"):
                found += [{"cudagraphs": asked, "cudagraph_policy": policy, **more, **box} for policy in ("wrap", "no-wrap")]
            if "_unstable_customized_partition_wrapper" in vars(output_code):
                found.append({"cudagraphs": asked, "customized_partition_wrapper": True, **more, **box})
        if "CompilerBisector" in inspect.getsource(output_code):
            found += [{"cudagraphs": True, "compiler_bisector": True, "triton.cudagraph_or_error": raises, **more, **box} for raises in (False, True)]
    if role == "backward":  # cachetool would assume that its forward ran
        found = [{"forward_device_index": None, **item} for item in found]
    return [item for i, item in enumerate(found) if item not in found[:i]]


@contextlib.contextmanager
def applied(settings):
    """Torch under these settings, as far as they aren't arguments of post_compile."""
    with contextlib.ExitStack() as stack:
        values = {name: settings[name] for name in OPTIONS if name in settings and option(name) is not None}
        if "cudagraph_policy" in settings:
            values["cudagraph_policy"] = Policy(settings["cudagraph_policy"] == "wrap")
        stack.enter_context(config.patch(values))
        if settings.get("customized_partition_wrapper"):
            wrapper = output_code._unstable_customized_partition_wrapper
            stack.enter_context(mock.patch.object(wrapper, "wrapper", lambda function, metadata: function))
        if settings.get("compiler_bisector"):
            from torch._inductor.compiler_bisector import CompilerBisector

            stack.enter_context(mock.patch.object(CompilerBisector, "disable_subsystem", lambda *_, **__: True))
        yield


class Observer(logging.Handler):
    def __init__(self, file):
        super().__init__()
        self.file, self.label, self.kept, self.left = file, "", [], {}
        self.messages, self.wraps, self.aligned, self.managers, self.pretend = [], [], [], [], None
        for name in ("cudagraphs_log", "perf_hint_log"):
            if hasattr(cudagraph_utils, name):
                getattr(cudagraph_utils, name).addHandler(self)
                break
        self.original = {"cudagraphify": compile_fx.cudagraphify, "align": output_code.align_inputs_from_check_idxs,
                         "get_manager": trees.get_manager, "post_compile": output_code.CompiledFxGraph.post_compile}
        self.signature = inspect.signature(self.original["post_compile"])
        compile_fx.cudagraphify, output_code.align_inputs_from_check_idxs = self.cudagraphify, self.align
        trees.get_manager = self.get_manager
        observer = self
        output_code.CompiledFxGraph.post_compile = lambda self, *a, **k: observer.post_compile(self, *a, **k)

    def emit(self, record):
        self.messages.append(record.getMessage())

    def cudagraphify(self, model, static_input_idxs=(), **kwargs):
        wrap = {name: list(value) if isinstance(value, (tuple, list, set)) else value for name, value in kwargs.items() if name in PASSED_ON}
        traces = kwargs.get("stack_traces") or []
        wrap.update(static_input_idxs=list(static_input_idxs), placeholders=[item.name for item in kwargs["placeholders"]],
                    n_constants=len(kwargs["constants"]), n_stack_traces=len(traces),
                    stack_traces_present=[item is not None for item in traces])
        self.wraps.append(wrap)
        return model if self.pretend is not None else self.original["cudagraphify"](model, static_input_idxs=static_input_idxs, **kwargs)

    def align(self, model, positions, *a, **k):
        self.aligned += list(positions)
        return self.original["align"](model, positions, *a, **k)

    def get_manager(self, device_index=None, create_if_none_exists=True):
        if create_if_none_exists:
            return self.original["get_manager"](device_index)
        manager = self.original["get_manager"](device_index, False) if self.pretend is None else mock.Mock() if self.pretend else None
        self.managers.append(manager is not None)
        return manager

    def post_compile(self, graph, *args, **kwargs):
        bound = self.signature.bind(graph, *args, **kwargs).arguments
        flags = graph.fx_kwargs
        role = "backward" if flags["is_backward"] else "inference" if flags["is_inference"] else "forward"
        flag, box = self.boxes(bound)
        before = {"cudagraphs": bool(flag), "forward_device_index": box.value if box is not None else "absent"}
        before.update({name: option(name) for name in OPTIONS if option(name) is not None})
        if box is not None and box.value is not None:
            before["cudagraph_manager"] = self.original["get_manager"](box.value, False) is not None
        self.experiments(graph, role, bound)
        self.call(graph, role, "real", before, bound, flag, box, raises=True)

    def boxes(self, bound):
        if "graph_kwargs" in bound:
            return bound["graph_kwargs"]["cudagraphs"], bound["graph_kwargs"].get("boxed_forward_device_index")
        return bound["cudagraphs"], bound["self"].boxed_forward_device_index

    def experiments(self, graph, role, bound):
        left = {}
        with torch._guards.tracing(None):
            for settings in settings_of(role):
                self.pretend = settings.get("cudagraph_manager", False)
                wanted = settings.get("forward_device_index")
                flag, box = BoxedBool(settings["cudagraphs"]), None if wanted == "absent" else BoxedDeviceIndex(wanted)
                raised = self.call(graph, role, "alone", settings, bound, flag, box)
                if role == "forward" and wanted != "absent":
                    left[json.dumps(settings)] = (settings, flag, box, raised)
            for settings, flag, box, raised in self.left.values() if role == "backward" else ():
                if not raised:
                    self.pretend = False
                    if "graph_kwargs" not in bound:  # to 2.7 each entry has a box of its own
                        box = copy.copy(graph.boxed_forward_device_index)
                    self.call(graph, role, "pair", settings, bound, flag, box)
        self.pretend = None
        self.left = left

    def call(self, graph, role, way, settings, bound, flag, box, raises=False):
        """One call of post_compile and the line about it; whether it raised."""
        bound = dict(bound)
        if not raises:
            graph = copy.copy(graph)
            self.kept.append(graph)  # when it is freed it takes the wrapper's partitions with it
            bound["self"] = graph
            if not settings.get("triton.cudagraph_trees", True):
                bound["example_inputs"] = [item for item in bound["example_inputs"] if not isinstance(item, torch.SymInt)]
            if "graph_kwargs" in bound:
                bound["graph_kwargs"] = {**bound["graph_kwargs"], "cudagraphs": flag, "boxed_forward_device_index": box}
                if box is None:
                    del bound["graph_kwargs"]["boxed_forward_device_index"]
            else:
                bound["cudagraphs"], graph.boxed_forward_device_index = flag, box
        self.messages, self.wraps, self.aligned, self.managers = [], [], [], []
        started, error = dict(counters["inductor"]), None
        try:
            with applied({} if raises else settings):
                self.original["post_compile"](**bound)
        except Exception as exception:
            error = f"{type(exception).__name__}: {exception}" if str(exception) else type(exception).__name__
            if raises:
                raise
        finally:
            added = {name: count - started.get(name, 0) for name, count in counters["inductor"].items() if count != started.get(name, 0)}
            row = {"label": self.label, "key": getattr(graph, "_fx_graph_cache_key", None), "role": role, "way": way, "settings": settings,
                   "cudagraphs": bool(flag), "device_index_box": box.value if box is not None else None, "log": self.messages,
                   "counters": added, "realign": self.aligned, "wraps": self.wraps, "error": error,
                   "sets_running_backward": any(self.managers),
                   "wraps_compiled_region": getattr(graph.current_callable, "__name__", "") == "wrapped_callable"}
            print(json.dumps(row), file=self.file, flush=True)
        return error is not None
