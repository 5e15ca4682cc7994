#pragma once

#include <vector>

#include "base/json_writer.h"
#include "base/output.h"
#include "report/format.h"
#include "store/ownership.h"

namespace cachetool::report {

/// Writes what was found for each path: a person's text, a cachetool.which/1 document, or an item a line.
void write_which(OutputSink& sink, const std::vector<store::Ownership>& found, Format format,
                 const Look& look);

}  // namespace cachetool::report
