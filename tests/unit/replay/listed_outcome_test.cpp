#include "replay/listed_outcome.h"

#include <doctest/doctest.h>

#include <functional>

#include "graph_builder.h"
#include "replay/cudagraph_state.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::list;
using pickle_text::none;

namespace {

struct Listed {
  std::string outcome;
  std::string reason;
};

Listed listed(const Decoded& decoded, ReleaseFamily family) {
  Interner strings;
  store::EntryRow row;
  row.summary.family = row.summary.family_last = family;
  note_outcome(decoded, row, strings);
  return {std::string(strings.text(row.outcome)), std::string(strings.text(row.outcome_reason))};
}

Listed listed(const GraphBuilder& builder) {
  return listed(decode(builder.pickle()), builder.family());
}

// What the whole decision comes to, for a graph by itself.
Listed decided(const GraphBuilder& builder) {
  const Decoded decoded = decode(builder.pickle());
  const CompiledFxGraph& graph = *decoded.fx_graph();
  const Rules rules = *rules_of(builder.family());
  Settings settings = settings_for(graph, {}, rules);
  Boxes boxes = boxes_of(settings);
  assume_forward_ran(graph, rules, settings, boxes);
  const Decision decision =
      replay::decide(graph, StoredConstants(LoadedBy::kFxGraphCache), settings, boxes, rules);
  std::string reason;
  for (const std::string& group : reason_groups(decision.reasons))
    reason += (reason.empty() ? "" : ", ") + group;
  return {std::string(state_name(state_of(decision, evaluated(graph)))), reason};
}

std::string key_line(std::string_view path, std::string_view text) {
  return "[" + std::string(51, 'h') + "] " + std::string(path) + ": " + std::string(text);
}

}  // namespace

TEST_SUITE_BEGIN("replay/listed_outcome");

TEST_CASE("a listed outcome is what the whole decision comes to") {
  const std::string on = key_line("fx_kwargs[cudagraphs]", "BoxedBool(value=True)");
  const std::string off = key_line("fx_kwargs[cudagraphs]", "BoxedBool(value=False)");
  const std::string parts = key_line("inductor_config[graph_partition]", "True");
  const std::string whole = key_line("inductor_config[graph_partition]", "False");
  const std::string or_error = key_line("inductor_config[triton.cudagraph_or_error]", "True");
  const std::function<void(GraphBuilder&)> changes[] = {
      [](GraphBuilder&) {},
      [](GraphBuilder& graph) { graph.backward(); },
      [](GraphBuilder& graph) { graph.inference(); },
      [](GraphBuilder& graph) { graph.without_info().kwarg("cudagraphs", pickle_text::boolean(false)); },
      [](GraphBuilder& graph) { graph.without_info(); },
      [](GraphBuilder& graph) { graph.reason("skipping cudagraphs due to cpu device (arg1_1)"); },
      [](GraphBuilder& graph) { graph.reason("skipping cudagraphs due to cpu device (a)").device("cpu"); },
      [](GraphBuilder& graph) { graph.fails({"mutated inputs", "non-Tensor inputs"}); },
      [](GraphBuilder& graph) { graph.fails({"non-Tensor inputs"}).device("cpu"); },
      [](GraphBuilder& graph) { graph.set("partition_maps", list()); },
      [](GraphBuilder& graph) {  // IndexError in the arguments of a partition
        graph.set("partition_maps", list(partition(0, integers({7}), list())));
      },
      [](GraphBuilder& graph) { graph.info("placeholders", list()); },
      [](GraphBuilder& graph) { graph.set("source_code", none()); },
      [](GraphBuilder& graph) { graph.set("device_idxs", pickle_text::set()); },
      [](GraphBuilder& graph) { graph.set("device_idxs", pickle_text::integer(1)); },
      [](GraphBuilder& graph) { graph.info("stack_traces", none()); },
      [](GraphBuilder& graph) { graph.set("constants", none()); },
      [](GraphBuilder& graph) { graph.without("fx_kwargs"); },
  };
  for (const auto family : kFamilies) {
    for (const auto& change : changes) {
      for (const auto& lines : {std::initializer_list<std::string_view>{},
                                {on},
                                {off},
                                {on, parts},
                                {on, whole},
                                {on, parts, or_error},
                                {on, whole, or_error}}) {
        GraphBuilder graph(family);
        graph.key_lines(lines);
        change(graph);
        CAPTURE(torch::family_name(family));
        CAPTURE(&change - changes);
        CAPTURE(lines.size());
        const Listed full = decided(graph);
        const Listed quick = listed(graph);
        CHECK(quick.outcome == full.outcome);
        CHECK(quick.reason == full.reason);
      }
    }
  }
}

TEST_CASE("the words") {
  CHECK(listed(GraphBuilder(k2_15)).outcome == "partitions");
  CHECK(listed(GraphBuilder(k2_6)).outcome == "cudagraph");
  const Listed skipped = listed(GraphBuilder(k2_15).reason("skipping cudagraphs due to cpu device (arg1_1)"));
  CHECK(skipped.outcome == "skipped");
  CHECK(skipped.reason == "cpu device");
}

TEST_CASE("an entry without a graph of its own has no outcome") {
  using namespace pickle_text;
  const std::string entry =
      pickle_text::pickle(instance("torch._functorch._aot_autograd.autograd_cache", "AOTAutogradCacheEntry",
                                   dict(text("compiled_fw"), none(), text("compiled_bw"), none())));
  CHECK(listed(decode(entry), k2_15).outcome.empty());
}

TEST_CASE("before 2.6 nothing is decided") {
  const Listed old = listed(decode(GraphBuilder(k2_6).pickle()), k2_5);
  CHECK(old.outcome == "unknown");
  CHECK(old.reason == "decision not known for this release");
}

TEST_SUITE_END();
