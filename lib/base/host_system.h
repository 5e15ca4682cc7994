#pragma once

#include <string>

#include "base/cpu_features.h"
#include "base/error.h"

namespace cachetool {

/// What a program asks the operating system about its machine, besides what lies in files (/proc and /sys are
/// read through FileSystem). Tests have their own.
class HostSystem {
 public:
  virtual ~HostSystem() = default;
  virtual CpuFacts cpu() = 0;
  /// Whether this process may create files in the directory, as the kernel decides it: modes, access lists,
  /// capabilities, what a file server says. Nothing is written.
  virtual Expected<bool> may_create(const std::string& directory) = 0;
};

}  // namespace cachetool
