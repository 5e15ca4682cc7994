#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../torch/pickle_text.h"
#include "replay/constants.h"
#include "replay/post_compile.h"
#include "replay/rules.h"
#include "replay/settings.h"
#include "torch/decode.h"

/// Graphs put together by hand, with the fields that a release writes, and what post-compile makes of them.
namespace graph_builder {

using cachetool::replay::Decision;
using cachetool::replay::Rules;
using cachetool::torch::CompiledFxGraph;
using cachetool::torch::Decoded;
using cachetool::torch::ReleaseFamily;

inline constexpr ReleaseFamily kFamilies[] = {
    ReleaseFamily::k2_6,  ReleaseFamily::k2_7,  ReleaseFamily::k2_8,  ReleaseFamily::k2_9,
    ReleaseFamily::k2_10, ReleaseFamily::k2_11, ReleaseFamily::k2_12, ReleaseFamily::k2_13,
    ReleaseFamily::k2_14, ReleaseFamily::k2_15};

/// Named values in the order in which they were set first, as opcodes.
class Members {
 public:
  void set(std::string_view name, std::string opcodes) {
    for (auto& [known, value] : all_) {
      if (known == name) {
        value = std::move(opcodes);
        return;
      }
    }
    all_.emplace_back(name, std::move(opcodes));
  }
  void remove(std::string_view name) {
    std::erase_if(all_, [&](const auto& member) { return member.first == name; });
  }
  std::string dict() const {
    std::string items;
    for (const auto& [name, value] : all_) items += pickle_text::text(name) + value;
    return pickle_text::dict(items);
  }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

inline std::string integers(std::initializer_list<std::int64_t> numbers) {
  std::string items;
  for (const std::int64_t number : numbers) items += pickle_text::integer(number);
  return pickle_text::list(items);
}

inline std::string texts(std::initializer_list<std::string_view> words) {
  std::string items;
  for (const std::string_view word : words) items += pickle_text::text(word);
  return pickle_text::list(items);
}

inline std::string placeholders(std::initializer_list<std::string_view> names) {
  std::string items;
  for (const std::string_view name : names) {
    items += pickle_text::instance(
        "torch._inductor.cudagraph_utils", "PlaceholderInfo",
        pickle_text::dict(pickle_text::text("name"), pickle_text::text(name),
                          pickle_text::text("stack_trace"), pickle_text::none(), pickle_text::text("users"),
                          pickle_text::list(), pickle_text::text("mutating_use_stack_trace"),
                          pickle_text::none()));
  }
  return pickle_text::tuple(items);
}

/// A GraphPartitionMap; the mappings are opcodes.
inline std::string partition(std::int64_t id, const std::string& inputs, const std::string& outputs,
                             const std::string& constants = pickle_text::list()) {
  return pickle_text::instance("torch._inductor.utils", "GraphPartitionMap",
                               pickle_text::dict(pickle_text::text("id"), pickle_text::integer(id),
                                                 pickle_text::text("input_index_mapping"), inputs,
                                                 pickle_text::text("output_index_mapping"), outputs,
                                                 pickle_text::text("constant_names"), constants));
}

/// A wrapper module's last lines, with that many partitions.
inline std::string wrapper(std::size_t partitions) {
  std::string names;
  for (std::size_t i = 0; i < partitions; ++i) names += "partition_" + std::to_string(i) + ",";
  return "runner = Runner(partitions=[" + names +
         "])\ncall = runner.call\nrecursively_apply_fns = runner.recursively_apply_fns\n";
}

/// A BoxedDeviceIndex with that value.
inline std::string index_box(const std::string& value) {
  using namespace pickle_text;
  return instance("torch._inductor.cudagraph_utils", "BoxedDeviceIndex", dict(text("value"), value));
}

/// Six float32 in a tensor.
inline std::string float_tensor() {
  return pickle_text::tensor(pickle_text::storage("FloatStorage", "cpu", 6, std::string(24, '\0')));
}

/// A graph of that release. Unless changed: a training forward on cuda:3 with three inputs, of which 0 and 2
/// are checked for alignment, two outputs, one partition, nothing against CUDA graphs.
class GraphBuilder {
 public:
  explicit GraphBuilder(ReleaseFamily family) : family_(family) {
    using namespace pickle_text;
    using enum ReleaseFamily;
    set("current_callable", none());
    if (family >= k2_8) set("compiled_fn_runner", none()).set("recursively_apply_fns", none());
    set("cache_key", text("c" + std::string(50, 'b') + "a")).set("source_code", text(wrapper(1)));
    if (family >= k2_9) set("inductor_provenance_mapping_str", none());
    set("device_types", pickle_text::set(text("cuda"))).set("device_idxs", pickle_text::set(integer(3)));
    set("mutated_inputs", pickle_text::set()).set("mutated_input_idxs", pickle_text::set());
    set("constants", dict());
    family >= k2_7 ? set("frozen_param_names", dict()) : set("allocated_constant_name", none());
    if (family >= k2_10)
      set("opaque_value_type_classes", dict()).set("_wrap_compiled_regions", boolean(false));
    set("output_strides", list(tuple(text("4"), text("1")), none()));
    set("disabled_cudagraphs_reason", none());
    if (family >= k2_14) set("kernel_free_cudagraph", boolean(false));
    set("guards_expr", none());
    if (family >= k2_12) set("extern_libs_key", none()).set("_defers_input_alignment", boolean(false));
    if (family >= k2_13) set("_compile_context", none());
    if (family >= k2_8) {
      const std::string outputs = family >= k2_14 ? list(integers({0}), list()) : list(integer(0), none());
      set("partition_maps", list(partition(0, integers({0, 1, 2}), outputs)));
    }
    if (family >= k2_15) set("has_uncaptured_partition", boolean(false));
    set("inputs_to_check", integers({0, 2}));
    if (family <= k2_7) set("boxed_forward_device_index", index_box(none()));
    kwarg("cudagraphs", boolean(true)).kwarg("static_input_idxs", integers({1}));
    kwarg("is_backward", boolean(false)).kwarg("is_inference", boolean(false));
    info("placeholders", placeholders({"arg0_1", "arg1_1", "arg2_1"}));
    info("stack_traces", list(text("trace"), none()));
    if (family >= k2_14) info("user_visible_output_idxs", tuple(integer(1)));
    info("cudagraph_fail_reasons", list());
  }

