#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "commands/options.h"
#include "replay/replay.h"

namespace cachetool::commands {

/// Defines --set and --torch-release, which every command that decides about CUDA graphs has.
void add_setting_options(CLI::App& command, std::vector<std::string>& settings, std::string& release);

/// What --help says about the settings: a line for each name.
std::string settings_help();

/// What the options ask of the library. kUsage for a setting or a release that isn't known; the hint lists
/// those that are.
Expected<replay::ReplayOptions> replay_options(const CommonOptions& common,
                                               const std::vector<std::string>& settings,
                                               const std::string& release);

}  // namespace cachetool::commands
