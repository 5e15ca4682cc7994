#include "pickle/policy_rules.h"

#include <algorithm>

namespace cachetool::pickle {
namespace {

constexpr std::uint8_t kClass = kBare | kNew | kBuild;           // instance rebuilt by __new__ and a state
constexpr std::uint8_t kRecord = kBare | kNew | kBuild | kCall;  // the same, or by calling it with its fields
constexpr std::uint8_t kEnum = kBare | kCall;

struct Group {
  std::string_view module;
  Rule rule;
  std::string_view names;  // separated by blanks
};

constexpr Group kGroups[] = {
    // Python
    {"builtins", {kBare | kCall, Shape::kSequence}, "list dict set frozenset tuple bytearray"},
    {"builtins", {kBare}, "int str float bool bytes object"},
    {"builtins", {kCall, Shape::kScalars}, "complex slice range"},
    {"builtins", {kCall, Shape::kAttribute}, "getattr"},
    {"__builtin__", {kBare | kCall, Shape::kSequence}, "list dict set frozenset tuple bytearray"},
    {"_codecs", {kCall, Shape::kLatin1}, "encode"},
    {"collections", {kBare | kCall | kNew | kItems, Shape::kOneContainer}, "Counter OrderedDict"},
    {"collections", {kBare | kCall | kItems, Shape::kFactory}, "defaultdict"},
    {"functools", {kCall | kNew | kBuild, Shape::kAny}, "partial"},
    {"inspect", {kRecord}, "Parameter Signature"},
    {"inspect", {kEnum, Shape::kOneInt}, "_ParameterKind"},
    {"inspect", {kBare}, "_empty"},
    {"itertools", {kCall, Shape::kScalars}, "count"},
    {"logging", {kCall, Shape::kText}, "getLogger"},
    {"traceback", {kClass}, "FrameSummary"},
    {"pickle", {kCall, Shape::kPickle}, "loads"},
    {"_pickle", {kCall, Shape::kPickle}, "loads"},
    {"builtins", {kCall, Shape::kNone}, "type"},
    {"dill._dill", {kCall, Shape::kTypeName}, "_load_type"},

    // sympy: expressions of sizes. Text never: sympify evaluates it.
    {"sympy.core.numbers",
     {kBare | kNew | kCall | kBuild, Shape::kExpressions},
     "Integer Rational One Zero NegativeOne Half Infinity NegativeInfinity NaN ComplexInfinity Pi Exp1"},
    {"sympy.core.symbol", {kClass | kCall, Shape::kText}, "Symbol Dummy"},
    {"sympy.core.add", {kClass | kCall, Shape::kExpressions}, "Add"},
    {"sympy.core.mul", {kClass | kCall, Shape::kExpressions}, "Mul"},
    {"sympy.core.power", {kClass | kCall, Shape::kExpressions}, "Pow"},
    {"sympy.core.function", {kBare}, "Application Function"},
    {"sympy.core.relational",
     {kClass | kCall, Shape::kExpressions},
     "Equality Unequality GreaterThan LessThan StrictGreaterThan StrictLessThan"},
    {"sympy.logic.boolalg", {kClass | kCall, Shape::kExpressions}, "BooleanTrue BooleanFalse And Or Not"},
    {"sympy.functions.elementary.integers", {kClass | kCall, Shape::kExpressions}, "floor ceiling"},
    {"sympy.functions.elementary.complexes", {kClass | kCall, Shape::kExpressions}, "Abs"},
    {"sympy.functions.elementary.piecewise", {kClass | kCall, Shape::kExpressions}, "Piecewise ExprCondPair"},
    {"torch.utils._sympy.functions",
     {kClass | kCall, Shape::kExpressions},
     "BitwiseFn_bitwise_and BitwiseFn_bitwise_or BitwiseFn_bitwise_xor CeilDiv CeilToInt CleanDiv FloatPow "
     "FloatTrueDiv "
     "FloorDiv FloorToInt Identity IntTrueDiv IsNonOverlappingAndDenseIndicator LShift Max Min Mod "
     "ModularIndexing "
     "OpaqueUnaryFn_acos OpaqueUnaryFn_asin OpaqueUnaryFn_asinh OpaqueUnaryFn_atan OpaqueUnaryFn_cos "
     "OpaqueUnaryFn_cosh "
     "OpaqueUnaryFn_exp OpaqueUnaryFn_log OpaqueUnaryFn_log2 OpaqueUnaryFn_sin OpaqueUnaryFn_sinh "
     "OpaqueUnaryFn_sqrt "
     "OpaqueUnaryFn_tan OpaqueUnaryFn_tanh PowByNatural PythonMod RShift RoundDecimal RoundToInt ToFloat "
     "TruncToFloat "
     "TruncToInt Where"},
    {"torch.utils._sympy.functions",
     {kBare | kCall, Shape::kText},
     "make_opaque_unary_fn make_opaque_bitwise_fn"},
    {"torch.utils._sympy.numbers", {kClass | kCall, Shape::kExpressions}, "IntInfinity NegativeIntInfinity"},
    {"torch.utils._sympy.value_ranges", {kClass}, "ValueRanges"},

    // torch: types and constants
    {"torch",
     {kBare},
     "bfloat16 bits16 bits1x8 bits2x4 bits4x2 bits8 bool cdouble cfloat chalf complex128 complex32 complex64 "
     "double float float16 "
     "float32 float4_e2m1fn_x2 float64 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
     "float8_e8m0fnu half int int1 "
     "int16 int2 int3 int32 int4 int5 int6 int64 int7 int8 long qint32 qint8 quint2x4 quint4x2 quint8 short "
     "uint1 uint16 uint2 "
     "uint3 uint32 uint4 uint5 uint6 uint64 uint7 uint8 strided sparse_coo sparse_csr sparse_csc sparse_bsr "
     "sparse_bsc jagged "
     "_mkldnn contiguous_format preserve_format channels_last channels_last_3d legacy_contiguous_format"},
    {"torch",
     {kBare},
     "BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage "
     "DoubleStorage FloatStorage "
     "HalfStorage IntStorage LongStorage QInt32Storage QInt8Storage QUInt2x4Storage QUInt4x2Storage "
     "QUInt8Storage "
     "ShortStorage UntypedStorage TypedStorage Tensor SymInt SymFloat SymBool Generator ScriptObject"},
    {"torch", {kBare | kCall, Shape::kScalars}, "device"},
    {"torch", {kBare | kCall, Shape::kOneContainer}, "Size"},
    {"torch.storage", {kBare}, "UntypedStorage TypedStorage"},
    {"torch.storage", {kCall, Shape::kLegacyStream}, "_load_from_bytes"},
    {"torch.nn.parameter", {kBare}, "Parameter Buffer"},
    {"torch.torch_version", {kBare | kNew | kCall, Shape::kText}, "TorchVersion"},
    {"torch.serialization", {kCall, Shape::kText}, "_get_layout"},
    {"torch._utils",
     {kCall},
     "_rebuild_tensor _rebuild_tensor_v2 _rebuild_tensor_v3 _rebuild_parameter _rebuild_qtensor "
     "_rebuild_sparse_tensor "
     "_rebuild_meta_tensor_no_storage _rebuild_device_tensor_from_numpy"},
    {"torch._utils",
     {kBare},
     "torch.contiguous_format torch.preserve_format torch.channels_last torch.channels_last_3d"},
    {"torch.utils._ordered_set",
     {kBare | kCall | kNew | kBuild | kAppend, Shape::kOneContainer},
     "OrderedSet"},
    {"torch.fx.immutable_collections",
     {kBare | kCall | kNew | kAppend | kItems, Shape::kOneContainer},
     "immutable_dict immutable_list"},

    // Inductor's entries
    {"torch._inductor.output_code",
     {kClass, Shape::kNothing},
     "CompiledFxGraph CompiledAOTI RegionalOutputCode"},
    {"torch._inductor.codecache", {kClass, Shape::kNothing}, "CompiledFxGraph"},
    {"torch._inductor.metrics", {kClass, Shape::kNothing}, "CachedMetricsDeltas"},
    {"torch._inductor.utils", {kClass, Shape::kNothing}, "BoxedBool GraphPartitionMap"},
    {"torch._inductor.cudagraph_utils",
     {kClass, Shape::kNothing},
     "BoxedDeviceIndex CudagraphCachedInfo PlaceholderInfo"},
    {"torch._inductor.decomposition", {kBare}, "select_decomp_table"},
    {"torch._inductor.triton_bundler",
     {kClass, Shape::kNothing},
     "TritonKernelArtifacts TritonKernelArtifact TritonBundle StaticallyLaunchedAutotuner"},
    {"torch._inductor.runtime.triton_heuristics",
     {kClass, Shape::kNothing},
     "CachingAutotuner StaticTritonCompileResult InductorConfig _ConstRepr"},
    {"torch._inductor.runtime.static_cuda_launcher",
     {kClass, Shape::kNothing},
     "StaticallyLaunchedCudaKernel"},
    {"torch._inductor.runtime.static_triton_launcher",
     {kClass, Shape::kNothing},
     "StaticallyLaunchedCudaKernel StaticallyLaunchedTritonKernel StaticallyLaunchedXpuKernel"},
    {"torch._inductor.runtime.hints", {kBare | kNew}, "DeviceProperties HalideInputSpec HalideMeta"},
    {"torch._inductor.runtime.hints",
     {kEnum, Shape::kOneInt},
     "HeuristicType ReductionHint TileHint AutotuneHint"},
    {"torch._inductor.runtime.coordinate_descent_tuner", {kClass, Shape::kNothing}, "CoordescTuner"},
    {"torch._inductor.runtime.autotune_cache",
     {kClass, Shape::kNothing},
     "AutotuneCache LocalAutotuneCache _LocalAutotuneCacheBackend"},
    {"torch._inductor.remote_cache",
     {kClass, Shape::kNothing},
     "LocalAutotuneCache LocalCacheBackend RemoteCacheJsonSerde"},
    {"torch.compiler._cache", {kClass, Shape::kNothing}, "CacheArtifactRecorder"},
    {"triton.runtime.jit", {kClass, Shape::kNothing}, "JITFunction KernelParam"},
    {"triton.runtime.autotuner", {kClass, Shape::kNothing}, "Config"},
    {"triton.language.core", {kClass, Shape::kNothing}, "constexpr"},

    // AOTAutograd's entries
    {"torch._functorch._aot_autograd.autograd_cache",
     {kClass, Shape::kNothing},
     "AOTAutogradCacheEntry BundledAOTAutogradCacheEntry CompiledForward CompiledBackward "
     "BundledCompiledForward "
     "BundledCompiledBackward SerializedGraphModule"},
    {"torch._functorch._aot_autograd.aot_autograd_result",
     {kClass, Shape::kNothing},
     "AOTAutogradResult BundledAOTAutogradResult CompiledForward CompiledBackward BundledCompiledForward "
     "BundledCompiledBackward SerializedGraphModule BundledAOTAutogradCacheArtifact"},
    {"torch._functorch._aot_autograd.schemas",
     {kClass, Shape::kNothing},
     "ViewAndMutationMeta InputAliasInfo OutputAliasInfo PlainTensorMeta MemoryFormatMeta OpaqueMeta "
     "SubclassCreationMeta "
     "AOTConfig CacheableAOTConfig TensorAlias SubclassMeta"},
    {"torch._functorch._aot_autograd.schemas", {kEnum, Shape::kOneInt}, "MutationType OutputType"},
    {"torch._functorch._aot_autograd.subclass_parametrization",
     {kClass, Shape::kNothing},
     "SubclassCreationMeta"},
    {"torch._functorch._aot_autograd.runtime_wrappers",
     {kClass, Shape::kNothing},
     "AOTDedupeWrapper AOTSyntheticBaseWrapper AOTDispatchSubclassWrapper EffectTokensWrapper "
     "FakifiedOutWrapper "
     "FunctionalizedRngRuntimeWrapper RuntimeWrapper DebugAssertWrapper"},
    {"torch._functorch._aot_autograd.functional_utils",
     {kClass, Shape::kNothing},
     "ViewMetaSequence MetadataKey"},
    {"torch._functorch._aot_autograd.descriptors",
     {kRecord},
     "BackwardTokenAOTInput BackwardTokenAOTOutput BufferAOTInput DummyAOTInput DummyAOTOutput "
     "ForwardTokenAOTInput "
     "ForwardTokenAOTOutput GradAOTOutput InputMutationAOTOutput IntermediateBaseAOTOutput "
     "MetadataMutationAOTOutput ParamAOTInput "
     "PhiloxBackwardBaseOffsetAOTInput PhiloxBackwardSeedAOTInput PhiloxForwardBaseOffsetAOTInput "
     "PhiloxForwardSeedAOTInput "
     "PhiloxUpdatedBackwardOffsetAOTOutput PhiloxUpdatedForwardOffsetAOTOutput PlainAOTInput PlainAOTOutput "
     "SavedForBackwardsAOTOutput SavedForBackwardsNoVcCheckAOTOutput SubclassGetAttrAOTInput "
     "SubclassGetAttrAOTOutput SubclassSizeAOTInput "
     "SubclassSizeAOTOutput SubclassStrideAOTInput SubclassStrideAOTOutput SyntheticBaseAOTInput "
     "TangentAOTInput ViewBaseAOTInput"},
    {"torch._C._functionalization",
     {kClass, Shape::kNothing},
     "InverseReturnMode ViewMeta _conj_ViewMeta _fw_primal_ViewMeta _indices_ViewMeta _make_dual_ViewMeta "
     "_neg_view_ViewMeta "
     "_nested_get_values_ViewMeta _nested_view_from_buffer_ViewMeta _nested_view_from_jagged_ViewMeta "
     "_reshape_alias_ViewMeta "
     "_sparse_broadcast_to_ViewMeta _test_autograd_multiple_dispatch_view_ViewMeta _unsafe_view_ViewMeta "
     "_values_ViewMeta "
     "alias_ViewMeta as_strided_ViewMeta as_strided__ViewMeta ccol_indices_ViewMeta col_indices_ViewMeta "
     "crow_indices_ViewMeta "
     "detach_ViewMeta detach__ViewMeta diagonal_ViewMeta expand_ViewMeta indices_ViewMeta "
     "lift_fresh_ViewMeta permute_ViewMeta "
     "resize__ViewMeta row_indices_ViewMeta select_int_ViewMeta slice_Tensor_ViewMeta slice_inverse_ViewMeta "
     "split_Tensor_ViewMeta "
     "split_with_sizes_ViewMeta squeeze_ViewMeta squeeze__ViewMeta squeeze__dim_ViewMeta "
     "squeeze__dims_ViewMeta squeeze_dim_ViewMeta "
     "squeeze_dims_ViewMeta t_ViewMeta t__ViewMeta transpose__ViewMeta transpose_int_ViewMeta "
     "unbind_int_ViewMeta unfold_ViewMeta "
     "unsqueeze_ViewMeta unsqueeze__ViewMeta values_ViewMeta view_ViewMeta view_as_complex_ViewMeta "
     "view_as_real_ViewMeta "
     "view_dtype_ViewMeta"},
    // Stored with its arguments and called by torch later: it compiles the code text among them. Never to be
    // called by the pickle.
    {"torch.fx.graph_module", {kBare}, "reduce_graph_module GraphModule"},
    {"torch._subclasses.functional_tensor", {kBare}, "FunctionalTensor"},
    {"torch._subclasses.fake_tensor", {kBare}, "FakeTensor"},

    // Dynamo: where an input came from, compile ids, profiles, precompiled packages
    {"torch._dynamo.source",
     {kRecord},
     "AttrProxySource TorchSource AttrSource BackwardStateSource CallFunctionNoArgsSource "
     "CallMethodItemSource CellContentsSource "
     "ClosureSource CodeSource ConstDictKeySource ConstantSource ConvertIntSource CurrentStreamSource "
     "DataclassFieldsSource "
     "DefaultsSource DictGetItemSource DictSubclassGetItemSource DynamicScalarSource EphemeralSource "
     "FSDPNNModuleSource "
     "FlattenScriptObjectSource FloatTensorSource GenericAttrSource GetItemSource GlobalSource "
     "GlobalStateSource GlobalWeakRefSource "
     "GradSource ImportSource IndexedSource ListGetItemSource LocalCellSource LocalSource NNModuleSource "
     "NamedTupleFieldsSource "
     "NegateSource NonSerializableSetGetItemSource NumpyTensorSource OptimizerSource ParamBufferSource "
     "RandomValueSource "
     "ScriptObjectQualifiedNameSource ShapeEnvSource SkipGuardSource SubclassAttrListSource "
     "SyntheticLocalSource TempLocalSource "
     "TensorPropertySource TorchFunctionModeStackSource TupleIteratorGetItemSource TypeDictSource "
     "TypeMROSource TypeSource "
     "UnspecializedBuiltinNNModuleSource UnspecializedNNModuleSource UnspecializedParamBufferSource "
     "WeakRefCallSource"},
    {"torch._dynamo.source", {kEnum, Shape::kOneInt}, "TensorProperty"},
    {"torch._guards",
     {kClass, Shape::kAny},
     "CompileId TraceId SLoc ShapeGuard DuplicateInputs StorageOverlap GuardsSet"},
    {"torch._guards", {kEnum, Shape::kOneInt}, "GuardSource"},
    {"torch._dynamo.pgo", {kClass}, "CodeId CodeState FrameStateSizeEntry InferStride"},
    {"torch._dynamo.pgo", {kEnum, Shape::kOneInt}, "AutoDynamic AutoUnset"},
    {"torch._dynamo.package",
     {kClass, Shape::kNothing},
     "InlinedSource SerializedCode SourceInfo SystemInfo PrecompileCacheEntry _DynamoCacheEntry "
     "_DynamoCodeCacheEntry "
     "_GuardedCodeCacheEntry"},
    {"torch._dynamo.guards", {kClass, Shape::kNothing}, "GuardsState"},
    {"torch._dynamo.guards", {kBare}, "GuardsStatePickler"},
    {"torch._dynamo.guards", {kCall, Shape::kText}, "_Missing"},
    {"torch._C._dynamo.guards", {kClass, Shape::kNothing}, "GlobalStateGuard LocalState"},
    {"torch._C._autograd", {kClass, Shape::kNothing}, "CreationMeta"},
    {"torch._dynamo.convert_frame", {kClass, Shape::kNothing}, "GraphRuntimeEnv"},
    {"torch._dynamo.output_graph", {kClass, Shape::kAny}, "GraphCompileReason OutputGraphGuardsState"},
    {"torch._dynamo.aot_compile_types", {kBare}, "BundledAOTAutogradSerializableCallable"},
    {"torch._dynamo.aot_compile", {kBare}, "BundledAOTAutogradSerializableCallable"},

    // Graphs that vLLM stores (torch/fx/_graph_pickler.py)
    {"torch.fx._graph_pickler",
     {kClass, Shape::kNothing},
     "_GraphModulePickleData _GraphPickleData _NodePickleData _OpStrPickleData _OpOverloadPickleData "
     "_OpOverloadPacketPickleData "
     "_OpFunctionPickleData _OpBuiltinPickleData _OpOperatorPickleData _ShapeEnvPickleData "
     "_SymNodePickleData _TensorPickleData "
     "_TracingContextPickleData"},
    {"torch.fx.graph", {kClass, Shape::kNothing}, "CodeGen"},
    {"torch.fx._graph_pickler",
     {kCall},
     "_GraphModulePickleData.unpickle _ShapeEnvPickleData.unpickle _SymNodePickleData.unpickle_sym_int "
     "_TensorPickleData.unpickle"},
    {"torch.fx.experimental.symbolic_shapes",
     {kClass | kCall},
     "DimConstraints DynamicDimConstraintPrinter ShapeEnvSettings ValueRangesSLoc SymIntEqByExpr "
     "CallMethodKey ConvertIntKey DivideByKey "
     "InnerTensorKey RelaxedUnspecConstraint StrictMinMaxConstraint StatefulSymbolicContext "
     "StatelessSymbolicContext RuntimeAssert _SymbolInfo"},
    {"torch.fx.experimental.symbolic_shapes", {kEnum, Shape::kOneInt}, "DimDynamic"},
    {"torch._subclasses.meta_utils",
     {kClass, Shape::kAny},
     "MetaStorageDesc MetaTensorDesc _FakeTensorViewFunc _CustomViewFunc"},
    {"vllm.compilation.caching", {kClass, Shape::kNothing}, "StandaloneCompiledArtifacts"},
    {"vllm.compilation.caching", {kBare}, "VllmSerializableFunction"},
};

struct Attribute {
  std::string_view module;
  std::string_view name;
  std::string_view attribute;
};

constexpr Attribute kAttributes[] = {
    {"torch._inductor.runtime.autotune_cache", "AutotuneCache", "save"},
    {"triton.runtime.jit", "JITFunction", "create_binder"},
    {"torch._dynamo.guards", "GuardsStatePickler", "_unpickle_tensor"},
    {"vllm.compilation.caching", "VllmSerializableFunction", "deserialize_compile_artifacts"},
    {"torch._dynamo.aot_compile_types", "BundledAOTAutogradSerializableCallable",
     "deserialize_compile_artifacts"},
    {"torch._dynamo.aot_compile", "BundledAOTAutogradSerializableCallable", "deserialize_compile_artifacts"},
};

bool lists(std::string_view names, std::string_view name) {
  for (std::size_t at = names.find(name); at != std::string_view::npos; at = names.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || names[at - 1] == ' ') && (end == names.size() || names[end] == ' ')) return true;
  }
  return false;
}

