"""Pickles that do something when they are loaded, in every form that hides it."""

import struct

from assemble import *
from attack import DANGEROUS, FOUND, MALFORMED, NOT_DATA, Attack
from gadgets import CALLABLES

SYSTEM = name("os", "system")
HOSTILE = whole(call(SYSTEM, text("id")))
ENTRY = make(name("torch._inductor.output_code", "CompiledFxGraph"))
PARTIAL = name("functools", "partial")
REDUCE_GRAPH_MODULE = name("torch.fx.graph_module", "reduce_graph_module")
BODY = dict_of(_code=text("def forward(self): pass"))


def every_gadget():
    """Each callable through each opcode that calls, and by name alone."""
    for module, attribute, known in CALLABLES:
        expected = DANGEROUS if known else NOT_DATA
        full = f"{module}.{attribute}"
        named, argument = name(module, attribute), text("id")
        lines = name_line(module, attribute)
        forms = {
            "reduce": whole(named + tuple_of(argument) + REDUCE),
            "reduce-protocol-0": lines + b"(S'id'\ntR.",
            "reduce-protocol-2": proto(2) + lines + b"X\x02\x00\x00\x00id\x85R.",
            "newobj": whole(named + tuple_of(argument) + NEWOBJ),
            "newobj-ex": whole(named + tuple_of(argument) + EMPTY_DICT + NEWOBJ_EX),
            "obj": proto(2) + MARK + lines + argument + OBJ + STOP,
            "inst": b"(S'id'\ni" + module.encode() + b"\n" + attribute.encode() + b"\n.",
            "bare": whole(list_of(named)),
            "dropped": whole(named + tuple_of(argument) + REDUCE + POP + ENTRY),
            "in-state": whole(ENTRY + dict_of(constants=named + tuple_of(argument) + REDUCE) + BUILD),
        }
        for form, pickle in forms.items():
            yield Attack(f"gadget/{full}/{form}", pickle, expected, full)


def hidden_names():
    system = text("system")
    yield Attack("names/memoized-parts", whole(text("os") + MEMOIZE + POP + system + MEMOIZE + POP + get(0) + get(1) +
                                               STACK_GLOBAL + tuple_of(text("id")) + REDUCE), DANGEROUS, "os.system")
    yield Attack("names/put-between", whole(text("os") + put(7) + system + put(9) + STACK_GLOBAL + put(3) + tuple_of(text("id")) +
                                            REDUCE), DANGEROUS, "os.system")
    yield Attack("names/long-binput", whole(text("os") + b"r" + struct.pack("<I", 70_000) + system + STACK_GLOBAL + tuple_of(
        text("id")) + REDUCE), NOT_DATA)
    yield Attack("names/text-put", b"cos\nsystem\np5\n0g5\n(S'id'\ntR.", DANGEROUS, "os.system")
    yield Attack("names/memo-overwritten", whole(text("collections") + put(0) + POP + text("os") + put(0) + POP + get(0) + system +
                                                 STACK_GLOBAL + tuple_of(text("id")) + REDUCE), DANGEROUS, "os.system")
    yield Attack("names/memoize-against-put", whole(text("x") + put(0) + POP + text("os") + MEMOIZE + POP + get(1) + system +
                                                    STACK_GLOBAL + tuple_of(text("id")) + REDUCE), DANGEROUS, "os.system")
    yield Attack("names/callable-overwritten", whole(name("collections", "OrderedDict") + put(0) + POP + SYSTEM + put(0) + POP +
                                                     get(0) + tuple_of(text("id")) + REDUCE), DANGEROUS, "os.system")
    yield Attack("names/dup", whole(SYSTEM + DUP + POP + tuple_of(text("id")) + REDUCE), DANGEROUS)
    yield Attack("names/after-values", whole(NONE + b"(" + text("os") + b"1" + text("os") + system + STACK_GLOBAL + tuple_of(
        text("id")) + REDUCE), DANGEROUS)
    yield Attack("names/unicode-protocol-0", b"cos\nsystem\n(Vid\ntR.", DANGEROUS)
    yield Attack("names/text-stack-global", b"Vos\nVsystem\n\x93(Vid\ntR.", DANGEROUS)
    yield Attack("names/string-stack-global", b"S'os'\nS'system'\n\x93(S'id'\ntR.", DANGEROUS)
    yield Attack("names/escaped", b"V\\u006fs\nV\\u0073ystem\n\x93(Vid\ntR.", DANGEROUS, "os.system")
    for module, attribute in (("torch", "os.system"), ("torch.storage", "torch.os.system"), ("collections", "_sys.modules"),
                              ("collections", "abc.sys.modules"), ("torch", "serialization.load"), ("inspect", "os.system"),
                              ("logging", "os.system"), ("traceback", "sys.modules.get"), ("functools", "partial.__init__"),
                              ("builtins", "getattr.__call__"), ("torch._inductor.output_code", "os.system"),
                              ("torch._inductor.output_code", "CompiledFxGraph.__init__.__globals__"),
                              ("torch._utils", "importlib.import_module"), ("torch.fx.graph_module", "reduce_graph_module.__call__"),
                              ("torch._inductor.output_code", "CompiledFxGraph.post_compile")):
        yield Attack(f"names/dotted/{module}.{attribute}", whole(call(name(module, attribute), text("id"))), FOUND)
    # Spellings that import the same, or that a careless comparison takes for a listed name.
    for module, attribute in (("torch ", "float32"), ("torch", "float32 "), ("torch", "float32 float64"), ("", "float32"),
                              ("torch", ""), ("torch\n", "float32"), ("Torch", "float32"), ("torch.", "float32"),
                              (".torch", "float32"), ("torch", "\uff46loat32"), ("t\u043erch", "float32"), ("torch\0", "float32"),
                              ("collections", "OrderedDict\0x"), ("torch", "\ud800")):
        yield Attack(f"names/look-alike/{module!r}.{attribute!r}", whole(list_of(name(module, attribute))), NOT_DATA)
    for module, attribute in (("__builtin__", "eval"), ("__builtin__", "apply"), ("copy_reg", "_reconstructor"),
                              ("commands", "getoutput"), ("cPickle", "loads"), ("urllib2", "urlopen"), ("httplib", "HTTPConnection"),
                              ("SocketServer", "TCPServer"), ("UserDict", "UserDict"), ("exceptions", "SystemExit"),
                              ("__builtin__", "reduce"), ("itertools", "imap"), ("StringIO", "StringIO"), ("Queue", "Queue"),
                              ("__builtin__", "getattr"), ("thread", "start_new_thread"), ("_socket", "fromfd")):
        for version in (0, 1, 2):
            head = proto(version) if version else b""
            yield Attack(f"names/python-2/{module}.{attribute}/{version}", head + name_line(module, attribute) + b"(I1\ntR.")
    # A list that is harmless by its new name, asked for under the old one and the other way around.
    yield Attack("names/python-2/second-proto", proto(4) + name("__builtin__", "eval") + POP + proto(2) + NONE + STOP)
    yield Attack("names/python-2/in-protocol-4", whole(call(name("__builtin__", "set"), EMPTY_LIST)))


