#pragma once

#include <optional>

#include "container/tree.h"
#include "verify/file_input.h"
#include "verify/file_report.h"

namespace cachetool::verify {

/// Reads the file as one JSON document, as Python's json module does: UTF-8, `Infinity` and `NaN` are
/// numbers. What is wrong goes to `report` as one finding (file.empty, file.encoding, file.truncated,
/// file.trailing, file.json); nothing is returned then. At Depth::kQuick only the first bytes are looked at
/// and nothing is returned. Errors: those of reading, limits.
Expected<std::optional<container::Tree>> read_json_document(FileInput& input, FileReport& report);

/// Reports that a well-formed document isn't of the form that is read there.
void report_shape(const FileInput& input, FileReport& report, std::string message);

}  // namespace cachetool::verify
