#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/output.h"

namespace cachetool::report {

/// One CSV field after RFC 4180: quoted when it holds a comma, a quote or a line break. Text that a
/// spreadsheet would take for a formula (it starts with =, +, -, @, tab or carriage return and isn't a
/// number) gets an apostrophe in front; control characters become visible escapes.
std::string csv_field(std::string_view text);

/// Writes records as they come, lines ending in CRLF as RFC 4180 has them.
class CsvWriter {
 public:
  explicit CsvWriter(OutputSink& sink) : sink_(sink) {}
  void record(const std::vector<std::string>& fields);

 private:
  OutputSink& sink_;
};

}  // namespace cachetool::report
