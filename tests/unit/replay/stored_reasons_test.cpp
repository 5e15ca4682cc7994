#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "container/expand.h"
#include "container/tar.h"
#include "graph_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;

namespace {

// A text that torch stores in disabled_cudagraphs_reason. "Found from" and a stack trace may follow it.
struct StoredReason {
  std::string_view text;
  std::string_view set_by;
  ReleaseFamily first;
  ReleaseFamily last;
};

// Read in the sources of 2.6.0, 2.7.1, 2.8.0, 2.9.1 and 2.10.0 to 2.15.0; docs/post-compile.md says more.
constexpr StoredReason kReasons[] = {
    {"skipping cudagraphs due to cpu device (arg1_1). Found from : \n   File \"model.py\", line 3, in "
     "forward\n",
     "cudagraph_utils.py: check_multiple_devices_or_any_cpu_nodes", k2_6, k2_15},
    {"skipping cudagraphs due to cpu device (device_put)",
     "cudagraph_utils.py: check_multiple_devices_or_any_cpu_nodes", k2_6, k2_15},
    {"skipping cudagraphs due to multiple devices: device(type='cuda', index=0), device(type='cuda', "
     "index=1)",
     "cudagraph_utils.py: check_multiple_devices_or_any_cpu_nodes", k2_6, k2_15},
    {"skipping cudagraphs due to multiple devices: ",
     "cudagraph_utils.py: check_multiple_devices_or_any_cpu_nodes", k2_6, k2_15},
    {"skipping cudagraphs due to cudagraph capture requires the caching allocator; current allocator is "
     "uncached",
     "cudagraph_utils.py: check_caching_allocator_for_cudagraphs", k2_13, k2_15},
    {"skipping cudagraphs due to mutated inputs (2 instances). Found from : \n   File \"model.py\"\n",
     "cudagraph_utils.py: get_mutation_stack_trace", k2_6, k2_15},
    {"skipping cudagraphs due to mutated inputs",
     "cudagraph_utils.py: check_for_mutation_ignore_cuda_graph_managed_tensor", k2_6, k2_15},
    {"input storage mutation (1 instances). Found from:\n   File \"model.py\"\n",
     "cudagraph_utils.py: get_input_storage_mutation_reason", k2_13, k2_15},
    {"graph with symbolic shapes inputs and config.triton.cudagraph_skip_dynamic_graphs=True.\n",
     "compile_fx.py: codegen_and_compile", k2_6, k2_15},
    {"disabling cudagraphs due to incompatible op aten.nonzero.default Found from   File \"model.py\"\n\n",
     "compile_fx.py: codegen_and_compile", k2_6, k2_15},
    {"control flow operator: torch.cond.", "lowering.py: cond", k2_6, k2_15},
    {"control flow operator: torch.while_loop.", "lowering.py: while_loop", k2_6, k2_15},
    {"control flow operator: torch.switch.", "lowering.py: switch", k2_14, k2_15},
    {"index put with accumulate.", "lowering.py: index_put_fallback", k2_6, k2_7},
    {"deterministic index put.", "lowering.py: index_put_fallback", k2_6, k2_7},
    {"index_put_ fallback with boolean indexing is not compatible with CUDA graphs",
     "lowering.py: index_put_fallback", k2_10, k2_15},
    {"sparsity not handled. Please file issue for sparse inference weights.",
     "ir.py: FallbackKernel.process_kernel", k2_6, k2_15},
    {"user CUDA MemPool contexts are not compatible with CUDA graphs", "graph.py: GraphLowering.run_node",
     k2_14, k2_15},
};

// A text in cudagraph_fail_reasons; all are set by output_code.py: CompiledFxGraph.__init__.
struct FailReason {
  std::string_view text;
  ReleaseFamily first;
  ReleaseFamily last;
};
constexpr FailReason kFails[] = {
    {"mutated inputs", k2_6, k2_15},
    {"complex memory overlap", k2_6, k2_12},
    {"non-Tensor inputs", k2_6, k2_15},
    {"input storage mutation", k2_13, k2_15},
    {"force_disable_cudagraph_TESTING_ONLY", k2_13, k2_15},
};

/// The cache in tests/data/NAME.tar.zst: path in the archive and bytes of each entry with a compiled graph.
std::vector<std::pair<std::string, std::string>> packed_graphs(const std::string& name) {
  std::ifstream file(CACHETOOL_TEST_DATA "/" + name + ".tar.zst", std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(file), {}};
  const container::Expanded archive = container::expand(packed, container::Compression::kZstd);
  REQUIRE_FALSE(archive.error);
  const container::TarListing listing = container::list_tar(archive.bytes);
  REQUIRE_FALSE(listing.error);
  std::vector<std::pair<std::string, std::string>> graphs;
  for (const container::TarMember& member : listing.members) {
    const bool entry = member.name.find("cache/fxgraph/") != std::string::npos;
    if (entry && !member.name.ends_with(".lock")) graphs.emplace_back(member.name, member.bytes);
  }
  return graphs;
}

}  // namespace

