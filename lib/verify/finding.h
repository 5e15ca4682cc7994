#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/check.h"

namespace cachetool::verify {

/// Something that a check found, at one place of a cache.
struct Finding {
  const Check* check = nullptr;
  Severity severity = Severity::kError;
  std::uint32_t root = 0;               ///< index into CacheSet::roots
  std::string path;                     ///< below the root; packed entries as "FILE!inductor/f…"
  std::optional<std::uint64_t> offset;  ///< in that file, bytes
  std::string key;                      ///< KEY or KEY/LEAF of the entry concerned; empty without one
  std::string message;                  ///< one sentence without a final full stop, about this very case
  std::string hint;                     ///< the next thing to do, a command where there is one; may be empty
  /// What `verify --repair` moves into quarantine, as one unit: paths of files or directories below the root.
  /// Empty where no removal is always safe.
  std::vector<std::string> repair;
};

/// Something that a check would have looked at and couldn't judge. Never counts as fine.
struct NotChecked {
  const Check* check = nullptr;
  std::uint32_t root = 0;
  std::string path;
  std::string reason;  ///< a clause: "torch 2.6 names the file `entry`, not after its content"
};

}  // namespace cachetool::verify
