#include "replay/post_compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "replay/graph_fields.h"
#include "replay/partition_metadata.h"
#include "torch/wrapper_runner.h"

namespace cachetool::replay {
namespace {

using torch::CompiledFxGraph;

// One run over a graph. Steps have the names of the torch functions that they follow; each either goes on or
// gives what torch raises.
class PostCompile {
 public:
  PostCompile(const CompiledFxGraph& graph, const ConstantSource& constants, const Settings& settings,
              const Boxes& boxes, const Rules& rules)
      : graph_(graph), constants_(constants), settings_(settings), rules_(rules), boxes_(boxes) {}

  Decision run() {
    decision_.callable = Callable::kPlain;
    decision_.outcome = Outcome::kNotAsked;
    if (const auto problem = unusable_field(graph_)) {
      decision_.callable = Callable::kUnknown;
      decision_.outcome = Outcome::kUnknown;
      decision_.reasons.push_back(*problem);
    } else if (const auto done = post_compile(); !done) {
      decision_.callable = Callable::kError;
      decision_.outcome = Outcome::kRaised;
      decision_.reasons.push_back("torch raises " + describe(done.error()));
      decision_.error = done.error();
    }
    decision_.after = boxes_;
    return std::move(decision_);
  }

 private:
  OrRaised<void> post_compile() {
    const bool partition = rules_.graph_partition && settings_.graph_partition.value;
    if (partition && rules_.partition_wrapper && settings_.partition_wrapper.value)
      return customized_partition_wrapper();
    policy();
    if (boxes_.cudagraphs) {
      if (const auto done = cudagraphs(partition); !done) return done;
    }
    if (!boxes_.cudagraphs) maybe_realign_inputs();
    decision_.wraps_compiled_region =
        rules_.wraps_compiled_regions && graph_.wrap_compiled_regions.value_or(false);
    return {};
  }

  OrRaised<void> customized_partition_wrapper() {
    const torch::WrapperRunner runner = torch::scan_runner(graph_.source_code.value_or({}));
    constexpr std::string_view kSource = "CompiledFxGraph.post_compile: ";
    if (!runner.has_recursively_apply_fns) return fails(kSource, "self.recursively_apply_fns");
    if (!runner.partitions) return fails(kSource, "self.compiled_fn_runner");
    decision_.callable = Callable::kUnknown;
    decision_.outcome = Outcome::kCustomWrapper;
    decision_.reasons.push_back(fmt::format(
        "a customized partition wrapper decides about {} partition(s); the rest of post-compile is left out",
        *runner.partitions));
    return {};
  }

  void policy() {
    if (!rules_.cudagraph_policy || settings_.cudagraph_policy.value != CudagraphPolicy::kNoWrap) return;
    // Counted whether the flag is on or not.
    ++decision_.cudagraph_skips;
    boxes_.cudagraphs = false;
    decision_.outcome = Outcome::kPolicy;
    decision_.reasons.push_back("config.cudagraph_policy doesn't wrap the graph");
  }

  OrRaised<void> cudagraphs(bool partition) {
    if (const std::string_view reason = graph_.disabled_cudagraphs_reason.value_or({}); !reason.empty())
      return disabled(reason);
    if (is_backward() && !boxes_.forward_device_index.exists && !rules_.index_box_of_entry) {
      return raise("AssertionError",
                   rules_.assertion_messages ? "Expected 'boxed_forward_device_index' in graph_kwargs" : "",
                   "CompiledFxGraph.post_compile: \"boxed_forward_device_index\" in graph_kwargs");
    }
    auto constants = constants_.unwrap(graph_, rules_);
    if (!constants) return tl::unexpected(constants.error());
    bound_ = std::move(*constants);
    for (const BoundConstant& constant : bound_) names_.emplace(constant.name, constant.is_tensor);
    const bool policy = rules_.cudagraph_policy && settings_.cudagraph_policy.value != CudagraphPolicy::kNone;
    return partition && !policy ? cudagraph_partition_post_compile() : cudagraph_post_compile();
  }

