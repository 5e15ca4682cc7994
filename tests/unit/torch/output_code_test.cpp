#include "torch/output_code.h"

#include <doctest/doctest.h>

#include "pickle_text.h"
#include "torch/decode.h"

using namespace cachetool;
using namespace cachetool::torch;
using namespace pickle_text;

namespace {

Decoded decode(const std::string& bytes) {
  Budget budget = Budget::for_input(bytes.size());
  auto decoded = decode_entry_owned(bytes, budget);
  REQUIRE(decoded);
  return std::move(*decoded);
}

template <class... Members>
Decoded decode_graph(const Members&... members) {
  return decode(
      pickle_text::pickle(instance("torch._inductor.output_code", "CompiledFxGraph", dict(members...))));
}

}  // namespace

TEST_SUITE_BEGIN("torch/output_code");

TEST_CASE("a graph of 2.6 with a constant") {
  const Decoded decoded = decode(entry_file("fxgraph-2.6.0-constants.pkl"));
  CHECK(decoded.notes.notes.empty());
  CHECK(decoded.notes.unrecognised.empty());
  const CompiledFxGraph* graph = decoded.fx_graph();
  REQUIRE(graph != nullptr);
  CHECK(graph->current_callable.is_none());
  CHECK(graph->cache_key.value_or({}).starts_with("ch2jufyqzcnkcht"));
  CHECK(graph->time_taken_ns.value_or(0) == 3998648888);
  CHECK_FALSE(graph->key_details.present());
  CHECK_FALSE(graph->partition_maps.present());
  CHECK(graph->allocated_constant_name.is_none());
  CHECK(graph->fx_kwargs->is_inference.value_or(false));
  CHECK_FALSE(graph->fx_kwargs->cudagraphs.value_or(true));
  CHECK(graph->output_strides->size() == 2);
  REQUIRE(graph->constants->size() == 1);
  const Constant& constant = graph->constants->front();
  CHECK(constant.name == "_tensor_constant0");
  CHECK(constant.tensor->dtype == "float32");
  CHECK(constant.tensor->size[0] == 6);
  CHECK(constant.tensor->storage->bytes.size() == 96);
}

TEST_CASE("a graph of 2.6 for CUDA with a list of Triton artifacts") {
  const Decoded decoded = decode(entry_file("fxgraph-2.6.0-cuda.pkl"));
  CHECK(decoded.notes.notes.empty());
  const CompiledFxGraph* graph = decoded.fx_graph();
  REQUIRE(graph != nullptr);
  CHECK(graph->device_types->size() == 2);
  CHECK((*graph->device_idxs)[0] == 0);
  CHECK((*graph->inputs_to_check)[0] == 0);
  REQUIRE(graph->triton_bundle);
  REQUIRE_FALSE(graph->triton_bundle->kernel_artifacts.empty());
  const TritonKernelArtifacts& kernel = graph->triton_bundle->kernel_artifacts.front();
  CHECK(kernel.kernel_hash->size() == 43);
  CHECK(kernel.device.value_or(-1) == 0);
  bool has_cubin = false;
  for (const TritonArtifact& file : kernel.artifacts) {
    if (file.filename.ends_with(".cubin"))
      has_cubin = file.payload.starts_with(
          "\x7f"
          "ELF");
  }
  CHECK(has_cubin);
}

TEST_CASE("a graph of 2.15 for CUDA with a parameter and a partition") {
  const Decoded decoded = decode(entry_file("fxgraph-2.15.0-cuda-parameter.pkl"));
  CHECK(decoded.notes.notes.empty());
  CHECK(decoded.notes.unrecognised.empty());
  const CompiledFxGraph* graph = decoded.fx_graph();
  REQUIRE(graph != nullptr);
  REQUIRE(graph->constants->size() == 1);
  CHECK(graph->constants->front().tensor->is_parameter);
  CHECK(graph->constants->front().tensor->device == "cuda:0");
  REQUIRE(graph->partition_maps->size() == 1);
  CHECK(graph->partition_maps->front().constant_names.has_value());
  REQUIRE(graph->cudagraph_info);
  REQUIRE_FALSE(graph->cudagraph_info->placeholders->empty());
  CHECK_FALSE(graph->cudagraph_info->placeholders->front()
                  .name->empty());  // state is a list of slots in this release
  CHECK(graph->key_details->device() == "{'name': 'declared device sm_90'}");
  CHECK(graph->key_details->config("triton.cudagraphs").has_value());
  CHECK(graph->key_details->torch_identity().size() == 51);
}

TEST_CASE("a graph of 2.4 lives in another module and has no arguments of the compile") {
  const Decoded decoded = decode(entry_file("fxgraph-2.4.1-cpu.pkl"));
  CHECK(decoded.notes.notes.empty());
  const CompiledFxGraph* graph = decoded.fx_graph();
  REQUIRE(graph != nullptr);
  CHECK_FALSE(graph->fx_kwargs.present());
  CHECK((*graph->mutated_input_idxs)[0] == 0);
}

