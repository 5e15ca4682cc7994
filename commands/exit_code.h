#pragma once

#include <algorithm>

#include "base/error.h"

namespace cachetool::commands {

/// What the process ends with; the same for every command (docs/manual.md, "Exit status").
enum class ExitCode : int {
  kDone = 0,        ///< a decision, listing or comparison could be made, whatever it says
  kFindings = 1,    ///< damaged content, or something else that was looked for and found
  kUsage = 2,       ///< arguments that make no sense, or that fit more than one thing
  kIncomplete = 3,  ///< could not do all of it: permission, I/O, nothing there
};

/// The code for two things that happened in one run: the higher one, so 1 and 3 give 3.
constexpr ExitCode merge(ExitCode a, ExitCode b) {
  return std::max(a, b);
}

/// The code that a failure stands for when it is what ended a command or kept an item from being shown.
constexpr ExitCode exit_code_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
    case ErrorCode::kAmbiguous:
      return ExitCode::kUsage;
    case ErrorCode::kTruncated:
    case ErrorCode::kMalformed:
    case ErrorCode::kUnsupported:
    case ErrorCode::kWrongType:
    case ErrorCode::kLimitMemory:
    case ErrorCode::kLimitSize:
    case ErrorCode::kLimitDepth:
    case ErrorCode::kLimitWork:
      return ExitCode::kFindings;
    default:
      return ExitCode::kIncomplete;
  }
}

}  // namespace cachetool::commands
