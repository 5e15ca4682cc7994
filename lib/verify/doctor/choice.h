#pragma once

#include <string>
#include <vector>

#include "base/file_system.h"
#include "store/environment.h"
#include "torch/entry_summary.h"

namespace cachetool::verify {

enum class ChoiceSource : std::uint8_t { kArgument, kEnvironment, kDefault };
/// "argument", "environment", "default".
std::string_view choice_source_name(ChoiceSource source);

/// What the releases from `first` to `last` do here.
struct Outcome {
  torch::ReleaseFamily first;
  torch::ReleaseFamily last;
  std::string path;  ///< as the release uses it; relative where it doesn't make it absolute; empty: it fails
  std::string failure;  ///< what it raises, else empty
};

/// Which directory torch uses as its cache.
struct CacheChoice {
  ChoiceSource source = ChoiceSource::kDefault;
  std::string path;               ///< absolute; what was asked for, or what torch 2.13 and later use
  std::string why;                ///< a clause: "TORCHINDUCTOR_CACHE_DIR is set"
  std::vector<Outcome> outcomes;  ///< of torch without the argument, oldest releases first
  std::string temporary;          ///< Python's temporary directory, absolute
  std::string default_root;       ///< absolute; holds precompiled headers and cache/ whatever is set
  bool has_user_name = true;      ///< a variable or passwd names the user
  std::string user_name_from;     ///< "LOGNAME", "passwd", "uid"
  std::string temporary_from;     ///< "TMPDIR", "Python's list", "the working directory"
};

/// Follows torch/_inductor/runtime/cache_dir_utils.py: cache_dir, default_cache_dir (read in 2.4 to 2.15: the
/// path is made absolute, and a user without a name gets `uid_<uid>`, since 2.13) and CPython's
/// tempfile.gettempdir and getpass.getuser. `argument` empty: what torch would choose.
CacheChoice choose_cache(FileSystem& fs, const store::Environment& environment, const std::string& argument);

}  // namespace cachetool::verify
