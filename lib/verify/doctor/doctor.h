#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/host_system.h"
#include "store/environment.h"
#include "verify/doctor/choice.h"
#include "verify/doctor/machine.h"
#include "verify/doctor/other_caches.h"
#include "verify/doctor/path_walk.h"
#include "verify/doctor/software.h"
#include "verify/doctor/variables.h"
#include "verify/doctor/volume.h"
#include "verify/finding.h"

namespace cachetool::verify {

/// Whether locks work, as far as that could be tried without writing anything.
enum class LockSupport : std::uint8_t { kNotTried, kWorks, kFails };
/// "not tried", "work", "fail".
std::string_view lock_support_name(LockSupport support);

/// A directory in which torch, Triton or vLLM keep files here.
struct Place {
  std::string role;  ///< "cache", "headers" (of the default root), "triton", "vllm"
  std::string path;  ///< absolute, as it was named
  std::string why;
  bool holds_code = true;  ///< shared objects are loaded from it
  PathWalk walk;
  std::optional<Volume> volume;    ///< of the directory, or of the nearest one above that exists
  std::optional<bool> may_create;  ///< in that directory; empty where the system didn't say
  LockSupport locks = LockSupport::kNotTried;
  std::string lock_file;     ///< that was tried
  std::string lock_failure;  ///< in the system's words
  std::optional<TreeSize> size;
};

/// The user's home: Triton and vLLM keep caches there unless told otherwise.
struct Home {
  std::string path;     ///< empty: neither HOME nor passwd says
  bool usable = false;  ///< it exists, and this user may create files in it
};

/// Everything that doctor looked at, and what it thinks of it.
struct DoctorReport {
  CacheChoice choice;
  std::vector<Place> places;  ///< the cache is the first
  std::vector<OtherCache> others;
  Machine machine;
  Software software;
  std::vector<Variable> variables;
  Home home;
  std::optional<std::uint32_t> umask;
  std::uint32_t uid = 0;
  std::vector<Finding> findings;  ///< the worst first; `path` is absolute here
  std::vector<NotChecked> not_checked;
};

struct DoctorOptions {
  std::string directory;  ///< what to look at; empty: what torch would choose
  Sizes sizes = Sizes::kMeasure;
  TreeProgress progress;
};

/// Looks at the place of a cache and at the machine around it. Reads only; nothing is run. What can't be read
/// is left out of the report, never an error.
DoctorReport examine(FileSystem& fs, HostSystem& host, const store::Environment& environment,
                     const DoctorOptions& options);

}  // namespace cachetool::verify