  /// A field of the graph.
  GraphBuilder& set(std::string_view name, std::string opcodes) {
    members_.set(name, std::move(opcodes));
    return *this;
  }
  GraphBuilder& without(std::string_view name) {
    members_.remove(name);
    return *this;
  }
  /// An argument of the compile (fx_kwargs).
  GraphBuilder& kwarg(std::string_view name, std::string opcodes) {
    kwargs_.set(name, std::move(opcodes));
    return *this;
  }
  /// A field of cudagraph_info.
  GraphBuilder& info(std::string_view name, std::string opcodes) {
    info_.set(name, std::move(opcodes));
    return *this;
  }
  GraphBuilder& without_info() {
    has_info_ = false;
    return *this;
  }
  GraphBuilder& device(std::string_view type) {
    return set("device_types", pickle_text::set(pickle_text::text(type)));
  }
  GraphBuilder& reason(std::string_view text) {
    return set("disabled_cudagraphs_reason", pickle_text::text(text));
  }
  GraphBuilder& fails(std::initializer_list<std::string_view> reasons) {
    return info("cudagraph_fail_reasons", texts(reasons));
  }
  GraphBuilder& backward() { return kwarg("is_backward", pickle_text::boolean(true)); }
  GraphBuilder& inference() { return kwarg("is_inference", pickle_text::boolean(true)); }
  /// Lines that torch keeps with the entry to tell what went into its key.
  GraphBuilder& key_lines(std::initializer_list<std::string_view> lines) {
    return set("_fx_graph_cache_debug_lines", texts(lines));
  }

  ReleaseFamily family() const { return family_; }
  std::string object() const {
    Members all = members_;
    all.set("fx_kwargs", kwargs_.dict());
    all.set("cudagraph_info", has_info_ ? pickle_text::instance("torch._inductor.cudagraph_utils",
                                                                "CudagraphCachedInfo", info_.dict())
                                        : pickle_text::none());
    return pickle_text::instance("torch._inductor.output_code", "CompiledFxGraph", all.dict());
  }
  std::string pickle() const { return pickle_text::pickle(object()); }

 private:
  ReleaseFamily family_;
  Members members_;
  Members kwargs_;
  Members info_;
  bool has_info_ = true;
};

inline Decoded decode(const std::string& bytes) {
  cachetool::Budget budget = cachetool::Budget::for_input(bytes.size() + 4096);
  auto decoded = cachetool::torch::decode_entry_owned(bytes, budget);
  REQUIRE(decoded);
  return std::move(*decoded);
}

inline cachetool::replay::SettingOverrides given(std::initializer_list<std::string_view> assignments) {
  cachetool::replay::SettingOverrides overrides;
  for (const std::string_view assignment : assignments) REQUIRE(overrides.add(assignment));
  return overrides;
}

inline cachetool::replay::Settings settings_of(const CompiledFxGraph& graph,
                                               std::initializer_list<std::string_view> assignments,
                                               ReleaseFamily family) {
  return cachetool::replay::settings_for(graph, given(assignments), *cachetool::replay::rules_of(family));
}

/// The decision about a graph by itself, by the rules of its release.
inline Decision decide(const GraphBuilder& builder,
                       std::initializer_list<std::string_view> assignments = {}) {
  const Decoded decoded = decode(builder.pickle());
  const CompiledFxGraph* graph = decoded.fx_graph();
  REQUIRE(graph != nullptr);
  const Rules rules = *cachetool::replay::rules_of(builder.family());
  const auto settings = cachetool::replay::settings_for(*graph, given(assignments), rules);
  const cachetool::replay::StoredConstants constants(cachetool::replay::LoadedBy::kFxGraphCache);
  return cachetool::replay::decide(*graph, constants, settings, cachetool::replay::boxes_of(settings), rules);
}

using Positions = std::vector<std::int64_t>;
using Lines = std::vector<std::string>;

}  // namespace graph_builder
