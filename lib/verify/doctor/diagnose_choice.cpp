#include <fmt/format.h>

#include "store/paths.h"
#include "verify/doctor/diagnosis.h"
#include "verify/place_checks.h"

namespace cachetool::verify {
namespace {

void diagnose_variables(Diagnosis& diagnosis, const store::Environment& environment) {
  const bool is_asked_for = diagnosis.report().choice.source == ChoiceSource::kArgument;
  const auto root = environment.get("TORCHINDUCTOR_CACHE_DIR");
  if (root && !is_asked_for) {
    if (root->empty()) {
      diagnosis.add(
          checks::kPlaceEmptyVariable, {},
          "TORCHINDUCTOR_CACHE_DIR is set to nothing: torch to 2.12 fails, later ones use the working "
          "directory");
    } else if (!root->starts_with('/')) {
      diagnosis.add(
          checks::kPlaceRelative, std::string(*root),
          "TORCHINDUCTOR_CACHE_DIR is relative: to 2.12 each step looks from the working directory of "
          "that moment, later releases from that of the first",
          "export TORCHINDUCTOR_CACHE_DIR=" + shell_word(diagnosis.report().choice.path));
    }
  }
  const auto triton = environment.get("TRITON_CACHE_DIR");
  if (triton && triton->empty()) {
    diagnosis.add_as(
        checks::kPlaceEmptyVariable, Severity::kError, {},
        "TRITON_CACHE_DIR is set to nothing: Triton fails with \"Could not create or locate cache dir\"");
  } else if (triton && !triton->starts_with('/')) {
    diagnosis.add_as(checks::kPlaceRelative, Severity::kWarning, std::string(*triton),
                     "TRITON_CACHE_DIR is relative: Triton looks from the working directory of each moment",
                     "export TRITON_CACHE_DIR=" + shell_word(store::absolute_path(environment, *triton)));
  }
}

void diagnose_user_name(Diagnosis& diagnosis) {
  const CacheChoice& choice = diagnosis.report().choice;
  if (choice.has_user_name) return;
  const std::string who = fmt::format(
      "user {} has no entry in passwd, and LOGNAME, USER, LNAME and USERNAME "
      "are not set: ",
      diagnosis.report().uid);
  const std::string what = choice.source == ChoiceSource::kDefault
                               ? fmt::format("torch to 2.12 fails, later ones use {}", choice.default_root)
                               : "torch 2.8 to 2.12 fail although a cache is named, because precompiled "
                                 "headers have a place of their "
                                 "own";
  diagnosis.add(checks::kPlaceNoUserName, {}, who + what,
                "export USER=" + fmt::format("uid_{}", diagnosis.report().uid));
}

/// Triton outside Inductor and vLLM write below the home, unless variables say otherwise.
void diagnose_home(Diagnosis& diagnosis, const store::Environment& environment) {
  const Home& home = diagnosis.report().home;
  if (home.usable || (environment.get("TRITON_HOME") && environment.get("VLLM_CACHE_ROOT"))) return;
  if (home.path.empty()) {
    diagnosis.add(
        checks::kPlaceNoHome, {},
        "HOME isn't set and passwd has no entry: Triton and vLLM write to a directory called ~ in the "
        "working directory");
  } else {
    diagnosis.add(checks::kPlaceNoHome, home.path,
                  "this home isn't there, or this user can't create files in it: caches of Triton outside "
                  "torch.compile and of vLLM fail");
  }
}

/// TMPDIR, TEMP and TMP are tried in this order; the first that names a usable directory wins.
void diagnose_temporary(Diagnosis& diagnosis, const store::Environment& environment) {
  const CacheChoice& choice = diagnosis.report().choice;
  for (const std::string_view name : {"TMPDIR", "TEMP", "TMP"}) {
    const std::string_view value = environment.get(name).value_or("");
    if (value.empty()) continue;
    if (name == choice.temporary_from) return;
    const std::string path = store::absolute_path(environment, value);
    diagnosis.add(checks::kPlaceTemporaryIgnored, path,
                  fmt::format("{} names a directory in which this user can't create files: Python takes {}",
                              name, choice.temporary),
                  "mkdir -p " + shell_word(path));
    return;
  }
  if (choice.temporary_from == "the working directory") {
    diagnosis.add(checks::kPlaceTemporaryIgnored, {},
                  "neither /tmp, /var/tmp nor /usr/tmp can be used: Python takes the working directory",
                  "Set TMPDIR to a directory that this user may write.");
  }
}

void diagnose_reach(Diagnosis& diagnosis) {
  for (const Place& place : diagnosis.report().places) {
    const PathWalk& walk = place.walk;
    if (walk.blocked_by) {
      diagnosis.add(checks::kPlaceNotADirectory, walk.real,
                    fmt::format("a {} is in the way", file_type_name(*walk.blocked_by)));
    } else if (walk.error) {
      diagnosis.add(checks::kPlaceUnreachable, place.path, walk.error->path + ": " + walk.error->message);
    }
  }
}

}  // namespace

void diagnose_choice(Diagnosis& diagnosis, const store::Environment& environment) {
  diagnose_variables(diagnosis, environment);
  diagnose_user_name(diagnosis);
  diagnose_home(diagnosis, environment);
  diagnose_temporary(diagnosis, environment);
  diagnose_reach(diagnosis);
}

}  // namespace cachetool::verify
