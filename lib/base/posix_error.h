#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace cachetool {

/// The code that stands for an errno value; kIo for those that a caller can't act on.
ErrorCode code_of_errno(int number);

/// An error for a failed system call: "cannot <action>: <text of errno>", with `path` as given.
Error system_error(int number, std::string_view action, std::string path);

}  // namespace cachetool
