#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "store/source.h"
#include "verify/check.h"

namespace cachetool::verify {

/// Who is going to load the cache.
struct Loader {
  std::uint32_t uid = 0;
};

/// Where a directory stands: what others may do in it counts for different things.
enum class DirectoryPlace : bool {
  kInside,  ///< below the root, or the root: whoever can make files there plants what torch reads
  kAbove,   ///< on the way to the root: whoever can rename there puts another directory in the root's place
};

/// The check that such an owner and mode fail, or null when nobody but the loader and root can write. Only
/// owner and mode bits count, no access control lists. Pure.
const Check* judge_file(const FileStat& file, const Loader& loader);
/// The same for a directory. Above the root, a sticky one (as /tmp is) is fine for everybody to write, as
/// long as what it holds on the way belongs to the loader or root: that is judged by itself.
const Check* judge_directory(const FileStat& directory, DirectoryPlace place, const Loader& loader);

/// Everything of one kind that one directory holds.
struct OwnerFinding {
  const Check* check = nullptr;
  std::uint32_t root = 0;
  std::string path;         ///< the directory, below the root; for the way to the root, its absolute path
  bool absolute = false;    ///< `path` is absolute
  bool itself = false;      ///< it is the directory too
  std::uint64_t files = 0;  ///< in it
  std::string example;      ///< name of the first of them; empty without one
  std::uint32_t uid = 0;    ///< owner of the directory or the example
  std::uint32_t mode = 0;
};

/// Collects who may write what torch executes, while somebody else walks a cache. Memory: one record for each
/// directory with findings, and one for each file that has several names.
class OwnerSurvey {
 public:
  OwnerSurvey(FileSystem& fs, Loader loader) : fs_(fs), loader_(loader) {}

  /// The root and the way to it. Once for each root.
  void root(std::uint32_t index, const store::Root& root);
  /// A file, in the order of the walk.
  void file(std::uint32_t root, std::string_view path, const FileStat& stat, const Directory& directory);
  /// A link or something else in a file's place.
  void odd(std::uint32_t root, std::string_view path, FileType type);
  /// What was found: by check (in the order of owner_checks), root and path.
  std::vector<OwnerFinding> finish();

 private:
  void add(const Check* check, std::uint32_t root, std::string_view directory, std::string_view example,
           const FileStat& stat);
  void enter(std::uint32_t root, std::string_view path, const Directory& directory);
  void walk_to(std::uint32_t root, std::string_view path);

  struct Names {
    std::uint64_t links = 0;
    std::uint64_t seen = 0;
    std::uint32_t root = 0;
    std::string path;
    FileStat stat;
  };
  using Key = std::pair<std::uint32_t, std::string>;

  FileSystem& fs_;
  Loader loader_;
  std::map<const Check*, std::map<Key, OwnerFinding>> found_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Names> several_names_;
  std::vector<OwnerFinding> way_;
  std::map<std::uint32_t, DirHandle> roots_;
  std::optional<Key> directory_;  ///< the one that the last file was in
};

}  // namespace cachetool::verify