def calls():
    yield Attack("calls/obj-then-pop", proto(2) + MARK + name_line("os", "system") + text("id") + OBJ + POP + NONE + STOP, DANGEROUS)
    yield Attack("calls/reduce-then-pop-mark", whole(MARK + call(SYSTEM, text("id")) + POP_MARK + NONE), DANGEROUS)
    yield Attack("calls/left-on-stack", whole(call(SYSTEM, text("id")) + NONE), DANGEROUS)
    yield Attack("calls/overwritten-item", whole(EMPTY_DICT + text("a") + call(SYSTEM, text("id")) + SETITEM + text("a") + NONE +
                                                 SETITEM), DANGEROUS)
    yield Attack("calls/as-key", whole(EMPTY_DICT + call(SYSTEM, text("id")) + NONE + SETITEM), DANGEROUS)
    yield Attack("calls/in-set", whole(EMPTY_SET + MARK + call(SYSTEM, text("id")) + ADDITEMS), DANGEROUS)
    yield Attack("calls/in-frozenset", whole(MARK + call(SYSTEM, text("id")) + FROZENSET), DANGEROUS)
    yield Attack("calls/in-persistent-id", whole(call(SYSTEM, text("id")) + BINPERSID), DANGEROUS)
    yield Attack("calls/in-keywords", whole(name("sympy.core.symbol", "Symbol") + tuple_of(text("x")) + dict_of(
        positive=call(SYSTEM, text("id"))) + NEWOBJ_EX), DANGEROUS)
    yield Attack("calls/self-reference", whole(EMPTY_LIST + MEMOIZE + call(SYSTEM, get(0)) + APPEND), DANGEROUS)
    yield Attack("calls/result-of-result", whole(call(call(name("builtins", "getattr"), name("os", "path"), text("join")), text("id"))))
    yield Attack("calls/getattr-chain", whole(call(call(name("builtins", "getattr"), call(name("builtins", "__import__"), text("os")),
                                                       text("system")), text("id"))), DANGEROUS)
    cache = make(name("torch._inductor.runtime.autotune_cache", "AutotuneCache"))
    getattr_ = name("builtins", "getattr")
    for attribute in ("__class__", "__init__", "__globals__", "__reduce_ex__", "put", "save.__globals__", "_prepare", "SAVE", ""):
        yield Attack(f"calls/getattr/{attribute}", whole(call(getattr_, cache, text(attribute))), DANGEROUS)
    yield Attack("calls/getattr-of-other", whole(call(getattr_, name("torch", "Tensor"), text("save"))), DANGEROUS)
    yield Attack("calls/getattr-default", whole(call(getattr_, cache, text("save"), SYSTEM)), DANGEROUS)
    yield Attack("calls/getattr-of-instance-attribute", whole(call(call(getattr_, cache + dict_of(save=REDUCE_GRAPH_MODULE) + BUILD,
                                                                        text("save")), BODY, text("import os"))))
    yield Attack("calls/bound-method-called", whole(call(call(getattr_, cache, text("save")), text("x"))))
    yield Attack("calls/unpickle-tensor-of-anything", whole(call(call(getattr_, name("torch._dynamo.guards", "GuardsStatePickler"), text(
        "_unpickle_tensor")), ENTRY, NONE, NONE, NONE, NONE)))
    yield Attack("calls/deserialize-artifacts", whole(call(call(getattr_, name("vllm.compilation.caching", "VllmSerializableFunction"), text(
        "deserialize_compile_artifacts")), data(HOSTILE))))
    for function in (name("builtins", "list"), name("collections", "OrderedDict"), REDUCE_GRAPH_MODULE,
                     name("torch._inductor.decomposition", "select_decomp_table"), SYSTEM,
                     name("torch.utils._sympy.functions", "make_opaque_unary_fn")):
        yield Attack(f"calls/partial/{function!r}", whole(call(PARTIAL, function)))
        yield Attack(f"calls/partial-called/{function!r}", whole(call(call(PARTIAL, function), BODY, text("import os"))))
    opaque = call(PARTIAL, name("torch.utils._sympy.functions", "make_opaque_bitwise_fn"))
    state = lambda function: tuple_of(function, EMPTY_TUPLE, EMPTY_DICT, NONE) + BUILD
    yield Attack("calls/partial-state", whole(opaque + state(REDUCE_GRAPH_MODULE)))
    yield Attack("calls/partial-state-of-attributes", whole(opaque + tuple_of(name(
        "torch.utils._sympy.functions", "make_opaque_bitwise_fn"), EMPTY_TUPLE, EMPTY_DICT, dict_of(__setstate__=SYSTEM)) + BUILD))
    yield Attack("calls/partial-state-later", whole(opaque + MEMOIZE + POP + call(get(0), text("bitwise_and")) + POP + get(0) +
                                                    state(REDUCE_GRAPH_MODULE)))
    yield Attack("calls/partial-arguments-in-state", whole(opaque + tuple_of(name(
        "torch.utils._sympy.functions", "make_opaque_bitwise_fn"), tuple_of(ENTRY), EMPTY_DICT, NONE) + BUILD))
    yield Attack("calls/reduce-graph-module", whole(call(REDUCE_GRAPH_MODULE, BODY, text("import os"))), DANGEROUS)
    yield Attack("calls/extension", whole(b"\x82\x01"), MALFORMED)
    yield Attack("calls/extension-2", whole(b"\x83\x01\x00"), MALFORMED)
    yield Attack("calls/extension-4", whole(b"\x84\x01\x00\x00\x00"), MALFORMED)
    yield Attack("calls/persistent", whole(text("x") + BINPERSID))
    yield Attack("calls/persistent-text", b"Punpickle_state\n.")
    yield Attack("calls/persistent-storage", whole(tuple_of(text("storage"), name("torch", "FloatStorage"), text("0"), text("cpu"), number(
        1)) + BINPERSID))
    yield Attack("calls/buffer", whole(b"\x97", 5), MALFORMED)


