#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "base/json_writer.h"
#include "base/output.h"
#include "replay/lookup.h"
#include "replay/replay.h"
#include "report/format.h"

namespace cachetool::report {

/// What all graphs of a run came to.
struct ReplaySummary {
  std::uint64_t graphs = 0;
  std::array<std::uint64_t, replay::kCudagraphStates> states{};
  /// Skipped and silent graphs by group of reasons (see replay::reason_group); one with several counts in
  /// each.
  std::map<replay::CudagraphState, std::map<std::string, std::uint64_t>> reasons;

  std::uint64_t of(replay::CudagraphState state) const { return states[static_cast<std::size_t>(state)]; }
  void add(const replay::GraphReplay& graph);
};

/// How much a person is told of each graph.
enum class Detail : bool {
  kLine,  ///< a row of a table
  kAll,   ///< sections
};

/// Writes decisions as they come.
class ReplayWriter {
 public:
  virtual ~ReplayWriter() = default;
  /// Which candidate of a key is used; before the graphs of that candidate.
  virtual void lookup(const replay::Lookup& lookup) = 0;
  virtual void graph(const replay::GraphReplay& graph) = 0;
  virtual void finish(const ReplaySummary& summary) = 0;
};

/// `root` is the path of the cache that the entries lie in.
std::unique_ptr<ReplayWriter> make_replay_writer(OutputSink& sink, const std::string& root, Format format,
                                                 const Look& look, Detail detail);

// The formats, as make_replay_writer chooses them.
std::unique_ptr<ReplayWriter> make_replay_text(OutputSink& sink, const Look& look);
std::unique_ptr<ReplayWriter> make_replay_table(OutputSink& sink, const Look& look);
std::unique_ptr<ReplayWriter> make_replay_json(OutputSink& sink, const std::string& root);
std::unique_ptr<ReplayWriter> make_replay_json_lines(OutputSink& sink);

/// The members of one entry inside an open object, as cachetool.replay/1 has them.
void write_replay_members(JsonWriter& json, const replay::GraphReplay& graph);

}  // namespace cachetool::report
