#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "commands/context.h"
#include "commands/diagnostics.h"
#include "report/format.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library names it so
class App;
}

namespace cachetool::commands {

/// Options that every command about a cache has.
struct CommonOptions {
  std::string cache_dir;  ///< empty: the environment decides
  std::string color = "auto";
  bool json = false;
  bool jsonl = false;
  bool csv = false;  ///< only where a command offers it
  bool exact_bytes = false;
  bool full = false;
  std::size_t threads = 0;
  std::uint64_t max_memory = 0;  ///< per entry; 0: 64 times its size and 4 MiB
};

/// Whether a command writes rows, which --csv is for.
enum class OffersCsv : bool { kNo, kYes };

/// A check that refuses the empty text with `problem`: a variable that isn't set must not stand for the
/// default.
std::function<std::string(const std::string&)> not_empty(std::string problem);

/// Defines them on `command`.
void add_common_options(CLI::App& command, CommonOptions& options, OffersCsv csv = OffersCsv::kNo);

// What the common options mean for diagnostics and reports.
ErrorForm error_form(const CommonOptions& options);
report::Format format_of(const CommonOptions& options);
report::Look look_of(const CommonOptions& options, const Context& context);

}  // namespace cachetool::commands