def states():
    entry_class = name("torch._inductor.output_code", "CompiledFxGraph")
    for attribute in ("__setstate__", "__reduce__", "__reduce_ex__", "__class__", "__dict__", "__getattr__", "__del__", "__call__",
                      "__hash__", "__eq__", "__init__", "_sympy_", "__array__", "__torch_function__", "__len__", "extend", "append", "add",
                      "", "a.b", "a b", "dict holds:fn", "__name__", "ｏ"):
        yield Attack(f"states/attribute/{attribute}", whole(ENTRY + EMPTY_DICT + text(attribute) + name("torch", "Tensor") + SETITEM +
                                                            BUILD), DANGEROUS)
        yield Attack(f"states/slot/{attribute}", whole(make(name("traceback", "FrameSummary")) + NONE + EMPTY_DICT + text(attribute) + name(
            "torch", "Tensor") + SETITEM + TUPLE2 + BUILD), DANGEROUS)
    yield Attack("states/number-as-attribute", whole(ENTRY + EMPTY_DICT + number(1) + NONE + SETITEM + BUILD), DANGEROUS)
    yield Attack("states/bytes-as-attribute", whole(ENTRY + EMPTY_DICT + data(b"a") + NONE + SETITEM + BUILD), DANGEROUS)
    hook = call(PARTIAL, REDUCE_GRAPH_MODULE, BODY)
    yield Attack("states/setstate-then-state", whole(ENTRY + dict_of(__setstate__=hook) + BUILD + text("import os") + BUILD), DANGEROUS)
    yield Attack("states/second-state", whole(ENTRY + dict_of(a=NONE) + BUILD + dict_of(b=NONE) + BUILD))
    yield Attack("states/shared-state", whole(ENTRY + dict_of(a=NONE) + MEMOIZE + BUILD + ENTRY + get(0) + BUILD + TUPLE2))
    yield Attack("states/sympy-hook", whole(make(name("sympy.core.add", "Add"), number(1), make(name(
        "torch.utils._sympy.value_ranges", "ValueRanges")) + dict_of(_sympy_=hook) + BUILD)), DANGEROUS)
    yield Attack("states/close-on-deletion", whole(make(name(
        "torch._inductor.runtime.static_triton_launcher", "StaticallyLaunchedCudaKernel")) + dict_of(close=hook) + BUILD))
    yield Attack("states/bound-method-elsewhere", whole(ENTRY + dict_of(current_callable=call(name("builtins", "getattr"), make(name(
        "torch._inductor.runtime.autotune_cache", "AutotuneCache")), text("save"))) + BUILD))
    save = call(name("builtins", "getattr"), make(name("torch._inductor.runtime.autotune_cache", "AutotuneCache")), text("save"))
    yield Attack("states/functions-of-a-shape-environment", whole(make(name("torch.fx._graph_pickler", "_ShapeEnvPickleData")) + dict_of(
        data=dict_of(evaluate_guards_expression=save)) + BUILD))
    for kind, container in {"list": list_of(save), "set": EMPTY_SET + MARK + save + ADDITEMS, "inner-tuple": tuple_of(tuple_of(save)),
                            "dict": dict_of(a=save)}.items():
        yield Attack(f"states/functions-in-{kind}", whole(container))
    yield Attack("states/on-global", whole(name("torch", "Tensor") + dict_of(a=NONE) + BUILD), DANGEROUS, "torch.Tensor")
    yield Attack("states/on-listed-class", whole(entry_class + dict_of(post_compile=name("torch", "Tensor")) + BUILD), DANGEROUS)
    yield Attack("states/items-on-global", whole(name("torch", "Tensor") + text("a") + NONE + SETITEM), DANGEROUS)
    yield Attack("states/append-on-global", whole(name("torch", "Tensor") + NONE + APPEND), DANGEROUS)
    yield Attack("states/add-on-global", whole(name("torch", "Tensor") + MARK + NONE + ADDITEMS), DANGEROUS)
    yield Attack("states/append-on-entry", whole(ENTRY + NONE + APPEND))
    yield Attack("states/appends-on-entry", whole(ENTRY + MARK + NONE + NONE + APPENDS))
    yield Attack("states/add-on-entry", whole(ENTRY + MARK + NONE + ADDITEMS))
    yield Attack("states/items-on-entry", whole(ENTRY + text("a") + NONE + SETITEM))
    yield Attack("states/on-persistent", whole(text("x") + BINPERSID + EMPTY_DICT + BUILD))
    yield Attack("states/other-form", whole(ENTRY + text("x") + BUILD))
    yield Attack("states/bytes", whole(ENTRY + data(HOSTILE) + BUILD))
    for form in (list_of(NONE), tuple_of(NONE), number(3), TRUE, tuple_of(NONE, EMPTY_DICT)):
        yield Attack(f"states/form/{form!r}", whole(ENTRY + form + BUILD))
    yield Attack("states/compiler-in-field", whole(ENTRY + dict_of(fn=REDUCE_GRAPH_MODULE) + BUILD), DANGEROUS)
    module = make(name("torch._functorch._aot_autograd.aot_autograd_result", "SerializedGraphModule"))
    yield Attack("states/compiler-in-other-field", whole(module + dict_of(args=REDUCE_GRAPH_MODULE) + BUILD), DANGEROUS)
    yield Attack("states/compiler-nested", whole(module + dict_of(fn=list_of(REDUCE_GRAPH_MODULE)) + BUILD), DANGEROUS)
    yield Attack("states/other-function-in-field", whole(module + dict_of(fn=SYSTEM) + BUILD), DANGEROUS)


