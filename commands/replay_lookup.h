#pragma once

#include <string>
#include <vector>

#include "commands/context.h"
#include "commands/exit_code.h"
#include "replay/lookup.h"
#include "replay/replay.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library names it so
class App;
}

namespace cachetool::commands {

/// The options that make `replay` look a key up.
struct LookupArguments {
  std::vector<std::string> hints;        ///< --hint
  std::vector<std::string> hint_lists;   ///< --hints
  std::vector<std::string> extern_libs;  ///< --extern-libs-key
  bool given() const { return !hints.empty() || !hint_lists.empty() || !extern_libs.empty(); }
};

/// Defines them on `command`.
void add_lookup_options(CLI::App& command, LookupArguments& arguments);

/// What they ask for; library files are read and hashed. Errors: kUsage, also where a target is no key alone;
/// those of reading a file.
Expected<replay::LookupOptions> lookup_options(Context& context, const LookupArguments& arguments,
                                               const replay::ReplayOptions& request,
                                               const std::vector<std::string>& targets);

/// Torch's lookup of a key, once for each place that holds it. Errors: those of store::find_key and
/// replay::lookup.
Expected<std::vector<replay::Lookup>> look_up(store::Source& source, const std::string& key,
                                              const replay::LookupOptions& options);

/// Hits and misses are decisions; 1 where torch raises, 3 where it isn't known what it does.
ExitCode lookup_exit_code(const replay::Lookup& lookup);

}  // namespace cachetool::commands
