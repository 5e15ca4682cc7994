#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verify/file_input.h"
#include "verify/file_report.h"

namespace cachetool::verify {

/// The torch releases whose Triton may have written a directory of this name: 64 hexadecimal digits up to
/// Triton 3.1, 43 characters of URL-safe base64 in 3.2, 52 of base32 since 3.3. Unknown for any other name.
struct ReleaseRange {
  torch::ReleaseFamily first = torch::ReleaseFamily::kUnknown;
  torch::ReleaseFamily last = torch::ReleaseFamily::kUnknown;
};
ReleaseRange triton_releases(std::string_view directory);

/// What it means that a file can't be used as it is.
struct Loss {
  Severity severity = Severity::kWarning;
  std::string_view outcome;         ///< a clause: "torch loads it as it is, and the compile fails"
  std::vector<std::string> repair;  ///< see Finding::repair
};

/// By the file's kind and place, for the worst release that may have written it.
Loss loss_of(const FileInput& input);

/// Reports `message`, followed by what it means, with that severity and that repair.
void report_damage(const FileInput& input, FileReport& report, const Check& check, std::string message,
                   std::optional<std::uint64_t> offset = {});

/// The directory to move away when one file of it is beyond use: a Triton kernel directory, which Triton
/// compiles anew as a whole, or all that vLLM keeps under one prefix. Empty where there is none.
std::vector<std::string> whole_directory(const FileInput& input);

}  // namespace cachetool::verify
