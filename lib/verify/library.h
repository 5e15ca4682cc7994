#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "container/elf_dynamic.h"
#include "verify/path_file.h"

namespace cachetool::verify {

/// A shared library (or program) of the machine, as far as those that link to it need to know. Only its
/// symbol tables are read, whatever its size. Immutable.
class Library {
 public:
  /// Errors: those of reading; kUnsupported when it is for another machine than `elf_machine`; kMalformed.
  static Expected<std::unique_ptr<Library>> read(FileSystem& fs, PathFile file, std::uint16_t elf_machine);

  const std::string& path() const { return path_; }
  const std::vector<std::string_view>& needed() const { return dynamic_.needed; }
  /// Directories in which it looks for what it needs: run paths, $ORIGIN replaced.
  std::vector<std::string> run_path() const;
  /// Whether it defines that version, such as GLIBC_2.34. One without any versions takes every one, as the
  /// loader does.
  bool defines_version(std::string_view version) const;
  /// Whether it defines the symbol, in that version unless `version` is empty.
  bool defines(std::string_view symbol, std::string_view version) const;
  /// The highest of its versions with that prefix ("GLIBC_"); empty without one.
  std::string_view newest_version(std::string_view prefix) const;

 private:
  Library() = default;
  void index();

  std::string path_;
  std::array<std::string, 6> tables_;  ///< what `dynamic_` points into
  container::ElfDynamic dynamic_;
  std::vector<std::pair<std::size_t, std::uint32_t>> by_hash_;  ///< of an export's name, sorted; its index
};

/// The order of version names: numbers in them compare as numbers, so GLIBC_2.4 is before GLIBC_2.34.
bool version_before(std::string_view a, std::string_view b);

}  // namespace cachetool::verify