def arguments():
    listed = {
        "collections.defaultdict": [SYSTEM, name("torch", "float32"), name("builtins", "getattr"), REDUCE_GRAPH_MODULE, text("x"),
                                    call(PARTIAL, SYSTEM), name("torch._inductor.output_code", "CompiledFxGraph")],
        "collections.Counter": [SYSTEM, text("x"), ENTRY, number(1), data(b"x")],
        "collections.OrderedDict": [SYSTEM, text("x"), ENTRY, number(5)],
        "torch.utils._ordered_set.OrderedSet": [SYSTEM, text("x"), ENTRY, number(1), data(b"x")],
        "torch.Size": [number(1 << 30), text("x"), tuple_of(text("x")), ENTRY, tuple_of(ENTRY)],
        "torch.device": [number(1), NONE, list_of(text("cpu")), ENTRY],
        "builtins.bytearray": [number(1 << 30), ENTRY, text("x")],
        "builtins.tuple": [ENTRY, SYSTEM, text("x"), call(name("itertools", "count"), number(0))],
        "builtins.range": [number(5), text("x")],
        "inspect._ParameterKind": [text("x"), ENTRY, NONE],
        "inspect.Parameter": [text("x"), ENTRY],
        "torch._functorch._aot_autograd.schemas.OutputType": [text("alias"), ENTRY],
        "torch._dynamo.pgo.AutoDynamic": [text("token"), NONE],
        "torch._inductor.runtime.hints.HeuristicType": [text("X"), list_of(number(1))],
        "logging.getLogger": [ENTRY, SYSTEM, NONE],
        "itertools.count": [text("x"), ENTRY],
        "builtins.type": [text("x"), ENTRY],
        "dill._dill._load_type": [text("CodeType"), text("FunctionType"), text("LambdaType"), text("type"), text("GetSetDescriptorType"),
                                  text("eval"), ENTRY],
        "_codecs.encode": [text("x"), text("cos")],
        "torch.serialization._get_layout": [text("__class__"), ENTRY, text("torch.strided.__class__")],
        "torch.utils._sympy.functions.make_opaque_unary_fn": [text("sympify"), text("preview"), text("lambdify"), ENTRY],
        "torch.storage._load_from_bytes": [text("/etc/passwd"), ENTRY, data(b"PK\x03\x04"), data(b"garbage"), data(HOSTILE)],
        "pickle.loads": [text("x"), ENTRY, data(b"garbage"), data(HOSTILE), data(b"cos\nsystem\n(S'id'\ntR.")],
        "_pickle.loads": [data(HOSTILE)],
        "torch.torch_version.TorchVersion": [ENTRY],
        "torch.fx._graph_pickler._GraphModulePickleData.unpickle": [ENTRY, tuple_of(ENTRY)],
        "torch._dynamo.source.LocalSource": [SYSTEM, ENTRY],
    }
    for full, values in listed.items():
        module, _, attribute = full.rpartition(".")
        if attribute == "unpickle":
            module, attribute = "torch.fx._graph_pickler", "_GraphModulePickleData.unpickle"
        for number_, value in enumerate(values):
            how = make if attribute == "TorchVersion" else call
            yield Attack(f"arguments/{full}/{number_}", whole(how(name(module, attribute), value)))
    yield Attack("arguments/encode-other-codec", whole(call(name("_codecs", "encode"), text("x"), text("zlib"))))
    yield Attack("arguments/loads-encoded", whole(call(name("pickle", "loads"), call(name("_codecs", "encode"), text(
        HOSTILE.decode("latin-1")), text("latin1")))))
    one = make(name("sympy.core.numbers", "One"))
    for module, attribute in (("sympy.core.add", "Add"), ("sympy.core.mul", "Mul"), ("sympy.core.power", "Pow"),
                              ("sympy.core.relational", "Equality"), ("torch.utils._sympy.functions", "FloorDiv"),
                              ("torch.utils._sympy.functions", "ModularIndexing"), ("sympy.core.numbers", "Integer"),
                              ("sympy.core.numbers", "Rational"), ("sympy.functions.elementary.integers", "floor")):
        for value in (text("__import__('os').system('id')"), list_of(text("x")), tuple_of(text("x")), data(b"x"), ENTRY, SYSTEM,
                      dict_of(a=text("x")), name("torch", "Tensor"), EMPTY_SET + MARK + text("x") + ADDITEMS,
                      call(name("collections", "OrderedDict"))):
            for how in (make, call):
                yield Attack(f"arguments/{module}.{attribute}/{how.__name__}/{value!r}", whole(how(name(module, attribute), one, value)))
    yield Attack("arguments/symbol-of-object", whole(make(name("sympy.core.symbol", "Symbol"), ENTRY)))
    storage = call(name("torch.storage", "_load_from_bytes"), data(legacy_stream()))
    hooks = call(name("collections", "OrderedDict"))
    size, stride = tuple_of(number(2)), tuple_of(number(1))
    rebuild = name("torch._utils", "_rebuild_tensor_v2")
    good = [storage, number(0), size, stride, FALSE, hooks]
    for position, values in enumerate((
            [ENTRY, text("x"), NONE, SYSTEM, make(name("torch._inductor.utils", "BoxedBool")) + dict_of(dtype=NONE) + BUILD],
            [text("0"), ENTRY], [list_of(number(2)), ENTRY, tuple_of(text("x"))], [ENTRY, tuple_of(ENTRY)], [number(1), ENTRY],
            [EMPTY_DICT, NONE, hooks + number(1) + name("torch", "Tensor") + SETITEM, call(name("collections", "OrderedDict"), list_of(
                tuple_of(number(1), name("torch", "Tensor"))))])):
        for value in values:
            yield Attack(f"arguments/rebuild-tensor/{position}/{value!r}"[:120], whole(call(rebuild, *good[:position], value,
                                                                                       *good[position + 1:])))
    yield Attack("arguments/rebuild-parameter", whole(call(name("torch._utils", "_rebuild_parameter"), ENTRY + dict_of(
        detach=hook_free()) + BUILD, TRUE, hooks)))
    yield Attack("arguments/rebuild-parameter-hooks", whole(call(name("torch._utils", "_rebuild_parameter"), call(rebuild, *good), TRUE,
                                                                 hooks + number(1) + name("torch", "Tensor") + SETITEM)))
    for function in ("_rebuild_wrapper_subclass", "_rebuild_device_tensor_from_cpu_tensor", "_rebuild_parameter_with_state",
                     "_import_dotted_name", "_get_async_or_non_blocking", "_element_size", "_cuda", "classproperty"):
        yield Attack(f"arguments/torch-utils/{function}", whole(call(name("torch._utils", function), text("os.system"))))
    yield Attack("arguments/kwargs", whole(name("torch._inductor.output_code", "CompiledFxGraph") + EMPTY_TUPLE + dict_of(a=NONE) + NEWOBJ_EX))