  OrRaised<void> disabled(std::string_view reason) {
    decision_.outcome = Outcome::kDisabledReason;
    decision_.reasons.emplace_back(reason);
    if (on_gpu()) {
      if (const auto done = skip("skipping cudagraphs due to " + std::string(reason)); !done) return done;
    } else {
      ++decision_.cudagraph_skips;
    }
    boxes_.cudagraphs = false;
    return {};
  }

  OrRaised<void> cudagraph_post_compile() {
    constexpr std::string_view kSource = "cudagraph_post_compile: ";
    if (!graph_.cudagraph_info) return fails(kSource, "compiled_graph.cudagraph_info");
    if (rules_.bisector && settings_.bisector.value) return bisected();
    const torch::Texts reasons = graph_.cudagraph_info->cudagraph_fail_reasons.value_or({});
    if (!reasons.empty()) return failed(reasons);
    if (rules_.asserts_stack_traces && !graph_.cudagraph_info->stack_traces) return no_stack_traces(kSource);
    if (const auto done = prepare_cudagraph_post_compile(); !done) return done;
    const auto wrap = whole_graph();
    if (!wrap) return tl::unexpected(wrap.error());
    decision_.wraps.push_back(*wrap);
    decision_.callable = Callable::kCudagraph;
    decision_.outcome = Outcome::kWrapped;
    return {};
  }

  OrRaised<void> failed(torch::Texts reasons) {
    decision_.outcome = Outcome::kFailReasons;
    std::string list;
    for (const std::string_view reason : reasons) {
      decision_.reasons.emplace_back(reason);
      list += (list.empty() ? "" : ", ") + python_repr(reason);
    }
    boxes_.cudagraphs = false;
    if (const auto done = maybe_handle_backward_generation(); !done) return done;
    if (!on_gpu()) return {};
    return skip("skipping cudagraphs due to [" + list + "]");
  }

  OrRaised<void> cudagraph_partition_post_compile() {
    constexpr std::string_view kSource = "cudagraph_partition_post_compile: ";
    if (rules_.bisector && settings_.bisector.value) return bisected();
    if (!graph_.cudagraph_info) return fails(kSource, "compiled_graph.cudagraph_info");
    const torch::Texts reasons = graph_.cudagraph_info->cudagraph_fail_reasons.value_or({});
    const bool has_partitions = graph_.partition_maps && !graph_.partition_maps->empty();
    if (!reasons.empty() || !has_partitions) return not_partitioned(reasons);
    const torch::WrapperRunner runner = torch::scan_runner(graph_.source_code.value_or({}));
    if (!runner.has_recursively_apply_fns) return fails(kSource, "compiled_graph.recursively_apply_fns");
    const auto whole = whole_graph();
    if (!whole) return tl::unexpected(whole.error());
    if (rules_.asserts_stack_traces && !graph_.cudagraph_info->stack_traces) return no_stack_traces(kSource);
    if (const auto done = prepare_cudagraph_post_compile(); !done) return done;
    const PartitionMetadata metadata(*whole, names_, rules_);
    std::vector<Wrap> wraps;
    for (const torch::GraphPartitionMap& map : *graph_.partition_maps) {
      auto wrap = metadata.wrap(map);
      if (!wrap) return tl::unexpected(wrap.error());
      wraps.push_back(std::move(*wrap));
    }
    // recursively_apply_fns pairs functions and partitions up to the shorter list.
    if (runner.partitions && *runner.partitions < wraps.size()) wraps.resize(*runner.partitions);
    decision_.wraps = std::move(wraps);
    decision_.callable = Callable::kCudagraphPartitions;
    decision_.outcome = Outcome::kWrapped;
    return {};
  }