TEST_SUITE_BEGIN("replay/stored_reasons");

TEST_CASE("each reason that a release stores is logged as it stands") {
  for (const StoredReason& reason : kReasons) {
    CAPTURE(reason.text);
    for (const auto family : kFamilies) {
      if (family < reason.first || family > reason.last) continue;
      CAPTURE(torch::family_name(family));
      const Decision decision = decide(GraphBuilder(family).reason(reason.text), {"cudagraphs=on"});
      CHECK(decision.outcome == Outcome::kDisabledReason);
      CHECK(decision.log == Lines{"skipping cudagraphs due to " + std::string(reason.text)});
      CHECK(decision.reasons == Lines{std::string(reason.text)});
      CHECK(decision.cudagraph_skips == 1);
    }
  }
}

TEST_CASE("each fail reason: a message without partitioning, silence with it") {
  for (const FailReason& reason : kFails) {
    CAPTURE(reason.text);
    for (const auto family : kFamilies) {
      if (family < reason.first || family > reason.last) continue;
      CAPTURE(torch::family_name(family));
      GraphBuilder builder(family);
      builder.fails({reason.text});
      const Decision whole = decide(builder, {"cudagraphs=on", "graph_partition=off"});
      CHECK(whole.outcome == Outcome::kFailReasons);
      CHECK(whole.log == Lines{"skipping cudagraphs due to ['" + std::string(reason.text) + "']"});
      if (family < k2_8) continue;
      const Decision parts = decide(builder, {"cudagraphs=on", "graph_partition=on"});
      CHECK(parts.outcome == Outcome::kNoPartition);
      CHECK(parts.log.empty());
      CHECK(parts.cudagraph_skips == 0);
    }
  }
}

TEST_CASE("real entries of 2.15 with partitioning, under the settings that their keys name") {
  std::set<std::string> logged;
  std::set<std::string> counted;  // only: a graph that no GPU is left in
  std::set<std::string> silent;
  std::size_t wrapped = 0;
  for (const auto& [path, bytes] : packed_graphs("cuda-2.15.0-refused-part")) {
    CAPTURE(path);
    const Decoded decoded = decode(bytes);
    const CompiledFxGraph* graph = decoded.fx_graph();
    REQUIRE(graph != nullptr);
    const Rules rules = *rules_of(k2_15);
    const Settings settings = settings_for(*graph, {}, rules);
    CHECK(settings.cudagraphs.origin == SettingOrigin::kKey);
    CHECK(settings.graph_partition.value);
    Boxes boxes = boxes_of(settings);
    boxes.forward_device_index.value = 0;
    const Decision decision =
        replay::decide(*graph, StoredConstants(LoadedBy::kFxGraphCache), settings, boxes, rules);
    for (const std::string& message : decision.log)
      logged.insert(message.substr(0, message.find(" Found from")));
    if (decision.outcome == Outcome::kNoPartition) silent.insert(decision.reasons.front());
    wrapped += decision.outcome == Outcome::kWrapped ? 1 : 0;
    if (decision.log.empty() && decision.cudagraph_skips == 1) counted.insert(decision.reasons.front());
  }
  const std::string prefix = "skipping cudagraphs due to ";
  CHECK(
      logged ==
      std::set<std::string>{
          prefix + "input storage mutation (1 instances)",
          prefix + prefix + "cudagraph capture requires the caching allocator; current allocator is uncached",
          prefix + prefix + "multiple devices: device(type='cuda', index=0), device(type='cuda', index=1)",
          prefix + prefix + "mutated inputs", prefix + prefix + "mutated inputs (1 instances).",
          prefix + "user CUDA MemPool contexts are not compatible with CUDA graphs"});
  CHECK(counted == std::set<std::string>{prefix + "multiple devices: "});
  CHECK(silent == std::set<std::string>{"force_disable_cudagraph_TESTING_ONLY",
                                        "no partition that can be captured", "non-Tensor inputs"});
  CHECK(wrapped > 0);
}

TEST_SUITE_END();