def hook_free():
    return call(PARTIAL, name("builtins", "list"))


def graphs():
    pickler = "torch.fx._graph_pickler"
    node = lambda class_, **state: whole(make(name(pickler, class_)) + dict_of(**state) + BUILD)
    for root, function in (("torch", "os.system"), ("torch", "load"), ("torch", "save"), ("torch", "hub.load"), ("torch", "compile"),
                           ("torch", "serialization.load"), ("torch", "_C._jit_to_backend"), ("torch", "jit.load"),
                           ("torch", "utils.cpp_extension.load"), ("torch", "ops.load_library"), ("torch", "classes.load_library"),
                           ("torch", "sys.modules"), ("torch", "importlib.import_module"), ("torch", "nn.functional.torch.load"),
                           ("torch", "from_file"), ("torch", "Tensor.__reduce_ex__"), ("torch", "__loader__.load_module"),
                           ("torch", "_inductor.codecache.PyCodeCache.load"), ("torch", "builtins.eval"), ("torch", "import_ir_module"),
                           ("torch", "nn.functional linear"), ("builtins", "eval"), ("builtins", "exec"), ("builtins", "getattr"),
                           ("builtins", "open"), ("operator", "methodcaller"), ("operator", "attrgetter"), ("operator", "call"),
                           ("math", "__loader__.load_module"), ("einops", "os.system"), ("einops", "einops.np.load"), ("os", "system"),
                           ("", "system"), ("torch", "")):
        yield Attack(f"graphs/function/{root}.{function}", node("_OpFunctionPickleData", root=text(root), name=text(function)), DANGEROUS)
        yield Attack(f"graphs/builtin/{root}.{function}", node("_OpBuiltinPickleData", root=text(root), name=text(function)), DANGEROUS)
    for operator in ("attrgetter", "methodcaller", "call", "__call__", "os.system"):
        yield Attack(f"graphs/operator/{operator}", node("_OpOperatorPickleData", name=text(operator)), DANGEROUS)
    for operator in ("torch.ops.load_library", "torch.load", "torch.ops.aten.__class__", "os.system", "torch.ops.", "torch.ops.a b",
                     "torch.ops.aten.add();import os", "torch.ops.loaded_libraries.clear"):
        for class_ in ("_OpOverloadPickleData", "_OpOverloadPacketPickleData"):
            yield Attack(f"graphs/{class_}/{operator}", node(class_, name=text(operator)), DANGEROUS)
    for target in ("x=__import__('os').system('id')", "x): pass\nimport os\ndef f(", "x\n", "", "*", "a b", "a;b", "L['x']", "\u0445"):
        yield Attack(f"graphs/target/{target!r}", node("_OpStrPickleData", name=text(target)), DANGEROUS)
        yield Attack(f"graphs/node-name/{target!r}", node("_NodePickleData", name=text(target), op=text("placeholder")), DANGEROUS)
        yield Attack(f"graphs/function-name/{target!r}", whole(make(name("torch.fx.graph", "CodeGen")) + dict_of(
            _func_name=text(target)) + BUILD), DANGEROUS)
    yield Attack("graphs/operation", node("_NodePickleData", name=text("x"), op=text("import os")), DANGEROUS)
    yield Attack("graphs/method", node("_NodePickleData", name=text("x"), op=text("call_method"), target=make(name(
        pickler, "_OpStrPickleData")) + dict_of(name=text("__reduce_ex__")) + BUILD), DANGEROUS)
    yield Attack("graphs/precompiled", node("_OpPrecompiledPickleData", contents=data(b"x")))
    yield Attack("graphs/numpy", node("_TorchNumpyPickleData", mod=text("os"), name=text("system")))
    yield Attack("graphs/transformer", whole(make(name("torch.fx.graph", "CodeGen")) + dict_of(_body_transformer=call(
        PARTIAL, name("builtins", "list"))) + BUILD))


