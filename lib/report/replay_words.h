#pragma once

#include <string>

#include "replay/replay.h"
#include "report/replay_report.h"

namespace cachetool::report {

// What a decision is called for a person. Texts from entries are in them as they are: escape before printing.

/// Green where CUDA graphs are in use, yellow where they were asked for and are off, red where torch raises.
Style style_of(replay::CudagraphState state);

/// One sentence: "runs plain: CUDA graphs are skipped: cpu device (arg1_1)".
std::string outcome_sentence(const replay::GraphReplay& graph);

/// The same for a column: "cuda graph", "2 partitions", "skipped", "off, silent", "not evaluated", …
std::string outcome_word(replay::CudagraphState state, std::size_t partitions);

/// The reasons in one line each, joined: "cpu device (arg1_1)"; "forward: …" where they are its forward's.
std::string reason_line(const replay::GraphReplay& graph);

/// "14 graphs: 8 under CUDA graphs, 2 skipped (1 cpu device, 1 mutated inputs), 4 not evaluated".
std::string closing_sentence(const ReplaySummary& summary);

}  // namespace cachetool::report