  // Nothing is logged and nothing counted.
  OrRaised<void> not_partitioned(torch::Texts reasons) {
    decision_.outcome = Outcome::kNoPartition;
    if (reasons.empty()) decision_.reasons.emplace_back("no partition that can be captured");
    for (const std::string_view reason : reasons) decision_.reasons.emplace_back(reason);
    boxes_.cudagraphs = false;
    return maybe_handle_backward_generation();
  }

  OrRaised<void> bisected() {
    const std::string message = "skipping cudagraphs due to bisector";
    decision_.outcome = Outcome::kBisector;
    decision_.reasons.push_back(message);
    boxes_.cudagraphs = false;
    if (const auto done = maybe_handle_backward_generation(); !done) return done;
    return skip(message);
  }

  // The forward's manager has to hear that backward runs, also when that isn't captured itself.
  OrRaised<void> maybe_handle_backward_generation() {
    if (!is_backward() || !settings_.cudagraph_trees.value) return {};
    constexpr std::string_view kSource = "maybe_handle_backward_generation: ";
    if (!boxes_.forward_device_index.exists) return fails(kSource, "boxed_forward_device_index");
    if (!boxes_.forward_device_index.value) return fails(kSource, "boxed_forward_device_index.value");
    if (!settings_.cudagraph_manager.value)
      return fails(kSource, "manager", "CUDAGraph manager must not be None");
    decision_.sets_running_backward = true;
    return {};
  }

  OrRaised<void> prepare_cudagraph_post_compile() {
    decision_.specializes_sizes = !settings_.cudagraph_trees.value;
    if (!boxes_.forward_device_index.exists || is_inference() || is_backward()) return {};
    const auto device = first_device();
    if (!device) return tl::unexpected(device.error());
    boxes_.forward_device_index.value = *device;
    return {};
  }

  // The arguments of cudagraphify for the graph as a whole.
  OrRaised<Wrap> whole_graph() const {
    Wrap wrap;
    const auto device = first_device();
    if (!device) return tl::unexpected(device.error());
    wrap.device_index = *device;
    wrap.is_backward = is_backward();
    wrap.is_inference = is_inference();
    for (const std::int64_t i : graph_.fx_kwargs->static_input_idxs.value_or({}))
      wrap.static_input_idxs.push_back(i);
    for (const std::int64_t i : graph_.mutated_input_idxs.value_or({})) wrap.mutated_input_idxs.push_back(i);
    const torch::CudagraphCachedInfo& info = *graph_.cudagraph_info;
    if (info.placeholders) {
      for (const torch::PlaceholderInfo& placeholder : *info.placeholders)
        wrap.placeholders.emplace_back(placeholder.name.value_or({}));
    }
    wrap.has_stack_traces = info.stack_traces.has_value();
    for (const auto trace : info.stack_traces.value_or({}))
      wrap.stack_traces_present.push_back(trace.has_value());
    for (const auto& [name, is_tensor] : names_)
      wrap.n_constants += is_tensor || !rules_.tensor_constants_only ? 1 : 0;
    if (!rules_.output_metadata) return wrap;
    wrap.kernel_free_cudagraph = graph_.kernel_free_cudagraph.value_or(false);
    wrap.user_visible_output_idxs.emplace();
    for (const std::int64_t i : info.user_visible_output_idxs.value_or({}))
      wrap.user_visible_output_idxs->push_back(i);
    return wrap;
  }

  void maybe_realign_inputs() {
    const torch::Ints mutated = graph_.mutated_input_idxs.value_or({});
    const bool only_mutated = rules_.defers_alignment && graph_.defers_input_alignment.value_or(false);
    const std::unordered_set<std::int64_t> mutated_set(mutated.begin(), mutated.end());
    for (const std::int64_t i : graph_.inputs_to_check.value_or({})) {
      if (only_mutated && !mutated_set.contains(i)) continue;
      decision_.realign.push_back(i);
      decision_.realign_writes_back |= rules_.writes_mutated_back && mutated_set.contains(i);
    }
  }

