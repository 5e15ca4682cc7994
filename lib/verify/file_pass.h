#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "verify/cache_facts.h"
#include "verify/file_checks.h"
#include "verify/verify.h"

namespace cachetool::verify {

/// Reads the files of a cache, directory by directory, and keeps what relations need to know of them.
class FilePass {
 public:
  /// Both must outlive it.
  FilePass(FileSystem& fs, const Inventory& inventory, const Options& options);

  /// Checks every file in scope and adds what is said of it to `result`. kInterrupted.
  Status run(ThreadPool& pool, Result& result);
  /// Reads these files for their facts only; what is wrong with them is told by `run` where they are in
  /// scope.
  Status read(ThreadPool& pool, std::span<const FileId> files);

  CacheFacts facts() const { return {inventory_, facts_, read_, options_, contents_}; }

 private:
  /// What one directory's files came to, on its way from a worker.
  struct DirectoryResult {
    std::vector<Finding> findings;
    CoverageTable coverage;
    std::vector<store::Skipped> skipped;
  };

  Status pass(ThreadPool& pool, Result& result);
  void read_directory(std::size_t index);
  void read_file(FileId id, const Directory& directory, FileCheck check, std::string& buffer,
                 DirectoryResult& result);

  FileSystem& fs_;
  const Inventory& inventory_;
  const Options& options_;
  std::vector<Facts> facts_;
  std::vector<std::uint8_t> read_;
  std::vector<std::uint64_t> contents_;
  std::vector<std::uint8_t> wanted_;  ///< by FileId, of the pass that runs
  std::vector<DirectoryResult> results_;
};

}  // namespace cachetool::verify