TEST_CASE("a field of another type is noted with its path and doesn't stop the rest") {
  const Decoded decoded =
      decode_graph(text("cache_key"), integer(5), text("fx_kwargs"),
                   dict(text("static_input_idxs"), text("0")), text("partition_maps"),
                   list(instance("torch._inductor.utils", "GraphPartitionMap",
                                 dict(text("id"), none(), text("constant_names"), list(integer(1))))),
                   text("guards_expr"), text("s0 < 4"));
  const CompiledFxGraph* graph = decoded.fx_graph();
  REQUIRE(graph != nullptr);
  REQUIRE(decoded.notes.notes.size() == 3);
  CHECK(decoded.notes.notes[0].path == "cache_key");
  CHECK(decoded.notes.notes[0].message == "expected str, found int");
  CHECK(decoded.notes.notes[1].path == "fx_kwargs.static_input_idxs");
  CHECK(decoded.notes.notes[1].message == "expected list, found str");
  CHECK(decoded.notes.notes[2].path == "partition_maps[0].constant_names[0]");
  CHECK(graph->cache_key.state() == FieldState::kMalformed);
  CHECK(graph->partition_maps->front().id.is_none());
  CHECK(graph->guards_expr.value_or({}) == "s0 < 4");
  CHECK_FALSE(graph->source_code.present());
}

TEST_CASE("unknown fields are kept under their path") {
  const Decoded decoded =
      decode_graph(text("_next_year"), integer(5), text("fx_kwargs"), dict(text("new"), none()));
  REQUIRE(decoded.notes.unrecognised.size() == 2);
  CHECK(decoded.notes.unrecognised[0].path == "_next_year");
  CHECK(decoded.notes.unrecognised[0].value.as_int() == 5);
  CHECK(decoded.notes.unrecognised[1].path == "fx_kwargs.new");
  CHECK(identify_release(decoded).first == ReleaseFamily::kUnknown);
}

TEST_CASE("an instance of another class is noted") {
  const Decoded decoded = decode_graph(text("metrics_deltas"), instance("m", "Metrics", dict()));
  REQUIRE(decoded.notes.notes.size() == 1);
  CHECK(decoded.notes.notes[0].message == "expected CachedMetricsDeltas, found m.Metrics");
}

TEST_CASE("a constant whose tensor is damaged is noted") {
  const Decoded decoded = decode_graph(text("constants"), dict(text("c0"), tensor("junk")));
  REQUIRE(decoded.notes.notes.size() == 1);
  CHECK(decoded.notes.notes[0].path == "constants.c0");
}

TEST_CASE("the other classes") {
  const Decoded aoti =
      decode(pickle_text::pickle(instance("torch._inductor.output_code", "CompiledAOTI",
                                          dict(text("filename"), text("/x.so"), text("device_type"),
                                               text("cpu"), text("_cached_files"), dict()))));
  REQUIRE(std::holds_alternative<CompiledAOTI>(*aoti.output_code()));
  CHECK(std::get<CompiledAOTI>(*aoti.output_code()).device_type.value_or({}) == "cpu");
  CHECK(aoti.notes.unrecognised.empty());
  const Decoded regional =
      decode(pickle_text::pickle(instance("torch._inductor.output_code", "RegionalOutputCode",
                                          dict(text("_serialized_graph_module"), bytes("gm")))));
  REQUIRE(std::holds_alternative<RegionalOutputCode>(*regional.output_code()));
  CHECK(std::get<RegionalOutputCode>(*regional.output_code()).serialized_graph_module.value_or({}) == "gm");
}

TEST_CASE("names of enum members") {
  CHECK(heuristic_name(2) == "POINTWISE");
  CHECK(heuristic_name(0) == "unknown");
  CHECK(heuristic_name(99) == "unknown");
}

TEST_CASE("a kernel that was loaded before it was saved has nothing unrecognised") {
  const std::string runtime = "torch._inductor.runtime.";
  const auto kernel = instance(runtime + "static_triton_launcher", "StaticallyLaunchedCudaKernel",
                               dict(text("name"), text("k"), text("n_regs"), integer(32), text("n_spills"),
                                    integer(0), text("C_impl"), global("torch._C", "_StaticCudaLauncher")));
  const auto result =
      instance(runtime + "triton_heuristics", "StaticTritonCompileResult", dict(text("kernel"), kernel));
  const auto autotuner = instance(runtime + "triton_heuristics", "CachingAutotuner",
                                  dict(text("compile_results"), list(result), text("_could_rblock_scale"),
                                       boolean(false), text("_combo_has_reduction_subkernel"), boolean(false),
                                       text("_should_coordesc_tune"), boolean(false)));
  const std::string bundler = "torch._inductor.triton_bundler";
  const auto bundle = instance(bundler, "TritonBundle",
                               dict(text("kernel_artifacts"), list(), text("static_autotuners"),
                                    list(instance(bundler, "StaticallyLaunchedAutotuner",
                                                  dict(text("cache_key"), text("c"), text("kernel_name"),
                                                       text("k"), text("kernel"), autotuner)))));
  const std::string bytes = pickle_text::pickle(
      instance("torch._inductor.output_code", "CompiledFxGraph", dict(text("_triton_bundle"), bundle)));
  Budget budget = Budget::for_input(bytes.size());
  const auto decoded = decode_entry(bytes, budget);
  REQUIRE(decoded);
  REQUIRE(decoded->fx_graph() != nullptr);
  REQUIRE(decoded->fx_graph()->triton_bundle->static_autotuners.size() == 1);
  CHECK(decoded->notes.unrecognised.empty());
}

TEST_SUITE_END();
