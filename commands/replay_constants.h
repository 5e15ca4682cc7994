#pragma once

#include <optional>
#include <string>

#include "commands/context.h"
#include "commands/exit_code.h"
#include "commands/options.h"
#include "replay/supplied_values.h"
#include "report/replay_report.h"

namespace cachetool::commands {

/// Defines --constants on `command`.
void add_constants_option(CLI::App& command, std::string& path);

/// What --constants names: read before anything is replayed, and compared with every graph that is.
class GivenConstants {
 public:
  /// Reads what `path` names; nothing when it is empty. Errors: those of SuppliedValues::load.
  Status read(Context& context, const CommonOptions& options, const std::string& path);
  /// For ReplayOptions; null without the option.
  const replay::SuppliedValues* values() const { return values_ ? &*values_ : nullptr; }
  /// Notices how they fit a graph that is written.
  void add(const replay::GraphReplay& graph);
  /// After the last graph: an error (exit status 1) when there were graphs and the values fit none of them.
  ExitCode finish(Context& context, ErrorForm form) const;

 private:
  std::string path_;
  std::optional<replay::SuppliedValues> values_;
  std::size_t graphs_ = 0;
  std::size_t frozen_ = 0;  ///< that have frozen parameters
  std::size_t fitting_ = 0;
  bool named_ = false;  ///< some value has a parameter's name
};

}  // namespace cachetool::commands
