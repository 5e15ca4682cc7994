#pragma once

#include <string>

#include "base/output.h"
#include "replay/cudagraph_report.h"
#include "report/format.h"

namespace cachetool::report {

/// Writes what becomes of CUDA graphs in a cache, whose path is `cache`: sections, a cachetool.cudagraphs/1
/// document, a line for each graph and one for the totals, or CSV.
void write_cudagraphs(OutputSink& sink, const replay::CudagraphReport& report, const std::string& cache,
                      Format format, const Look& look);

// The formats, one by one, as write_cudagraphs chooses them.
void write_cudagraphs_text(OutputSink& sink, const replay::CudagraphReport& report, const std::string& cache,
                           const Look& look);
void write_cudagraphs_json(OutputSink& sink, const replay::CudagraphReport& report, const std::string& cache);
void write_cudagraphs_json_lines(OutputSink& sink, const replay::CudagraphReport& report);
void write_cudagraphs_csv(OutputSink& sink, const replay::CudagraphReport& report);

}  // namespace cachetool::report
