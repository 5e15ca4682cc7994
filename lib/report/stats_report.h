#pragma once

#include "base/interner.h"
#include "base/json_writer.h"
#include "base/output.h"
#include "report/format.h"
#include "store/statistics.h"

namespace cachetool::report {

/// What `stats` found, and where. All of it must outlive the writing.
struct StatsReport {
  const store::CacheSet& cache;
  const store::Statistics& statistics;
  const Interner& strings;
};

/// Writes sections and tables, or a cachetool.stats/1 document (on one line as JSON lines).
void write_stats(OutputSink& sink, const StatsReport& report, Format format, const Look& look);

// The formats, as write_stats chooses them.
void write_stats_text(OutputSink& sink, const StatsReport& report, const Look& look);
void write_stats_json(OutputSink& sink, const StatsReport& report, JsonStyle style);

}  // namespace cachetool::report
