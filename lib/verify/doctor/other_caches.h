#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "store/environment.h"

namespace cachetool::verify {

/// What a tree holds.
struct TreeSize {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  ///< apparent; hard links once
  bool complete = true;     ///< false: something in it couldn't be listed
};

/// A cache of this user besides the one that is looked at.
struct OtherCache {
  std::string
      kind;  ///< "inductor", "triton", "vllm", "precompiled-headers", "extensions", "torch-hub", "cuda"
  std::string path;
  std::string why;               ///< what makes it one: a variable's name, "default"
  std::optional<TreeSize> size;  ///< empty where it was not asked for
};

enum class Sizes : bool { kLeaveOut, kMeasure };
using TreeProgress = std::function<void(std::uint64_t files)>;

/// Adds up the regular files of a tree, hard links once, without following links or crossing mount points.
/// Memory: one listing per level.
TreeSize measure_tree(FileSystem& fs, const std::string& path, const TreeProgress& progress);

/// Those that exist, `cache` itself and what lies in it left out.
std::vector<OtherCache> find_other_caches(FileSystem& fs, const store::Environment& environment,
                                          const std::string& cache, Sizes sizes,
                                          const TreeProgress& progress);

}  // namespace cachetool::verify