def fields():
    """Data that torch puts into paths and into the text of functions."""
    bundler = "torch._inductor.triton_bundler"
    made = lambda module, class_, **state: whole(make(name(module, class_)) + dict_of(**state) + BUILD)
    version = make(name("torch.torch_version", "TorchVersion"), text("1.0"))
    paths = {"up": text("../../../x.so"), "absolute": text("/tmp/x.so"), "below": text("a/b"), "parent": text(".."), "here": text("."),
             "nul": text("a\0b"), "none": NONE, "bytes": data(b"x"), "subclass": version, "empty": text("")}
    for kind, path in paths.items():
        yield Attack(f"fields/artifact/{kind}", made(bundler, "TritonKernelArtifact", filename=path, payload=data(b"x")), DANGEROUS)
        if kind == "none":
            continue
        yield Attack(f"fields/kernel-hash/{kind}", made(bundler, "TritonKernelArtifacts", kernel_hash=path, artifacts=EMPTY_LIST), DANGEROUS)
        if kind != "empty":
            yield Attack(f"fields/kernel-hash-of-other/{kind}", made("torch._inductor.utils", "BoxedBool", kernel_hash=path), DANGEROUS)
        yield Attack(f"fields/cache-key/{kind}", made("torch._inductor.output_code", "CompiledFxGraph", cache_key=path), DANGEROUS)
        for module in ("static_cuda_launcher", "static_triton_launcher"):
            kernel = f"torch._inductor.runtime.{module}"
            yield Attack(f"fields/{module}/hash/{kind}", made(kernel, "StaticallyLaunchedCudaKernel", hash=path), DANGEROUS)
            yield Attack(f"fields/{module}/name/{kind}", made(kernel, "StaticallyLaunchedCudaKernel", name=path), DANGEROUS)
            yield Attack(f"fields/{module}/cubin/{kind}", made(kernel, "StaticallyLaunchedCudaKernel", cubin_path=path), DANGEROUS)
    other = make(name("torch._inductor.utils", "BoxedBool")) + dict_of(filename=text("/tmp/x"), payload=data(b"x")) + BUILD
    yield Attack("fields/artifact-of-other-class", made(bundler, "TritonKernelArtifacts", kernel_hash=text("A"), artifacts=list_of(other)),
                 DANGEROUS)
    for kind, argument in {"default": text("x=__import__('os')"), "end": text("x): pass\nimport os\ndef f("), "empty": text(""),
                           "subclass": version, "digit": text("0x"), "star": text("*x")}.items():
        names = list_of(text("in_ptr0"), argument)
        for module, class_ in (("torch._inductor.runtime.static_triton_launcher", "StaticallyLaunchedCudaKernel"),
                               ("triton.runtime.jit", "JITFunction"), ("torch._inductor.utils", "BoxedBool")):
            yield Attack(f"fields/arguments/{class_}/{kind}", made(module, class_, arg_names=names), DANGEROUS)
        yield Attack(f"fields/settings/{kind}", made("triton.runtime.autotuner", "Config", kwargs=EMPTY_DICT + argument + number(
            8) + SETITEM), DANGEROUS)
    for version_text in ("exec('1')", "__import__('os').system('id')", "", "A", "1 + 1", "quit()", "(1)"):
        yield Attack(f"fields/version/{version_text}", whole(make(name("torch.torch_version", "TorchVersion"), text(version_text))), FOUND)
    yield Attack("fields/storage-of-a-tebibyte", whole(call(name("torch.storage", "_load_from_bytes"), data(legacy_stream(
        storage=b"\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x001X\x03\x00\x00\x00cpu\x8a\x06\0\0\0\0\0\1NtQ.")))))


