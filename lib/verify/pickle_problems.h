#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "pickle/document.h"
#include "verify/file_report.h"

namespace cachetool::verify {

/// Something wrong with a file, before it is decided whether to say it.
struct Problem {
  const Check* check = nullptr;
  FindingText text;
  std::optional<Severity> severity = {};  ///< where it differs from the check's own
};

/// What a failure to parse a pickle means; nothing where the limits stopped it: that is no finding. `base` is
/// where the pickle begins in its file.
std::optional<Problem> pickle_failure(const Error& error, std::uint64_t base);

/// Bytes behind the end of a pickle, if any.
std::optional<Problem> trailing_bytes(const pickle::Document& document, std::uint64_t base);

/// What no pickler writes in a pickle, but trailing bytes, if anything: one problem for all of it.
std::optional<Problem> pickle_deviation(const pickle::Document& document, std::uint64_t base);

}  // namespace cachetool::verify
