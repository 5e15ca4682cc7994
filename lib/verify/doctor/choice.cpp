#include "verify/doctor/choice.h"

#include <fmt/format.h>

#include <array>

#include "store/paths.h"

namespace cachetool::verify {
namespace {

using torch::ReleaseFamily;

constexpr ReleaseFamily kOldest = ReleaseFamily::k2_4;
constexpr ReleaseFamily kNewest = ReleaseFamily::k2_15;
constexpr ReleaseFamily kLastRelative = ReleaseFamily::k2_12;
constexpr ReleaseFamily kFirstAbsolute = ReleaseFamily::k2_13;
constexpr ReleaseFamily kLastWithoutHeaders = ReleaseFamily::k2_7;
constexpr ReleaseFamily kFirstWithHeaders = ReleaseFamily::k2_8;

constexpr const char* kNoName = "getpass.getuser() finds no name: KeyError, from Python 3.13 on OSError";

std::string name_source(const store::Environment& environment) {
  for (const std::string_view name : {"LOGNAME", "USER", "LNAME", "USERNAME"})
    if (!environment.get(name).value_or("").empty()) return std::string(name);
  return environment.passwd_name.value_or("").empty() ? "uid" : "passwd";
}

std::string temporary_source(const store::Environment& environment, const std::string& directory) {
  for (const std::string_view name : {"TMPDIR", "TEMP", "TMP"}) {
    const std::string_view value = environment.get(name).value_or("");
    if (!value.empty() && store::absolute_path(environment, value) == directory) return std::string(name);
  }
  for (const std::string_view path : {"/tmp", "/var/tmp", "/usr/tmp"})
    if (path == directory) return "Python's list";
  return "the working directory";
}

/// What the releases do with the value of TORCHINDUCTOR_CACHE_DIR.
std::vector<Outcome> set_outcomes(const CacheChoice& choice, const std::string& value,
                                  const std::string& absolute) {
  std::vector<Outcome> outcomes;
  if (value.empty()) {
    outcomes.push_back({kOldest, kLastRelative, {}, "os.makedirs(\"\") raises FileNotFoundError"});
    outcomes.push_back({kFirstAbsolute, kNewest, absolute, {}});
  } else if (choice.has_user_name) {
    if (value == absolute) return {{kOldest, kNewest, value, {}}};
    outcomes.push_back({kOldest, kLastRelative, value, {}});
    outcomes.push_back({kFirstAbsolute, kNewest, absolute, {}});
  } else {
    outcomes.push_back({kOldest, kLastWithoutHeaders, value, {}});
    outcomes.push_back({kFirstWithHeaders,
                        kLastRelative,
                        {},
                        std::string("the place of precompiled headers needs a user name: ") + kNoName});
    outcomes.push_back({kFirstAbsolute, kNewest, absolute, {}});
  }
  return outcomes;
}

std::vector<Outcome> default_outcomes(const CacheChoice& choice) {
  if (choice.has_user_name) return {{kOldest, kNewest, choice.default_root, {}}};
  return {{kOldest, kLastRelative, {}, kNoName}, {kFirstAbsolute, kNewest, choice.default_root, {}}};
}

}  // namespace

std::string_view choice_source_name(ChoiceSource source) {
  constexpr std::array<std::string_view, 3> kNames = {"argument", "environment", "default"};
  return kNames[static_cast<std::size_t>(source)];
}

CacheChoice choose_cache(FileSystem& fs, const store::Environment& environment, const std::string& argument) {
  CacheChoice choice;
  choice.temporary = store::temporary_directory(fs, environment);
  choice.default_root = store::default_inductor_root(fs, environment);
  choice.user_name_from = name_source(environment);
  choice.temporary_from = temporary_source(environment, choice.temporary);
  choice.has_user_name = choice.user_name_from != "uid";
  const auto value = environment.get("TORCHINDUCTOR_CACHE_DIR");
  if (value) {
    choice.source = ChoiceSource::kEnvironment;
    choice.path = store::absolute_path(environment, *value);
    choice.why = "TORCHINDUCTOR_CACHE_DIR is set";
    choice.outcomes = set_outcomes(choice, std::string(*value), choice.path);
  } else {
    choice.path = choice.default_root;
    choice.why = fmt::format(
        "TORCHINDUCTOR_CACHE_DIR is not set; the temporary directory comes from {}, the user's name from {}",
        choice.temporary_from, choice.has_user_name ? choice.user_name_from : "the user id");
    choice.outcomes = default_outcomes(choice);
  }
  if (!argument.empty()) {
    choice.source = ChoiceSource::kArgument;
    choice.path = store::absolute_path(environment, argument);
    choice.why = "it was asked for";
  }
  return choice;
}

}  // namespace cachetool::verify