struct Danger {
  std::string_view reason;
  std::string_view modules;  // whole packages, by the part before the first dot
};

constexpr Danger kDangers[] = {
    {"runs other programs or acts on the system",
     "os posix nt subprocess pty commands popen2 shutil multiprocessing concurrent asyncio signal ctypes "
     "cffi _ctypes resource faulthandler "
     "mmap fcntl pip setuptools distutils ensurepip venv"},
    {"runs Python code from text or files",
     "importlib imp runpy code codeop pdb bdb doctest timeit trace profile cProfile pydoc zipimport pkgutil "
     "site atexit sched idlelib "
     "lib2to3 ast compileall py_compile"},
    {"loads other pickles or code objects",
     "pickle _pickle cPickle dill cloudpickle joblib marshal shelve types jsonpickle"},
    {"reaches the network",
     "socket ssl http urllib urllib2 urllib3 requests ftplib smtplib telnetlib poplib imaplib webbrowser "
     "xmlrpc aiohttp httpx"},
    {"opens files", "io _io pathlib tempfile fileinput glob linecache sqlite3 dbm"},
    {"looks up or calls whatever it is told to", "operator _operator sys gc inspect"},
};

constexpr std::string_view kDangerousBuiltins =
    "eval exec execfile compile __import__ open input raw_input breakpoint getattr setattr delattr globals "
    "locals vars map filter apply "
    "memoryview print help exit quit";
