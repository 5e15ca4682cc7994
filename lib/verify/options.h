#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/entry_ref.h"
#include "store/read_limits.h"

namespace cachetool::verify {

/// How much of each file is looked at.
enum class Depth : std::uint8_t {
  kQuick,    ///< names, sizes, first bytes: a system call or two per file
  kDefault,  ///< every file is read and hashed, entries are decoded, references followed
  kDeep,     ///< also tensor storages, symbols of binaries, versions that they need
};

struct TargetMachine;

struct Options {
  Depth depth = Depth::kDefault;
  store::ReadLimits limits;
  std::uint64_t max_file_bytes = std::uint64_t{1}
                                 << 30;    ///< of what is no entry: larger files are not read whole
  const TargetMachine* machine = nullptr;  ///< what binaries have to fit (--against); null: nothing
  /// Compile commands of C++ kernels that the user vouches for, as torch hashes them behind a source's text.
  std::vector<std::string> compile_commands;
  /// Only these entries, and what they lead to; empty: all of the source's scope.
  std::vector<store::EntryRef> entries;
  store::ProgressCallback progress;
};

}  // namespace cachetool::verify
