#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commands/context.h"
#include "commands/exit_code.h"
#include "commands/options.h"
#include "store/source.h"

namespace cachetool::commands {

/// One cache to verify, and which part of it.
struct VerifyTarget {
  std::shared_ptr<store::Source> source;  ///< with the scope of a path
  std::vector<store::EntryRef> entries;   ///< that keys name; empty: all that the source's scope holds
};

/// Resolves DIR, KEY and PATH arguments (none: the whole cache); keys of one cache come together. What can't
/// be resolved is told and is in the code returned.
ExitCode resolve_targets(Context& context, const CommonOptions& options,
                         const std::vector<std::string>& arguments, std::vector<VerifyTarget>& targets);

}  // namespace cachetool::commands