constexpr std::string_view kDangerousTorch =
    "load hub.load hub.load_state_dict_from_url jit.load ops.load_library classes.load_library compile "
    "package.PackageImporter";

}  // namespace

const Rule* find_rule(std::string_view module, std::string_view name) {
  if (name.empty() || name.find(' ') != std::string_view::npos) return nullptr;
  for (const Group& group : kGroups) {
    if (group.module == module && lists(group.names, name)) return &group.rule;
  }
  return nullptr;
}

bool allowed_attribute(std::string_view module, std::string_view name, std::string_view attribute) {
  return std::any_of(std::begin(kAttributes), std::end(kAttributes), [&](const Attribute& allowed) {
    return allowed.module == module && allowed.name == name && allowed.attribute == attribute;
  });
}

bool callable_attribute(std::string_view module, std::string_view name, std::string_view attribute) {
  return module == "torch._dynamo.guards" && name == "GuardsStatePickler" && attribute == "_unpickle_tensor";
}

bool allowed_graph_function(std::string_view root, std::string_view name) {
  if (name.empty() || name.find("__") != std::string_view::npos) return false;
  if (root == "builtins") return lists("abs bool float int len max min pow round sum", name);
  if (root == "torch")
    return danger_of("torch", name).empty() && !name.starts_with("hub.") && !name.starts_with("package.");
  return root == "math" || root == "einops" ||
         (root == "operator" && !lists("attrgetter methodcaller itemgetter call", name));
}

std::string_view danger_of(std::string_view module, std::string_view name) {
  const std::string_view package = module.substr(0, module.find('.'));
  if (package.empty() || package.find(' ') != std::string_view::npos ||
      name.find(' ') != std::string_view::npos)
    return {};
  if (package == "builtins" || package == "__builtin__") {
    return lists(kDangerousBuiltins, name.substr(0, name.find('.')))
               ? "evaluates code or reaches any attribute"
               : std::string_view{};
  }
  if (module == "torch" && lists(kDangerousTorch, name)) return "loads code or other pickles";
  if (module == "torch.hub" || module == "torch.jit" || module == "torch.package" ||
      module == "torch.utils.cpp_extension") {
    return "loads or compiles code";
  }
  if (module == "torch.fx.graph_module" || module == "torch._inductor.codecache")
    return "compiles code from text";
  if (module == "torch.serialization" || module == "torch.storage") return "loads other pickles";
  if (module == "functools" && name == "reduce") return "calls whatever it is told to";
  for (const Danger& danger : kDangers) {
    if (lists(danger.modules, package)) return danger.reason;
  }
  return {};
}

}  // namespace cachetool::pickle