  // log_cudagraph_skip_and_bump_counter
  OrRaised<void> skip(const std::string& message) {
    decision_.log.push_back(message);
    ++decision_.cudagraph_skips;
    if (rules_.cudagraph_or_error && settings_.cudagraph_or_error.value)
      return raise("RuntimeError", message, "log_cudagraph_skip_and_bump_counter");
    return {};
  }

  // `assert <what> is not None`, which has a message since 2.14.
  tl::unexpected<Raised> fails(std::string_view function, std::string_view what,
                               std::string_view message = {}) const {
    std::string text;
    if (rules_.assertion_messages)
      text = message.empty() ? std::string(what) + " must not be None" : std::string(message);
    return raise("AssertionError", std::move(text),
                 std::string(function) + std::string(what) + " is not None");
  }

  tl::unexpected<Raised> no_stack_traces(std::string_view function) const {
    const std::string name(function.substr(0, function.find(':')));
    return raise("AssertionError", "stack_traces should not be None in " + name,
                 name + ": stack_traces is not None");
  }

  // next(iter(compiled_graph.device_idxs))
  OrRaised<std::int64_t> first_device() const {
    const torch::Ints devices = graph_.device_idxs.value_or({});
    if (devices.empty()) return raise("StopIteration", "", "next(iter(compiled_graph.device_idxs))");
    return devices[0];
  }

  bool on_gpu() const {
    const torch::Texts types = graph_.device_types.value_or({});
    return std::any_of(types.begin(), types.end(),
                       [&](std::string_view type) { return counts_as_gpu(rules_, type); });
  }
  bool is_backward() const { return graph_.fx_kwargs->is_backward.value_or(false); }
  bool is_inference() const { return graph_.fx_kwargs->is_inference.value_or(false); }

  const CompiledFxGraph& graph_;
  const ConstantSource& constants_;
  const Settings& settings_;
  const Rules& rules_;
  Boxes boxes_;
  std::vector<BoundConstant> bound_;
  ConstantNames names_;  // of bound_
  Decision decision_;
};

}  // namespace

Boxes boxes_of(const Settings& settings) {
  return {settings.cudagraphs.value, settings.forward_device_index.value};
}

std::optional<std::int64_t> assume_forward_ran(const CompiledFxGraph& graph, const Rules& rules,
                                               Settings& settings, Boxes& boxes) {
  if (!graph.fx_kwargs || !graph.fx_kwargs->is_backward.value_or(false)) return std::nullopt;
  std::optional<std::int64_t> device;
  const torch::Ints devices = graph.device_idxs.value_or({});
  const bool given = settings.forward_device_index.origin == SettingOrigin::kGiven;
  if (!rules.index_box_of_entry && boxes.cudagraphs && !given && !devices.empty()) {
    device = devices[0];
    boxes.forward_device_index.value = device;
  }
  Setting<bool>& manager = settings.cudagraph_manager;
  if (manager.origin == SettingOrigin::kDefault && boxes.forward_device_index.value) manager.value = true;
  return device;
}

Decision decide(const CompiledFxGraph& graph, const ConstantSource& constants, const Settings& settings,
                const Boxes& boxes, const Rules& rules) {
  return PostCompile(graph, constants, settings, boxes, rules).run();
}

Decision decide(const torch::OutputCode& code, const ConstantSource& constants, const Settings& settings,
                const Boxes& boxes, const Rules& rules) {
  if (const auto* graph = std::get_if<CompiledFxGraph>(&code))
    return decide(*graph, constants, settings, boxes, rules);
  Decision decision;
  decision.after = boxes;
  if (const auto* unknown = std::get_if<torch::UnknownOutputCode>(&code)) {
    decision.reasons.push_back(
        fmt::format("{}.{} is no class whose post-compile is known", unknown->module, unknown->name));
    return decision;
  }
  decision.callable = Callable::kPlain;
  decision.outcome = Outcome::kNoCudagraphCode;
  return decision;
}

}  // namespace cachetool::replay
