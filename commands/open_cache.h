#pragma once

#include <memory>
#include <string>

#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/options.h"
#include "store/source.h"

namespace cachetool::commands {

/// Opens the cache that the command line names: the command's own argument, else --cache-dir, else what the
/// environment says. kUsage when argument and option name different places.
Expected<std::unique_ptr<store::Source>> open_cache(Context& context, const CommonOptions& options,
                                                    const std::string& argument = {});

/// Tells about places that couldn't be looked into. What vanished, and links, FIFOs and other things that no
/// cache holds, don't count as incomplete.
ExitCode report_skipped(Context& context, const store::CacheSet& cache,
                        const std::vector<store::Skipped>& skipped, ErrorForm form);

}  // namespace cachetool::commands
