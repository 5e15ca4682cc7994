#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "store/source.h"

namespace cachetool::replay {

/// A file or directory of a cache; no root where it lies outside all of them.
struct Place {
  std::string path;  ///< below the root; absolute without one
  std::optional<std::uint32_t> root;
};

/// Which files of one store are there, and which a load has added on top. Nothing is read or written.
class CacheFiles {
 public:
  /// `written` keeps what is added, as full paths.
  CacheFiles(store::Source& source, std::uint16_t store, std::set<std::string>& written)
      : source_(source), store_(store), written_(written) {}

  Place below_store(std::string_view path) const;
  /// Nothing where it isn't known where Triton's directories are, or for a name that is none.
  std::optional<Place> kernel_directory(std::int64_t device, std::string_view name);
  /// Unless told otherwise, torch gives every kernel the directory of the device that the process compiled
  /// its first one for (torch/_inductor/runtime/triton_heuristics.py: CachingAutotuner.__init__, 2.6). After
  /// this call the first device asked for is taken for that one, and of another nothing is known.
  void only_first_device() { only_first_device_ = true; }
  static Place in(const Place& directory, std::string_view name);

  /// os.path.exists; nothing where nobody can tell.
  std::optional<bool> exists(const Place& file) const;
  /// Whether the directory exists and isn't empty; likewise.
  std::optional<bool> holds_something(const Place& directory) const;
  /// A file was written: `directory`/`name`, or `directory` itself where `name` is empty.
  void add(const Place& directory, std::string_view name);

  /// As reports name it: below the root of the store, else in full.
  std::string shown(const Place& place) const;

 private:
  std::string full(const Place& place) const;
  store::Source& source_;
  std::uint16_t store_;
  bool only_first_device_ = false;
  std::optional<std::int64_t> first_device_;
  std::set<std::string>& written_;
};

}  // namespace cachetool::replay