def nested():
    wrap = lambda value: whole(ENTRY + dict_of(constants=value) + BUILD)
    text_form = b"cos\nsystem\n(S'id'\ntR."
    broken = HOSTILE[:-1] + b"\xff"
    payloads = {"pickle": HOSTILE, "text-protocol": text_form, "protocol-1": b"cos\nsystem\n(U\x02idtR.",
                "inst": b"(S'id'\nios\nsystem\n.", "second": whole(NONE) + HOSTILE, "twice": whole(data(HOSTILE)),
                "broken": broken, "cut": HOSTILE[:-1], "broken-text": text_form[:-1] + b"\xff",
                "stream": legacy_stream(storage=HOSTILE), "stream-info": legacy_stream(third=HOSTILE),
                "stream-keys": legacy_stream(keys=HOSTILE), "stream-magic-only": MAGIC + HOSTILE, "framed": proto(4) + frame(HOSTILE[2:])}
    for kind, payload in payloads.items():
        bytes_only = kind in ("broken-text",)
        yield Attack(f"nested/bytes/{kind}", wrap(data(payload)), DANGEROUS, "os.system")
        yield Attack(f"nested/bytearray/{kind}", whole(b"\x96" + struct.pack("<Q", len(payload)) + payload, 5), DANGEROUS)
        yield Attack(f"nested/read-only/{kind}", whole(b"\x96" + struct.pack("<Q", len(payload)) + payload + b"\x98", 5), DANGEROUS)
        if kind in ("pickle", "text-protocol", "second", "stream", "cut") and not bytes_only:
            yield Attack(f"nested/latin-1/{kind}", wrap(text(payload.decode("latin-1"))), DANGEROUS)
        yield Attack(f"nested/in-key/{kind}", whole(EMPTY_DICT + data(payload) + NONE + SETITEM), DANGEROUS)
        yield Attack(f"nested/in-storage/{kind}", wrap(call(name("torch.storage", "_load_from_bytes"), data(legacy_stream(
            storage=b"\x80\x02(X\x07\x00\x00\x00storagectorch\nByteStorage\nX\x01\x00\x00\x001X\x03\x00\x00\x00cpuJ" + struct.pack(
                "<i", len(payload)) + b"NtQ.", keys=b"\x80\x02]q\x00X\x01\x00\x00\x001a.",
            rest=struct.pack("<q", len(payload)) + payload)))), DANGEROUS)
    # The same bytes applied twice: what is looked into the first time must not hide the second.
    mixed = MAGIC[:-1] + b"\x94" + STOP + b"\x80\x02M\xe9\x03.\x80\x02}." + HOSTILE + b"\x80\x02]."
    old_magic = b"L119547037146038801333356L\n." + b"I1001\n.(d." + b"cos\nsystem\n(S'id'\ntR." + b"(l."
    for kind, payload in {"stream": mixed, "text": old_magic}.items():
        yield Attack(f"nested/applied-twice/{kind}", whole(data(payload) + MEMOIZE + POP + call(name("pickle", "loads"), get(0)) + POP +
                                                           call(name("torch.storage", "_load_from_bytes"), get(0))), NOT_DATA)
    load = name("torch.storage", "_load_from_bytes")
    yield Attack("nested/stream-not-a-storage", whole(call(load, data(legacy_stream(storage=whole(ENTRY))))))
    yield Attack("nested/stream-short", whole(call(load, data(legacy_stream(rest=b"")))))
    yield Attack("nested/stream-short-storage", whole(call(load, data(legacy_stream(rest=struct.pack("<q", 1 << 40))))))
    yield Attack("nested/stream-other-id", whole(call(load, data(legacy_stream(
        storage=b"\x80\x02(X\x06\x00\x00\x00modulectorch\nFloatStorage\nX\x01\x00\x00\x001X\x03\x00\x00\x00cput\x51.")))))
    deep = HOSTILE
    for _ in range(30):
        deep = whole(data(deep))
    yield Attack("nested/thirty-deep", deep)
    yield Attack("nested/many", whole(list_of(*(data(whole(number(i % 256))) for i in range(11_000)))))


