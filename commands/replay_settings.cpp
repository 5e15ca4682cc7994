#include "commands/replay_settings.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "replay/settings.h"
#include "torch/release.h"

namespace cachetool::commands {
namespace {

std::string known_releases() {
  std::string names = "releases: ";
  for (int family = static_cast<int>(torch::ReleaseFamily::k2_4);
       family <= static_cast<int>(torch::ReleaseFamily::k2_15); ++family) {
    if (family != static_cast<int>(torch::ReleaseFamily::k2_4)) names += ", ";
    names += torch::family_name(static_cast<torch::ReleaseFamily>(family));
  }
  return names;
}

}  // namespace

void add_setting_options(CLI::App& command, std::vector<std::string>& settings, std::string& release) {
  command.add_option("--set", settings, "A setting of the caller (see below); may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command.add_option("--torch-release", release, "Follow the rules of this release, not the entry's")
      ->check(not_empty("the release is empty"))
      ->type_name("RELEASE");
}

std::string settings_help() {
  std::string text =
      "Settings, under torch's names. One that isn't given is what the entry's key says, else what follows "
      "from the\nentry, else torch's default in that release.\n";
  for (const replay::KnownSetting& setting : replay::known_settings())
    text += fmt::format("  {}={}\n      {}\n", setting.name, setting.values, setting.meaning);
  return text;
}

Expected<replay::ReplayOptions> replay_options(const CommonOptions& common,
                                               const std::vector<std::string>& settings,
                                               const std::string& release) {
  replay::ReplayOptions options;
  for (const std::string& setting : settings) {
    if (const auto added = options.settings.add(setting); !added) return tl::unexpected(added.error());
  }
  if (!release.empty()) {
    options.release = torch::family_of_version(release);
    if (options.release == torch::ReleaseFamily::kUnknown)
      return fail(ErrorCode::kUsage, "'" + release + "' is no release whose rules are known", {}, {},
                  known_releases());
  }
  options.limits.max_memory = common.max_memory;
  return options;
}

}  // namespace cachetool::commands
