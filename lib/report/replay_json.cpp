#include <optional>
#include <span>
#include <utility>

#include "report/json_lines.h"
#include "report/json_members.h"
#include "report/lookup_report.h"
#include "report/replay_report.h"
#include "report/replay_settings.h"

namespace cachetool::report {
namespace {

using replay::Decision;
using replay::EntryPlace;
using replay::GraphReplay;
using replay::Wrap;

constexpr std::string_view kSchema = "cachetool.replay/1";

void write_texts(JsonWriter& json, std::string_view name, std::span<const std::string> texts) {
  json.key(name);
  json.begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void write_integers(JsonWriter& json, std::string_view name, std::span<const std::int64_t> numbers) {
  json.key(name);
  json.begin_array();
  for (const std::int64_t number : numbers) json.integer(number);
  json.end_array();
}

void write_optional_integers(JsonWriter& json, std::string_view name,
                             const std::optional<std::vector<std::int64_t>>& numbers) {
  if (numbers) return write_integers(json, name, *numbers);
  json.key(name);
  json.null();
}

template <class T>
void integer_or_null(JsonWriter& json, std::string_view name, const std::optional<T>& number) {
  json.key(name);
  number ? json.integer(*number) : json.null();
}

void write_counts(JsonWriter& json, std::string_view name,
                  std::span<const std::pair<std::string, std::int64_t>> counts) {
  json.key(name);
  json.begin_object();
  for (const auto& [key, count] : counts) json.member(key, count);
  json.end_object();
}

void write_place(JsonWriter& json, const EntryPlace& place) {
  json.member("key", place.key);
  text_or_null(json, "leaf", place.leaf);
  text_or_null(json, "path", place.path);
}

// The flag and the box as post-compile got them, all else as it was set.
void write_settings(JsonWriter& json, const GraphReplay& graph) {
  const replay::Settings& settings = graph.settings;
  json.key("settings");
  json.begin_object();
  json.member("cudagraphs", graph.before.cudagraphs);
  json.member("graph_partition", settings.graph_partition.value);
  json.member("triton.cudagraph_trees", settings.cudagraph_trees.value);
  json.member("triton.cudagraph_or_error", settings.cudagraph_or_error.value);
  if (graph.before.forward_device_index.exists) {
    integer_or_null(json, "forward_device_index", graph.before.forward_device_index.value);
  } else {
    json.member("forward_device_index", "absent");
  }
  const auto policy = settings.cudagraph_policy.value;
  text_or_null(json, "cudagraph_policy", policy == replay::CudagraphPolicy::kNone ? "" : policy_word(policy));
  json.member("customized_partition_wrapper", settings.partition_wrapper.value);
  json.member("compiler_bisector", settings.bisector.value);
  json.member("cudagraph_manager", settings.cudagraph_manager.value);
  text_or_null(json, "triton.cudagraph_capture_sizes", settings.cudagraph_capture_sizes.value.value_or(""));
  integer_or_null(json, "triton.cudagraph_dynamic_shape_warn_limit", settings.dynamic_shape_warn_limit.value);
  integer_or_null(json, "triton.cudagraph_dynamic_shape_rerecord_limit",
                  settings.dynamic_shape_rerecord_limit.value);
  json.member("triton.cudagraph_unexpected_rerecord_limit", settings.unexpected_rerecord_limit.value);
  json.end_object();
  json.key("settings_from");
  json.begin_object();
  for (const SettingRow& row : setting_rows(graph)) json.member(row.name, row.from);
  json.end_object();
}

void write_wrap(JsonWriter& json, const Wrap& wrap) {
  json.begin_object();
  integer_or_null(json, "partition", wrap.partition);
  json.member("device_index", wrap.device_index);
  json.member("is_backward", wrap.is_backward);
  json.member("is_inference", wrap.is_inference);
  write_integers(json, "static_input_idxs", wrap.static_input_idxs);
  write_integers(json, "mutated_input_idxs", wrap.mutated_input_idxs);
  write_texts(json, "placeholders", wrap.placeholders);
  json.member("n_constants", wrap.n_constants);
  if (wrap.kernel_free_cudagraph) json.member("kernel_free_cudagraph", *wrap.kernel_free_cudagraph);
  if (wrap.user_visible_output_idxs)
    write_integers(json, "user_visible_output_idxs", *wrap.user_visible_output_idxs);
  json.member("n_stack_traces", static_cast<std::uint64_t>(wrap.stack_traces_present.size()));
  json.key("stack_traces_present");
  json.begin_array();
  for (const bool present : wrap.stack_traces_present) json.boolean(present);
  json.end_array();
  json.end_object();
}

void write_inputs(JsonWriter& json, const GraphReplay& graph) {
  json.key("inputs");
  json.begin_array();
  for (const replay::GraphInput& input : graph.inputs) {
    json.begin_object();
    text_or_null(json, "name", input.name);
    json.member("size", input.is_size);
    json.member("static", input.is_static);
    json.member("mutated", input.is_mutated);
    text_or_null(json, "mutated_at", input.mutation_trace);
    json.end_object();
  }
  json.end_array();
}

void write_on_hit(JsonWriter& json, const replay::OnHit& hit) {
  json.key("on_hit");
  json.begin_object();
  write_counts(json, "counter_deltas", hit.counter_deltas);
  write_counts(json, "metrics_deltas", hit.metrics_deltas);
  write_counts(json, "counters", hit.counters);
  write_texts(json, "files_written", hit.files_written);
  json.key("triton");
  json.begin_array();
  for (const replay::TritonEmission& kernel : hit.triton) {
    json.begin_object();
    json.member("kernel_hash", kernel.kernel_hash);
    json.member("device", kernel.device);
    text_or_null(json, "path", kernel.path);
    json.key("shadowed");
    kernel.shadowed ? json.boolean(*kernel.shadowed) : json.null();
    json.member("files", kernel.files);
    json.member("bytes", kernel.bytes);
    json.end_object();
  }
  json.end_array();
  json.member("static_autotuners", hit.static_autotuners);
  write_texts(json, "static_missing", hit.static_missing);
  json.member("files_known", hit.files_known);
  json.end_object();
}

void write_constants(JsonWriter& json, const replay::ConstantsReport& report) {
  json.key("constants");
  json.begin_array();
  for (const replay::ConstantRow& row : report.rows) {
    json.begin_object();
    json.member("name", row.name);
    text_or_null(json, "attribute", row.attribute);
    json.member("frozen", row.frozen);
    json.member("state", state_name(row.state));
    text_or_null(json, "dtype", row.dtype);
    text_or_null(json, "device", row.device);
    write_optional_integers(json, "size", row.size);
    write_optional_integers(json, "stride", row.stride);
    text_or_null(json, "problem", row.problem);
    json.end_object();
  }
  json.end_array();
  write_texts(json, "constants_superfluous", report.superfluous);
  text_or_null(json, "constants_snippet", report.snippet);
}

void write_decision(JsonWriter& json, const GraphReplay& graph) {
  const Decision& decision = graph.decision;
  json.key("decision");
  json.begin_object();
  json.member("callable", callable_name(decision.callable));
  json.member("outcome", outcome_name(decision.outcome));
  json.member("cudagraphs", decision.after.cudagraphs);
  write_texts(json, "reasons", decision.reasons);
  write_texts(json, "log", decision.log);
  json.key("counters");
  json.begin_object();
  if (decision.cudagraph_skips != 0) json.member("cudagraph_skips", decision.cudagraph_skips);
  json.end_object();
  write_on_hit(json, graph.on_hit);
  write_integers(json, "realign", decision.realign);
  json.member("realign_writes_back", decision.realign_writes_back);
  integer_or_null(json, "device_index_box", decision.after.forward_device_index.value);
  text_or_null(json, "error", decision.error ? describe(*decision.error) : "");
  text_or_null(json, "error_source", decision.error ? decision.error->source : "");
  json.key("wraps");
  json.begin_array();
  for (const Wrap& wrap : decision.wraps) write_wrap(json, wrap);
  json.end_array();
  json.member("sets_running_backward", decision.sets_running_backward);
  json.member("specializes_sizes", decision.specializes_sizes);
  json.member("wraps_compiled_region", decision.wraps_compiled_region);
  write_constants(json, graph.constants);
  json.key("run_time");
  json.begin_array();
  for (const replay::RunTimeNote& note : graph.run_time) {
    json.begin_object();
    json.member("id", note.id);
    json.member("text", note.text);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_summary(JsonWriter& json, const ReplaySummary& summary) {
  json.key("summary");
  json.begin_object();
  json.member("graphs", summary.graphs);
  json.key("states");
  json.begin_object();
  for (std::size_t i = 0; i < summary.states.size(); ++i)
    json.member(state_name(static_cast<replay::CudagraphState>(i)), summary.states[i]);
  json.end_object();
  json.key("reasons");
  json.begin_object();
  for (const auto& [state, groups] : summary.reasons) {
    json.key(state_name(state));
    json.begin_object();
    for (const auto& [group, count] : groups) json.member(group, count);
    json.end_object();
  }
  json.end_object();
  json.end_object();
}

class ReplayJson final : public ReplayWriter {
 public:
  ReplayJson(OutputSink& sink, const std::string& root)
      : sink_(sink), json_(std::in_place, sink, JsonStyle::kIndented) {
    json_->begin_object();
    json_->member("schema", kSchema);
    json_->member("cache", root);
    json_->key("entries");
    json_->begin_array();
  }
  void lookup(const replay::Lookup& lookup) override { lookups_.push_back(lookup); }
  void graph(const GraphReplay& graph) override {
    json_->begin_object();
    write_replay_members(*json_, graph);
    json_->end_object();
  }
  void finish(const ReplaySummary& summary) override {
    json_->end_array();
    write_lookups();
    write_summary(*json_, summary);
    json_->end_object();
    json_->flush();
    sink_.write("\n");
  }

 private:
  void write_lookups() {
    if (lookups_.empty()) return;
    json_->key("lookups");
    json_->begin_array();
    for (const replay::Lookup& lookup : lookups_) {
      json_->begin_object();
      write_lookup_members(*json_, lookup);
      json_->end_object();
    }
    json_->end_array();
  }

  OutputSink& sink_;
  std::optional<JsonWriter> json_;
  std::vector<replay::Lookup> lookups_;
};

class ReplayJsonLines final : public ReplayWriter {
 public:
  explicit ReplayJsonLines(OutputSink& sink) : sink_(sink) {}
  void lookup(const replay::Lookup& lookup) override {
    write_json_line(sink_, kSchema, "lookup", [&](JsonWriter& json) { write_lookup_members(json, lookup); });
  }
  void graph(const GraphReplay& graph) override {
    write_json_line(sink_, kSchema, "entry", [&](JsonWriter& json) { write_replay_members(json, graph); });
  }
  void finish(const ReplaySummary& summary) override {
    write_json_line(sink_, kSchema, "summary", [&](JsonWriter& json) { write_summary(json, summary); });
  }

 private:
  OutputSink& sink_;
};

}  // namespace

void write_replay_members(JsonWriter& json, const GraphReplay& graph) {
  write_place(json, graph.entry);
  json.member("role", role_name(graph.role));
  text_or_null(json, "class", graph.class_name);
  json.key("aot");
  if (graph.aot) {
    json.begin_object();
    write_place(json, *graph.aot);
    json.end_object();
  } else {
    json.null();
  }
  json.member("torch", torch::family_range(graph.release.first, graph.release.last));
  text_or_null(json, "torch_release", graph.release.exact);
  json.member("rules", torch::family_name(graph.rules));
  json.key("compile_time_ns");
  graph.compile_time_ns < 0 ? json.null() : json.integer(graph.compile_time_ns);
  json.member("state", state_name(state_of(graph)));
  json.member("evaluated", graph.evaluated == replay::Evaluated::kYes);
  write_settings(json, graph);
  write_decision(json, graph);
  write_texts(json, "forward_reasons", graph.forward_reasons);
  write_inputs(json, graph);
  json.member("counted", graph.counted);
  write_texts(json, "nested_graphs", graph.nested_graphs);
  write_texts(json, "assumptions", graph.assumptions);
}

std::unique_ptr<ReplayWriter> make_replay_json(OutputSink& sink, const std::string& root) {
  return std::make_unique<ReplayJson>(sink, root);
}

std::unique_ptr<ReplayWriter> make_replay_json_lines(OutputSink& sink) {
  return std::make_unique<ReplayJsonLines>(sink);
}

}  // namespace cachetool::report
