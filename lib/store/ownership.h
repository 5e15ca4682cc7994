#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/environment.h"
#include "store/references.h"

namespace cachetool::store {

/// An entry that leads to a file.
struct Owner {
  std::string kind;  ///< "fxgraph" or "aotautograd"
  std::string key;
  std::string leaf;
  std::string path;  ///< below the root
};

/// One unit of a cache and the entries that lead to it.
struct Ownership {
  std::string asked;  ///< the path as it was given
  std::string kind;   ///< of the unit: "cpp-kernel", "triton-directory", …; of a file that is no part of one,
                      ///< its own kind
  std::string path;   ///< of the unit, or of the file
  std::uint64_t bytes = 0;
  std::uint32_t files = 0;
  std::vector<Owner> owners;
};

/// Who owns the file or directory that `path` names: a path into the cache, or, where that isn't one, its
/// last component wherever it lies (paths in a traceback of another machine). kNotFound when the cache has
/// nothing of that name.
Expected<std::vector<Ownership>> find_owners(const CacheSet& cache, const Environment& environment,
                                             const ReferenceIndex& references, std::string_view path);

}  // namespace cachetool::store
