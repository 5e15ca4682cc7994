#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "verify/inventory.h"
#include "verify/options.h"

namespace cachetool::verify {

/// One open file, as its check sees it: read as far as the check asks.
class FileInput {
 public:
  /// Opens the file. Errors: kVanished when it is gone, those of FileSystem::open_file.
  static Expected<FileInput> open(FileSystem& fs, const Inventory& inventory, FileId id,
                                  const Directory& directory, const Options& options, std::string& buffer);

  const Inventory::File& file() const { return inventory_->file(id_); }
  const Inventory& inventory() const { return *inventory_; }
  FileId id() const { return id_; }
  store::ArtifactKind kind() const { return file().kind; }
  const std::string& name() const { return file().name; }
  std::string path() const { return inventory_->path(id_); }
  const FileStat& stat() const { return stat_; }  ///< of the opened file
  const Options& options() const { return *options_; }
  Depth depth() const { return options_->depth; }

  /// All bytes; valid until the next call of whole() or head(). kLimitSize above the limits of the options.
  Expected<std::string_view> whole();
  /// The first `bytes` bytes, or all when the file is shorter. Validity as of whole().
  Expected<std::string_view> head(std::size_t bytes);
  /// Reads at `offset` until `out` is full or the file ends; the number read.
  Expected<std::size_t> read_at(std::uint64_t offset, std::span<char> out) const;

 private:
  FileSystem* fs_ = nullptr;
  const Inventory* inventory_ = nullptr;
  FileId id_ = 0;
  const Options* options_ = nullptr;
  FileHandle handle_;
  FileStat stat_;
  std::string* buffer_ = nullptr;
};

}  // namespace cachetool::verify
