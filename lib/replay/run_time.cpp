#include "replay/run_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "replay/integer_inputs.h"

namespace cachetool::replay {
namespace {

using torch::CompiledFxGraph;
using torch::ReleaseFamily;
using Positions = std::vector<std::int64_t>;

// Inputs that a sentence names one by one.
constexpr std::size_t kMaxNamed = 16;

// "0, 2-5": many inputs in few characters.
std::string ranges(const Positions& positions) {
  std::string text;
  for (std::size_t i = 0; i < positions.size();) {
    std::size_t last = i;
    while (last + 1 < positions.size() && positions[last + 1] == positions[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", positions[i]);
    if (last > i) text += fmt::format("-{}", positions[last]);
    i = last + 1;
  }
  return text;
}

std::string inputs(const Positions& positions) {
  return (positions.size() == 1 ? "input " : "inputs ") + ranges(positions);
}

// The notes about one callable that is wrapped: a graph or one of its partitions.
class Notes {
 public:
  Notes(const CompiledFxGraph& graph, const Settings& settings, const Rules& rules,
        std::vector<RunTimeNote>& notes)
      : graph_(graph), settings_(settings), rules_(rules), notes_(notes) {}

  void add_all(const Wrap& wrap) {
    wrap_ = &wrap;
    read_call();
    if (!settings_.cudagraph_trees.value) return legacy();
    mutation();
    sizes();
    static_inputs();
    copied_inputs();
    managed_inputs();
    alignment();
    if (wrap.kernel_free_cudagraph.value_or(false))
      add("kernel-free", "it launches no kernel, so no CUDA graph is captured: only its outputs are set up");
    cloned_outputs();
  }

 private:
  void add(std::string_view id, std::string text) {
    if (wrap_->partition) text = fmt::format("partition {}: {}", *wrap_->partition, text);
    notes_.push_back({std::string(id), std::move(text)});
  }

  // How many inputs there are and which are integers. Sizes follow a partition's other inputs.
  void read_call() {
    const std::string function =
        wrap_->partition ? fmt::format("partition_{}", *wrap_->partition) : std::string("call");
    const auto call = call_inputs(graph_.source_code.value_or({}), function);
    integers_.clear();
    count_ = wrap_->placeholders.size();
    if (!call || call->count < count_) return;
    count_ = call->count;
    integers_ = call->integers;
  }

  std::string named(std::int64_t position) const {
    const auto at = static_cast<std::size_t>(position);
    if (position < 0 || at >= wrap_->placeholders.size()) return std::to_string(position);
    return fmt::format("{} ({})", position, wrap_->placeholders[at]);
  }

  std::string named(const Positions& positions) const {
    std::string text = positions.size() == 1 ? "input " : "inputs ";
    for (std::size_t i = 0; i < std::min(positions.size(), kMaxNamed); ++i)
      text += (i == 0 ? "" : ", ") + named(positions[i]);
    if (positions.size() > kMaxNamed) text += fmt::format(" and {} more", positions.size() - kMaxNamed);
    return text;
  }

  // check_for_mutation and get_mutation_stack_trace
  void mutation() {
    Positions mutated;
    const std::unordered_set<std::int64_t> statics(wrap_->static_input_idxs.begin(),
                                                   wrap_->static_input_idxs.end());
    for (const std::int64_t position : wrap_->mutated_input_idxs) {
      if (!statics.contains(position)) mutated.push_back(position);
    }
    if (mutated.empty()) return;
    std::string message =
        fmt::format("skipping cudagraphs due to mutated inputs ({} instances)", mutated.size());
    if (const std::string_view trace = mutating_trace(mutated); !trace.empty())
      message += fmt::format(". Found from : \n {}", trace);
    const bool raises = rules_.cudagraph_or_error && settings_.cudagraph_or_error.value;
    add("mutation",
        fmt::format(
            "it writes to {}, which {} not static: unless {} from another CUDA graph, torch {} and "
            "calls it without one: {}",
            named(mutated), mutated.size() == 1 ? "is" : "are", mutated.size() == 1 ? "it comes" : "all come",
            raises ? "warns, counts a skip, raises the message as RuntimeError" : "warns once, counts a skip",
            message));
  }

  // Of the first that has one.
  std::string_view mutating_trace(const Positions& mutated) {
    if (traces_.empty() && graph_.cudagraph_info && graph_.cudagraph_info->placeholders) {
      for (const torch::PlaceholderInfo& placeholder : *graph_.cudagraph_info->placeholders)
        traces_.emplace(placeholder.name.value_or({}), placeholder.mutating_use_stack_trace.value_or({}));
    }
    for (const std::int64_t position : mutated) {
      const auto at = static_cast<std::size_t>(position);
      if (position < 0 || at >= wrap_->placeholders.size()) continue;
      const auto trace = traces_.find(wrap_->placeholders[at]);
      if (trace != traces_.end() && !trace->second.empty()) return trace->second;
    }
    return {};
  }

  // cudagraph_trees.cudagraphify_impl
  void sizes() {
    const bool chosen = rules_.family >= ReleaseFamily::k2_8 && settings_.cudagraph_capture_sizes.value;
    if (integers_.empty()) {
      if (chosen)
        add("capture-sizes",
            fmt::format("triton.cudagraph_capture_sizes is {} and it has no integer input: it always runs "
                        "without a CUDA graph",
                        *settings_.cudagraph_capture_sizes.value));
      return;
    }
    std::string names;
    for (std::size_t i = 0; i < std::min(integers_.size(), kMaxNamed); ++i)
      names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", integers_[i].position, integers_[i].symbol);
    if (integers_.size() > kMaxNamed) names += fmt::format(" and {} more", integers_.size() - kMaxNamed);
    add("sizes",
        integers_.size() == 1
            ? fmt::format("input {} is an integer: each value of it gets a CUDA graph of its own", names)
            : fmt::format("inputs {} are integers: each combination of their values gets a CUDA graph "
                          "of its own",
                          names));
    if (chosen)
      add("capture-sizes",
          fmt::format("only values in triton.cudagraph_capture_sizes={} are captured; with others it runs "
                      "without a CUDA graph, silently",
                      *settings_.cudagraph_capture_sizes.value));
    if (const auto limit = settings_.dynamic_shape_warn_limit.value; limit.value_or(0) != 0)
      add("warn-limit", fmt::format("with more than {} of them torch warns once "
                                    "(triton.cudagraph_dynamic_shape_warn_limit)",
                                    *limit));
    if (const auto limit = settings_.dynamic_shape_rerecord_limit.value;
        limit && rules_.family >= ReleaseFamily::k2_15)
      add("rerecord-limit",
          fmt::format("after {} of them further ones run without a CUDA graph, with a warning "
                      "(triton.cudagraph_dynamic_shape_rerecord_limit)",
                      *limit));
  }

  // CUDAGraphNode.check_invariants; StaticInputIdxMismatch
  void static_inputs() {
    if (wrap_->static_input_idxs.empty()) return;
    add("static-inputs",
        fmt::format("{} {} read where {}: at another address torch records again",
                    inputs(wrap_->static_input_idxs), wrap_->static_input_idxs.size() == 1 ? "is" : "are",
                    wrap_->static_input_idxs.size() == 1 ? "it lies" : "they lie"));
  }

  Positions moving_inputs() const {
    Positions moving;
    const std::unordered_set<std::int64_t> statics(wrap_->static_input_idxs.begin(),
                                                   wrap_->static_input_idxs.end());
    std::unordered_set<std::int64_t> integers;
    for (const IntegerInput& input : integers_) integers.insert(static_cast<std::int64_t>(input.position));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count_); ++i) {
      if (!statics.contains(i) && !integers.contains(i)) moving.push_back(i);
    }
    return moving;
  }

  void copied_inputs() {
    const Positions moving = moving_inputs();
    if (moving.empty()) return;
    add("copied-inputs",
        fmt::format("{} {} copied before each replay, unless {} from another CUDA graph", inputs(moving),
                    moving.size() == 1 ? "is" : "are", moving.size() == 1 ? "it comes" : "they come"));
  }

  // CUDAGraphTreeManager._update_cudagraph_managed_input_rerecord
  void managed_inputs() {
    if (rules_.family < ReleaseFamily::k2_15 || !wrap_->mutated_input_idxs.empty()) return;
    const Positions moving = moving_inputs();
    if (moving.empty()) return;
    const std::string_view limit = key_option("triton.cudagraph_managed_input_rerecord_limit", "5");
    const bool skips = key_option("triton.cudagraph_managed_input_rerecord_action", "copy") == "skip";
    add("managed-inputs",
        fmt::format("{}: one that comes from another CUDA graph {} once its address has changed {} times "
                    "(triton.cudagraph_managed_input_rerecord_limit)",
                    inputs(moving),
                    skips ? "ends this one, with a warning and a skip that is counted," : "is copied",
                    limit));
  }

  // get_input_idxs_to_check, remove_unaligned_input_idxs
  void alignment() {
    if (graph_.key_details && key_option("alignment_asserts_inputs", "False") == "True") {
      add("alignment", "no input is realigned: the wrapper asserts alignment (alignment_asserts_inputs)");
      return;
    }
    const Positions moving = moving_inputs();
    if (!moving.empty())
      add("alignment",
          fmt::format("{} {} cloned first where {} not aligned to 16 bytes", inputs(moving),
                      moving.size() == 1 ? "is" : "are", moving.size() == 1 ? "it is" : "they are"));
    if (!wrap_->static_input_idxs.empty())
      add("static-alignment",
          fmt::format("{}: one that isn't aligned to 16 bytes at the first call is copied like the others",
                      inputs(wrap_->static_input_idxs)));
  }

  void cloned_outputs() {
    if (!wrap_->user_visible_output_idxs || wrap_->user_visible_output_idxs->empty() || wrap_->is_backward)
      return;
    add("cloned-outputs",
        fmt::format("outputs {} that are still alive when the next generation starts are cloned",
                    ranges(*wrap_->user_visible_output_idxs)));
  }

  // compile_fx.cudagraphify_impl
  void legacy() {
    if (wrap_->kernel_free_cudagraph.value_or(false)) {
      add("kernel-free", "it launches no kernel, so it is called without a CUDA graph");
      return;
    }
    if (!wrap_->static_input_idxs.empty())
      add("static-inputs",
          fmt::format(
              "{} must keep {} of the first call: with size_asserts on torch asserts that, else it reads "
              "what lies there",
              inputs(wrap_->static_input_idxs),
              wrap_->static_input_idxs.size() == 1 ? "the address" : "the addresses"));
    const Positions moving = moving_inputs();
    if (!moving.empty())
      add("copied-inputs",
          fmt::format("{} {} copied before each replay", inputs(moving), moving.size() == 1 ? "is" : "are"));
    alignment();
  }

  std::string_view key_option(std::string_view name, std::string_view fallback) const {
    std::string_view text =
        (graph_.key_details ? graph_.key_details->config(name) : std::nullopt).value_or(fallback);
    if (text.size() > 1 && text.front() == '\'' && text.back() == '\'')
      text = text.substr(1, text.size() - 2);
    return text;
  }

  const CompiledFxGraph& graph_;
  const Settings& settings_;
  const Rules& rules_;
  std::vector<RunTimeNote>& notes_;
  const Wrap* wrap_ = nullptr;
  std::size_t count_ = 0;
  std::vector<IntegerInput> integers_;
  std::map<std::string_view, std::string_view> traces_;  // placeholder → where its input is written to
};

std::string first_calls(const Settings& settings, const Rules& rules) {
  const std::string_view where = rules.family >= ReleaseFamily::k2_13 ? "in each thread " : "";
  if (!settings.cudagraph_trees.value)
    return fmt::format(
        "nothing is captured before it is called: {}the first call runs it once to warm up, "
        "records and replays",
        where);
  return fmt::format(
      "nothing is captured before it is called: {}the first call warms up, the next records, "
      "later ones replay",
      where);
}

// CUDAGraphTreeManager.exceed_rerecord_limit
std::optional<std::string> rerecords(const Settings& settings, const Rules& rules) {
  if (rules.family == ReleaseFamily::k2_12) return std::nullopt;  // never there
  constexpr std::string_view kName = "triton.cudagraph_unexpected_rerecord_limit";
  const std::int64_t limit = settings.unexpected_rerecord_limit.value;
  if (rules.family >= ReleaseFamily::k2_13)
    return fmt::format(
        "recorded again more than {} times at one place in the tree, other than for static "
        "inputs at new addresses, it runs without a CUDA graph: torch warns and counts a skip ({})",
        limit, kName);
  return fmt::format(
      "with torch._dynamo.config.inline_inbuilt_nn_modules off, recorded again more than {} "
      "times at one place in the tree for inputs at new addresses, it runs without a CUDA "
      "graph: torch warns and counts a skip ({})",
      limit, kName);
}

}  // namespace

std::vector<RunTimeNote> run_time_notes(const CompiledFxGraph& graph, const Decision& decision,
                                        const Settings& settings, const Rules& rules) {
  if (decision.callable != Callable::kCudagraph && decision.callable != Callable::kCudagraphPartitions)
    return {};
  if (rules.cudagraph_policy && settings.cudagraph_policy.value == CudagraphPolicy::kWrap)
    return {{"policy", "config.cudagraph_policy wraps it: what happens when it is called is up to that"}};
  std::vector<RunTimeNote> notes;
  notes.push_back({"first-calls", first_calls(settings, rules)});
  Notes per_wrap(graph, settings, rules, notes);
  for (const Wrap& wrap : decision.wraps) per_wrap.add_all(wrap);
  if (settings.cudagraph_trees.value) {
    if (auto note = rerecords(settings, rules)) notes.push_back({"rerecords", std::move(*note)});
  }
  return notes;
}

}  // namespace cachetool::replay
