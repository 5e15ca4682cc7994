#include "report/replay_report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "report/cudagraphs_report.h"
#include "report/replay_words.h"

using namespace cachetool;
using namespace cachetool::report;
using nlohmann::json;
using replay::Callable;
using replay::CudagraphState;
using replay::GraphReplay;
using replay::Outcome;

namespace {

constexpr const char* kReason =
    "skipping cudagraphs due to cpu device (arg1_1). Found from : \n   File \"model.py\", line 7, in f\n";

GraphReplay skipped() {
  GraphReplay graph;
  graph.entry = {"fkey", "leaf", "fxgraph/ke/fkey/leaf"};
  graph.role = replay::Role::kInference;
  graph.class_name = "CompiledFxGraph";
  graph.rules = torch::ReleaseFamily::k2_15;
  graph.evaluated = replay::Evaluated::kYes;
  graph.before.cudagraphs = true;
  graph.settings.cudagraphs = {true, replay::SettingOrigin::kKey};
  graph.decision.callable = Callable::kPlain;
  graph.decision.outcome = Outcome::kDisabledReason;
  graph.decision.reasons = {kReason};
  graph.decision.log = {"skipping cudagraphs due to " + std::string(kReason)};
  graph.decision.cudagraph_skips = 1;
  return graph;
}

GraphReplay wrapped(std::size_t partitions) {
  GraphReplay graph = skipped();
  graph.decision = {};
  graph.decision.callable = partitions == 0 ? Callable::kCudagraph : Callable::kCudagraphPartitions;
  graph.decision.outcome = Outcome::kWrapped;
  graph.decision.after.cudagraphs = true;
  for (std::size_t i = 0; i < std::max<std::size_t>(partitions, 1); ++i) {
    replay::Wrap wrap;
    wrap.placeholders = {"arg0_1", "arg1_1", "arg2_1"};
    wrap.static_input_idxs = {1};
    if (partitions != 0) wrap.partition = static_cast<std::int64_t>(i);
    graph.decision.wraps.push_back(wrap);
  }
  return graph;
}

std::string text_of(const GraphReplay& graph, Detail detail = Detail::kAll, const Look& look = {}) {
  StringSink sink;
  const auto writer = make_replay_writer(sink, "/cache", Format::kHuman, look, detail);
  ReplaySummary summary;
  summary.add(graph);
  writer->graph(graph);
  writer->finish(summary);
  return sink.take();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("report/replay_report");

TEST_CASE("the outcome is one plain sentence") {
  CHECK(outcome_sentence(skipped()) == "runs plain: CUDA graphs are skipped: cpu device (arg1_1)");
  CHECK(outcome_sentence(wrapped(0)) == "runs under a CUDA graph");
  CHECK(outcome_sentence(wrapped(2)) == "runs under CUDA graphs, in 2 partitions");
  GraphReplay graph = skipped();
  graph.decision.cudagraph_skips = 0;
  graph.decision.outcome = Outcome::kNoPartition;
  graph.decision.reasons = {"no partition that can be captured"};
  CHECK(outcome_sentence(graph) ==
        "runs plain: CUDA graphs are off without a message: no partition that can be captured");
  graph.decision.outcome = Outcome::kNotAsked;
  graph.decision.reasons.clear();
  CHECK(outcome_sentence(graph) == "runs plain: CUDA graphs are not asked for");
  graph.evaluated = replay::Evaluated::kNo;
  CHECK(outcome_sentence(graph) ==
        "runs plain: CUDA graphs are not asked for, and were not when it was compiled");
  graph.forward_state = CudagraphState::kSkipped;
  graph.forward_reasons = {kReason};
  CHECK(outcome_sentence(graph) ==
        "runs plain: CUDA graphs are off because of its forward: cpu device (arg1_1)");
  graph.decision.callable = Callable::kError;
  graph.decision.outcome = Outcome::kRaised;
  graph.decision.error = replay::Raised{"RuntimeError", "first\nsecond", "f"};
  CHECK(outcome_sentence(graph) == "torch raises RuntimeError: first");
  graph = {};
  graph.decision.reasons = {"decision not known for this release"};
  CHECK(outcome_sentence(graph) == "the decision is not known: decision not known for this release");
}

TEST_CASE("sections hold the reason with its trace, what is logged and counted, boxes and settings") {
  GraphReplay graph = skipped();
  graph.decision.realign = {0, 2};
  graph.inputs.resize(3);
  graph.inputs[2].name = "arg2_1";
  const std::string text = text_of(graph);
  CHECK(has(text, "inference fkey\n  outcome         runs plain: CUDA graphs are skipped"));
  CHECK(has(text,
            "\nReasons\n  skipping cudagraphs due to cpu device (arg1_1). Found from : \n"
            "     File \"model.py\", line 7, in f\n"));
  CHECK(has(text, "\nLogged, as a warning\n  skipping cudagraphs due to skipping cudagraphs due to cpu"));
  CHECK(has(text, "\nCounted\n  cudagraph_skips  +1\n"));
  CHECK(has(text, "  cudagraphs      on → off\n"));
  CHECK(has(text, "  realigned       0, 2 arg2_1\n"));
  CHECK(has(text, "\n  cudagraphs                 on     key\n"));
  CHECK(text.find("outcome") < text.find("Reasons"));
  CHECK(text.find("Reasons") < text.find("Logged"));
}

TEST_CASE("a captured graph names static and copied inputs; sizes are not copied") {
  GraphReplay graph = wrapped(0);
  graph.inputs = {{"arg0_1", true, false, false, ""}, {}, {}};
  const std::string text = text_of(graph);
  CHECK(has(text, "    static        1 arg1_1\n"));
  CHECK(has(text, "    copied        2 arg2_1\n"));
  CHECK(has(text, "  sizes           0 arg0_1\n"));
}

TEST_CASE("long lists of inputs are cut unless names are wanted in full") {
  GraphReplay graph = wrapped(0);
  graph.decision.wraps[0].placeholders.assign(20, "x");
  graph.decision.wraps[0].static_input_idxs.clear();
  CHECK(has(text_of(graph), "7 x, … 12 more\n"));
  Look full;
  full.names = Names::kFull;
  CHECK(has(text_of(graph, Detail::kAll, full), "19 x\n"));
}

TEST_CASE("what comes from an entry is escaped") {
  GraphReplay graph = skipped();
  graph.decision.reasons = {"evil \x1b[31m reason\nline \x1b]0;two"};
  graph.decision.log = graph.decision.reasons;
  graph.entry.key = "f\x1b[2J";
  graph.assumptions = {"\x1b"};
  graph.inputs = {{"\x1b", false, false, true, "trace \x1b"}};
  graph.decision.realign = {0};
  for (const Detail detail : {Detail::kAll, Detail::kLine}) CHECK_FALSE(has(text_of(graph, detail), "\x1b"));
  replay::CudagraphCollector collector;
  collector.graph(graph);
  StringSink sink;
  write_cudagraphs(sink, collector.report(), "/c\x1b", Format::kHuman, {});
  CHECK_FALSE(has(sink.text(), "\x1b"));
  CHECK(has(sink.text(), "\\x1b"));
}

TEST_CASE("a table has a row for each graph and a closing sentence") {
  StringSink sink;
  const auto writer = make_replay_writer(sink, "/cache", Format::kHuman, {}, Detail::kLine);
  ReplaySummary summary;
  for (const GraphReplay& graph : {skipped(), wrapped(0), wrapped(2), skipped()}) {
    summary.add(graph);
    writer->graph(graph);
  }
  writer->finish(summary);
  CHECK(sink.text() ==
        "KEY   ROLE       OUTCOME       REASON\n"
        "fkey  inference  skipped       cpu device (arg1_1)\n"
        "fkey  inference  CUDA graph\n"
        "fkey  inference  2 partitions\n"
        "fkey  inference  skipped       cpu device (arg1_1)\n"
        "\n"
        "4 graphs: 2 under CUDA graphs, 2 skipped (2 cpu device)\n");
}

TEST_CASE("the cudagraphs report in its formats") {
  replay::CudagraphCollector collector;
  GraphReplay forward = skipped();
  forward.role = replay::Role::kForward;
  forward.compile_time_ns = 2'000'000'000;
  forward.aot = replay::EntryPlace{"akey", "leaf", "aotautograd/akey/leaf"};
  GraphReplay backward = forward;
  backward.role = replay::Role::kBackward;
  backward.decision = {};
  backward.decision.callable = Callable::kPlain;
  backward.decision.outcome = Outcome::kNotAsked;
  backward.forward_state = CudagraphState::kSkipped;
  backward.forward_reasons = forward.decision.reasons;
  for (const GraphReplay& graph : {forward, backward}) collector.graph(graph);

  StringSink text;
  write_cudagraphs(text, collector.report(), "/cache", Format::kHuman, {});
  CHECK(has(text.text(), "CUDA graphs     0 of 2 graphs run under them\n"));
  CHECK(has(text.text(), "forward       2.0 s  skipped      cpu device (arg1_1)\n"));
  CHECK(has(text.text(), "└ backward    2.0 s  skipped      forward: cpu device (arg1_1)\n"));

  StringSink document;
  write_cudagraphs(document, collector.report(), "/cache", Format::kJson, {});
  const json parsed = json::parse(document.text());
  CHECK(parsed["schema"] == "cachetool.cudagraphs/1");
  CHECK(parsed["graphs"][1]["by_forward"] == true);
  CHECK(parsed["graphs"][1]["paired"] == true);
  CHECK(parsed["graphs"][1]["aot"]["key"] == "akey");
  CHECK(parsed["totals"]["states"]["skipped"]["graphs"] == 2);
  CHECK(parsed["totals"]["reasons"][0]["group"] == "cpu device");

  StringSink lines;
  write_cudagraphs(lines, collector.report(), "/cache", Format::kJsonLines, {});
  CHECK(std::count(lines.text().begin(), lines.text().end(), '\n') == 3);
  CHECK(has(lines.text(), "\"type\": \"summary\""));

  StringSink csv;
  write_cudagraphs(csv, collector.report(), "/cache", Format::kCsv, {});
  CHECK(has(csv.text(),
            "fkey,leaf,fxgraph/ke/fkey/leaf,akey,leaf,aotautograd/akey/leaf,backward,true,skipped,0,"
            "cpu device (arg1_1),cpu device,true,true,2000000000\r\n"));
}

TEST_SUITE_END();