def streams():
    yield Attack("trailing/pickle", whole(NONE) + HOSTILE, NOT_DATA)
    yield Attack("trailing/bytes", whole(NONE) + b"x", MALFORMED)
    yield Attack("broken/acts-first", HOSTILE[:-1], DANGEROUS, "os.system")
    yield Attack("broken/acts-then-unknown-opcode", HOSTILE[:-1] + b"\xff", DANGEROUS, "os.system")
    yield Attack("broken/acts-then-truncated", HOSTILE[:-1] + b"X\xff\xff\xff\x7f", DANGEROUS, "os.system")
    yield Attack("broken/acts-then-bad-proto", HOSTILE[:-1] + b"\x80\x09.", DANGEROUS, "os.system")
    yield Attack("broken/acts-then-pops-too-much", HOSTILE[:-1] + b"00.", DANGEROUS, "os.system")
    body = call(SYSTEM, text("id"))
    yield Attack("frames/argument-across", proto() + b"\x95" + struct.pack("<Q", 3) + text("os") + text("system") + STACK_GLOBAL + tuple_of(
        text("id")) + REDUCE + STOP, DANGEROUS)
    yield Attack("frames/opcodes-in-argument", proto() + b"\x95" + struct.pack("<Q", 2) + b"C" + bytes([len(body)]) + body + STOP, NOT_DATA)
    yield Attack("frames/nested", proto() + frame(frame(body)) + STOP, DANGEROUS)
    yield Attack("frames/inner-longer", proto() + b"\x95" + struct.pack("<Q", 9) + frame(body) + STOP, DANGEROUS)
    yield Attack("frames/harmless-nested", proto() + frame(frame(NONE)) + STOP, MALFORMED)
    yield Attack("frames/too-long", proto() + b"\x95" + struct.pack("<Q", 1 << 40) + body + STOP, MALFORMED)
    yield Attack("frames/in-protocol-0", b"\x95" + struct.pack("<Q", len(body)) + body + STOP, DANGEROUS)
    yield Attack("proto/second", proto() + proto() + NONE + STOP, MALFORMED)
    yield Attack("proto/second-hides", proto() + body + POP + proto(5) + NONE + STOP, DANGEROUS)
    yield Attack("proto/newer", proto(6) + NONE + STOP, MALFORMED)
    yield Attack("proto/missing", text("x") + STOP, MALFORMED)
    yield Attack("stack/leftovers", whole(NONE + NONE), MALFORMED)
    yield Attack("stack/dropped-listed-call", whole(ENTRY + POP + NONE), MALFORMED)
    yield Attack("memo/sparse", whole(NONE + b"r\xff\xff\xff\x7f"), MALFORMED)


def bombs():
    """None of these may take long or much memory, nor pass for data where Python would hang on them."""
    lists, tuples, dicts = EMPTY_LIST, EMPTY_TUPLE, EMPTY_DICT
    for i in range(40):
        lists += MEMOIZE + POP + EMPTY_LIST + MARK + get(i) + get(i) + APPENDS
        tuples += DUP + TUPLE2
        dicts += MEMOIZE + POP + EMPTY_DICT + MARK + text("a") + get(i) + text("b") + get(i) + SETITEMS
    yield Attack("bombs/lists", whole(lists), NOT_DATA)
    yield Attack("bombs/tuples", whole(tuples), NOT_DATA)
    yield Attack("bombs/dicts", whole(dicts), NOT_DATA)
    yield Attack("bombs/tuples-as-key", whole(EMPTY_DICT + tuples + NONE + SETITEM + NONE + (DUP + TUPLE2) * 40 + NONE + SETITEM), NOT_DATA)
    yield Attack("bombs/lists-with-call", whole(lists + call(SYSTEM, text("id")) + APPEND), DANGEROUS)
    tebibyte = struct.pack("<Q", 1 << 40)
    for kind, opcode in (("text", b"\x8d"), ("bytes", b"\x8e"), ("bytearray", b"\x96"), ("frame", b"\x95")):
        yield Attack(f"bombs/tebibyte-{kind}", whole(opcode + tebibyte + b"x", 5), MALFORMED)
    yield Attack("bombs/long4", whole(b"\x8b\xff\xff\xff\x7f"), MALFORMED)
    yield Attack("bombs/negative-long4", whole(b"\x8b\xff\xff\xff\xff"), MALFORMED)
    yield Attack("bombs/long-text-integer", b"L" + b"9" * 300_000 + b"L\n.", NOT_DATA)
    deep = 200_000
    yield Attack("bombs/deep-tuples", whole(NONE + TUPLE1 * deep), NOT_DATA)
    yield Attack("bombs/deep-lists", whole(EMPTY_LIST * deep + APPEND * (deep - 1)), NOT_DATA)
    yield Attack("bombs/deep-marks", whole(MARK * deep + NONE + TUPLE * deep), NOT_DATA)
    yield Attack("bombs/deep-persistent", whole(NONE + BINPERSID * deep))
    yield Attack("bombs/deep-calls", whole(name("torch", "Size") + (TUPLE1 + REDUCE) * 20_000), NOT_DATA)
    yield Attack("bombs/deep-with-call-inside", whole(call(SYSTEM, text("id")) + TUPLE1 * deep), DANGEROUS)
    yield Attack("bombs/many-globals", whole(b"".join(name_line("m", str(i)) + POP for i in range(50_000)) + NONE))
    yield Attack("bombs/many-states", whole(ENTRY + MEMOIZE + POP + dict_of(**{f"a{i}": NONE for i in range(1000)}) + MEMOIZE + POP + (
        get(0) + get(1) + BUILD + POP) * 20_000 + NONE), NOT_DATA)
    yield Attack("bombs/colliding-keys", whole(EMPTY_DICT + MARK + b"".join(b"G\x7f\xf8\x00\x00\x00\x00\x00\x00N" for _ in range(
        20_000)) + SETITEMS), NOT_DATA | {"data"})
    yield Attack("bombs/many-nested-bytes", whole(list_of(*(data(b"(" * 200) for _ in range(2000)))), NOT_DATA | {"data"})


def every_attack():
    for family in (every_gadget, hidden_names, calls, states, arguments, graphs, fields, nested, streams, bombs):
        yield from family()
