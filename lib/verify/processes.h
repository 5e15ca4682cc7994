#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file_system.h"

namespace cachetool::verify {

/// Which processes run here: `/proc/<pid>` of this PID namespace. A cache may be shared with others, so that
/// a number is unknown here says little by itself.
class Processes {
 public:
  explicit Processes(FileSystem& fs);
  /// Empty when there is no /proc to ask.
  std::optional<bool> is_running(std::string_view pid) const;

 private:
  FileSystem& fs_;
  DirHandle proc_;
};

/// The number of the process that writes a file of this name, as digits; empty when the name doesn't say.
/// `.<pid>.<thread>.tmp` (torch/_inductor/codecache.py: write_atomic), `tmp.pid_<pid>_<uuid>`
/// (triton/runtime/cache.py), `model.<pid>.tmp` (vLLM).
std::string_view writer_of(std::string_view name);

}  // namespace cachetool::verify
