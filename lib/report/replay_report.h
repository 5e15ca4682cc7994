#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/json_writer.h"
#include "base/output.h"
#include "replay/replay.h"
#include "report/format.h"

namespace cachetool::report {

/// What all graphs of a run came to.
struct ReplaySummary {
  std::uint64_t graphs = 0;
  std::uint64_t under_cudagraphs = 0;  ///< whole or in partitions
  std::uint64_t raising = 0;           ///< torch would raise
  std::uint64_t unknown = 0;           ///< the decision couldn't be computed
  std::uint64_t skipped = 0;           ///< CUDA graphs were asked for and are off
  std::uint64_t not_asked = 0;
  std::map<std::string, std::uint64_t> skip_reasons;  ///< in a few words → graphs

  void add(const replay::GraphReplay& graph);
};

/// Writes decisions as they come.
class ReplayWriter {
 public:
  virtual ~ReplayWriter() = default;
  virtual void graph(const replay::GraphReplay& graph) = 0;
  virtual void finish(const ReplaySummary& summary) = 0;
};

/// `root` is the path of the cache that the entries lie in.
std::unique_ptr<ReplayWriter> make_replay_writer(OutputSink& sink, const std::string& root, Format format,
                                                 const Look& look);

// The formats, as make_replay_writer chooses them.
std::unique_ptr<ReplayWriter> make_replay_text(OutputSink& sink, const Look& look);
std::unique_ptr<ReplayWriter> make_replay_json(OutputSink& sink, const std::string& root);
std::unique_ptr<ReplayWriter> make_replay_json_lines(OutputSink& sink);

/// The members of one entry inside an open object, as cachetool.replay/1 has them.
void write_replay_members(JsonWriter& json, const replay::GraphReplay& graph);

}  // namespace cachetool::report
